#include "notify.h"

#include <linux/fuse.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"

#define PATIENCE_NS 10000000000ll
#define NOTIFY_INC_EPOCH 8 /* FUSE_NOTIFY_INC_EPOCH of Linux 6.16 */

struct job {
	struct job *next;
	size_t n;
	bool waits; /* somebody does, and frees it; else the thread does */
	bool done;
	struct expfs_change v[];
};

struct notifier {
	struct expfs *ex;
	struct fuse_session *session;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t wake, done;
	struct job *first, **last;
	bool stop;
};

static void job_free(struct job *j)
{
	for (size_t i = 0; i < j->n; i++)
		free(j->v[i].name);
	free(j);
}

/* Lets the kernel look up each name anew, for which it takes no lock: false where it does not know how (before
 * Linux 6.16). libfuse cannot say it yet. */
static bool doubt_all_names(struct fuse_session *session)
{
	const struct fuse_out_header out = { .len = sizeof(out), .error = NOTIFY_INC_EPOCH };

	return write(fuse_session_fd(session), &out, sizeof(out)) == sizeof(out);
}

/* What it does not know it need not be told of. Names one by one have it wait for their directories: killed in that
 * wait, while those who hold them wait for us, this process does not end, nor the mount. */
static void tell(struct fuse_session *session, const struct job *j)
{
	bool all = doubt_all_names(session);

	for (size_t i = 0; i < j->n; i++) {
		const struct expfs_change *c = &j->v[i];

		if (!all)
			fuse_lowlevel_notify_inval_entry(session, c->dir, c->name, strlen(c->name));
		fuse_lowlevel_notify_inval_inode(session, c->dir, -1, 0);
		if (c->was)
			fuse_lowlevel_notify_inval_inode(session, c->was, -1, 0);
	}
}

static void told_late(struct notifier *n, const struct job *j)
{
	atomic_fetch_sub(&n->ex->untold, (unsigned)j->n);
	log_msg("%s: the kernel has taken in the %zu names that it was told of", n->ex->mountpoint, j->n);
}

static void *notifier_main(void *arg)
{
	struct notifier *n = arg;

	scoped_lock(&n->lock);
	for (;;) {
		struct job *j;

		while (!n->first && !n->stop)
			pthread_cond_wait(&n->wake, &n->lock);
		j = n->first;
		if (!j)
			return NULL;
		n->first = j->next;
		if (!n->first)
			n->last = &n->first;
		pthread_mutex_unlock(&n->lock);
		tell(n->session, j);
		pthread_mutex_lock(&n->lock);
		j->done = true;
		if (j->waits) {
			pthread_cond_broadcast(&n->done);
		} else {
			told_late(n, j);
			job_free(j);
		}
	}
}

/* Signals are for the thread that serves the kernel. */
static int start_thread(struct notifier *n)
{
	sigset_t all, old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	r = pthread_create(&n->thread, NULL, notifier_main, n);
	if (r == 0)
		pthread_setname_np(n->thread, "expfs-notifier");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -r;
}

static void notifier_free(struct notifier *n)
{
	pthread_mutex_destroy(&n->lock);
	pthread_cond_destroy(&n->wake);
	pthread_cond_destroy(&n->done);
	free(n);
}

int notifier_start(struct fs *fs, struct notifier **ret)
{
	struct notifier *n = calloc(1, sizeof(*n));
	pthread_condattr_t attr;
	int r;

	if (!n)
		return -ENOMEM;
	n->ex = fs->ex;
	n->session = fs->session;
	n->last = &n->first;
	pthread_mutex_init(&n->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&n->wake, &attr);
	pthread_cond_init(&n->done, &attr);
	pthread_condattr_destroy(&attr);
	r = start_thread(n);
	if (r < 0) {
		notifier_free(n);
		return r;
	}
	*ret = n;
	return 0;
}

bool notifier_stop(struct notifier *n)
{
	struct timespec until;

	pthread_mutex_lock(&n->lock);
	n->stop = true;
	pthread_cond_signal(&n->wake);
	pthread_mutex_unlock(&n->lock);
	until = ns_timespec(now_ns() + PATIENCE_NS);
	if (pthread_timedjoin_np(n->thread, NULL, &until) != 0)
		return false;
	notifier_free(n);
	return true;
}

static struct job *job_new(const struct expfs_change *v, size_t n)
{
	struct job *j = calloc(1, sizeof(*j) + n * sizeof(*v));

	if (!j)
		return NULL;
	j->waits = true;
	for (; j->n < n; j->n++) {
		j->v[j->n] = v[j->n];
		j->v[j->n].name = strdup(v[j->n].name);
		if (!j->v[j->n].name) {
			job_free(j);
			return NULL;
		}
	}
	return j;
}

/* Nobody waits any more; the thread goes on with it. */
static void give_up(struct notifier *n, struct job *j)
{
	j->waits = false;
	atomic_fetch_add(&n->ex->untold, (unsigned)j->n);
	log_msg("%s: the kernel does not take in that %zu names were changed by a load, for their directories are in use; "
		"until it does they may lead to what was before", n->ex->mountpoint, j->n);
}

void notifier_tell(struct notifier *n, const struct expfs_change *v, size_t count)
{
	struct timespec until = ns_timespec(monotonic_ns() + PATIENCE_NS);
	struct job *j = job_new(v, count);

	if (!j) {
		atomic_fetch_add(&n->ex->untold, (unsigned)count);
		log_msg("%s: memory is short: the kernel is not told of %zu names that a load changed; mount the store again",
			n->ex->mountpoint, count);
		return;
	}
	scoped_lock(&n->lock);
	*n->last = j;
	n->last = &j->next;
	pthread_cond_signal(&n->wake);
	while (!j->done && pthread_cond_timedwait(&n->done, &n->lock, &until) == 0)
		;
	if (j->done)
		job_free(j);
	else
		give_up(n, j);
}
