#include "gate.h"

#include <string.h>

void gate_init(struct gate *g)
{
	pthread_mutex_init(&g->lock, NULL);
	g->inside = 0;
	g->first = NULL;
	g->last = &g->first;
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
	*g->last = copy;
	g->last = &copy->next;
	return 0;
}

/* What waits longest; NULL: nothing does, and the caller is out. */
static struct gate_call *next_or_leave(struct gate *g)
{
	struct gate_call *c;

	scoped_lock(&g->lock);
	c = g->first;
	if (!c) {
		g->inside--;
		return NULL;
	}
	g->first = c->next;
	if (!g->first)
		g->last = &g->first;
	return c;
}

void gate_serve(struct gate *g, fuse_req_t req, const struct gate_call *c)
{
	struct gate_call *waiting;
	int r = enter(g, req, c);

	if (r < 0)
		fs_reply_err(req, r);
	if (r <= 0)
		return;
	c->serve(req, c);
	while ((waiting = next_or_leave(g)) != NULL) {
		waiting->serve(waiting->req, waiting);
		call_free(waiting);
	}
}
