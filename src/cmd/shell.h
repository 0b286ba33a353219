/* Commands that a user is told to type. */
#ifndef EXPFS_CMD_SHELL_H
#define EXPFS_CMD_SHELL_H

#include <stdint.h>

/* The text as one word, in quotes where it needs them, to be freed. NULL: memory is short, or it cannot be printed as it is. */
char *shell_word(const char *text);

/* Brings version n of a path (0: as restore chooses it) back to another path, or NULL: to itself; with the directory above
 * that, where it is not there. To be freed; NULL as above. */
char *shell_restore(const char *from, uint64_t n, const char *to);

/* Brings a directory in as a run of a mount, under a name that is free; where point is NULL the store is to be mounted first. To
 * be freed; NULL as above. */
char *shell_import(const char *dir, const char *point);

#endif
