libexpfs_a_SOURCES += \
	src/op/op.c src/op/op.h \
	src/op/reply.c src/op/reply.h \
	src/op/request.c src/op/request.h \
	src/op/warning.c src/op/warning.h \
	src/op/labels.c src/op/labels.h \
	src/op/unknown.c src/op/unknown.h \
	src/op/versions.c src/op/versions.h \
	src/op/selection.c src/op/selection.h \
	src/op/select.c \
	src/op/decide.c \
	src/op/experiments.c src/op/experiments.h src/op/experiments_text.c src/op/experiments_manifest.c \
	src/op/log.c \
	src/op/show.c \
	src/op/history.c \
	src/op/export.c src/op/export_versions.c \
	src/op/forget.c \
	src/op/commit.c \
	src/op/signal.c \
	src/op/verify.c src/op/verify.h \
	src/op/diff.c \
	src/op/load.c src/op/load_from.c src/op/load_from.h \
	src/op/stats.c src/op/metrics.c src/op/stats.h \
	src/op/du.c \
	src/op/report.c src/op/report.h src/op/report_curves.c src/op/report_checkpoints.c \
	src/op/status.c src/op/status.h \
	src/op/fsck.c
