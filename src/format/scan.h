/* A text that is looked at from its begin on. */
#ifndef EXPFS_FORMAT_SCAN_H
#define EXPFS_FORMAT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct scan {
	const char *p, *end;
};

/* Goes over one of these characters, if it is next. */
static inline bool scan_any(struct scan *s, const char *any)
{
	if (s->p == s->end || *s->p == 0 || !strchr(any, *s->p))
		return false;
	s->p++;
	return true;
}

/* Goes over as many of these as there are; their number. */
static inline size_t scan_all(struct scan *s, const char *any)
{
	const char *begin = s->p;

	while (scan_any(s, any))
		;
	return (size_t)(s->p - begin);
}

static inline bool scan_word(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
		return false;
	s->p += n;
	return true;
}

#endif
