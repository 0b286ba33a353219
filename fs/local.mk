expfs_SOURCES += \
	fs/session.c fs/session.h fs/fs.h \
	fs/control.c fs/control.h \
	fs/itable.c fs/itable.h \
	fs/attr.c fs/dir.c fs/file.c fs/name.c fs/xattr.c \
	fs/view.c fs/view.h
