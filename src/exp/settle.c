/* Locks: none of its own. What is listed is looked at again in the transaction that
 * acts on it, for it is another by then, or gone. A pass ends at the number that is the
 * next when it begins, so that it does not follow those who make files. */
#include "exp/settle.h"

#include "exp/path.h"
#include "exp/undo.h"
#include "meta/content.h"
#include "meta/undo.h"

#define BATCH 256
#define SYNC_ONE_BY_ONE 16
#define MARK_BATCH 4096
#define LET_GO_BATCH 128
#define OPEN_NS 60000000000ll /* after which what is not closed is a log, and what is not written is done */

/* Contents that are to be synced, or were: each as of a sealing, or live with 0. */
struct marks {
	struct settle_content *mark;
	size_t n, room;
	size_t first; /* of a transaction */
};

static void cleanup_marks(struct marks *m)
{
	free(m->mark);
}

static int marks_add(struct marks *m, const struct content_row *row)
{
	if (m->n == m->room) {
		size_t room = m->room ? m->room * 2 : BATCH;
		struct settle_content *v = realloc(m->mark, room * sizeof(*v));

		if (!v)
			return -ENOMEM;
		m->mark = v;
		m->room = room;
	}
	m->mark[m->n++] = (struct settle_content){ .id = row->id, .seal = row->seal };
	return 0;
}

static int tx_synced(struct db *db, void *arg)
{
	struct marks *m = arg;
	int r = 0;

	for (size_t i = m->first; i < MIN(m->n, m->first + MARK_BATCH) && r == 0; i++)
		r = m->mark[i].seal ? content_set_synced(db, m->mark[i].id, m->mark[i].seal, CONTENT_CHANGED) :
				      content_set_begun(db, m->mark[i].id);
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
static int sync_objects(struct expfs *ex, const struct marks *m)
{
	if (m->n > SYNC_ONE_BY_ONE)
		return store_sync(ex->store);
	for (size_t i = 0; i < m->n; i++) {
		int r = sync_object(ex, m->mark[i].id);

		if (r < 0)
			return r;
	}
	return 0;
}

static int sync_and_mark(struct expfs *ex, struct marks *m)
{
	int r = expfs_sync_result(ex, sync_objects(ex, m));

	for (m->first = 0; r == 0 && m->first < m->n; m->first += MARK_BATCH)
		r = expfs_write(ex, tx_synced, m);
	return r;
}

int settle_contents(struct expfs *ex, struct settle_content *v, size_t n)
{
	return sync_and_mark(ex, &(struct marks){ .mark = v, .n = n });
}

int settle_objects(struct expfs *ex, const uint64_t *object, size_t n)
{
	_cleanup_(cleanup_marks) struct marks m = { 0 };
	int r = 0;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		for (size_t i = 0; i < n && r == 0; i++) {
			struct content_row row;

			r = content_get(db, object[i], &row);
			if (r == 0 && row.state == CONTENT_SEALED && row.synced != CONTENT_WHOLE)
				r = marks_add(&m, &row);
			else if (r == -ESTALE)
				r = 0;
		}
	}
	return r < 0 || m.n == 0 ? r : sync_and_mark(ex, &m);
}

static bool is_recent(int64_t at)
{
	return monotonic_ns() - at < OPEN_NS;
}

/* Is it a file that is written once, from its beginning to its end? */
static bool is_save(struct expfs *ex, struct db *db, uint64_t ino)
{
	enum role role = path_role_of_inode(ex, db, ino);

	return (role != ROLE_NONE && role != ROLE_SIGNALS) || path_inode_in_checkpoint(ex, db, ino);
}

/* Is somebody in the midst of writing what counts as a whole only? A log never is one. */
static bool is_being_saved(struct expfs *ex, struct db *db, uint64_t ino, const struct file_use *use)
{
	return use->written_at && (is_recent(use->begun_at) || is_save(ex, db, ino));
}

/* A sealed content may be in the midst of a save, for a forked child's close seals, too. */
static bool may_go_on(struct expfs *ex, struct db *db, uint64_t object)
{
	struct file_use use;
	uint64_t ino;

	if (content_owner(db, object, &ino) < 0)
		return false;
	file_get_use(ex, ino, &use);
	return is_recent(use.written_at) && is_being_saved(ex, db, ino, &use) && !content_is_shared(db, object);
}

/* What is to be synced of the sealed contents, and what is to be held. */
static int list_sealed(struct expfs *ex, bool whatever, struct marks *sync, struct marks *hold)
{
	struct content_row row[BATCH];
	uint64_t after = 0, end = meta_id(ex->meta);
	int n, r = 0;

	do {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		n = content_list_unsynced(db, CONTENT_SEALED, after, row, BATCH);
		for (int i = 0; i < n && r == 0; i++) {
			after = row[i].id;
			if (after >= end)
				break;
			if (whatever || !may_go_on(ex, db, after))
				r = marks_add(sync, &row[i]);
			else if (row[i].synced == CONTENT_UNSYNCED)
				r = marks_add(hold, &row[i]);
		}
	} while (r == 0 && n == BATCH && after < end);
	return n < 0 ? n : r;
}

static int tx_hold(struct db *db, void *arg)
{
	struct marks *m = arg;
	int r = 0;

	for (size_t i = 0; i < m->n && r == 0; i++)
		r = content_set_held(db, m->mark[i].id, m->mark[i].seal);
	return r;
}

int settle_sealed(struct expfs *ex, bool whatever)
{
	_cleanup_(cleanup_marks) struct marks sync = { 0 }, hold = { 0 };
	int r = list_sealed(ex, whatever, &sync, &hold);

	/* Before a sync brings their bytes to the disk, it must have that they do not count. */
	if (r == 0 && hold.n > 0)
		r = expfs_write(ex, tx_hold, &hold);
	if (r == 0 && hold.n > 0)
		r = expfs_sync_result(ex, meta_sync(ex->meta));
	return r < 0 ? r : sync_and_mark(ex, &sync);
}

struct settle {
	struct expfs *ex;
	uint64_t ino, object;
	bool whatever;
	enum content_synced live;
	struct file_drop drop;
};

/* A live content is worth more than what it took the place of if its writers are done,
 * or never will be; live is what it is then. */
static bool may_settle(struct settle *s, struct db *db)
{
	struct file_use use;

	file_get_use(s->ex, s->ino, &use);
	s->live = use.written_at && use.fresh ? CONTENT_BEGUN : CONTENT_CHANGED;
	return s->whatever || !is_being_saved(s->ex, db, s->ino, &use);
}

/* It can have been renamed meanwhile, and be a save now. */
static int tx_settle(struct db *db, void *arg)
{
	struct settle *s = arg, now = *s;

	s->drop.n = 0;
	return may_settle(&now, db) ? undo_settle(db, s->ino, s->object, 0, s->live, &s->drop) : 1;
}

static int settle_one(struct settle *s)
{
	bool may;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);

		may = content_owner(db, s->object, &s->ino) == 0 && may_settle(s, db);
	}
	if (!may)
		return 0;
	r = expfs_sync_result(s->ex, sync_object(s->ex, s->object));
	if (r == 0)
		r = expfs_write(s->ex, tx_settle, s);
	if (r == 0)
		file_drop_finish(s->ex, &s->drop);
	return r == -ESTALE ? 0 : MIN(r, 0);
}

int settle_live(struct expfs *ex, bool whatever)
{
	struct settle s = { .ex = ex, .whatever = whatever };
	struct content_row row[BATCH];
	uint64_t after = 0, end = meta_id(ex->meta);
	int n, r = 0;

	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

			n = content_list_unsynced(db, CONTENT_LIVE, after, row, BATCH);
		}
		for (int i = 0; i < n && r == 0; i++) {
			s.object = after = row[i].id;
			r = settle_one(&s);
		}
	} while (r == 0 && n == BATCH && after < end);
	return n < 0 ? n : r;
}

struct let_go {
	struct undo_row row[LET_GO_BATCH];
	int n;
	struct file_drop drop;
};

static int tx_let_go(struct db *db, void *arg)
{
	struct let_go *l = arg;
	int r = 0;

	l->drop.n = 0;
	for (int i = 0; i < l->n && r == 0; i++)
		r = MIN(undo_check_settled(db, l->row[i].ino, &l->drop), 0);
	return r;
}

/* dir: only what has a name there, 0: all. */
static int let_go(struct expfs *ex, uint64_t dir)
{
	struct let_go l;
	uint64_t after = 0;
	int r = 0;

	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

			l.n = undo_list_settled(db, dir, after, l.row, LET_GO_BATCH);
		}
		if (l.n <= 0)
			break;
		after = l.row[l.n - 1].ino;
		r = expfs_write_freeing(ex, tx_let_go, &l);
		if (r == 0)
			file_drop_finish(ex, &l.drop);
	} while (r == 0 && l.n == LET_GO_BATCH);
	return l.n < 0 ? l.n : r;
}

int settle_let_go(struct expfs *ex)
{
	return let_go(ex, 0);
}

/* Of the live contents in a directory those that have nothing to go back to, for
 * their names to be there; and all sealed ones. */
static int list_dir(struct expfs *ex, uint64_t dir, struct marks *m)
{
	struct content_row row[BATCH];
	struct undo_row undo;
	uint64_t ino, after = 0, end = meta_id(ex->meta);
	int n, r = 0;

	do {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		n = content_list_unsynced_in(db, dir, after, row, BATCH);
		for (int i = 0; i < n && r == 0; i++) {
			after = row[i].id;
			if (row[i].state == CONTENT_SEALED || content_owner(db, after, &ino) < 0 || undo_get(db, ino, &undo) == 0)
				r = marks_add(m, &row[i]);
		}
	} while (r == 0 && n == BATCH && after < end);
	return n < 0 ? n : r;
}

int settle_dir(struct expfs *ex, uint64_t dir)
{
	_cleanup_(cleanup_marks) struct marks m = { 0 };
	int r = atomic_load(&ex->read_only) ? -EIO : list_dir(ex, dir, &m);

	if (r == 0)
		r = sync_and_mark(ex, &m);
	if (r == 0)
		r = let_go(ex, dir);
	if (r == 0)
		r = expfs_sync_result(ex, meta_sync(ex->meta));
	/* One that failed meanwhile may have taken the error of this one's bytes. */
	return r == 0 && atomic_load(&ex->read_only) ? -EIO : r;
}
