/* The zip files are found from the last one on: its end record says where it begins, and there the one before it ends. */
#include "format/distcp.h"

#include <string.h>

#include "format/records.h"
#include "format/torch.h"

#define END_LEN 22u
#define LOCATOR_LEN 20u
#define END64_LEN 56u
#define BLOBS_MAX (1u << 16)

/* Where the zip file begins that ends at end. As torch writes them, there is no comment, and the end records are in a row. */
static int find_begin(struct window *w, uint64_t end, uint64_t *ret)
{
	uint8_t e[END64_LEN + LOCATOR_LEN + END_LEN], *e32 = e + END64_LEN + LOCATOR_LEN;
	size_t n = (size_t)MIN(end, sizeof(e)), ends = END_LEN;
	uint64_t size, at;
	int r;

	if (n < END_LEN)
		return window_bad(w, "bytes between its zip files");
	r = window_read(w, end - n, e + sizeof(e) - n, n);
	if (r < 0)
		return r;
	if (memcmp(e32, "PK\5\6", 4) != 0)
		return window_bad(w, "bytes between its zip files");
	size = le32(e32 + 12);
	at = le32(e32 + 16);
	if (n == sizeof(e) && memcmp(e, "PK\6\6", 4) == 0 && memcmp(e + END64_LEN, "PK\6\7", 4) == 0) {
		size = le64(e + 40);
		at = le64(e + 48);
		ends = sizeof(e);
	}
	if (size > end - ends || at > end - ends - size)
		return window_bad(w, "zip file that begins before the file");
	*ret = end - ends - size - at;
	return 0;
}

/* From places in a zip file to those in the file. */
static void move(struct tensors *ts, size_t from, uint64_t by)
{
	for (size_t i = from; i < ts->n; i++) {
		struct tensor *t = &ts->v[i];

		t->blob = by;
		t->begin += by;
		t->end += by;
		for (unsigned k = 0; k < t->n_components; k++) {
			t->components[k].begin += by;
			t->components[k].end += by;
		}
	}
}

static int read_blob(struct tensors *ts, uint64_t begin, uint64_t end)
{
	struct window *all = ts->w, w = { .fd = all->fd, .base = begin, .size = end - begin, .buf = all->buf };
	struct records records;
	size_t from = ts->n;
	int r;

	ts->w = &w;
	r = records_read(ts, &records);
	if (r == 0)
		r = torch_is(&records) ? torch_read(ts, &records) : window_bad(&w, "zip file that is not torch's");
	ts->w = all;
	all->why = w.why;
	if (r == 0)
		move(ts, from, begin);
	return r;
}

static int read_all(struct tensors *ts)
{
	uint64_t end = ts->w->size, begin;
	int r = 0;

	ts->w->len = 0;
	for (unsigned blobs = 0; end > 0 && r == 0; end = begin) {
		r = ++blobs > BLOBS_MAX ? window_bad(ts->w, "too many zip files in it") : find_begin(ts->w, end, &begin);
		if (r == 0)
			r = read_blob(ts, begin, end);
		if (r < 0)
			return r;
	}
	ts->has_step = ts->has_epoch = false; /* they are values without a name */
	ts->parts = 0;
	return r;
}

int distcp_read(int fd, uint64_t size, struct tensors **ret, const char **ret_why)
{
	return tensors_read_as(fd, size, read_all, ret, ret_why);
}
