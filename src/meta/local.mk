libexpfs_a_SOURCES += \
	src/meta/meta.c src/meta/meta.h \
	src/meta/db.c src/meta/db.h src/meta/fault_vfs.h \
	src/meta/schema.c src/meta/schema.h \
	src/meta/mend.c src/meta/mend.h \
	src/meta/inode.c src/meta/inode.h \
	src/meta/dirent.c src/meta/dirent.h \
	src/meta/xattr.c src/meta/xattr.h \
	src/meta/content.c src/meta/content.h \
	src/meta/undo.c src/meta/undo.h \
	src/meta/tracked.c src/meta/tracked.h \
	src/meta/version.c src/meta/version.h \
	src/meta/experiment.c src/meta/experiment.h \
	src/meta/metric.c src/meta/metric.h \
	src/meta/ledger.c src/meta/ledger.h \
	src/meta/line.c src/meta/line.h \
	src/meta/root.c src/meta/root.h \
	src/meta/waiting.c src/meta/waiting.h \
	src/meta/holders.c src/meta/holders.h \
	src/meta/counts.c src/meta/counts.h \
	src/meta/weights.c src/meta/weights.h \
	src/meta/check.c src/meta/check.h \
	src/meta/tree.c src/meta/tree.h \
	src/meta/lost_found.c src/meta/lost_found.h

if FAULT_INJECTION
libexpfs_a_SOURCES += src/meta/fault_vfs.c
endif
