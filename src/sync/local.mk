libexpfs_a_SOURCES += \
	src/sync/portable.c src/sync/portable.h \
	src/sync/tree.c src/sync/tree.h \
	src/sync/import.c src/sync/import.h src/sync/import_part.h \
	src/sync/import_plan.c \
	src/sync/import_order.c \
	src/sync/import_look.c \
	src/sync/import_file.c \
	src/sync/copy.c src/sync/copy.h
