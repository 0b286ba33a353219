EXTRA_DIST += doc/architecture.md doc/experiments.md doc/format.md doc/reliability.md doc/performance.md doc/cases.md doc/recovery.md doc/conformance.md
