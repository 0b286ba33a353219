/* Numbers for people; exact ones are in JSON. */
#ifndef EXPFS_UTIL_HUMAN_H
#define EXPFS_UTIL_HUMAN_H

#include <stdint.h>

#define HUMAN_TEXT 16
#define HUMAN_COUNT 64

/* Of bytes, as "1.2 GiB"; of seconds, as "1 h 05 min". */
void human_bytes(double bytes, char ret[static HUMAN_TEXT]);
void human_seconds(double seconds, char ret[static HUMAN_TEXT]);

/* So many of what a noun names, which takes an s: "1 file", "2 files". Gives ret back. */
const char *human_count(uint64_t n, const char *noun, char ret[static HUMAN_COUNT]);

#endif
