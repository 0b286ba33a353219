/*
 * Whole files, read and written as a training does: in place under their final name, no temporary file, no fsync.
 * Every call succeeds or ends the program with one line that names the file and the reason.
 */
#ifndef CHARLM_FILE_H
#define CHARLM_FILE_H

#include <stddef.h>

/* Prints "charlm: " and the message, and ends the program with status 1. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Memory that is there; ends the program where there is none. The caller frees it. */
void *allocate(size_t count, size_t size);

/* A path made of a directory and a name; the caller frees it. */
char *path_join(const char *directory, const char *name);

/* Creates a directory; one that is there already is as good. */
void directory_make(const char *path);

/* The content of a file, with a zero byte behind its *ret_size bytes; the caller frees it. */
char *file_get(const char *path, size_t *ret_size);

/* Creates or truncates a file and writes its content. */
void file_put(const char *path, const void *data, size_t size);

/* Opens a file for appending, creating it if needed. */
int file_append_open(const char *path);

/* Writes all of data to a descriptor; path is for the message. */
void file_write(int fd, const char *path, const void *data, size_t size);

/* Closes a descriptor that was written to; path is for the message. */
void file_close(int fd, const char *path);

#endif
