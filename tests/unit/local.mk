# C tests of single files, with cmocka; TAP.

if HAVE_CMOCKA
unit_tests = \
	tests/unit/test_config \
	tests/unit/test_charts \
	tests/unit/test_cred \
	tests/unit/test_digest \
	tests/unit/test_experiment \
	tests/unit/test_hp \
	tests/unit/test_hp_scalars \
	tests/unit/test_hp_diff \
	tests/unit/test_identity \
	tests/unit/test_itable \
	tests/unit/test_ledger \
	tests/unit/test_manager_options \
	tests/unit/test_manifest \
	tests/unit/test_meta \
	tests/unit/test_metrics \
	tests/unit/test_object \
	tests/unit/test_page \
	tests/unit/test_parts \
	tests/unit/test_pickle \
	tests/unit/test_progress \
	tests/unit/test_portable \
	tests/unit/test_ranking \
	tests/unit/test_role \
	tests/unit/test_tensors \
	tests/unit/test_tensors_formats \
	tests/unit/test_distcp \
	tests/unit/test_tensor_content \
	tests/unit/test_pyjson \
	tests/unit/test_snapshot \
	tests/unit/test_state_file \
	tests/unit/test_view_kept \
	tests/unit/test_view_path \
	tests/unit/test_whole \
	tests/unit/test_whole_zip

check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif

tests_unit_test_config_SOURCES = tests/unit/test_config.c tests/unit/test.h
tests_unit_test_config_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_charts_SOURCES = tests/unit/test_charts.c tests/unit/test.h
tests_unit_test_charts_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_cred_SOURCES = tests/unit/test_cred.c tests/unit/test.h
tests_unit_test_cred_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_digest_SOURCES = tests/unit/test_digest.c tests/unit/test.h
tests_unit_test_digest_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_experiment_SOURCES = tests/unit/test_experiment.c tests/unit/test.h
tests_unit_test_experiment_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_hp_SOURCES = tests/unit/test_hp.c tests/unit/test.h tests/unit/hp.c tests/unit/hp.h
tests_unit_test_hp_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_hp_scalars_SOURCES = tests/unit/test_hp_scalars.c tests/unit/test.h tests/unit/hp.c tests/unit/hp.h
tests_unit_test_hp_scalars_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_hp_diff_SOURCES = tests/unit/test_hp_diff.c tests/unit/test.h
tests_unit_test_hp_diff_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_identity_SOURCES = tests/unit/test_identity.c tests/unit/test.h
tests_unit_test_identity_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_itable_SOURCES = tests/unit/test_itable.c tests/unit/test.h fs/itable.c
tests_unit_test_itable_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_ledger_SOURCES = tests/unit/test_ledger.c tests/unit/test.h
tests_unit_test_ledger_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_manager_options_SOURCES = tests/unit/test_manager_options.c tests/unit/test.h
tests_unit_test_manager_options_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_manifest_SOURCES = tests/unit/test_manifest.c tests/unit/test.h
tests_unit_test_manifest_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_meta_SOURCES = tests/unit/test_meta.c tests/unit/test.h
tests_unit_test_meta_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_metrics_SOURCES = tests/unit/test_metrics.c tests/unit/test.h
tests_unit_test_metrics_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_object_SOURCES = tests/unit/test_object.c tests/unit/test.h
tests_unit_test_object_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_page_SOURCES = tests/unit/test_page.c tests/unit/test.h
tests_unit_test_page_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_parts_SOURCES = tests/unit/test_parts.c tests/unit/test.h
tests_unit_test_parts_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_pickle_SOURCES = tests/unit/test_pickle.c tests/unit/test.h
tests_unit_test_pickle_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_progress_SOURCES = tests/unit/test_progress.c tests/unit/test.h
tests_unit_test_progress_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_portable_SOURCES = tests/unit/test_portable.c tests/unit/test.h
tests_unit_test_portable_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_ranking_SOURCES = tests/unit/test_ranking.c tests/unit/test.h
tests_unit_test_ranking_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_role_SOURCES = tests/unit/test_role.c tests/unit/test.h
tests_unit_test_role_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_tensors_SOURCES = tests/unit/test_tensors.c tests/unit/test.h tests/unit/bytes.c tests/unit/bytes.h tests/unit/tensors.c tests/unit/tensors.h
tests_unit_test_tensors_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_tensor_content_SOURCES = tests/unit/test_tensor_content.c tests/unit/test.h
tests_unit_test_tensor_content_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_distcp_SOURCES = tests/unit/test_distcp.c tests/unit/test.h tests/unit/bytes.c tests/unit/bytes.h tests/unit/tensors.c tests/unit/tensors.h
tests_unit_test_distcp_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_tensors_formats_SOURCES = tests/unit/test_tensors_formats.c tests/unit/test.h tests/unit/bytes.c tests/unit/bytes.h tests/unit/tensors.c tests/unit/tensors.h
tests_unit_test_tensors_formats_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_pyjson_SOURCES = tests/unit/test_pyjson.c tests/unit/test.h
tests_unit_test_pyjson_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_snapshot_SOURCES = tests/unit/test_snapshot.c tests/unit/test.h
tests_unit_test_snapshot_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_state_file_SOURCES = tests/unit/test_state_file.c tests/unit/test.h
tests_unit_test_state_file_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_view_kept_SOURCES = tests/unit/test_view_kept.c tests/unit/test.h fs/gate.c fs/view_kept.c
tests_unit_test_view_kept_LDADD = $(libexpfs_LIBS) $(FUSE_LIBS) $(CMOCKA_LIBS)
tests_unit_test_view_path_SOURCES = tests/unit/test_view_path.c tests/unit/test.h
tests_unit_test_view_path_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_whole_SOURCES = tests/unit/test_whole.c tests/unit/test.h tests/unit/bytes.c tests/unit/bytes.h tests/unit/whole.c tests/unit/whole.h
tests_unit_test_whole_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)
tests_unit_test_whole_zip_SOURCES = tests/unit/test_whole_zip.c tests/unit/test.h tests/unit/bytes.c tests/unit/bytes.h tests/unit/whole.c tests/unit/whole.h
tests_unit_test_whole_zip_LDADD = $(libexpfs_LIBS) $(CMOCKA_LIBS)

# Run by tests/clients/with_configurations.py
check_PROGRAMS += tests/unit/hp_text
tests_unit_hp_text_SOURCES = tests/unit/hp_text.c
tests_unit_hp_text_LDADD = $(libexpfs_LIBS)

# Small samples from the programs that write such files
EXTRA_DIST += \
	tests/data/format/README \
	tests/data/format/__0_0.distcp \
	tests/data/format/d.parquet \
	tests/data/format/dcp.distcp \
	tests/data/format/dcp.metadata \
	tests/data/format/deflated.npz \
	tests/data/format/step.npz \
	tests/data/format/legacy.pt \
	tests/data/format/more.p5 \
	tests/data/format/stored.npz \
	tests/data/format/three.safetensors \
	tests/data/format/v0.weights.h5 \
	tests/data/format/v3.weights.h5 \
	tests/data/format/value.p0 \
	tests/data/format/value.p1 \
	tests/data/format/value.p2 \
	tests/data/format/value.p3 \
	tests/data/format/value.p4 \
	tests/data/format/value.p5 \
	tests/data/format/zip.pt
