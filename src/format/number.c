/* int(), float() and repr() of Python. */
#include "format/number.h"

#include <float.h>
#include <math.h>
#include <openssl/bn.h>
#include <stdio.h>
#include <string.h>

#include "util/util.h"

/* More of these are more than NUMBER_DIGITS_MAX decimal ones, in any base. */
#define BITS_MAX 14288u
#define PARTS_MAX 14u /* up to there powers of 60 are exact in a double */

static void cleanup_bn(BIGNUM **bn)
{
	BN_free(*bn);
}

static void cleanup_openssl(char **text)
{
	OPENSSL_free(*text);
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f');
}

static void strip(const char **text, size_t *len)
{
	while (*len && is_space((*text)[*len - 1]))
		--*len;
	while (*len && is_space(**text)) {
		++*text;
		--*len;
	}
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool has_prefix(const char *text, size_t len, int base)
{
	char c = base == 2 ? 'b' : base == 8 ? 'o' : 'x';

	return base != 10 && len >= 2 && text[0] == '0' && (text[1] | 0x20) == c;
}

/* Digits only, no leading zeros. */
static int read_digits(const char *text, size_t len, int base, BIGNUM *bn)
{
	unsigned bits = base == 16 ? 4 : base == 8 ? 3 : 1;

	if (base == 10 ? len > NUMBER_DIGITS_MAX : len * bits > BITS_MAX + 3)
		return -ERANGE;
	BN_zero(bn);
	for (size_t i = 0; i < len;) { /* as many digits at once as a word has room for */
		BN_ULONG scale = 1, word = 0;

		for (; i < len && scale <= UINT32_MAX / 16; i++) {
			scale *= (BN_ULONG)base;
			word = word * (BN_ULONG)base + (BN_ULONG)digit(text[i]);
		}
		if (!BN_mul_word(bn, scale) || !BN_add_word(bn, word))
			return -ENOMEM;
	}
	return 0;
}

static int decimal(const BIGNUM *bn, char **ret)
{
	_cleanup_(cleanup_openssl) char *text = NULL;
	char *copy;

	if (BN_num_bits(bn) > (int)BITS_MAX)
		return -ERANGE;
	text = BN_bn2dec(bn);
	if (!text)
		return -ENOMEM;
	if (strlen(text) > NUMBER_DIGITS_MAX + (size_t)(text[0] == '-'))
		return -ERANGE;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

/* Sign and digits of what int() would take; the digits may be none for 0. */
static int split(const char **text, size_t *len, int base, bool *ret_negative)
{
	strip(text, len);
	*ret_negative = *len && **text == '-';
	if (*len && (**text == '-' || **text == '+')) {
		++*text;
		--*len;
	}
	if (has_prefix(*text, *len, base)) {
		*text += 2;
		*len -= 2;
	}
	if (*len == 0)
		return -EINVAL;
	for (size_t i = 0; i < *len; i++)
		if (digit((*text)[i]) >= base)
			return -EINVAL;
	if (base == 10 && *len > NUMBER_DIGITS_MAX)
		return -ERANGE;
	while (*len && **text == '0') {
		++*text;
		--*len;
	}
	return 0;
}

int number_int(const char *text, size_t len, int base, char **ret)
{
	_cleanup_(cleanup_bn) BIGNUM *bn = NULL;
	bool negative;
	char *copy;
	int r = split(&text, &len, base, &negative);

	if (r < 0)
		return r;
	if (base == 10) {
		if (asprintf(&copy, "%s%.*s", negative && len ? "-" : "", len ? (int)len : 1, len ? text : "0") < 0)
			return -ENOMEM;
		*ret = copy;
		return 0;
	}
	bn = BN_new();
	r = bn ? read_digits(text, len, base, bn) : -ENOMEM;
	if (r < 0)
		return r;
	BN_set_negative(bn, negative);
	return decimal(bn, ret);
}

/* The part up to the next colon or the end. */
static size_t part(const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);

	return colon ? (size_t)(colon - text) : len;
}

static int add_part(BIGNUM *sum, const char *text, size_t len)
{
	_cleanup_(cleanup_bn) BIGNUM *bn = BN_new();
	bool negative;
	int r = split(&text, &len, 10, &negative);

	if (r == 0)
		r = bn ? read_digits(text, len, 10, bn) : -ENOMEM;
	if (r < 0)
		return r;
	BN_set_negative(bn, negative);
	return BN_mul_word(sum, 60) && BN_add(sum, sum, bn) ? 0 : -ENOMEM;
}

int number_int_sexagesimal(const char *text, size_t len, char **ret)
{
	_cleanup_(cleanup_bn) BIGNUM *sum = BN_new();
	unsigned parts = 0;

	if (!sum)
		return -ENOMEM;
	for (size_t n;; text += n + 1, len -= n + 1) {
		int r;

		n = part(text, len);
		if (++parts > PARTS_MAX)
			return -ERANGE;
		r = add_part(sum, text, n);
		if (r < 0)
			return r;
		if (n == len)
			return decimal(sum, ret);
	}
}

static size_t digits(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[n] >= '0' && text[n] <= '9')
		n++;
	return n;
}

/* [0-9]* [.[0-9]*] [e[+-][0-9]+], with a digit before the e. */
static bool is_decimal(const char *text, size_t len)
{
	size_t n = digits(text, len), count = n;

	if (n < len && text[n] == '.') {
		size_t more = digits(text + n + 1, len - n - 1);

		n += more + 1;
		count += more;
	}
	if (count == 0)
		return false;
	if (n < len && (text[n] | 0x20) == 'e') {
		n++;
		n += n < len && (text[n] == '+' || text[n] == '-');
		count = digits(text + n, len - n);
		n += count;
	}
	return count > 0 && n == len;
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && strncasecmp(text, word, len) == 0;
}

int number_float(const char *text, size_t len, double *ret)
{
	_cleanup_free_ char *copy = NULL;
	bool negative;
	double d;

	strip(&text, &len);
	negative = len && *text == '-';
	if (len && (*text == '-' || *text == '+')) {
		text++;
		len--;
	}
	if (is_word(text, len, "inf") || is_word(text, len, "infinity")) {
		d = INFINITY;
	} else if (is_word(text, len, "nan")) {
		d = NAN;
	} else if (is_decimal(text, len)) {
		copy = strndup(text, len);
		if (!copy)
			return -ENOMEM;
		d = strtod(copy, NULL);
	} else {
		return -EINVAL;
	}
	*ret = negative ? -d : d;
	return 0;
}

int number_float_sexagesimal(const char *text, size_t len, double *ret)
{
	double parts[PARTS_MAX], sum = 0, base = 1;
	unsigned count = 0;

	for (size_t n;; text += n + 1, len -= n + 1) {
		int r;

		n = part(text, len);
		if (count == PARTS_MAX)
			return -ERANGE;
		r = number_float(text, n, &parts[count++]);
		if (r < 0)
			return r;
		if (n == len)
			break;
	}
	while (count > 0) { /* in Python's order, for the rounding's sake */
		sum += parts[--count] * base;
		base *= 60;
	}
	*ret = sum;
	return 0;
}

/* Adds one in the last place of "d.ddde…". */
static void step_up(char *text)
{
	for (char *p = strchr(text, 'e') - 1; p >= text; p--) {
		if (*p == '.')
			continue;
		if (*p != '9') {
			++*p;
			return;
		}
		*p = '0';
	}
}

/* The shortest "d.ddde±xx" of a finite positive number. Fifteen digits tell all
 * decimals of so many apart, so that fewer come out as zeros at their end; only
 * a subnormal may have less precision than that. Below a power of two doubles
 * lie closer than above it: there the nearest decimal of some digits may be
 * another double's, and the one above it be this one's. */
static void shortest(double number, char text[NUMBER_REPR_SIZE])
{
	int exponent;
	bool power = frexp(number, &exponent) == 0.5;

	for (int places = number < DBL_MIN ? 0 : 14; places < 17; places++) {
		snprintf(text, NUMBER_REPR_SIZE, "%.*e", places, number);
		if (strtod(text, NULL) == number)
			return;
		if (!power)
			continue;
		step_up(text);
		if (strtod(text, NULL) == number)
			return;
	}
}

void number_repr(double number, char ret[NUMBER_REPR_SIZE])
{
	char text[NUMBER_REPR_SIZE], all[NUMBER_REPR_SIZE], *e, *p = ret;
	int exponent, count = 0;

	if (isnan(number)) {
		strcpy(ret, "NaN");
		return;
	}
	if (signbit(number))
		*p++ = '-';
	number = fabs(number);
	if (isinf(number) || number == 0) {
		strcpy(p, number == 0 ? "0.0" : "Infinity");
		return;
	}
	shortest(number, text);
	e = strchr(text, 'e');
	exponent = atoi(e + 1);
	for (const char *q = text; q < e; q++)
		if (*q != '.')
			all[count++] = *q;
	while (count > 1 && all[count - 1] == '0')
		count--;
	if (exponent < -4 || exponent >= 16)
		sprintf(p, "%c%s%.*se%+03d", all[0], count > 1 ? "." : "", count - 1, all + 1, exponent);
	else if (exponent < 0)
		sprintf(p, "0.%.*s%.*s", -exponent - 1, "0000", count, all);
	else if (count > exponent + 1)
		sprintf(p, "%.*s.%.*s", exponent + 1, all, count - exponent - 1, all + exponent + 1);
	else
		sprintf(p, "%.*s%.*s.0", count, all, exponent + 1 - count, "0000000000000000");
}
