#include "format/records.h"

#include <string.h>

struct listing {
	struct tensors *ts;
	struct records records;
	size_t room;
};

static int add_record(void *arg, const struct zip_record *r)
{
	struct listing *l = arg;
	struct records *rs = &l->records;
	struct zip_record *grown = arena_grow(&l->ts->arena, rs->v, rs->n, &l->room, sizeof(*r));
	char *name = arena_text(&l->ts->arena, r->name, r->name_len);

	if (!grown || !name)
		return tensors_no_memory(l->ts);
	rs->v = grown;
	rs->v[rs->n] = *r;
	rs->v[rs->n++].name = (const uint8_t *)name;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct zip_record *x = a, *y = b;
	int r = memcmp(x->name, y->name, MIN(x->name_len, y->name_len));

	return r != 0 ? r : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

int records_read(struct tensors *ts, struct records *ret)
{
	struct listing l = { .ts = ts };
	struct records *rs = &l.records;
	const uint8_t *first;
	int r = zip_each(ts->w, add_record, &l);

	if (r < 0)
		return r;
	if (rs->n == 0)
		return window_bad(ts->w, "zip file without records");
	first = rs->v[0].name;
	qsort(rs->v, rs->n, sizeof(*rs->v), compare);
	for (size_t i = 0; i < rs->n; i++) {
		if (i > 0 && compare(&rs->v[i - 1], &rs->v[i]) == 0)
			return window_bad(ts->w, "zip records of one name");
		if (rs->v[i].name == first)
			rs->first = &rs->v[i];
	}
	*ret = *rs;
	return 0;
}

const struct zip_record *records_find(const struct records *rs, const char *name, size_t len)
{
	const struct zip_record key = { .name = (const uint8_t *)name, .name_len = len };

	return bsearch(&key, rs->v, rs->n, sizeof(key), compare);
}
