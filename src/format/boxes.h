/* The elements of one tensor in rows that follow each other, in the byte order of the file, however they lie in it;
 * format/tensor_content.h makes contents of them. */
#ifndef EXPFS_FORMAT_BOXES_H
#define EXPFS_FORMAT_BOXES_H

#include <sys/types.h>

#include "format/tensors.h"

#define BOXES_MEMORY ((size_t)64 << 20)
#define BOXES_SPREAD 16u

/* Of a located tensor without components, size bytes in all. fd and t have to stay until it is freed. -ENOMEM, errors of reading. */
struct boxes;
int boxes_open(int fd, const struct tensor *t, uint64_t size, struct boxes **ret);
void boxes_free(struct boxes *c);

static inline void boxes_freep(struct boxes **c)
{
	boxes_free(*c);
}
#define _cleanup_boxes_ _cleanup_(boxes_freep)

/* The next bytes, whole elements, which may be changed; valid until the next call. 0 at the end; -EBADMSG: it does not
 * unpack; errors of reading. */
ssize_t boxes_next(struct boxes *c, uint8_t **ret);

#endif
