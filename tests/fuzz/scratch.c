#include <unistd.h>

#include "exp/expfs.h"
#include "fuzz.h"

static char path[] = "/tmp/expfs-fuzz-XXXXXX/store";
static const size_t above = sizeof("/tmp/expfs-fuzz-XXXXXX") - 1;

static void remove_scratch(void)
{
	char command[sizeof(path) + 16];

	snprintf(command, sizeof(command), "rm -rf '%.*s'", (int)above, path);
	if (system(command) != 0)
		fprintf(stderr, "%.*s: is left\n", (int)above, path);
}

const char *scratch_store(void)
{
	char *error;

	path[above] = 0;
	must(mkdtemp(path));
	path[above] = '/';
	atexit(remove_scratch);
	must(expfs_init(path, &error) == 0);
	return path;
}
