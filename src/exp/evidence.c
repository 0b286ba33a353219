#include "exp/evidence.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>

#include "exp/checkpoint.h"
#include "meta/content.h"
#include "meta/dirent.h"
#include "store/object.h"
#include "util/hex.h"
#include "util/io.h"

#define PIECE ((size_t)1 << 20)

void evidence_free(struct evidence *e)
{
	id_list_free(&e->objects);
	*e = (struct evidence){ 0 };
}

/* SHA-256 */

static void sum_free(EVP_MD_CTX **c)
{
	EVP_MD_CTX_free(*c);
}
#define _cleanup_sum_ _cleanup_(sum_free)

static EVP_MD_CTX *sum_new(void)
{
	EVP_MD_CTX *c = EVP_MD_CTX_new();

	if (c && EVP_DigestInit_ex(c, EVP_sha256(), NULL))
		return c;
	EVP_MD_CTX_free(c);
	return NULL;
}

static int sum_add(EVP_MD_CTX *c, const void *bytes, size_t n)
{
	return EVP_DigestUpdate(c, bytes, n) ? 0 : -ENOMEM;
}

static int sum_text(EVP_MD_CTX *c, char ret[static SHA256_TEXT])
{
	unsigned char digest[EVP_MAX_MD_SIZE];

	if (!EVP_DigestFinal_ex(c, digest, NULL))
		return -ENOMEM;
	hex_text(digest, (SHA256_TEXT - 1) / 2, ret);
	return 0;
}

/* The bytes of a descriptor, as many as there are. */
static int sum_file(EVP_MD_CTX *c, int fd, weights_stop stop, void *arg)
{
	_cleanup_free_ char *buf = malloc(PIECE);
	uint64_t at = 0;
	ssize_t n = buf ? 1 : -ENOMEM;

	while (n > 0) {
		if (stop && stop(arg))
			return -ECANCELED;
		n = io_pread(fd, buf, PIECE, at);
		if (n > 0 && sum_add(c, buf, (size_t)n) < 0)
			return -ENOMEM;
		at += (uint64_t)MAX(n, 0);
	}
	return (int)n;
}

/* An object stays as it is while it is pinned, also if it is let go. */
static int sum_object(struct expfs *ex, uint64_t object, weights_stop stop, void *arg, char ret[static SHA256_TEXT])
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	_cleanup_sum_ EVP_MD_CTX *c = sum_new();
	int fd, r = c ? 0 : -ENOMEM;

	if (r == 0 && object) {
		r = object_get(ex->store, object, &o);
		if (r == 0)
			r = object_pin(o, &fd);
		if (r < 0)
			return r == -ENOENT ? -ESTALE : r;
		r = sum_file(c, fd, stop, arg);
		object_unpin(o);
	}
	return r < 0 ? r : sum_text(c, ret);
}

/* What the version consists of */

struct member {
	char *name;
	uint64_t object;
};

struct members {
	struct member *v; /* of a file: one, without a name */
	size_t n;
	int64_t mtime; /* the last one */
};

static void members_free(struct members *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].name);
	free(l->v);
}

static int add(struct members *l, uint64_t object, int64_t mtime, const char *name)
{
	struct member *v = array_grow(l->v, l->n, sizeof(*v));
	char *copy = name ? strdup(name) : NULL;

	if (v)
		l->v = v;
	if (!v || (name && !copy)) {
		free(copy);
		return -ENOMEM;
	}
	l->mtime = l->n ? MAX(l->mtime, mtime) : mtime;
	v[l->n++] = (struct member){ copy, object };
	return 0;
}

static int add_member(void *arg, const struct member_row *m, const char *name)
{
	return add(arg, m->object, m->mtime, name);
}

static int list_members(struct expfs *ex, const struct version_row *v, struct members *l)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return v->is_dir ? member_list(db, v->id, add_member, l) : add(l, v->object, v->mtime, NULL);
}

static int take_objects(struct expfs *ex, const struct members *l, struct id_list *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct content_row content;
	int r = 0;

	for (size_t i = 0; i < l->n && r == 0; i++) {
		if (!l->v[i].object)
			continue;
		r = content_get(db, l->v[i].object, &content);
		if (r == 0)
			r = content.state == CONTENT_SEALED ? id_list_add(ret, content.id) : -EOPNOTSUPP;
	}
	return r;
}

static int sum_members(struct expfs *ex, const struct members *l, weights_stop stop, void *arg, char ret[static SHA256_TEXT])
{
	_cleanup_sum_ EVP_MD_CTX *c = sum_new();
	int r = c ? 0 : -ENOMEM;

	for (size_t i = 0; i < l->n && r == 0; i++) {
		_cleanup_free_ char *line = NULL;
		char sum[SHA256_TEXT];
		int n;

		r = sum_object(ex, l->v[i].object, stop, arg, sum);
		n = r < 0 ? 0 : asprintf(&line, "%s  %s\n", sum, l->v[i].name);
		if (r == 0)
			r = n < 0 ? -ENOMEM : sum_add(c, line, (size_t)n);
	}
	return r < 0 ? r : sum_text(c, ret);
}

/* Tensors */

struct line {
	const struct weights_file *file;
	size_t i;
};

static int compare_lines(const void *pa, const void *pb)
{
	const struct line *a = pa, *b = pb;
	const struct tensor *x = &a->file->ts->v[a->i], *y = &b->file->ts->v[b->i];
	int r = a->file == b->file ? 0 : strcmp(a->file->name, b->file->name);

	if (r == 0)
		r = memcmp(x->name, y->name, MIN(x->name_len, y->name_len));
	return r ? r : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

static int sum_line(EVP_MD_CTX *c, const struct line *l)
{
	const struct tensor *t = &l->file->ts->v[l->i];
	const uint8_t *digest = l->file->row.digests[l->i];
	char hex[XXH3_TEXT], number[24];
	int r;

	hex_text(digest, WEIGHTS_DIGEST, hex);
	r = sum_add(c, hex, strlen(hex));
	if (r == 0)
		r = sum_add(c, " ", 1);
	if (r == 0)
		r = sum_add(c, t->dtype, strlen(t->dtype));
	if (r == 0)
		r = sum_add(c, " ", 1);
	for (unsigned i = 0; i < t->ndim && r == 0; i++) {
		int n = snprintf(number, sizeof(number), "%s%" PRIu64, i ? "," : "", t->shape[i]);

		r = sum_add(c, number, (size_t)n);
	}
	if (r == 0)
		r = sum_add(c, " ", 1);
	if (r == 0 && l->file->name)
		r = sum_add(c, l->file->name, strlen(l->file->name));
	if (r == 0)
		r = sum_add(c, " ", 1);
	if (r == 0)
		r = sum_add(c, t->name, t->name_len);
	return r < 0 ? r : sum_add(c, "\n", 1);
}

/* 1 with all of them; 0: some are not told, or there are none. */
static int list_lines(const struct weights *w, struct line **ret, size_t *ret_n)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += w->v[i].ts ? w->v[i].ts->n : 0;
	*ret = calloc(n + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	*ret_n = 0;
	for (size_t i = 0; i < w->n; i++) {
		const struct weights_file *f = &w->v[i];

		if (!f->ts && f->of_model)
			return 0;
		for (size_t k = 0; f->ts && k < f->ts->n; k++) {
			if (!identity_is_told(f->row.digests[k]))
				return 0;
			(*ret)[(*ret_n)++] = (struct line){ f, k };
		}
	}
	return n > 0;
}

static int sum_tensors(const struct weights *w, char ret[static SHA256_TEXT])
{
	_cleanup_free_ struct line *lines = NULL;
	_cleanup_sum_ EVP_MD_CTX *c = sum_new();
	size_t n;
	int r = c ? list_lines(w, &lines, &n) : -ENOMEM;

	if (r <= 0)
		return r;
	qsort(lines, n, sizeof(*lines), compare_lines);
	r = 0;
	for (size_t i = 0; i < n && r == 0; i++)
		r = sum_line(c, &lines[i]);
	return r < 0 ? r : sum_text(c, ret);
}

static int find_tensors(struct expfs *ex, const struct version_row *v, weights_stop stop, void *arg, struct evidence *e)
{
	_cleanup_weights_ struct weights w = { 0 };
	uint8_t model[WEIGHTS_DIGEST];
	int r = weights_load(ex, v, stop, arg, &w);

	if (r < 0)
		return r == -E2BIG ? 0 : r;
	r = weights_model(&w, model);
	if (r == 1)
		hex_text(model, WEIGHTS_DIGEST, e->model);
	return r < 0 ? r : sum_tensors(&w, e->tensors);
}

/* How it came here */

/* Of two versions with one content the later one. */
static const char *capture_after(const struct version_row *v, const struct version_row *before)
{
	if (v->begin == 0 || v->begin != before->begin)
		return "copied";
	return before->gone && before->until < v->id ? "renamed" : "linked";
}

/* The inode, where the path holds the version; else it has number 0. */
static int get_inode(struct db *db, const struct tracked_row *t, const struct version_row *v, struct inode_row *ret)
{
	int r = checkpoint_is_there(db, t, v);

	*ret = (struct inode_row){ 0 };
	return r <= 0 ? r : inode_get(db, t->ino, ret);
}

/* Has the file an older name than this one? */
static int has_older_name(struct db *db, const struct tracked_row *t, uint64_t ino)
{
	_cleanup_free_ char *name = NULL, *first = NULL;
	struct tracked_row parent;
	struct dirent_row d;
	int r = dirent_of(db, ino, &d, &first);

	if (r == 0)
		r = tracked_get(db, t->parent, &parent);
	if (r == 0)
		r = tracked_name(db, t->id, &name);
	return r < 0 ? r : d.parent != parent.ino || strcmp(name, first) != 0;
}

static int find_capture(struct db *db, const struct tracked_row *t, const struct version_row *v, const struct inode_row *file,
			struct evidence *e)
{
	struct version_row before;
	int r = v->is_dir || !v->object ? -ENOENT : version_before_with(db, v, &before);

	if (r < 0 && r != -ENOENT)
		return r;
	e->shared = r == 0;
	if (r == 0 && before.tracked != v->tracked) {
		e->capture = capture_after(v, &before);
		return 0;
	}
	if (!file->ino || v->is_dir)
		return 0;
	r = has_older_name(db, t, file->ino);
	/* The order of what was closed is that of its name if it got that after it was closed. */
	if (r >= 0)
		e->capture = r ? "linked" : v->rank > (int64_t)file->order ? "renamed" : "in place";
	return r == -ENOENT ? 0 : MIN(r, 0);
}

/* When the last of it was written. A time that somebody set, from before the file was there, or that is yet to come, is
 * none: all was here by then, of what is held, when it was set. */
static int64_t find_completed(const struct version_row *v, const struct inode_row *row, int64_t mtime)
{
	if (row->ino && (mtime < row->btime || (mtime > row->ctime && !v->is_dir)))
		return row->ctime;
	return mtime > now_ns() ? 0 : mtime;
}

/* An inode's content is its first one if no version that began later came before. *ret_after: when that one was done. */
static int find_times(struct db *db, const struct version_row *v, const struct inode_row *row, int64_t mtime, struct evidence *e,
		      int64_t *ret_after)
{
	struct version_row before;
	int r = version_before(db, v->tracked, v->n, &before);

	*ret_after = r == 0 ? before.mtime : 0;
	if (row->ino && (r == -ENOENT || (r == 0 && before.begin < row->ino)))
		e->captured_at = row->btime;
	e->completed_at = find_completed(v, row, mtime);
	return r == -ENOENT ? 0 : r;
}

static int look(struct expfs *ex, const struct version_row *v, int64_t mtime, struct evidence *e, int64_t *ret_after)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;
	struct inode_row row;
	int r = tracked_get(db, v->tracked, &t);

	if (r == 0)
		r = get_inode(db, &t, v, &row);
	if (r == 0)
		r = find_capture(db, &t, v, &row, e);
	return r < 0 ? r : find_times(db, v, &row, mtime, e, ret_after);
}

/* What is written over gets an object of its own, unless equal bytes have one. */
static int find_origin(struct expfs *ex, const struct version_row *v, int64_t mtime, struct evidence *e)
{
	int64_t after, birth = 0;
	int r = look(ex, v, mtime, e, &after);

	if (r < 0 || e->captured_at || e->shared || v->is_dir || !v->object)
		return r;
	if (object_birth(ex->store, v->object, &birth) == 0 && birth >= after && birth <= e->completed_at)
		e->captured_at = birth;
	return 0;
}

int evidence_find(struct expfs *ex, const struct version_row *v, weights_stop stop, void *arg, struct evidence *ret)
{
	_cleanup_(members_free) struct members l = { 0 };
	_cleanup_evidence_ struct evidence e = { 0 };
	int r = list_members(ex, v, &l);

	if (r == 0)
		r = take_objects(ex, &l, &e.objects);
	if (r == 0)
		r = find_origin(ex, v, l.mtime, &e);
	if (r == 0)
		r = v->is_dir ? sum_members(ex, &l, stop, arg, e.sha256) : sum_object(ex, v->object, stop, arg, e.sha256);
	if (r == 0)
		r = find_tensors(ex, v, stop, arg, &e);
	if (r < 0)
		return r == -ENOENT ? -ESTALE : r;
	*ret = e;
	e = (struct evidence){ 0 };
	return 0;
}
