/* Gives a target each of the files, and those in each of the directories, that
 * are its arguments; without any its seeds. TAP. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>

#include "fuzz.h"
#include "util/io.h"

#define SEED_MAX (1u << 24)

static int tests;

static void replay(const char *path)
{
	_cleanup_free_ char *text = NULL;
	uint8_t *exact;
	size_t n;

	if (io_read_file(AT_FDCWD, path, SEED_MAX, &text, &n) < 0) {
		printf("Bail out! %s: cannot be read\n", path);
		exit(1);
	}
	printf("# %s\n", path); /* said before, for it may be the last word */
	fflush(stdout);
	exact = malloc(n);
	must(exact || n == 0);
	if (n)
		memcpy(exact, text, n); /* with nothing behind it, so that reading on is noticed */
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	printf("ok %d - %s\n", ++tests, path);
}

static void replay_all(const char *dir)
{
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort);

	if (n < 0) {
		replay(dir);
		return;
	}
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			replay(path);
		free(names[i]);
	}
	free(names);
}

int main(int argc, char **argv)
{
	const char *top = getenv("EXPFS_SRCDIR"), *name = strrchr(argv[0], '/');
	char seeds[PATH_MAX];

	snprintf(seeds, sizeof(seeds), "%s/tests/data/fuzz/%s", top ? top : ".", name ? name + 1 : argv[0]);
	if (argc == 1)
		replay_all(seeds);
	for (int i = 1; i < argc; i++)
		replay_all(argv[i]);
	printf("1..%d\n", tests);
	return tests == 0;
}
