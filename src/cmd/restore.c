/* A version is read where the mount shows it, in .expfs/history/ of the mount's top, and copied beside
 * the place where it is wanted, then put there in one step. */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"
#include "sync/copy.h"
#include "cmd/operand.h"
#include "cmd/place.h"
#include "cmd/selection.h"
#include "cmd/shell.h"
#include "exp/checkpoint.h"
#include "exp/entries.h"
#include "op/reply.h"
#include "util/advice.h"
#include "util/io.h"
#include "util/log.h"

struct restore {
	const struct target *t;
	const json_t *history; /* the answer */
	const json_t *version; /* that is brought back */
	bool held;             /* it is there already */
	bool unreadable;
	const char *dest;      /* as it was given, or NULL: to the path itself */
	char *place;           /* where it goes, */
	char *dir, *name;      /* in two parts */
	char *left;            /* beside it: what was there and is in no history, or NULL */
};

/* Says with which command that works; from and to are paths below the mount. */
static void say_how(const struct target *t, const char *why, const char *from, uint64_t n, const char *to)
{
	_cleanup_free_ char *source = path_join(t->point, from), *dest = path_join(t->point, to);
	_cleanup_free_ char *command = source && dest ? shell_restore(source, n, dest) : NULL;

	log_msg("/%s: %s%s%s", t->path, why, command ? ": " : "", command ? command : "");
}

/* What is told of a path that has no version. */
static enum op_exit say_unknown(const struct target *t, const json_t *answer, uint64_t n)
{
	const char *displaced = cmd_string(answer, "displaced");
	size_t root = strlen(t->path) - strlen(t->below); /* of a bind mount */

	if (!*displaced || strncmp(displaced + 1, t->path, root) != 0)
		return target_say_unknown("restore", t, answer);
	say_how(t, "has no version since its directory was made anew; bring back what was there before", displaced + 1 + root, n,
		t->below);
	return OP_NO;
}

/* Length of the part of the path up to NAME~1, a directory that is not there: the name under which history
 * has what was removed, and none to make a directory of. 0: there is none. */
static size_t find_displaced(const struct target *t)
{
	for (const char *end = t->below; (end = strchr(end, '/')) != NULL; end++) {
		_cleanup_free_ char *path = NULL;
		const char *p = end;

		while (p > t->below && p[-1] >= '0' && p[-1] <= '9')
			p--;
		if (p == end || p == t->below || p[-1] != '~')
			continue;
		if (asprintf(&path, "%s/%.*s", t->point, (int)(end - t->below), t->below) >= 0 && access(path, F_OK) < 0)
			return (size_t)(end - t->below);
	}
	return 0;
}

static enum op_exit refuse_displaced(const struct target *t, uint64_t version, size_t len)
{
	_cleanup_free_ char *to = NULL;
	size_t n = len;

	while (t->below[n - 1] != '~')
		n--;
	if (asprintf(&to, "%.*s%s", (int)n - 1, t->below, t->below + len) < 0)
		return OP_FAILED;
	say_how(t, "is of a directory that was removed; name the place where it goes", t->below, version, to);
	return OP_FAILED;
}

static bool is_true(const json_t *v, const char *key)
{
	return json_is_true(json_object_get(v, key));
}

static bool has_same_content(const json_t *a, const json_t *b)
{
	return cmd_number(a, "size") == cmd_number(b, "size") && !strcmp(cmd_string(a, "digest"), cmd_string(b, "digest")) &&
	       !is_true(a, "directory");
}

static const json_t *find_held(const json_t *versions)
{
	const json_t *v;
	size_t i;

	json_array_foreach (versions, i, v)
		if (is_true(v, "held"))
			return v;
	return NULL;
}

/* The newest complete version; of what is no checkpoint, the newest that differs from what the path
 * holds. NULL: none. */
static const json_t *newest(const json_t *history)
{
	const json_t *versions = json_object_get(history, "versions"), *held = find_held(versions);
	bool checkpoint = !strcmp(cmd_string(history, "role"), "WEIGHTS");

	for (size_t i = json_array_size(versions); i > 0; i--) {
		const json_t *v = json_array_get(versions, i - 1);

		if (checkpoint ? is_true(v, "complete") : !held || (v != held && !has_same_content(v, held)))
			return v;
	}
	return NULL;
}

static const json_t *by_number(const json_t *history, uint64_t n)
{
	const json_t *v;
	size_t i;

	json_array_foreach (json_object_get(history, "versions"), i, v)
		if (cmd_number(v, "n") == (json_int_t)n)
			return v;
	return NULL;
}

static enum op_exit choose(struct restore *r, uint64_t n)
{
	r->version = n ? by_number(r->history, n) : newest(r->history);
	if (r->version)
		return OP_DONE;
	if (n)
		log_msg("%s: has no version %llu; see: expfs history", cmd_string(r->history, "path"), (unsigned long long)n);
	else
		log_msg("%s: has no %s version; see: expfs history", cmd_string(r->history, "path"),
			!strcmp(cmd_string(r->history, "role"), "WEIGHTS") ? "complete" : "other");
	return OP_NO;
}

static int split(const char *path, char **ret_dir, char **ret_name)
{
	const char *slash = strrchr(path, '/');

	*ret_dir = slash ? strndup(path, MAX((size_t)(slash - path), (size_t)1)) : strdup(".");
	*ret_name = strdup(slash ? slash + 1 : path);
	return *ret_dir && *ret_name ? 0 : -ENOMEM;
}

/* Makes the directories above the path that are gone. */
static int make_above(const struct target *t)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s", t->point, t->below) < 0)
		return -ENOMEM;
	for (char *p = path + strlen(t->point) + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
		*p = 0;
		if (mkdir(path, 0777) < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

/* Into a directory that is there it goes under its own name. */
static int find_dest(struct restore *r)
{
	struct stat st;
	int n;

	if (!r->dest)
		n = asprintf(&r->place, "%s/%s", r->t->point, r->t->below);
	else if (stat(r->dest, &st) == 0 && S_ISDIR(st.st_mode))
		n = asprintf(&r->place, "%s/%s", r->dest, path_last(r->t->below));
	else
		n = asprintf(&r->place, "%s", r->dest);
	if (n < 0) {
		r->place = NULL;
		return -ENOMEM;
	}
	while (n > 1 && r->place[n - 1] == '/')
		r->place[--n] = 0;
	return split(r->place, &r->dir, &r->name);
}

static char *source_path(const struct restore *r)
{
	struct version_row v = { .n = (uint64_t)cmd_number(r->version, "n"), .is_dir = is_true(r->version, "directory") };
	_cleanup_free_ char *below = checkpoint_history_path(r->t->below, &v);
	char *path;

	return !below || asprintf(&path, "%s/.expfs/history/%s", r->t->point, below) < 0 ? NULL : path;
}

static int is_in_mount(const char *dir)
{
	_cleanup_place_ struct place *p = NULL;
	int r = place_open(dir, &p);

	return r < 0 ? r : place_is_inside(p);
}

/* The directory that is there makes room; it stays beside where history does not have it. */
static int exchange(struct restore *r, int dir, const char *beside)
{
	struct stat st;

	if (r->dest)
		return -EEXIST;
	if (fstatat(dir, r->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (renameat2(dir, beside, dir, r->name, RENAME_EXCHANGE) < 0)
		return -errno;
	if (find_held(json_object_get(r->history, "versions")))
		return copy_remove(dir, beside);
	return asprintf(&r->left, "%s/%s", r->dir, beside) < 0 ? -ENOMEM : 0;
}

static int rename_new(int dir, const char *from, const char *to)
{
	struct stat st;

	if (renameat2(dir, from, dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL)
		return -errno;
	/* Some file systems, as NFS, cannot do it in one step. */
	if (fstatat(dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(dir, from, dir, to) < 0 ? -errno : 0;
}

/* Only a file at the path itself is replaced: history has what it held. */
static int put_in_place(struct restore *r, int dir, const char *beside)
{
	bool replace = !r->dest && !is_true(r->version, "directory");
	int x = !replace ? rename_new(dir, beside, r->name) : renameat(dir, beside, dir, r->name) < 0 ? -errno : 0;

	if (x == -EEXIST)
		x = exchange(r, dir, beside);
	if (x < 0) {
		copy_remove(dir, beside);
		return x;
	}
	return io_sync(dir, false);
}

static int bring_back(struct restore *r)
{
	_cleanup_free_ char *from = source_path(r), *beside = NULL;
	_cleanup_close_ int dir = -1, version = from ? open(from, O_RDONLY | O_CLOEXEC) : -1;
	int inside, x = from ? 0 : -ENOMEM;

	if (x == 0 && version < 0) {
		r->unreadable = true;
		return -errno;
	}
	if (x == 0 && !r->dest)
		x = make_above(r->t);
	if (x == 0)
		x = find_dest(r);
	if (x < 0)
		return x;
	dir = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	inside = dir < 0 ? -errno : is_in_mount(r->dir);
	if (inside < 0)
		return inside;
	/* In a mount it is a new version, of now: by an old time it would count as one that was brought from elsewhere. */
	x = copy_beside(from, dir, r->name, (mode_t)cmd_number(r->version, "mode"), !inside, &beside);
	return x < 0 ? x : put_in_place(r, dir, beside);
}

static const char *reason(const struct restore *r, int x)
{
	return x == -EEXIST  ? "is there already; remove it first, or name another" :
	       x == -EISDIR  ? "is a directory; remove it first, or name another place" :
	       x == -ENOTDIR ? r->dest ? "the directory above it is none; name another place" :
					 "is no directory any more; remove it first, or name another place" :
	       x == -EROFS   ? "is read-only; name another place" :
			       advice(x);
}

static void print_json(const struct restore *r)
{
	_cleanup_json_ json_t *answer =
		json_pack("{s:O, s:O, s:b, s:o, s:o}", "path", json_object_get(r->history, "path"), "n",
			  json_object_get(r->version, "n"), "restored", !r->held, "dest",
			  r->dest ? reply_text(r->dest) : json_null(), "left", r->left ? reply_text(r->left) : json_null());

	cmd_print_json(answer);
}

static void print(const struct restore *r)
{
	cmd_print_text(cmd_string(r->history, "path"));
	printf(r->held ? ": holds version %" JSON_INTEGER_FORMAT " already" : ": version %" JSON_INTEGER_FORMAT " restored",
	       cmd_number(r->version, "n"));
	printf(r->dest ? " to " : "");
	cmd_print_text(r->dest ? r->dest : "");
	selection_print_as(json_object_get(r->history, "named"));
	putchar('\n');
	if (!r->left)
		return;
	printf("what was there was not complete, so that history does not have it; it is now ");
	cmd_print_text(r->left);
	putchar('\n');
}

static enum op_exit restore(struct restore *r, uint64_t n)
{
	enum op_exit exit = choose(r, n);
	size_t displaced = r->dest ? 0 : find_displaced(r->t);
	int x;

	if (exit != OP_DONE)
		return exit;
	if (displaced)
		return refuse_displaced(r->t, (uint64_t)cmd_number(r->version, "n"), displaced);
	r->held = !r->dest && is_true(r->version, "held");
	x = r->held ? 0 : bring_back(r);
	if (x == 0)
		return OP_DONE;
	if (r->unreadable)
		log_msg("%s: version %" JSON_INTEGER_FORMAT " cannot be read: %s; name another with @N",
			cmd_string(r->history, "path"), cmd_number(r->version, "n"), strerror(-x));
	else
		log_msg("%s: %s", r->dest && r->place ? r->place : cmd_string(r->history, "path"), reason(r, x));
	return OP_FAILED;
}

/* A selection, or a path in a view, named a version of another path. */
static enum op_exit take_named(struct ask *a, uint64_t *n)
{
	const json_t *named = json_object_get(a->answer, "named");
	_cleanup_free_ char *path = named ? reply_get_path(named) : NULL;
	int r = path ? target_set_path(&a->target, path) : 0;

	if (path)
		*n = (uint64_t)cmd_number(named, "n");
	if (r == -ENOENT)
		log_msg("/%s: does not lie in what is mounted here; go to the mount of the whole store", path);
	return r < 0 ? OP_FAILED : OP_DONE;
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = { .command = "restore" };
	_cleanup_free_ char *path = NULL;
	struct restore r = { .t = &a.target };
	uint64_t n = 0;
	enum op_exit exit = ask_options(&a, argc, argv, NULL, NULL);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind < 1 || argc - optind > 2 || a.store)
		return cmd_bad_operands(&cmd_restore);
	exit = target_split("restore", argv[optind], &path, &n);
	r.dest = argv[optind + 1];
	if (exit == OP_DONE)
		exit = ask_path(&a, path, TARGET_MOUNTED);
	if (exit == OP_DONE && !n && !strchr(path, '/'))
		operand_put_selection(&a, path, a.args);
	if (exit == OP_DONE)
		exit = ask_run(&a, "history");
	if (exit == OP_NO)
		exit = say_unknown(&a.target, a.answer, n);
	r.history = a.answer;
	if (exit == OP_DONE)
		exit = take_named(&a, &n);
	if (exit == OP_DONE)
		exit = restore(&r, n);
	if (exit == OP_DONE && a.json)
		print_json(&r);
	else if (exit == OP_DONE)
		print(&r);
	free(r.place);
	free(r.dir);
	free(r.name);
	free(r.left);
	return exit;
}

const struct command cmd_restore = {
	.name = "restore",
	.run = run,
	.usage = "PATH[@N]|SELECTION [DEST] [--json]",
	.summary = "bring a version back",
	.help = "Brings the version N of PATH back, to PATH itself or to DEST, in a mount or not.\n"
		"Without @N it is: of a checkpoint the newest complete version, so that one that\n"
		"is whole stays as it is; of another file the newest version that differs from\n"
		"what it holds. expfs history shows the versions and their numbers.\n"
		"\n"
		"Of a SELECTION (expfs help select) it is the version that was frozen.\n"
		"\n"
		"It is written beside, synced and put in place in one step. In a mount it is a\n"
		"new version, of now, and what was there stays in history; a checkpoint that\n"
		"comes back to its path stays with the experiment in which it was saved.\n"
		"Elsewhere it keeps its time. What history does not have, a directory that was\n"
		"not complete, stays beside it. Directories above PATH that are gone are made\n"
		"again. If DEST is a directory, the version goes into it; nothing that is there\n"
		"is replaced by DEST. A path that itself ends in @ and digits is written with\n"
		"one more @: model@2@ or model@2@1.\n"
		"\n"
		"PATH, for a SELECTION the working directory, lies in a mount.\n"
		"\n"
		"  --json  the answer as JSON\n"
		"\n"
		"Exit status 1: there is no such version.\n",
};
