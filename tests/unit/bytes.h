/* Bytes of a file that a test puts together. */
#ifndef EXPFS_TEST_BYTES_H
#define EXPFS_TEST_BYTES_H

#include "test.h"

#define TEST(sentence, function) { sentence, function, NULL, NULL, NULL }

struct bytes {
	uint8_t *p;
	size_t len, room;
};
void bytes_free(struct bytes *b);
#define _cleanup_bytes_ _cleanup_(bytes_free)

void add(struct bytes *b, const void *p, size_t n);
void add_text(struct bytes *b, const char *text);

/* Integers of n bytes, the lowest first. */
void add_int(struct bytes *b, uint64_t v, size_t n);
void put_int(uint8_t *p, uint64_t v, size_t n);
uint64_t get_int(const uint8_t *p, size_t n);

/* A file of tests/data/format. */
struct bytes sample(const char *name);

#endif
