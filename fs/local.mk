expfs_SOURCES += \
	fs/session.c fs/session.h fs/fs.h \
	fs/control.c fs/control.h \
	fs/notify.c fs/notify.h \
	fs/signals.c fs/signals.h \
	fs/itable.c fs/itable.h \
	fs/attr.c fs/dir.c fs/file.c fs/xattr.c \
	fs/name.c fs/rename.c fs/names.h \
	fs/gate.c fs/gate.h \
	fs/view.c fs/view.h fs/view_kind.h \
	fs/view_kept.c fs/view_kept.h \
	fs/view_branch.c fs/view_history.c fs/view_text.c fs/view_head.c \
	fs/view_experiment.c fs/view_files.c fs/view_origin.h
