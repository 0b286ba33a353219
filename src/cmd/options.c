/* The options of commands. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "util/edit_distance.h"
#include "util/log.h"

/* --NAME or --NAME=VALUE. */
static void bad_long_option(const char *command, const char *given, bool wants_value, const struct option *options)
{
	_cleanup_free_ char *name = strndup(given + 2, strcspn(given + 2, "="));
	struct nearest near = { .word = name ? name : "" };

	for (; options->name; options++)
		nearest_try(&near, options->name);
	if (wants_value)
		log_msg("%s: %s: wants a value; see: expfs help %s", command, given, command);
	else if (near.name && near.distance == 0)
		log_msg("%s: --%s: takes no value; see: expfs help %s", command, near.name, command);
	else if (near.name)
		log_msg("%s: %s: no such option; did you mean --%s?", command, given, near.name);
	else
		log_msg("%s: %s: no such option; see: expfs help %s", command, given, command);
}

/* -NAME with one dash too few; getopt_long() takes it for letters, and stands at it still while some of these are left. */
static bool say_dashes(const char *command, const char *given, const struct option *options)
{
	_cleanup_free_ char *name = given && *given == '-' ? strndup(given + 1, strcspn(given + 1, "=")) : NULL;

	for (; name && options->name; options++)
		if (!strcmp(name, options->name)) {
			log_msg("%s: %s: no such option; did you mean --%s?", command, given, options->name);
			return true;
		}
	return false;
}

enum op_exit cmd_bad_option(int argc, char **argv, int c, const struct option *options)
{
	const char *given = argv[optind - 1];

	if (say_dashes(argv[0], argv[optind], options) || say_dashes(argv[0], given, options))
		return OP_USAGE;
	if (!strncmp(given, "--", 2))
		bad_long_option(argv[0], given, c == ':', options);
	else
		log_msg("%s: -%c: %s; see: expfs help %s", argv[0], optopt, c == ':' ? "wants a value" : "no such option", argv[0]);
	return OP_USAGE;
}

enum op_exit cmd_options(int argc, char **argv, const struct cmd_option *options)
{
	struct option long_options[CMD_OPTIONS_MAX + 1] = { 0 };
	int c;

	for (int i = 0; options[i].name && i < CMD_OPTIONS_MAX; i++)
		long_options[i] = (struct option){ options[i].name, options[i].flag ? no_argument : required_argument, NULL, i };
	while ((c = getopt_long(argc, argv, ":", long_options, NULL)) >= 0) {
		if (c >= CMD_OPTIONS_MAX)
			return cmd_bad_option(argc, argv, c, long_options);
		if (options[c].value && *options[c].value) {
			log_msg("%s: --%s is given twice; see: expfs help %s", argv[0], options[c].name, argv[0]);
			return OP_USAGE;
		}
		if (options[c].value) {
			*options[c].value = optarg;
		} else if (options[c].flag) {
			*options[c].flag = true;
		} else if (json_array_append_new(options[c].list, json_string(optarg)) < 0) {
			log_msg("%s: --%s wants text in UTF-8", argv[0], options[c].name);
			return OP_USAGE;
		}
	}
	return OP_DONE;
}
