#include "format/structure.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_MAX 24u /* with what stands around it */

struct line {
	const char *p;
	size_t len;
};

static size_t put_escaped(char *p, const char *text, size_t len)
{
	char *begin = p;

	for (size_t i = 0; i < len; i++) {
		uint8_t c = (uint8_t)text[i];

		if (c < 0x20 || c == 0x7f || c == ':' || c == '\\')
			p += sprintf(p, "\\x%02x", c);
		else
			*p++ = (char)c;
	}
	return (size_t)(p - begin);
}

static size_t put_line(char *p, const struct tensor *t)
{
	char *begin = p;

	p += put_escaped(p, t->name + t->inner, t->name_len - t->inner);
	*p++ = ':';
	p += put_escaped(p, t->dtype, strlen(t->dtype));
	*p++ = ':';
	*p++ = '[';
	for (unsigned i = 0; i < t->ndim; i++)
		p += sprintf(p, "%s%" PRIu64, i ? "," : "", t->shape[i]);
	*p++ = ']';
	*p++ = '\n';
	return (size_t)(p - begin);
}

/* No less than what put_line() takes, with a NUL that sprintf() puts. */
static size_t line_room(const struct tensor *t)
{
	return 4 * (t->name_len - t->inner + strlen(t->dtype)) + NUMBER_MAX * ((size_t)t->ndim + 1);
}

static int compare(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int r = memcmp(x->p, y->p, MIN(x->len, y->len));

	return r != 0 ? r : (x->len > y->len) - (x->len < y->len);
}

/* The lines, unsorted, one behind the other in a buffer to be freed. */
static int render(const struct tensors *ts, struct line *lines, size_t n_lines, char **ret, size_t *ret_len)
{
	size_t room = 1, n = 0, at = 0;
	char *text;

	for (size_t i = 0; i < ts->n; i++)
		if (ts->v[i].model)
			room += line_room(&ts->v[i]);
	text = malloc(room);
	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < ts->n && n < n_lines; i++) {
		if (!ts->v[i].model)
			continue;
		lines[n] = (struct line){ text + at, put_line(text + at, &ts->v[i]) };
		at += lines[n++].len;
	}
	*ret = text;
	*ret_len = at;
	return 0;
}

int model_structure(const struct tensors *ts, uint64_t init_step, char **ret, size_t *ret_len,
		    uint8_t ret_digest[STRUCTURE_DIGEST_SIZE])
{
	_cleanup_free_ char *unsorted = NULL, *text = NULL;
	_cleanup_free_ struct line *lines = NULL;
	size_t n = 0, len, at;
	int r;

	for (size_t i = 0; i < ts->n; i++)
		n += ts->v[i].model;
	if (n == 0)
		return -ENODATA;
	lines = calloc(n, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	r = render(ts, lines, n, &unsorted, &len);
	if (r < 0)
		return r;
	qsort(lines, n, sizeof(*lines), compare);
	text = malloc(len + strlen("init_step:") + NUMBER_MAX + 1);
	if (!text)
		return -ENOMEM;
	at = (size_t)sprintf(text, "init_step:%" PRIu64 "\n", init_step);
	for (size_t i = 0; i < n; i++) {
		memcpy(text + at, lines[i].p, lines[i].len);
		at += lines[i].len;
	}
	text[at] = '\0';
	if (EVP_Digest(text, at, ret_digest, NULL, EVP_sha256(), NULL) != 1)
		return -ENOMEM;
	*ret = steal(&text);
	if (ret_len)
		*ret_len = at;
	return 0;
}
