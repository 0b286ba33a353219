/* In which order it comes. */
#include <string.h>

#include "sync/import_part.h"

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static const struct tree_entry *checkpoint_of(const struct import_item *item)
{
	return item->unit ? item->unit->dir : item->e;
}

static int64_t time_of(const struct import_item *item)
{
	return item->unit ? item->unit->time : timespec_ns(&item->e->st.st_mtim);
}

static int compare_items(const void *a, const void *b)
{
	const struct import_item *x = a, *y = b;
	int r = compare_numbers(x->turn, y->turn);

	if (r == 0 && x->turn == IMPORT_CHECKPOINTS) {
		r = time_of(x) < time_of(y) ? -1 : time_of(x) > time_of(y);
		if (r == 0)
			r = compare_numbers(x->step, y->step);
		if (r == 0)
			r = strcmp(checkpoint_of(x)->to, checkpoint_of(y)->to);
	}
	return r == 0 ? strcmp(x->e->to, y->e->to) : r;
}

static int compare_links(const void *a, const void *b)
{
	const struct import_item *x = *(struct import_item *const *)a, *y = *(struct import_item *const *)b;
	int r = compare_numbers(x->e->st.st_dev, y->e->st.st_dev);

	if (r == 0)
		r = compare_numbers(x->e->st.st_ino, y->e->st.st_ino);
	return r == 0 ? compare_numbers((uintptr_t)x, (uintptr_t)y) : r;
}

static int find_links(struct import *im)
{
	_cleanup_free_ struct import_item **v = calloc(im->n + 1, sizeof(struct import_item *));
	size_t n = 0;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < im->n; i++) {
		im->v[i].first = &im->v[i];
		if (im->v[i].e->st.st_nlink > 1)
			v[n++] = &im->v[i];
	}
	qsort(v, n, sizeof(struct import_item *), compare_links);
	for (size_t i = 1; i < n; i++)
		if (v[i]->e->st.st_ino == v[i - 1]->e->st.st_ino && v[i]->e->st.st_dev == v[i - 1]->e->st.st_dev)
			v[i]->first = v[i - 1]->first;
	for (size_t i = 0; i < im->n; i++)
		if (im->v[i].first == &im->v[i])
			im->bytes += (uint64_t)im->v[i].e->st.st_size;
	return 0;
}

/* Units are numbered in the order in which their directories are in the tree; a directory stands before those in it. */
static int compare_dirs(const void *a, const void *b)
{
	const struct import_dir *x = a, *y = b;
	int r = compare_numbers((uintptr_t)x->unit, (uintptr_t)y->unit);

	return r == 0 ? compare_numbers((uintptr_t)y->e, (uintptr_t)x->e) : r;
}

static void sort_dirs(struct import *im)
{
	qsort(im->dirs, im->n_dirs, sizeof(*im->dirs), compare_dirs);
	for (size_t i = 0; i < im->n_dirs; i++) {
		struct import_unit *unit = im->dirs[i].unit;

		if (unit && unit->n_dirs++ == 0)
			unit->dirs = &im->dirs[i];
	}
}

int import_order(struct import *im)
{
	sort_dirs(im);
	qsort(im->v, im->n, sizeof(*im->v), compare_items);
	return find_links(im);
}
