#include "format/window.h"

#include "util/io.h"

int window_read(struct window *w, uint64_t off, void *buf, size_t n)
{
	ssize_t r;

	if (off > w->size || n > w->size - off)
		return window_bad(w, "ends too early");
	r = io_pread(w->fd, buf, n, w->base + off);
	if (r < 0)
		return (int)r;
	return (size_t)r == n ? 0 : window_bad(w, "shorter than its size");
}

int window_get(struct window *w, uint64_t off, size_t n, const uint8_t **ret)
{
	if (off < w->off || off - w->off > w->len || n > w->len - (off - w->off)) {
		size_t len = n;
		int r;

		if (off <= w->size)
			len = (size_t)MAX(n, MIN(WINDOW_SIZE, w->size - off));
		w->len = 0;
		r = window_read(w, off, w->buf, len);
		if (r < 0)
			return r;
		w->off = off;
		w->len = len;
	}
	*ret = w->buf + (off - w->off);
	return 0;
}
