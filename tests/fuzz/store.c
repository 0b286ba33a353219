/* The small files of a store: format, and the text of lock. */
#include "store/store.h"

#include <fcntl.h>
#include <sys/file.h>

#include "fuzz.h"
#include "util/io.h"

static int put(int dirfd, const char *name, const uint8_t *data, size_t size)
{
	int fd = openat(dirfd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	must(fd >= 0 && io_pwrite(fd, data, size, 0) == (ssize_t)size);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char good[] = "expfs store\nformat 1\n";
	static const char *path;
	static int dirfd;
	_cleanup_(cleanup_store) struct store *s = NULL;
	_cleanup_close_ int held = -1;
	_cleanup_free_ char *who = NULL;
	unsigned format = 0;
	int r;

	if (!path) {
		path = scratch_store();
		dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	close(put(dirfd, "format", data, size));
	r = store_open(path, &s, &format);
	must(r == 0 || r == -EMEDIUMTYPE || r == -EPROTONOSUPPORT);
	must((r == 0) == (format > 0 && format <= STORE_FORMAT));
	if (r == 0)
		store_close(steal(&s));

	close(put(dirfd, "format", (const uint8_t *)good, sizeof(good) - 1));
	held = put(dirfd, "lock", data, size);
	must(flock(held, LOCK_EX | LOCK_NB) == 0);
	must(store_open(path, &s, &format) == 0);
	must(store_lock(s, "fuzzing", &who) == -EWOULDBLOCK);
	must(who && *who && !strchr(who, '\n'));
	return 0;
}
