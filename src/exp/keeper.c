/* Locks: lock guards the list of forgotten inodes and the stop flag; no SQL and
 * no I/O under it. reap_lock makes removing one at a time. */
#include "exp/keeper.h"

#include <string.h>

#include "exp/file.h"
#include "meta/content.h"
#include "util/log.h"

#define TICK_NS 2000000000ll /* an object waits one to two ticks for its sync */
#define SYNC_BATCH 256
#define SYNC_ONE_BY_ONE 16
#define REAP_BATCH 128
#define IDLE_TICKS 15         /* between looks for contents that were left alone */
#define IDLE_NS 60000000000ll

struct keeper {
	struct expfs *ex;
	pthread_t keeper, reaper;
	pthread_mutex_t lock;
	pthread_cond_t wake_keeper, wake_reaper;
	bool stop;
	uint64_t *forgotten;
	size_t forgotten_count, forgotten_room;
	pthread_mutex_t reap_lock;
	uint64_t sync_mark; /* sealings below it were there at the last tick */
};

void keeper_forgotten(struct expfs *ex, uint64_t ino)
{
	struct keeper *k = ex->keeper;

	scoped_lock(&k->lock);
	if (k->forgotten_count == k->forgotten_room) {
		size_t room = k->forgotten_room ? k->forgotten_room * 2 : 256;
		uint64_t *p = realloc(k->forgotten, room * sizeof(*p));

		if (!p)
			return; /* the next mount finds it */
		k->forgotten = p;
		k->forgotten_room = room;
	}
	k->forgotten[k->forgotten_count++] = ino;
	pthread_cond_signal(&k->wake_reaper);
}

struct reap {
	struct expfs *ex;
	uint64_t ino[REAP_BATCH];
	int n;
	struct file_drop drop;
};

static int tx_reap(struct db *db, void *arg)
{
	struct reap *p = arg;

	p->drop.n = 0;
	for (int i = 0; i < p->n; i++) {
		struct expfs *ex = p->ex;
		struct inode_row row;
		int r;

		if (file_in_use(ex, p->ino[i]) || (ex->is_known && ex->is_known(ex->is_known_arg, p->ino[i])))
			continue;
		r = inode_get(db, p->ino[i], &row);
		if (r == -ESTALE || (r == 0 && row.nlink > 0))
			continue;
		if (r == 0)
			r = inode_delete(db, row.ino);
		if (r == 0)
			r = file_drop_object(db, row.object, &p->drop);
		if (r < 0)
			return r;
	}
	return 0;
}

static int reap_batch(struct reap *p)
{
	int r = expfs_write(p->ex, tx_reap, p);

	if (r < 0)
		log_msg("unlinked files cannot be removed: %s", strerror(-r));
	else
		file_drop_finish(p->ex, &p->drop);
	return r;
}

bool keeper_reap(struct expfs *ex)
{
	struct keeper *k = ex->keeper;
	struct reap p = { .ex = ex };
	bool any = false;

	if (!k)
		return false;
	scoped_lock(&k->reap_lock);
	for (;;) {
		pthread_mutex_lock(&k->lock);
		for (p.n = 0; p.n < REAP_BATCH && k->forgotten_count > 0; p.n++)
			p.ino[p.n] = k->forgotten[--k->forgotten_count];
		pthread_mutex_unlock(&k->lock);
		if (p.n == 0 || reap_batch(&p) < 0)
			return any;
		any = true;
	}
}

static void *reaper_main(void *arg)
{
	struct keeper *k = arg;

	pthread_mutex_lock(&k->lock);
	while (!k->stop) {
		if (k->forgotten_count == 0) {
			pthread_cond_wait(&k->wake_reaper, &k->lock);
			continue;
		}
		pthread_mutex_unlock(&k->lock);
		keeper_reap(k->ex);
		pthread_mutex_lock(&k->lock);
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

/* Everything that has no name and, the mount being new, no user. */
static void reap_left_over(struct expfs *ex)
{
	struct reap p = { .ex = ex };
	uint64_t after = 0;

	do {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		p.n = inode_unlinked(db, after, p.ino, REAP_BATCH);
		meta_reader_done(steal(&db));
		if (p.n <= 0)
			return;
		after = p.ino[p.n - 1];
	} while (reap_batch(&p) == 0);
}

struct marks {
	struct content_row *row;
	int n;
};

static int tx_synced(struct db *db, void *arg)
{
	struct marks *m = arg;
	int r = 0;

	for (int i = 0; i < m->n && r == 0; i++)
		r = content_set_synced(db, m->row[i].id, m->row[i].seal);
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
		return syncfs(store_dirfd(ex->store)) < 0 ? -errno : 0;
	for (int i = 0; i < n; i++) {
		int r = sync_object(ex, row[i].id);

		if (r < 0)
			return r;
	}
	return 0;
}

int keeper_sync_dir(struct expfs *ex, uint64_t dir)
{
	struct content_row row[SYNC_BATCH];
	struct marks m = { .row = row };
	uint64_t after = 0;
	int r;

	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

			m.n = content_list_unsynced_in(db, dir, after, row, SYNC_BATCH);
		}
		if (m.n > 0)
			after = row[m.n - 1].id;
		r = m.n > 0 ? sync_rows(ex, row, m.n) : m.n;
		if (r == 0 && m.n > 0)
			r = expfs_write(ex, tx_synced, &m);
	} while (r == 0 && m.n == SYNC_BATCH);
	if (r == 0)
		r = meta_sync(ex->meta);
	if (r < 0 && r != -EROFS)
		expfs_fail(ex, "the store's disk failed a sync");
	return r;
}

/* One batch of objects sealed before the mark; how many there were. */
static int sync_batch(struct keeper *k, struct content_row *row, uint64_t *after)
{
	struct marks m = { .row = row };
	int n, r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(k->ex->meta);

		n = content_list_unsynced(db, *after, row, SYNC_BATCH);
	}
	for (int i = 0; i < n; i++) {
		*after = row[i].id;
		if (row[i].seal < k->sync_mark)
			row[m.n++] = row[i];
	}
	if (n <= 0 || m.n == 0)
		return n;
	r = sync_rows(k->ex, row, m.n);
	if (r < 0)
		expfs_fail(k->ex, "the store's disk failed a sync");
	else
		r = expfs_write(k->ex, tx_synced, &m);
	return r < 0 ? r : n;
}

static void sync_sealed(struct keeper *k)
{
	struct content_row row[SYNC_BATCH];
	uint64_t after = 0;

	while (sync_batch(k, row, &after) == SYNC_BATCH)
		;
	k->sync_mark = meta_id(k->ex->meta);
}

static void seal_if_idle(struct expfs *ex, uint64_t object)
{
	_cleanup_(cleanup_file) struct file *f = NULL;
	struct stat st;
	uint64_t ino;
	int r;

	if (object_stat(ex->store, object, &st) < 0 || now_ns() - timespec_ns(&st.st_mtim) < IDLE_NS)
		return;
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = content_owner(db, object, &ino);
	}
	if (r < 0 || file_in_use(ex, ino) || file_get(ex, ino, &f) < 0)
		return;
	r = file_seal_idle(f);
	if (r < 0 && r != -EROFS)
		log_msg("inode %llu: cannot be sealed: %s", (unsigned long long)ino, strerror(-r));
}

static void seal_idle(struct expfs *ex)
{
	uint64_t ids[SYNC_BATCH], after = 0;
	int n;

	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

			n = content_list_live(db, after, ids, SYNC_BATCH);
		}
		for (int i = 0; i < n; i++) {
			after = ids[i];
			seal_if_idle(ex, ids[i]);
		}
	} while (n == SYNC_BATCH);
}

struct sweep {
	struct expfs *ex;
	uint64_t before; /* younger ones may be about to get their row */
};

static int sweep_one(void *arg, uint64_t id, const char *name)
{
	struct sweep *s = arg;
	struct content_row row;
	bool stop;
	int r;

	pthread_mutex_lock(&s->ex->keeper->lock);
	stop = s->ex->keeper->stop;
	pthread_mutex_unlock(&s->ex->keeper->lock);
	if (stop)
		return -ECANCELED;
	if (id == 0 || id >= s->before)
		return 0;
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(s->ex->meta);

		r = content_get(db, id, &row);
	}
	if (r == -ESTALE) {
		r = object_unlink(s->ex->store, id);
		if (r < 0 && r != -ENOENT)
			log_msg("%s: has no row and cannot be removed: %s", name, strerror(-r));
	}
	return 0;
}

static void *keeper_main(void *arg)
{
	struct keeper *k = arg;
	struct sweep sweep = { .ex = k->ex, .before = k->sync_mark };

	if (!k->ex->was_clean && object_each(k->ex->store, sweep_one, &sweep) == 0)
		meta_recovered(k->ex->meta);
	pthread_mutex_lock(&k->lock);
	for (unsigned tick = 1; !k->stop; tick++) {
		struct timespec until = ns_timespec(monotonic_ns() + TICK_NS);

		pthread_cond_timedwait(&k->wake_keeper, &k->lock, &until);
		if (k->stop)
			break;
		pthread_mutex_unlock(&k->lock);
		if (!atomic_load(&k->ex->read_only)) {
			sync_sealed(k);
			meta_checkpoint(k->ex->meta);
			store_reserve_hold(k->ex->store);
			if (tick % IDLE_TICKS == 0)
				seal_idle(k->ex);
		}
		pthread_mutex_lock(&k->lock);
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

static void keeper_free(struct keeper *k)
{
	pthread_mutex_destroy(&k->lock);
	pthread_mutex_destroy(&k->reap_lock);
	pthread_cond_destroy(&k->wake_keeper);
	pthread_cond_destroy(&k->wake_reaper);
	free(k->forgotten);
	free(k);
}

int keeper_start(struct expfs *ex)
{
	struct keeper *k = calloc(1, sizeof(*k));
	pthread_condattr_t attr;

	if (!k)
		return -ENOMEM;
	k->ex = ex;
	k->sync_mark = meta_id(ex->meta);
	pthread_mutex_init(&k->lock, NULL);
	pthread_mutex_init(&k->reap_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&k->wake_keeper, &attr);
	pthread_condattr_destroy(&attr);
	pthread_cond_init(&k->wake_reaper, NULL);
	reap_left_over(ex);
	ex->keeper = k;
	if (pthread_create(&k->keeper, NULL, keeper_main, k) != 0)
		goto fail;
	if (pthread_create(&k->reaper, NULL, reaper_main, k) == 0)
		return 0;
	pthread_mutex_lock(&k->lock);
	k->stop = true;
	pthread_cond_signal(&k->wake_keeper);
	pthread_mutex_unlock(&k->lock);
	pthread_join(k->keeper, NULL);
fail:
	ex->keeper = NULL;
	keeper_free(k);
	return -EAGAIN;
}

void keeper_stop(struct expfs *ex)
{
	struct keeper *k = ex->keeper;

	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	k->stop = true;
	pthread_cond_signal(&k->wake_keeper);
	pthread_cond_signal(&k->wake_reaper);
	pthread_mutex_unlock(&k->lock);
	pthread_join(k->keeper, NULL);
	pthread_join(k->reaper, NULL);
	keeper_reap(ex);
	if (!atomic_load(&ex->read_only)) {
		sync_sealed(k); /* what was there at the last tick … */
		sync_sealed(k); /* … and the rest */
	}
	ex->keeper = NULL;
	keeper_free(k);
}
