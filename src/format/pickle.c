/* The stack machine of Python's Lib/pickle.py (and Modules/_pickle.c, which is
 * stricter), without what runs code.
 *
 * Opcodes are one byte with an argument of a fixed length, a counted one, or a
 * line. MARK remembers the height of the stack: what lies below the last mark
 * cannot be reached until that is taken away. The memo is an array, as picklers
 * number what they put there from 0 on.
 *
 * All that is built lies in an arena, strings in the stream itself except where
 * they have escapes; so nothing is freed singly, and cycles do no harm. Small
 * integers and the constants are one node each. */
#include "format/pickle.h"

#include <errno.h>
#include <string.h>

#include "format/pickle_scan.h"

/* Opcodes that push something new */

static int op_counted(struct scan *s, const struct opcode *op)
{
	const uint8_t *p;
	uint64_t len;
	int r = scan_take_number(s, op->n, &len);

	if (r == 0)
		r = scan_take(s, len, &p);
	return r < 0 ? r : scan_push_bytes(s, op->kind, p, (size_t)len);
}

static int op_none(struct scan *s, const struct opcode *op)
{
	return scan_push(s, &s->pickle->none);
}

static int op_bool(struct scan *s, const struct opcode *op)
{
	return scan_push(s, &s->pickle->bools[op->n]);
}

static int op_unsigned(struct scan *s, const struct opcode *op)
{
	uint64_t v;
	int r = scan_take_number(s, op->n, &v);

	return r < 0 ? r : scan_push_int(s, (int64_t)v);
}

static int op_int32(struct scan *s, const struct opcode *op)
{
	uint64_t v;
	int r = scan_take_number(s, 4, &v);

	return r < 0 ? r : scan_push_int(s, (int32_t)(uint32_t)v);
}

/* Two's complement, of any length. */
static int op_long(struct scan *s, const struct opcode *op)
{
	const uint8_t *p;
	uint64_t len, v;
	uint8_t sign;
	int r = scan_take_number(s, op->n, &len);

	if (r == 0)
		r = scan_take(s, len, &p);
	if (r < 0)
		return r;
	sign = len > 0 && p[len - 1] & 0x80 ? 0xff : 0;
	while (len > 8 && p[len - 1] == sign && (p[len - 2] & 0x80) == (sign & 0x80))
		len--;
	if (len > 8)
		return scan_push_big(s);
	v = sign ? UINT64_MAX : 0;
	while (len-- > 0)
		v = v << 8 | p[len];
	return scan_push_int(s, (int64_t)v);
}

static int op_float(struct scan *s, const struct opcode *op)
{
	const uint8_t *p;
	uint64_t bits = 0;
	double real;
	int r = scan_take(s, 8, &p);

	if (r < 0)
		return r;
	for (int i = 0; i < 8; i++)
		bits = bits << 8 | p[i];
	memcpy(&real, &bits, sizeof(real));
	return scan_push_float(s, real);
}

/* Containers */

/* The keys of key, value … may be keys. */
static bool hashable(struct pickle_value *const *v, size_t n)
{
	for (size_t i = 0; i < n; i += 2)
		if (v[i]->kind == PICKLE_LIST || v[i]->kind == PICKLE_DICT)
			return false;
	return n % 2 == 0;
}

static int op_empty(struct scan *s, const struct opcode *op)
{
	return scan_push_items(s, op->kind, NULL, 0);
}

/* A tuple of the op->n values on top. */
static int op_tuple(struct scan *s, const struct opcode *op)
{
	if (s->height - scan_fence(s) < op->n)
		return scan_misfit();
	s->height -= op->n;
	return scan_push_items(s, PICKLE_TUPLE, s->stack + s->height, op->n);
}

/* What lies above the mark, as one value. */
static int op_collect(struct scan *s, const struct opcode *op)
{
	struct pickle_value **v;
	size_t n;
	int r = scan_pop_mark(s, &v, &n);

	if (r < 0)
		return r;
	if (op->kind == PICKLE_DICT && !hashable(v, n))
		return scan_misfit();
	return scan_push_items(s, op->kind, v, n);
}

/* Adds op->n values, or what lies above the mark, to the value below them. */
static int op_add(struct scan *s, const struct opcode *op)
{
	struct pickle_value **v, *to;
	struct pickle_items *items;
	size_t n = op->n;
	int r;

	if (n == 0) {
		r = scan_pop_mark(s, &v, &n);
		if (r < 0)
			return r;
	} else {
		if (s->height - scan_fence(s) < n)
			return scan_misfit();
		s->height -= n;
		v = s->stack + s->height;
	}
	to = scan_top(s);
	if (!to || (op->kind == PICKLE_DICT && !hashable(v, n)))
		return scan_misfit();
	if (to->kind == op->kind)
		items = &to->items;
	else if (to->kind == PICKLE_OBJECT && op->kind != PICKLE_SET)
		items = op->kind == PICKLE_DICT ? &to->object->dict : &to->object->list;
	else
		return scan_misfit();
	return scan_add_items(s, items, v, n);
}

/* The memo */

static int take_key(struct scan *s, const struct opcode *op, uint64_t *ret)
{
	struct pickle_bytes b;
	int64_t key;
	bool big;
	int r;

	if (op->n > 0)
		return scan_take_number(s, op->n, ret);
	r = scan_take_line(s, &b);
	if (r < 0)
		return r;
	if (!scan_parse_decimal(b, &key, &big) || big || key < 0)
		return scan_misfit();
	*ret = (uint64_t)key;
	return 0;
}

static int op_get(struct scan *s, const struct opcode *op)
{
	uint64_t key;
	int r = take_key(s, op, &key);

	if (r < 0)
		return r;
	if (key >= s->memo_room || !s->memo[key])
		return scan_misfit();
	return scan_push(s, s->memo[key]);
}

static int memo_put(struct scan *s, uint64_t key)
{
	struct pickle_value *v = scan_top(s);

	/* No pickler has put as many things there as its stream has bytes. */
	if (!v || key >= (uint64_t)(s->end - s->begin))
		return scan_misfit();
	if (key >= s->memo_room) {
		size_t room = MAX(2 * s->memo_room, (size_t)key + 1);
		struct pickle_value **grown = arena_array(&s->pickle->arena, room, sizeof(v));

		if (!grown)
			return scan_no_memory(s);
		if (s->memo_room > 0)
			memcpy(grown, s->memo, s->memo_room * sizeof(v));
		memset(grown + s->memo_room, 0, (room - s->memo_room) * sizeof(v));
		s->memo = grown;
		s->memo_room = room;
	}
	s->memo_count += !s->memo[key];
	s->memo[key] = v;
	return 0;
}

static int op_put(struct scan *s, const struct opcode *op)
{
	uint64_t key;
	int r = take_key(s, op, &key);

	return r < 0 ? r : memo_put(s, key);
}

static int op_memoize(struct scan *s, const struct opcode *op)
{
	return memo_put(s, s->memo_count);
}

/* The rest */

static int op_mark(struct scan *s, const struct opcode *op)
{
	size_t *grown = arena_grow(&s->pickle->arena, s->marks, s->n_marks, &s->marks_room, sizeof(*grown));

	if (!grown)
		return scan_no_memory(s);
	s->marks = grown;
	s->marks[s->n_marks++] = s->height;
	return 0;
}

/* Takes away the value on top, or the mark if that is on top. */
static int op_pop(struct scan *s, const struct opcode *op)
{
	if (scan_pop(s))
		return 0;
	if (s->n_marks == 0)
		return scan_misfit();
	s->n_marks--;
	return 0;
}

static int op_pop_mark(struct scan *s, const struct opcode *op)
{
	struct pickle_value **v;
	size_t n;

	return scan_pop_mark(s, &v, &n);
}

static int op_dup(struct scan *s, const struct opcode *op)
{
	return scan_top(s) ? scan_push(s, scan_top(s)) : scan_misfit();
}

static int op_protocol(struct scan *s, const struct opcode *op)
{
	uint64_t protocol;
	int r = scan_take_number(s, 1, &protocol);

	if (r < 0)
		return r;
	return protocol <= 5 ? 0 : scan_bad(s, "pickle of a protocol after 5");
}

/* Frames tell readers of streams how much to read ahead. */
static int op_frame(struct scan *s, const struct opcode *op)
{
	uint64_t len;
	int r = scan_take_number(s, 8, &len);

	if (r < 0)
		return r;
	return len <= (uint64_t)(s->end - s->p) ? 0 : scan_bad(s, "pickle that ends too early");
}

static int op_outside(struct scan *s, const struct opcode *op)
{
	return scan_bad(s, op->why);
}

static int op_stop(struct scan *s, const struct opcode *op)
{
	s->pickle->top = scan_pop(s);
	if (!s->pickle->top)
		return scan_misfit();
	s->stop = true;
	return 0;
}

#define OP(name, ...) { "pickle opcode " #name " that does not fit", __VA_ARGS__ }

static const struct opcode opcodes[256] = {
	['('] = OP(MARK, op_mark),
	['.'] = OP(STOP, op_stop),
	['0'] = OP(POP, op_pop),
	['1'] = OP(POP_MARK, op_pop_mark),
	['2'] = OP(DUP, op_dup),
	['F'] = OP(FLOAT, scan_op_float_line),
	['I'] = OP(INT, scan_op_int_line, .kind = PICKLE_BOOL),
	['J'] = OP(BININT, op_int32),
	['K'] = OP(BININT1, op_unsigned, 1),
	['M'] = OP(BININT2, op_unsigned, 2),
	['L'] = OP(LONG, scan_op_int_line, .kind = PICKLE_BIG_INT),
	['N'] = OP(NONE, op_none),
	['P'] = OP(PERSID, scan_op_persistent),
	['Q'] = OP(BINPERSID, scan_op_persistent, 1),
	['R'] = OP(REDUCE, scan_op_call, 2),
	['S'] = OP(STRING, scan_op_string_line),
	['T'] = OP(BINSTRING, op_counted, 4, PICKLE_STR),
	['U'] = OP(SHORT_BINSTRING, op_counted, 1, PICKLE_STR),
	['V'] = OP(UNICODE, scan_op_unicode_line),
	['X'] = OP(BINUNICODE, op_counted, 4, PICKLE_STR),
	['a'] = OP(APPEND, op_add, 1, PICKLE_LIST),
	['b'] = OP(BUILD, scan_op_build),
	['c'] = OP(GLOBAL, scan_op_global),
	['d'] = OP(DICT, op_collect, .kind = PICKLE_DICT),
	['}'] = OP(EMPTY_DICT, op_empty, .kind = PICKLE_DICT),
	['e'] = OP(APPENDS, op_add, 0, PICKLE_LIST),
	['g'] = OP(GET, op_get),
	['h'] = OP(BINGET, op_get, 1),
	['j'] = OP(LONG_BINGET, op_get, 4),
	['i'] = OP(INST, scan_op_instance, 2),
	['l'] = OP(LIST, op_collect, .kind = PICKLE_LIST),
	[']'] = OP(EMPTY_LIST, op_empty, .kind = PICKLE_LIST),
	['o'] = OP(OBJ, scan_op_instance),
	['p'] = OP(PUT, op_put),
	['q'] = OP(BINPUT, op_put, 1),
	['r'] = OP(LONG_BINPUT, op_put, 4),
	['s'] = OP(SETITEM, op_add, 2, PICKLE_DICT),
	['t'] = OP(TUPLE, op_collect, .kind = PICKLE_TUPLE),
	[')'] = OP(EMPTY_TUPLE, op_tuple, 0),
	['u'] = OP(SETITEMS, op_add, 0, PICKLE_DICT),
	['G'] = OP(BINFLOAT, op_float),
	/* protocol 2 */
	[0x80] = OP(PROTO, op_protocol),
	[0x81] = OP(NEWOBJ, scan_op_call, 2),
	[0x82] = { "pickle opcode EXT1, of the extension registry", op_outside },
	[0x83] = { "pickle opcode EXT2, of the extension registry", op_outside },
	[0x84] = { "pickle opcode EXT4, of the extension registry", op_outside },
	[0x85] = OP(TUPLE1, op_tuple, 1),
	[0x86] = OP(TUPLE2, op_tuple, 2),
	[0x87] = OP(TUPLE3, op_tuple, 3),
	[0x88] = OP(NEWTRUE, op_bool, 1),
	[0x89] = OP(NEWFALSE, op_bool, 0),
	[0x8a] = OP(LONG1, op_long, 1),
	[0x8b] = OP(LONG4, op_long, 4),
	/* protocol 3 */
	['B'] = OP(BINBYTES, op_counted, 4, PICKLE_BYTES),
	['C'] = OP(SHORT_BINBYTES, op_counted, 1, PICKLE_BYTES),
	/* protocol 4 */
	[0x8c] = OP(SHORT_BINUNICODE, op_counted, 1, PICKLE_STR),
	[0x8d] = OP(BINUNICODE8, op_counted, 8, PICKLE_STR),
	[0x8e] = OP(BINBYTES8, op_counted, 8, PICKLE_BYTES),
	[0x8f] = OP(EMPTY_SET, op_empty, .kind = PICKLE_SET),
	[0x90] = OP(ADDITEMS, op_add, 0, PICKLE_SET),
	[0x91] = OP(FROZENSET, op_collect, .kind = PICKLE_SET),
	[0x92] = OP(NEWOBJ_EX, scan_op_call, 3),
	[0x93] = OP(STACK_GLOBAL, scan_op_stack_global),
	[0x94] = OP(MEMOIZE, op_memoize),
	[0x95] = OP(FRAME, op_frame),
	/* protocol 5 */
	[0x96] = OP(BYTEARRAY8, op_counted, 8, PICKLE_BYTES),
	[0x97] = { "pickle opcode NEXT_BUFFER, of an out-of-band buffer", op_outside },
	[0x98] = { "pickle opcode READONLY_BUFFER, of an out-of-band buffer", op_outside },
};

static int run(struct scan *s)
{
	while (!s->stop) {
		const struct opcode *op;
		const uint8_t *p;
		int r = scan_take(s, 1, &p);

		if (r < 0)
			return r;
		op = &opcodes[*p];
		if (!op->run)
			return scan_bad(s, "pickle opcode that is not known");
		r = op->run(s, op);
		if (r == -EBADMSG && !s->why)
			return scan_bad(s, op->why);
		if (r < 0)
			return r;
	}
	return 0;
}

int pickle_parse(const uint8_t *p, size_t n, struct pickle **ret, const char **ret_why)
{
	_cleanup_pickle_ struct pickle *pickle = calloc(1, sizeof(*pickle));
	struct scan s = { .pickle = pickle, .begin = p, .p = p, .end = p + n };
	int r;

	*ret_why = NULL;
	if (!pickle)
		return -ENOMEM;
	if (n > PICKLE_MAX) {
		*ret_why = "pickle over 32 MiB";
		return -EBADMSG;
	}
	pickle->arena.limit = PICKLE_MEMORY_MAX - n;
	for (int i = 0; i < 2; i++)
		pickle->bools[i] = (struct pickle_value){ .kind = PICKLE_BOOL, .integer = i };
	for (int i = 0; i < SMALL_INTS; i++)
		pickle->small[i] = (struct pickle_value){ .kind = PICKLE_INT, .integer = i };
	s.stack = arena_grow(&pickle->arena, NULL, 0, &s.stack_room, sizeof(*s.stack)); /* so that it is never NULL */
	r = s.stack ? run(&s) : -ENOMEM;
	*ret_why = s.why;
	if (r < 0)
		return r;
	*ret = steal(&pickle);
	return 0;
}

void pickle_free(struct pickle *p)
{
	if (!p)
		return;
	arena_clear(&p->arena);
	free(p);
}

const struct pickle_value *pickle_top(const struct pickle *p)
{
	return p->top;
}

bool pickle_bytes_are(struct pickle_bytes b, const char *text)
{
	return b.len == strlen(text) && memcmp(b.p, text, b.len) == 0;
}

bool pickle_is_str(const struct pickle_value *v, const char *text)
{
	return v->kind == PICKLE_STR && pickle_bytes_are(v->bytes, text);
}

const struct pickle_bytes *pickle_name_in(const struct pickle_value *v, const char *module)
{
	if (v->kind != PICKLE_GLOBAL || !pickle_bytes_are(v->global->module, module))
		return NULL;
	return &v->global->name;
}

const struct pickle_items *pickle_entries(const struct pickle_value *v)
{
	if (v->kind == PICKLE_DICT)
		return &v->items;
	return v->kind == PICKLE_OBJECT && v->object->dict.n > 0 ? &v->object->dict : NULL;
}

const struct pickle_value *pickle_find(const struct pickle_value *v, const char *key)
{
	const struct pickle_items *entries = pickle_entries(v);

	for (uint32_t i = 0; entries && i < entries->n; i += 2)
		if (pickle_is_str(entries->v[i], key))
			return entries->v[i + 1];
	return NULL;
}
