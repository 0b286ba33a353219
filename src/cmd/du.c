#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"
#include "op/reply.h"
#include "util/human.h"
#include "util/log.h"

static void print_space(const json_t *space)
{
	static const char *const columns[] = { "raw", "unique", "stored", "own", "history" };

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		char text[HUMAN_TEXT];

		human_bytes((double)cmd_number(space, columns[i]), text);
		printf("%10s  ", text);
	}
}

static enum op_exit print(const json_t *answer)
{
	const json_t *entries = json_object_get(answer, "entries"), *e;
	size_t i;

	printf("%10s  %10s  %10s  %10s  %10s  path\n", "raw", "unique", "stored", "own", "history");
	json_array_foreach (entries, i, e) {
		const char *kind = cmd_string(e, "kind");

		if (cmd_number(e, "files") == 0 && cmd_number(e, "contents") == 0)
			continue;
		print_space(e);
		cmd_print_text(cmd_string(e, "path"));
		printf("%s\n", !strcmp(kind, "files") ? " (its files)" : !strcmp(kind, "removed") ? " (removed directories)" : "");
	}
	print_space(json_object_get(answer, "total"));
	printf("total\n");
	return OP_DONE;
}

/* NULL: all of the store that is named. */
static enum op_exit add_path(struct ask *a, json_t *paths, const char *path)
{
	_cleanup_target_ struct target t = { 0 };
	enum op_exit exit = target_open(a->command, path, a->store, TARGET_GONE, &t);
	json_t *o;

	if (exit != OP_DONE)
		return exit;
	if (a->target.store && strcmp(t.store, a->target.store) != 0) {
		log_msg("du: %s: lies in another store than the path before; ask for it alone", path);
		return OP_USAGE;
	}
	o = t.path ? json_object() : NULL;
	if (t.path && (json_array_append_new(paths, o) < 0 || reply_put_path(o, t.path) < 0))
		return OP_FAILED;
	if (!a->target.store) {
		a->target = t;
		t = (struct target){ 0 };
	}
	return OP_DONE;
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = { .command = "du" };
	enum op_exit exit = ask_options(&a, argc, argv, NULL, NULL);
	json_t *paths = json_array();

	if (json_object_set_new(a.args, "paths", paths) < 0 || exit != OP_DONE)
		return exit == OP_DONE ? OP_FAILED : (int)exit;
	if (optind == argc)
		exit = add_path(&a, paths, target_here(a.store));
	for (int i = optind; i < argc && exit == OP_DONE; i++)
		exit = add_path(&a, paths, argv[i]);
	if (exit == OP_DONE)
		exit = ask_run(&a, "du");
	return ask_print(&a, exit, print);
}

const struct command cmd_du = {
	.name = "du",
	.run = run,
	.usage = "[PATH …] [--store STORE] [--json]",
	.summary = "what takes the space",
	.help = "Shows what a directory takes of the disk: each directory in it, and its own\n"
		"files; of several paths, or a file, what these take. Versions in history count\n"
		"where their paths are, or were. What takes most stands first.\n"
		"\n"
		"  raw      bytes of the files\n"
		"  unique   of their contents and those of their history, equal ones once\n"
		"  stored   what these take of the disk\n"
		"  own      of stored, what nothing outside of the row holds too: so much is\n"
		"           freed when its files are deleted and expfs forget lets the history\n"
		"           go; the rest is shared\n"
		"  history  of stored, what no file has any more, only history\n"
		"\n"
		"A content that two rows hold counts in each of them, in the total once; a path\n"
		"that lies in another counts by itself.\n"
		"Without PATH it is the working directory, or all of the store that --store or\n"
		"the environment variable EXPFS_STORE names.\n"
		"\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON, with numbers of files and contents\n",
};
