/* The contents of what is to be loaded: they are on the disk before others have them. */
#include <string.h>

#include "exp/load_source.h"
#include "exp/settle.h"
#include "meta/content.h"
#include "util/list.h"

struct settling {
	struct expfs *ex;
	struct settle_content *v; /* contents that are not on the disk */
	size_t n;
	char **ret_error;
};

static void free_settling(struct settling *k)
{
	free(k->v);
}

static int lost(struct settling *k, const struct put_file *f, int r)
{
	return load_fail(k->ret_error, r == -ENOENT || r == -ESTALE ? -EIO : r, "%s: its content cannot be had: %s", f->path,
			 strerror(-r));
}

static int add_unsynced(struct settling *k, struct put_file *f)
{
	struct content_row content;
	struct settle_content *v;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(k->ex->meta);

		r = content_get(db, f->object, &content);
	}
	if (r < 0)
		return lost(k, f, r);
	if (content.state == CONTENT_LIVE)
		return load_fail(k->ret_error, -EOPNOTSUPP,
				 "%s: is changed in place, as files with large holes are, and cannot be shared", f->path);
	if (content.synced == CONTENT_WHOLE)
		return 0;
	v = array_grow(k->v, k->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	k->v = v;
	v[k->n++] = (struct settle_content){ .id = content.id, .seal = content.seal };
	return 0;
}

static int set_blocks(struct settling *k, struct put_file *f)
{
	struct stat st;
	int r = object_stat(k->ex->store, f->object, &st);

	if (r < 0)
		return lost(k, f, r);
	f->blocks = (uint64_t)st.st_blocks;
	return 0;
}

typedef int (*file_fn)(struct settling *k, struct put_file *f);

static int for_files(struct settling *k, struct put_file *files, size_t n, file_fn fn)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = files[i].object ? fn(k, &files[i]) : 0;
	return r;
}

static int for_all(struct settling *k, struct load_source *s, file_fn fn)
{
	int r = for_files(k, s->files, s->n, fn);

	for (size_t i = 0; i < s->n_checkpoints && r == 0; i++)
		r = for_files(k, s->checkpoints[i].files, s->checkpoints[i].n, fn);
	return r;
}

int load_source_settle(struct expfs *ex, struct load_source *s, char **ret_error)
{
	_cleanup_(free_settling) struct settling k = { .ex = ex, .ret_error = ret_error };
	int r = for_all(&k, s, add_unsynced);

	if (r == 0 && k.n > 0)
		r = settle_contents(ex, k.v, k.n);
	return r < 0 ? r : for_all(&k, s, set_blocks);
}
