/* Transactions, readers, syncs.
 *
 * Locks, in this order, none held over another's wait but where said:
 *   write_lock   the writer connection; held through a transaction and through
 *                a checkpoint
 *   reader_lock  the stack of idle readers; held for a pointer's time
 *   sync_lock    the counts of group sync; never held while syncing
 *
 * Group sync: commits are counted; a caller of meta_sync() needs the count that
 * it found to be synced. Who finds no sync under way does one for all commits
 * until then; the others wait for it and look again. */
#include "meta/meta.h"

#include <stdatomic.h>
#include <string.h>

#include "meta/db.h"
#include "meta/schema.h"
#include "util/log.h"

#define READERS 6
#define ID_BLOCK 65536          /* how far ahead next_id is written */
#define CHECKPOINT_PAGES 8192   /* 16 MiB of log */
#define SPACE_TRIES 10

struct meta {
	struct db writer;
	sqlite3_file *log; /* the write-ahead log, open as long as the writer */
	pthread_mutex_t write_lock;
	struct db reader[READERS];
	struct db *idle[READERS];
	unsigned idle_count;
	pthread_mutex_t reader_lock;
	pthread_cond_t reader_free;
	pthread_mutex_t sync_lock;
	pthread_cond_t sync_done;
	bool syncing;
	bool in_use; /* meta_begin_use() was called */
	atomic_bool in_order; /* it was clean, or meta_recovered() was called */
	atomic_bool left_garbage;
	atomic_bool distrusted;
	atomic_bool sync_failed; /* inside SQLite too */
	uint64_t commits, synced;
	_Atomic uint64_t next_id;
	_Atomic uint64_t checkpoints; /* meta_checkpoints() */
	atomic_bool unread;           /* meta_take_unread() */
	uint64_t id_limit; /* next_id in the database; under write_lock */
	int64_t file_size; /* that the database is known to have on the disk; under write_lock */
	int log_pages;     /* under write_lock */
	int sync_error; /* of the first sync that failed, for good */
	meta_space_fn give_space;
	void *give_space_arg;
};

int meta_create(const char *path, unsigned uid, unsigned gid)
{
	struct db db;
	int r, r2;

	r = db_open(NULL, path, true, true, &db);
	if (r < 0)
		return r;
	r = db_exec(&db, "BEGIN IMMEDIATE");
	if (r == 0)
		r = schema_create(&db, uid, gid);
	if (r == 0)
		r = db_exec(&db, "COMMIT");
	r2 = db_close(&db);
	return r < 0 ? r : r2;
}

static int on_commit(void *arg, sqlite3 *sql, const char *name, int pages)
{
	((struct meta *)arg)->log_pages = pages;
	return SQLITE_OK;
}

int meta_get_value(struct db *db, const char *key, int64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT value FROM store WHERE key=CAST(?1 AS TEXT)", "b", key, strlen(key));

	if (r >= 0)
		*ret = r == 1 ? sqlite3_column_int64(st, 0) : 0;
	return MIN(r, 0);
}

int meta_set_value(struct db *db, const char *key, int64_t value)
{
	return db_run(db, "INSERT OR REPLACE INTO store VALUES(CAST(?1 AS TEXT), ?2)", "bi", key, strlen(key), value);
}

static int open_readers(struct meta *m, const char *path)
{
	for (size_t i = 0; i < READERS; i++) {
		int r = db_open(m, path, false, false, &m->reader[i]);

		if (r < 0)
			return r;
		m->idle[m->idle_count++] = &m->reader[i];
	}
	return 0;
}

static int find_log(struct meta *m)
{
	sqlite3_file *file = NULL;
	int rc = sqlite3_file_control(m->writer.sql, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);

	if (rc != SQLITE_OK || !file || !file->pMethods)
		return -EIO;
	m->log = file;
	return 0;
}

int meta_open(const char *path, meta_space_fn give_space, void *arg, struct meta **ret)
{
	_cleanup_(cleanup_meta) struct meta *m = calloc(1, sizeof(*m));
	int64_t next;
	int r;

	if (!m)
		return -ENOMEM;
	pthread_mutex_init(&m->write_lock, NULL);
	pthread_mutex_init(&m->reader_lock, NULL);
	pthread_mutex_init(&m->sync_lock, NULL);
	pthread_cond_init(&m->reader_free, NULL);
	pthread_cond_init(&m->sync_done, NULL);
	m->give_space = give_space;
	m->give_space_arg = arg;
	r = db_open(m, path, false, true, &m->writer);
	if (r == 0)
		r = schema_check(&m->writer);
	if (r == 0)
		r = meta_get_value(&m->writer, "next_id", &next);
	if (r == 0)
		r = open_readers(m, path);
	if (r == 0)
		r = find_log(m);
	if (r < 0)
		return r;
	atomic_store(&m->next_id, (uint64_t)next);
	m->id_limit = (uint64_t)next;
	sqlite3_wal_hook(m->writer.sql, on_commit, m);
	*ret = steal(&m);
	return 0;
}

static int mark_closed(struct db *db, void *arg)
{
	struct meta *m = arg;
	bool distrusted = atomic_load(&m->distrusted) || m->sync_error != 0;
	int r = meta_set_value(db, "next_id", (int64_t)atomic_load(&m->next_id));

	if (r == 0 && distrusted)
		r = meta_set_value(db, "session", 0);
	if (r < 0)
		return r;
	return meta_set_value(db, "clean", !distrusted && atomic_load(&m->in_order) && !atomic_load(&m->left_garbage));
}

int meta_close(struct meta *m)
{
	int r = 0, r2;

	if (m->in_use) {
		r = meta_write_freeing(m, mark_closed, m);
		if (r == 0)
			r = meta_sync(m);
	}
	for (size_t i = 0; i < READERS; i++)
		if (m->reader[i].sql)
			db_close(&m->reader[i]);
	r2 = m->writer.sql ? db_close(&m->writer) : 0;
	pthread_mutex_destroy(&m->write_lock);
	pthread_mutex_destroy(&m->reader_lock);
	pthread_mutex_destroy(&m->sync_lock);
	pthread_cond_destroy(&m->reader_free);
	pthread_cond_destroy(&m->sync_done);
	free(m);
	return r < 0 ? r : r2;
}

/* Keeps next_id in the database ahead of every id that this transaction can
 * have, or take. */
static int extend_ids(struct meta *m, struct db *db, uint64_t *ret_limit)
{
	uint64_t next = atomic_load(&m->next_id);

	*ret_limit = m->id_limit;
	if (next + ID_BLOCK / 2 < m->id_limit)
		return 0;
	*ret_limit = next + ID_BLOCK;
	return meta_set_value(db, "next_id", (int64_t)*ret_limit);
}

/* Takes the space in the file of the database that what is committed will need there: moving the log must not
 * fail on a disk that is full by then, for only a log that was moved is written anew in the space that it has. */
static int extend_file(struct meta *m, struct db *db)
{
	int64_t size;
	int r = db_size(db, &size);

	if (r < 0 || size <= m->file_size)
		return r;
	r = db_extend(db, size);
	if (r == 0)
		m->file_size = size;
	return r;
}

static int write_once(struct meta *m, meta_fn f, void *arg)
{
	struct db *db = &m->writer;
	uint64_t limit = 0;
	int r, result;

	scoped_lock(&m->write_lock);
	db->checkpoints = db->unread = false;
	r = db_begin(db);
	if (r < 0)
		return r;
	r = extend_ids(m, db, &limit);
	result = r < 0 ? r : f(db, arg);
	r = result < 0 ? result : extend_file(m, db);
	if (r == 0)
		r = db_commit(db);
	db_end(db);
	if (r < 0) {
		db->rollbacks++;
		return r;
	}
	m->id_limit = limit;
	if (db->checkpoints)
		atomic_fetch_add(&m->checkpoints, 1);
	if (db->unread)
		atomic_store(&m->unread, true);
	pthread_mutex_lock(&m->sync_lock);
	m->commits++;
	pthread_mutex_unlock(&m->sync_lock);
	return result;
}

/* Moves what is in the log into the database, which can then begin the log anew in the space that it has;
 * with SQLITE_CHECKPOINT_RESTART once those who read in the log are done. */
static int move_log(struct meta *m, int mode)
{
	int rc;

	scoped_lock(&m->write_lock);
	errno = 0;
	rc = sqlite3_wal_checkpoint_v2(m->writer.sql, "main", mode, NULL, NULL);
	m->log_pages = 0;
	m->file_size = 0; /* it may have been cut to what it needs */
	return rc == SQLITE_BUSY ? 0 : db_error(&m->writer, rc);
}

bool meta_sync_failed(struct meta *m)
{
	return atomic_load(&m->sync_failed);
}

void meta_note_sync_failed(struct meta *m)
{
	atomic_store(&m->sync_failed, true);
}

static int write_with_space(struct meta *m, meta_fn f, void *arg, bool frees)
{
	int r = write_once(m, f, arg);
	bool given = true;

	for (int i = 0; given && (r == -ENOSPC || r == -EDQUOT) && i < SPACE_TRIES; i++) {
		given = i == 0 || (m->give_space && m->give_space(m->give_space_arg, frees));
		move_log(m, given ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_RESTART);
		r = write_once(m, f, arg);
	}
	return r;
}

uint64_t meta_checkpoints(struct meta *m)
{
	return atomic_load(&m->checkpoints);
}

bool meta_take_unread(struct meta *m)
{
	return atomic_load(&m->unread) && atomic_exchange(&m->unread, false);
}

uint64_t meta_rollbacks(const struct db *db)
{
	return db->rollbacks;
}

int meta_write(struct meta *m, meta_fn f, void *arg)
{
	return write_with_space(m, f, arg, false);
}

int meta_write_freeing(struct meta *m, meta_fn f, void *arg)
{
	return write_with_space(m, f, arg, true);
}

struct db *meta_reader(struct meta *m)
{
	scoped_lock(&m->reader_lock);
	while (m->idle_count == 0)
		pthread_cond_wait(&m->reader_free, &m->reader_lock);
	return m->idle[--m->idle_count];
}

void meta_reader_done(struct db *db)
{
	struct meta *m = db->meta;

	scoped_lock(&m->reader_lock);
	m->idle[m->idle_count++] = db;
	pthread_cond_signal(&m->reader_free);
}

uint64_t meta_id(struct meta *m)
{
	return atomic_fetch_add(&m->next_id, 1);
}

static int sync_log(struct meta *m)
{
	int rc;

	errno = 0;
	rc = m->log->pMethods->xSync(m->log, SQLITE_SYNC_NORMAL);
	return db_error(&m->writer, rc);
}

int meta_sync(struct meta *m)
{
	uint64_t need;
	int r;

	scoped_lock(&m->sync_lock);
	need = m->commits;
	while (m->synced < need && m->sync_error == 0 && !atomic_load(&m->sync_failed)) {
		uint64_t target = m->commits;

		if (m->syncing) {
			pthread_cond_wait(&m->sync_done, &m->sync_lock);
			continue;
		}
		m->syncing = true;
		pthread_mutex_unlock(&m->sync_lock);
		r = sync_log(m);
		pthread_mutex_lock(&m->sync_lock);
		m->syncing = false;
		if (r == 0) {
			m->synced = target;
		} else {
			m->sync_error = r;
			meta_note_sync_failed(m);
		}
		pthread_cond_broadcast(&m->sync_done);
	}
	/* SQLite's own sync may have taken the error of this one's bytes. */
	return m->sync_error == 0 && atomic_load(&m->sync_failed) ? -EIO : m->sync_error;
}

int meta_checkpoint(struct meta *m)
{
	bool small;
	int r;

	pthread_mutex_lock(&m->write_lock);
	small = m->log_pages < CHECKPOINT_PAGES;
	pthread_mutex_unlock(&m->write_lock);
	if (small)
		return 0;
	r = meta_sync(m); /* so that less is left to sync under the lock */
	return r < 0 ? r : move_log(m, SQLITE_CHECKPOINT_PASSIVE);
}

struct use {
	int64_t session;
	enum meta_end end;
};

static int begin_use(struct db *db, void *arg)
{
	struct use *u = arg;
	int64_t clean, session;
	int r = meta_get_value(db, "clean", &clean);

	if (r == 0)
		r = meta_get_value(db, "session", &session);
	if (r < 0)
		return r;
	u->end = clean ? META_CLEAN : session == u->session ? META_KILLED : META_CUT;
	if (u->end == META_CLEAN)
		r = meta_set_value(db, "session", u->session);
	return r < 0 ? r : meta_set_value(db, "clean", 0);
}

int meta_begin_use(struct meta *m, uint64_t session, enum meta_end *ret)
{
	struct use u = { .session = (int64_t)session };
	int r = meta_write_freeing(m, begin_use, &u);

	if (r == 0)
		r = meta_sync(m);
	if (r < 0)
		return r;
	m->in_use = true;
	atomic_store(&m->in_order, u.end == META_CLEAN);
	*ret = u.end;
	return 0;
}

static int set_session(struct db *db, void *arg)
{
	return meta_set_value(db, "session", *(int64_t *)arg);
}

int meta_set_session(struct meta *m, uint64_t session)
{
	int64_t value = (int64_t)session;

	return meta_write_freeing(m, set_session, &value);
}

void meta_distrust(struct meta *m)
{
	atomic_store(&m->distrusted, true);
	meta_set_session(m, 0); /* or not: then the disk takes nothing, and has lost nothing since */
}

void meta_recovered(struct meta *m)
{
	atomic_store(&m->in_order, true);
}

void meta_left_garbage(struct meta *m)
{
	atomic_store(&m->left_garbage, true);
}
