libexpfs_a_SOURCES += \
	src/sync/portable.c src/sync/portable.h
