/* What stands in the folder where something is wanted. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "sync/export_part.h"
#include "util/list.h"

static int source_digest(const struct export *e, struct export_file *f)
{
	_cleanup_close_ int fd = -1;
	int r = supply_open(e->source, &f->from, &fd);

	if (r == 0)
		r = digest_file(fd, f->size, f->digest);
	f->has_digest = r == 0;
	return r == -EIO ? 0 : r; /* shorter by now: it differs */
}

/* It is that one, and none of the others that it might have been. */
static int settle(const struct export *e, const char *path, const struct stat *st, struct memory_file *f)
{
	int r = memory_settle(e->memory, path, f);

	return r < 0 ? r : memory_find(e->memory, path, st, f) ? 0 : -ENOENT;
}

int export_digest_there(const struct export *e, const char *path, const struct stat *st, struct memory_file *ret, bool *ret_ours)
{
	int r;

	*ret_ours = memory_find(e->memory, path, st, ret);
	if (*ret_ours)
		return settle(e, path, st, ret);
	*ret = (struct memory_file){ .size = (uint64_t)st->st_size, .mtime = timespec_ns(&st->st_mtim), .ino = st->st_ino, .stamp = "" };
	r = folder_digest(e->folder, path, ret->size, ret->digest);
	if (r < 0)
		return r;
	*ret_ours = memory_has_content(e->memory, path, ret->size, ret->digest);
	return *ret_ours ? settle(e, path, st, ret) : 0;
}

static int is_theirs(void *arg, const char *name, const struct stat *st)
{
	struct export *e = arg;
	struct memory_file there;
	bool ours;
	int r;

	if (S_ISDIR(st->st_mode))
		return !memory_has_below(e->memory, name);
	if (!S_ISREG(st->st_mode))
		return !memory_find(e->memory, name, st, &there);
	if (!memory_has(e->memory, name))
		return 1;
	r = export_digest_there(e, name, st, &there, &ours);
	return r < 0 ? r : !ours;
}

int export_is_ours(struct export *e, const char *name, bool *ret)
{
	struct stat st;
	int r = folder_stat(e->folder, name, &st);

	if (r < 0)
		return r;
	r = is_theirs(e, name, &st);
	if (r == 0 && S_ISDIR(st.st_mode))
		r = folder_each(e->folder, name, is_theirs, e);
	*ret = r == 0;
	return MIN(r, 0);
}

/* Of another kind than what is wanted, or below a link; what an export left there so is replaced. */
static int check_other(struct export *e, const char *name, enum export_action *ret)
{
	_cleanup_free_ char *path = strdup(name);
	bool ours = false;
	int r = path ? export_is_ours(e, path, &ours) : -ENOMEM;

	for (char *slash; r == -ELOOP && (slash = strrchr(path, '/')) != NULL;) {
		*slash = 0;
		r = export_is_ours(e, path, &ours);
	}
	*ret = ours ? EXPORT_WRITTEN : EXPORT_REFUSED;
	return r;
}

static int check_file(struct export *e, const char *path, struct export_file *f, enum export_action *ret)
{
	struct memory_file there;
	struct stat st;
	bool ours;
	int r = folder_stat(e->folder, path, &st);

	*ret = EXPORT_WRITTEN;
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r == 0)
		f->left = st;
	if (r == -ELOOP || (r == 0 && !S_ISREG(st.st_mode)))
		return check_other(e, path, ret);
	if (r == 0)
		r = export_digest_there(e, path, &st, &there, &ours);
	if (r == 0 && !f->has_digest && *f->stamp && !strcmp(there.stamp, f->stamp)) {
		memcpy(f->digest, there.digest, DIGEST_SIZE);
		f->has_digest = true;
	}
	if (r == 0 && !f->has_digest && there.size == f->size)
		r = source_digest(e, f);
	if (r < 0)
		return r;
	if (f->has_digest && there.size == f->size && !memcmp(there.digest, f->digest, DIGEST_SIZE))
		*ret = timespec_ns(&st.st_mtim) == f->mtime || !strcmp(there.stamp, f->stamp) ? EXPORT_UNCHANGED : EXPORT_TOUCHED;
	else if (!ours && !e->known(e->arg, there.size, there.digest))
		*ret = EXPORT_REFUSED;
	return ours || *ret == EXPORT_REFUSED ? 0 : memory_expect(e->memory, path, &there);
}

struct beside {
	struct export *e;
	struct export_unit *u;
	json_t *wanted; /* names of the unit's files */
	bool dropped;   /* some of ours is wanted no more */
};

static int add_carried(struct export_unit *u, const char *name)
{
	char **v = array_grow(u->carried, u->n_carried, sizeof(*v));

	if (!v)
		return -ENOMEM;
	u->carried = v;
	v[u->n_carried] = strdup(name);
	return v[u->n_carried++] ? 0 : -ENOMEM;
}

static int look_at(void *arg, const char *name, const struct stat *st)
{
	struct beside *b = arg;
	struct memory_file there;
	bool ours = false;
	int r = 0;

	if (json_object_get(b->wanted, name))
		return 0;
	if (S_ISREG(st->st_mode))
		r = export_digest_there(b->e, name, st, &there, &ours);
	else if (S_ISDIR(st->st_mode))
		ours = memory_has_below(b->e->memory, name);
	b->dropped |= ours;
	return r < 0 || ours ? r : add_carried(b->u, name);
}

/* Is that file of the directory one that an export left so, or in the new one? */
static int is_replaced(void *arg, const char *name, const struct stat *st)
{
	const struct beside *b = arg;
	struct memory_file there;
	struct stat now;

	if (S_ISDIR(st->st_mode) ? memory_has_below(b->e->memory, name) : memory_find(b->e->memory, name, st, &there))
		return 0;
	for (size_t i = 0; i < b->u->n_carried; i++) {
		_cleanup_free_ char *part = NULL;

		if (strcmp(name, b->u->carried[i]) != 0)
			continue;
		if (asprintf(&part, "%s%s", b->u->part, name + strlen(b->u->name)) < 0)
			return -ENOMEM;
		if (folder_stat(b->e->folder, part, &now) < 0)
			return -EBUSY;
		return S_ISDIR(st->st_mode) || now.st_ino == st->st_ino || now.st_size == st->st_size ? 0 : -EBUSY;
	}
	return -EBUSY;
}

int export_set_is_as_seen(struct export *e, struct export_unit *u)
{
	return folder_each(e->folder, u->name, is_replaced, &(struct beside){ .e = e, .u = u });
}

/* What of others lies in a directory that is to be replaced. */
static int look_beside(struct export *e, struct export_unit *u, bool *ret_dropped)
{
	struct beside b = { .e = e, .u = u, .wanted = json_object() };
	int r = b.wanted ? 0 : -ENOMEM;

	for (size_t i = 0; i < u->n && r == 0; i++) {
		_cleanup_free_ char *path = export_path(u, &u->files[i]);

		r = path && json_object_set_new(b.wanted, path, json_true()) == 0 ? 0 : -ENOMEM;
	}
	if (r == 0)
		r = folder_each(e->folder, u->name, look_at, &b);
	json_decref(b.wanted);
	*ret_dropped = b.dropped;
	return r;
}

static int check_dir(struct export *e, struct export_unit *u)
{
	struct stat st;
	bool dropped = false;
	int r = folder_stat(e->folder, u->name, &st);

	u->action = EXPORT_WRITTEN;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	u->seen = st;
	if (!S_ISDIR(st.st_mode))
		return check_other(e, u->name, &u->action);
	r = look_beside(e, u, &dropped);
	if (r < 0)
		return r;
	u->action = dropped ? EXPORT_WRITTEN : EXPORT_UNCHANGED;
	for (size_t i = 0; i < u->n && r == 0; i++) {
		_cleanup_free_ char *path = export_path(u, &u->files[i]);
		enum export_action one;

		r = path ? check_file(e, path, &u->files[i], &one) : -ENOMEM;
		if (r == 0)
			u->action = MAX(u->action, one);
	}
	return r;
}

/* A link is remembered as a file is. */
static int check_link(struct export *e, struct export_unit *u)
{
	struct export_file *f = u->files;
	char target[PATH_MAX];
	ssize_t n;
	int r = folder_stat(e->folder, u->name, &u->seen);

	u->action = EXPORT_WRITTEN;
	if (r == -ELOOP)
		return check_other(e, u->name, &u->action);
	if (r < 0)
		return r == -ENOENT || r == -ENOTDIR ? 0 : r;
	n = S_ISLNK(u->seen.st_mode) ? readlinkat(e->folder->fd, u->name, target, sizeof(target)) : -1;
	if (n == (ssize_t)strlen(u->target) && !memcmp(target, u->target, (size_t)n)) {
		f->left = u->seen;
		u->action = EXPORT_UNCHANGED;
	} else if (S_ISREG(u->seen.st_mode) && f->from.path) {
		/* A copy, where there are no links. */
		return check_file(e, u->name, f, &u->action);
	} else {
		return check_other(e, u->name, &u->action);
	}
	return 0;
}

static int check_place(struct export *e, struct export_unit *u)
{
	int r = folder_stat(e->folder, u->name, &u->seen);

	u->action = r == 0 ? EXPORT_UNCHANGED : EXPORT_WRITTEN;
	if (r == -ELOOP || (r == 0 && !S_ISDIR(u->seen.st_mode)))
		return check_other(e, u->name, &u->action);
	return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

static int check_unit(struct export *e, struct export_unit *u)
{
	int r;

	if (folder_has_old(e->folder, u->name)) {
		u->action = EXPORT_REFUSED;
		return 0;
	}
	if (u->kind == EXPORT_SET)
		return check_dir(e, u);
	if (u->kind == EXPORT_LINK)
		return check_link(e, u);
	if (u->kind == EXPORT_PLACE)
		return check_place(e, u);
	r = check_file(e, u->name, u->files, &u->action);
	u->seen = u->files->left;
	return r;
}

/* Links and directories take no bytes worth speaking of. */
static uint64_t bytes_of(const struct export_unit *u)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < u->n && (u->kind == EXPORT_FILE || u->kind == EXPORT_SET); i++)
		bytes += u->files[i].size;
	return bytes;
}

int export_check(struct export *e)
{
	int r = export_mend(e);

	for (size_t i = 0; i < e->n && r == 0; i++) {
		struct export_unit *u = &e->units[i];

		r = check_unit(e, u);
		if (r < 0)
			return export_failed(e, u->name, r);
		e->refused += u->action == EXPORT_REFUSED;
		e->needed += u->action == EXPORT_WRITTEN ? bytes_of(u) : 0;
	}
	return r;
}
