#include "format/source.h"

#include <string.h>

#include "util/io.h"

static int read_whole(struct source *s)
{
	if (s->size > SOURCE_WHOLE_MAX)
		return -E2BIG;
	s->whole = malloc((size_t)s->size + 1);
	return s->whole ? unpacker_read(s->unpacker, s->whole, (size_t)s->size) : -ENOMEM;
}

int source_open(struct source *s, int fd, const struct packed *packed, bool in_order)
{
	int r = 0;

	*s = (struct source){ .fd = fd, .size = packed ? packed->size : 0 };
	if (packed)
		r = unpacker_open(fd, packed, &s->unpacker);
	if (packed && r == 0 && !in_order)
		r = read_whole(s);
	if (r < 0)
		source_close(s);
	return r;
}

void source_close(struct source *s)
{
	unpacker_free(s->unpacker);
	free(s->whole);
	*s = (struct source){ .fd = -1 };
}

int source_read(struct source *s, void *buf, size_t n, uint64_t off)
{
	ssize_t got;
	int r;

	if (s->whole) {
		if (off > s->size || n > s->size - off)
			return -EIO;
		memcpy(buf, s->whole + off, n);
		return 0;
	}
	if (s->unpacker) {
		r = unpacker_skip(s->unpacker, off - s->at);
		if (r == 0)
			r = unpacker_read(s->unpacker, buf, n);
		s->at = off + n;
		return r;
	}
	got = io_pread(s->fd, buf, n, off);
	return got < 0 ? (int)got : (size_t)got < n ? -EIO : 0;
}
