/* .metadata is a pickle of Metadata, whose attribute storage_data has, for each MetadataIndex (fqn, offset, index), a
 * _StorageInfo (relative_path, offset, length). A tensor that lies in pieces has several. */
#include <string.h>

#include "format/distcp.h"
#include "format/parts.h"
#include "format/torch.h"

#define FIELDS_MAX 64u

struct entry {
	struct pickle_bytes name, file;
	uint64_t at;
	bool one; /* it is whole */
};

struct distcp_names {
	uint8_t *stream;
	struct pickle *pickle;
	struct entry *v; /* by file and place */
	size_t n;
	size_t rank; /* the best of the model's keys */
};

typedef const struct pickle_value value;

/* An attribute of an object; NULL: there is none. */
static value *attribute(value *v, const char *name)
{
	value *state = v->kind == PICKLE_OBJECT ? v->object->state : NULL;

	return state && state->kind == PICKLE_DICT && state->items.n <= 2 * FIELDS_MAX ? pickle_find(state, name) : NULL;
}

static int compare_bytes(struct pickle_bytes a, struct pickle_bytes b)
{
	int r = memcmp(a.p, b.p, MIN(a.len, b.len));

	return r != 0 ? r : (a.len > b.len) - (a.len < b.len);
}

static int by_name(const void *a, const void *b)
{
	return compare_bytes(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static int by_place(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int r = compare_bytes(x->file, y->file);

	return r != 0 ? r : (x->at > y->at) - (x->at < y->at);
}

static bool set_entry(struct entry *e, value *index, value *info)
{
	value *name = attribute(index, "fqn"), *file = attribute(info, "relative_path"), *at = attribute(info, "offset");

	if (!name || name->kind != PICKLE_STR || !file || file->kind != PICKLE_STR || !at || at->kind != PICKLE_INT ||
	    at->integer < 0 || name->bytes.len > TENSOR_NAME_MAX)
		return false;
	*e = (struct entry){ name->bytes, file->bytes, (uint64_t)at->integer, true };
	return true;
}

static struct pickle_bytes first_key(struct pickle_bytes name)
{
	const uint8_t *dot = memchr(name.p, '.', name.len);

	return (struct pickle_bytes){ name.p, dot ? (size_t)(dot - name.p) : name.len };
}

static int read_entries(struct distcp_names *n)
{
	value *data = attribute(pickle_top(n->pickle), "storage_data");

	if (!data || data->kind != PICKLE_DICT || data->items.n / 2 > TENSORS_MAX)
		return -EBADMSG;
	n->v = calloc(data->items.n / 2 + 1u, sizeof(*n->v));
	if (!n->v)
		return -ENOMEM;
	n->rank = SIZE_MAX;
	for (; n->n < data->items.n / 2; n->n++) {
		struct entry *e = &n->v[n->n];

		if (!set_entry(e, data->items.v[2 * n->n], data->items.v[2 * n->n + 1]))
			return -EBADMSG;
		if (first_key(e->name).len < e->name.len)
			n->rank = MIN(n->rank, torch_model_rank(first_key(e->name)));
	}
	qsort(n->v, n->n, sizeof(*n->v), by_name);
	for (size_t i = 1; i < n->n; i++)
		if (by_name(&n->v[i - 1], &n->v[i]) == 0)
			n->v[i - 1].one = n->v[i].one = false;
	qsort(n->v, n->n, sizeof(*n->v), by_place);
	return 0;
}

int distcp_names_read(int fd, uint64_t size, struct distcp_names **ret, const char **ret_why)
{
	_cleanup_distcp_names_ struct distcp_names *n = calloc(1, sizeof(*n));
	struct window w = { .fd = fd, .size = size };
	int r;

	*ret_why = NULL;
	if (!n)
		return -ENOMEM;
	if (size > PICKLE_MAX) {
		*ret_why = ".metadata over 32 MiB";
		return -EBADMSG;
	}
	n->stream = malloc((size_t)size + 1);
	if (!n->stream)
		return -ENOMEM;
	r = window_read(&w, 0, n->stream, (size_t)size);
	if (r == 0)
		r = pickle_parse(n->stream, (size_t)size, &n->pickle, &w.why);
	if (r == 0)
		r = read_entries(n);
	if (r < 0) {
		*ret_why = r != -EBADMSG ? NULL : w.why ? w.why : ".metadata of an unknown form";
		return r;
	}
	*ret = steal(&n);
	return 0;
}

void distcp_names_free(struct distcp_names *n)
{
	if (!n)
		return;
	pickle_free(n->pickle);
	free(n->stream);
	free(n->v);
	free(n);
}

static int name_tensor(const struct distcp_names *n, const struct entry *e, struct tensors *ts, struct tensor *t)
{
	size_t len = e->name.len + (t->name_len > 0) + t->name_len;
	char *name = arena_array(&ts->arena, len + 1, 1), *p = name;
	struct pickle_bytes key = first_key(e->name);
	bool chosen = n->rank < SIZE_MAX && key.len < e->name.len && torch_model_rank(key) == n->rank;

	if (!name)
		return ts->arena.over ? -EBADMSG : -ENOMEM;
	p = mempcpy(p, e->name.p, e->name.len);
	if (t->name_len > 0)
		*p++ = '.';
	p = mempcpy(p, t->name, t->name_len);
	*p = '\0';
	t->name = name;
	t->name_len = len;
	t->model = n->rank < SIZE_MAX ? chosen : !torch_is_other(key, key.len < e->name.len);
	t->inner = chosen ? key.len + 1 : 0;
	if (!e->one) {
		t->located = false;
		t->why = "a tensor in several pieces, as several processes save it";
	}
	return 0;
}

int distcp_name(const struct distcp_names *n, const char *file, struct tensors *ts, unsigned *parts, const char **ret_why)
{
	*ret_why = NULL;
	for (size_t i = 0; i < ts->n; i++) {
		struct entry wanted = { .file = { (const uint8_t *)file, strlen(file) }, .at = ts->v[i].blob };
		const struct entry *e = bsearch(&wanted, n->v, n->n, sizeof(wanted), by_place);
		int r = e ? name_tensor(n, e, ts, &ts->v[i]) : -EBADMSG;

		if (r < 0) {
			*ret_why = r == -EBADMSG ? "tensor that .metadata does not name, or too long a name" : NULL;
			return r;
		}
	}
	for (size_t i = 0; i < n->n; i++)
		*parts |= parts_of_key(first_key(n->v[i].name));
	return 0;
}
