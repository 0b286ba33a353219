#include "cmd/operand.h"

#include <string.h>

#include "cmd/outside.h"
#include "op/reply.h"
#include "util/log.h"

#define HASH_MIN 4
#define DIGITS_MAX 18

static bool is_hash_and_step(const char *arg)
{
	size_t n = strspn(arg, "0123456789abcdef");

	return n >= HASH_MIN && arg[n] == '@' && operand_step(arg + n + 1) >= 0;
}

json_int_t operand_step(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n == 0 || n > DIGITS_MAX || text[n] ? -1 : strtoll(text, NULL, 10);
}

json_t *operand_object(struct ask *a, const char *key)
{
	json_t *o = json_object();

	return json_object_set_new(a->args, key, o) < 0 ? NULL : o;
}

char *operand_split(const char *arg, const char **ret_value)
{
	_cleanup_json_ json_t *text = json_string(arg);
	const char *equals = strchr(arg, '=');

	if (!text || !equals || equals == arg)
		return NULL;
	*ret_value = equals + 1;
	return strndup(arg, (size_t)(equals - arg));
}

/* Such a path counts from the top of a store only where one is named. */
static bool say_outside(const struct ask *a, const char *path)
{
	_cleanup_place_ struct place *p = NULL;
	const char *named = a->store ? a->store : getenv("EXPFS_STORE");

	if ((named && *named) || place_open(path, &p) < 0 || place_is_inside(p))
		return false;
	if (!outside_say(p, path, true))
		log_msg("%s: is in no expfs mount; %s", path, a->outside);
	return true;
}

static bool is_inside(const char *path)
{
	_cleanup_place_ struct place *p = NULL;

	return place_open(path, &p) == 0 && place_is_inside(p);
}

static bool is_in_store(const struct place *p, const char *store)
{
	_cleanup_free_ char *path = realpath(store, NULL);

	return place_is_inside(p) && path && !strcmp(p->source, path);
}

static int put_near(const struct place *p, json_t *to)
{
	_cleanup_free_ char *path = place_path_inside(p);
	json_t *near = json_object();

	return path && reply_put_path(near, path + 1) == 0 && json_object_set_new(to, "near", near) == 0 ? 0 : -1;
}

int operand_put_selection(struct ask *a, const char *text, json_t *to)
{
	_cleanup_place_ struct place *p = NULL;

	if (json_object_set_new(to, "selection", json_string(text)) < 0)
		return -1;
	return place_open(".", &p) == 0 && is_in_store(p, a->target.store) ? put_near(p, to) : 0;
}

/* The store that an operand without a path is in. */
static enum op_exit find_store(struct ask *a)
{
	return a->target.store ? OP_DONE : target_open(a->command, NULL, a->store, TARGET_GONE, &a->target);
}

static enum op_exit put_hash(struct ask *a, const char *arg, json_t *to)
{
	size_t n = strcspn(arg, "@");

	if (json_object_set_new(to, "hash", json_stringn(arg, n)) < 0 ||
	    json_object_set_new(to, "step", json_integer(operand_step(arg + n + 1))) < 0)
		return OP_FAILED;
	return find_store(a);
}

static enum op_exit put_path(struct ask *a, const char *path, uint64_t n, json_t *to)
{
	_cleanup_target_ struct target t = { 0 };
	enum op_exit exit;

	if (a->outside && say_outside(a, path))
		return OP_FAILED;
	exit = target_open(a->command, path, a->store, TARGET_GONE, &t);
	if (exit != OP_DONE)
		return exit;
	if (a->target.store && strcmp(t.store, a->target.store) != 0) {
		log_msg("%s: lies in another store; both have to lie in one", path);
		return OP_USAGE;
	}
	if (reply_put_path(to, t.path) < 0 || json_object_set_new(to, "n", json_integer((json_int_t)n)) < 0)
		return OP_FAILED;
	if (!a->target.store) {
		a->target = t;
		t = (struct target){ 0 };
	}
	return OP_DONE;
}

/* A file outside of the mount: 1, or 0. */
static int put_file(const char *path, json_t *to, enum op_exit *ret_exit)
{
	_cleanup_place_ struct place *p = NULL;

	if (place_open(path, &p) < 0 || place_is_inside(p))
		return 0;
	*ret_exit = OP_DONE;
	if (json_object_set_new(to, "file", json_string(p->path)) == 0)
		return 1;
	log_msg("%s: a file outside of the mount needs a path in UTF-8", path);
	*ret_exit = OP_USAGE;
	return 1;
}

enum op_exit operand_put(struct ask *a, const char *arg, unsigned kinds, json_t *to)
{
	_cleanup_free_ char *path = NULL;
	enum op_exit exit;
	uint64_t n;

	if (kinds & OPERAND_HASH && is_hash_and_step(arg))
		return put_hash(a, arg, to);
	exit = target_split(a->command, arg, &path, &n);
	if (exit != OP_DONE || (kinds & OPERAND_FILE && !n && put_file(path, to, &exit)))
		return exit;
	if (n || strchr(path, '/'))
		return put_path(a, path, n, to);
	if (!a->target.store || is_inside("."))
		exit = put_path(a, path, 0, to);
	/* It may be a selection; of what is no UTF-8 there is none. */
	if (exit == OP_DONE && operand_put_selection(a, path, to) < 0 && !json_object_get(to, "path_hex"))
		return put_path(a, path, 0, to);
	return exit;
}
