#include "gate.h"

#include <string.h>

static void queue_init(struct gate_queue *q)
{
	q->first = NULL;
	q->last = &q->first;
}

/* The calls of another one, which is empty then, go to the end. */
static void queue_move(struct gate_queue *q, struct gate_queue *from)
{
	if (!from->first)
		return;
	*q->last = from->first;
	q->last = from->last;
	queue_init(from);
}

static void queue_add(struct gate_queue *q, struct gate_call *c)
{
	*q->last = c;
	q->last = &c->next;
}

static struct gate_call *queue_take(struct gate_queue *q)
{
	struct gate_call *c = q->first;

	if (!c)
		return NULL;
	q->first = c->next;
	if (!q->first)
		q->last = &q->first;
	return c;
}

void gate_init(struct gate *g)
{
	pthread_mutex_init(&g->lock, NULL);
	g->inside = 0;
	g->turn = 0;
	queue_init(&g->waiting);
	queue_init(&g->later);
}

void gate_free(struct gate *g)
{
	pthread_mutex_destroy(&g->lock);
}

static void call_free(struct gate_call *c)
{
	free(c->copied);
	free(c);
}

static struct gate_call *call_copy(const struct gate_call *c, fuse_req_t req)
{
	struct gate_call *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *c;
	copy->req = req;
	copy->next = NULL;
	copy->name = copy->copied = c->name ? strdup(c->name) : NULL;
	if (c->name && !copy->name) {
		free(copy);
		return NULL;
	}
	return copy;
}

/* 1: the caller is in; 0: the request waits. */
static int enter(struct gate *g, fuse_req_t req, const struct gate_call *c)
{
	struct gate_call *copy;

	scoped_lock(&g->lock);
	if (g->inside < GATE_MAX) {
		g->inside++;
		return 1;
	}
	copy = call_copy(c, req);
	if (!copy)
		return -ENOMEM;
	queue_add(&g->waiting, copy);
	return 0;
}

/* What waits longest; NULL: nothing does, and the caller is out. */
static struct gate_call *next_or_leave(struct gate *g)
{
	struct gate_call *c;

	scoped_lock(&g->lock);
	c = queue_take(&g->waiting);
	if (!c)
		g->inside--;
	return c;
}

static uint64_t turn(struct gate *g)
{
	scoped_lock(&g->lock);
	return g->turn;
}

/* What it waits for may have come since the turn in which it was served. */
static int put_off(struct gate *g, fuse_req_t req, const struct gate_call *c, uint64_t served)
{
	struct gate_call *copy = call_copy(c, req);

	if (!copy)
		return -ENOMEM;
	scoped_lock(&g->lock);
	queue_add(g->turn == served ? &g->later : &g->waiting, copy);
	return 0;
}

static void serve(struct gate *g, fuse_req_t req, const struct gate_call *c)
{
	uint64_t now = turn(g);
	int r = c->serve(req, c);

	if (r == GATE_LATER)
		r = put_off(g, req, c, now);
	if (r < 0)
		fs_reply_err(req, r);
}

void gate_serve(struct gate *g, fuse_req_t req, const struct gate_call *c)
{
	struct gate_call *waiting;
	int r = enter(g, req, c);

	if (r < 0)
		fs_reply_err(req, r);
	if (r <= 0)
		return;
	serve(g, req, c);
	while ((waiting = next_or_leave(g)) != NULL) {
		serve(g, waiting->req, waiting);
		call_free(waiting);
	}
}

void gate_again(struct gate *g)
{
	scoped_lock(&g->lock);
	g->turn++;
	queue_move(&g->waiting, &g->later);
}
