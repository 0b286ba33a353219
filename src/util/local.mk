libexpfs_a_SOURCES += \
	src/util/util.h \
	src/util/io.c src/util/io.h \
	src/util/log.c src/util/log.h \
	src/util/progress.c src/util/progress.h
