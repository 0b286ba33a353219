#include "exp/undo.h"

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

/* 1 if the object is on the disk; one whose row is lost is not. */
static int is_on_disk(struct db *db, uint64_t object)
{
	struct content_row row;
	int r = content_get(db, object, &row);

	return r < 0 ? (r == -ESTALE ? 0 : r) : content_is_on_disk(row.synced);
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

/* 1; 0: there is no content, or its row is lost, and nothing to care for. */
static int get_content(struct db *db, const struct inode_row *row, struct content_row *ret)
{
	int r = row->object ? content_get(db, row->object, ret) : -ESTALE;

	return r == -ESTALE ? 0 : r < 0 ? r : 1;
}

int undo_check_settled(struct db *db, uint64_t ino, struct file_drop *drop)
{
	struct content_row content;
	struct inode_row row;
	int r = inode_get(db, ino, &row);

	if (r == 0)
		r = get_content(db, &row, &content);
	if (r < 0 && r != -ESTALE)
		return r;
	if (r > 0 && (!content_is_on_disk(content.synced) ||
		      (content.state == CONTENT_SEALED && content_is_behind(content.synced))))
		return 1;
	return undo_forget(db, ino, drop);
}

/* Notes for an inode that has nothing of its own to go back to what over leads to. */
static int go_back_to(struct db *db, const struct inode_row *row, uint64_t over)
{
	struct inode_row there;
	uint64_t good;
	int r = over ? inode_get(db, over, &there) : 0;

	if (r < 0)
		return r;
	/* Names that never had that content; a content with two owners. */
	if (row->nlink > 1 || (over && (there.nlink > 1 || !S_ISREG(there.mode))))
		return 1;
	r = over ? last_good(db, over, there.object, &good) : 0;
	if (r <= 0)
		return r;
	r = content_unset_begun(db, row->object);
	return r < 0 ? r : undo_put(db, row->ino, good);
}

int undo_renamed(struct db *db, uint64_t ino, uint64_t over, bool synced, struct file_drop *drop)
{
	struct content_row content;
	struct inode_row row;
	int r = inode_get(db, ino, &row);

	if (r == 0)
		r = get_content(db, &row, &content);
	if (r < 0)
		return r;
	/* A live one can be synced as it is now, and no better. */
	synced = synced && r > 0 && content.state == CONTENT_LIVE && content_is_on_disk(content.synced);
	if (r > 0 && over && content.synced == CONTENT_CHANGED && !synced)
		return 1;
	if (r == 0 || content.synced == CONTENT_WHOLE || content.synced == CONTENT_CHANGED ||
	    (content.synced == CONTENT_BEGUN && !over))
		return undo_forget(db, ino, drop);
	/* It has a past of its own, which may have been synced, and the new name not. */
	r = undo_get(db, ino, &(struct undo_row){ 0 });
	if (r == 0)
		r = go_back_to(db, &row, over);
	return r > 0 ? !synced : r;
}

int undo_settle(struct db *db, uint64_t ino, uint64_t object, uint64_t seal, enum content_synced live,
		struct file_drop *drop)
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
	r = content_set_synced(db, object, seal, live);
	return r < 0 ? r : undo_forget(db, ino, drop);
}
