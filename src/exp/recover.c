#include "exp/recover.h"

#include <fcntl.h>
#include <string.h>

#include "exp/file.h"
#include "exp/path.h"
#include "exp/track.h"
#include "meta/content.h"
#include "meta/dirent.h"
#include "meta/tracked.h"
#include "meta/undo.h"
#include "meta/version.h"
#include "store/digest.h"
#include "util/io.h"
#include "util/log.h"

#define BATCH 256
#define LAST_VERSIONS 16

struct recovery {
	struct expfs *ex;
	struct content_row content; /* the one that is looked at */
	struct file_drop drop;      /* their files go with the garbage of the mount */
	struct recovered done;
	struct recovered now; /* of a transaction */
};

static void tell(struct recovery *k, struct db *db, uint64_t ino, const char *what)
{
	_cleanup_free_ char *path = NULL;

	if (path_of(db, ino, &path) == 0)
		log_msg("/%s: was not whole on the disk after a power cut; %s", path, what);
}

static int remove_names(struct recovery *k, struct db *db, uint64_t ino)
{
	uint64_t last = 0;
	int r;

	for (;;) {
		_cleanup_free_ char *name = NULL;
		struct dirent_row d;

		r = dirent_of(db, ino, &d, &name);
		if (r < 0)
			return r == -ENOENT ? 0 : r;
		if (d.id == last)
			return 0; /* a damaged row does not go; fsck will tell */
		last = d.id;
		r = dirent_delete(db, &d);
		if (r == 0)
			r = inode_touch_dir(db, d.parent, now_ns(), 0);
		if (r == 0)
			r = tx_track_gone(k->ex, db, d.parent, name, &k->drop);
		if (r < 0)
			return r;
	}
}

/* The version of the inode's own path that held the content, of the last ones. */
static int own_version(struct db *db, uint64_t ino, uint64_t object, struct version_row *ret)
{
	struct version_row v = { .n = INT64_MAX };
	_cleanup_free_ char *name = NULL;
	struct tracked_row t;
	struct dirent_row d;
	int r = dirent_of(db, ino, &d, &name);

	if (r == 0)
		r = tracked_by_dir(db, d.parent, &t);
	if (r == 0)
		r = tracked_by_name(db, t.id, name, &t);
	for (int i = 0; i < LAST_VERSIONS && r == 0; i++) {
		r = version_before(db, t.id, v.n, &v);
		if (r == 0 && v.object == object) {
			*ret = v;
			return 0;
		}
	}
	return r < 0 ? r : -ENOENT;
}

/* When the content was begun, if it was a version: others may have had the same later, or before. */
static int old_begin(struct db *db, uint64_t ino, uint64_t old, uint64_t *ret)
{
	struct version_row v = { 0 };
	uint64_t id;
	int r = old ? own_version(db, ino, old, &v) : -ENOENT;

	if (r == -ENOENT && old) {
		r = version_of_object(db, old, &id);
		if (r == 0)
			r = version_get(db, id, &v);
	}
	*ret = v.begin;
	return r == -ENOENT ? 0 : r;
}

/* What a content says of the inode that gets it back. */
static int take_back(struct recovery *k, struct db *db, struct inode_row *row, uint64_t old)
{
	struct content_row content = { .state = CONTENT_SEALED };
	struct stat st = { 0 };
	int r = old ? content_get(db, old, &content) : 0;

	if (r == 0 && old && object_stat(k->ex->store, old, &st) == 0)
		row->mtime = timespec_ns(&st.st_mtim);
	row->size = content.size;
	row->blocks = (uint64_t)st.st_blocks;
	row->ctime = now_ns();
	row->flags &= ~(uint32_t)(INODE_LIVE | INODE_CLOSED | INODE_COPIED);
	row->flags |= content.state == CONTENT_LIVE ? INODE_LIVE : INODE_CLOSED;
	if (r == 0)
		r = old_begin(db, row->ino, old, &row->begin);
	if (r == 0)
		r = inode_update(db, row);
	return r < 0 ? r : inode_set_object(db, row->ino, old);
}

static int undo_inode(struct recovery *k, struct db *db, uint64_t ino)
{
	struct inode_row row;
	struct undo_row undo;
	int r = inode_get(db, ino, &row);
	int had = undo_get(db, ino, &undo);

	if (r < 0 || had < 0)
		return MIN(r, had);
	if (had && undo.old == k->content.id)
		return -ESTALE;
	if (had) {
		tell(k, db, ino, "its content is the one from before again");
		k->now.back++;
		r = take_back(k, db, &row, undo.old);
		if (r == 0)
			r = undo_delete(db, ino);
		row.object = undo.old;
		return r < 0 ? r : tx_track_inode(k->ex, db, &row, &k->drop);
	}
	tell(k, db, ino, "it was new, and is gone");
	k->now.gone += row.nlink > 0;
	r = remove_names(k, db, ino);
	return r < 0 ? r : inode_delete(db, ino);
}

/* 1: more of them have it. */
static int tx_undo_content(struct db *db, void *arg)
{
	struct recovery *k = arg;
	uint64_t ino;
	int r = 0;

	k->now = (struct recovered){ 0 };
	k->drop.n = 0;
	r = tx_track_lost(k->ex, db, k->content.id);
	for (int i = 0; i < BATCH && r == 0; i++) {
		r = content_owner(db, k->content.id, &ino);
		if (r == 0)
			r = undo_inode(k, db, ino);
	}
	if (r == -ENOENT)
		return file_drop_object(db, k->content.id, &k->drop);
	return r < 0 ? r : 1;
}

/* The one owner changed it in place after it was sealed: so it is live. */
static int tx_unseal(struct db *db, void *arg)
{
	struct recovery *k = arg;
	struct inode_row row;
	uint64_t ino;
	int r;

	k->now = (struct recovered){ 0 };
	r = content_set_live(db, k->content.id);
	if (r == 0)
		r = content_owner(db, k->content.id, &ino);
	if (r == 0)
		r = inode_get(db, ino, &row);
	if (r < 0)
		return r == -ENOENT ? 0 : r; /* kept by an undo row alone */
	tell(k, db, ino, "it is as the disk has it");
	k->now.kept++;
	row.flags = (row.flags | INODE_LIVE) & ~(uint32_t)(INODE_CLOSED | INODE_COPIED);
	return inode_update(db, &row);
}

/* Has a sealed content its size and digest, on the disk and not in memory alone? What the
 * disk cannot read has not; -errno: there is no telling now. */
static int is_whole(struct recovery *k)
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	uint8_t digest[DIGEST_SIZE];
	struct stat st;
	int fd, r;

	r = object_get(k->ex->store, k->content.id, &o);
	if (r == 0)
		r = object_pin(o, &fd);
	if (r < 0)
		return r == -ENOENT || r == -EIO ? 0 : r;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	r = io_stat(fd, &st);
	if (r == 0 && (uint64_t)st.st_size != k->content.size)
		r = -EIO;
	if (r == 0)
		r = digest_file(fd, k->content.size, digest);
	object_unpin(o);
	if (r < 0)
		return r == -EIO ? 0 : r;
	return memcmp(digest, k->content.digest, DIGEST_SIZE) == 0;
}

static int recover_content(struct recovery *k)
{
	meta_fn f = content_is_behind(k->content.synced) ? tx_unseal : tx_undo_content;
	int r = k->content.state == CONTENT_SEALED && k->content.synced != CONTENT_HELD ? is_whole(k) : 0;

	if (r != 0)
		return MIN(r, 0);
	do {
		r = meta_write_freeing(k->ex->meta, f, k);
		k->done.back += r < 0 ? 0 : k->now.back;
		k->done.gone += r < 0 ? 0 : k->now.gone;
		k->done.kept += r < 0 ? 0 : k->now.kept;
	} while (r == 1);
	if (r != -ESTALE)
		return r;
	log_msg("object %llx: is not whole, and what was before it is not there; run expfs fsck",
		(unsigned long long)k->content.id);
	return 0;
}

struct unlinked {
	uint64_t ino[BATCH];
	int n;
	struct file_drop drop; /* as of a recovery */
};

static int tx_drop_unlinked(struct db *db, void *arg)
{
	struct unlinked *u = arg;
	struct inode_row row;
	int r = 0;

	u->drop.n = 0;
	for (int i = 0; i < u->n && r == 0; i++) {
		r = inode_get(db, u->ino[i], &row);
		if (r == 0)
			r = file_drop_inode(db, &row, &u->drop);
	}
	return r;
}

/* What somebody had open and has no name, for it may have what others get back. */
static int drop_unlinked(struct recovery *k)
{
	struct unlinked u;
	uint64_t after = 0;
	int r = 0;

	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(k->ex->meta);

			u.n = inode_unlinked(db, after, u.ino, BATCH);
		}
		if (u.n <= 0)
			break;
		after = u.ino[u.n - 1];
		r = meta_write_freeing(k->ex->meta, tx_drop_unlinked, &u);
	} while (r == 0 && u.n == BATCH);
	return u.n < 0 ? u.n : r;
}

static int recover_contents(struct recovery *k, enum content_state state, bool behind)
{
	struct content_row rows[BATCH];
	uint64_t after = 0;
	int n, r = 0;

	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(k->ex->meta);

			n = content_list_unsynced(db, state, after, rows, BATCH);
		}
		for (int i = 0; i < n && r == 0; i++) {
			k->content = rows[i];
			after = rows[i].id;
			if (content_is_behind(rows[i].synced) == behind)
				r = recover_content(k);
		}
	} while (n == BATCH && r == 0);
	return n < 0 ? n : r;
}

int recover_after_cut(struct expfs *ex, struct recovered *ret)
{
	struct recovery k = { .ex = ex };
	int r = drop_unlinked(&k);

	/* What is only to be called live comes first, for others may get it back. */
	if (r == 0)
		r = recover_contents(&k, CONTENT_SEALED, true);
	if (r == 0)
		r = recover_contents(&k, CONTENT_SEALED, false);
	if (r == 0)
		r = recover_contents(&k, CONTENT_LIVE, false);
	*ret = k.done;
	return r;
}
