/* Configurations as text, and its digest. Texts of files are joined as text: the
 * members of an object are sorted by their keys, so that one more has its place. */
#include "format/hp.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "format/json_value.h"
#include "format/utf8.h"
#include "format/yaml_value.h"
#include "util/hex.h"

#define AUDITOR_KEY "auditor_mode"
#define AUDITOR_TEXT "\"" AUDITOR_KEY "\": false"

const char *const hp_ignore_default[] = { "root_log_dir", "is_training", "pause_at_step", "experiment_name", NULL };

static void cleanup_buffer(struct value_buffer *b)
{
	free(b->text);
}

static bool is_json(const char *name)
{
	size_t n = strlen(name);

	return n >= 5 && strcmp(name + n - 5, ".json") == 0;
}

static bool is_listed(const struct value *key, const char *const *names)
{
	for (; *names; names++)
		if (strlen(*names) == key->count && memcmp(*names, key->text, key->count) == 0)
			return true;
	return false;
}

/* Keys that are no strings do not sort with auditor_mode. */
static int check_top(struct value_document *d, struct value *v, const char *const *ignore)
{
	size_t kept = 0;

	if (v->kind == VALUE_NULL) {
		v->kind = VALUE_MAP;
		v->count = 0;
	}
	if (v->kind != VALUE_MAP)
		return value_fail(d, v->line, "keys with values are wanted at the top");
	for (size_t i = 0; i < v->count; i++) {
		const struct value *key = v->pairs[i].key;

		if (key->kind != VALUE_STRING)
			return value_fail(d, key->line, "a key at the top that is no string; quote it");
		if (!is_listed(key, ignore))
			v->pairs[kept++] = v->pairs[i];
	}
	v->count = kept;
	return 0;
}

static int parse(struct value_document *d, const void *bytes, size_t len, const char *name,
		 const char *const *ignore, struct value_buffer *b)
{
	struct value *v = NULL;
	int r;

	if (len > HP_SIZE_MAX)
		return value_fail(d, 0, "larger than %u MiB", HP_SIZE_MAX >> 20);
	r = is_json(name) ? json_value(d, bytes, len, &v) : yaml_value(d, bytes, len, &v);
	if (r == 0)
		r = check_top(d, v, ignore);
	if (r == 0)
		r = value_put_text(d, b, v);
	if (r == -E2BIG)
		r = value_fail(d, 0, "its text is larger than %u MiB", HP_TEXT_MAX >> 20);
	return r;
}

int hp_parse(const void *bytes, size_t len, const char *name, const char *const *ignore, char **ret_text,
	     char **ret_error)
{
	_cleanup_value_document_ struct value_document d = { 0 };
	_cleanup_(cleanup_buffer) struct value_buffer b = { .max = HP_TEXT_MAX };
	int r = parse(&d, bytes, len, name, ignore, &b);

	if (r == -EINVAL) {
		char *error = strdup(d.error);

		if (!error)
			return -ENOMEM;
		*ret_error = error;
	}
	if (r < 0)
		return r;
	*ret_text = steal(&b.text);
	return 0;
}

struct member {
	char *key; /* as value.h has strings */
	size_t len;
	const char *text;
};

/* os.fsdecode(): a byte that is no UTF-8 becomes a surrogate. */
static int decode_path(const char *path, struct member *m)
{
	size_t len = strlen(path), n;
	char *out = malloc(3 * len + 1);

	if (!out)
		return -ENOMEM;
	m->key = out;
	for (; len > 0; path += n, len -= n) {
		n = utf8_length(path, len);
		if (n == 0) {
			out += utf8_put(out, 0xdc00u | (unsigned char)*path);
			n = 1;
			continue;
		}
		memcpy(out, path, n);
		out += n;
	}
	m->len = (size_t)(out - m->key);
	return 0;
}

static int compare_members(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;
	int c = memcmp(a->key, b->key, MIN(a->len, b->len));

	return c ? c : a->len < b->len ? -1 : a->len > b->len;
}

static int put_members(struct value_buffer *b, struct member *members, size_t count)
{
	int r = value_put(b, "{", 1);

	qsort(members, count, sizeof(*members), compare_members);
	for (size_t i = 0; r == 0 && i < count; i++) {
		if (i > 0)
			r = value_put(b, ", ", 2);
		if (r == 0)
			r = value_put_string(b, members[i].key, members[i].len);
		if (r == 0)
			r = value_put(b, ": ", 2);
		if (r == 0)
			r = value_put(b, members[i].text, strlen(members[i].text));
	}
	return r == 0 ? value_put(b, "}", 1) : r;
}

static int join(const struct hp_file *files, size_t count, struct value_buffer *b)
{
	struct member *members = calloc(MAX(count, (size_t)1), sizeof(*members));
	int r = members ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < count; i++) {
		members[i].text = files[i].text;
		r = decode_path(files[i].path, &members[i]);
	}
	if (r == 0)
		r = put_members(b, members, count);
	for (size_t i = 0; members && i < count; i++)
		free(members[i].key);
	free(members);
	return r;
}

/* How a key, from behind its quote, stands to AUDITOR_KEY, of which no character
 * is ever escaped; \u is the only escape of what comes after its letters. */
static int compare_key(const char *key)
{
	const char *wanted = AUDITOR_KEY;

	while (*wanted && *key == *wanted) {
		key++;
		wanted++;
	}
	if (*key == '"')
		return *wanted ? -1 : 0;
	if (*key == '\\')
		return key[1] == 'u' && strncmp(key + 2, "007f", 4) >= 0 ? 1 : -1;
	return *key < *wanted ? -1 : 1;
}

/* The end of the key or value that begins here; of a text that was damaged where it was kept, at the latest its own. */
static const char *skip(const char *p)
{
	unsigned depth = 0;

	for (bool quoted = false; *p; p++) {
		if (quoted) {
			quoted = *p != '"';
			p += *p == '\\' && p[1];
		} else if (depth == 0 && (*p == ',' || *p == '}' || *p == ':')) {
			return p;
		} else {
			quoted = *p == '"';
			depth += *p == '{' || *p == '[';
			depth -= *p == '}' || *p == ']';
		}
	}
	return p;
}

static int put_with_auditor(struct value_buffer *b, const char *object)
{
	const char *p = object + 1, *before = "", *after = "";
	int c = -1, r;

	while (*p == '"' && (c = compare_key(p + 1)) < 0) {
		p = skip(p);
		p = skip(p + (*p == ':'));
		p += *p == ',' && p[1] ? 2 : 0;
	}
	if (c == 0)
		return value_put(b, object, strlen(object));
	if (*p == '"')
		after = ", ";
	else if (p > object + 1)
		before = ", ";
	r = value_put(b, object, (size_t)(p - object));
	if (r == 0)
		r = value_put(b, before, strlen(before));
	if (r == 0)
		r = value_put(b, AUDITOR_TEXT, strlen(AUDITOR_TEXT));
	if (r == 0)
		r = value_put(b, after, strlen(after));
	return r == 0 ? value_put(b, p, strlen(p)) : r;
}

int hp_whole(const struct hp_file *files, size_t count, char **ret)
{
	_cleanup_(cleanup_buffer) struct value_buffer joined = { .max = SIZE_MAX }, whole = { .max = SIZE_MAX };
	int r = 0;

	if (count != 1)
		r = join(files, count, &joined);
	if (r == 0)
		r = put_with_auditor(&whole, count == 1 ? files[0].text : joined.text);
	if (r < 0)
		return r;
	*ret = steal(&whole.text);
	return 0;
}

int hp_digest(const char *text, char ret[HP_DIGEST_LEN + 1])
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	if (!EVP_Digest(text, strlen(text), digest, &len, EVP_sha256(), NULL))
		return -ENOMEM;
	hex_text(digest, HP_DIGEST_LEN / 2, ret);
	return 0;
}
