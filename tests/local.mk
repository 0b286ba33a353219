# Shell tests, and the small programs that check one thing on a file system.

posix_check = tests/posix/check.c tests/posix/check.h

check_PROGRAMS += \
	tests/posix/basic \
	tests/posix/errnos \
	tests/posix/locks \
	tests/posix/mapped \
	tests/posix/names \
	tests/posix/parallel \
	tests/posix/readdir \
	tests/posix/rename \
	tests/posix/sparse \
	tests/posix/times \
	tests/posix/users \
	tests/posix/write \
	tests/posix/xattr

tests_posix_basic_SOURCES = tests/posix/basic.c $(posix_check)
tests_posix_errnos_SOURCES = tests/posix/errnos.c $(posix_check)
tests_posix_locks_SOURCES = tests/posix/locks.c $(posix_check)
tests_posix_mapped_SOURCES = tests/posix/mapped.c $(posix_check)
tests_posix_names_SOURCES = tests/posix/names.c $(posix_check)
tests_posix_parallel_SOURCES = tests/posix/parallel.c $(posix_check)
tests_posix_readdir_SOURCES = tests/posix/readdir.c $(posix_check)
tests_posix_rename_SOURCES = tests/posix/rename.c $(posix_check)
tests_posix_sparse_SOURCES = tests/posix/sparse.c $(posix_check)
tests_posix_times_SOURCES = tests/posix/times.c $(posix_check)
tests_posix_users_SOURCES = tests/posix/users.c $(posix_check)
tests_posix_write_SOURCES = tests/posix/write.c $(posix_check)
tests_posix_xattr_SOURCES = tests/posix/xattr.c $(posix_check)

# What tests/clients/with_tensors.py compares with
check_PROGRAMS += tests/clients/tensors
tests_clients_tensors_SOURCES = tests/clients/tensors.c
tests_clients_tensors_LDADD = $(libexpfs_LIBS)

# Those that take a minute come first, so that nothing is left to wait for at the end of make -j.
bats_tests = \
	tests/saved_over.bats \
	tests/scale.bats \
	tests/power.bats \
	tests/space.bats \
	tests/crash.bats \
	tests/cuts.bats \
	tests/fsck.bats \
	tests/load_state.bats \
	tests/load_whose.bats \
	tests/posix.bats \
	tests/history.bats \
	tests/rename.bats \
	tests/mmap.bats \
	tests/moved.bats \
	tests/locks.bats \
	tests/sparse.bats \
	tests/times.bats \
	tests/names.bats \
	tests/users.bats \
	tests/dedup.bats \
	tests/views.bats \
	tests/latest.bats \
	tests/xattrs.bats \
	tests/inner_step.bats \
	tests/labels.bats \
	tests/labels_in_doubt.bats \
	tests/verify.bats \
	tests/verify_placed.bats \
	tests/verify_records.bats \
	tests/verify_part_of.bats \
	tests/same_weights.bats \
	tests/select.bats \
	tests/ledger.bats \
	tests/diff.bats \
	tests/experiment_views.bats \
	tests/experiment_texts.bats \
	tests/caching.bats \
	tests/completions.bats \
	tests/daemon.bats \
	tests/package.bats \
	tests/service.bats \
	tests/commands.bats tests/operands.bats \
	tests/terminal.bats \
	tests/du.bats \
	tests/control.bats \
	tests/gate.bats \
	tests/fsck_tree.bats \
	tests/power_synced.bats \
	tests/power_experiments.bats \
	tests/load.bats \
	tests/load_checkpoints.bats \
	tests/load_head.bats \
	tests/load_whose.bats \
	tests/faults.bats \
	tests/found.bats \
	tests/config.bats \
	tests/history_kept.bats \
	tests/old_formats.bats \
	tests/history_commands.bats \
	tests/copies.bats \
	tests/manifest.bats \
	tests/weightslab.bats \
	tests/edits.bats \
	tests/experiments.bats \
	tests/experiment_checkpoints.bats \
	tests/segments.bats \
	tests/mishaps.bats \
	tests/options.bats \
	tests/curves.bats \
	tests/export.bats \
	tests/export_kills.bats \
	tests/export_plain.bats \
	tests/export_strays.bats \
	tests/export_watch.bats \
	tests/joined.bats \
	tests/best.bats \
	tests/best_of_roots.bats \
	tests/best_selected.bats \
	tests/metrics.bats \
	tests/removed_runs.bats \
	tests/manual.bats \
	tests/import.bats \
	tests/import_refused.bats \
	tests/import_told.bats \
	tests/report.bats \
	tests/export_weightslab.bats \
	tests/readme.bats \
	tests/links.bats \
	tests/recipes.bats \
	tests/probes.bats

if HAVE_BATS
TESTS += $(bats_tests)
endif

EXTRA_DIST += \
	tests/data/store-1.tar.gz \
	tests/data/store-2.tar.gz \
	tests/data/store-3.tar.gz \
	tests/data/store-4.tar.gz \
	$(bats_tests) \
	tests/completions.zsh \
	tests/lib.bash \
	tests/status.bash \
	tests/import.bash \
	tests/fsck.bash \
	tests/experiment_views.bash \
	tests/experiments.bash \
	tests/best.bash \
	tests/export.bash \
	tests/views.bash \
	tests/load_state.bash \
	tests/history.bash \
	tests/selections.bash \
	tests/power.bash \
	tests/inner_step.py \
	tests/weights.py \
	tests/weights.bash \
	tests/manifest.py \
	tests/manual.py \
	tests/printed.py \
	tests/browser.py \
	tests/posix/checkpoint.py \
	tests/weightslab.py \
	tests/crash/crowd.py \
	tests/crash/cutter.py \
	tests/crash/damages.py \
	tests/crash/exporter.py \
	tests/crash/fault_case.py \
	tests/crash/fault_files.py \
	tests/crash/fault_operation.py \
	tests/crash/fault_store.py \
	tests/crash/faulter.py \
	tests/crash/killer.py \
	tests/crash/load.py \
	tests/crash/mounted.py \
	tests/crash/processes.py \
	tests/crash/runs.py \
	tests/crash/saves.py \
	tests/crash/states.py \
	tests/crash/tree.py

# What clients/ ask for what expfs reads in a file
check_PROGRAMS += tests/clients/formats
tests_clients_formats_SOURCES = tests/clients/formats.c
tests_clients_formats_LDADD = $(libexpfs_LIBS)

EXTRA_DIST += \
	tests/clients/client.py \
	tests/clients/lab.py \
	tests/clients/requirements.txt \
	tests/clients/run \
	tests/clients/tensor_cases.py \
	tests/clients/tuning.py \
	tests/clients/with_colab.py \
	tests/clients/with_recipes.py \
	tests/clients/with_configurations.py \
	tests/clients/with_copies.py \
	tests/clients/with_demo.py \
	tests/clients/with_duckdb.py \
	tests/clients/with_fio.py \
	tests/clients/with_git.py \
	tests/clients/with_h5py.py \
	tests/clients/with_late_capture.py \
	tests/clients/with_lightning.py \
	tests/clients/with_manifest.py \
	tests/clients/with_moved_roots.py \
	tests/clients/with_safetensors.py \
	tests/clients/with_sqlite.py \
	tests/clients/with_stress_ng.py \
	tests/clients/with_tensors.py \
	tests/clients/with_torch.py \
	tests/clients/with_torch_dcp.py \
	tests/clients/with_torchlingo.py \
	tests/clients/with_trainer.py \
	tests/clients/with_weightslab.py
