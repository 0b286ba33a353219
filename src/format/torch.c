/* What torch.save() leaves:
 *
 *   PREFIX/data.pkl       the pickle, of any protocol; PREFIX is what the name of
 *                         the first record in the directory begins with
 *   PREFIX/byteorder      "little" or "big"; absent before 2.1: little
 *   PREFIX/data/KEY       the bytes of a storage */
#include "format/torch.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "format/numpy_scalar.h"
#include "format/parts.h"
#include "format/torch_tensor.h"

#define DEPTH_MAX 128
#define VISITS_MAX (1u << 23)
#define WHOLE_MAX 0x1p53 /* beyond, floats leave integers out */

typedef const struct pickle_value value;

/* The tensors below the best of the model's keys so far. */
struct choice {
	size_t rank; /* of the key */
	size_t from, to, inner;
};

struct walk {
	struct torch torch;
	struct tensors *ts;
	value *path[DEPTH_MAX]; /* the containers that we are in */
	unsigned depth;
	unsigned visits;
	const struct pickle_items *top; /* the top-level keys */
	struct choice choice;
	unsigned parts; /* of the name */
	size_t len;	/* of the name; what is beyond the room for it is not kept */
	char name[TENSOR_NAME_MAX + 1];
};

static int bad(struct walk *w, const char *why)
{
	return window_bad(w->ts->w, why);
}

bool torch_is(const struct records *rs)
{
	return torch_find(rs, "data.pkl", strlen("data.pkl")) != NULL;
}

/* Names */

static void append(struct walk *w, const void *p, size_t n)
{
	if (w->len <= TENSOR_NAME_MAX && n <= TENSOR_NAME_MAX - w->len)
		memcpy(w->name + w->len, p, n);
	w->len += n;
}

static void append_number(struct walk *w, int64_t v)
{
	char text[24];

	append(w, text, (size_t)snprintf(text, sizeof(text), "%lld", (long long)v));
}

static void append_key(struct walk *w, value *key)
{
	char text[32];

	switch (key->kind) {
	case PICKLE_STR:
	case PICKLE_BYTES:
		append(w, key->bytes.p, key->bytes.len);
		break;
	case PICKLE_INT:
		append_number(w, key->integer);
		break;
	case PICKLE_BOOL:
		append(w, key->integer ? "True" : "False", key->integer ? 4 : 5);
		break;
	case PICKLE_NONE:
		append(w, "None", 4);
		break;
	case PICKLE_FLOAT:
		append(w, text, (size_t)snprintf(text, sizeof(text), "%.17g", key->real));
		break;
	default:
		append(w, "?", 1);
	}
}

static const char *name_text(struct walk *w)
{
	if (w->len > TENSOR_NAME_MAX)
		return NULL;
	w->name[w->len] = '\0';
	return w->name;
}

/* Equal keys in one dictionary. Those of a kind that is not looked into are
 * different where they are two nodes. */

static int compare_keys(const void *a, const void *b)
{
	value *x = *(value *const *)a, *y = *(value *const *)b;
	bool x_int = x->kind == PICKLE_INT || x->kind == PICKLE_BOOL, y_int = y->kind == PICKLE_INT || y->kind == PICKLE_BOOL;
	int r;

	if (x_int && y_int)
		return (x->integer > y->integer) - (x->integer < y->integer);
	if (x->kind != y->kind || x_int || y_int)
		return x->kind < y->kind ? -1 : 1;
	if (x->kind != PICKLE_STR)
		return (x > y) - (x < y);
	r = memcmp(x->bytes.p, y->bytes.p, MIN(x->bytes.len, y->bytes.len));
	return r != 0 ? r : (x->bytes.len > y->bytes.len) - (x->bytes.len < y->bytes.len);
}

static int check_keys(struct walk *w, const struct pickle_items *entries)
{
	_cleanup_free_ value **keys = calloc(entries->n / 2 + 1u, sizeof(*keys));
	size_t n = entries->n / 2;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		keys[i] = entries->v[2 * i];
	qsort(keys, n, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < n; i++)
		if (compare_keys(&keys[i - 1], &keys[i]) == 0)
			return bad(w, "torch file with a key that is set twice");
	return 0;
}

/* Which are the model's */

static bool begins_with(const char *word, size_t len, const char *with)
{
	return len >= strlen(with) && strncasecmp(word, with, strlen(with)) == 0;
}

static bool is_word(const char *word, size_t len, const char *other)
{
	return len == strlen(other) && begins_with(word, len, other);
}

bool torch_is_other(struct pickle_bytes key, bool below)
{
	const char *p = (const char *)key.p, *end = p + key.len;

	if (memchr(p, '.', key.len))
		return false;
	while (p < end) {
		const char *stop = memchr(p, '_', (size_t)(end - p));
		size_t len = (size_t)((stop ? stop : end) - p);

		if (begins_with(p, len, "rng"))
			return true;
		if (below && (begins_with(p, len, "optim") || begins_with(p, len, "sched") ||
			      begins_with(p, len, "scaler") || is_word(p, len, "opt") || is_word(p, len, "amp")))
			return true;
		p = stop ? stop + 1 : end;
	}
	return false;
}

static const char *const model_keys[] = { "model", "model_state_dict", "state_dict", "module" };
#define MODEL_KEYS ARRAY_SIZE(model_keys)

size_t torch_model_rank(struct pickle_bytes key)
{
	for (size_t i = 0; i < MODEL_KEYS; i++)
		if (pickle_bytes_are(key, model_keys[i]))
			return i;
	return SIZE_MAX;
}

/* The place of a top-level key in the order of choice. */
static size_t model_rank(value *key)
{
	return key->kind == PICKLE_STR ? torch_model_rank(key->bytes) : SIZE_MAX;
}

/* The walk */

static int visit(struct walk *w, value *v);

/* v under a key, or under a number if that is NULL. */
static int visit_below(struct walk *w, value *key, uint32_t number, value *v)
{
	size_t len = w->len;
	int r;

	if (w->parts++ > 0)
		append(w, ".", 1);
	if (key)
		append_key(w, key);
	else
		append_number(w, number);
	r = visit(w, v);
	w->len = len;
	w->parts--;
	return r;
}

static int visit_list(struct walk *w, const struct pickle_items *items)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < items->n; i++)
		r = visit_below(w, NULL, i, items->v[i]);
	return r;
}

/* v under a top-level key, which says whose its tensors are. */
static int visit_top(struct walk *w, value *key, value *v)
{
	struct tensors *ts = w->ts;
	size_t from = ts->n;
	bool below = !torch_builds(v);
	int r = visit_below(w, key, 0, v);

	if (r < 0 || ts->n == from)
		return r;
	if (below && model_rank(key) < w->choice.rank)
		w->choice = (struct choice){ model_rank(key), from, ts->n, key->bytes.len + 1 };
	for (size_t i = from; i < ts->n; i++)
		ts->v[i].model = key->kind != PICKLE_STR || !torch_is_other(key->bytes, below);
	return 0;
}

static int visit_dict(struct walk *w, const struct pickle_items *entries)
{
	int r = check_keys(w, entries);

	for (uint32_t i = 0; r == 0 && i < entries->n; i += 2)
		if (entries == w->top && w->depth == 1)
			r = visit_top(w, entries->v[i], entries->v[i + 1]);
		else
			r = visit_below(w, entries->v[i], 0, entries->v[i + 1]);
	return r;
}

static int visit_tensor(struct walk *w, value *v)
{
	struct tensor t;
	const char *name = name_text(w);
	int r;

	if (!name)
		return bad(w, "tensor of too long a name");
	r = torch_build(&w->torch, v, &t);
	if (r < 0)
		return r;
	t.name = arena_text(&w->ts->arena, name, w->len);
	t.name_len = w->len;
	t.model = true;
	return t.name ? tensors_add(w->ts, &t) : tensors_no_memory(w->ts);
}

static int visit_object(struct walk *w, const struct pickle_object *o)
{
	int r = visit_list(w, &o->args->items);

	if (r == 0 && o->kwargs)
		r = visit_dict(w, &o->kwargs->items);
	if (r == 0)
		r = visit_list(w, &o->list);
	if (r == 0)
		r = visit_dict(w, &o->dict);
	return r == 0 && o->state ? visit(w, o->state) : r;
}

static int visit_container(struct walk *w, value *v)
{
	int r;

	for (unsigned i = 0; i < w->depth; i++)
		if (w->path[i] == v)
			return 0; /* it holds itself */
	if (w->depth == DEPTH_MAX)
		return bad(w, "torch file nested too deeply");
	w->path[w->depth++] = v;
	if (v->kind == PICKLE_OBJECT)
		r = visit_object(w, v->object);
	else if (v->kind == PICKLE_DICT)
		r = visit_dict(w, &v->items);
	else
		r = visit_list(w, &v->items);
	w->depth--;
	return r;
}

static void note(struct walk *w, int64_t v)
{
	if (name_text(w))
		tensors_note(w->ts, w->name, w->len, v);
}

static int visit(struct walk *w, value *v)
{
	int64_t n;

	if (++w->visits > VISITS_MAX)
		return bad(w, "torch file that unfolds to too much");
	switch (v->kind) {
	case PICKLE_INT:
		note(w, v->integer);
		return 0;
	case PICKLE_FLOAT:
		if (v->real >= -WHOLE_MAX && v->real <= WHOLE_MAX && (double)(int64_t)v->real == v->real)
			note(w, (int64_t)v->real);
		return 0;
	case PICKLE_OBJECT:
		if (numpy_scalar_integer(v, &n)) {
			note(w, n);
			return 0;
		}
		return torch_builds(v) ? visit_tensor(w, v) : visit_container(w, v);
	case PICKLE_TUPLE:
	case PICKLE_LIST:
	case PICKLE_SET:
	case PICKLE_DICT:
		return visit_container(w, v);
	default:
		return 0;
	}
}

static int walk_all(struct walk *w, value *top)
{
	const struct choice *c = &w->choice;
	struct tensors *ts = w->ts;
	size_t from = ts->n;
	int r;

	w->top = pickle_entries(top);
	w->choice.rank = SIZE_MAX;
	r = visit(w, top);
	for (size_t i = from; c->to > 0 && i < ts->n; i++) {
		ts->v[i].model = i >= c->from && i < c->to;
		ts->v[i].inner = ts->v[i].model ? c->inner : 0;
	}
	return r;
}

static int read_byte_order(struct walk *w)
{
	const struct zip_record *r = torch_find(w->torch.records, "byteorder", strlen("byteorder"));
	char text[7] = "";
	int err;

	if (!r)
		return 0;
	if (!r->plain || r->len >= sizeof(text))
		return bad(w, "torch file of unknown byte order");
	err = window_read(w->ts->w, r->at, text, (size_t)r->len);
	if (err < 0)
		return err;
	w->torch.big_endian = strcmp(text, "big") == 0;
	return w->torch.big_endian || strcmp(text, "little") == 0 ? 0 : bad(w, "torch file of unknown byte order");
}

static int read_pickle(struct walk *w, uint8_t **ret, struct pickle **ret_pickle)
{
	const struct zip_record *r = torch_find(w->torch.records, "data.pkl", strlen("data.pkl"));
	_cleanup_free_ uint8_t *p = NULL;
	int err;

	if (!r->plain)
		return bad(w, "torch file whose pickle is compressed");
	if (r->len > PICKLE_MAX)
		return bad(w, "torch file whose pickle is over 32 MiB");
	p = malloc((size_t)r->len + 1);
	if (!p)
		return -ENOMEM;
	err = window_read(w->ts->w, r->at, p, (size_t)r->len);
	if (err == 0)
		err = pickle_parse(p, (size_t)r->len, ret_pickle, &w->ts->w->why);
	if (err == 0)
		*ret = steal(&p);
	return err;
}

int torch_read(struct tensors *ts, const struct records *rs)
{
	_cleanup_free_ struct walk *w = calloc(1, sizeof(*w));
	_cleanup_free_ uint8_t *stream = NULL;
	_cleanup_pickle_ struct pickle *pickle = NULL;
	int r;

	if (!w)
		return -ENOMEM;
	w->ts = ts;
	w->torch = (struct torch){ .ts = ts, .records = rs };
	r = read_byte_order(w);
	if (r == 0)
		r = read_pickle(w, &stream, &pickle);
	if (r < 0)
		return r;
	ts->parts = parts_of(pickle_top(pickle));
	return walk_all(w, pickle_top(pickle));
}
