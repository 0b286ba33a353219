/* Syncs of databases, in files that are there already.
 *
 *   syncs page DIR COUNT      a page of a file of 16 MiB is changed and synced, so often
 *   syncs duckdb DIR COUNT    a log takes COMMITS synced commits and goes into the database: blocks, sync, header,
 *                             sync, a new log; so often
 */
#include <fcntl.h>
#include <limits.h>

#include "bench.h"

#define PAGE 4096
#define PAGES 4096
#define BLOCK (256 << 10)
#define BLOCKS 4 /* that a checkpoint changes */
#define DATABASE_BLOCKS 64
#define COMMITS 4

static char block[BLOCK];

static int open_file(const char *dir, const char *name, int flags, char path[static PATH_MAX])
{
	int fd;

	snprintf(path, PATH_MAX, "%s/%s", dir, name);
	fd = open(path, flags, 0666);
	if (fd < 0)
		die("%s: open", path);
	return fd;
}

/* A database of blocks bytes * n that somebody made and closed before. */
static int open_database(const char *dir, const char *name)
{
	char path[PATH_MAX];
	int fd = open_file(dir, name, O_WRONLY | O_CREAT | O_TRUNC, path);

	for (int i = 0; i < DATABASE_BLOCKS; i++) {
		fill_random(block, sizeof(block), (uint64_t)(now() * 1e9));
		write_all(fd, block, sizeof(block), path);
	}
	if (fsync(fd) < 0 || close(fd) < 0)
		die("%s", path);
	return open_file(dir, name, O_RDWR, path);
}

static void put(int fd, size_t n, off_t off)
{
	memcpy(block, &(double){ now() }, sizeof(double));
	if (pwrite(fd, block, n, off) != (ssize_t)n)
		die("pwrite");
}

static double pages(const char *dir, unsigned count)
{
	int fd = open_database(dir, "pages.db");
	double start = now();

	for (unsigned i = 0; i < count; i++) {
		put(fd, PAGE, (off_t)(i * 2654435761u % PAGES) * PAGE);
		if (fdatasync(fd) < 0)
			die("fdatasync");
	}
	return now() - start;
}

static int new_log(const char *dir)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/loggers.duckdb.wal", dir);
	if (unlink(path) < 0 && errno != ENOENT)
		die("%s: unlink", path);
	return open_file(dir, "loggers.duckdb.wal", O_WRONLY | O_CREAT | O_APPEND, path);
}

static double duckdb(const char *dir, unsigned count)
{
	int db = open_database(dir, "loggers.duckdb");
	double start = now();
	int log = new_log(dir);

	for (unsigned i = 0; i < count; i++) {
		for (unsigned c = 0; c < COMMITS; c++) {
			write_all(log, block, 2 * PAGE, "log");
			if (fsync(log) < 0)
				die("fsync");
		}
		for (unsigned b = 0; b < BLOCKS; b++)
			put(db, BLOCK, (off_t)(1 + (i * BLOCKS + b) % (DATABASE_BLOCKS - 1)) * BLOCK);
		if (fsync(db) < 0)
			die("fsync");
		put(db, PAGE, (off_t)(i % 2) * PAGE);
		if (fsync(db) < 0 || close(log) < 0)
			die("fsync");
		log = new_log(dir);
	}
	return now() - start;
}

int main(int argc, char **argv)
{
	unsigned count = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;

	if (count && !strcmp(argv[1], "page"))
		printf("%.6f\n", pages(argv[2], count));
	else if (count && !strcmp(argv[1], "duckdb"))
		printf("%.6f\n", duckdb(argv[2], count));
	else
		return 2;
	return 0;
}
