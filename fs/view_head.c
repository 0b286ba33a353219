/* Writing to branches/<name>/HEAD: a line HASH or HASH@STEP loads that state (exp/load.h). */
#include <string.h>

#include "exp/branch.h"
#include "exp/load.h"
#include "view_kind.h"

#define LOADS_MAX 4 /* at a time: each holds one of the threads that serve the kernel */

static int load(struct view_req *q, const struct view_key *key, const struct load_name *name)
{
	const struct load l = { .name = *name, .cred = &q->cred, .run = key->dir };
	struct loaded loaded = { 0 };
	struct branch b;
	int r = branch_by_id(q->fs->ex, &q->cred, key->part, &b);

	if (r < 0)
		return r;
	r = branch_is_removed(&b) ? -EROFS : branch_run(&b) ? 0 : -EOPNOTSUPP; /* who writes a root loads into it himself */
	branch_free(&b);
	if (r == 0)
		r = load_state(q->fs->ex, &l, NULL, &loaded);
	free(loaded.checkpoint);
	return r;
}

int view_head_write(struct view_req *q, const struct view_key *key, const char *text)
{
	struct load_name name;
	int r = load_parse(text, &name);

	if (r < 0)
		return r;
	if (atomic_fetch_add(&q->fs->loads, 1) < LOADS_MAX)
		r = load(q, key, &name);
	else
		r = -EBUSY;
	atomic_fetch_sub(&q->fs->loads, 1);
	return r;
}
