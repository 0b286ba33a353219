#include "format/unpack.h"

#include <zlib.h>

#include "util/io.h"

#define CHUNK ((size_t)64 << 10)

struct unpacker {
	int fd;
	struct packed p;
	uint64_t taken, given; /* bytes read, and unpacked */
	z_stream z;
	bool ended;
	uint8_t in[CHUNK], skipped[CHUNK];
};

int unpacker_open(int fd, const struct packed *p, struct unpacker **ret)
{
	struct unpacker *u = calloc(1, sizeof(*u));

	if (!u || inflateInit2(&u->z, -MAX_WBITS) != Z_OK) {
		free(u);
		return -ENOMEM;
	}
	u->fd = fd;
	u->p = *p;
	*ret = u;
	return 0;
}

void unpacker_free(struct unpacker *u)
{
	if (!u)
		return;
	inflateEnd(&u->z);
	free(u);
}

static int fill(struct unpacker *u)
{
	size_t n = (size_t)MIN(u->p.len - u->taken, CHUNK);
	ssize_t r = n ? io_pread(u->fd, u->in, n, u->p.at + u->taken) : 0;

	if (r < 0)
		return (int)r;
	if (r == 0)
		return -EBADMSG;
	u->taken += (uint64_t)r;
	u->z.next_in = u->in;
	u->z.avail_in = (uInt)r;
	return 0;
}

/* Until the output is full, or the end. */
static int run(struct unpacker *u)
{
	while (u->z.avail_out > 0 && !u->ended) {
		int r = u->z.avail_in ? 0 : fill(u);

		if (r < 0)
			return r;
		r = inflate(&u->z, Z_NO_FLUSH);
		if (r == Z_MEM_ERROR)
			return -ENOMEM;
		if (r != Z_OK && r != Z_STREAM_END)
			return -EBADMSG;
		u->ended = r == Z_STREAM_END;
	}
	return 0;
}

/* There is no byte more, of either kind. */
static int check_end(struct unpacker *u)
{
	uint8_t more;
	int r;

	u->z.next_out = &more;
	u->z.avail_out = 1;
	r = run(u);
	if (r < 0)
		return r;
	return u->z.avail_out == 1 && u->taken == u->p.len && u->z.avail_in == 0 ? 0 : -EBADMSG;
}

int unpacker_read(struct unpacker *u, void *buf, size_t n)
{
	uint8_t *to = buf;

	if (n > u->p.size - u->given)
		return -EBADMSG;
	while (n > 0) {
		uInt part = (uInt)MIN(n, (size_t)1 << 30);
		int r;

		u->z.next_out = to;
		u->z.avail_out = part;
		r = run(u);
		if (r < 0)
			return r;
		if (u->z.avail_out > 0)
			return -EBADMSG;
		to += part;
		n -= part;
		u->given += part;
	}
	return u->given == u->p.size ? check_end(u) : 0;
}

int unpacker_skip(struct unpacker *u, uint64_t n)
{
	int r = 0;

	while (n > 0 && r == 0) {
		size_t part = (size_t)MIN(n, CHUNK);

		r = unpacker_read(u, u->skipped, part);
		n -= part;
	}
	return r;
}

int unpack(int fd, const struct packed *p, uint64_t off, void *buf, size_t n)
{
	_cleanup_unpacker_ struct unpacker *u = NULL;
	int r = unpacker_open(fd, p, &u);

	if (r == 0)
		r = unpacker_skip(u, off);
	return r < 0 ? r : unpacker_read(u, buf, n);
}
