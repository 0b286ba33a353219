#include "exp/weights.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/inside.h"
#include "exp/weights_distcp.h"
#include "format/checkpoint_name.h"
#include "format/parts.h"
#include "meta/content.h"
#include "store/object.h"
#include "util/io.h"

#define QUANTUM ((uint64_t)4 << 30) /* that is lost at most when it is stopped by force */
#define FILES_MAX 4096

_Static_assert(WEIGHTS_DIGEST == TENSOR_DIGEST_SIZE, "digests are stored as they are made");

/* One file */

static int tx_keep(struct db *db, void *arg)
{
	return weights_put(db, arg);
}

/* If it cannot be kept, it is read again. */
static void keep(struct expfs *ex, struct weights_row *row)
{
	if (row->seal)
		expfs_write(ex, tx_keep, row);
}

static int get_row(struct expfs *ex, uint64_t object, struct weights_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct content_row content;
	int r = weights_get(db, object, ret);

	if (r != -ENOENT)
		return r;
	r = content_get(db, object, &content);
	*ret = (struct weights_row){ .object = object, .seal = r == 0 ? content.seal : 0 };
	return r;
}

static int refuse(struct expfs *ex, struct weights_row *row, const char *why)
{
	row->why = strdup(why);
	if (!row->why)
		return -ENOMEM;
	keep(ex, row);
	return 0;
}

static int digest(struct expfs *ex, int fd, uint64_t size, struct weights_file *f, weights_stop stop, void *arg)
{
	struct weights_row *row = &f->row;
	tensor_digests *grown = reallocarray(row->digests, f->ts->n + 1, sizeof(*grown));
	int r = 0;

	if (!grown)
		return -ENOMEM;
	row->digests = grown;
	if (row->n != f->ts->n) /* told by another program */
		row->done = 0;
	row->n = f->ts->n;
	row->parts = f->ts->parts;
	while (r == 0 && row->done < row->n) {
		size_t next;

		r = identity_digest(fd, size, f->ts, row->done, QUANTUM, stop, arg, row->digests, &next);
		row->done = next;
		keep(ex, row);
	}
	if (r == 0 && row->n == 0)
		keep(ex, row);
	return r;
}

static int read_pinned(struct expfs *ex, int fd, struct weights_file *f, weights_stop stop, void *arg)
{
	const char *why;
	struct stat st;
	int r = io_stat(fd, &st);

	if (r == 0)
		r = (f->name && weights_is_distcp(f->name) ? inside_distcp : inside_tensors)(fd, (uint64_t)st.st_size, &f->ts, &why);
	if (r == -EBADMSG)
		return refuse(ex, &f->row, why);
	if (r == 0)
		r = digest(ex, fd, (uint64_t)st.st_size, f, stop, arg);
	if (r != -EBADMSG)
		return r;
	tensors_free(steal(&f->ts));
	f->row.n = f->row.done = 0;
	return refuse(ex, &f->row, "array that does not unpack");
}

/* once: nobody will want it again soon. */
static int read_file(struct expfs *ex, uint64_t object, struct weights_file *f, bool once, weights_stop stop, void *arg)
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	int fd, r;

	if (!object) {
		f->row.why = strdup("empty");
		return f->row.why ? 0 : -ENOMEM;
	}
	r = get_row(ex, object, &f->row);
	if (r < 0 || f->row.why)
		return r;
	once = once && !object_in_use(ex->store, object);
	r = object_get(ex->store, object, &o);
	if (r == 0)
		r = object_pin(o, &fd);
	if (r < 0)
		return r;
	r = read_pinned(ex, fd, f, stop, arg);
	if (once)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	object_unpin(o);
	return r;
}

/* A checkpoint */

void weights_free(struct weights *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->v[i].name);
		tensors_free(w->v[i].ts);
		weights_row_free(&w->v[i].row);
		cleanup_close(&w->v[i].fd);
	}
	free(w->v);
	*w = (struct weights){ 0 };
}

static int add_file(struct weights *w, uint64_t object, const char *name)
{
	struct weights_file *v = w->n < FILES_MAX ? array_grow(w->v, w->n, sizeof(*v)) : NULL;
	char *copy = NULL;

	if (!v)
		return w->n < FILES_MAX ? -ENOMEM : -E2BIG;
	w->v = v;
	if (name && !(copy = strdup(name)))
		return -ENOMEM;
	v[w->n++] = (struct weights_file){ .name = copy, .of_model = !name || member_holds_model(name),
					   .row.object = object, .fd = -1 };
	return 0;
}

static int add_member(void *arg, const struct member_row *m, const char *name)
{
	const char *last = path_last(name);
	struct weights *w = arg;

	w->parts |= parts_of_member(name);
	if (strcmp(name, ".metadata") == 0)
		w->metadata = m->object;
	return role_weights_suffix(last, strlen(last)) || weights_is_distcp(name) ? add_file(w, m->object, name) : 0;
}

/* What one file may hold, all of a checkpoint may. */
static int count(const struct tensors *ts, size_t *tensors, size_t *bytes)
{
	*tensors += ts->n;
	*bytes += ts->arena.used;
	return *tensors > TENSORS_MAX || *bytes > TENSORS_MEMORY_MAX ? -E2BIG : 0;
}

static int load(struct expfs *ex, const struct version_row *v, bool once, weights_stop stop, void *arg, struct weights *ret)
{
	_cleanup_weights_ struct weights w = { 0 };
	size_t tensors = 0, bytes = 0;
	int r = 0;

	if (v->is_dir) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = member_list(db, v->id, add_member, &w);
	} else {
		r = add_file(&w, v->object, NULL);
	}
	for (size_t i = 0; i < w.n && r == 0; i++) {
		r = read_file(ex, w.v[i].row.object, &w.v[i], once, stop, arg);
		w.parts |= w.v[i].row.parts;
		if (r == 0 && w.v[i].ts)
			r = count(w.v[i].ts, &tensors, &bytes);
	}
	if (r == 0)
		r = weights_name_distcp(ex, &w);
	if (r < 0)
		return r;
	*ret = w;
	w = (struct weights){ 0 };
	return 0;
}

int weights_load(struct expfs *ex, const struct version_row *v, weights_stop stop, void *arg, struct weights *ret)
{
	return load(ex, v, false, stop, arg, ret);
}

int weights_load_once(struct expfs *ex, const struct version_row *v, weights_stop stop, void *arg, struct weights *ret)
{
	return load(ex, v, true, stop, arg, ret);
}

int weights_load_outside(int fd, weights_stop stop, void *arg, struct weights *ret)
{
	_cleanup_weights_ struct weights w = { 0 };
	int r = add_file(&w, 0, NULL);

	if (r < 0) {
		close(fd);
		return r;
	}
	w.v[0].fd = fd;
	r = read_pinned(NULL, fd, &w.v[0], stop, arg);
	w.parts = w.v[0].row.parts;
	if (r < 0)
		return r;
	*ret = w;
	w = (struct weights){ 0 };
	return 0;
}

int weights_open(struct expfs *ex, const struct weights_file *f, struct weights_open *ret)
{
	int r;

	ret->object = NULL;
	ret->fd = f->fd;
	if (f->fd >= 0)
		return 0;
	r = object_get(ex->store, f->row.object, &ret->object);
	if (r == 0)
		r = object_pin(ret->object, &ret->fd);
	if (r < 0 && ret->object)
		object_put(ret->object);
	return r;
}

void weights_close(struct weights_open *o)
{
	if (!o->object)
		return;
	object_unpin(o->object);
	object_put(o->object);
}

int weights_model(const struct weights *w, uint8_t ret[WEIGHTS_DIGEST])
{
	_cleanup_identity_ struct identity *id = NULL;
	int r = identity_new(&id);

	for (size_t i = 0; i < w->n && r == 0; i++) {
		const struct weights_file *f = &w->v[i];

		if (!f->of_model)
			continue;
		if (!f->ts)
			return 0;
		r = identity_add(id, f->ts, f->row.digests);
	}
	return r < 0 ? r : identity_get(id, ret);
}

static const struct tensor *untold(const struct weights_file *f)
{
	for (size_t i = 0; i < f->ts->n; i++)
		if (tensor_is_weight(&f->ts->v[i]) && !identity_is_told(f->row.digests[i]))
			return &f->ts->v[i];
	return NULL;
}

static int fault_text(const struct weights_file *f, const char *what, const char *why, char **ret)
{
	int n = asprintf(ret, "%s%s%s%s%s", f->name ? f->name : "", f->name ? ": " : "", what, *what ? ": " : "", why);

	return n < 0 ? -ENOMEM : 0;
}

int weights_fault(const struct weights *w, char **ret)
{
	bool any = false;

	*ret = NULL;
	for (size_t i = 0; i < w->n; i++) {
		const struct weights_file *f = &w->v[i];
		const struct tensor *t;

		if (!f->of_model)
			continue;
		if (!f->ts)
			return fault_text(f, "", f->row.why, ret);
		t = untold(f);
		if (t)
			return fault_text(f, t->name, t->why ? t->why : "a tensor that unfolds to more than the file", ret);
		for (size_t k = 0; k < f->ts->n; k++)
			any = any || tensor_is_weight(&f->ts->v[k]);
	}
	if (any)
		return 0;
	*ret = strdup("no tensors of a model in it");
	return *ret ? 0 : -ENOMEM;
}

/* What it says of itself */

static int64_t inner_epoch(const struct weights *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].ts && w->v[i].ts->has_epoch && w->v[i].ts->epoch >= 0)
			return w->v[i].ts->epoch;
	return NO_LABEL;
}

int64_t weights_inner(const struct weights *w, enum label kind)
{
	const struct tensors *ts = w->n == 1 ? w->v[0].ts : NULL;

	if (kind == LABEL_EPOCH)
		return inner_epoch(w);
	return ts && ts->has_step ? (int64_t)ts->step : NO_LABEL;
}
