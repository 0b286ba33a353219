#include "cmd/target.h"

#include <stdio.h>
#include <string.h>

#include "cmd/client.h"
#include "cmd/cmd.h"
#include "cmd/outside.h"
#include "exp/view_path.h"
#include "op/reply.h"
#include "util/advice.h"
#include "util/log.h"

void target_free(struct target *t)
{
	free(t->store);
	free(t->path);
	free(t->point);
	free(t->below);
	*t = (struct target){ 0 };
}

/* The path without empty components and ".", without a slash at its ends; -ENOENT with "..". */
static int plain(const char *path, char **ret)
{
	char *to = malloc(strlen(path) + 1), *end = to;

	if (!to)
		return -ENOMEM;
	*to = 0;
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !strncmp(path, "..", 2)) {
			free(to);
			return -ENOENT;
		}
		if (n > 0 && !(n == 1 && *path == '.')) {
			if (end > to)
				*end++ = '/';
			memcpy(end, path, n);
			end += n;
			*end = 0;
		}
		path += n;
		path += *path == '/';
	}
	*ret = to;
	return 0;
}

/* Where the path lies or, where it is gone, what is left of the way to it; *ret_rest is the rest. */
static int find_place(const char *path, struct place **ret, char **ret_rest)
{
	_cleanup_free_ char *left = strdup(path);
	size_t n = strlen(path);
	int r;

	if (!left)
		return -ENOMEM;
	for (;;) {
		r = place_open(*left ? left : *path == '/' ? "/" : ".", ret);
		if ((r != -ENOENT && r != -ENOTDIR && r != -ENOTCONN) || n == 0)
			break;
		while (n > 0 && left[n - 1] == '/')
			n--;
		while (n > 0 && left[n - 1] != '/')
			n--;
		left[n] = 0;
	}
	return r < 0 ? r : plain(path + n, ret_rest);
}

static char *join(const char *dir, const char *name)
{
	char *path;

	dir += *dir == '/';
	return asprintf(&path, "%s%s%s", dir, *dir && *name ? "/" : "", name) < 0 ? NULL : path;
}

static int take_place(const struct place *p, const char *rest, bool has_path, struct target *t)
{
	_cleanup_free_ char *inside = place_path_inside(p);

	t->store = strdup(p->source);
	if (!has_path)
		return t->store ? 0 : -ENOMEM;
	t->path = inside ? join(inside, rest) : NULL;
	t->point = strdup(p->point);
	t->below = join(strcmp(p->point, "/") ? p->path + strlen(p->point) : p->path, rest);
	return t->store && t->path && t->point && t->below ? 0 : -ENOMEM;
}

static int take_store(const char *store, const char *path, struct target *t)
{
	t->store = strdup(store);
	if (!t->store)
		return -ENOMEM;
	return path ? plain(path, &t->path) : 0;
}

/* *ret_place: what of the path is there. -EXDEV: it lies in no mount, and no store is named in which it could. */
static int choose(const char *path, const char *store, enum target_where where, struct target *t, struct place **ret_place)
{
	_cleanup_free_ char *rest = NULL;
	const struct place *p;
	int r;

	if (!path && store)
		return take_store(store, NULL, t);
	r = find_place(path ? path : ".", ret_place, &rest);
	p = *ret_place;
	if (r == 0 && place_is_inside(p))
		return place_is_dead(p) ? -ENOTCONN : *rest && where == TARGET_THERE ? -ENOENT : take_place(p, rest, path, t);
	if (store && where == TARGET_GONE && (r == 0 || r == -ENOENT))
		return take_store(store, path, t);
	return r < 0 ? r : -EXDEV;
}

static void say_outside(const char *path, enum target_where where, const struct place *p)
{
	if (outside_say(p, path, where != TARGET_MOUNTED))
		return;
	log_msg("%s: %s", path, where == TARGET_MOUNTED	 ? "is in no expfs mount; mount the store first: expfs mount STORE MNT" :
				access(path, F_OK) == 0	 ? "is in no expfs mount; a store is named by --store" :
				where == TARGET_THERE	 ? advice(-ENOENT) :
							   "is not there, and in no expfs mount; look for another spelling, or name the store by --store");
}

static void say_dead(const char *path, const struct place *p)
{
	if (p)
		log_msg("%s: the daemon of the mount has died; mount the store again: expfs mount %s %s", path, p->source, p->point);
	else
		log_msg("%s: the daemon of the mount has died; mount the store again", path);
}

enum op_exit target_open(const char *command, const char *path, const char *store, enum target_where where,
			 struct target *ret)
{
	_cleanup_target_ struct target t = { 0 };
	_cleanup_place_ struct place *p = NULL;
	int r;

	if (!store)
		store = getenv("EXPFS_STORE");
	r = choose(path, store && *store ? store : NULL, where, &t, &p);
	if (r == 0) {
		*ret = t;
		t = (struct target){ 0 };
		return OP_DONE;
	}
	if (r == -EXDEV && (!path || !strcmp(path, "."))) {
		log_msg("%s: no store is named; run it in a mount, give a path in one (with a slash: ./NAME), --store STORE, or EXPFS_STORE",
			command);
		return OP_USAGE;
	}
	if (r == -EXDEV)
		say_outside(path, where, p);
	else if (r == -ENOTCONN)
		say_dead(path ? path : ".", p);
	else
		log_msg("%s: %s", path ? path : ".", advice(r));
	return OP_FAILED;
}

bool target_is_path(const char *operand)
{
	return strchr(operand, '/') || !strcmp(operand, ".") || !strcmp(operand, "..");
}

const char *target_here(const char *store)
{
	const char *named = store ? store : getenv("EXPFS_STORE");

	return named && *named ? NULL : ".";
}

/* The branch whose view a path in the mount is, or lies in, to be freed; NULL: of none. A directory that somebody made in
 * branches/ is none. */
static char *view_of(const struct target *t)
{
	_cleanup_free_ char *pending = NULL;
	const char *name;
	size_t n;

	if (!t->point || view_path(t->path, &name) != VIEW_PATH_BRANCHES || strcmp(t->path, t->below) != 0)
		return NULL;
	n = strcspn(name, "/");
	if (asprintf(&pending, "%s/branches/%.*s/pending", t->point, (int)n, name) < 0 || access(pending, F_OK) < 0)
		return NULL;
	return strndup(name, n);
}

enum op_exit target_open_branch(const char *command, const char *operand, const char *store, json_t *args,
				struct target *ret)
{
	const char *path = operand && target_is_path(operand) ? operand : operand ? NULL : target_here(store);
	enum op_exit exit = target_open(command, path, store, TARGET_GONE, ret);
	_cleanup_free_ char *view = exit == OP_DONE && ret->path ? view_of(ret) : NULL;
	const char *name = view ? view : ret->path ? NULL : operand;

	if (exit != OP_DONE)
		return exit;
	if (ret->path && !view)
		return reply_put_path(args, ret->path) < 0 ? OP_FAILED : OP_DONE;
	if (name && json_object_set_new(args, "branch", json_string(name)) < 0) {
		log_msg("%s: no branch has a name that is not UTF-8 here; name its run", command);
		return OP_USAGE;
	}
	return OP_DONE;
}

/* Does it end in @ and digits, or in @ alone? */
static bool ends_in_number(const char *path, size_t len)
{
	while (len > 0 && path[len - 1] >= '0' && path[len - 1] <= '9')
		len--;
	return len > 0 && path[len - 1] == '@';
}

enum op_exit target_split(const char *command, const char *arg, char **ret_path, uint64_t *ret_n)
{
	const char *at = strrchr(arg, '@');
	size_t digits = at ? strspn(at + 1, "0123456789") : 0;
	uint64_t n = 0;

	/* What comes from a variable that is not set must not count as no number: that may mean all versions. */
	if (at && !at[1] && !ends_in_number(arg, (size_t)(at - arg))) {
		log_msg("%s: a version is wanted after @; see: expfs help %s", arg, command);
		return OP_USAGE;
	}
	if (!at || at[1 + digits] || (digits > 0 && (at[1] == '0' || digits > 18)))
		at = arg + strlen(arg);
	else if (digits > 0)
		n = strtoull(at + 1, NULL, 10);
	*ret_path = strndup(arg, (size_t)(at - arg));
	if (!*ret_path)
		return OP_FAILED;
	*ret_n = n;
	return OP_DONE;
}

int target_set_path(struct target *t, const char *path)
{
	size_t root = strlen(t->path) - strlen(t->below); /* of a bind mount */
	char *copy, *below;

	if (strncmp(path, t->path, root) != 0)
		return -ENOENT;
	copy = strdup(path);
	below = strdup(path + root);
	if (!copy || !below) {
		free(copy);
		free(below);
		return -ENOMEM;
	}
	free(t->path);
	free(t->below);
	t->path = copy;
	t->below = below;
	return 0;
}

enum op_exit target_say_unknown(const char *command, const struct target *t, const json_t *answer)
{
	_cleanup_json_ json_t *args = json_object(), *known = NULL;
	const char *at = strrchr(t->path, '@');
	_cleanup_free_ char *path = at && !strchr(at, '/') ? strndup(t->path, (size_t)(at - t->path)) : NULL;
	enum op_exit exit = OP_NO;

	if (path && reply_put_path(args, path) == 0)
		exit = client_run(t->store, "history", args, &known);
	if (exit == OP_NO)
		cmd_say_no(answer);
	if (exit != OP_DONE)
		return exit;
	if (!strcmp(command, "history"))
		log_msg("/%s: history takes no @N; see: expfs help history", t->path);
	else
		log_msg("/%s: %s is no version number; see: expfs help %s", t->path, at + 1, command);
	return OP_USAGE;
}
