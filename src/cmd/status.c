#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"
#include "cmd/paint.h"
#include "util/log.h"

static void print_store(const json_t *answer)
{
	const json_t *space = json_object_get(answer, "space"), *counts = json_object_get(answer, "counts");
	const char *mount = cmd_string(answer, "mount");

	printf("store     ");
	cmd_print_text(cmd_string(answer, "store"));
	printf(*mount ? ", mounted on " : ", not mounted");
	cmd_print_text(mount);
	if (json_is_true(json_object_get(answer, "read_only")))
		paint_printf(PAINT_RED, ", read-only");
	printf("\nspace     raw ");
	cmd_print_bytes((double)cmd_number(space, "raw"));
	printf(", unique ");
	cmd_print_bytes((double)cmd_number(space, "unique"));
	printf(", stored ");
	cmd_print_bytes((double)cmd_number(space, "stored"));
	printf("\nfiles     %" JSON_INTEGER_FORMAT ", of ", cmd_number(counts, "files"));
	cmd_print_count(cmd_number(counts, "objects"), "content");
	putchar('\n');
}

/* Where a branch is, and what is to come. */
static void print_state(const json_t *branch)
{
	const json_t *pending = json_object_get(branch, "pending"), *component;
	const char *head = cmd_string(branch, "head"), *hash = cmd_string(pending, "hash");
	size_t i;

	if (*head)
		printf("            head %s\n", head);
	if (!*hash)
		return;
	printf("            pending ");
	json_array_foreach (json_object_get(pending, "components"), i, component)
		printf("%s%s", i ? ", " : "", json_string_value(component));
	printf(": %s\n", hash);
}

static void print_best(const json_t *best)
{
	char value[CMD_NUMBER];

	if (!json_is_object(best))
		return;
	printf("            best ");
	cmd_print_text(cmd_string(best, "path"));
	if (json_object_get(best, "selection"))
		printf(", selected");
	if (*cmd_string(best, "metric")) {
		cmd_format_number(json_object_get(best, "value"), value);
		printf(", ");
		cmd_print_text(cmd_string(best, "metric"));
		printf(" %s", value);
	}
	putchar('\n');
}

static void print_branches(const json_t *branches)
{
	const json_t *b;
	size_t i;

	json_array_foreach (branches, i, b) {
		const json_t *latest = json_object_get(b, "latest");

		printf(i ? "          " : "branches  ");
		fputs(paint(PAINT_BOLD), stdout);
		cmd_print_text(cmd_string(b, "name"));
		fputs(paint(PAINT_NONE), stdout);
		printf(json_is_null(json_object_get(b, "run")) ? " (removed): " : ": ");
		cmd_print_text(json_is_object(latest) ? cmd_string(latest, "path") : "no complete checkpoint");
		if (json_is_integer(json_object_get(latest, "step")))
			printf(", step %" JSON_INTEGER_FORMAT, cmd_number(latest, "step"));
		putchar('\n');
		print_best(json_object_get(b, "best"));
		print_state(b);
	}
}

static void print_roots(const json_t *answer)
{
	const json_t *roots = json_object_get(answer, "roots"), *root;
	const char *effective = cmd_string(answer, "effective_root");
	size_t i;

	json_array_foreach (roots, i, root) {
		printf(i ? "          " : "roots     ");
		cmd_print_text(json_string_value(root));
		printf(json_array_size(roots) > 1 && !strcmp(json_string_value(root), effective) ? ", updated last\n" : "\n");
	}
}

/* Red is what loses something. */
static enum paint colour_of(const char *kind)
{
	static const char *const grave[] = { "read-only", "full", "damaged", "power-cut", "manifest-lost" };

	for (size_t i = 0; i < ARRAY_SIZE(grave); i++)
		if (!strcmp(kind, grave[i]))
			return PAINT_RED;
	return PAINT_YELLOW;
}

static void print_warnings(const json_t *warnings)
{
	const json_t *w;
	size_t i;

	json_array_foreach (warnings, i, w) {
		printf("%s", i ? "          " : "warnings  ");
		paint_printf(colour_of(cmd_string(w, "kind")), "%s", cmd_string(w, "kind"));
		printf(": ");
		cmd_print_text(cmd_string(w, "path"));
		printf(*cmd_string(w, "path") ? " " : "");
		cmd_print_text(cmd_string(w, "text"));
		putchar('\n');
	}
}

static enum op_exit print(const json_t *answer)
{
	print_store(answer);
	print_roots(answer);
	print_branches(json_object_get(answer, "branches"));
	print_warnings(json_object_get(answer, "warnings"));
	return OP_DONE;
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = { .command = "status" };
	enum op_exit exit = ask_options(&a, argc, argv, NULL, NULL);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind > 1)
		return cmd_bad_operands(&cmd_status);
	if (argv[optind] && !strchr(argv[optind], '/') && access(argv[optind], F_OK) < 0 && errno == ENOENT) {
		log_msg("status: %s: there is no such path here; of a branch tells: expfs log %s", argv[optind], argv[optind]);
		return OP_FAILED;
	}
	exit = ask_path(&a, argv[optind], TARGET_THERE);
	if (exit == OP_DONE)
		exit = ask_run(&a, "status");
	return ask_print(&a, exit, print);
}

const struct command cmd_status = {
	.name = "status",
	.run = run,
	.usage = "[PATH] [--store STORE] [--json]",
	.summary = "branches, space, warnings",
	.help = "Shows where a store is mounted; how many bytes its files have (raw), equal\n"
		"contents counted once (unique), and what they take of the disk (stored); each\n"
		"branch with its newest complete checkpoint, the best, which is that selected\n"
		"under this name or else that by best.metric in the store's config.yaml, its\n"
		"experiment, and what was edited since; and what is to be looked after.\n"
		"\n"
		"PATH lies in a mount: its store is meant, and only branches at, below or above\n"
		"PATH are shown. Otherwise the store is that of --store or of the environment\n"
		"variable EXPFS_STORE, or that of the mount in which the working directory lies.\n"
		"\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON, with a count of what waits to be done\n",
};
