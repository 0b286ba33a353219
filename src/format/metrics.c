/* An object is gone over twice: its step may stand behind its metrics. */
#include "format/metrics.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const char *const step_names[] = { "step", "global_step", "_step", "iteration", "iter", "iter_num", "epoch" };

int metrics_step_rank(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(step_names); i++)
		if (!strcmp(name, step_names[i]))
			return (int)i;
	return -1;
}

bool metrics_rank_is_epoch(int rank)
{
	return rank == ARRAY_SIZE(step_names) - 1;
}

int64_t metrics_step(double number)
{
	return number >= 0 && number < 0x1p53 && number == floor(number) ? (int64_t)number : -1;
}

/* strtod() knows other forms as well. */
bool metrics_number(const char *text, double *ret)
{
	static const char *const words[] = { "nan", "inf", "infinity" };
	const char *bare = text + (*text == '-' || *text == '+');
	bool known = strspn(bare, "0123456789.eE+-") == strlen(bare);
	double number;
	char *end;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		known = known || !strcasecmp(bare, words[i]);
	if (!known || !*bare)
		return false;
	number = strtod(text, &end);
	if (*end || end == text)
		return false;
	*ret = number;
	return true;
}

void metrics_bad(struct metrics *m, size_t line, const char *why)
{
	if (m->bad++ == 0)
		reason_set(&m->why, line, "%s", why);
}

int metrics_find_step(struct pyjson *j, int64_t *ret_step, int *ret_rank)
{
	int64_t step = -1;
	int best = -1, r;

	for (r = pyjson_next(j); r == 0 && j->type != PYJSON_OBJECT_END; r = pyjson_next(j)) {
		int rank = pyjson_is_text(j) ? metrics_step_rank(j->text) : -1;

		r = pyjson_next(j);
		if (r == 0 && j->type == PYJSON_NUMBER && rank >= 0 && (best < 0 || rank <= best)) {
			best = rank;
			step = j->is_integer ? MAX(j->integer, -1) : metrics_step(j->number);
		}
		if (r == 0)
			r = pyjson_skip(j);
		if (r < 0)
			return r;
	}
	*ret_step = step;
	*ret_rank = best;
	return r;
}

int metrics_object(struct pyjson *j, int64_t step, int rank, metrics_fn f, void *data)
{
	char name[METRICS_NAME_MAX + 1];
	int r;

	for (r = pyjson_next(j); r == 0 && j->type != PYJSON_OBJECT_END; r = pyjson_next(j)) {
		bool named = pyjson_is_text(j) && j->len > 0 && j->len <= METRICS_NAME_MAX &&
			     metrics_step_rank(j->text) != rank;

		if (named)
			memcpy(name, j->text, j->len + 1);
		r = pyjson_next(j);
		if (r == 0 && named && j->type == PYJSON_NUMBER)
			r = f(data, step, name, j->number);
		if (r == 0)
			r = pyjson_skip(j);
		if (r < 0)
			return r;
	}
	return r;
}

/* 1: a row; 0: none, with the reason. */
static int read_line(struct metrics *m, struct pyjson *j, metrics_fn f, void *data)
{
	struct pyjson ahead;
	int64_t step = 0;
	int rank = 0, r = pyjson_next(j);

	if (r == 0 && j->type != PYJSON_OBJECT)
		r = pyjson_bad(j, "an object is wanted here");
	pyjson_fork(j, &ahead);
	if (r == 0)
		r = metrics_find_step(&ahead, &step, &rank);
	if (r == 0)
		r = pyjson_next(&ahead); /* the end */
	if (r == 0 && step < 0)
		r = pyjson_bad(j, rank < 0 ? "has no step" : "its step is no whole number");
	if (r < 0)
		return 0;
	m->by_epoch = metrics_rank_is_epoch(rank);
	r = metrics_object(j, step, rank, f, data);
	return r < 0 ? r : 1;
}

static bool is_blank(const char *p, size_t n)
{
	while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\t' || p[n - 1] == '\r'))
		n--;
	return n == 0;
}

int metrics_jsonl(struct metrics *m, const char *text, size_t len, bool end, metrics_fn f, void *data,
		  size_t *ret_used)
{
	const char *p = text, *text_end = text + len;

	while (p < text_end) {
		const char *newline = memchr(p, '\n', (size_t)(text_end - p));
		size_t n = (size_t)((newline ? newline : text_end) - p);
		struct reason why;
		struct pyjson j;
		int r;

		if (!newline && n > METRICS_LINE_MAX)
			return -EFBIG;
		if (!newline && !end)
			break;
		m->lines++;
		if (n > METRICS_LINE_MAX) {
			metrics_bad(m, m->lines, "longer than 1 MiB");
		} else if (!is_blank(p, n)) {
			pyjson_begin(&j, p, n, &why);
			j.line = m->lines;
			r = read_line(m, &j, f, data);
			if (r < 0)
				return r;
			m->rows += (size_t)r;
			if (r == 0)
				metrics_bad(m, 0, why.text);
		}
		p = newline ? newline + 1 : text_end;
	}
	*ret_used = (size_t)(p - text);
	return 0;
}
