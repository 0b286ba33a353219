/* Timestamps of YAML 1.1, and the text that Python's str() gives for them. */
#ifndef EXPFS_FORMAT_TIMESTAMP_H
#define EXPFS_FORMAT_TIMESTAMP_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a plain scalar without a tag is one. */
bool timestamp_is_plain(const char *text, size_t len);

/* -EINVAL: no timestamp, or one that there cannot be. */
#define TIMESTAMP_TEXT_SIZE 96
int timestamp_text(const char *text, size_t len, char ret[TIMESTAMP_TEXT_SIZE]);

#endif
