/* Escapes in strings of JSON, for the two readers of it (json_value.h, pyjson.h). */
#ifndef EXPFS_FORMAT_JSON_ESCAPE_H
#define EXPFS_FORMAT_JSON_ESCAPE_H

#include <stdbool.h>
#include <stdint.h>

/* Reads what stands at *p, behind a backslash, and goes past it. The halves of a surrogate pair are one character; a
 * half alone is what it is. False: JSON has no such escape. */
bool json_escape(const char **p, const char *end, uint32_t *ret);

#endif
