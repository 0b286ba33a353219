/* The choice of the format; and safetensors, whose own parser does all but the list. */
#include <ctype.h>
#include <string.h>

#include "format/dtype.h"
#include "format/npz.h"
#include "format/parts.h"
#include "format/records.h"
#include "format/safetensors.h"
#include "format/tensors.h"
#include "format/torch.h"
#include "util/util.h"

#define TAR_MAGIC_AT 257u

static int add_safetensor(void *arg, const struct safetensors_tensor *s)
{
	const struct dtype *dtype = dtype_of_safetensors(s->dtype);
	struct tensors *ts = arg;
	struct tensor t = {
		.name = arena_text(&ts->arena, s->name, s->name_len),
		.name_len = s->name_len,
		.ndim = s->ndim,
		.located = dtype && dtype->item > 0,
		.why = dtype && dtype->item > 0 ? NULL : "a tensor whose elements are no whole bytes",
		.item = dtype ? dtype->item : 0,
		.begin = s->begin,
		.end = s->end,
		.model = true,
	};
	uint64_t *shape = arena_array(&ts->arena, s->ndim, sizeof(*shape));
	int r;

	t.dtype = dtype ? dtype->name : arena_text(&ts->arena, s->dtype, strlen(s->dtype));
	if (!t.name || !shape || !t.dtype)
		return tensors_no_memory(ts);
	if (s->ndim > 0)
		memcpy(shape, s->shape, s->ndim * sizeof(*shape));
	t.shape = shape;
	ts->parts |= parts_of_tensor(t.name, t.name_len);
	r = tensors_set_strides(ts, &t, false);
	return r < 0 ? r : tensors_add(ts, &t);
}

static int note_metadata(void *arg, const char *key, const char *value)
{
	struct tensors *ts = arg;
	int64_t v = 0;
	const char *p;

	for (p = value; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
			return 0;
	if (p > value && !*p)
		tensors_note(ts, key, strlen(key), v);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct tensor *x = a, *y = b;
	int r = memcmp(x->name, y->name, MIN(x->name_len, y->name_len));

	return r != 0 ? r : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

/* Readers disagree about which one of two of one name counts. */
static int check_names(struct tensors *ts)
{
	if (ts->n > 0)
		qsort(ts->v, ts->n, sizeof(*ts->v), compare_names);
	for (size_t i = 1; i < ts->n; i++)
		if (compare_names(&ts->v[i - 1], &ts->v[i]) == 0)
			return window_bad(ts->w, "safetensors of one name");
	return 0;
}

static int read_safetensors(struct window *w, struct tensors *ts)
{
	const struct safetensors_reader reader = { add_safetensor, note_metadata, ts };
	int r = safetensors_each(w, &reader);

	return r < 0 ? r : check_names(ts);
}

static int read_zip(struct tensors *ts)
{
	struct records records;
	int r = records_read(ts, &records);

	if (r < 0)
		return r;
	if (torch_is(&records))
		return torch_read(ts, &records);
	if (npz_is(&records))
		return npz_read(ts, &records);
	return window_bad(ts->w, "zip file that is neither torch's nor numpy's");
}

static int read_any(struct tensors *ts)
{
	struct window *w = ts->w;
	uint8_t head[TAR_MAGIC_AT + 5] = { 0 };
	size_t n = (size_t)MIN(w->size, sizeof(head));
	int r;

	if (n == 0)
		return window_bad(w, "empty");
	r = window_read(w, 0, head, n);
	if (r < 0)
		return r;
	if (memcmp(head, "PK\3\4", 4) == 0)
		return read_zip(ts);
	if (head[8] == '{')
		return read_safetensors(w, ts);
	if (head[0] == 0x80 && head[1] <= 5)
		return window_bad(w, "pickle outside of a zip file, as torch before 1.6 wrote them");
	if (memcmp(head + TAR_MAGIC_AT, "ustar", 5) == 0)
		return window_bad(w, "tar file, as torch before 0.1.10 wrote them");
	return window_bad(w, "no file of tensors that can be read here");
}

int tensors_read_as(int fd, uint64_t size, int (*f)(struct tensors *ts), struct tensors **ret, const char **ret_why)
{
	_cleanup_free_ uint8_t *buf = malloc(WINDOW_SIZE);
	_cleanup_tensors_ struct tensors *ts = calloc(1, sizeof(*ts));
	struct window w = { .fd = fd, .size = size, .buf = buf };
	int r;

	*ret_why = NULL;
	if (!buf || !ts)
		return -ENOMEM;
	ts->arena.limit = TENSORS_MEMORY_MAX;
	ts->w = &w;
	r = f(ts);
	ts->w = NULL;
	if (r < 0) {
		*ret_why = w.why;
		return r;
	}
	*ret = steal(&ts);
	return 0;
}

int tensors_read(int fd, uint64_t size, struct tensors **ret, const char **ret_why)
{
	return tensors_read_as(fd, size, read_any, ret, ret_why);
}
