/* Versions of whose tensors those of the candidate are a part: a backbone of a model, averaged weights beside one.
 *
 * Of each version of the run the kept digests are looked at first, which is cheap: all of the candidate's have to be
 * among them. Those few are held against it by name: all names of the candidate's stand there behind one prefix. */
#include <stdlib.h>
#include <string.h>

#include "exp/side.h"
#include "exp/verify_part.h"

#define VERSIONS_MAX 10000
#define DIGESTS_MAX ((uint64_t)16 << 20) /* that are looked through in all */
#define LOOKED_AT_MAX 32
#define PREFIXES_MAX 16

struct search {
	struct question *q;
	struct side side; /* the candidate's */
	size_t n;	  /* of these, the model's */
	uint8_t (*digests)[WEIGHTS_DIGEST]; /* sorted, each once */
	size_t n_digests;
	uint64_t left; /* digests that may still be looked at */
	unsigned looked_at;
};

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, WEIGHTS_DIGEST);
}

static int set_digests(struct search *s)
{
	size_t n = 0;

	s->digests = malloc((s->n + 1) * sizeof(*s->digests));
	if (!s->digests)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		const struct side_tensor *v = &s->side.v[i];

		if (v->vague || !identity_is_told(v->digest))
			return -ENOENT;
		if (tensor_content_size(v->t) > 0)
			memcpy(s->digests[n++], v->digest, WEIGHTS_DIGEST);
	}
	qsort(s->digests, n, sizeof(*s->digests), by_bytes);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || by_bytes(s->digests[i], s->digests[s->n_digests - 1]) != 0)
			memmove(s->digests[s->n_digests++], s->digests[i], WEIGHTS_DIGEST);
	return s->n_digests > 0 ? 0 : -ENOENT;
}

struct seen {
	struct search *s;
	struct db *db;
	bool *seen;
	size_t n;
};

static int look_through(struct seen *k, uint64_t object)
{
	_cleanup_weights_row_ struct weights_row row = { 0 };
	struct search *s = k->s;
	int r = object ? weights_get(k->db, object, &row) : -ENOENT;

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (uint64_t i = 0; i < row.done && s->left > 0; i++, s->left--) {
		uint8_t(*found)[WEIGHTS_DIGEST] = bsearch(row.digests[i], s->digests, s->n_digests, sizeof(*s->digests), by_bytes);

		if (!found || k->seen[found - s->digests])
			continue;
		k->seen[found - s->digests] = true;
		k->n++;
	}
	return 0;
}

static int look_through_member(void *arg, const struct member_row *m, const char *name)
{
	return look_through(arg, m->object);
}

/* Are all digests of the candidate among those of the version? */
static int has_digests(struct search *s, uint64_t id, struct version_row *v)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(s->q->ex->meta);
	_cleanup_free_ bool *seen = calloc(s->n_digests, sizeof(*seen));
	struct seen k = { s, db, seen, 0 };
	int r = seen ? version_get(db, id, v) : -ENOMEM;

	if (r == 0)
		r = v->is_dir ? member_list(db, id, look_through_member, &k) : look_through(&k, v->object);
	return r < 0 ? r : k.n == s->n_digests;
}

/* By name, whether the model's or not. */
static int by_name(const void *pa, const void *pb)
{
	const struct side_tensor *a = pa, *b = pb;
	int r = memcmp(a->name, b->name, MIN(a->len, b->len));

	return r != 0 ? r : (a->len > b->len) - (a->len < b->len);
}

static const struct side_tensor *find(const struct side *in, const char *prefix, size_t n, const char *name, size_t len)
{
	_cleanup_free_ char *text = malloc(n + len + 1);
	struct side_tensor key = { .name = text, .len = n + len };

	if (!text)
		return NULL;
	memcpy(text, prefix, n);
	memcpy(text + n, name, len + 1);
	return bsearch(&key, in->v, in->n, sizeof(*in->v), by_name);
}

static bool is_same(const struct side_tensor *a, const struct side_tensor *b)
{
	return !b->vague && side_has_one_form(a, b) && by_bytes(a->digest, b->digest) == 0;
}

static bool stands_behind(const struct search *s, const struct side *in, const char *prefix, size_t n)
{
	for (size_t i = 0; i < s->n; i++) {
		size_t len;
		const char *name = side_name(&s->side, i, &len);
		const struct side_tensor *v = find(in, prefix, n, name, len);

		if (!v || !is_same(&s->side.v[i], v))
			return false;
	}
	return true;
}

/* A prefix is what stands before the name of the candidate's first tensor, where that is found. */
static bool is_part(const struct search *s, const struct side *in)
{
	size_t len;
	const char *name = side_name(&s->side, 0, &len);
	unsigned tried = 0;

	for (size_t i = 0; i < in->n && tried < PREFIXES_MAX; i++) {
		const struct side_tensor *v = &in->v[i];
		size_t n = v->len - len;

		if (v->len < len || memcmp(v->name + n, name, len) != 0 || (n > 0 && v->name[n - 1] != '.') ||
		    !is_same(&s->side.v[0], v))
			continue;
		tried++;
		if (stands_behind(s, in, v->name, n))
			return true;
	}
	return false;
}

static int is_proper_part(struct search *s, const struct version_row *v)
{
	_cleanup_weights_ struct weights w = { 0 };
	_cleanup_side_tensors_ struct side in = { 0 };
	int r = weights_load(s->q->ex, v, s->q->stop, s->q->arg, &w);

	if (r == 0)
		r = side_load(&w, &in);
	if (r < 0)
		return r == -ECANCELED || r == -ENOMEM ? r : 0; /* what cannot be read is none */
	if (in.n <= s->n)
		return 0;
	qsort(in.v, in.n, sizeof(*in.v), by_name);
	s->side.skip = 0;
	if (is_part(s, &in))
		return 1;
	s->side.skip = s->side.prefix;
	return s->side.skip > 0 && is_part(s, &in);
}

static int next_of_run(struct question *q, struct holds_row *h)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(q->ex->meta);

	return holds_after(db, q->candidate.run, h->version, h);
}

/* What has nothing more in its model is the same, and told as such. */
static int look_at(struct search *s, const struct holds_row *h)
{
	struct verified *ret = s->q->ret;
	struct version_row v;
	int r;

	if (memcmp(h->model, s->q->candidate.model, WEIGHTS_DIGEST) == 0)
		return 0;
	r = has_digests(s, h->version, &v);
	if (r <= 0)
		return r == -ENOENT ? 0 : r;
	s->looked_at++;
	r = is_proper_part(s, &v);
	if (r == 1)
		ret->part_of[ret->n_part_of++] = h->version;
	return MIN(r, 0);
}

static int search(struct search *s)
{
	struct question *q = s->q;
	struct holds_row h = { 0 };
	int r = 0;

	for (unsigned i = 0; r == 0 && i < VERSIONS_MAX && s->left > 0 && s->looked_at < LOOKED_AT_MAX; i++) {
		if (q->ret->n_part_of == VERIFY_HELD_MAX || (r = next_of_run(q, &h)) < 0)
			break;
		r = q->stop && q->stop(q->arg) ? -ECANCELED : look_at(s, &h);
	}
	return r == -ENOENT ? 0 : r;
}

int verify_find_whole(struct question *q)
{
	struct search s = { .q = q, .left = DIGESTS_MAX };
	int r = q->candidate.told ? side_load(&q->ret->candidate_weights, &s.side) : -ENOENT;

	while (r == 0 && s.n < s.side.n && s.side.v[s.n].model)
		s.n++;
	if (r == 0)
		r = set_digests(&s);
	if (r == 0)
		r = search(&s);
	free(s.digests);
	side_free(&s.side);
	return r == -ENOENT ? 0 : r;
}
