#include "format/trainer_state.h"

#include <string.h>

void trainer_state_clear(struct trainer_state *s)
{
	free(s->best_model_checkpoint);
	s->best_model_checkpoint = NULL;
}

static int read_checkpoint(struct pyjson *j, struct trainer_state *s)
{
	trainer_state_clear(s);
	if (j->type != PYJSON_STRING || !pyjson_is_text(j))
		return pyjson_skip(j);
	s->best_model_checkpoint = strdup(j->text);
	return s->best_model_checkpoint ? 0 : -ENOMEM;
}

static int read_field(struct pyjson *j, struct trainer_state *s)
{
	int64_t *integer = pyjson_is(j, "global_step") ? &s->global_step :
			   pyjson_is(j, "best_global_step") ? &s->best_global_step : NULL;
	double *number = pyjson_is(j, "epoch") ? &s->epoch : pyjson_is(j, "best_metric") ? &s->best_metric : NULL;
	bool checkpoint = pyjson_is(j, "best_model_checkpoint");
	int r = pyjson_next(j);

	if (r < 0)
		return r;
	if (checkpoint)
		return read_checkpoint(j, s);
	if (integer)
		*integer = j->type == PYJSON_NUMBER && j->is_integer ? MAX(j->integer, -1) : -1;
	if (number)
		*number = j->type == PYJSON_NUMBER ? j->number : __builtin_nan("");
	return pyjson_skip(j);
}

/* All but the log, to the end of the text; so that it is known to parse. */
static int read_fields(struct pyjson *j, struct trainer_state *s)
{
	int r = pyjson_next(j);

	if (r == 0 && j->type != PYJSON_OBJECT)
		r = pyjson_bad(j, "an object is wanted here");
	if (r == 0)
		r = pyjson_next(j);
	while (r == 0 && j->type != PYJSON_OBJECT_END) {
		r = read_field(j, s);
		if (r == 0)
			r = pyjson_next(j);
	}
	return r == 0 ? pyjson_next(j) : r; /* the end */
}

static int read_log(struct pyjson *j, struct metrics *m, metrics_fn f, void *data)
{
	int r;

	if (j->type != PYJSON_ARRAY)
		return pyjson_skip(j);
	for (r = pyjson_next(j); r == 0 && j->type != PYJSON_ARRAY_END; r = pyjson_next(j)) {
		struct pyjson ahead;
		int64_t step = -1;
		int rank = -1;

		pyjson_fork(j, &ahead);
		if (j->type == PYJSON_OBJECT)
			r = metrics_find_step(&ahead, &step, &rank);
		if (r == 0 && step < 0) {
			metrics_bad(m, 0, "log_history: an entry without a step");
			r = pyjson_skip(j);
		} else if (r == 0) {
			m->rows++;
			r = metrics_object(j, step, rank, f, data);
		}
		if (r < 0)
			return r;
	}
	return r;
}

int trainer_state_parse(const char *text, size_t len, struct metrics *m, metrics_fn f, void *data,
			struct trainer_state *ret, struct reason *why)
{
	_cleanup_(trainer_state_clear) struct trainer_state s = {
		.global_step = -1, .best_global_step = -1, .epoch = __builtin_nan(""), .best_metric = __builtin_nan(""),
	};
	struct pyjson j;
	int r;

	if (len > TRAINER_STATE_SIZE_MAX)
		return reason_set(why, 0, "larger than %u MiB", TRAINER_STATE_SIZE_MAX >> 20);
	pyjson_begin(&j, text, len, why);
	r = read_fields(&j, &s);
	if (r < 0)
		return r;
	pyjson_begin(&j, text, len, why);
	r = pyjson_next(&j);
	if (r == 0)
		r = pyjson_next(&j);
	while (r == 0 && j.type == PYJSON_KEY) {
		bool log = pyjson_is(&j, "log_history");

		r = pyjson_next(&j);
		if (r == 0)
			r = log ? read_log(&j, m, f, data) : pyjson_skip(&j);
		if (r == 0)
			r = pyjson_next(&j);
	}
	if (r < 0)
		return r;
	*ret = s;
	s.best_model_checkpoint = NULL;
	return 0;
}
