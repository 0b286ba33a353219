/* What contents take of the disk stands in the rows since they were sealed; only live ones are looked up. */
#include "exp/space.h"

#include "meta/content.h"
#include "store/object.h"

#define BATCH 256

static int add_live(struct expfs *ex, struct space_of_store *s)
{
	uint64_t ids[BATCH], after = 0;
	int n;

	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

			n = content_list_live(db, after, ids, BATCH);
		}
		for (int i = 0; i < n; i++) {
			struct stat st;

			after = ids[i];
			if (object_stat(ex->store, ids[i], &st) < 0)
				continue; /* sealed or removed meanwhile, or damaged */
			s->objects++;
			s->raw += (uint64_t)st.st_size;
			s->unique += (uint64_t)st.st_size;
			s->stored += (uint64_t)st.st_blocks * 512;
		}
	} while (n == BATCH);
	return MIN(n, 0);
}

int space_of_store(struct expfs *ex, struct space_of_store *ret)
{
	struct content_sums sums;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = inode_count(db, &ret->inodes);
		if (r == 0)
			r = content_sums(db, &sums);
	}
	if (r < 0)
		return r;
	ret->files = sums.files;
	ret->objects = sums.objects;
	ret->raw = sums.raw;
	ret->unique = sums.unique;
	ret->stored = sums.stored;
	return add_live(ex, ret);
}
