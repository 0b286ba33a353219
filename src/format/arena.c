/* Chunks in a list, the newest first; what is large has a chunk of its own. */
#include "format/arena.h"

#include <string.h>

#define CHUNK ((size_t)64 << 10)
#define ALIGN sizeof(uint64_t)

struct arena_chunk { /* its header is a multiple of ALIGN */
	struct arena_chunk *next;
	size_t used, size;
	unsigned char bytes[];
};

void *arena_alloc(struct arena *a, size_t n)
{
	struct arena_chunk *c = a->chunks;
	void *p;

	if (n > a->limit) {
		a->over = true;
		return NULL;
	}
	n = (n + ALIGN - 1) / ALIGN * ALIGN;
	if (!c || n > c->size - c->used) {
		size_t size = n > CHUNK / 4 ? n : CHUNK;

		if (size > a->limit - MIN(a->used, a->limit)) {
			a->over = true;
			return NULL;
		}
		c = malloc(sizeof(*c) + size);
		if (!c)
			return NULL;
		c->used = 0;
		c->size = size;
		a->used += size;
		if (size != CHUNK && a->chunks) { /* the current one may have room still */
			c->next = a->chunks->next;
			a->chunks->next = c;
		} else {
			c->next = a->chunks;
			a->chunks = c;
		}
	}
	p = c->bytes + c->used;
	c->used += n;
	return p;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	if (__builtin_mul_overflow(n, size, &n)) {
		a->over = true;
		return NULL;
	}
	return arena_alloc(a, n);
}

void *arena_grow(struct arena *a, void *p, size_t n, size_t *room, size_t size)
{
	size_t wanted = *room ? 2 * *room : 4;
	void *copy;

	if (n < *room)
		return p;
	copy = arena_array(a, wanted, size);
	if (!copy)
		return NULL;
	if (n > 0)
		memcpy(copy, p, n * size);
	*room = wanted;
	return copy;
}

char *arena_text(struct arena *a, const void *p, size_t n)
{
	char *text = arena_array(a, n + 1, 1);

	if (!text)
		return NULL;
	if (n > 0)
		memcpy(text, p, n);
	text[n] = '\0';
	return text;
}

void arena_clear(struct arena *a)
{
	while (a->chunks) {
		struct arena_chunk *c = a->chunks;

		a->chunks = c->next;
		free(c);
	}
	a->used = 0;
}
