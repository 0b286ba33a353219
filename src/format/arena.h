/* Memory that is given back all at once: for what a parser builds from a file,
 * with a bound on all of it. */
#ifndef EXPFS_FORMAT_ARENA_H
#define EXPFS_FORMAT_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "util/util.h"

struct arena_chunk;

struct arena {
	size_t limit; /* bytes that it may hold; set by the owner before use */
	size_t used;
	bool over; /* something was refused because of the limit */
	struct arena_chunk *chunks;
};

/* n bytes, aligned for pointers, 64-bit integers and doubles, not
 * cleared. NULL beyond the limit (over is
 * then set) and where memory is short. */
void *arena_alloc(struct arena *a, size_t n);

/* The same for n elements of size bytes each. */
void *arena_array(struct arena *a, size_t n, size_t size);

/* Room for one more than n elements in an array from this arena that has room
 * for *room: itself, or a copy of twice the room. NULL as above. */
void *arena_grow(struct arena *a, void *p, size_t n, size_t *room, size_t size);

/* A copy of n bytes with a NUL behind. */
char *arena_text(struct arena *a, const void *p, size_t n);

void arena_clear(struct arena *a);
#define _cleanup_arena_ _cleanup_(arena_clear)

#endif
