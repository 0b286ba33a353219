#include "tensors.h"

#include <inttypes.h>

struct bytes zip(const struct record *records, size_t n)
{
	struct bytes b = { 0 }, directory = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct record *r = &records[i];
		size_t name_len = strlen(r->name), at = b.len;

		for (int entry = 0; entry < 2; entry++) {
			struct bytes *to = entry ? &directory : &b;

			add(to, entry ? "PK\1\2\24\0" : "PK\3\4", entry ? 6 : 4);
			add(to, "\24\0\0\0", 4);
			add_int(to, r->method, 2);
			add_int(to, 0, 8);
			add_int(to, r->len, 4);
			add_int(to, r->len, 4);
			add_int(to, name_len, 2);
			add_int(to, 0, entry ? 12 : 2);
			if (entry)
				add_int(to, at, 4);
			add(to, r->name, name_len);
		}
		add(&b, r->p, r->len);
	}
	add(&directory, "PK\5\6\0\0\0\0", 8);
	add_int(&directory, n, 2);
	add_int(&directory, n, 2);
	add_int(&directory, directory.len - 12, 4);
	add_int(&directory, b.len, 4);
	add_int(&directory, 0, 2);
	add(&b, directory.p, directory.len);
	free(directory.p);
	return b;
}

struct bytes torch_file(const char *pickle)
{
	static uint8_t data[64];
	const struct record records[] = {
		{ "a/data.pkl", pickle, strlen(pickle), 0 },
		{ "a/byteorder", "little", 6, 0 },
		{ "a/data/0", data, sizeof(data), 0 },
	};

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)i;
	return zip(records, ARRAY_SIZE(records));
}

struct tensors *read_tensors(const struct bytes *b, const char **ret_why)
{
	FILE *f = tmpfile();
	struct tensors *ts = NULL;
	int r;

	assert_non_null(f);
	assert_int_equal(pwrite(fileno(f), b->p, b->len, 0), (ssize_t)b->len);
	r = tensors_read(fileno(f), b->len, &ts, ret_why);
	fclose(f);
	assert_true(r == 0 ? ts && !*ret_why : !ts && r == -EBADMSG && *ret_why);
	return ts;
}

struct tensors *tensors_of(const struct bytes *b)
{
	const char *why;
	struct tensors *ts = read_tensors(b, &why);

	if (!ts)
		fail_msg("refused: %s", why);
	return ts;
}

void assert_refused_bytes(const struct bytes *b, const char *reason)
{
	const char *why;
	_cleanup_tensors_ struct tensors *ts = read_tensors(b, &why);

	if (ts || strcmp(why, reason) != 0)
		fail_msg("%s, not: %s", ts ? "read" : why, reason);
}

static void put_numbers(FILE *f, const uint64_t *v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fprintf(f, "%s%" PRIu64, i ? "," : "", v[i]);
}

static void put_tensor(FILE *f, const struct tensor *t)
{
	fprintf(f, "%s:%s[", t->name, t->dtype);
	put_numbers(f, t->shape, t->ndim);
	fputs(t->n_components ? "](" : t->located ? "]/" : "]?", f);
	for (unsigned i = 0; i < t->n_components; i++) {
		fputs(i ? " " : "", f);
		put_tensor(f, &t->components[i]);
	}
	if (t->n_components)
		fputs(")", f);
	else if (t->located)
		put_numbers(f, t->strides, t->ndim);
	else
		assert_non_null(t->why);
	if (t->located && !t->n_components)
		fprintf(f, "@%" PRIu64, t->offset);
	fputs(t->model ? "*" : "", f);
}

void assert_tensors(const struct tensors *ts, const char *wanted)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	for (size_t i = 0; i < ts->n; i++) {
		fputs(i ? " " : "", f);
		put_tensor(f, &ts->v[i]);
	}
	fclose(f);
	assert_string_equal(text, wanted);
}

struct bytes safetensors(const char *header, size_t data)
{
	struct bytes b = { 0 };

	add_int(&b, strlen(header), 8);
	add(&b, header, strlen(header));
	add_int(&b, 0, data);
	return b;
}
