libexpfs_a_SOURCES += \
	src/util/util.h \
	src/util/fault.h \
	src/util/hex.h \
	src/util/advice.c src/util/advice.h \
	src/util/edit_distance.c src/util/edit_distance.h \
	src/util/human.c src/util/human.h \
	src/util/io.c src/util/io.h \
	src/util/list.c src/util/list.h \
	src/util/log.c src/util/log.h \
	src/util/mounts.c src/util/mounts.h \
	src/util/progress.c src/util/progress.h \
	src/util/terminal.h \
	src/util/service.c src/util/service.h

if FAULT_INJECTION
libexpfs_a_SOURCES += src/util/fault.c
endif
