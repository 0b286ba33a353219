/* Opcodes for what Python would import, call, or ask its caller for. */
#include "format/pickle_scan.h"

static int push_global(struct scan *s, struct pickle_bytes module, struct pickle_bytes name)
{
	struct pickle_value *v;
	int r = scan_new_value(s, PICKLE_GLOBAL, &v);

	if (r < 0)
		return r;
	v->global = arena_alloc(&s->pickle->arena, sizeof(*v->global));
	if (!v->global)
		return scan_no_memory(s);
	*v->global = (struct pickle_global){ module, name };
	return scan_push(s, v);
}

int scan_op_global(struct scan *s, const struct opcode *op)
{
	struct pickle_bytes module, name;
	int r = scan_take_line(s, &module);

	if (r == 0)
		r = scan_take_line(s, &name);
	return r < 0 ? r : push_global(s, module, name);
}

int scan_op_stack_global(struct scan *s, const struct opcode *op)
{
	struct pickle_value *name = scan_pop(s), *module = scan_pop(s);

	if (!module || module->kind != PICKLE_STR || name->kind != PICKLE_STR)
		return scan_misfit();
	return push_global(s, module->bytes, name->bytes);
}

static int push_object(struct scan *s, struct pickle_value *callable, struct pickle_value *args,
		       struct pickle_value *kwargs)
{
	struct pickle_value *v;
	int r;

	if (!callable || (callable->kind != PICKLE_GLOBAL && callable->kind != PICKLE_OBJECT) ||
	    args->kind != PICKLE_TUPLE || (kwargs && kwargs->kind != PICKLE_DICT))
		return scan_misfit();
	r = scan_new_value(s, PICKLE_OBJECT, &v);
	if (r < 0)
		return r;
	v->object = arena_alloc(&s->pickle->arena, sizeof(*v->object));
	if (!v->object)
		return scan_no_memory(s);
	*v->object = (struct pickle_object){ .callable = callable, .args = args, .kwargs = kwargs };
	return scan_push(s, v);
}

/* callable, args [, kwargs] */
int scan_op_call(struct scan *s, const struct opcode *op)
{
	struct pickle_value *kwargs = op->n == 3 ? scan_pop(s) : NULL, *args = scan_pop(s), *callable = scan_pop(s);

	return push_object(s, callable, args, kwargs);
}

/* OBJ: mark, class, arguments. INST: mark, arguments; the class in two lines. */
int scan_op_instance(struct scan *s, const struct opcode *op)
{
	struct pickle_value **v, *class = NULL, *args;
	size_t n;
	int r;

	if (op->n == 2) {
		r = scan_op_global(s, op);
		if (r < 0)
			return r;
		class = scan_pop(s);
	}
	r = scan_pop_mark(s, &v, &n);
	if (r < 0)
		return r;
	if (!class) {
		if (n == 0)
			return scan_misfit();
		class = *v++;
		n--;
	}
	r = scan_push_items(s, PICKLE_TUPLE, v, n);
	if (r < 0)
		return r;
	args = scan_pop(s);
	return push_object(s, class, args, NULL);
}

int scan_op_build(struct scan *s, const struct opcode *op)
{
	struct pickle_value *state = scan_pop(s), *v = scan_top(s);

	if (!v || v->kind != PICKLE_OBJECT || v->object->state)
		return scan_misfit();
	v->object->state = state;
	return 0;
}

static int push_persistent(struct scan *s)
{
	struct pickle_value *id = scan_pop(s), *v;
	int r;

	if (!id)
		return scan_misfit();
	r = scan_new_value(s, PICKLE_PERSISTENT, &v);
	if (r < 0)
		return r;
	v->persistent = id;
	return scan_push(s, v);
}

int scan_op_persistent(struct scan *s, const struct opcode *op)
{
	struct pickle_bytes b;
	int r;

	if (op->n > 0)
		return push_persistent(s);
	r = scan_take_line(s, &b);
	if (r == 0)
		r = scan_push_bytes(s, PICKLE_STR, b.p, b.len);
	return r < 0 ? r : push_persistent(s);
}
