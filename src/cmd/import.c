/* It writes into the mount as any program does; the order in which files come is that of src/sync/import.h. */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "cmd/cmd.h"
#include "cmd/import_told.h"
#include "exp/run.h"
#include "op/reply.h"
#include "util/human.h"
#include "util/list.h"
#include "util/log.h"
#include "util/progress.h"

struct call {
	struct import_where where;
	struct import *im;
	bool dry_run, json;
	int to; /* what the source becomes; -1: it is not there */
	int *above; /* directories above it */
	size_t n_above;
	json_t *told;
};

static void call_clear(struct call *c)
{
	import_where_free(&c->where);
	if (c->im)
		import_free(c->im);
	if (c->to >= 0)
		close(c->to);
	for (size_t i = 0; i < c->n_above; i++)
		close(c->above[i]);
	free(c->above);
	json_decref(c->told);
}

static const char *between(const struct call *c)
{
	return *c->where.below ? "/" : "";
}

static enum op_exit fail(const struct call *c, int r)
{
	const char *why = r == -ENOSPC || r == -EDQUOT ? "; free space, or give the store more, and import again, which goes on" :
			  r == -EROFS			     ? "; mount it so that it can be written, and name a DEST where no view is" :
			  r == -EWOULDBLOCK		     ? "; another import at or below it is at work; wait for it" :
			  r == -ENOTCONN		     ? "; mount the store again, and import again, which goes on" :
							       "";
	const char *at = c->im ? c->im->at : NULL;

	log_msg("%s%s%s%s%s: %s%s", c->where.point, between(c), c->where.below, at && *at ? "/" : "", at ? at : "", strerror(-r), why);
	return OP_FAILED;
}

static enum op_exit fail_source(const struct call *c, int r)
{
	if (r == -EINVAL)
		log_msg("%s: is the checkpoints/ of an experiment root; import the directory that it is in", c->where.source);
	else if (r == -E2BIG)
		log_msg("%s: holds more than %u files; import a part of it at a time", c->where.source, TREE_MAX);
	else
		log_msg("%s: %s", c->where.source, strerror(-r));
	return OP_FAILED;
}

/* In a directory of runs each directory is one; a run that was taken apart there would be none any more. */
static bool is_run_among_runs(const struct call *c)
{
	if (!*c->where.path || !c->im->holds_runs)
		return false;
	for (size_t i = 1; i < c->im->tree->n && c->im->tree->v[i].dir == 0; i++) {
		const struct tree_entry *e = &c->im->tree->v[i];

		if (role_of(c->where.config->rules, e->to, S_ISDIR(e->st.st_mode)) != ROLE_NONE)
			return true;
	}
	return false;
}

/* One that cannot be opened, as there is none yet or it is not to be read, is none in which another import is at work. */
static int lock_above(struct call *c, const char *dir)
{
	int *v = array_grow(c->above, c->n_above, sizeof(*v)), fd;

	if (!v)
		return -ENOMEM;
	c->above = v;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	v[c->n_above++] = fd;
	return flock(fd, LOCK_SH | LOCK_NB) < 0 ? -errno : 0;
}

/* Who imports has the directory for himself, and those above it together with others who do, so that none is at work in another's. */
static int open_dest(struct call *c, char *dest)
{
	int r = 0;

	for (char *p = dest + strlen(c->where.point); *p && r == 0; p += 1 + strcspn(p + 1, "/")) {
		*p = 0;
		r = lock_above(c, dest);
		*p = '/';
	}
	if (r < 0)
		return r;
	c->to = open(dest, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->to < 0)
		return errno == ENOENT ? 0 : -errno;
	return flock(c->to, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

static enum op_exit look(struct call *c)
{
	_cleanup_free_ char *dest = NULL;
	int r = import_plan(c->where.source, c->where.config, c->where.path, &c->im);

	if (r < 0)
		return fail_source(c, r);
	if (asprintf(&dest, "%s%s%s", c->where.point, between(c), c->where.below) < 0)
		return fail(c, -ENOMEM);
	r = open_dest(c, dest);
	if (r == 0)
		r = import_look(c->im, c->to);
	if (r < 0)
		return fail(c, r);
	c->told = import_told(&c->where, c->im);
	return c->told ? OP_DONE : fail(c, -ENOMEM);
}

/* Contents that the store has already take nothing, but which ones these are is found when they are there. */
static enum op_exit check_space(const struct call *c)
{
	char needed[HUMAN_TEXT], there[HUMAN_TEXT];
	struct statvfs st;

	if (statvfs(c->where.point, &st) < 0)
		return fail(c, -errno);
	if (c->im->bytes_new <= (uint64_t)st.f_bavail * st.f_frsize)
		return OP_DONE;
	human_bytes((double)c->im->bytes_new, needed);
	human_bytes((double)st.f_bavail * (double)st.f_frsize, there);
	log_msg("%s: up to %s are needed and %s are free; free space, or import a part at a time", c->where.point, needed, there);
	return OP_FAILED;
}

/* Nothing of what is there is written over, and two runs do not become one. */
static enum op_exit refuse(const struct call *c)
{
	const char *point = c->where.point, *below = c->where.below;
	const json_t *paths = json_object_get(json_object_get(c->told, "differs"), "paths");

	if (c->im->n == 0) {
		log_msg("%s: has no file in it; name a directory that has", c->where.source);
		return OP_FAILED;
	}
	if (is_run_among_runs(c)) {
		log_msg("%s: is a run, and %s/%s a directory of runs; name one in it, as in: %s/%s/NAME", c->where.source, point,
			below, point, below);
		return OP_FAILED;
	}
	if (c->im->foreign && !c->where.chosen) {
		log_msg("%s/%s: is there already and holds %s, which %s does not; name another DEST, or this to have both in it",
			point, below, c->im->foreign, c->where.source);
		return OP_FAILED;
	}
	if (c->im->view) {
		c->im->at = c->im->view;
		return fail(c, -EROFS);
	}
	if (c->im->in_way) {
		log_msg("%s%s%s/%s: is there already and no directory, as it is in %s; move it away, or name another DEST", point,
			between(c), below, c->im->in_way, c->where.source);
		return OP_FAILED;
	}
	if (c->im->n_differ > 0) {
		log_msg("%s%s%s/%s: is there already and differs (%zu do so, see --dry-run); move it away, or name another DEST",
			point, between(c), below, json_string_value(json_array_get(paths, 0)), c->im->n_differ);
		return OP_FAILED;
	}
	return check_space(c);
}

static int make_dest(struct call *c)
{
	_cleanup_free_ char *dest = NULL;

	if (c->to >= 0)
		return 0;
	if (asprintf(&dest, "%s/%s", c->where.point, c->where.below) < 0)
		return -ENOMEM;
	for (char *p = dest + strlen(c->where.point); p; p = strchr(p + 1, '/')) {
		char *next = strchr(p + 1, '/');

		if (next)
			*next = 0;
		if (mkdir(dest, 0777) < 0 && errno != EEXIST)
			return -errno;
		if (next)
			*next = '/';
	}
	return open_dest(c, dest);
}

/* What the mount itself says, as who imports may not ask the daemon. NULL: it does not. */
static json_t *read_told(const struct call *c, const char *name)
{
	_cleanup_free_ char *path = NULL;

	return asprintf(&path, "%s/.expfs/%s", c->where.point, name) < 0 ? NULL : json_load_file(path, 0, NULL);
}

static bool is_of(const json_t *places, const char *run)
{
	const json_t *p;
	size_t i;

	json_array_foreach (places, i, p)
		if (!strcmp(cmd_string(p, "path"), run))
			return true;
	return false;
}

/* The branches of the runs and roots that came, and the experiments on them. */
static void tell_branches(struct call *c, const json_t *status, const json_t *lineage)
{
	size_t i, k;
	json_t *names = json_array();
	const json_t *b, *e, *name;
	json_int_t experiments = 0;

	json_array_foreach (json_object_get(status, "branches"), i, b)
		if (is_of(json_object_get(c->told, "places"), cmd_string(b, "run")))
			json_array_append(names, json_object_get(b, "name"));
	json_array_foreach (json_object_get(lineage, "experiments"), i, e) {
		bool on = false;

		json_array_foreach (json_object_get(e, "branches"), k, name)
			for (size_t j = 0; j < json_array_size(names) && !on; j++)
				on = json_equal(name, json_array_get(names, j));
		experiments += on;
	}
	json_object_set_new(c->told, "branches", names);
	json_object_set_new(c->told, "experiments", json_integer(experiments));
}

static void tell_space(struct call *c, const json_t *before, const json_t *after)
{
	const json_t *was = json_object_get(before, "space"), *is = json_object_get(after, "space");

	json_int_t raw = cmd_number(is, "raw") - cmd_number(was, "raw");
	json_int_t stored = cmd_number(is, "stored") - cmd_number(was, "stored");

	json_object_set_new(c->told, "space", json_pack("{s:I, s:I}", "raw", raw, "stored", stored));
}

static enum op_exit bring(struct call *c)
{
	_cleanup_json_ json_t *before = read_told(c, "status.json"), *after = NULL, *lineage = NULL;
	int r = make_dest(c);

	if (r == 0)
		r = import_bring(c->im, c->to);
	if (r < 0)
		return fail(c, r);
	json_decref(c->told);
	c->told = import_told(&c->where, c->im);
	if (!c->told)
		return fail(c, -ENOMEM);
	lineage = read_told(c, "lineage.json");
	after = read_told(c, "status.json");
	tell_branches(c, after, lineage);
	tell_space(c, before, after);
	return OP_DONE;
}

static void print(const struct call *c)
{
	if (c->json)
		cmd_print_json(c->told);
	else
		import_print(c->told, !c->dry_run);
}

static enum op_exit import(struct call *c)
{
	enum op_exit exit = look(c);

	if (exit != OP_DONE)
		return exit;
	json_object_set_new(c->told, "dry_run", json_boolean(c->dry_run));
	if (c->dry_run)
		print(c);
	exit = refuse(c);
	if (c->dry_run || exit != OP_DONE)
		return c->dry_run && exit == OP_FAILED ? OP_NO : exit;
	exit = bring(c);
	if (exit != OP_DONE)
		return exit;
	json_object_set_new(c->told, "dry_run", json_false());
	print(c);
	if (c->im->tree->n_lost == 0)
		return OP_DONE;
	log_msg("%s: %zu could not be brought as they are, which is told; mend that, and import again", c->where.source, c->im->tree->n_lost);
	return OP_FAILED;
}

static int run(int argc, char **argv)
{
	_cleanup_(call_clear) struct call c = { .to = -1 };
	const char *store = NULL;
	const struct cmd_option options[] = {
		{ "store", .value = &store }, { "json", .flag = &c.json }, { "dry-run", .flag = &c.dry_run }, { NULL }
	};
	enum op_exit exit = cmd_options(argc, argv, options);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind < 1 || argc - optind > 2)
		return cmd_bad_operands(&cmd_import);
	progress_enable();
	exit = import_where_find(argv[optind], argv[optind + 1], store, &c.where);
	return exit == OP_DONE ? import(&c) : exit;
}

const struct command cmd_import = {
	.name = "import",
	.run = run,
	.usage = "DIR [DEST] [--dry-run] [--store STORE] [--json]",
	.summary = "bring a directory in",
	.help = "Copies DIR into a mounted store: a run, an experiment root of WeightsLab, a\n"
		"directory of several of these, a folder that export made. It becomes the\n"
		"directory DEST in a mount or, without it, runs/NAME in the mount in which you\n"
		"are, with DIR's name. With the top of a mount as DEST, a root becomes the top,\n"
		"and else it is runs/NAME there. For a branch of each of many runs beside each\n"
		"other DEST is MNT/runs.\n"
		"\n"
		"DIR is only read. What comes is in the order in which it was made, keeps its\n"
		"times, and counts as older than what is written in the mount. Hard links and\n"
		"holes are kept, and symbolic links as they are; names that export had to change\n"
		"are as they were. Nothing is written over: where a file is there and differs,\n"
		"nothing is brought. An import that was interrupted goes on when done again.\n"
		"\n"
		"  --dry-run      says what would come, and what is in the way\n"
		"  --store STORE  the store, which must be mounted\n"
		"  --json         the answer as JSON\n"
		"\n"
		"Exit status 1: with --dry-run, that it would be refused; 3: also, that some\n"
		"of it could not be read.\n",
};
