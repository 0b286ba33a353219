/* What takes space: of a store as a whole, from sums over its rows; and of parts of it, for which their names and their
 * history are walked over. Functions return 0 or -errno. */
#ifndef EXPFS_SPACE_H
#define EXPFS_SPACE_H

#include "exp/cred.h"
#include "exp/expfs.h"

struct space_of_store {
	uint64_t inodes, files, objects;
	uint64_t raw;    /* bytes of the files that have a name */
	uint64_t unique; /* of contents, each once, those of history too */
	uint64_t stored; /* that these take of the disk */
};
int space_of_store(struct expfs *ex, struct space_of_store *ret);

/* Of a part. Contents count once, and are those that its files hold, or versions of its paths, gone ones too. A file with
 * several names in it is one. */
struct space {
	uint64_t files, contents;
	uint64_t raw, unique, stored; /* as above */
	uint64_t history;             /* of stored, what no file anywhere holds any more */
	uint64_t own;                 /* of stored, what nothing holds outside of the part */
};

/* A directory or file that belongs to a part with all below it but what is a root itself. */
struct space_root {
	uint64_t ino;     /* 0: what is gone, of which there is history only */
	uint64_t tracked; /* tracked path, 0: that of the directory, if it has one */
	size_t part;
};

struct space_question {
	struct expfs *ex;
	struct cred *cred; /* who asks: directories that he may not list and enter are left out. NULL: none are */
	struct space_root *roots;
	size_t n_roots;
	struct space *parts; /* to be filled in */
	size_t n_parts;
	struct space all;    /* of all parts together */
	bool holders;        /* history and own are wanted, which ask the database of each content */
	bool (*stop)(void *arg); /* is it wanted no more (then -ECANCELED)? NULL: it is */
	void *stop_arg;
};
int space_of_parts(struct space_question *q);

#endif
