/* The JSON of a safetensors header as a stream: none of it is kept, so that a large one costs no memory.
 *
 * Errors are those of format/window.h; after one the stream is of no use. */
#ifndef EXPFS_FORMAT_SAFETENSORS_JSON_H
#define EXPFS_FORMAT_SAFETENSORS_JSON_H

#include <stdbool.h>

#include "format/window.h"

struct stream {
	struct window *w;
	uint64_t at, end;         /* what is not yet in the chunk: to be set to where the text is */
	const uint8_t *p, *p_end; /* the chunk: valid until the next one is read */
};

/* The keys that matter and the dtypes are short: longer strings are cut. */
#define STREAM_WORD_MAX 24u
struct stream_word {
	char text[STREAM_WORD_MAX + 1];
	size_t len;
};

int stream_bad(struct stream *s); /* says that it does not parse */

/* The next byte that is no space, not taken; takes it, if it is the wanted one. */
int stream_peek(struct stream *s);
int stream_take(struct stream *s, char wanted);

/* Inside of [] or {}: 1 if another element follows, 0 at the closing byte, which is taken. */
int stream_more(struct stream *s, char close, bool first);

/* A string. Escapes are checked and stand for '\' in the word, which no key that matters has. */
int stream_take_string(struct stream *s, struct stream_word *ret);

/* A string, whole and with its escapes undone, into SAFETENSORS_NAME_MAX + 1 bytes. */
int stream_take_name(struct stream *s, char *ret, size_t *ret_len);

int stream_take_u64(struct stream *s, uint64_t *ret);
int stream_skip(struct stream *s); /* any value */
int stream_end(struct stream *s);  /* nothing but spaces is to follow */

#endif
