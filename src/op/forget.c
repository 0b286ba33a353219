#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exp/keeper.h"
#include "op/reply.h"
#include "op/versions.h"
#include "util/advice.h"

#define TRIES 100 /* against somebody who makes versions meanwhile */

static const struct history_version *by_number(const struct history *h, uint64_t n)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->v[i].row.n == n)
			return &h->v[i];
	return NULL;
}

/* May that one go? */
static enum op_exit check(const struct history *h, const char *path, uint64_t n, json_t **ret)
{
	const struct history_version *v = by_number(h, n);
	const char *why = v ? history_need(h, v) : NULL;

	if (!v)
		return reply_error(ret, OP_NO, "/%s: has no version %" PRIu64 "; see: expfs history", path, n);
	if (why)
		return reply_error(ret, OP_NO, "/%s: version %" PRIu64 " is needed: %s", path, n, why);
	return OP_DONE;
}

/* Marks what goes: the version n, or all (0) that nothing needs. */
static void mark(const struct history *h, uint64_t n, bool *marked, json_t *forgotten, json_t *kept)
{
	for (size_t i = 0; i < h->n; i++) {
		const char *why = history_need(h, &h->v[i]);
		json_int_t number = (json_int_t)h->v[i].row.n;

		marked[i] = n ? h->v[i].row.n == n : !why;
		if (marked[i])
			json_array_append_new(forgotten, json_integer(number));
		else if (n == 0)
			json_array_append_new(kept, json_pack("{s:I, s:o}", "n", number, "why", reply_text(why)));
	}
}

/* Why none went, of those that needed the path's versions the last one. */
static void say_needed(const char *path, const json_t *kept, json_t *answer)
{
	const json_t *last = json_array_get(kept, json_array_size(kept) - 1);
	_cleanup_free_ char *text = NULL;

	if (asprintf(&text, "/%s: no version was forgotten, for each is needed; version %" JSON_INTEGER_FORMAT ": %s", path,
		     json_integer_value(json_object_get(last, "n")), json_string_value(json_object_get(last, "why"))) >= 0)
		json_object_set_new(answer, "error", reply_text(text));
}

/* -EAGAIN: there are other versions by now. */
static int try(struct expfs *ex, const json_t *args, uint64_t n, enum op_exit *ret_exit, char **path, json_t **ret)
{
	_cleanup_json_ json_t *forgotten = json_array(), *kept = json_array();
	_cleanup_history_ struct history h = { .n = 0 };
	_cleanup_free_ bool *marked = NULL;
	uint64_t freed = 0;
	int r;

	*ret_exit = versions_load(ex, args, path, &h, ret);
	if (*ret_exit == OP_DONE && n)
		*ret_exit = check(&h, *path, n, ret);
	if (*ret_exit != OP_DONE)
		return 0;
	marked = calloc(h.n, sizeof(*marked));
	if (!marked)
		return -ENOMEM;
	mark(&h, n, marked, forgotten, kept);
	r = history_forget(ex, &h, marked, &freed);
	if (r == 0)
		*ret = json_pack("{s:o, s:O, s:O, s:I}", "path", reply_path(*path), "forgotten", forgotten, "kept", kept,
				 "freed", (json_int_t)freed);
	if (r == 0 && json_array_size(forgotten) == 0) {
		*ret_exit = OP_NO;
		say_needed(*path, kept, *ret);
	}
	return r;
}

static enum op_exit forget(struct expfs *ex, const json_t *args, const json_t *n, json_t **ret)
{
	enum op_exit exit = OP_FAILED;
	int r = -EAGAIN;

	for (int i = 0; i < TRIES && r == -EAGAIN; i++) {
		_cleanup_free_ char *path = NULL;

		r = try(ex, args, (uint64_t)json_integer_value(n), &exit, &path, ret);
		if (r < 0 && r != -EAGAIN)
			return reply_error(ret, OP_FAILED, "/%s: forget: %s", path, advice(r));
	}
	return r < 0 ? reply_error(ret, OP_FAILED, "forget: new versions come without end; try again later") : exit;
}

enum op_exit op_forget(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	const json_t *n = json_object_get(args, "n");
	bool here = !ex->keeper; /* not mounted: who removes contents works for this alone */
	enum op_exit exit;
	int r;

	if (n && json_integer_value(n) <= 0)
		return reply_error(ret, OP_USAGE, "forget: a version has a number from 1; see: expfs history");
	r = here ? keeper_start(ex) : 0;
	if (r < 0)
		return reply_error(ret, OP_FAILED, "%s: forget: %s", store_path(ex->store), advice(r));
	keeper_settle(ex); /* what has just lost its name holds nothing any more */
	exit = forget(ex, args, n, ret);
	if (here)
		keeper_stop(ex);
	return exit;
}
