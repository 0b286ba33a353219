libexpfs_a_SOURCES += \
	src/sync/tree.c src/sync/tree.h \
	src/sync/import.c src/sync/import.h src/sync/import_part.h \
	src/sync/import_plan.c src/sync/import_count.c \
	src/sync/import_order.c \
	src/sync/import_look.c \
	src/sync/import_file.c \
	src/sync/import_tidy.c \
	src/sync/import_name.c src/sync/import_name.h \
	src/sync/copy.c src/sync/copy.h \
	src/sync/portable.c src/sync/portable_paths.c src/sync/portable.h \
	src/sync/supply.c src/sync/supply.h \
	src/sync/memory.c src/sync/memory.h \
	src/sync/folder.c src/sync/folder.h \
	src/sync/export.c src/sync/export_check.c src/sync/export_write.c src/sync/export_tidy.c src/sync/export_mend.c \
	src/sync/export.h src/sync/export_part.h
