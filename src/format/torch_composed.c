#include "format/torch_composed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COMPONENTS_MAX 64u
#define DEPTH_MAX 8u
#define VISITS_MAX 256u

typedef const struct pickle_value value;

struct components {
	struct torch *f;
	unsigned wraps, depth, visits;
	unsigned n;
	struct tensor v[COMPONENTS_MAX];
	const char *why; /* set: they are not told */
	size_t len;
	char name[TENSOR_COMPONENT_NAME_MAX + 1];
};

static int odd(struct torch *f)
{
	return window_bad(f->ts->w, "torch tensor that is put together in an unknown way");
}

static value *item(value *sequence, uint32_t i)
{
	return i < sequence->items.n ? sequence->items.v[i] : NULL;
}

static bool append(struct components *c, const void *p, size_t n)
{
	if (n > TENSOR_COMPONENT_NAME_MAX - c->len)
		return false;
	memcpy(c->name + c->len, p, n);
	c->len += n;
	return true;
}

static int add_built(struct components *c, const struct tensor *t);

/* Each of those that *t is made of, below its name. */
static int add_components(struct components *c, const struct tensor *t)
{
	size_t len = c->len;
	int r = 0;

	for (unsigned i = 0; i < t->n_components && r == 0 && !c->why; i++) {
		if (append(c, ".", 1) && append(c, t->components[i].name, t->components[i].name_len))
			r = add_built(c, &t->components[i]);
		else
			c->why = "a tensor of others that have too long names";
		c->len = len;
	}
	return r;
}

/* *t under the name that it has there. */
static int add_built(struct components *c, const struct tensor *t)
{
	char *name;

	if (c->n == COMPONENTS_MAX || !t->located) {
		c->why = t->why ? t->why : "a tensor of too many others";
		return 0;
	}
	if (t->n_components > 0)
		return add_components(c, t);
	name = arena_text(&c->f->ts->arena, c->name, c->len);
	if (!name)
		return tensors_no_memory(c->f->ts);
	c->v[c->n] = *t;
	c->v[c->n].name = name;
	c->v[c->n++].name_len = c->len;
	return 0;
}

static int add(struct components *c, value *v)
{
	struct tensor t = { 0 };
	int r;

	if (!v || !torch_builds(v))
		return odd(c->f);
	r = torch_build_wrapped_in(c->f, v, c->wraps + 1, &t);
	return r < 0 ? r : add_built(c, &t);
}

static void set_name(struct components *c, const char *name)
{
	c->len = MIN(strlen(name), TENSOR_COMPONENT_NAME_MAX);
	memcpy(c->name, name, c->len);
}

static int add_named(struct components *c, const char *name, value *v)
{
	if (c->why)
		return 0;
	set_name(c, name);
	return add(c, v);
}

/* Gives *t what was gathered. */
static int finish(struct components *c, struct tensor *t)
{
	struct tensor *v = arena_array(&c->f->ts->arena, c->n, sizeof(*v));

	t->located = !c->why;
	t->why = c->why;
	if (c->why)
		return 0;
	if (!v)
		return tensors_no_memory(c->f->ts);
	memcpy(v, c->v, c->n * sizeof(*v));
	t->components = v;
	t->n_components = c->n;
	t->item = 1;
	t->begin = t->end = t->offset = 0;
	return 0;
}

/* Sparse ones */

/* "torch.sparse_csr", as torch.serialization._get_layout() is called with. */
static value *layout_of(value *v)
{
	const struct pickle_bytes *name;

	if (!v || v->kind != PICKLE_OBJECT)
		return NULL;
	name = pickle_name_in(v->object->callable, "torch.serialization");
	v = item(v->object->args, 0);
	return name && pickle_bytes_are(*name, "_get_layout") && v && v->kind == PICKLE_STR ? v : NULL;
}

/* Names of the indices, by layout. */
static const struct {
	const char *layout, *first, *second;
} layouts[] = {
	{ "torch.sparse_coo", "indices", NULL },
	{ "torch.sparse_csr", "crow_indices", "col_indices" },
	{ "torch.sparse_bsr", "crow_indices", "col_indices" },
	{ "torch.sparse_csc", "ccol_indices", "row_indices" },
	{ "torch.sparse_bsc", "ccol_indices", "row_indices" },
};

static int compose_layout(struct components *c, size_t k, value *data, struct tensor *t)
{
	uint32_t at = layouts[k].second ? 2 : 1;
	struct tensor values = { 0 };
	int r;

	if (data->items.n < at + 2 || !torch_builds(item(data, at)))
		return odd(c->f);
	r = torch_build_wrapped_in(c->f, item(data, at), c->wraps + 1, &values);
	t->dtype = values.dtype;
	if (r == 0)
		r = torch_set_shape(c->f, t, item(data, at + 1));
	if (r == 0)
		r = add_named(c, layouts[k].first, item(data, 0));
	if (r == 0 && layouts[k].second)
		r = add_named(c, layouts[k].second, item(data, 1));
	if (r < 0 || c->why)
		return r;
	set_name(c, "values");
	return add_built(c, &values);
}

int torch_compose_sparse(struct torch *f, value *args, unsigned wraps, struct tensor *t)
{
	struct components c = { .f = f, .wraps = wraps };
	value *layout = layout_of(item(args, 0)), *data = item(args, 1);
	size_t k = 0;
	int r;

	if (!layout || !data || data->kind != PICKLE_TUPLE)
		return odd(f);
	while (k < ARRAY_SIZE(layouts) && !pickle_is_str(layout, layouts[k].layout))
		k++;
	if (k == ARRAY_SIZE(layouts))
		return odd(f);
	r = compose_layout(&c, k, data, t);
	return r < 0 ? r : finish(&c, t);
}

/* Quantised ones */

int torch_compose_quantised(struct torch *f, value *args, unsigned wraps, struct tensor *t)
{
	struct components c = { .f = f, .wraps = wraps };
	value *scale, *zero, *axis;
	const struct pickle_bytes *scheme;
	char name[128];
	int r;

	if (!t->located)
		return 0;
	if (!args || args->kind != PICKLE_TUPLE || args->items.n < 3 || !(scheme = pickle_name_in(item(args, 0), "torch")) || scheme->len > 48)
		return odd(f);
	scale = item(args, 1);
	zero = item(args, 2);
	axis = item(args, 3);
	if (scale->kind == PICKLE_FLOAT && zero->kind == PICKLE_INT)
		snprintf(name, sizeof(name), "integers %.*s %.17g %" PRId64, (int)scheme->len, (const char *)scheme->p, scale->real, zero->integer);
	else if (axis && axis->kind == PICKLE_INT)
		snprintf(name, sizeof(name), "integers %.*s %" PRId64, (int)scheme->len, (const char *)scheme->p, axis->integer);
	else
		return odd(f);
	set_name(&c, name);
	r = add_built(&c, t);
	if (r == 0 && scale->kind != PICKLE_FLOAT) {
		r = add_named(&c, "scales", scale);
		if (r == 0)
			r = add_named(&c, "zeros", zero);
	}
	return r < 0 ? r : finish(&c, t);
}

/* Wrapped ones */

static int look(struct components *c, value *v);

/* v under a key, or under a number if that is no string. */
static int look_below(struct components *c, value *key, uint32_t number, value *v)
{
	size_t len = c->len;
	char text[12];
	bool fits = len == 0 || append(c, ".", 1);
	int r = 0;

	if (key && key->kind == PICKLE_STR)
		fits = fits && append(c, key->bytes.p, key->bytes.len);
	else
		fits = fits && append(c, text, (size_t)snprintf(text, sizeof(text), "%" PRIu32, number));
	if (fits)
		r = look(c, v);
	else
		c->why = "a tensor of others that have too long names";
	c->len = len;
	return r;
}

static int look_at_items(struct components *c, const struct pickle_items *items, bool pairs)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && !c->why && i < items->n; i += 1 + pairs)
		r = look_below(c, pairs ? items->v[i] : NULL, i, items->v[i + pairs]);
	return r;
}

/* What DTensors say of the devices that the others lie on is not content. */
static bool is_of_devices(value *class)
{
	static const char module[] = "torch.distributed";

	return class->kind == PICKLE_GLOBAL && class->global->module.len >= strlen(module) &&
	       memcmp(class->global->module.p, module, strlen(module)) == 0;
}

static int look_inside(struct components *c, value *v)
{
	const struct pickle_object *o;
	int r;

	if (v->kind != PICKLE_OBJECT)
		return look_at_items(c, &v->items, v->kind == PICKLE_DICT);
	o = v->object;
	if (is_of_devices(o->callable))
		return 0;
	r = look_at_items(c, &o->args->items, false);
	if (r == 0)
		r = look_at_items(c, &o->dict, true);
	if (r == 0)
		r = look_at_items(c, &o->list, false);
	return r == 0 && o->state ? look(c, o->state) : r;
}

static int look(struct components *c, value *v)
{
	int r;

	if (torch_builds(v))
		return add(c, v);
	if (v->kind != PICKLE_TUPLE && v->kind != PICKLE_LIST && v->kind != PICKLE_DICT && v->kind != PICKLE_OBJECT)
		return 0;
	if (c->depth == DEPTH_MAX || ++c->visits > VISITS_MAX) {
		c->why = "a tensor of others that are nested too deeply";
		return 0;
	}
	c->depth++;
	r = look_inside(c, v);
	c->depth--;
	return r;
}

/* Of a class with slots, (dictionary or None, dictionary of the slots). */
static bool has_slots(value *state)
{
	return state->kind == PICKLE_TUPLE && state->items.n == 2 && item(state, 1)->kind == PICKLE_DICT &&
	       (item(state, 0)->kind == PICKLE_DICT || item(state, 0)->kind == PICKLE_NONE);
}

int torch_compose_wrapped(struct torch *f, value *state, unsigned wraps, struct tensor *t)
{
	struct components c = { .f = f, .wraps = wraps };
	int r = 0;

	if (state && has_slots(state)) {
		r = look(&c, item(state, 0));
		state = item(state, 1);
	}
	if (r == 0 && state)
		r = look(&c, state);
	if (r < 0)
		return r;
	if (!c.why && c.n == 0)
		c.why = "a tensor whose class keeps its data elsewhere";
	return finish(&c, t);
}
