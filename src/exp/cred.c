/* The rules of path_resolution(7): root may look into every directory, and of the
 * owner's, the group's and the others' bits the first that apply decide alone. */
#include "exp/cred.h"

#define GROUPS_FIRST 32 /* more than most users have */

/* Where they cannot be got (in FUSE: the process is in a pid namespace beside ours,
 * or /proc hides it) he counts as being in none. */
static void ask(struct cred *c)
{
	int size, n = GROUPS_FIRST;

	c->asked = true;
	do {
		gid_t *v = realloc(c->groups, (size_t)n * sizeof(*v));

		if (!v)
			return;
		c->groups = v;
		size = n;
		n = c->get_groups(c->arg, size, v);
	} while (n > size);
	c->n = MAX(n, 0);
}

void cred_ask(struct cred *c)
{
	if (c && !c->asked)
		ask(c);
}

static bool in_group(struct cred *c, uint32_t gid)
{
	if (c->gid == gid)
		return true;
	if (!c->asked)
		ask(c);
	for (int i = 0; i < c->n; i++)
		if (c->groups[i] == gid)
			return true;
	return false;
}

bool cred_permits(struct cred *c, const struct inode_row *dir, unsigned want)
{
	unsigned owner = dir->mode >> 6, group = dir->mode >> 3, others = dir->mode, bits;

	if (!c || c->uid == 0)
		return true;
	if (c->uid == dir->uid)
		bits = owner;
	else if (((group ^ others) & want) && in_group(c, dir->gid))
		bits = group;
	else
		bits = others;
	return (bits & want) == want;
}

void cred_done(struct cred *c)
{
	free(c->groups);
}
