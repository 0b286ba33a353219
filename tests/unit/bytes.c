#include "bytes.h"

#include <fcntl.h>

#include "util/io.h"

void bytes_free(struct bytes *b)
{
	free(b->p);
}

void add(struct bytes *b, const void *p, size_t n)
{
	if (b->len + n > b->room) {
		b->room = 2 * (b->len + n);
		b->p = realloc(b->p, b->room);
		assert_non_null(b->p);
	}
	if (n > 0)
		memcpy(b->p + b->len, p, n);
	b->len += n;
}

void put_int(uint8_t *p, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

uint64_t get_int(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | p[n];
	return v;
}

void add_int(struct bytes *b, uint64_t v, size_t n)
{
	for (; n > 0; n--, v >>= 8)
		add(b, &(uint8_t){ (uint8_t)v }, 1);
}

void add_text(struct bytes *b, const char *text)
{
	add(b, text, strlen(text));
}

struct bytes sample(const char *name)
{
	const char *top = getenv("EXPFS_SRCDIR");
	struct bytes b = { 0 };
	char path[4096], *p;

	snprintf(path, sizeof(path), "%s/tests/data/format/%s", top ? top : ".", name);
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &p, &b.len), 0);
	b.p = (uint8_t *)p;
	return b;
}
