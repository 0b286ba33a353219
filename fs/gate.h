/* Requests that may take long: what views show, and the extended attributes that expfs makes up, for they wait for
 * those who read large data (exp/experiment.h, exp/standings.h).
 *
 * A few of the threads that serve the kernel are with such requests at a time. Of a request beyond these the thread
 * is free at once: it waits in a queue, which the few go on with before they serve the kernel again. So files always
 * find a thread, however many look. So does a request for what another one is just making (GATE_LATER). */
#ifndef EXPFS_GATE_H
#define EXPFS_GATE_H

#include "fs.h"

#define GATE_MAX 8 /* of MAX_THREADS in session.c */
#define GATE_LATER (-EINPROGRESS)

struct gate_call;

struct gate_queue {
	struct gate_call *first, **last;
};

struct gate {
	pthread_mutex_t lock; /* of what follows */
	unsigned inside;
	struct gate_queue waiting; /* for a thread */
	struct gate_queue later;   /* for gate_again() */
	uint64_t turn;             /* calls of gate_again() */
};

/* The arguments of a handler, as many as it has. It replies to the request, or returns what is to be replied, a
 * negative errno, or GATE_LATER: then it is called again when gate_again() was. */
struct gate_call {
	int (*serve)(fuse_req_t req, const struct gate_call *c);
	uint64_t ino;
	const char *name; /* NULL: none */
	size_t size;
	off_t off;
	int how;
	struct fuse_file_info fi;

	fuse_req_t req; /* these are the gate's */
	char *copied;
	struct gate_call *next;
};

void gate_init(struct gate *g);
void gate_free(struct gate *g); /* when the threads have ended, and so nothing waits */

/* Serves the request, now or later, and what has been waiting meanwhile. The call is copied if it must wait. */
void gate_serve(struct gate *g, fuse_req_t req, const struct gate_call *c);

/* To be called by a handler inside: what others wait for may be there. */
void gate_again(struct gate *g);

#endif
