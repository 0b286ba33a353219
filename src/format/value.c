/* Documents of values: their memory, the order of keys, the text. */
#include "format/value.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/number.h"

#define CHUNK_SIZE 65536u

struct value_chunk {
	struct value_chunk *next;
	size_t used, size;
	max_align_t bytes[];
};

void value_document_clear(struct value_document *d)
{
	while (d->chunks) {
		struct value_chunk *next = d->chunks->next;

		free(d->chunks);
		d->chunks = next;
	}
}

void *value_alloc(struct value_document *d, size_t size)
{
	struct value_chunk *c = d->chunks;
	void *p;

	size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (!c || size > c->size - c->used) {
		size_t n = MAX(size, CHUNK_SIZE);

		c = malloc(sizeof(*c) + n);
		if (!c)
			return NULL;
		c->used = 0;
		c->size = n;
		c->next = d->chunks;
		d->chunks = c;
	}
	p = (char *)c->bytes + c->used;
	c->used += size;
	return p;
}

int value_fail(struct value_document *d, size_t line, const char *fmt, ...)
{
	va_list ap;
	int n = line ? snprintf(d->error, sizeof(d->error), "line %zu: ", line) : 0;

	va_start(ap, fmt);
	vsnprintf(d->error + n, sizeof(d->error) - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int value_count(struct value_document *d, size_t n)
{
	if (n > VALUE_COUNT_MAX - d->count)
		return value_fail(d, 0, "more than %u values", VALUE_COUNT_MAX);
	d->count += n;
	return 0;
}

int value_new(struct value_document *d, size_t line, struct value **ret)
{
	struct value *v;
	int r = value_count(d, 1);

	if (r < 0)
		return r;
	v = value_alloc(d, sizeof(*v));
	if (!v)
		return -ENOMEM;
	*v = (struct value){ .kind = VALUE_NULL, .line = (uint32_t)line };
	*ret = v;
	return 0;
}

int value_set_text(struct value_document *d, struct value *v, enum value_kind kind, const char *text, size_t len)
{
	char *copy = value_alloc(d, len + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, len);
	copy[len] = 0;
	v->kind = (uint8_t)kind;
	v->text = copy;
	v->count = len;
	return 0;
}

int value_push(struct value_stack *s, struct value *child)
{
	if (s->count == s->size) {
		size_t size = MAX(2 * s->size, (size_t)64);
		struct value **more = reallocarray(s->values, size, sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->values = more;
		s->size = size;
	}
	s->values[s->count++] = child;
	return 0;
}

int value_pop(struct value_document *d, struct value_stack *s, size_t base, struct value *v)
{
	size_t n = s->count - base;

	v->items = value_alloc(d, n * sizeof(*v->items));
	if (!v->items)
		return -ENOMEM;
	if (n > 0) /* two pointers are a pair */
		memcpy(v->items, s->values + base, n * sizeof(*v->items));
	v->count = v->kind == VALUE_MAP ? n / 2 : n;
	s->count = base;
	return 0;
}

static const char *int_text(const struct value *v)
{
	if (v->kind == VALUE_BOOL)
		return v->truth ? "1" : "0";
	return v->text;
}

static int compare_ints(const char *a, const char *b)
{
	bool negative = *a == '-';
	size_t la, lb;
	int c;

	if (negative != (*b == '-'))
		return negative ? -1 : 1;
	la = strlen(a);
	lb = strlen(b);
	c = la != lb ? (la < lb ? -1 : 1) : strcmp(a, b);
	return negative ? -c : c;
}

/* Exact, where a conversion to double would round. */
static int compare_int_float(const char *a, double b)
{
	char whole[512];
	int c;

	if (isinf(b))
		return b < 0 ? 1 : -1;
	snprintf(whole, sizeof(whole), "%.0f", trunc(b));
	c = compare_ints(a, strcmp(whole, "-0") ? whole : "0");
	if (c != 0 || b == trunc(b))
		return c;
	return b < 0 ? 1 : -1;
}

/* Of keys that compare: numbers, or strings. */
static int compare_keys(const struct value *a, const struct value *b)
{
	int c;

	if (a->kind == VALUE_STRING) {
		c = memcmp(a->text, b->text, MIN(a->count, b->count));
		return c ? c : a->count < b->count ? -1 : a->count > b->count;
	}
	if (a->kind == VALUE_FLOAT && b->kind == VALUE_FLOAT)
		return a->number < b->number ? -1 : a->number > b->number;
	if (a->kind == VALUE_FLOAT)
		return -compare_int_float(int_text(b), a->number);
	if (b->kind == VALUE_FLOAT)
		return compare_int_float(int_text(a), b->number);
	return compare_ints(int_text(a), int_text(b));
}

/* By key, and as they stood where keys are equal. */
static int compare_pairs(const void *pa, const void *pb)
{
	const struct value_pair *const *a = pa, *const *b = pb;
	int c = compare_keys((*a)->key, (*b)->key);

	return c ? c : *a < *b ? -1 : *a > *b;
}

static bool is_number(const struct value *v)
{
	return v->kind == VALUE_BOOL || v->kind == VALUE_INT || v->kind == VALUE_FLOAT;
}

static int check_keys(struct value_document *d, const struct value *map)
{
	const struct value *first = map->count ? map->pairs[0].key : NULL;

	for (size_t i = 0; i < map->count; i++) {
		const struct value *key = map->pairs[i].key;

		if (key->kind != VALUE_NULL && key->kind != VALUE_STRING && !is_number(key))
			return value_fail(d, key->line, "a key that is no string, number, boolean or null");
		if (key->kind != first->kind && !(is_number(key) && is_number(first)))
			return value_fail(d, key->line, "a key of another type than those beside it");
		if (map->count > 1 && key->kind == VALUE_FLOAT && isnan(key->number))
			return value_fail(d, key->line, "a key that is not a number, beside others");
	}
	return 0;
}

int value_sort(struct value_document *d, struct value *map)
{
	_cleanup_free_ struct value_pair **order = NULL;
	struct value_pair *sorted;
	size_t count = 0;
	int r = check_keys(d, map);

	if (r < 0 || map->count < 2)
		return r;
	order = calloc(map->count, sizeof(*order));
	sorted = value_alloc(d, map->count * sizeof(*sorted));
	if (!order || !sorted)
		return -ENOMEM;
	for (size_t i = 0; i < map->count; i++)
		order[i] = &map->pairs[i];
	if (map->pairs[0].key->kind != VALUE_NULL)
		qsort(order, map->count, sizeof(*order), compare_pairs);
	for (size_t i = 0; i < map->count; i++) {
		const struct value *key = order[i]->key;

		/* of equal keys the first stays, with the last one's value */
		if (count && (key->kind == VALUE_NULL || compare_keys(sorted[count - 1].key, key) == 0))
			sorted[count - 1].value = order[i]->value;
		else
			sorted[count++] = *order[i];
	}
	map->pairs = sorted;
	map->count = count;
	return 0;
}

int value_put(struct value_buffer *b, const char *text, size_t len)
{
	if (len > b->max - b->len)
		return -E2BIG;
	if (b->len + len >= b->size) {
		size_t size = MAX(2 * b->size, b->len + len + 1024);
		char *more = realloc(b->text, size);

		if (!more)
			return -ENOMEM;
		b->text = more;
		b->size = size;
	}
	memcpy(b->text + b->len, text, len);
	b->len += len;
	b->text[b->len] = 0;
	return 0;
}

/* The code point at p, of UTF-8 that is known to be good. */
static uint32_t code_point(const unsigned char **p)
{
	uint32_t c = *(*p)++;
	int more = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;

	if (more)
		c &= 0x3fu >> more;
	while (more--)
		c = c << 6 | (*(*p)++ & 0x3fu);
	return c;
}

static int put_escape(struct value_buffer *b, uint32_t c)
{
	static const char from[] = "\"\\\n\r\t\f\b", to[] = "\"\\nrtfb";
	const char *at = c && c < 0x80 ? strchr(from, (int)c) : NULL;
	char text[16];
	int n;

	if (at)
		n = snprintf(text, sizeof(text), "\\%c", to[at - from]);
	else if (c < 0x10000)
		n = snprintf(text, sizeof(text), "\\u%04x", c);
	else
		n = snprintf(text, sizeof(text), "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
	return value_put(b, text, (size_t)n);
}

int value_put_string(struct value_buffer *b, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + len;
	int r = value_put(b, "\"", 1);

	while (r == 0 && p < end) {
		const unsigned char *q = p;

		while (q < end && *q >= ' ' && *q < 0x7f && *q != '"' && *q != '\\')
			q++;
		r = value_put(b, (const char *)p, (size_t)(q - p));
		p = q;
		if (r == 0 && p < end)
			r = put_escape(b, code_point(&p));
	}
	return r == 0 ? value_put(b, "\"", 1) : r;
}

static int put_scalar(struct value_buffer *b, const struct value *v)
{
	char repr[NUMBER_REPR_SIZE];

	switch (v->kind) {
	case VALUE_NULL:
		return value_put(b, "null", 4);
	case VALUE_BOOL:
		return value_put(b, v->truth ? "true" : "false", v->truth ? 4 : 5);
	case VALUE_INT:
		return value_put(b, v->text, v->count);
	case VALUE_FLOAT:
		number_repr(v->number, repr);
		return value_put(b, repr, strlen(repr));
	default:
		return value_put_string(b, v->text, v->count);
	}
}

static int put_key(struct value_buffer *b, const struct value *key)
{
	int r;

	if (key->kind == VALUE_STRING)
		return value_put_string(b, key->text, key->count);
	r = value_put(b, "\"", 1);
	if (r == 0)
		r = put_scalar(b, key);
	return r == 0 ? value_put(b, "\"", 1) : r;
}

enum { SORTED = 0xfe, OPEN = 0xff };

static int put_value(struct value_document *d, struct value_buffer *b, struct value *v, unsigned depth);

static int put_inside(struct value_document *d, struct value_buffer *b, struct value *v, unsigned depth)
{
	bool map = v->kind == VALUE_MAP;
	int r = value_put(b, map ? "{" : "[", 1);

	for (size_t i = 0; r == 0 && i < v->count; i++) {
		if (i > 0)
			r = value_put(b, ", ", 2);
		if (r == 0 && map)
			r = put_key(b, v->pairs[i].key);
		if (r == 0 && map)
			r = value_put(b, ": ", 2);
		if (r == 0)
			r = put_value(d, b, map ? v->pairs[i].value : v->items[i], depth);
	}
	return r == 0 ? value_put(b, map ? "}" : "]", 1) : r;
}

static int put_value(struct value_document *d, struct value_buffer *b, struct value *v, unsigned depth)
{
	int r;

	if (v->kind != VALUE_LIST && v->kind != VALUE_MAP)
		return put_scalar(b, v);
	if (v->state == OPEN)
		return value_fail(d, v->line, "lies in itself");
	if (depth == VALUE_DEPTH_MAX)
		return value_fail(d, v->line, "nested deeper than %u", VALUE_DEPTH_MAX);
	if (v->kind == VALUE_MAP && v->state != SORTED) {
		r = value_sort(d, v);
		if (r < 0)
			return r;
	}
	v->state = OPEN;
	r = put_inside(d, b, v, depth + 1);
	v->state = SORTED;
	return r;
}

int value_put_text(struct value_document *d, struct value_buffer *b, struct value *v)
{
	return put_value(d, b, v, 0);
}
