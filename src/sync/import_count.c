/* What checkpoints there are, of which those count that are whole, as they do in the mount; and whether they are from before the
 * configuration. */
#include <string.h>

#include "exp/entries.h"
#include "format/whole.h"
#include "sync/import_part.h"

/* One that cannot be read is told when it is to come. */
static bool is_torn(const struct tree *t, const struct tree_entry *e)
{
	const char *name = path_last(e->to), *why;
	_cleanup_close_ int fd = -1;
	bool whole;

	if (e->link || !role_weights_suffix(name, strlen(name)))
		return false;
	fd = tree_open(t, e);
	return fd >= 0 && format_whole(fd, (uint64_t)e->st.st_size, name, &whole, &why) == 0 && !whole;
}

static void find_newest_hp(struct import_place *p, const struct tree_entry *e)
{
	if (!p->hp || timespec_ns(&e->st.st_mtim) > timespec_ns(&p->hp->st.st_mtim))
		p->hp = e;
}

static void count(struct import_place *p, const struct tree_entry *e, int64_t time, bool torn, bool has_step, uint64_t step)
{
	if (torn) {
		p->torn++;
		p->first_torn = p->first_torn ? p->first_torn : e->to;
		return;
	}
	p->checkpoints++;
	p->older += p->hp && time < timespec_ns(&p->hp->st.st_mtim);
	if (!has_step)
		return;
	p->steps++;
	p->low = MIN(p->low, step);
	p->high = MAX(p->high, step);
}

void import_count(struct import *im)
{
	for (size_t i = 0; i < im->n; i++)
		if (im->v[i].is_hp)
			find_newest_hp(&im->places[im->v[i].place], im->v[i].e);
	for (size_t i = 0; i < im->n; i++) {
		struct import_item *item = &im->v[i];

		if (item->unit)
			item->unit->torn |= is_torn(im->tree, item->e);
		else if (item->is_checkpoint)
			count(&im->places[item->place], item->e, timespec_ns(&item->e->st.st_mtim), is_torn(im->tree, item->e),
			      item->has_step, item->step);
	}
	for (size_t i = 0; i < im->n_units; i++) {
		const struct import_unit *u = &im->units[i];

		if (u->time > INT64_MIN)
			count(&im->places[u->place], u->dir, u->time, u->torn, u->has_step, u->step);
	}
}
