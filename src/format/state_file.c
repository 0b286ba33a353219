#include "format/state_file.h"

#include <string.h>

#include "format/pyjson.h"

enum kind { HASH, TEXT, NUMBER };

struct field {
	const char *name;
	enum kind kind;
	size_t offset, size;
};

#define FIELD(kind, name, member) \
	{ name, kind, offsetof(struct state_file, member), sizeof(((struct state_file *)0)->member) }

static const struct field top_fields[] = {
	FIELD(HASH, "current_exp_hash", current_exp_hash),
	FIELD(HASH, "previous_exp_hash", previous_exp_hash),
	FIELD(NUMBER, "step_counter", step_counter),
	FIELD(NUMBER, "model_init_step", model_init_step),
	FIELD(TEXT, "last_updated", last_updated),
};

static const struct field component_fields[] = {
	FIELD(HASH, "hp", hp_hash),
	FIELD(HASH, "model", model_hash),
	FIELD(HASH, "data", data_hash),
	FIELD(HASH, "combined", combined_hash),
};

static int bad_field(struct pyjson *j, const struct field *f)
{
	char text[96];

	snprintf(text, sizeof(text), "%s: is no %s", f->name,
		 f->kind == HASH ? "hash" : f->kind == TEXT ? "time" : "number of steps");
	return pyjson_bad(j, text);
}

static int read_field(struct pyjson *j, const struct field *f, struct state_file *s)
{
	char *to = (char *)s + f->offset;

	if (f->kind == NUMBER) {
		int64_t n = j->type == PYJSON_NUMBER && j->is_integer ? j->integer : -1;

		if (n < 0 && j->type != PYJSON_NULL)
			return bad_field(j, f);
		memcpy(to, &n, sizeof(n));
		return 0;
	}
	memset(to, 0, f->size);
	if (j->type == PYJSON_NULL)
		return 0;
	if (j->type != PYJSON_STRING || !pyjson_is_text(j) || j->len >= f->size)
		return bad_field(j, f);
	if (f->kind == HASH && (j->len != f->size - 1 || strspn(j->text, "0123456789abcdef") != j->len))
		return bad_field(j, f);
	memcpy(to, j->text, j->len);
	return 0;
}

/* From an object's first token to its last. The value of component_hashes may be
 * null, too. */
static int read_object(struct pyjson *j, const struct field *fields, size_t count, struct state_file *s)
{
	int r;

	for (r = pyjson_next(j); r == 0 && j->type != PYJSON_OBJECT_END; r = pyjson_next(j)) {
		bool components = fields == top_fields && pyjson_is(j, "component_hashes");
		size_t i = 0;

		while (i < count && !pyjson_is(j, fields[i].name))
			i++;
		r = pyjson_next(j);
		if (r == 0)
			r = components && j->type == PYJSON_OBJECT ?
				    read_object(j, component_fields, ARRAY_SIZE(component_fields), s) :
			    i < count ? read_field(j, &fields[i], s) : pyjson_skip(j);
		if (r < 0)
			return r;
	}
	return r;
}

int state_file_parse(const char *text, size_t len, struct state_file *ret, struct reason *why)
{
	struct state_file s = { .step_counter = -1, .model_init_step = -1 };
	struct pyjson j;
	int r;

	if (len > STATE_FILE_SIZE_MAX)
		return reason_set(why, 0, "larger than %u MiB", STATE_FILE_SIZE_MAX >> 20);
	pyjson_begin(&j, text, len, why);
	r = pyjson_next(&j);
	if (r == 0 && j.type != PYJSON_OBJECT)
		r = pyjson_bad(&j, "an object is wanted here");
	if (r == 0)
		r = read_object(&j, top_fields, ARRAY_SIZE(top_fields), &s);
	if (r == 0)
		r = pyjson_next(&j); /* the end */
	if (r < 0)
		return r;
	*ret = s;
	return 0;
}
