/* The stack machine inside of pickle_parse(), for the files that carry out its
 * opcodes. All functions that return int return 0 or -errno; scan_misfit() is
 * told as a fault of the opcode that is carried out. */
#ifndef EXPFS_FORMAT_PICKLE_SCAN_H
#define EXPFS_FORMAT_PICKLE_SCAN_H

#include "format/arena.h"
#include "format/pickle.h"

#define SMALL_INTS 256

struct pickle {
	struct arena arena;
	struct pickle_value *top;
	struct pickle_value none, bools[2], small[SMALL_INTS];
};

struct scan {
	struct pickle *pickle;
	const char *why;
	const uint8_t *begin, *p, *end;
	struct pickle_value **stack;
	size_t height, stack_room;
	size_t *marks;
	size_t n_marks, marks_room;
	struct pickle_value **memo;
	size_t memo_room, memo_count;
	bool stop;
};

struct opcode {
	const char *why; /* what is said where it finds not what it needs */
	int (*run)(struct scan *s, const struct opcode *op);
	unsigned n; /* bytes of its argument or of that one's length, or a count of values */
	enum pickle_kind kind;
};

/* Errors: the opcode finds not what it needs (pickle_parse() says which opcode);
 * why says it; after the arena gave NULL. */
int scan_misfit(void);
int scan_bad(struct scan *s, const char *why);
int scan_no_memory(struct scan *s);

/* The stack, of which what lies below the last mark cannot be reached. */
size_t scan_fence(const struct scan *s);
int scan_push(struct scan *s, struct pickle_value *v);
/* NULL if there is none. */
struct pickle_value *scan_top(const struct scan *s);
struct pickle_value *scan_pop(struct scan *s);
/* What lies above the last mark, which is taken away with it; valid until the
 * next push. */
int scan_pop_mark(struct scan *s, struct pickle_value ***ret, size_t *ret_n);

/* Values. The arrays given are copied. */
int scan_new_value(struct scan *s, enum pickle_kind kind, struct pickle_value **ret);
int scan_push_int(struct scan *s, int64_t n);
int scan_push_bytes(struct scan *s, enum pickle_kind kind, const uint8_t *p, size_t len);
int scan_add_items(struct scan *s, struct pickle_items *items, struct pickle_value *const *v, size_t n);
int scan_push_items(struct scan *s, enum pickle_kind kind, struct pickle_value *const *v, size_t n);
int scan_push_big(struct scan *s);
int scan_push_float(struct scan *s, double real);

/* The stream: bytes, a little-endian number of n of them (at most 8), the rest of
 * a line without its end. */
int scan_take(struct scan *s, uint64_t n, const uint8_t **ret);
int scan_take_number(struct scan *s, unsigned n, uint64_t *ret);
int scan_take_line(struct scan *s, struct pickle_bytes *ret);

/* A decimal number with a sign or without; false: it is none. One that is too
 * large sets *ret_big. */
bool scan_parse_decimal(struct pickle_bytes b, int64_t *ret, bool *ret_big);

/* Opcodes with lines, and of objects */
int scan_op_int_line(struct scan *s, const struct opcode *op);
int scan_op_float_line(struct scan *s, const struct opcode *op);
int scan_op_unicode_line(struct scan *s, const struct opcode *op);
int scan_op_string_line(struct scan *s, const struct opcode *op);
int scan_op_global(struct scan *s, const struct opcode *op);
int scan_op_stack_global(struct scan *s, const struct opcode *op);
int scan_op_call(struct scan *s, const struct opcode *op);
int scan_op_instance(struct scan *s, const struct opcode *op);
int scan_op_build(struct scan *s, const struct opcode *op);
int scan_op_persistent(struct scan *s, const struct opcode *op);

#endif
