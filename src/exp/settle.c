/* Locks: none of its own. What is listed is looked at again in the transaction that
 * acts on it, for it is another by then, or gone. */
#include "exp/settle.h"

#include "exp/path.h"
#include "exp/undo.h"
#include "meta/content.h"
#include "meta/undo.h"

#define BATCH 256
#define SYNC_ONE_BY_ONE 16
#define LET_GO_BATCH 128
#define OPEN_NS 60000000000ll /* after which a file that is not closed is no save, but a log or the like */

struct marks {
	struct content_row *row;
	int n;
};

static int tx_synced(struct db *db, void *arg)
{
	struct marks *m = arg;
	int r = 0;

	for (int i = 0; i < m->n && r == 0; i++)
		r = m->row[i].state == CONTENT_LIVE ? content_set_begun(db, m->row[i].id) :
						      content_set_synced(db, m->row[i].id, m->row[i].seal, CONTENT_BEGUN);
	return r;
}

static int sync_object(struct expfs *ex, uint64_t id)
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	int r = object_get(ex->store, id, &o);

	if (r == 0)
		r = object_sync(o, true);
	return r == -ENOENT ? 0 : r; /* removed meanwhile */
}

/* Few are synced each for itself, many by one sync of their file system. */
static int sync_rows(struct expfs *ex, const struct content_row *row, int n)
{
	if (n > SYNC_ONE_BY_ONE)
		return store_sync(ex->store);
	for (int i = 0; i < n; i++) {
		int r = sync_object(ex, row[i].id);

		if (r < 0)
			return r;
	}
	return 0;
}

static int sync_and_mark(struct expfs *ex, struct marks *m)
{
	int r = expfs_sync_result(ex, sync_rows(ex, m->row, m->n));

	return r < 0 || m->n == 0 ? r : expfs_write(ex, tx_synced, m);
}

int settle_content(struct expfs *ex, const struct content_row *row)
{
	struct content_row copy = *row;

	return sync_and_mark(ex, &(struct marks){ .row = &copy, .n = 1 });
}

static bool is_older(int64_t time, int64_t than)
{
	int64_t age = now_ns() - time;

	return age < -than || age > than;
}

/* A file that somebody still has open to write may be in the midst of a save: a
 * forked child's close seals, too. */
static int leave_out_open(struct expfs *ex, struct content_row *row, int n)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int kept = 0;

	for (int i = 0; i < n; i++) {
		int64_t birth;
		uint64_t ino;

		if (content_owner(db, row[i].id, &ino) < 0 || !file_has_writers(ex, ino) || content_refs(db, row[i].id) > 1 ||
		    object_birth(ex->store, row[i].id, &birth) < 0 || is_older(birth, OPEN_NS))
			row[kept++] = row[i];
	}
	return kept;
}

int settle_sealed(struct expfs *ex, bool whatever)
{
	struct content_row row[BATCH];
	struct marks m = { .row = row };
	uint64_t after = 0;
	int n, r = 0;

	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

			n = content_list_unsynced(db, CONTENT_SEALED, after, row, BATCH);
		}
		if (n <= 0)
			break;
		after = row[n - 1].id;
		m.n = whatever ? n : leave_out_open(ex, row, n);
		r = sync_and_mark(ex, &m);
	} while (r == 0 && n == BATCH);
	return n < 0 ? n : r;
}

struct settle {
	uint64_t ino, object;
	struct file_drop drop;
};

static int tx_settle(struct db *db, void *arg)
{
	struct settle *s = arg;

	s->drop.n = 0;
	return undo_settle(db, s->ino, s->object, 0, CONTENT_BEGUN, &s->drop);
}

/* Is it a file that is written once, from its beginning to its end? */
static bool is_save(struct expfs *ex, struct db *db, uint64_t ino)
{
	enum role role = path_role_of_inode(ex, db, ino);

	return (role != ROLE_NONE && role != ROLE_SIGNALS) || path_inode_in_checkpoint(ex, db, ino);
}

/* A live content that is not known to be on the disk goes away in a power cut. So
 * it must be there before it is worth more than what it took the place of. */
static void settle_if_left_open(struct expfs *ex, uint64_t object, bool whatever)
{
	struct settle s = { .object = object };
	int64_t birth;
	struct stat st;
	bool save;

	if (object_stat(ex->store, object, &st) < 0 || object_birth(ex->store, object, &birth) < 0)
		return;
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		if (content_owner(db, object, &s.ino) < 0)
			return;
		save = is_save(ex, db, s.ino);
	}
	if (!whatever && !is_older(timespec_ns(&st.st_mtim), OPEN_NS) && (save || !is_older(birth, OPEN_NS)))
		return;
	if (expfs_sync_result(ex, sync_object(ex, object)) == 0 && expfs_write(ex, tx_settle, &s) == 0)
		file_drop_finish(ex, &s.drop);
}

void settle_left_open(struct expfs *ex, bool whatever)
{
	struct content_row row[BATCH];
	uint64_t after = 0;
	int n;

	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

			n = content_list_unsynced(db, CONTENT_LIVE, after, row, BATCH);
		}
		for (int i = 0; i < n; i++) {
			after = row[i].id;
			settle_if_left_open(ex, row[i].id, whatever);
		}
	} while (n == BATCH);
}

struct let_go {
	struct expfs *ex;
	uint64_t dir; /* only what has a name there, 0: all */
	struct undo_row row[LET_GO_BATCH];
	int n;
	bool whatever; /* also what is still needed */
	struct file_drop drop;
};

static bool is_empty(struct db *db, uint64_t ino)
{
	struct inode_row row;

	return inode_get(db, ino, &row) == 0 && row.object == 0;
}

static int tx_let_go(struct db *db, void *arg)
{
	struct let_go *l = arg;
	int r = 0;

	l->drop.n = 0;
	for (int i = 0; i < l->n && r == 0; i++) {
		if (!l->whatever && !l->dir && file_has_writers(l->ex, l->row[i].ino) && is_empty(db, l->row[i].ino))
			continue;
		r = l->whatever ? undo_forget(db, l->row[i].ino, &l->drop) :
				  MIN(undo_check_settled(db, l->row[i].ino, &l->drop), 0);
	}
	return r;
}

static int list(struct expfs *ex, const struct let_go *l, uint64_t after, struct undo_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return l->whatever ? undo_list_keeping(db, after, ret, LET_GO_BATCH) :
			     undo_list_settled(db, l->dir, after, ret, LET_GO_BATCH);
}

static int let_go(struct expfs *ex, uint64_t dir, bool whatever)
{
	struct let_go l = { .ex = ex, .dir = dir, .whatever = whatever };
	uint64_t after = 0;
	int sum = 0, r;

	do {
		l.n = list(ex, &l, after, l.row);
		if (l.n <= 0)
			break;
		after = l.row[l.n - 1].ino;
		r = expfs_write_freeing(ex, tx_let_go, &l);
		if (r < 0)
			return r;
		file_drop_finish(ex, &l.drop);
		sum += l.drop.n;
	} while (l.n == LET_GO_BATCH);
	return l.n < 0 ? l.n : sum;
}

int settle_let_go(struct expfs *ex, bool whatever)
{
	return let_go(ex, 0, whatever);
}

/* A live content that goes back to something need not be on the disk for its name
 * to be there. */
static int leave_out_replaced(struct expfs *ex, struct content_row *row, int n)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct undo_row undo;
	uint64_t ino;
	int kept = 0;

	for (int i = 0; i < n; i++)
		if (row[i].state == CONTENT_SEALED || content_owner(db, row[i].id, &ino) < 0 || undo_get(db, ino, &undo) == 0)
			row[kept++] = row[i];
	return kept;
}

int settle_dir(struct expfs *ex, uint64_t dir)
{
	struct content_row row[BATCH];
	struct marks m = { .row = row };
	uint64_t after = 0;
	int n, r = 0;

	if (atomic_load(&ex->read_only))
		return -EIO;
	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

			n = content_list_unsynced_in(db, dir, after, row, BATCH);
		}
		if (n <= 0)
			break;
		after = row[n - 1].id;
		m.n = leave_out_replaced(ex, row, n);
		r = sync_and_mark(ex, &m);
	} while (r == 0 && n == BATCH);
	if (r == 0 && n >= 0)
		r = MIN(let_go(ex, dir, false), 0);
	if (r == 0)
		r = n < 0 ? n : expfs_sync_result(ex, meta_sync(ex->meta));
	/* One that failed meanwhile may have taken the error of this one's bytes. */
	return r == 0 && atomic_load(&ex->read_only) ? -EIO : r;
}
