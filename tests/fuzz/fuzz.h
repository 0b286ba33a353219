/* What the fuzzers share.
 *
 * Each file here is one libFuzzer target. tests/fuzz/run links it with libFuzzer
 * (make fuzz); make check links it with replay.c, whose main() gives it the
 * seeds in tests/data/fuzz/<target>/. What a target expects beyond that nothing
 * crashes it says with must(). */
#ifndef EXPFS_FUZZ_H
#define EXPFS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(condition)                                                        \
	do {                                                                   \
		if (!(condition)) {                                            \
			fprintf(stderr, "%s:%d: must be: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                               \
		}                                                              \
	} while (0)

/* Bytes with a NUL behind them, to be freed. */
static inline char *as_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	must(text);
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	return text;
}

/* whole.c: asks format_whole() about a file with these bytes; what it answers
 * has to be consistent, and what it reads in proportion. */
int fuzz_whole(const char *name, const uint8_t *data, size_t size);

/* scratch.c: a new store in a directory that is gone at exit; its path. */
const char *scratch_store(void);

#endif
