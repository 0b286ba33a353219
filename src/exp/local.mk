libexpfs_a_SOURCES += \
	src/exp/expfs.c src/exp/expfs.h \
	src/exp/config.c src/exp/config.h \
	src/exp/settings.c src/exp/settings.h \
	src/exp/file.c src/exp/file.h src/exp/file_state.h \
	src/exp/rw.c src/exp/shown.c \
	src/exp/seal.c src/exp/live.c src/exp/share.c \
	src/exp/undo.c src/exp/undo.h \
	src/exp/settle.c src/exp/settle.h \
	src/exp/recover.c src/exp/recover.h \
	src/exp/idle.c src/exp/idle.h \
	src/exp/keeper.c src/exp/keeper.h \
	src/exp/path.c src/exp/path.h \
	src/exp/view_path.c src/exp/view_path.h \
	src/exp/run.c src/exp/run.h \
	src/exp/cred.c src/exp/cred.h \
	src/exp/ancestry.c src/exp/ancestry.h \
	src/exp/inode_names.c src/exp/inode_names.h \
	src/exp/closed.c src/exp/closed.h \
	src/exp/track.c src/exp/track.h \
	src/exp/track_dir.c src/exp/track_version.c src/exp/track_path.h \
	src/exp/step.c src/exp/step.h \
	src/exp/judge.c src/exp/judge_dir.c src/exp/judge.h src/exp/judge_part.h \
	src/exp/leaving.c src/exp/leaving.h \
	src/exp/metric.c src/exp/metric.h \
	src/exp/signal.c src/exp/signal.h \
	src/exp/curves.c src/exp/curves.h \
	src/exp/curve_roots.c src/exp/curve_roots.h \
	src/exp/ranking.c src/exp/ranking.h \
	src/exp/standings.c src/exp/standings.h \
	src/exp/nominee.c src/exp/nominee.h \
	src/exp/best.c src/exp/best.h \
	src/exp/checkpoint.c src/exp/checkpoint_set.c src/exp/checkpoint.h \
	src/exp/history.c src/exp/history_forget.c src/exp/history.h src/exp/history_part.h \
	src/exp/manifests.c src/exp/manifests.h \
	src/exp/complete.c src/exp/complete.h \
	src/exp/entries.c src/exp/entries.h \
	src/exp/names.c src/exp/names.h \
	src/exp/root.c src/exp/root.h \
	src/exp/derive.c src/exp/derive.h \
	src/exp/derive_place.c src/exp/derive_place.h \
	src/exp/branch.c src/exp/branch.h \
	src/exp/branch_line.c src/exp/branch_line.h \
	src/exp/branch_removed.c src/exp/branch_root.c src/exp/branch_part.h \
	src/exp/removed.c src/exp/removed.h src/exp/resume.c src/exp/resume.h \
	src/exp/tracked_dir.c src/exp/tracked_dir.h \
	src/exp/known.c src/exp/known.h \
	src/exp/inside.c src/exp/inside.h \
	src/exp/structure.c src/exp/structure.h \
	src/exp/weights.c src/exp/weights.h src/exp/weigh.c src/exp/weigh.h \
	src/exp/weights_distcp.c src/exp/weights_distcp.h \
	src/exp/label.c src/exp/label.h \
	src/exp/compare.c src/exp/compare.h src/exp/side.c src/exp/side.h \
	src/exp/verify.c src/exp/verify_find.c src/exp/verify_part_of.c src/exp/verify.h src/exp/verify_part.h \
	src/exp/evidence.c src/exp/evidence.h \
	src/exp/selection.c src/exp/selection.h \
	src/exp/state.c src/exp/state.h \
	src/exp/copied.c src/exp/copied.h \
	src/exp/point.c src/exp/point.h \
	src/exp/kept.c src/exp/kept.h \
	src/exp/experiment.c src/exp/experiment.h \
	src/exp/origin.c src/exp/origin.h \
	src/exp/way.c src/exp/way.h \
	src/exp/put.c src/exp/put_dir.c src/exp/put.h src/exp/put_part.h \
	src/exp/load_source.c src/exp/load_settle.c src/exp/load_source.h \
	src/exp/space.c src/exp/space_parts.c src/exp/space.h \
	src/exp/load.c src/exp/load.h
