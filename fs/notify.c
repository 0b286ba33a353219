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
		if (j->waits)
			pthread_cond_broadcast(&n->done);
		else
			job_free(j);
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

void notifier_tell(struct notifier *n, const struct expfs_change *v, size_t count)
{
	struct timespec until = ns_timespec(monotonic_ns() + PATIENCE_NS);
	struct job *j = job_new(v, count);

	if (!j) {
		log_msg("memory is short: the kernel is not told of names that changed; mount the store again");
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
		j->waits = false;
}
