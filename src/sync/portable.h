/* Names as Google Drive, Windows and Dropbox take them.
 *
 * They refuse : ? * " < > | \, control characters, blanks at the ends, a dot at the end, the names of Windows' devices (CON, AUX.txt),
 * bytes that are no UTF-8, and names over 255 bytes; and take names that differ in case alone for one. What is refused is
 * written as %XX, the byte in hexadecimal, and a % that so would seem to begin one as %25. Of names in one directory that differ in
 * case alone the one that is first in the order of bytes keeps its name, and a letter of the others is written so. Pure functions on
 * one name, without a slash and not empty; what they give is to be freed. */
#ifndef EXPFS_SYNC_PORTABLE_H
#define EXPFS_SYNC_PORTABLE_H

#include <stdbool.h>
#include <stddef.h>

#define PORTABLE_MAX 255

/* What begins so is a file that an export is writing; such a name of a file itself is mapped. */
#define PORTABLE_PART ".expfs-part-"

/* The name under which it can be kept; -ENAMETOOLONG: there is none; -ENOMEM. */
int portable_map(const char *name, char **ret);

/* The same of all n names of a directory, which come in any order and each once: no two of ret differ in case alone. ret[i] is
 * NULL where there is no such name. -ENOMEM: none is set. */
int portable_map_all(const char *const *names, size_t n, char **ret);

/* The same of whole paths, relative, each name of each directory; what lies in a directory comes together, and that itself, if at
 * all, before. */
int portable_map_paths(const char *const *paths, size_t n, char **ret);

/* The name from which mapping made this one; itself, if it made none such, as a file that was always called so. -ENOMEM. */
int portable_unmap(const char *name, char **ret);

#endif
