#include "format/pickle_scan.h"

#include <errno.h>
#include <string.h>

int scan_misfit(void)
{
	return -EBADMSG;
}

int scan_bad(struct scan *s, const char *why)
{
	s->why = why;
	return -EBADMSG;
}

int scan_no_memory(struct scan *s)
{
	return s->pickle->arena.over ? scan_bad(s, "pickle that unfolds to too much") : -ENOMEM;
}

/* The stack */

size_t scan_fence(const struct scan *s)
{
	return s->n_marks ? s->marks[s->n_marks - 1] : 0;
}

int scan_push(struct scan *s, struct pickle_value *v)
{
	struct pickle_value **grown = arena_grow(&s->pickle->arena, s->stack, s->height, &s->stack_room, sizeof(v));

	if (!grown)
		return scan_no_memory(s);
	s->stack = grown;
	s->stack[s->height++] = v;
	return 0;
}

struct pickle_value *scan_top(const struct scan *s)
{
	return s->height > scan_fence(s) ? s->stack[s->height - 1] : NULL;
}

struct pickle_value *scan_pop(struct scan *s)
{
	struct pickle_value *v = scan_top(s);

	if (v)
		s->height--;
	return v;
}

int scan_pop_mark(struct scan *s, struct pickle_value ***ret, size_t *ret_n)
{
	size_t base;

	if (s->n_marks == 0)
		return scan_misfit();
	base = s->marks[--s->n_marks];
	*ret = s->stack + base;
	*ret_n = s->height - base;
	s->height = base;
	return 0;
}

/* Values */

int scan_new_value(struct scan *s, enum pickle_kind kind, struct pickle_value **ret)
{
	struct pickle_value *v = arena_alloc(&s->pickle->arena, sizeof(*v));

	if (!v)
		return scan_no_memory(s);
	*v = (struct pickle_value){ .kind = kind };
	*ret = v;
	return 0;
}

int scan_push_int(struct scan *s, int64_t n)
{
	struct pickle_value *v;
	int r;

	if (n >= 0 && n < SMALL_INTS)
		return scan_push(s, &s->pickle->small[n]);
	r = scan_new_value(s, PICKLE_INT, &v);
	if (r < 0)
		return r;
	v->integer = n;
	return scan_push(s, v);
}

int scan_push_bytes(struct scan *s, enum pickle_kind kind, const uint8_t *p, size_t len)
{
	struct pickle_value *v;
	int r = scan_new_value(s, kind, &v);

	if (r < 0)
		return r;
	v->bytes = (struct pickle_bytes){ p, len };
	return scan_push(s, v);
}

int scan_add_items(struct scan *s, struct pickle_items *items, struct pickle_value *const *v, size_t n)
{
	if (n > items->room - items->n) {
		size_t room = items->room ? MAX(2 * (size_t)items->room, items->n + n) : n;
		struct pickle_value **grown = arena_array(&s->pickle->arena, room, sizeof(*v));

		if (!grown)
			return scan_no_memory(s);
		if (items->n > 0)
			memcpy(grown, items->v, items->n * sizeof(*v));
		items->v = grown;
		items->room = (uint32_t)room; /* the arena holds less than 2^32 of them */
	}
	if (n > 0)
		memcpy(items->v + items->n, v, n * sizeof(*v));
	items->n += (uint32_t)n;
	return 0;
}

int scan_push_items(struct scan *s, enum pickle_kind kind, struct pickle_value *const *v, size_t n)
{
	struct pickle_value *c;
	int r = scan_new_value(s, kind, &c);

	if (r == 0)
		r = scan_add_items(s, &c->items, v, n);
	return r < 0 ? r : scan_push(s, c);
}

int scan_push_big(struct scan *s)
{
	struct pickle_value *v;
	int r = scan_new_value(s, PICKLE_BIG_INT, &v);

	return r < 0 ? r : scan_push(s, v);
}

int scan_push_float(struct scan *s, double real)
{
	struct pickle_value *v;
	int r = scan_new_value(s, PICKLE_FLOAT, &v);

	if (r < 0)
		return r;
	v->real = real;
	return scan_push(s, v);
}

/* The stream */

int scan_take(struct scan *s, uint64_t n, const uint8_t **ret)
{
	if (n > (uint64_t)(s->end - s->p))
		return scan_bad(s, "pickle that ends too early");
	*ret = s->p;
	s->p += n;
	return 0;
}

int scan_take_number(struct scan *s, unsigned n, uint64_t *ret)
{
	const uint8_t *p;
	uint64_t v = 0;
	int r = scan_take(s, n, &p);

	if (r < 0)
		return r;
	while (n-- > 0)
		v = v << 8 | p[n];
	*ret = v;
	return 0;
}

int scan_take_line(struct scan *s, struct pickle_bytes *ret)
{
	const uint8_t *p = s->p, *nl = memchr(p, '\n', (size_t)(s->end - p));

	if (!nl)
		return scan_bad(s, "pickle that ends too early");
	s->p = nl + 1;
	*ret = (struct pickle_bytes){ p, (size_t)(nl - p) };
	return 0;
}
