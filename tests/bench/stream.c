/* One large file, as a checkpoint is saved and loaded.
 *
 *   stream save FILE MIB    new file: a small header and one large write a tensor, a directory at the end, close
 *   stream read FILE        all of it in pieces of 1 MiB
 *   stream map FILE         all of it through a map
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "bench.h"

#define MIB ((size_t)1 << 20)
#define HEADER 192
#define DIRECTORY 16384

/* torch writes a zip: for each tensor its header, then the payload as it lies in memory. */
static void save(const char *path, size_t mib)
{
	static const size_t tensor_mib[] = { 64, 16, 48, 32, 16, 64, 16 };
	char *memory = malloc(64 * MIB);
	char header[DIRECTORY] = { 0 };
	double start;
	int fd;

	if (!memory)
		die("memory");
	fill_random(memory, 64 * MIB, (uint64_t)(now() * 1e9));
	start = now();
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0)
		die("%s: open", path);
	for (size_t i = 0; mib > 0; i++) {
		size_t n = tensor_mib[i % (sizeof(tensor_mib) / sizeof(tensor_mib[0]))];

		if (n > mib)
			n = mib;
		memcpy(memory, &i, sizeof(i)); /* no two tensors are equal */
		write_all(fd, header, HEADER, path);
		write_all(fd, memory, n * MIB, path);
		mib -= n;
	}
	write_all(fd, header, DIRECTORY, path);
	if (close(fd) < 0)
		die("%s: close", path);
	printf("%.6f\n", now() - start);
	free(memory);
}

static void read_pieces(int fd, const char *path)
{
	char *buf = malloc(MIB);
	ssize_t n;

	if (!buf)
		die("memory");
	while ((n = read(fd, buf, MIB)) > 0)
		;
	if (n < 0)
		die("%s: read", path);
	free(buf);
}

static uint64_t read_map(int fd, const char *path)
{
	const uint64_t *word;
	uint64_t sum = 0;
	struct stat st;

	if (fstat(fd, &st) < 0)
		die("%s: fstat", path);
	word = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (word == MAP_FAILED)
		die("%s: mmap", path);
	for (size_t i = 0; i < (size_t)st.st_size / sizeof(*word); i++)
		sum += word[i];
	return sum;
}

static void load(const char *path, int mapped)
{
	double start = now();
	volatile uint64_t sum = 0;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		die("%s: open", path);
	if (mapped)
		sum = read_map(fd, path);
	else
		read_pieces(fd, path);
	printf("%.6f\n", now() - start);
	(void)sum;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "save"))
		save(argv[2], strtoul(argv[3], NULL, 10));
	else if (argc == 3 && !strcmp(argv[1], "read"))
		load(argv[2], 0);
	else if (argc == 3 && !strcmp(argv[1], "map"))
		load(argv[2], 1);
	else
		return 2;
	return 0;
}
