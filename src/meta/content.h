/* Rows of the table object: what the database knows of a content. */
#ifndef EXPFS_META_CONTENT_H
#define EXPFS_META_CONTENT_H

#include "meta/meta.h"

#define CONTENT_DIGEST 16

enum content_state { CONTENT_LIVE = 0, CONTENT_SEALED = 1 };
#define CONTENT_NO_VERDICT (-1)

enum content_synced {
	CONTENT_UNSYNCED = 0, /* nothing of it is known to be on the disk */
	CONTENT_WHOLE = 1,    /* it is, as sealed */
	CONTENT_CHANGED = 2,  /* it was, as its user wanted it, and was changed in place since: what the disk has is good */
	CONTENT_BEGUN = 3,    /* it is in its first writing, of which the disk has what there was at some moment */
	CONTENT_HELD = 4,     /* as 0; sealed by a close that may have been in the midst of its writing */
};

static inline bool content_is_on_disk(enum content_synced s)
{
	return s != CONTENT_UNSYNCED && s != CONTENT_HELD;
}

/* Sealed, it need not be on the disk as sealed, and has nothing to go back to. */
static inline bool content_is_behind(enum content_synced s)
{
	return s == CONTENT_CHANGED || s == CONTENT_BEGUN;
}

struct content_row {
	uint64_t id;
	enum content_state state;
	uint64_t size;
	uint8_t digest[CONTENT_DIGEST]; /* of a sealed one */
	uint64_t seal; /* number of its sealing, 0 while live */
	enum content_synced synced;
	int verdict; /* what its format says, in the numbers of who asked it */
};

int content_insert_live(struct db *db, uint64_t id);
int content_get(struct db *db, uint64_t id, struct content_row *ret); /* -ESTALE */
int content_delete(struct db *db, uint64_t id);
int content_set_live(struct db *db, uint64_t id);
int content_set_sealed(struct db *db, uint64_t id, uint64_t seal, uint64_t size,
		       const uint8_t digest[CONTENT_DIGEST]);

/* What was found out about the content of one sealing (0: of a live one); nothing
 * happens where the object was opened or sealed again meanwhile. live: what a live
 * one that was synced is then, if it is not CONTENT_CHANGED already. */
int content_set_synced(struct db *db, uint64_t id, uint64_t seal, enum content_synced live);
int content_set_held(struct db *db, uint64_t id, uint64_t seal);
int content_set_verdict(struct db *db, uint64_t id, uint64_t seal, int verdict);

/* The live content of a file without an undo row gets from 0 to CONTENT_BEGUN; any
 * from there back to 0. */
int content_set_begun(struct db *db, uint64_t id);
int content_unset_begun(struct db *db, uint64_t id);

/* Up to max sealed objects of this size and digest, other than not_this; the
 * count. */
int content_equal(struct db *db, uint64_t size, const uint8_t digest[CONTENT_DIGEST], uint64_t not_this,
		  uint64_t *ret, int max);

/* How many rows, of inodes, undo and versions, refer to it; counting ends at 2. */
int content_refs(struct db *db, uint64_t id);

/* Does any row but one inode, and the versions of its paths, refer to it? */
int content_is_shared(struct db *db, uint64_t id);

/* Up to max objects with an id above after: of any kind; live ones; those that are
 * not known to be on the disk as they are, without live ones that are changed in
 * place; the same with a name in the directory dir. The count. */
int content_list(struct db *db, uint64_t after, struct content_row *ret, int max);
int content_list_live(struct db *db, uint64_t after, uint64_t *ret, int max);
int content_list_unsynced(struct db *db, enum content_state state, uint64_t after, struct content_row *ret, int max);
int content_list_unsynced_in(struct db *db, uint64_t dir, uint64_t after, struct content_row *ret, int max);

/* The inode that owns a live object, or any that shares a sealed one; -ENOENT. */
int content_owner(struct db *db, uint64_t id, uint64_t *ret_ino);

struct content_sums {
	uint64_t files;   /* regular files that have a name */
	uint64_t raw;     /* their bytes, without those whose object is live */
	uint64_t objects; /* sealed ones */
	uint64_t unique;  /* their bytes */
	uint64_t stored;  /* what they took of the disk when they were sealed; of history alone: their blocks' */
};
int content_sums(struct db *db, struct content_sums *ret);

#endif
