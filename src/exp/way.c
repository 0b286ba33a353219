#include "exp/way.h"

#include <errno.h>
#include <stdlib.h>

#include "exp/entries.h"
#include "meta/line.h"

struct stretch {
	uint64_t from;
	int64_t rank;
};

int way_to(struct db *db, uint64_t run, struct version_row v, way_fn f, void *arg)
{
	for (;;) {
		struct line_row load = { 0 };
		bool came;
		int r = line_load_before(db, run, v.begin + 1, &load);

		if (r < 0 && r != -ENOENT)
			return r;
		came = v.begin == load.at; /* from another run, by that load */
		r = f(arg, db, load.id && !came ? load.at + 1 : load.at, v.rank);
		if (r != 0 || load.version == 0 || came)
			return r;
		r = version_get(db, load.version, &v);
		if (r < 0)
			return r == -ENOENT ? 0 : r;
	}
}

int way_to_experiment(struct db *db, uint64_t run, uint64_t experiment, way_fn f, void *arg)
{
	struct line_row line;
	int r = line_of_experiment(db, experiment, &line);

	if (r < 0 || line.run != run)
		return r == -ENOENT ? 0 : r;
	return way_to(db, run, (struct version_row){ .begin = line.at, .rank = (int64_t)line.at }, f, arg);
}

static int add(void *arg, struct db *db, uint64_t from, int64_t rank)
{
	struct way *w = arg;
	struct stretch *v = array_grow(w->v, w->n, sizeof(*v));

	if (!v)
		return -ENOMEM;
	w->v = v;
	v[w->n++] = (struct stretch){ from, rank };
	return 0;
}

int way_load(struct db *db, uint64_t run, struct way *ret)
{
	struct line_row load = { 0 };
	struct version_row v;
	int r = line_load_before(db, run, INT64_MAX, &load);

	if (r < 0 && r != -ENOENT)
		return r;
	r = add(ret, db, load.at, INT64_MAX); /* what came from another run was begun by the load */
	if (r < 0 || !load.id)
		return r;
	if (!load.version)
		return way_to_experiment(db, run, load.experiment, add, ret);
	r = version_get(db, load.version, &v);
	return r < 0 ? (r == -ENOENT ? 0 : r) : way_to(db, run, v, add, ret);
}

bool way_has(const struct way *w, uint64_t begin, int64_t rank)
{
	for (size_t i = 0; i < w->n; i++)
		if (begin >= w->v[i].from && rank <= w->v[i].rank)
			return true;
	return false;
}

void way_free(struct way *w)
{
	free(w->v);
	*w = (struct way){ 0 };
}
