libexpfs_a_SOURCES += \
	src/store/store.c src/store/store.h \
	src/store/object.c src/store/object.h \
	src/store/digest.c src/store/digest.h
