/* All rows are kept as id and flag, the ids one behind the other in one buffer;
 * then sorted. The columns of the second form come one after the other: there a
 * value is for the row of its place. */
#include "format/snapshot.h"

#include <math.h>
#include <string.h>

#include "format/pyjson.h"

struct row {
	size_t id; /* in ids, NUL-terminated */
	size_t len;
	bool has_id, discarded, part; /* part: of a sample, by its annotation_id */
};

struct table {
	struct row *rows;
	size_t count, allocated;
	char *ids;
	size_t ids_len, ids_allocated;
};

enum column { SAMPLE_ID, DISCARDED, ANNOTATION_ID, COLUMNS };

static const char *const column_names[COLUMNS] = { "sample_id", "discarded", "annotation_id" };

static void clear_table(struct table *t)
{
	free(t->rows);
	free(t->ids);
}

void snapshot_clear(struct snapshot *s)
{
	free(s->text);
	free(s->data_file);
	*s = (struct snapshot){ 0 };
}

/* The array with room for wanted elements; NULL, and it stays as it was. */
static void *grow(void *array, size_t *allocated, size_t wanted, size_t size)
{
	size_t n = MAX(*allocated * 2, MAX(wanted, 1024u));

	if (wanted <= *allocated)
		return array;
	array = reallocarray(array, n, size);
	if (array)
		*allocated = n;
	return array;
}

/* The row of a number, which may be the one after the last. */
static int get_row(struct pyjson *j, struct table *t, size_t i, struct row **ret)
{
	struct row *rows;

	if (i == SNAPSHOT_ROWS_MAX)
		return pyjson_bad(j, "too many rows");
	rows = grow(t->rows, &t->allocated, i + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	t->rows = rows;
	if (i == t->count)
		t->rows[t->count++] = (struct row){ 0 };
	*ret = &t->rows[i];
	return 0;
}

/* The id as str() gives it. */
static int read_id(struct pyjson *j, struct table *t, struct row *row)
{
	bool number = j->type == PYJSON_NUMBER && j->is_integer;
	char *ids;

	if (!number && (j->type != PYJSON_STRING || !pyjson_is_text(j)))
		return pyjson_bad(j, "sample_id: no text and no whole number, or too long");
	if (number)
		j->len = (size_t)sprintf(j->text, "%lld", (long long)j->integer); /* -0 is 0 */
	ids = grow(t->ids, &t->ids_allocated, t->ids_len + j->len + 1, 1);
	if (!ids)
		return -ENOMEM;
	t->ids = ids;
	memcpy(t->ids + t->ids_len, j->text, j->len + 1);
	row->id = t->ids_len;
	row->len = j->len;
	row->has_id = true;
	t->ids_len += j->len + 1;
	return 0;
}

static int read_truth(struct pyjson *j, bool *ret)
{
	switch (j->type) {
	case PYJSON_TRUE:
		*ret = true;
		return 0;
	case PYJSON_FALSE:
	case PYJSON_NULL:
		*ret = false;
		return 0;
	case PYJSON_NUMBER:
		*ret = !isnan(j->number) && j->number != 0;
		return 0;
	case PYJSON_STRING:
		*ret = j->len > 0;
		return 0;
	default:
		return pyjson_bad(j, "a list is neither true nor false");
	}
}

static int read_cell(struct pyjson *j, struct table *t, struct row *row, enum column column)
{
	switch (column) {
	case SAMPLE_ID:
		return read_id(j, t, row);
	case DISCARDED:
		return read_truth(j, &row->discarded);
	case ANNOTATION_ID:
		row->part = !(j->type == PYJSON_NUMBER && j->number == 0);
		return pyjson_skip(j);
	default:
		return pyjson_skip(j);
	}
}

static enum column column_of(const struct pyjson *j)
{
	enum column column = SAMPLE_ID;

	while (column < COLUMNS && !pyjson_is(j, column_names[column]))
		column++;
	return column;
}

/* "data": [{"sample_id": "7", "discarded": false, "tag:x": …}, …] */
static int read_rows(struct pyjson *j, struct table *t)
{
	struct row *row;
	int r;

	if (j->type != PYJSON_ARRAY)
		return pyjson_bad(j, "data: a list is wanted here");
	for (r = pyjson_next(j); r == 0 && j->type != PYJSON_ARRAY_END; r = pyjson_next(j)) {
		if (j->type != PYJSON_OBJECT)
			return pyjson_bad(j, "data: a row is wanted here");
		r = get_row(j, t, t->count, &row);
		if (r < 0)
			return r;
		for (r = pyjson_next(j); r == 0 && j->type != PYJSON_OBJECT_END; r = pyjson_next(j)) {
			enum column column = column_of(j);

			r = pyjson_next(j);
			if (r == 0)
				r = read_cell(j, t, row, column);
			if (r < 0)
				return r;
		}
		if (r == 0 && !row->has_id)
			r = pyjson_bad(j, "data: a row without sample_id");
		if (r < 0)
			return r;
	}
	return r;
}

/* "discarded": {"0": false, "1": true, …}: the rows in their order. */
static int read_column(struct pyjson *j, struct table *t, enum column column)
{
	struct row *row;
	char number[24];
	int r;

	if (j->type != PYJSON_OBJECT)
		return pyjson_bad(j, "a column is wanted here");
	r = pyjson_next(j);
	for (size_t i = 0; r == 0 && j->type != PYJSON_OBJECT_END; i++, r = pyjson_next(j)) {
		snprintf(number, sizeof(number), "%zu", i);
		if (!pyjson_is(j, number))
			return pyjson_bad(j, "rows are wanted in their order here");
		r = get_row(j, t, i, &row);
		if (r == 0)
			r = pyjson_next(j);
		if (r == 0)
			r = read_cell(j, t, row, column);
		if (r < 0)
			return r;
	}
	return r;
}

static int read_data_file(struct pyjson *j, struct snapshot *s)
{
	if (j->type == PYJSON_NULL)
		return 0;
	if (j->type != PYJSON_STRING || !pyjson_is_text(j) || j->len == 0 || strchr(j->text, '/') ||
	    !strcmp(j->text, ".") || !strcmp(j->text, ".."))
		return pyjson_bad(j, "data_file: no name of a file beside this one");
	free(s->data_file);
	s->data_file = strdup(j->text);
	return s->data_file ? 0 : -ENOMEM;
}

static int read_hash(struct pyjson *j, struct snapshot *s)
{
	bool hash = j->type == PYJSON_STRING && j->len == sizeof(s->exp_hash) - 1 &&
		    strspn(j->text, "0123456789abcdef") == j->len;

	memset(s->exp_hash, 0, sizeof(s->exp_hash));
	if (hash)
		memcpy(s->exp_hash, j->text, j->len);
	return pyjson_skip(j);
}

enum seen { DATA = 1, COLUMN = 2 };

static int read_top(struct pyjson *j, struct table *t, struct snapshot *s, unsigned *seen)
{
	int r;

	for (r = pyjson_next(j); r == 0 && j->type != PYJSON_OBJECT_END; r = pyjson_next(j)) {
		enum column column = column_of(j);
		bool data = pyjson_is(j, "data"), data_file = pyjson_is(j, "data_file"), hash = pyjson_is(j, "exp_hash");

		*seen |= (data ? DATA : 0) | (column == SAMPLE_ID ? COLUMN : 0);
		t->count = data ? 0 : t->count; /* a second time: the last one counts */
		r = pyjson_next(j);
		if (r == 0)
			r = data ? read_rows(j, t) : column < COLUMNS ? read_column(j, t, column) :
			    data_file ? read_data_file(j, s) : hash ? read_hash(j, s) : pyjson_skip(j);
		if (r < 0)
			return r;
	}
	return r;
}

static int compare(const void *a, const void *b, void *ids)
{
	const struct row *x = a, *y = b;
	int c = memcmp((char *)ids + x->id, (char *)ids + y->id, MIN(x->len, y->len) + 1);

	return c ? c : x->id < y->id ? -1 : x->id > y->id;
}

/* Takes out parts of samples; sorts; of rows with one id the last one counts. */
static void sort_rows(struct table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++)
		if (!t->rows[i].part)
			t->rows[n++] = t->rows[i];
	t->count = n;
	if (n == 0)
		return;
	qsort_r(t->rows, n, sizeof(*t->rows), compare, t->ids);
	n = 0;
	for (size_t i = 0; i < t->count; i++)
		if (i + 1 == t->count || strcmp(t->ids + t->rows[i].id, t->ids + t->rows[i + 1].id) != 0)
			t->rows[n++] = t->rows[i];
	t->count = n;
}

static int write_text(const struct table *t, struct snapshot *s)
{
	size_t len = 0;
	char *to;

	for (size_t i = 0; i < t->count; i++)
		len += t->rows[i].len + strlen(":d0:t|");
	s->text = malloc(len + 1);
	if (!s->text)
		return -ENOMEM;
	to = s->text;
	*to = '\0';
	for (size_t i = 0; i < t->count; i++) {
		const struct row *row = &t->rows[i];

		if (i > 0)
			*to++ = '|';
		memcpy(to, t->ids + row->id, row->len);
		to = stpcpy(to + row->len, row->discarded ? ":d1:t" : ":d0:t");
	}
	s->len = (size_t)(to - s->text);
	s->samples = t->count;
	return 0;
}

int snapshot_parse(const char *text, size_t len, struct snapshot *ret, struct reason *why)
{
	_cleanup_(clear_table) struct table t = { 0 };
	_cleanup_(snapshot_clear) struct snapshot s = { 0 };
	unsigned seen = 0;
	struct pyjson j;
	int r;

	if (len > SNAPSHOT_SIZE_MAX)
		return reason_set(why, 0, "larger than %u MiB", SNAPSHOT_SIZE_MAX >> 20);
	pyjson_begin(&j, text, len, why);
	r = pyjson_next(&j);
	if (r == 0 && j.type != PYJSON_OBJECT)
		r = pyjson_bad(&j, "an object is wanted here");
	if (r == 0)
		r = read_top(&j, &t, &s, &seen);
	if (r == 0)
		r = pyjson_next(&j); /* the end */
	if (r < 0)
		return r;
	if (!seen && !s.data_file)
		return reason_set(why, 0, "no data snapshot");
	if (seen == (DATA | COLUMN))
		return reason_set(why, 0, "rows and columns of data in one file");
	for (size_t i = 0; seen && i < t.count; i++)
		if (!t.rows[i].has_id)
			return reason_set(why, 0, "rows without sample_id");
	if (seen) {
		sort_rows(&t);
		r = write_text(&t, &s);
		if (r < 0)
			return r;
	}
	*ret = s;
	s = (struct snapshot){ 0 };
	return 0;
}
