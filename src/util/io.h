/* File I/O that goes on to the end: short counts and EINTR are handled here,
 * a passing EIO of the disk is tried again a bounded number of times.
 * Functions return 0 or -errno. */
#ifndef EXPFS_IO_H
#define EXPFS_IO_H

#include <sys/stat.h>
#include <sys/types.h>

#include "util/util.h"

/* Reads up to n bytes at off; the count, less than n only at the end of the
 * file, or -errno. */
ssize_t io_pread(int fd, void *buf, size_t n, uint64_t off);

/* Writes n bytes at off. The count, less than n only where the disk took no
 * more (the next call tells why), or -errno where it took none. */
ssize_t io_pwrite(int fd, const void *buf, size_t n, uint64_t off);

/* Writes n bytes at the descriptor's position, as for sockets and pipes. */
int io_write_all(int fd, const void *buf, size_t n);

/* Syncs a file's data (data_only: fdatasync) or a directory. Never tried
 * again: what a failed sync lost, a second one does not bring back. */
int io_sync(int fd, bool data_only);

/* Syncs the file system that the file is on, likewise. */
int io_sync_all(int fd);

int io_stat(int fd, struct stat *ret);
int io_truncate(int fd, uint64_t size);
int io_allocate(int fd, int mode, uint64_t off, uint64_t n); /* as fallocate(2) */
int io_set_mtime(int fd, struct timespec mtime);

/* As copy_file_range(2), and as that may copy less. */
ssize_t io_copy_range(int from, uint64_t off_from, int to, uint64_t off_to, size_t n);

/* The whole of a small file, NUL-terminated; -EFBIG beyond max bytes. Of what is no regular file nothing is read, nor waited for:
 * -EISDIR, -EINVAL. */
int io_read_file(int dirfd, const char *path, size_t max, char **ret, size_t *ret_len);

/* Makes or replaces a small file by writing beside it, syncing and renaming. */
int io_write_file(int dirfd, const char *path, const void *buf, size_t n);

/* 0 where both hold the same n bytes, 1 where they do not, -errno. */
int io_compare(int fd_a, int fd_b, uint64_t n);

/* Copies n bytes from one file to another, holes kept and shared blocks used
 * where the disk has them. */
int io_copy(int from, int to, uint64_t n);

#endif
