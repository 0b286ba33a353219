#include "format/hp_diff.h"

#include <string.h>

#include "format/json_value.h"

struct diff {
	struct value_document from, to;
	struct value_buffer key; /* of the map that is looked at */
	hp_diff_fn f;
	void *arg;
};

static int text_of(struct value_document *d, struct value *v, char **ret)
{
	struct value_buffer b = { .max = SIZE_MAX };
	int r = v ? value_put_text(d, &b, v) : 0;

	if (r < 0)
		free(b.text);
	else
		*ret = b.text;
	return r;
}

static int differ(struct diff *d, struct value *from, struct value *to)
{
	_cleanup_free_ char *a = NULL, *b = NULL;
	int r = text_of(&d->from, from, &a);

	if (r == 0)
		r = text_of(&d->to, to, &b);
	if (r < 0 || (a && b && !strcmp(a, b)))
		return r;
	return d->f(d->arg, d->key.text, a, b);
}

static int diff_maps(struct diff *d, struct value *from, struct value *to);

static int diff_values(struct diff *d, const struct value *key, struct value *from, struct value *to)
{
	size_t len = d->key.len;
	int r = len ? value_put(&d->key, ".", 1) : 0;

	if (r == 0)
		r = value_put(&d->key, key->text, key->count);
	if (r == 0)
		r = from && to && from->kind == VALUE_MAP && to->kind == VALUE_MAP ? diff_maps(d, from, to) :
										     differ(d, from, to);
	if (d->key.text) {
		d->key.len = len;
		d->key.text[len] = 0;
	}
	return r;
}

static int diff_maps(struct diff *d, struct value *from, struct value *to)
{
	size_t i = 0, j = 0;
	int r = value_sort(&d->from, from);

	if (r == 0)
		r = value_sort(&d->to, to);
	while (r == 0 && (i < from->count || j < to->count)) {
		const struct value_pair *a = i < from->count ? &from->pairs[i] : NULL;
		const struct value_pair *b = j < to->count ? &to->pairs[j] : NULL;
		int c = !a ? 1 : !b ? -1 : strcmp(a->key->text, b->key->text);

		r = diff_values(d, c <= 0 ? a->key : b->key, c <= 0 ? a->value : NULL, c >= 0 ? b->value : NULL);
		i += c <= 0;
		j += c >= 0;
	}
	return r;
}

int hp_diff(const char *from, const char *to, hp_diff_fn f, void *arg)
{
	struct diff d = { .key = { .max = SIZE_MAX }, .f = f, .arg = arg };
	struct value *a, *b;
	int r = json_value(&d.from, from, strlen(from), &a);

	if (r == 0)
		r = json_value(&d.to, to, strlen(to), &b);
	if (r == 0)
		r = a->kind == VALUE_MAP && b->kind == VALUE_MAP ? diff_maps(&d, a, b) : -EINVAL;
	value_document_clear(&d.from);
	value_document_clear(&d.to);
	free(d.key.text);
	return r;
}

const char *hp_type(const char *json)
{
	if (!json)
		return "none";
	switch (*json) {
	case '"':
		return "text";
	case '[':
		return "list";
	case '{':
		return "map";
	case 't':
	case 'f':
		return "bool";
	case 'n':
		return "null";
	}
	return strpbrk(json, ".eEnN") ? "float" : "int";
}
