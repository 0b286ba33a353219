/* Reading a file of a known size in bounded memory, for the checks of formats.
 *
 * Reading beyond the size, or a file that turns out shorter, is a malformed
 * file: functions then return window_bad(), which is -EBADMSG with why set. An
 * I/O error is -errno with why NULL. */
#ifndef EXPFS_FORMAT_WINDOW_H
#define EXPFS_FORMAT_WINDOW_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#define WINDOW_SIZE ((size_t)256 << 10)

struct window {
	int fd;
	uint64_t base;   /* where what is read begins in the file */
	uint64_t size;   /* of it */
	const char *why; /* what is wrong with it; static text */
	uint8_t *buf;    /* WINDOW_SIZE bytes, of which len stand for those at off */
	uint64_t off;
	size_t len;
};

static inline int window_bad(struct window *w, const char *why)
{
	w->why = why;
	return -EBADMSG;
}

/* n bytes at off, n at most WINDOW_SIZE; valid until the next call. */
int window_get(struct window *w, uint64_t off, size_t n, const uint8_t **ret);

/* The same into the caller's buffer, the window staying where it is. */
int window_read(struct window *w, uint64_t off, void *buf, size_t n);

static inline uint16_t le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t le32(const uint8_t *p)
{
	return le16(p) | (uint32_t)le16(p + 2) << 16;
}

static inline uint64_t le64(const uint8_t *p)
{
	return le32(p) | (uint64_t)le32(p + 4) << 32;
}

#endif
