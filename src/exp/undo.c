#include "exp/undo.h"

#include "meta/content.h"
#include "meta/undo.h"

int undo_forget(struct db *db, uint64_t ino, struct file_drop *drop)
{
	struct undo_row row;
	int r = undo_get(db, ino, &row);

	if (r <= 0)
		return r;
	r = undo_delete(db, ino);
	return r < 0 ? r : file_drop_object(db, row.old, drop);
}

/* 1 if the object is on the disk; none is, too. */
static int is_on_disk(struct db *db, uint64_t object)
{
	struct content_row row;
	int r = object ? content_get(db, object, &row) : 0;

	return r < 0 ? r : !object || row.synced != CONTENT_UNSYNCED;
}

/* What the inode goes back to: *ret_old with 1; 0: nothing, it is new. */
static int last_good(struct db *db, uint64_t ino, uint64_t object, uint64_t *ret_old)
{
	struct undo_row row;
	int had, r = object ? is_on_disk(db, object) : 0;

	if (r < 0)
		return r;
	had = r > 0 ? 0 : undo_get(db, ino, &row);
	if (had < 0)
		return had;
	*ret_old = had ? row.old : object;
	return had || r > 0 || !object;
}

/* Notes old as what the inode goes back to. The one before is dropped last, for it
 * may be the same. */
static int keep(struct db *db, uint64_t ino, uint64_t old, struct file_drop *drop)
{
	struct undo_row before;
	int had = undo_get(db, ino, &before);
	int r = had < 0 ? had : undo_put(db, ino, old);

	return r < 0 || had == 0 ? r : file_drop_object(db, before.old, drop);
}

int undo_replaced(struct db *db, uint64_t ino, uint64_t old, uint64_t new, struct file_drop *drop)
{
	uint64_t good;
	int r = new ? is_on_disk(db, new) : 0;

	if (r < 0)
		return r;
	if (r == 0) {
		r = last_good(db, ino, old, &good);
		if (r > 0)
			r = keep(db, ino, good, drop);
	} else {
		r = undo_forget(db, ino, drop);
	}
	return r < 0 ? r : file_drop_object(db, old, drop);
}

int undo_is_open(struct db *db, uint64_t ino)
{
	struct inode_row row;
	int r = inode_get(db, ino, &row);

	if (r < 0 || !S_ISREG(row.mode))
		return r;
	r = is_on_disk(db, row.object);
	return r < 0 ? r : r == 0;
}

int undo_check_settled(struct db *db, uint64_t ino, struct file_drop *drop)
{
	int r = undo_is_open(db, ino);

	return r == 0 ? undo_forget(db, ino, drop) : r;
}

int undo_renamed(struct db *db, uint64_t ino, uint64_t over, struct file_drop *drop)
{
	struct inode_row row, there = { 0 };
	uint64_t good;
	int r = undo_check_settled(db, ino, drop);

	if (r <= 0)
		return r;
	r = inode_get(db, ino, &row);
	if (r == 0 && over)
		r = inode_get(db, over, &there);
	if (r < 0)
		return r;
	/* It has a past of its own, which may have been synced, and the new name not. */
	r = undo_get(db, ino, &(struct undo_row){ 0 });
	if (r != 0)
		return r;
	/* Names that never had that content; a content with two owners. */
	if (row.nlink > 1 || (over && (there.nlink > 1 || !S_ISREG(there.mode))))
		return 1;
	r = over ? last_good(db, over, there.object, &good) : 0;
	return r > 0 ? undo_put(db, ino, good) : r;
}

int undo_settle(struct db *db, uint64_t ino, uint64_t object, uint64_t seal, struct file_drop *drop)
{
	struct content_row content;
	struct inode_row row;
	int r = inode_get(db, ino, &row);

	if (r < 0)
		return r;
	if (row.object != object)
		return 1;
	if (!object)
		return undo_forget(db, ino, drop);
	r = content_get(db, object, &content);
	if (r < 0)
		return r;
	if (content.seal != seal)
		return 1;
	r = content_set_synced(db, object, seal);
	return r < 0 ? r : undo_forget(db, ino, drop);
}
