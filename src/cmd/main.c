/* expfs: finds the command and runs it. */
#include "config.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "util/edit_distance.h"
#include "util/log.h"

#ifdef FAULT_INJECTION
#define FAULT_TEXT ", with fault injection"
#else
#define FAULT_TEXT ""
#endif

static const struct command cmd_version, cmd_help;

static const struct command *const commands[] = {
	&cmd_init,   &cmd_mount,  &cmd_umount,  &cmd_status,  &cmd_log,    &cmd_show,   &cmd_branch,  &cmd_load,
	&cmd_commit, &cmd_history, &cmd_restore, &cmd_forget, &cmd_signal, &cmd_select, &cmd_verify,  &cmd_decide,
	&cmd_diff,   &cmd_fsck,   &cmd_version, &cmd_help,
};

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i]->name))
			return commands[i];
	return NULL;
}

static int unknown(const char *name)
{
	const struct command *near = NULL;
	size_t least = 3;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		size_t d = edit_distance(name, commands[i]->name);

		if (d < least && d < strlen(name)) {
			least = d;
			near = commands[i];
		}
	}
	if (near)
		log_msg("%s: no such command; did you mean %s?", name, near->name);
	else
		log_msg("%s: no such command; see: expfs help", name);
	return OP_USAGE;
}

enum op_exit cmd_bad_option(int argc, char **argv, int c)
{
	const char *what = c == ':' ? "wants a value" : "no such option";

	if (!strncmp(argv[optind - 1], "--", 2))
		log_msg("%s: %s: %s; see: expfs help %s", argv[0], argv[optind - 1], what, argv[0]);
	else
		log_msg("%s: -%c: %s; see: expfs help %s", argv[0], optopt, what, argv[0]);
	return OP_USAGE;
}

enum op_exit cmd_bad_operands(const struct command *c)
{
	log_msg("usage: expfs %s%s%s", c->name, *c->usage ? " " : "", c->usage);
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
			return cmd_bad_option(argc, argv, c);
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

const char *cmd_string(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

json_int_t cmd_number(const json_t *j, const char *key)
{
	return json_integer_value(json_object_get(j, key));
}

void cmd_say_no(const json_t *answer)
{
	log_msg("%s", cmd_string(answer, "error"));
}

void cmd_print_text(const char *text)
{
	for (; *text; text++)
		putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}

void cmd_print_json(const json_t *j)
{
	json_dumpf(j, stdout, JSON_INDENT(2));
	putchar('\n');
}

void cmd_format_number(const json_t *number, char ret[static CMD_NUMBER])
{
	if (json_is_string(number))
		snprintf(ret, CMD_NUMBER, "%s", json_string_value(number));
	else
		snprintf(ret, CMD_NUMBER, "%.9g", json_number_value(number));
}

void cmd_format_bytes(double bytes, char ret[static 16])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	size_t u = 0;

	for (; bytes >= 1024 && u < ARRAY_SIZE(units) - 1; u++)
		bytes /= 1024;
	snprintf(ret, 16, u == 0 ? "%.0f %s" : "%.1f %s", bytes, units[u]);
}

void cmd_print_bytes(double bytes)
{
	char text[16];

	cmd_format_bytes(bytes, text);
	printf("%s", text);
}

static int run_version(int argc, char **argv)
{
	if (argc > 1)
		return cmd_bad_operands(&cmd_version);
	printf("%s, store format %d%s\n", PACKAGE_STRING, STORE_FORMAT, FAULT_TEXT);
	return OP_DONE;
}

static int run_help(int argc, char **argv)
{
	const struct command *c;

	if (argc > 2)
		return cmd_bad_operands(&cmd_help);
	if (argc == 2) {
		c = find(argv[1]);
		if (!c)
			return unknown(argv[1]);
		printf("expfs %s%s%s\n\n%s", c->name, *c->usage ? " " : "", c->usage, c->help);
		return OP_DONE;
	}
	printf("expfs keeps machine-learning experiments: mount a store where a training writes.\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-8s %s\n", commands[i]->name, commands[i]->summary);
	printf("\nexpfs help COMMAND tells more. Exit: 0 done, 1 no, 2 wrong usage, 3 failed.\n");
	return OP_DONE;
}

static const struct command cmd_version = {
	.name = "version",
	.run = run_version,
	.usage = "",
	.summary = "show the version",
	.help = "Shows the version of the program and of the stores that it makes.\n",
};

static const struct command cmd_help = {
	.name = "help",
	.run = run_help,
	.usage = "[COMMAND]",
	.summary = "show the commands, or one of them",
	.help = "Shows the commands, or what one of them does and with which options.\n",
};

/* A descriptor that is opened later must not become a standard one by chance. */
static void fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
			_exit(OP_FAILED);
}

static int run_command(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		log_msg("no command is given; see: expfs help");
		return OP_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return run_help(1, argv);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return run_version(1, argv);
	c = find(argv[1]);
	if (!c)
		return unknown(argv[1]);
	if (argc > 2 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h")))
		return run_help(2, argv);
	return c->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;
	int exit;

	name = name ? name + 1 : argc > 0 ? argv[0] : "";
	fill_standard_descriptors();
	exit = !strcmp(name, "mount.expfs") ? mount_helper(argc, argv) : run_command(argc, argv);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		log_msg("standard output: %s", strerror(errno));
		return OP_FAILED;
	}
	return exit;
}
