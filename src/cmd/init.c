#include <getopt.h>

#include "cmd/cmd.h"
#include "util/log.h"

static int run(int argc, char **argv)
{
	_cleanup_free_ char *error = NULL;
	const struct cmd_option none = { NULL };

	if (cmd_options(argc, argv, &none) != OP_DONE)
		return OP_USAGE;
	if (argc - optind != 1)
		return cmd_bad_operands(&cmd_init);
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
