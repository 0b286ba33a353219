#include "format/tensor_stats.h"

#include <math.h>
#include <string.h>

/* From its little-endian bytes. */
typedef double (*number_fn)(const uint8_t *p);

static uint64_t bits(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | p[n];
	return v;
}

static double float32(const uint8_t *p)
{
	uint32_t v = (uint32_t)bits(p, 4);
	float f;

	memcpy(&f, &v, sizeof(f));
	return f;
}

static double float64(const uint8_t *p)
{
	uint64_t v = bits(p, 8);
	double f;

	memcpy(&f, &v, sizeof(f));
	return f;
}

static double bfloat16(const uint8_t *p)
{
	return float32((const uint8_t[]){ 0, 0, p[0], p[1] });
}

static double float16(const uint8_t *p)
{
	unsigned v = (unsigned)bits(p, 2), exponent = v >> 10 & 31, fraction = v & 1023;
	double f = exponent == 0 ? ldexp(fraction, -24) : exponent < 31 ? ldexp(1024 + fraction, (int)exponent - 25) :
							   fraction ? NAN : INFINITY;

	return v & 0x8000 ? -f : f;
}

static double int8(const uint8_t *p)
{
	return (int8_t)p[0];
}

static double int16(const uint8_t *p)
{
	return (int16_t)bits(p, 2);
}

static double int32(const uint8_t *p)
{
	return (int32_t)bits(p, 4);
}

static double int64(const uint8_t *p)
{
	return (double)(int64_t)bits(p, 8);
}

static double uint8(const uint8_t *p)
{
	return p[0];
}

static double uint16(const uint8_t *p)
{
	return (double)bits(p, 2);
}

static double uint32(const uint8_t *p)
{
	return (double)bits(p, 4);
}

static double uint64(const uint8_t *p)
{
	return (double)bits(p, 8);
}

static const struct {
	const char *dtype;
	number_fn read;
	unsigned size; /* of a number; complex ones have two */
} types[] = {
	{ "float32", float32, 4 }, { "float64", float64, 8 }, { "float16", float16, 2 }, { "bfloat16", bfloat16, 2 },
	{ "int8", int8, 1 },	   { "int16", int16, 2 },     { "int32", int32, 4 },	 { "int64", int64, 8 },
	{ "uint8", uint8, 1 },	   { "uint16", uint16, 2 },   { "uint32", uint32, 4 },	 { "uint64", uint64, 8 },
	{ "bool", uint8, 1 },	   { "complex64", float32, 4 }, { "complex128", float64, 8 }, { "complex32", float16, 2 },
};

struct sum {
	struct tensor_stats *ret;
	number_fn read;
	unsigned size, item;
	double dot, a, b;
	tensor_stop stop;
	void *arg;
};

static void add_numbers(struct sum *s, const uint8_t *a, const uint8_t *b, size_t n)
{
	for (size_t i = 0; i < n; i += s->size) {
		double x = s->read(a + i), y = s->read(b + i);

		if (!isfinite(x) || !isfinite(y))
			continue;
		s->ret->max = fmax(s->ret->max, fabs(x - y));
		s->dot += x * y;
		s->a += x * x;
		s->b += y * y;
	}
}

static int add_pair(void *arg, const uint8_t *a, const uint8_t *b, size_t n)
{
	struct sum *s = arg;

	if (s->stop && s->stop(s->arg))
		return -ECANCELED;
	s->ret->elements += n / s->item;
	for (size_t i = 0; i < n; i += s->item)
		s->ret->changed += memcmp(a + i, b + i, s->item) != 0;
	if (s->read)
		add_numbers(s, a, b, n);
	return 0;
}

int tensor_stats(int fd_a, const struct tensor *a, int fd_b, const struct tensor *b, tensor_stop stop, void *arg,
		 struct tensor_stats *ret)
{
	struct sum s = { .ret = ret, .item = a->item, .stop = stop, .arg = arg };
	int r;

	*ret = (struct tensor_stats){ 0 };
	if (a->n_components > 0 || b->n_components > 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i].dtype, a->dtype) != 0)
			continue;
		s.read = types[i].read;
		s.size = types[i].size;
	}
	ret->numbers = s.read != NULL;
	r = tensor_contents_each(fd_a, a, fd_b, b, add_pair, &s);
	ret->cosine = s.a > 0 && s.b > 0 ? s.dot / (sqrt(s.a) * sqrt(s.b)) : NAN;
	return r;
}
