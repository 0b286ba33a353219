noinst_PROGRAMS += contrib/demo/charlm

contrib_demo_charlm_SOURCES = \
	contrib/demo/charlm.c \
	contrib/demo/checkpoint.c contrib/demo/checkpoint.h \
	contrib/demo/file.c contrib/demo/file.h \
	contrib/demo/model.c contrib/demo/model.h \
	contrib/demo/safetensors.c contrib/demo/safetensors.h \
	contrib/demo/text.c contrib/demo/text.h
contrib_demo_charlm_CPPFLAGS = $(AM_CPPFLAGS) -DCHARLM_TEXT='"$(abs_top_srcdir)/contrib/demo/pride.txt"'
contrib_demo_charlm_LDADD = $(JANSSON_LIBS) -lm

EXTRA_DIST += contrib/demo/README.md contrib/demo/pride.txt
