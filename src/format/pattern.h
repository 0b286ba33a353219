/* Name patterns, as in .gitignore, over bytes of any encoding:
 *
 *   *       any bytes of one component
 *   ?       one byte
 *   [a-z]   one byte of the set, [!a-z] and [^a-z] one that is not in it
 *   \x      x itself
 *   <n>     a whole run of decimal digits: what stands beside it is no digit
 *   **      as a component: any number of directories; at the end: all below
 *
 * A pattern without a slash is for the last component at any depth; one with a
 * slash in front or between is for the path from the top; one that ends in a
 * slash is for directories only. Case counts. There are no classes such as
 * [:alpha:], and no '!' in front, as roles have an order instead. */
#ifndef EXPFS_FORMAT_PATTERN_H
#define EXPFS_FORMAT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_MAX 1024 /* bytes */

struct pattern {
	const char *text; /* borrowed; without the outer slashes */
	size_t len;
	bool from_top;
	bool dir_only;
};

/* -EINVAL: text is no pattern (empty, over PATTERN_MAX, unclosed [ or <, an
 * empty component …). text must outlive *ret. */
int pattern_parse(const char *text, struct pattern *ret);

/* Whether the pattern is for this path (len bytes, relative, no outer slash). */
bool pattern_match(const struct pattern *p, const char *path, size_t len, bool is_dir);

/* Whether some path that ends in this component could match by it: true
 * wherever pattern_match() is for such a path, unless the pattern ends in a
 * component **, which says nothing about the name. */
bool pattern_match_name(const struct pattern *p, const char *name, size_t len, bool is_dir);

/* Matches one component with one component of a pattern. *ret_n, if not NULL,
 * is the run of digits that the last <n> stood for; its length is 0 without. */
struct digits {
	const char *text;
	size_t len;
};
bool glob_match(const char *glob, size_t glob_len, const char *name, size_t len, struct digits *ret_n);

/* The number that digits write; false beyond 2^63-1 and for none at all. */
bool digits_value(const struct digits *d, uint64_t *ret);

#endif
