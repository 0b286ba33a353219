# Fuzzers: make check gives them their seeds, make fuzz (with clang) looks for more.

fuzz_targets = \
	tests/fuzz/any \
	tests/fuzz/config \
	tests/fuzz/hdf5 \
	tests/fuzz/hp \
	tests/fuzz/manifest \
	tests/fuzz/metrics \
	tests/fuzz/names \
	tests/fuzz/page \
	tests/fuzz/parquet \
	tests/fuzz/pickle \
	tests/fuzz/portable \
	tests/fuzz/request \
	tests/fuzz/safetensors \
	tests/fuzz/snapshot \
	tests/fuzz/state \
	tests/fuzz/store \
	tests/fuzz/tensors \
	tests/fuzz/zip
check_PROGRAMS += $(fuzz_targets)
TESTS += $(fuzz_targets)

fuzz_shared = tests/fuzz/replay.c tests/fuzz/scratch.c tests/fuzz/fuzz.h
fuzz_whole = $(fuzz_shared) tests/fuzz/whole.c
fuzz_whole_ldflags = $(AM_LDFLAGS) -Wl,--wrap=io_pread

tests_fuzz_any_SOURCES = tests/fuzz/any.c $(fuzz_whole)
tests_fuzz_any_LDFLAGS = $(fuzz_whole_ldflags)
tests_fuzz_any_LDADD = $(libexpfs_LIBS)
tests_fuzz_config_SOURCES = tests/fuzz/config.c $(fuzz_shared)
tests_fuzz_config_LDADD = $(libexpfs_LIBS)
tests_fuzz_hdf5_SOURCES = tests/fuzz/hdf5.c $(fuzz_whole)
tests_fuzz_hdf5_LDFLAGS = $(fuzz_whole_ldflags)
tests_fuzz_hdf5_LDADD = $(libexpfs_LIBS)
tests_fuzz_hp_SOURCES = tests/fuzz/hp.c $(fuzz_shared)
tests_fuzz_hp_LDADD = $(libexpfs_LIBS)
tests_fuzz_manifest_SOURCES = tests/fuzz/manifest.c $(fuzz_shared)
tests_fuzz_manifest_LDADD = $(libexpfs_LIBS)
tests_fuzz_metrics_SOURCES = tests/fuzz/metrics.c $(fuzz_shared)
tests_fuzz_metrics_LDADD = $(libexpfs_LIBS)
tests_fuzz_names_SOURCES = tests/fuzz/names.c $(fuzz_shared)
tests_fuzz_names_LDADD = $(libexpfs_LIBS)
tests_fuzz_page_SOURCES = tests/fuzz/page.c $(fuzz_shared)
tests_fuzz_page_LDADD = $(libexpfs_LIBS)
tests_fuzz_parquet_SOURCES = tests/fuzz/parquet.c $(fuzz_whole)
tests_fuzz_parquet_LDFLAGS = $(fuzz_whole_ldflags)
tests_fuzz_parquet_LDADD = $(libexpfs_LIBS)
tests_fuzz_pickle_SOURCES = tests/fuzz/pickle.c $(fuzz_shared)
tests_fuzz_pickle_LDADD = $(libexpfs_LIBS)
tests_fuzz_portable_SOURCES = tests/fuzz/portable.c $(fuzz_shared)
tests_fuzz_portable_LDADD = $(libexpfs_LIBS)
tests_fuzz_request_SOURCES = tests/fuzz/request.c $(fuzz_shared)
tests_fuzz_request_LDADD = $(libexpfs_LIBS)
tests_fuzz_safetensors_SOURCES = tests/fuzz/safetensors.c $(fuzz_whole)
tests_fuzz_safetensors_LDFLAGS = $(fuzz_whole_ldflags)
tests_fuzz_safetensors_LDADD = $(libexpfs_LIBS)
tests_fuzz_snapshot_SOURCES = tests/fuzz/snapshot.c $(fuzz_shared)
tests_fuzz_snapshot_LDADD = $(libexpfs_LIBS)
tests_fuzz_state_SOURCES = tests/fuzz/state.c $(fuzz_shared)
tests_fuzz_state_LDADD = $(libexpfs_LIBS)
tests_fuzz_store_SOURCES = tests/fuzz/store.c $(fuzz_shared)
tests_fuzz_store_LDADD = $(libexpfs_LIBS)
tests_fuzz_tensors_SOURCES = tests/fuzz/tensors.c $(fuzz_shared)
tests_fuzz_tensors_LDFLAGS = $(fuzz_whole_ldflags)
tests_fuzz_tensors_LDADD = $(libexpfs_LIBS)
tests_fuzz_zip_SOURCES = tests/fuzz/zip.c $(fuzz_whole)
tests_fuzz_zip_LDFLAGS = $(fuzz_whole_ldflags)
tests_fuzz_zip_LDADD = $(libexpfs_LIBS)

# FUZZ_SECONDS for each; FUZZ_TARGETS='zip names' for some
fuzz:
	EXPFS_SRCDIR='$(abs_top_srcdir)' FUZZ_SOURCES='$(libexpfs_a_SOURCES)' \
	FUZZ_CPPFLAGS='-I$(abs_top_builddir) -I$(abs_top_srcdir)/src -I$(abs_top_srcdir) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 $(SQLITE_CFLAGS) $(XXHASH_CFLAGS) $(YAML_CFLAGS) $(JANSSON_CFLAGS) $(CRYPTO_CFLAGS) $(ZLIB_CFLAGS)' \
	FUZZ_LIBS='$(SQLITE_LIBS) $(XXHASH_LIBS) $(YAML_LIBS) $(JANSSON_LIBS) $(CRYPTO_LIBS) $(ZLIB_LIBS) -lm' \
	FUZZ_SECONDS='$(FUZZ_SECONDS)' \
	$(srcdir)/tests/fuzz/run $(FUZZ_TARGETS)
.PHONY: fuzz

FUZZ_SECONDS = 60
FUZZ_TARGETS = any config hdf5 hp manifest metrics names page parquet pickle portable request safetensors snapshot state store tensors zip

clean-local:
	rm -rf fuzz

if HAVE_BATS
TESTS += tests/fuzz/hostile.bats
endif

EXTRA_DIST += \
	tests/data/fuzz \
	tests/fuzz/hostile.bats \
	tests/fuzz/row_cases.py \
	tests/fuzz/rows.py \
	tests/fuzz/run
