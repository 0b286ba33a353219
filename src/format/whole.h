/* Completeness of a file by its format. */
#ifndef EXPFS_FORMAT_WHOLE_H
#define EXPFS_FORMAT_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the file behind fd, size bytes long and not changing meanwhile, is
 * whole by its own structure, as far as that can be told without loading it.
 * name (a path or its last component) tells the format where content does not.
 * A format that is not known is whole when it is not empty.
 *
 * Not whole: *ret_why says why, in static text that continues "NAME: "; whole:
 * it is NULL. An I/O error or -ENOMEM is returned and says neither. Reads with
 * pread only, at most in the order of the size of the file, in under 512 KiB of
 * memory. */
int format_whole(int fd, uint64_t size, const char *name, bool *ret_whole, const char **ret_why);

/* What of the name the answer depends on, as a number from 0 to FORMAT_KINDS-1:
 * equal contents with names of one kind have one answer. */
#define FORMAT_KINDS 16
unsigned format_kind(const char *name);

#endif
