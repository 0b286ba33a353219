#include "format/parts.h"

#include <string.h>
#include <strings.h>

#define DEPTH_MAX 4
#define VISITS_MAX 100000u
#define RNG (PART_RNG_PYTHON | PART_RNG_NUMPY | PART_RNG_TORCH | PART_RNG_CUDA)

typedef const struct pickle_value value;

struct word {
	const char *text;
	bool begins; /* so, else it is that */
	unsigned parts;
};

static const struct word words[] = {
	{ "optim", true, PART_OPTIMIZER },     { "opt", false, PART_OPTIMIZER },    { "sched", true, PART_SCHEDULER },
	{ "scaler", true, PART_SCALER },       { "amp", false, PART_SCALER },       { "mixedprecision", true, PART_SCALER },
	{ "loader", true, PART_LOADER },       { "dataloader", true, PART_LOADER }, { "sampler", true, PART_LOADER },
	{ "rng", true, RNG },                  { "random", false, RNG },
};

/* Where a key is of random numbers, whose; the first word counts. */
static const struct word generators[] = {
	{ "cuda", true, PART_RNG_CUDA },     { "gpu", false, PART_RNG_CUDA },   { "numpy", true, PART_RNG_NUMPY },
	{ "np", false, PART_RNG_NUMPY },     { "python", true, PART_RNG_PYTHON }, { "py", false, PART_RNG_PYTHON },
	{ "torch", true, PART_RNG_TORCH },   { "cpu", false, PART_RNG_TORCH },  { "random", false, PART_RNG_PYTHON },
};

static const char *const positions[] = { "batch_idx", "batch_index", "batches_into_epoch", "samples_seen", "consumed_samples",
					 "consumed_train_samples", "data_position", "data_state", "epoch_position" };
static const char *const models[] = { "model", "model_state_dict", "state_dict", "module" };

static bool has_word(const char *p, const char *end, const struct word *w)
{
	size_t len = strlen(w->text);

	while (p < end) {
		const char *stop = memchr(p, '_', (size_t)(end - p));
		size_t n = (size_t)((stop ? stop : end) - p);

		if ((w->begins ? n >= len : n == len) && strncasecmp(p, w->text, len) == 0)
			return true;
		p = stop ? stop + 1 : end;
	}
	return false;
}

static unsigned look_up(const char *p, size_t len, const struct word *list, size_t n, bool first)
{
	unsigned parts = 0;

	for (size_t i = 0; i < n && !(first && parts); i++)
		if (has_word(p, p + len, &list[i]))
			parts |= list[i].parts;
	return parts;
}

/* All of RNG: it is of random numbers. */
static unsigned parts_of_name(const char *p, size_t len)
{
	unsigned parts = memchr(p, '.', len) ? 0 : look_up(p, len, words, ARRAY_SIZE(words), false), one;

	if (!(parts & RNG))
		return parts;
	one = look_up(p, len, generators, ARRAY_SIZE(generators), true);
	return one ? (parts & ~RNG) | one : parts;
}

static bool is_any(value *key, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pickle_is_str(key, list[i]))
			return true;
	return false;
}

static bool is_empty(value *v)
{
	const struct pickle_items *entries = pickle_entries(v);

	switch (v->kind) {
	case PICKLE_NONE:
		return true;
	case PICKLE_TUPLE:
	case PICKLE_LIST:
	case PICKLE_SET:
		return v->items.n == 0;
	default:
		return entries && entries->n == 0;
	}
}

struct look {
	unsigned visits;
	unsigned parts;
};

/* By the form: random.getstate() is (3, (625 numbers), …), numpy's get_state() has the name of its generator first;
 * torch's are tensors. */
static unsigned form_of(value *v)
{
	value *first = (v->kind == PICKLE_TUPLE || v->kind == PICKLE_LIST) && v->items.n > 0 ? v->items.v[0] : NULL;

	if (pickle_find(v, "bit_generator") || (first && pickle_is_str(first, "MT19937")))
		return PART_RNG_NUMPY;
	if (first && first->kind == PICKLE_INT && v->items.n == 3 && v->items.v[1]->kind == PICKLE_TUPLE)
		return PART_RNG_PYTHON;
	if (first && first->kind != PICKLE_INT)
		return form_of(first);
	return v->kind == PICKLE_OBJECT ? PART_RNG_TORCH : 0;
}

/* A value under a key of random numbers that does not say whose. */
static unsigned generators_of(value *v)
{
	const struct pickle_items *entries = pickle_entries(v);
	unsigned parts = 0;

	for (uint32_t i = 0; entries && i < entries->n && i < 64; i += 2) {
		value *key = entries->v[i];

		if (key->kind == PICKLE_STR && !is_empty(entries->v[i + 1]))
			parts |= look_up((const char *)key->bytes.p, key->bytes.len, generators, ARRAY_SIZE(generators), true);
	}
	return parts ? parts : form_of(v);
}

static void look_at(struct look *l, value *v, unsigned depth);

static void look_at_key(struct look *l, value *key, value *v, unsigned depth)
{
	unsigned parts;

	if (key->kind != PICKLE_STR || (depth == 1 && is_any(key, models, ARRAY_SIZE(models))))
		return;
	if (v->kind == PICKLE_INT && is_any(key, positions, ARRAY_SIZE(positions)))
		l->parts |= PART_LOADER;
	if (is_empty(v))
		return;
	parts = parts_of_name((const char *)key->bytes.p, key->bytes.len);
	if ((parts & RNG) == RNG)
		parts = (parts & ~RNG) | generators_of(v);
	if (v->kind != PICKLE_BOOL && v->kind != PICKLE_STR)
		l->parts |= parts;
	if (parts == 0 && depth < DEPTH_MAX)
		look_at(l, v, depth + 1);
}

static void look_at(struct look *l, value *v, unsigned depth)
{
	const struct pickle_items *entries = pickle_entries(v);

	if (entries && pickle_find(v, "python") && pickle_find(v, "numpy")) {
		l->parts |= generators_of(v);
		return;
	}
	for (uint32_t i = 0; entries && i + 1 < entries->n && l->visits < VISITS_MAX; i += 2) {
		l->visits++;
		look_at_key(l, entries->v[i], entries->v[i + 1], depth);
	}
}

unsigned parts_of(value *top)
{
	struct look l = { 0 };

	look_at(&l, top, 1);
	return l.parts;
}

unsigned parts_of_key(struct pickle_bytes key)
{
	unsigned parts = parts_of_name((const char *)key.p, key.len);

	return (parts & RNG) == RNG ? parts & ~RNG : parts;
}

unsigned parts_of_tensor(const char *name, size_t len)
{
	size_t n = 0;

	while (n < len && name[n] != '.' && name[n] != '/')
		n++;
	return has_word(name, name + n, &words[0]) ? PART_OPTIMIZER : 0;
}

unsigned parts_of_member(const char *path)
{
	static const struct {
		const char *begin;
		unsigned parts;
	} names[] = {
		{ "optimizer.", PART_OPTIMIZER }, { "scheduler.", PART_SCHEDULER }, { "scaler.", PART_SCALER },
		{ "sampler", PART_LOADER },       { "trainer_state.json", PART_LOADER },
	};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	unsigned parts = strstr(name, "optim_states") ? PART_OPTIMIZER : 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(name, names[i].begin, strlen(names[i].begin)))
			parts |= names[i].parts;
	return parts;
}

const char *part_name(unsigned i)
{
	static const char *const names[PARTS] = { "optimizer",	"scheduler", "scaler",	 "rng-python",
						  "rng-numpy", "rng-torch", "rng-cuda", "data-loader" };

	return names[i];
}

void parts_text(unsigned parts, char ret[PARTS_TEXT])
{
	char *p = ret;

	*p = 0;
	for (unsigned i = 0; i < PARTS; i++) {
		if (!(parts & 1u << i))
			continue;
		if (p > ret)
			*p++ = ',';
		p = stpcpy(p, part_name(i));
	}
}
