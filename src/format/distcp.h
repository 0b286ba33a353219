/* torch.distributed.checkpoint: files NAME.distcp, which are torch's zip files in a row, one for each tensor or other
 * value, and .metadata beside them, which says what these are called. */
#ifndef EXPFS_FORMAT_DISTCP_H
#define EXPFS_FORMAT_DISTCP_H

#include "format/tensors.h"

/* As tensors_read(): the tensors are called by what leads to them in their value, mostly "", and t->blob says in which. */
int distcp_read(int fd, uint64_t size, struct tensors **ret, const char **ret_why);

/* Reads .metadata. Errors as of tensors_read(). */
struct distcp_names;
int distcp_names_read(int fd, uint64_t size, struct distcp_names **ret, const char **ret_why);
void distcp_names_free(struct distcp_names *n);

static inline void distcp_names_freep(struct distcp_names **n)
{
	distcp_names_free(*n);
}
#define _cleanup_distcp_names_ _cleanup_(distcp_names_freep)

/* Gives the tensors of this file their names, and finds the model's (format/torch.h) by what stands before the first '.'.
 * Of which there are several pieces, those are not located. What else lies beside the model goes to *parts
 * (format/parts.h). -EBADMSG: the file holds what has no name there. */
int distcp_name(const struct distcp_names *n, const char *file, struct tensors *ts, unsigned *parts, const char **ret_why);

#endif
