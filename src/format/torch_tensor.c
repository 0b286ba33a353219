/* torch/_utils.py, for what _rebuild_…() makes of a storage, an offset, a shape
 * and strides, and torch/serialization.py for storages: they are the persistent
 * ids ('storage', type, KEY, location, elements). */
#include "format/torch_tensor.h"

#include <string.h>

#include "format/dtype.h"
#include "format/torch_composed.h"

#define PREFIX_MAX 1024u
#define KEY_MAX 256u
#define WRAPS_MAX 8 /* parameters of subclasses of … */

typedef const struct pickle_value value;

static int bad(struct torch *f, const char *why)
{
	return window_bad(f->ts->w, why);
}

/* Not what torch writes. */
static int odd(struct torch *f)
{
	return bad(f, "torch tensor that is put together in an unknown way");
}

const struct zip_record *torch_find(const struct records *rs, const char *name, size_t len)
{
	const uint8_t *first = rs->first->name, *slash = memchr(first, '/', rs->first->name_len);
	char path[PREFIX_MAX + KEY_MAX];
	size_t prefix;

	if (!slash)
		return NULL;
	prefix = (size_t)(slash - first) + 1;
	if (prefix > PREFIX_MAX || len > KEY_MAX)
		return NULL;
	memcpy(path, first, prefix);
	memcpy(path + prefix, name, len);
	return records_find(rs, path, prefix + len);
}

static const struct zip_record *find_storage(const struct records *rs, struct pickle_bytes key)
{
	char name[KEY_MAX] = "data/";

	if (key.len > sizeof(name) - strlen("data/"))
		return NULL;
	memcpy(name + strlen("data/"), key.p, key.len);
	return torch_find(rs, name, strlen("data/") + key.len);
}

static value *item(value *sequence, uint32_t i)
{
	return i < sequence->items.n ? sequence->items.v[i] : NULL;
}

/* What the callable of an object is called there; NULL for those of others. */
static const struct pickle_bytes *rebuilder(value *callable)
{
	static const char *const modules[] = { "torch._utils", "torch._tensor", "torch.tensor" };
	const struct pickle_bytes *name = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(modules) && !name; i++)
		name = pickle_name_in(callable, modules[i]);
	if (!name || name->len < strlen("_rebuild") || memcmp(name->p, "_rebuild", strlen("_rebuild")) != 0)
		return NULL;
	return pickle_bytes_are(*name, "_rebuild_nested_tensor") ? NULL : name;
}

/* Calls its first argument with its third one, and sets the class of what that gives. */
static bool is_from_type(const struct pickle_bytes *name)
{
	return pickle_bytes_are(*name, "_rebuild_from_type_v2") || pickle_bytes_are(*name, "_rebuild_from_type");
}

/* A tuple, a list, or torch.Size(tuple). */
static value *sequence(value *v)
{
	if (v && v->kind == PICKLE_OBJECT && pickle_name_in(v->object->callable, "torch"))
		v = item(v->object->args, 0);
	return v && (v->kind == PICKLE_TUPLE || v->kind == PICKLE_LIST) ? v : NULL;
}

static int copy_numbers(struct torch *f, value *from, const uint64_t **ret)
{
	uint64_t *numbers = arena_array(&f->ts->arena, from->items.n, sizeof(*numbers));

	if (!numbers)
		return tensors_no_memory(f->ts);
	for (uint32_t i = 0; i < from->items.n; i++) {
		value *v = from->items.v[i];

		if (v->kind != PICKLE_INT || v->integer < 0)
			return odd(f);
		numbers[i] = (uint64_t)v->integer;
	}
	*ret = numbers;
	return 0;
}

int torch_set_shape(struct torch *f, struct tensor *t, value *size)
{
	size = sequence(size);
	if (!size)
		return odd(f);
	if (size->items.n > TENSOR_DIMS_MAX)
		return bad(f, "tensor of too many dimensions");
	t->ndim = size->items.n;
	return copy_numbers(f, size, &t->shape);
}

/* torch.float32, as values of that type are written. */
static int set_dtype(struct torch *f, struct tensor *t, value *v)
{
	const struct pickle_bytes *name = v ? pickle_name_in(v, "torch") : NULL;
	const struct dtype *dtype;

	if (!name)
		return odd(f);
	dtype = dtype_of_name((const char *)name->p, name->len);
	if (!dtype)
		return bad(f, "torch tensor of an unknown type");
	t->dtype = dtype->name;
	t->item = dtype->item;
	return 0;
}

/* The persistent id of a storage: the type of its elements, none if it is of
 * bytes only, and where it is. */
static int set_storage(struct torch *f, struct tensor *t, value *v)
{
	const struct pickle_bytes *type;
	const struct zip_record *record;
	const struct dtype *dtype;
	uint64_t len;
	value *id = v && v->kind == PICKLE_PERSISTENT ? sequence(v->persistent) : NULL;

	if (!id || id->items.n != 5 || !pickle_is_str(item(id, 0), "storage") || item(id, 1)->kind != PICKLE_GLOBAL ||
	    item(id, 2)->kind != PICKLE_STR || item(id, 4)->kind != PICKLE_INT || item(id, 4)->integer < 0)
		return odd(f);
	type = &item(id, 1)->global->name;
	dtype = dtype_of_storage((const char *)type->p, type->len);
	if (!dtype && (pickle_bytes_are(*type, "UntypedStorage") || pickle_bytes_are(*type, "_UntypedStorage")))
		dtype = dtype_of_name("uint8", 5);
	if (!dtype)
		return bad(f, "torch storage of an unknown type");
	t->dtype = dtype->name;
	t->item = dtype->item;
	record = find_storage(f->records, item(id, 2)->bytes);
	if (!record)
		return bad(f, "torch storage that is missing");
	if (!record->plain)
		return bad(f, "torch storage that is compressed");
	if (__builtin_mul_overflow((uint64_t)item(id, 4)->integer, dtype->item, &len) || len > record->len)
		return bad(f, "torch storage shorter than it should be");
	t->begin = record->at;
	t->end = record->at + (dtype->item ? len : record->len);
	return 0;
}

/* (storage, offset, size, stride, …, dtype at dtype_at if that is not 0, flags
 * such as conjugation at flags_at) */
static int build_dense(struct torch *f, value *args, uint32_t dtype_at, uint32_t flags_at, struct tensor *t)
{
	value *offset = item(args, 1), *strides = sequence(item(args, 3)), *flags = item(args, flags_at);
	const struct pickle_items *entries = flags ? pickle_entries(flags) : NULL;
	int r = set_storage(f, t, item(args, 0));

	if (r == 0 && dtype_at)
		r = set_dtype(f, t, item(args, dtype_at));
	if (r == 0)
		r = torch_set_shape(f, t, item(args, 2));
	if (r < 0)
		return r;
	if (!strides || !offset || strides->items.n != t->ndim || offset->kind != PICKLE_INT || offset->integer < 0)
		return odd(f);
	r = copy_numbers(f, strides, &t->strides);
	if (r < 0)
		return r;
	t->why = t->item == 0			? "a tensor whose elements are no whole bytes" :
		 entries && entries->n > 0 ? "a tensor that is conjugated, or negated, when it is used" :
					     NULL;
	t->located = !t->why;
	t->big_endian = f->big_endian;
	if (__builtin_mul_overflow((uint64_t)offset->integer, t->item, &t->offset) || !tensor_in_bounds(t))
		return bad(f, "torch tensor outside of its storage");
	return 0;
}

static int build(struct torch *f, value *callable, value *args, unsigned wraps, struct tensor *t);

/* A tensor that is another one, but for its class. */
static int build_inner(struct torch *f, value *v, unsigned wraps, struct tensor *t)
{
	if (!v || v->kind != PICKLE_OBJECT)
		return odd(f);
	return build(f, v->object->callable, v->object->args, wraps + 1, t);
}

static int build_nowhere(struct torch *f, value *dtype, value *size, struct tensor *t)
{
	int r = set_dtype(f, t, dtype);

	t->why = "a tensor on no device, so without content";
	return r < 0 ? r : torch_set_shape(f, t, size);
}

static int build_quantised(struct torch *f, value *args, unsigned wraps, struct tensor *t)
{
	int r = build_dense(f, args, 0, 7, t);

	return r < 0 ? r : torch_compose_quantised(f, item(args, 4), wraps, t);
}

/* (callable, class, arguments, state): the state of a class that wraps is what it wraps. */
static int build_from_type(struct torch *f, value *args, unsigned wraps, struct tensor *t)
{
	const struct pickle_bytes *name = rebuilder(item(args, 0));
	value *inner = item(args, 2);
	int r;

	if (!name || !pickle_bytes_are(*name, "_rebuild_wrapper_subclass"))
		return build(f, item(args, 0), inner, wraps + 1, t);
	r = set_dtype(f, t, item(inner, 1));
	if (r == 0)
		r = torch_set_shape(f, t, item(inner, 2));
	return r < 0 ? r : torch_compose_wrapped(f, item(args, 3), wraps, t);
}

static int build(struct torch *f, value *callable, value *args, unsigned wraps, struct tensor *t)
{
	const struct pickle_bytes *name = rebuilder(callable);

	if (!name || wraps > WRAPS_MAX)
		return odd(f);
	if (pickle_bytes_are(*name, "_rebuild_tensor_v2") || pickle_bytes_are(*name, "_rebuild_tensor"))
		return build_dense(f, args, 0, 6, t);
	if (pickle_bytes_are(*name, "_rebuild_tensor_v3"))
		return build_dense(f, args, 6, 7, t);
	if (pickle_bytes_are(*name, "_rebuild_qtensor"))
		return build_quantised(f, args, wraps, t);
	if (pickle_bytes_are(*name, "_rebuild_parameter") || pickle_bytes_are(*name, "_rebuild_parameter_with_state") ||
	    pickle_bytes_are(*name, "_rebuild_device_tensor_from_cpu_tensor"))
		return build_inner(f, item(args, 0), wraps, t);
	if (is_from_type(name)) {
		if (args->items.n < 3 || item(args, 2)->kind != PICKLE_TUPLE)
			return odd(f);
		return build_from_type(f, args, wraps, t);
	}
	if (pickle_bytes_are(*name, "_rebuild_sparse_tensor") || pickle_bytes_are(*name, "_rebuild_sparse_csr_tensor"))
		return torch_compose_sparse(f, args, wraps, t);
	if (pickle_bytes_are(*name, "_rebuild_meta_tensor_no_storage"))
		return build_nowhere(f, item(args, 0), item(args, 1), t);
	return odd(f);
}

bool torch_builds(value *v)
{
	value *callable, *args;

	if (v->kind != PICKLE_OBJECT)
		return false;
	callable = v->object->callable;
	args = v->object->args;
	for (unsigned wraps = 0; wraps < WRAPS_MAX; wraps++) {
		const struct pickle_bytes *name = rebuilder(callable);

		if (!name || !is_from_type(name) || args->items.n < 3 || item(args, 2)->kind != PICKLE_TUPLE)
			return name;
		callable = item(args, 0);
		args = item(args, 2);
	}
	return true;
}

int torch_build_wrapped_in(struct torch *f, value *v, unsigned wraps, struct tensor *ret)
{
	struct tensor t = { 0 };
	int r = build(f, v->object->callable, v->object->args, wraps, &t);

	if (r == 0)
		*ret = t;
	return r;
}

int torch_build(struct torch *f, value *v, struct tensor *ret)
{
	return torch_build_wrapped_in(f, v, 0, ret);
}
