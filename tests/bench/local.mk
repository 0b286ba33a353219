# Measurements: make bench

bench_programs = \
	tests/bench/names \
	tests/bench/stream \
	tests/bench/syncs \
	tests/bench/versions

EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)

tests_bench_names_SOURCES = tests/bench/names.c tests/bench/bench.h
tests_bench_stream_SOURCES = tests/bench/stream.c tests/bench/bench.h
tests_bench_syncs_SOURCES = tests/bench/syncs.c tests/bench/bench.h
tests_bench_versions_SOURCES = tests/bench/versions.c
tests_bench_versions_LDADD = $(FUSE_LIBS) $(SQLITE_LIBS)

EXTRA_DIST += tests/bench/run tests/bench/multiply.py

bench: expfs$(EXEEXT) $(bench_programs)
	EXPFS='$(abs_builddir)/expfs$(EXEEXT)' EXPFS_BUILDDIR='$(abs_builddir)' '$(srcdir)/tests/bench/run' $(BENCHFLAGS)

.PHONY: bench
