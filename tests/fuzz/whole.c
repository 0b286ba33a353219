/* The linker gives io_pread() of the checks to the one here (--wrap), which reads
 * the input from memory and counts. */
#include "format/whole.h"

#include "format/window.h"
#include "fuzz.h"

ssize_t __wrap_io_pread(int fd, void *buf, size_t n, uint64_t off);

static const uint8_t *file;
static size_t file_size, bytes, calls;

ssize_t __wrap_io_pread(int fd, void *buf, size_t n, uint64_t off)
{
	n = off < file_size ? MIN(n, file_size - (size_t)off) : 0;
	if (n)
		memcpy(buf, file + off, n);
	bytes += n;
	calls++;
	return (ssize_t)n;
}

static bool ask(const char *name, uint64_t size)
{
	const char *why = "";
	bool whole;

	bytes = calls = 0;
	must(format_whole(-1, size, name, &whole, &why) == 0);
	must(whole == !why);
	must(bytes <= 8 * file_size + 2 * WINDOW_SIZE);
	must(calls <= 16 + file_size / 32);
	return whole;
}

int fuzz_whole(const char *name, const uint8_t *data, size_t size)
{
	file = data;
	file_size = size;
	ask(name, size);
	/* A file that was cut meanwhile ends too early, if its end was looked at. */
	ask(name, size + 1);
	return 0;
}
