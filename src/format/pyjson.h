/* JSON as Python's json module writes and reads it, where NaN, Infinity and
 * -Infinity are numbers. A reader goes over bytes in memory from token to token
 * and builds nothing, so that a text of any size costs no memory; work is linear.
 *
 *   struct pyjson j;
 *   pyjson_begin(&j, text, len, &why);
 *   r = pyjson_next(&j);               the first token; j.type says which
 *   …                                until PYJSON_END
 *
 * Functions return 0, or -EINVAL with the reason and the line. */
#ifndef EXPFS_FORMAT_PYJSON_H
#define EXPFS_FORMAT_PYJSON_H

#include <string.h>

#include "format/reason.h"

#define PYJSON_TEXT_MAX 4096 /* bytes of a string; of longer ones this much is kept */
#define PYJSON_DEPTH_MAX 64

enum pyjson_type {
	PYJSON_END, /* of the whole text */
	PYJSON_OBJECT,
	PYJSON_OBJECT_END,
	PYJSON_ARRAY,
	PYJSON_ARRAY_END,
	PYJSON_KEY,
	PYJSON_STRING,
	PYJSON_NUMBER,
	PYJSON_TRUE,
	PYJSON_FALSE,
	PYJSON_NULL,
};

struct pyjson {
	const char *begin, *at, *end;
	size_t line; /* that the text begins on, for reasons: 1, if it is not set otherwise */
	struct reason *why;
	uint64_t objects; /* bit d: what was opened at depth d is an object */
	unsigned depth;   /* of what is open */
	bool want_value;  /* after a key or a comma */

	enum pyjson_type type;
	double number;   /* of PYJSON_NUMBER */
	int64_t integer; /* of PYJSON_NUMBER, where is_integer: written without fraction and exponent, of 64 bits */
	bool is_integer;
	bool cut;        /* the string is longer than PYJSON_TEXT_MAX */
	size_t len;      /* of a key's, string's or number's text */
	char text[PYJSON_TEXT_MAX + 1];
};

void pyjson_begin(struct pyjson *j, const char *text, size_t len, struct reason *why);
int pyjson_next(struct pyjson *j);

/* Makes another reader at the same place, but for the text of the token. */
static inline void pyjson_fork(const struct pyjson *j, struct pyjson *ret)
{
	memcpy(ret, j, offsetof(struct pyjson, text));
}

/* From a value's first token to its last: of a string to itself. */
int pyjson_skip(struct pyjson *j);

/* Is this key or string the text? */
bool pyjson_is(const struct pyjson *j, const char *text);

/* True where the key's or string's text is whole and has no NUL in it. */
bool pyjson_is_text(const struct pyjson *j);

/* Sets the reason, with the line that is being read; -EINVAL. */
int pyjson_bad(struct pyjson *j, const char *reason);

#endif
