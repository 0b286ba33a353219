/* Pass after pass, while there is something new. A look costs one question to the daemon, once a second. */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/export.h"
#include "op/reply.h"
#include "util/log.h"

#define LOOK_MS 1000
#define EVERY_DEFAULT 600 /* seconds */
#define WAIT_MAX 600      /* seconds between two tries where the folder takes nothing */

static bool stop_at_once(void)
{
	return export_signals() > 1;
}

struct watch {
	struct export_job *j;
	json_int_t every, every_steps;
	char *seen;            /* what the last pass put there, as text; NULL: none did yet */
	json_int_t step;       /* of its latest; -1: none */
	int64_t passed, retry; /* monotonic, ns: the last pass; before when none is tried again */
	bool waiting;          /* it was told that there is nothing yet */
	int64_t wait;          /* seconds between tries, 0: the last pass did it */
};

/* What would be exported, as text that differs when that does. With --files it is not known before it is looked at. */
static char *state_of(const json_t *answer)
{
	_cleanup_json_ json_t *state =
		json_pack("{s:O, s:O, s:O}", "latest", json_object_get(answer, "latest"), "best", json_object_get(answer, "best"), "dir",
			  json_object_get(answer, "dir"));

	return state ? json_dumps(state, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
}

static json_int_t step_of(const json_t *answer)
{
	const json_t *step = json_object_get(json_object_get(answer, "latest"), "step");

	return json_is_integer(step) ? json_integer_value(step) : -1;
}

/* Steps that are there no more, as after a load, count as new ones. Where there are none, time alone counts. */
static bool is_due(const struct watch *w, int64_t now)
{
	json_int_t step = step_of(w->j->answer), every = w->every;
	bool steps = w->every_steps && step >= 0 && w->step >= 0;

	if (!w->seen)
		return true;
	if (steps && step >= w->step && step - w->step < w->every_steps)
		return false;
	if (!steps && !every)
		every = EVERY_DEFAULT;
	return now - w->passed >= every * 1000000000;
}

/* A tree is looked at in the pass, and one that was removed is none. */
static bool is_new(const struct watch *w)
{
	_cleanup_free_ char *state = state_of(w->j->answer);

	if (w->j->layout != &export_layout_plain && !json_is_object(json_object_get(w->j->answer, "latest")))
		return false;
	if (w->j->layout != &export_layout_pair)
		return !json_is_true(json_object_get(w->j->answer, "removed"));
	return !w->seen || !state || strcmp(state, w->seen) != 0 || w->j->files;
}

/* The folder may take it later, or be there again, as where a drive is mounted anew. */
static bool passes(int why)
{
	static const int those[] = { ENOSPC, EDQUOT, EIO,      ETIMEDOUT, EBUSY, ENOENT,   ENOTDIR,
				     EACCES, EROFS,  ENOTCONN, ESTALE,    ENODEV, EHOSTDOWN };

	for (size_t i = 0; i < ARRAY_SIZE(those); i++)
		if (why == those[i])
			return true;
	return false;
}

/* One line for each change of state: who watches for days is not to find thousands. */
static enum op_exit pass(struct watch *w, bool last)
{
	int why;
	bool failing = w->wait > 0;
	enum op_exit exit;

	w->j->quiet = failing;
	exit = export_pass(w->j, stop_at_once, &why);
	if (exit == OP_FAILED && passes(why) && !last) {
		w->wait = failing ? MIN(w->wait * 2, (int64_t)WAIT_MAX) : 1;
		w->retry = monotonic_ns() + w->wait * 1000000000;
		if (!failing)
			log_msg("%s: it is tried again, at longer and longer times", w->j->folder.path);
		return OP_DONE;
	}
	if (exit != OP_DONE && exit != OP_NO)
		return exit;
	if (failing && exit == OP_DONE)
		log_msg("%s: takes files again", w->j->folder.path);
	w->wait = 0;
	free(w->seen);
	w->seen = state_of(w->j->answer);
	w->step = step_of(w->j->answer);
	w->passed = monotonic_ns();
	return OP_DONE;
}

/* A run that is removed is none, but its branch is still there. */
static void follow_branch(struct export_job *j)
{
	json_t *branch = json_object_get(j->answer, "branch");

	if (!json_is_string(branch) || json_object_get(j->a.args, "branch"))
		return;
	json_object_clear(j->a.args);
	json_object_set(j->a.args, "branch", branch);
}

static void tell_waiting(struct watch *w)
{
	const json_t *answer = w->j->answer;

	if (w->waiting || w->seen || json_is_object(json_object_get(answer, "latest")))
		return;
	w->waiting = true;
	log_msg("%s: waiting for its first checkpoint", export_subject(w->j));
}

/* *ret_on: whether there is more to watch. */
static enum op_exit look(struct watch *w, bool *ret_on)
{
	enum op_exit exit;
	bool removed, last = export_signals() > 0;

	*ret_on = false;
	if (!export_store_is_there(w->j)) {
		log_msg("%s: is mounted no more; export ends, what it put into %s stays", w->j->point, w->j->folder.path);
		return OP_FAILED;
	}
	exit = export_ask_answer(w->j);
	if (exit != OP_DONE)
		return exit;
	follow_branch(w->j);
	removed = json_is_true(json_object_get(w->j->answer, "removed"));
	last |= removed;
	if (is_new(w) && (last || (is_due(w, monotonic_ns()) && monotonic_ns() >= w->retry)))
		exit = pass(w, last);
	if (exit == OP_DONE && !last)
		tell_waiting(w);
	if (exit == OP_DONE && removed)
		log_msg("%s: its run was removed; export ends, what it put into %s stays", cmd_string(w->j->answer, "branch"), w->j->folder.path);
	*ret_on = exit == OP_DONE && !last;
	return exit;
}

enum op_exit export_watch(struct export_job *j, json_int_t every, json_int_t every_steps)
{
	struct watch w = { .j = j, .every = every, .every_steps = every_steps, .step = -1 };
	enum op_exit exit = OP_DONE;
	bool on = true;

	if (!j->point) {
		log_msg("%s: is not mounted, so nothing in it changes; mount it, or export without --watch", j->a.target.store);
		return OP_FAILED;
	}
	while (exit == OP_DONE && on) {
		exit = look(&w, &on);
		if (exit == OP_DONE && on && export_signals() == 0)
			poll(NULL, 0, LOOK_MS);
	}
	free(w.seen);
	return exit == OP_DONE && j->partial ? OP_FAILED : exit;
}
