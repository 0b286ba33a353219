/* The bytes that a tensor lies among: those of the file, or what one deflated record of it unpacks to. */
#ifndef EXPFS_FORMAT_SOURCE_H
#define EXPFS_FORMAT_SOURCE_H

#include "format/unpack.h"

#define SOURCE_WHOLE_MAX ((size_t)64 << 20)

struct source {
	int fd;
	struct unpacker *unpacker;
	uint64_t at;	/* how far it is */
	uint8_t *whole; /* all that it gave */
	uint64_t size;
};

/* packed: NULL for the file. Where what is packed is not read in order, it is held in memory: at most SOURCE_WHOLE_MAX.
 * -ENOMEM, -E2BIG, or as unpacker_read(). */
int source_open(struct source *s, int fd, const struct packed *packed, bool in_order);
void source_close(struct source *s);

/* -EIO: it ends before; or as unpacker_read(). */
int source_read(struct source *s, void *buf, size_t n, uint64_t off);

#endif
