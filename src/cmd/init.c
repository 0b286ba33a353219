#include <getopt.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/place.h"
#include "util/log.h"

/* It may not be there yet, then the directory above it counts. */
static int find_place(const char *path, struct place **ret)
{
	_cleanup_free_ char *above = NULL;
	size_t n = strlen(path);
	int r = place_open(path, ret);

	if (r != -ENOENT)
		return r;
	while (n > 1 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	above = n > 0 ? strndup(path, n) : strdup(".");
	return above ? place_open(above, ret) : -ENOMEM;
}

static bool refuse_in_mount(const char *path)
{
	_cleanup_place_ struct place *p = NULL;

	if (find_place(path, &p) < 0 || !place_is_inside(p))
		return false;
	log_msg("%s: is in the mount of a store, %s; name a directory that is not: each store keeps its bytes on a disk", path, p->source);
	return true;
}

static int run(int argc, char **argv)
{
	_cleanup_free_ char *error = NULL;
	const struct cmd_option none = { NULL };

	if (cmd_options(argc, argv, &none) != OP_DONE)
		return OP_USAGE;
	if (argc - optind != 1)
		return cmd_bad_operands(&cmd_init);
	if (refuse_in_mount(argv[optind]))
		return OP_FAILED;
	if (expfs_init(argv[optind], &error) == 0)
		return OP_DONE;
	log_msg("%s", error ? error : "memory is short");
	return OP_FAILED;
}

const struct command cmd_init = {
	.name = "init",
	.run = run,
	.usage = "STORE",
	.summary = "make a store",
	.help = "Makes a store in the directory STORE, which is made if it is not there and must\n"
		"be empty if it is. The store takes what is written to its mount; choose a disk\n"
		"with room for it. STORE/config.yaml says what can be configured.\n"
		"\n"
		"Nothing in a store is to be changed by hand, but for config.yaml.\n",
};
