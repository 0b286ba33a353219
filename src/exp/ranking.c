#include "exp/ranking.h"

#include <math.h>
#include <string.h>

#include "exp/entries.h"
#include "meta/tracked.h"

struct own {
	uint32_t of; /* index of the version */
	int choice;
	int64_t at;
	double value;
};

/* The last value that speaks for a step at which there was a checkpoint. */
struct measured {
	int64_t at; /* -1: none */
	double value;
};

struct place {
	uint32_t of;
	double value;
};

struct ranking {
	bool highest;
	int choices;
	struct ranked *v;
	size_t n;
	struct own *own;
	size_t n_own;
	int64_t *steps; /* after ranking_begin() ascending, each once */
	size_t n_steps;
	struct measured *measured[METRIC_CHOICES]; /* for each of the steps, between begin and end */
	struct place *order[METRIC_CHOICES];
	size_t n_order[METRIC_CHOICES];
};

int ranking_new(int choices, bool highest, struct ranking **ret)
{
	struct ranking *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	k->choices = choices;
	k->highest = highest;
	*ret = k;
	return 0;
}

static void clear_results(struct ranking *k)
{
	for (size_t i = 0; i < METRIC_CHOICES; i++) {
		free(k->measured[i]);
		free(k->order[i]);
		k->measured[i] = NULL;
		k->order[i] = NULL;
		k->n_order[i] = 0;
	}
}

void ranking_free(struct ranking *k)
{
	clear_results(k);
	free(k->v);
	free(k->own);
	free(k->steps);
	free(k);
}

size_t ranking_size(const struct ranking *k)
{
	size_t n = sizeof(*k) + k->n * sizeof(*k->v) + k->n_own * sizeof(*k->own) + k->n_steps * sizeof(*k->steps);

	for (size_t i = 0; i < METRIC_CHOICES; i++)
		n += k->n_order[i] * sizeof(*k->order[i]);
	return n;
}

/* Steps are often those of the version before, as of one path that is written again and again. */
static int add_step(struct ranking *k, int64_t step)
{
	int64_t *steps;

	if (step < 0 || (k->n_steps > 0 && k->steps[k->n_steps - 1] == step))
		return 0;
	steps = array_grow(k->steps, k->n_steps, sizeof(*steps));
	if (!steps)
		return -ENOMEM;
	k->steps = steps;
	steps[k->n_steps++] = step;
	return 0;
}

int ranking_add_version(struct ranking *k, const struct ranked *v, bool may_win)
{
	struct ranked *more;
	int r = add_step(k, v->step);

	if (r < 0 || !may_win)
		return r;
	more = k->n < UINT32_MAX ? array_grow(k->v, k->n, sizeof(*more)) : NULL;
	if (!more)
		return -ENOMEM;
	k->v = more;
	more[k->n++] = *v;
	return 0;
}

int ranking_add_own(struct ranking *k, int choice, int64_t at, double value)
{
	struct own *more = array_grow(k->own, k->n_own, sizeof(*more));

	if (!more)
		return -ENOMEM;
	k->own = more;
	more[k->n_own++] = (struct own){ .of = (uint32_t)k->n - 1, .choice = choice, .at = at, .value = value };
	return 0;
}

size_t ranking_count(const struct ranking *k)
{
	return k->n;
}

void ranking_cut(struct ranking *k, size_t n)
{
	while (k->n_own > 0 && k->own[k->n_own - 1].of >= n)
		k->n_own--;
	k->n = n;
}

static int step_compare(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return a < b ? -1 : a > b;
}

int ranking_begin(struct ranking *k)
{
	size_t out = 0;

	clear_results(k);
	if (k->n_steps > 0)
		qsort(k->steps, k->n_steps, sizeof(*k->steps), step_compare);
	for (size_t i = 0; i < k->n_steps; i++)
		if (out == 0 || k->steps[i] != k->steps[out - 1])
			k->steps[out++] = k->steps[i];
	k->n_steps = out;
	for (int i = 0; i < k->choices; i++) {
		k->measured[i] = calloc(out + 1, sizeof(*k->measured[i]));
		if (!k->measured[i])
			return -ENOMEM;
		for (size_t j = 0; j < out; j++)
			k->measured[i][j].at = -1;
	}
	return 0;
}

/* The first checkpoint at or after a step; n_steps: there is none. */
static size_t find_step(const struct ranking *k, int64_t step)
{
	size_t low = 0, high = k->n_steps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->steps[middle] < step)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void ranking_add_curve(struct ranking *k, int choice, int64_t step, double value)
{
	size_t i = find_step(k, step);

	if (i < k->n_steps && step >= k->measured[choice][i].at)
		k->measured[choice][i] = (struct measured){ .at = step, .value = value };
}

void ranking_add_epoch(struct ranking *k, int choice, int64_t epoch, double value)
{
	size_t i = find_step(k, epoch);

	if (i < k->n_steps && k->steps[i] == epoch)
		ranking_add_curve(k, choice, epoch, value);
}

/* Was it measured for that version, and for none before it? */
static bool speaks_for(const struct ranking *k, const struct own *own)
{
	int64_t step = k->v[own->of].step;

	return own->at == METRIC_SET || step == NO_STEP || (own->at <= step && find_step(k, own->at) == find_step(k, step));
}

static int place_compare(const void *pa, const void *pb, void *arg)
{
	const struct ranking *k = arg;
	const struct place *a = pa, *b = pb;

	if (ranking_is_better(k->highest, &k->v[a->of], a->value, &k->v[b->of], b->value))
		return -1;
	return ranking_is_better(k->highest, &k->v[b->of], b->value, &k->v[a->of], a->value);
}

static int rank_choice(struct ranking *k, int choice, const struct own *own)
{
	_cleanup_free_ struct place *order = calloc(k->n + 1, sizeof(*order));
	size_t n = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < k->n; i++) {
		size_t at = k->v[i].step >= 0 ? find_step(k, k->v[i].step) : k->n_steps;
		double value = at < k->n_steps && k->measured[choice][at].at >= 0 ? k->measured[choice][at].value : NAN;
		bool has_own = false;

		for (; own < k->own + k->n_own && own->of == i; own++) {
			if (own->choice != choice || has_own || !speaks_for(k, own))
				continue;
			value = own->value;
			has_own = true;
		}
		if (!isnan(value))
			order[n++] = (struct place){ .of = (uint32_t)i, .value = value };
	}
	if (n > 0)
		qsort_r(order, n, sizeof(*order), place_compare, k);
	k->order[choice] = steal(&order);
	k->n_order[choice] = n;
	return 0;
}

int ranking_end(struct ranking *k)
{
	int r = 0;

	for (int i = 0; i < k->choices && r == 0; i++) {
		r = rank_choice(k, i, k->own);
		free(k->measured[i]);
		k->measured[i] = NULL;
	}
	return r;
}

struct ranked *ranking_at(struct ranking *k, int choice, size_t i, double *ret_value)
{
	if (i >= k->n_order[choice])
		return NULL;
	*ret_value = k->order[choice][i].value;
	return &k->v[k->order[choice][i].of];
}

bool ranking_is_better(bool highest, const struct ranked *a, double va, const struct ranked *b, double vb)
{
	if (va != vb)
		return highest ? va > vb : va < vb;
	if (a->step != b->step)
		return a->step > b->step;
	if (a->named != b->named)
		return a->named;
	return a->rank != b->rank ? a->rank > b->rank : a->version > b->version;
}
