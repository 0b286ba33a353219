#include "view_kept.h"

#include <signal.h>
#include <string.h>
#include <xxhash.h>

#include "gate.h"

#define TEXTS (2 * GATE_MAX) /* no more than GATE_MAX are made at a time */
#define INSTANT_NS 50000000ll
#define FACTOR 20

struct kept {
	struct view_key key;
	uint64_t who; /* hash of who asked, with his groups */
	bool making;
	int64_t until;
	char *text; /* NULL: nothing is kept here */
	size_t len;
};

struct view_kept {
	pthread_mutex_t lock; /* of what follows */
	struct kept v[TEXTS];
	size_t bytes;
	bool sweeps, stop;
	pthread_cond_t wake; /* the sweeper */
	pthread_t sweeper;   /* where it sweeps: from the first text on */
};

int view_kept_new(struct view_kept **ret)
{
	struct view_kept *k = calloc(1, sizeof(*k));
	pthread_condattr_t attr;

	if (!k)
		return -ENOMEM;
	pthread_mutex_init(&k->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&k->wake, &attr);
	pthread_condattr_destroy(&attr);
	*ret = k;
	return 0;
}

static void drop(struct view_kept *k, struct kept *t)
{
	free(t->text);
	k->bytes -= t->len;
	*t = (struct kept){ 0 };
}

void view_kept_free(struct view_kept *k)
{
	pthread_mutex_lock(&k->lock);
	k->stop = true;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
	if (k->sweeps)
		pthread_join(k->sweeper, NULL);
	for (size_t i = 0; i < TEXTS; i++)
		drop(k, &k->v[i]);
	pthread_cond_destroy(&k->wake);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

/* The text whose time ends first; NULL: nothing is kept. */
static struct kept *first_to_end(struct view_kept *k)
{
	struct kept *first = NULL;

	for (size_t i = 0; i < TEXTS; i++)
		if (k->v[i].text && (!first || k->v[i].until < first->until))
			first = &k->v[i];
	return first;
}

static void *sweeper_main(void *arg)
{
	struct view_kept *k = arg;

	scoped_lock(&k->lock);
	while (!k->stop) {
		struct kept *t = first_to_end(k);
		struct timespec until = ns_timespec(t ? t->until : 0);

		if (!t)
			pthread_cond_wait(&k->wake, &k->lock);
		else if (t->until > monotonic_ns())
			pthread_cond_timedwait(&k->wake, &k->lock, &until);
		else
			drop(k, t);
	}
	return NULL;
}

/* Signals are for the thread that serves the kernel. */
static bool start_sweeper(struct view_kept *k)
{
	sigset_t all, old;

	if (k->sweeps)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	k->sweeps = pthread_create(&k->sweeper, NULL, sweeper_main, k) == 0;
	if (k->sweeps)
		pthread_setname_np(k->sweeper, "expfs-texts");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return k->sweeps;
}

static uint64_t hash_of(struct cred *c)
{
	const uint32_t ids[] = { c->uid, c->gid };

	cred_ask(c);
	return XXH3_64bits_withSeed(ids, sizeof(ids), c->n > 0 ? XXH3_64bits(c->groups, (size_t)c->n * sizeof(*c->groups)) : 0);
}

static struct kept *find(struct view_kept *k, const struct view_key *key, uint64_t who)
{
	for (size_t i = 0; i < TEXTS; i++) {
		struct kept *t = &k->v[i];

		if ((t->text || t->making) && t->who == who && !memcmp(&t->key, key, sizeof(*key)))
			return t;
	}
	return NULL;
}

/* A place for a text, that of the one that ends first if there is no other. */
static struct kept *place(struct view_kept *k)
{
	struct kept *t;

	for (size_t i = 0; i < TEXTS; i++)
		if (!k->v[i].text && !k->v[i].making)
			return &k->v[i];
	t = first_to_end(k);
	drop(k, t);
	return t;
}

static char *copy(const char *text, size_t len)
{
	char *s = malloc(len + 1);

	if (!s)
		return NULL;
	memcpy(s, text, len);
	s[len] = 0;
	return s;
}

/* 1: here it is; 0: it is for the caller to make, and to tell by end(). */
static int begin(struct view_kept *k, const struct view_key *key, uint64_t who, char **ret, size_t *ret_len)
{
	struct kept *t;

	scoped_lock(&k->lock);
	t = find(k, key, who);
	if (t && t->making)
		return GATE_LATER;
	if (t && t->until > monotonic_ns()) {
		*ret = copy(t->text, t->len);
		*ret_len = t->len;
		return *ret ? 1 : -ENOMEM;
	}
	if (t)
		drop(k, t);
	else
		t = place(k);
	*t = (struct kept){ .key = *key, .who = who, .making = true };
	return 0;
}

/* It is made: kept until then, or, with NULL, not at all. */
static void end(struct view_kept *k, const struct view_key *key, uint64_t who, int64_t until, char *text, size_t len)
{
	struct kept *t;

	scoped_lock(&k->lock);
	t = find(k, key, who);
	t->making = false;
	if (!text || len > VIEW_KEPT_MAX || !start_sweeper(k)) {
		free(text);
		return;
	}
	while (k->bytes + len > VIEW_KEPT_MAX)
		drop(k, first_to_end(k));
	t->until = until;
	t->text = text;
	t->len = len;
	k->bytes += len;
	pthread_cond_signal(&k->wake);
}

/* Of the processor: on a busy machine it takes no longer. */
static int64_t time_taken(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return timespec_ns(&ts);
}

int view_kept_text(struct view_req *q, const struct view_key *key, view_text_fn make, char **ret, size_t *ret_len)
{
	struct view_kept *k = q->fs->kept;
	uint64_t who = hash_of(&q->cred);
	int r = begin(k, key, who, ret, ret_len);
	int64_t taken = time_taken();
	bool keep;

	if (r != 0)
		return MIN(r, 0);
	r = make(q, key, ret, ret_len);
	taken = time_taken() - taken;
	keep = r == 0 && taken > INSTANT_NS;
	end(k, key, who, monotonic_ns() + FACTOR * taken, keep ? copy(*ret, *ret_len) : NULL, *ret_len);
	gate_again(q->fs->gate);
	return r;
}
