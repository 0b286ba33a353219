libexpfs_a_SOURCES += \
	src/page/page.c src/page/page.h src/page/page_part.h \
	src/page/out.c src/page/out.h \
	src/page/thin.c src/page/thin.h \
	src/page/axis.c src/page/axis.h \
	src/page/summary.c \
	src/page/lineage.c \
	src/page/curves.c \
	src/page/checkpoints.c \
	src/page/changes.c \
	src/page/selections.c \
	src/page/style.c
