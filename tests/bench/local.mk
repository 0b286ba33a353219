# Measurements: make bench
