#include "format/pickle.h"
#include "fuzz.h"

/* Touches all that a value has, to a depth. */
static size_t touch(const struct pickle_value *v, int depth);

static size_t touch_bytes(struct pickle_bytes b)
{
	size_t sum = 0;

	for (size_t i = 0; i < b.len; i++)
		sum += b.p[i];
	return sum;
}

static size_t touch_items(const struct pickle_items *items, int depth)
{
	size_t sum = 0;

	must(items->n <= items->room);
	for (uint32_t i = 0; i < MIN(items->n, 4u); i++)
		sum += touch(items->v[i], depth) + touch(items->v[items->n - 1 - i], depth);
	return sum;
}

static size_t touch_object(const struct pickle_object *o, int depth)
{
	must(o->args->kind == PICKLE_TUPLE && o->dict.n % 2 == 0);
	return touch(o->callable, depth) + touch(o->args, depth) + touch_items(&o->list, depth) +
	       touch_items(&o->dict, depth) + (o->kwargs ? touch(o->kwargs, depth) : 0) +
	       (o->state ? touch(o->state, depth) : 0);
}

static size_t touch(const struct pickle_value *v, int depth)
{
	if (depth-- == 0)
		return 1;
	switch (v->kind) {
	case PICKLE_STR:
	case PICKLE_BYTES:
		return touch_bytes(v->bytes);
	case PICKLE_DICT:
		must(v->items.n % 2 == 0);
		return touch_items(&v->items, depth);
	case PICKLE_TUPLE:
	case PICKLE_LIST:
	case PICKLE_SET:
		return touch_items(&v->items, depth);
	case PICKLE_GLOBAL:
		return touch_bytes(v->global->module) + touch_bytes(v->global->name);
	case PICKLE_OBJECT:
		return touch_object(v->object, depth);
	case PICKLE_PERSISTENT:
		return touch(v->persistent, depth);
	default:
		return (size_t)v->integer;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static volatile size_t sum;
	_cleanup_pickle_ struct pickle *p = NULL;
	const char *why = "";
	int r = pickle_parse(data, size, &p, &why);

	if (r < 0) {
		must(r == -EBADMSG && why && *why && !p);
		return 0;
	}
	must(!why);
	sum += touch(pickle_top(p), 5);
	pickle_find(pickle_top(p), "step");
	return 0;
}
