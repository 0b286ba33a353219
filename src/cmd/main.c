/* expfs: finds the command and runs it. */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "store/store.h"
#include "util/edit_distance.h"
#include "util/log.h"

#ifdef FAULT_INJECTION
#define FAULT_TEXT ", with fault injection"
#else
#define FAULT_TEXT ""
#endif

#define COLUMN 40 /* of the list of commands, of which a screen has two */

static const struct command cmd_version, cmd_help;

/* What `expfs help` shows, in this order. */
static const struct line {
	const char *heading; /* of those that follow, or NULL */
	const struct command *command;
} lines[] = {
	{ "Stores", NULL },
	{ NULL, &cmd_init },
	{ NULL, &cmd_mount },
	{ NULL, &cmd_umount },
	{ NULL, &cmd_status },
	{ NULL, &cmd_du },
	{ NULL, &cmd_fsck },
	{ "Experiments", NULL },
	{ NULL, &cmd_log },
	{ NULL, &cmd_show },
	{ NULL, &cmd_branch },
	{ NULL, &cmd_load },
	{ NULL, &cmd_commit },
	{ NULL, &cmd_signal },
	{ "Checkpoints and versions", NULL },
	{ NULL, &cmd_history },
	{ NULL, &cmd_restore },
	{ NULL, &cmd_forget },
	{ NULL, &cmd_select },
	{ NULL, &cmd_verify },
	{ NULL, &cmd_decide },
	{ NULL, &cmd_diff },
	{ "Out of the machine", NULL },
	{ NULL, &cmd_export },
	{ NULL, &cmd_import },
	{ NULL, &cmd_report },
	{ "The program", NULL },
	{ NULL, &cmd_version },
	{ NULL, &cmd_help },
};

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (lines[i].command && !strcmp(name, lines[i].command->name))
			return lines[i].command;
	return NULL;
}

static int unknown(const char *name)
{
	struct nearest near = { .word = name };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (lines[i].command)
			nearest_try(&near, lines[i].command->name);
	if (strchr(name, '/') && store_is(name)) /* mount.fuse(8) would run us so */
		log_msg("%s: is a store, no command; to mount it: expfs mount %s MNT; mount(8) and fstab know it by the type expfs", name, name);
	else if (near.name)
		log_msg("%s: no such command; did you mean %s?", name, near.name);
	else
		log_msg("%s: no such command; see: expfs help", name);
	return OP_USAGE;
}

enum op_exit cmd_bad_operands(const struct command *c)
{
	log_msg("usage: expfs %s%s%s", c->name, *c->usage ? " " : "", c->usage);
	return OP_USAGE;
}

static int run_version(int argc, char **argv)
{
	if (argc > 1)
		return cmd_bad_operands(&cmd_version);
	printf("%s, store format %d%s\n", PACKAGE_STRING, STORE_FORMAT, FAULT_TEXT);
	return OP_DONE;
}

/* The lines of a column: those from next to end, with an empty one before each heading but the first. */
struct column {
	size_t next, end;
	bool begun;
};

static void format_next(struct column *c, char ret[static COLUMN])
{
	const struct line *l = &lines[c->next];

	*ret = 0;
	if (c->next == c->end)
		return;
	if (l->heading && c->begun) {
		c->begun = false;
		return;
	}
	c->begun = true;
	c->next++;
	if (l->heading)
		snprintf(ret, COLUMN, "%s", l->heading);
	else
		snprintf(ret, COLUMN, "  %-9s%s", l->command->name, l->command->summary);
}

/* In two columns, so that it fits a screen: the second begins with the heading that is nearest to the middle. */
static void print_commands(void)
{
	struct column left = { 0 }, right = { .end = ARRAY_SIZE(lines) };

	for (size_t i = 1; i < ARRAY_SIZE(lines); i++)
		if (lines[i].heading && llabs(2 * (long long)i - (long long)ARRAY_SIZE(lines)) <
					llabs(2 * (long long)right.next - (long long)ARRAY_SIZE(lines)))
			right.next = i;
	left.end = right.next;
	while (left.next < left.end || right.next < right.end) {
		char a[COLUMN], b[COLUMN];

		format_next(&left, a);
		format_next(&right, b);
		printf(*b ? "%-*s%s\n" : "%.*s%s\n", COLUMN, a, b);
	}
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
	print_commands();
	printf("\nexpfs help COMMAND tells more. Exit: 0 done, 1 no, 2 wrong usage, 3 failed.\n");
	return OP_DONE;
}

static const struct command cmd_version = {
	.name = "version",
	.run = run_version,
	.usage = "",
	.summary = "its version",
	.help = "Shows the version of the program and of the stores that it makes.\n",
};

static const struct command cmd_help = {
	.name = "help",
	.run = run_help,
	.usage = "[COMMAND]",
	.summary = "the commands, or one",
	.help = "Shows the commands, or what one of them does and with which options.\n",
};

/* A descriptor that is opened later must not become a standard one by chance. */
static void fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
			_exit(OP_FAILED);
}

static bool asks_for_help(int n, char **options)
{
	for (int i = 0; i < n && strcmp(options[i], "--") != 0; i++)
		if (!strcmp(options[i], "--help") || !strcmp(options[i], "-h"))
			return true;
	return false;
}

static int run_command(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		log_msg("no command is given; see: expfs help");
		return OP_USAGE;
	}
	if (asks_for_help(1, argv + 1))
		return run_help(1, argv);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return run_version(1, argv);
	c = find(argv[1]);
	if (!c)
		return unknown(argv[1]);
	if (asks_for_help(argc - 2, argv + 2))
		return run_help(2, argv);
	return c->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	const char *name = argc > 0 ? strrchr(argv[0], '/') : NULL;
	int exit;

	name = name ? name + 1 : argc > 0 ? argv[0] : "";
	fill_standard_descriptors();
	exit = !strncmp(name, "mount.", 6) ? mount_helper(argc, argv) : run_command(argc, argv);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		log_msg("standard output: %s", strerror(errno));
		return OP_FAILED;
	}
	return exit;
}
