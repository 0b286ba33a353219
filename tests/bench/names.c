/* Many names.
 *
 *   names create DIR DIRS FILES        DIR/<d>/file_<f>, each of 4 KiB
 *   names stat DIR DIRS FILES          all of these
 *   names checkpoints DIR FROM TO      DIR/step_<n>.safetensors, complete ones, from FROM up to TO
 *   names readlink LINK COUNT          the median of so many
 */
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "bench.h"

#define BYTES 4096

static void put(const char *path, const void *buf, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);

	if (fd < 0)
		die("%s: open", path);
	write_all(fd, buf, n, path);
	if (close(fd) < 0)
		die("%s: close", path);
}

static void create(const char *dir, unsigned dirs, unsigned files)
{
	uint64_t buf[BYTES / sizeof(uint64_t)];
	char path[PATH_MAX];

	fill_random(buf, sizeof(buf), (uint64_t)(now() * 1e9));
	for (unsigned d = 0; d < dirs; d++) {
		snprintf(path, sizeof(path), "%s/%u", dir, d);
		if (mkdir(path, 0777) < 0)
			die("%s: mkdir", path);
		for (unsigned f = 0; f < files; f++) {
			snprintf(path, sizeof(path), "%s/%u/file_%u", dir, d, f);
			buf[0]++;
			put(path, buf, sizeof(buf));
		}
	}
}

static void stat_all(const char *dir, unsigned dirs, unsigned files)
{
	char path[PATH_MAX];
	struct stat st;

	for (unsigned d = 0; d < dirs; d++)
		for (unsigned f = 0; f < files; f++) {
			snprintf(path, sizeof(path), "%s/%u/file_%u", dir, d, f);
			if (lstat(path, &st) < 0)
				die("%s: stat", path);
		}
}

/* The smallest safetensors files that differ: one tensor of one number. */
static void checkpoints(const char *dir, unsigned from, unsigned to)
{
	static const char header[] = "{\"w\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}}";
	uint64_t length = sizeof(header) - 1;
	char buf[2 * sizeof(uint64_t) + sizeof(header) - 1];
	char path[PATH_MAX];

	memcpy(buf, &length, sizeof(length));
	memcpy(buf + sizeof(length), header, sizeof(header) - 1);
	for (uint64_t step = from; step < to; step++) {
		memcpy(buf + sizeof(buf) - sizeof(step), &step, sizeof(step));
		snprintf(path, sizeof(path), "%s/step_%u.safetensors", dir, (unsigned)step);
		put(path, buf, sizeof(buf));
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double read_link(const char *link, size_t count)
{
	double *took = calloc(count, sizeof(*took));
	char target[PATH_MAX];

	if (!took || count == 0)
		die("memory");
	for (size_t i = 0; i < count; i++) {
		double start = now();

		if (readlink(link, target, sizeof(target)) < 0)
			die("%s: readlink", link);
		took[i] = now() - start;
	}
	qsort(took, count, sizeof(*took), compare);
	return took[count / 2];
}

int main(int argc, char **argv)
{
	unsigned a = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
	unsigned b = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
	double start = now(), took = -1;

	if (argc == 5 && !strcmp(argv[1], "create"))
		create(argv[2], a, b);
	else if (argc == 5 && !strcmp(argv[1], "stat"))
		stat_all(argv[2], a, b);
	else if (argc == 5 && !strcmp(argv[1], "checkpoints"))
		checkpoints(argv[2], a, b);
	else if (argc == 4 && !strcmp(argv[1], "readlink"))
		took = read_link(argv[2], a);
	else
		return 2;
	printf("%.6f\n", took < 0 ? now() - start : took);
	return 0;
}
