/* An object is removed only when the disk has that no row names it. So a round
 * first syncs sealed contents, which lets go of what they took the place of
 * (exp/undo.h); then takes the objects that wait for removal, syncs the database's
 * log, and only then removes them.
 *
 * Locks: lock guards the lists and the stop flag; no SQL and no I/O under it.
 * reap_lock and round_lock make reaping and rounds one at a time; they come after
 * file->lock and before the database's, and neither after the other. */
#include "exp/keeper.h"

#include <string.h>

#include "exp/experiment.h"
#include "exp/file.h"
#include "exp/idle.h"
#include "exp/settle.h"
#include "exp/weigh.h"
#include "meta/content.h"
#include "util/list.h"
#include "util/log.h"

#define TICK_NS 2000000000ll
#define REAP_BATCH 128
#define REAP_WAIT_NS 50000000ll /* for a batch to fill */
#define LOOK_NS 30000000000ll   /* between looks for contents that were left alone */

/* Does this thread reap, or make a round? Then a transaction of it that wants space
 * cannot wait for a round. */
static _Thread_local bool at_work;

struct keeper {
	struct expfs *ex;
	pthread_t thread[5];
	unsigned threads; /* that run */
	pthread_mutex_t lock;
	pthread_cond_t wake_keeper, wake_reaper, wake_sealer, wake_judge, wake_weigher;
	bool stop;
	bool unread; /* more, since the weigher began to look */
	struct id_list forgotten; /* inodes without a name that the kernel has forgotten */
	struct id_list doomed;    /* objects without a row */
	pthread_mutex_t reap_lock, round_lock;
	uint64_t removed; /* objects */
	int64_t next_tick; /* monotonic; the keeper thread's own */
};

void keeper_forgotten(struct expfs *ex, uint64_t ino)
{
	struct keeper *k = ex->keeper;

	if (!k)
		return;
	scoped_lock(&k->lock);
	if (id_list_add(&k->forgotten, ino) == 0 && (k->forgotten.n == 1 || k->forgotten.n == REAP_BATCH))
		pthread_cond_signal(&k->wake_reaper);
}

static void unlink_object(struct expfs *ex, uint64_t id)
{
	int r = object_unlink(ex->store, id);

	if (r == 0 || r == -ENOENT)
		return;
	log_msg("object %llx: cannot be removed: %s", (unsigned long long)id, strerror(-r));
	meta_left_garbage(ex->meta);
}

void keeper_remove(struct expfs *ex, uint64_t object)
{
	struct keeper *k = ex->keeper;

	if (!k) { /* not mounted */
		meta_left_garbage(ex->meta);
		return;
	}
	scoped_lock(&k->lock);
	if (id_list_add(&k->doomed, object) < 0)
		meta_left_garbage(ex->meta);
}

void keeper_unread(struct expfs *ex)
{
	struct keeper *k = ex->keeper;

	if (!k)
		return;
	scoped_lock(&k->lock);
	k->unread = true;
	pthread_cond_signal(&k->wake_weigher);
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
			r = file_drop_inode(db, &row, &p->drop);
		if (r < 0)
			return r;
	}
	return 0;
}

static int reap_batch(struct reap *p)
{
	int r;

	at_work = true;
	r = expfs_write_freeing(p->ex, tx_reap, p);
	at_work = false;

	if (r == 0)
		file_drop_finish(p->ex, &p->drop);
	else if (!atomic_load(&p->ex->read_only))
		log_msg("unlinked files cannot be removed: %s", strerror(-r));
	return r;
}

/* Up to a batch of forgotten inodes; how many there were. */
static int reap(struct keeper *k)
{
	struct reap p = { .ex = k->ex };
	int r;

	scoped_lock(&k->reap_lock);
	pthread_mutex_lock(&k->lock);
	while (p.n < REAP_BATCH && k->forgotten.n > 0)
		p.ino[p.n++] = k->forgotten.v[--k->forgotten.n];
	pthread_mutex_unlock(&k->lock);
	if (p.n == 0)
		return 0;
	r = reap_batch(&p);
	if (r == 0)
		return p.n;
	pthread_mutex_lock(&k->lock);
	while (p.n > 0)
		id_list_add(&k->forgotten, p.ino[--p.n]);
	pthread_mutex_unlock(&k->lock);
	return r;
}

static void *reaper_main(void *arg)
{
	struct keeper *k = arg;

	pthread_mutex_lock(&k->lock);
	while (!k->stop) {
		struct timespec until = ns_timespec(monotonic_ns() + REAP_WAIT_NS);
		int r;

		if (k->forgotten.n == 0) {
			pthread_cond_wait(&k->wake_reaper, &k->lock);
			continue;
		}
		/* More will come, and many are removed at the cost of few. */
		while (!k->stop && k->forgotten.n < REAP_BATCH)
			if (pthread_cond_timedwait(&k->wake_reaper, &k->lock, &until) == ETIMEDOUT)
				break;
		pthread_mutex_unlock(&k->lock);
		r = reap(k);
		pthread_mutex_lock(&k->lock);
		if (r < 0 && !k->stop) { /* the disk is full, or worse: not at once again */
			until = ns_timespec(monotonic_ns() + TICK_NS);
			pthread_cond_timedwait(&k->wake_reaper, &k->lock, &until);
		}
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

/* With round_lock held. */
static void remove_doomed(struct keeper *k)
{
	struct id_list doomed;

	pthread_mutex_lock(&k->lock);
	doomed = k->doomed;
	k->doomed = (struct id_list){ 0 };
	pthread_mutex_unlock(&k->lock);
	/* A sync that failed meanwhile may have taken the error of this one. */
	if (expfs_sync_result(k->ex, meta_sync(k->ex->meta)) < 0 || atomic_load(&k->ex->read_only))
		doomed.n = 0; /* the next mount removes what has no row */
	for (size_t i = 0; i < doomed.n; i++)
		unlink_object(k->ex, doomed.v[i]);
	free(doomed.v);
	scoped_lock(&k->lock);
	k->removed += doomed.n;
}

/* whatever: also what is being written. */
static void round_of_removal(struct keeper *k, bool whatever)
{
	at_work = true;
	if (settle_sealed(k->ex, whatever) == 0)
		settle_live(k->ex, whatever);
	settle_let_go(k->ex);
	if (!atomic_load(&k->ex->read_only))
		remove_doomed(k);
	at_work = false;
}

void keeper_settle(struct expfs *ex)
{
	while (ex->keeper && reap(ex->keeper) > 0)
		;
}

uint64_t keeper_waiting(struct expfs *ex)
{
	struct keeper *k = ex->keeper;

	if (!k)
		return 0;
	scoped_lock(&k->lock);
	return k->forgotten.n + k->doomed.n;
}

static bool was_any_removed(struct keeper *k, uint64_t before)
{
	scoped_lock(&k->lock);
	return k->removed > before;
}

bool keeper_reap(struct expfs *ex)
{
	struct keeper *k = ex->keeper;
	uint64_t before;

	if (!k || at_work || atomic_load(&ex->read_only))
		return false;
	pthread_mutex_lock(&k->lock);
	before = k->removed;
	pthread_mutex_unlock(&k->lock);
	keeper_settle(ex);
	scoped_lock(&k->round_lock);
	round_of_removal(k, false);
	if (was_any_removed(k, before)) /* by us, or by a round that we waited for */
		return true;
	round_of_removal(k, true);
	return was_any_removed(k, before);
}

static bool is_stopping(void *arg)
{
	struct keeper *k = arg;

	scoped_lock(&k->lock);
	return k->stop;
}

static void tick(struct keeper *k)
{
	struct expfs *ex = k->ex;
	int r;

	k->next_tick = monotonic_ns() + TICK_NS;
	if (atomic_load(&ex->read_only))
		return;
	pthread_mutex_lock(&k->round_lock);
	round_of_removal(k, false);
	pthread_mutex_unlock(&k->round_lock);
	r = meta_checkpoint(ex->meta);
	if (r == -EIO)
		expfs_fail(ex, "the store's disk failed a sync");
	else
		expfs_sync_result(ex, r);
	store_reserve_hold(ex->store);
}

/* A file without a row. One that this process makes has a handle until it has its
 * row; the numbers of others may be higher, if the disk did not have how far they were. */
static int sweep_one(void *arg, uint64_t id, const char *name)
{
	struct keeper *k = arg;
	struct content_row row;
	int r;

	if (is_stopping(k))
		return -ECANCELED;
	if (monotonic_ns() > k->next_tick)
		tick(k);
	if (id == 0 || object_in_use(k->ex->store, id))
		return 0;
	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(k->ex->meta);

		r = content_get(db, id, &row);
	}
	if (r == -ESTALE) /* perhaps since a moment ago, and the disk does not have it so yet */
		keeper_remove(k->ex, id);
	return 0;
}

/* Until then, or *wanted, or the end; whether it is not the end. */
static bool rest(struct keeper *k, pthread_cond_t *wake, int64_t until, bool *wanted)
{
	struct timespec t = ns_timespec(until);

	scoped_lock(&k->lock);
	while (!k->stop && !(wanted && *wanted) && pthread_cond_timedwait(wake, &k->lock, &t) != ETIMEDOUT)
		;
	if (wanted)
		*wanted = false;
	return !k->stop;
}

static void *keeper_main(void *arg)
{
	struct keeper *k = arg;

	k->next_tick = monotonic_ns() + TICK_NS;
	if (k->ex->last_end != META_CLEAN && object_each(k->ex->store, sweep_one, k) == 0)
		meta_recovered(k->ex->meta);
	while (rest(k, &k->wake_keeper, k->next_tick, NULL))
		tick(k);
	return NULL;
}

static void *sealer_main(void *arg)
{
	struct keeper *k = arg;

	while (rest(k, &k->wake_sealer, monotonic_ns() + LOOK_NS, NULL))
		if (!atomic_load(&k->ex->read_only))
			idle_seal(k->ex, is_stopping, k);
	return NULL;
}

/* Look-ups do the same for what they ask about. */
static void *judge_main(void *arg)
{
	struct keeper *k = arg;

	while (rest(k, &k->wake_judge, monotonic_ns() + TICK_NS, NULL))
		if (!atomic_load(&k->ex->read_only))
			experiment_settle_until(k->ex, 0, is_stopping, k);
	return NULL;
}

/* It takes the time of nobody who trains, and on an error its own. */
static void *weigher_main(void *arg)
{
	struct keeper *k = arg;
	uint64_t old = meta_id(k->ex->meta);
	int r = 0;

	weigh_give_way();
	while (rest(k, &k->wake_weigher, monotonic_ns() + (r < 0 ? LOOK_NS : TICK_NS), r < 0 ? NULL : &k->unread))
		if (!atomic_load(&k->ex->read_only))
			r = weigh_at_leisure(k->ex, old, is_stopping, k);
	return NULL;
}

static void keeper_free(struct keeper *k)
{
	pthread_mutex_destroy(&k->lock);
	pthread_mutex_destroy(&k->reap_lock);
	pthread_mutex_destroy(&k->round_lock);
	pthread_cond_destroy(&k->wake_keeper);
	pthread_cond_destroy(&k->wake_reaper);
	pthread_cond_destroy(&k->wake_sealer);
	pthread_cond_destroy(&k->wake_judge);
	pthread_cond_destroy(&k->wake_weigher);
	free(k->forgotten.v);
	free(k->doomed.v);
	free(k);
}

static bool start_threads(struct keeper *k)
{
	static void *(*const mains[])(void *) = { keeper_main, reaper_main, sealer_main, judge_main, weigher_main };

	for (; k->threads < ARRAY_SIZE(mains); k->threads++)
		if (pthread_create(&k->thread[k->threads], NULL, mains[k->threads], k) != 0)
			return false;
	return true;
}

static void stop_threads(struct keeper *k)
{
	pthread_mutex_lock(&k->lock);
	k->stop = true;
	pthread_cond_signal(&k->wake_keeper);
	pthread_cond_signal(&k->wake_reaper);
	pthread_cond_signal(&k->wake_sealer);
	pthread_cond_signal(&k->wake_judge);
	pthread_cond_signal(&k->wake_weigher);
	pthread_mutex_unlock(&k->lock);
	while (k->threads > 0)
		pthread_join(k->thread[--k->threads], NULL);
}

int keeper_start(struct expfs *ex)
{
	struct keeper *k = calloc(1, sizeof(*k));
	pthread_condattr_t attr;

	if (!k)
		return -ENOMEM;
	k->ex = ex;
	pthread_mutex_init(&k->lock, NULL);
	pthread_mutex_init(&k->reap_lock, NULL);
	pthread_mutex_init(&k->round_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&k->wake_keeper, &attr);
	pthread_cond_init(&k->wake_reaper, &attr);
	pthread_cond_init(&k->wake_sealer, &attr);
	pthread_cond_init(&k->wake_judge, &attr);
	pthread_cond_init(&k->wake_weigher, &attr);
	pthread_condattr_destroy(&attr);
	ex->keeper = k;
	reap_left_over(ex);
	if (!start_threads(k)) {
		stop_threads(k);
		ex->keeper = NULL;
		keeper_free(k);
		return -EAGAIN;
	}
	return 0;
}

/* As an unmount does: all is on the disk. */
static void sync_for_the_end(struct keeper *k)
{
	struct expfs *ex = k->ex;

	if (atomic_load(&ex->read_only))
		return;
	keeper_settle(ex);
	if (expfs_sync_result(ex, store_sync(ex->store)) == 0)
		round_of_removal(k, true);
}

void keeper_stop(struct expfs *ex)
{
	struct keeper *k = ex->keeper;

	if (!k)
		return;
	stop_threads(k);
	sync_for_the_end(k);
	ex->keeper = NULL;
	keeper_free(k);
}
