#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/client.h"
#include "cmd/cmd.h"
#include "cmd/place.h"
#include "op/reply.h"
#include "util/log.h"

static void print_store(const json_t *answer)
{
	const json_t *space = json_object_get(answer, "space"), *counts = json_object_get(answer, "counts");
	const char *mount = cmd_string(answer, "mount");

	printf("store     ");
	cmd_print_text(cmd_string(answer, "store"));
	printf(*mount ? ", mounted on " : ", not mounted");
	cmd_print_text(mount);
	printf("%s\nspace     raw ", json_is_true(json_object_get(answer, "read_only")) ? ", read-only" : "");
	cmd_print_bytes((double)cmd_number(space, "raw"));
	printf(", unique ");
	cmd_print_bytes((double)cmd_number(space, "unique"));
	printf(", stored ");
	cmd_print_bytes((double)cmd_number(space, "stored"));
	printf("\nfiles     %" JSON_INTEGER_FORMAT ", of %" JSON_INTEGER_FORMAT " contents\n", cmd_number(counts, "files"),
	       cmd_number(counts, "objects"));
}

static void print_branches(const json_t *branches)
{
	const json_t *b;
	size_t i;

	json_array_foreach (branches, i, b) {
		const json_t *latest = json_object_get(b, "latest");

		printf(i ? "          " : "branches  ");
		cmd_print_text(cmd_string(b, "name"));
		printf(": ");
		cmd_print_text(json_is_object(latest) ? cmd_string(latest, "path") : "no complete checkpoint");
		if (json_is_integer(json_object_get(latest, "step")))
			printf(", step %" JSON_INTEGER_FORMAT, cmd_number(latest, "step"));
		putchar('\n');
	}
}

static void print_warnings(const json_t *warnings)
{
	const json_t *w;
	size_t i;

	json_array_foreach (warnings, i, w) {
		printf("%s%s: ", i ? "          " : "warnings  ", cmd_string(w, "kind"));
		cmd_print_text(cmd_string(w, "path"));
		printf(*cmd_string(w, "path") ? " " : "");
		cmd_print_text(cmd_string(w, "text"));
		putchar('\n');
	}
}

/* The store that is meant: that of the mount in which path (if given) lies, or
 * what --store or EXPFS_STORE name, or that of the mount in which we are. */
static enum op_exit choose_store(const char *path, const char *store, char **ret_store, json_t *args)
{
	_cleanup_place_ struct place *p = NULL;
	_cleanup_free_ char *inside = NULL;
	int r;

	if (!path && !store)
		store = getenv("EXPFS_STORE");
	if (!path && store && *store) {
		*ret_store = strdup(store);
		return *ret_store ? OP_DONE : OP_FAILED;
	}
	r = place_open(path ? path : ".", &p);
	if (r == 0 && !place_is_inside(p))
		r = -EXDEV;
	if (r == -EXDEV && !path) {
		log_msg("status: no store is named; give a path in a mount, --store STORE, or EXPFS_STORE");
		return OP_USAGE;
	}
	if (r == 0 && place_is_dead(p))
		r = -ENOTCONN;
	if (r < 0) {
		log_msg("%s: %s", path ? path : ".",
			r == -EXDEV     ? "is in no expfs mount; a store is named by --store" :
			r == -ENOTCONN ? "the daemon of the mount has died; mount the store again" :
					 strerror(-r));
		return OP_FAILED;
	}
	inside = path ? place_path_inside(p) : NULL;
	if (inside)
		json_object_set_new(args, "path", json_string(inside));
	*ret_store = strdup(p->source);
	return *ret_store ? OP_DONE : OP_FAILED;
}

static int run(int argc, char **argv)
{
	static const struct option options[] = {
		{ "store", required_argument, NULL, 's' }, { "json", no_argument, NULL, 'j' }, { 0 }
	};
	_cleanup_json_ json_t *args = json_object(), *answer = NULL;
	_cleanup_free_ char *store = NULL;
	const char *named = NULL;
	bool json = false;
	enum op_exit exit;
	int c;

	while ((c = getopt_long(argc, argv, ":", options, NULL)) >= 0) {
		if (c == 's')
			named = optarg;
		else if (c == 'j')
			json = true;
		else
			return cmd_bad_option(argc, argv, c);
	}
	if (argc - optind > 1)
		return cmd_bad_operands(&cmd_status);
	exit = choose_store(argv[optind], named, &store, args);
	if (exit == OP_DONE)
		exit = client_run(store, "status", args, &answer);
	if (!answer)
		return exit;
	if (json) {
		cmd_print_json(answer);
		return exit;
	}
	print_store(answer);
	print_branches(json_object_get(answer, "branches"));
	print_warnings(json_object_get(answer, "warnings"));
	return exit;
}

const struct command cmd_status = {
	.name = "status",
	.run = run,
	.usage = "[PATH] [--store STORE] [--json]",
	.summary = "show branches, newest checkpoints, space and warnings",
	.help = "Shows where a store is mounted; how many bytes its files have (raw), equal\n"
		"contents counted once (unique), and what they take of the disk (stored); each\n"
		"branch with its newest complete checkpoint; and what is to be looked after.\n"
		"\n"
		"PATH lies in a mount: its store is meant, and only branches at, below or above\n"
		"PATH are shown. Otherwise the store is that of --store or of the environment\n"
		"variable EXPFS_STORE, or that of the mount in which the working directory lies.\n"
		"\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         the answer as JSON\n",
};
