#include "exp/put.h"

#include <dirent.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/put_part.h"
#include "exp/track.h"
#include "meta/content.h"
#include "meta/dirent.h"
#include "meta/tracked.h"

void put_begin(struct put *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->changes[i].name);
	p->n = 0;
	p->drop.n = 0;
	p->drop.keeps = true; /* who loads a state did not mean to lose what was there */
	p->ino = 0;
	p->unsealed.n = 0;
	free(steal(&p->path));
}

void put_free(struct put *p)
{
	put_begin(p);
	free(p->changes);
	id_list_free(&p->sealed);
	id_list_free(&p->unsealed);
}

int put_file_compare(const void *a, const void *b)
{
	return strcmp(((const struct put_file *)a)->path, ((const struct put_file *)b)->path);
}

static int compare_path(const void *path, const void *f)
{
	return strcmp(path, ((const struct put_file *)f)->path);
}

const struct put_file *put_file_find(const struct put_file *files, size_t n, const char *path)
{
	return n > 0 ? bsearch(path, files, n, sizeof(*files), compare_path) : NULL;
}

int put_fail_at(struct put *p, int r, const char *path)
{
	free(p->path);
	p->path = strdup(path);
	return r;
}

bool put_is_owner(const struct put *p)
{
	return !p->cred || p->cred->uid == 0;
}

int put_add_change(struct put *p, uint64_t dir, const char *name, uint64_t was, bool last)
{
	struct expfs_change *v = array_grow(p->changes, p->n, sizeof(*v));
	char *copy = strdup(name);

	if (v)
		p->changes = v;
	if (!v || !copy) {
		free(copy);
		return -ENOMEM;
	}
	v[p->n++] = (struct expfs_change){ .dir = dir, .name = copy, .was = was, .last = last };
	return 0;
}

int put_check_write(const struct put *p, const struct inode_row *dir, const struct inode_row *was)
{
	if (!cred_permits(p->cred, dir, W_OK | X_OK))
		return -EACCES;
	if (was && (dir->mode & S_ISVTX) && !put_is_owner(p) && p->cred->uid != dir->uid && p->cred->uid != was->uid)
		return -EPERM;
	return 0;
}

/* What somebody who is not the owner of the store makes is his own. */
static void set_owner(const struct put *p, const struct inode_row *dir, struct inode_row *row)
{
	bool is_dir = S_ISDIR(row->mode);

	if (put_is_owner(p))
		return;
	row->uid = p->cred->uid;
	row->gid = dir->mode & S_ISGID ? dir->gid : p->cred->gid;
	row->mode = (row->mode & ~(uint32_t)(S_ISUID | S_ISGID)) | (is_dir ? dir->mode & S_ISGID : 0);
}

static int insert_name(struct put *p, struct db *db, uint64_t dir, const char *name, const struct inode_row *row)
{
	struct dirent_row d = {
		.parent = dir,
		.id = meta_id(p->ex->meta),
		.ino = row->ino,
		.type = (uint8_t)((row->mode & S_IFMT) >> 12),
		.class = role_class(p->ex->config->rules, name, strlen(name), S_ISDIR(row->mode)),
	};
	int r = inode_insert(db, row, NULL);

	return r < 0 ? r : dirent_insert(db, &d, name);
}

static int make_dir(struct put *p, struct db *db, const struct inode_row *above, const char *name,
		    const struct inode_row *like, struct inode_row *ret)
{
	int64_t now = now_ns();
	struct inode_row row = { .ino = meta_id(p->ex->meta), .mode = S_IFDIR | (like->mode & 07777), .nlink = 2,
				 .uid = like->uid, .gid = like->gid, .size = 4096, .blocks = 8, .atime = now, .mtime = now,
				 .ctime = now, .btime = now };
	int r = put_check_write(p, above, NULL);

	set_owner(p, above, &row);
	if (r == 0)
		r = insert_name(p, db, above->ino, name, &row);
	if (r == 0)
		r = inode_touch_dir(db, above->ino, now, 1);
	if (r == 0)
		r = put_add_change(p, above->ino, name, 0, false);
	*ret = row;
	return r;
}

/* The directory that many above a tracked path (0: itself), as it is or was. */
static int dir_above(struct db *db, uint64_t tracked, unsigned up, struct inode_row *ret)
{
	struct tracked_row t;
	int r = tracked_get(db, tracked, &t);

	for (; r == 0 && up > 0; up--)
		r = tracked_get(db, t.parent, &t);
	if (r < 0)
		return r;
	*ret = (struct inode_row){ .mode = t.mode, .uid = t.uid, .gid = t.gid };
	r = t.ino && t.is_dir ? inode_get(db, t.ino, ret) : 0;
	if ((ret->mode & 0777) == 0)
		ret->mode |= 0755;
	return r == -ESTALE ? 0 : r;
}

/* The directory of a file, and the directories above that. */
static int open_dir(struct put *p, struct db *db, uint64_t base, const struct put_file *f, struct inode_row *ret)
{
	const char *at = f->path, *slash;
	int r = inode_get(db, base, ret);

	for (unsigned i = 1; r == 0 && (slash = strchr(at, '/')) != NULL; i++, at = slash + 1) {
		_cleanup_free_ char *name = strndup(at, (size_t)(slash - at));
		struct inode_row above = *ret, like;
		struct dirent_row d;

		if (!name)
			return -ENOMEM;
		if (!cred_permits(p->cred, &above, X_OK))
			return -EACCES;
		r = dirent_get(db, above.ino, name, &d);
		if (r == 0)
			r = d.type == DT_DIR ? inode_get(db, d.ino, ret) : -ENOTDIR;
		else if (r == -ENOENT)
			r = dir_above(db, f->tracked, f->depth > i ? f->depth - i : 0, &like);
		else
			return r;
		if (r == 0 && ret->ino == above.ino)
			r = make_dir(p, db, &above, name, &like, ret);
	}
	return r;
}

static bool has_id(const struct id_list *l, uint64_t ino)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == ino)
			return true;
	return false;
}

int put_check_sealed(const struct put *p)
{
	return p->unsealed.n > 0 ? -EAGAIN : 0;
}

void put_seal(struct put *p)
{
	for (size_t i = 0; i < p->unsealed.n; i++)
		file_seal_left_alone(p->ex, p->unsealed.v[i]);
	id_list_free(&p->sealed);
	p->sealed = p->unsealed;
	p->unsealed = (struct id_list){ .n = 0 };
}

int put_check_old(struct put *p, const struct inode_row *was)
{
	if (S_ISDIR(was->mode))
		return -EISDIR;
	if (!S_ISREG(was->mode))
		return -EEXIST;
	p->ino = was->ino;
	if (file_has_writer(p->ex, was->ino))
		return -EBUSY;
	if ((was->flags & INODE_LIVE) || (was->object && !(was->flags & INODE_CLOSED)))
		return has_id(&p->sealed, was->ino) ? -EOPNOTSUPP : id_list_add(&p->unsealed, was->ino);
	return 0;
}

bool put_is_same(const struct put *p, const struct inode_row *row, const struct put_file *f)
{
	if (!S_ISREG(row->mode) || row->object != f->object || row->size != f->size ||
	    (row->object && !(row->flags & INODE_CLOSED)))
		return false;
	return !put_is_owner(p) || ((row->mode & 07777) == f->mode && row->uid == f->uid && row->gid == f->gid &&
					 row->mtime == f->mtime);
}

/* Takes a name from an inode. */
static int drop_name(struct put *p, struct db *db, uint64_t dir, const char *name, struct inode_row *was)
{
	int r;

	was->nlink -= was->nlink > 0;
	was->ctime = now_ns();
	r = inode_update(db, was);
	return r < 0 ? r : put_add_change(p, dir, name, was->ino, was->nlink == 0);
}

static int insert_file(struct put *p, struct db *db, const struct inode_row *dir, const char *name,
		       const struct put_file *f, struct dirent_row *there, uint64_t *ret_ino)
{
	int64_t now = now_ns();
	struct inode_row row = {
		.ino = meta_id(p->ex->meta),
		.mode = S_IFREG | f->mode,
		.nlink = 1,
		.uid = f->uid,
		.gid = f->gid,
		.size = f->size,
		.blocks = f->blocks,
		.atime = now, .mtime = f->mtime, .ctime = now, .btime = now,
		.object = f->object,
		.order = f->rank > 0 ? (uint64_t)f->rank : meta_id(p->ex->meta),
		.flags = INODE_CLOSED | (f->rank < 0 ? INODE_IMPORTED : 0),
		.begin = f->begin,
	};
	int r;

	set_owner(p, dir, &row);
	*ret_ino = row.ino;
	if (!there)
		return insert_name(p, db, dir->ino, name, &row);
	there->ino = row.ino;
	there->order = 0;
	r = inode_insert(db, &row, NULL);
	return r < 0 ? r : dirent_set_ino(db, there);
}

static int put_content(struct put *p, struct db *db, const struct put_file *f)
{
	struct content_row content;
	int r = f->object ? content_get(db, f->object, &content) : 0;

	if (r == 0 && f->object && (content.state != CONTENT_SEALED || content.synced != CONTENT_WHOLE))
		r = -ESTALE;
	p->ino = 0;
	return r == -ESTALE ? -EAGAIN : r;
}

static int put_file(struct put *p, struct db *db, uint64_t base, const struct put_file *f, struct put_place *ret)
{
	const char *name = path_last(f->path);
	struct inode_row dir, was = { 0 };
	struct dirent_row d;
	int there, r = open_dir(p, db, base, f, &dir);

	if (r < 0)
		return r;
	there = dirent_get(db, dir.ino, name, &d);
	if (there == 0)
		r = inode_get(db, d.ino, &was);
	else if (there != -ENOENT)
		r = there;
	*ret = (struct put_place){ .dir = dir.ino, .ino = was.ino };
	if (r < 0 || (there == 0 && put_is_same(p, &was, f)))
		return r;
	r = there == 0 ? put_check_old(p, &was) : 0;
	if (r == 0)
		r = put_check_write(p, &dir, there == 0 ? &was : NULL);
	if (r == 0)
		r = put_content(p, db, f);
	if (r == 0)
		r = insert_file(p, db, &dir, name, f, there == 0 ? &d : NULL, &ret->ino);
	if (r == 0)
		r = there == 0 ? drop_name(p, db, dir.ino, name, &was) : put_add_change(p, dir.ino, name, 0, false);
	if (r == 0)
		r = inode_touch_dir(db, dir.ino, now_ns(), 0);
	ret->changed = true;
	return r < 0 ? r : tx_track_name(p->ex, db, dir.ino, name, &p->drop);
}

int tx_put_file(struct put *p, struct db *db, uint64_t base, const struct put_file *f, struct put_place *ret)
{
	int r = put_file(p, db, base, f, ret);

	return r < 0 ? put_fail_at(p, r, f->path) : 0;
}

static int take_away(struct put *p, struct db *db, const struct inode_row *dir, const char *name)
{
	struct inode_row was;
	struct dirent_row d;
	int r = dirent_get(db, dir->ino, name, &d);

	if (r == 0)
		r = inode_get(db, d.ino, &was);
	if (r == 0)
		r = put_check_old(p, &was);
	if (r == 0)
		r = put_check_write(p, dir, &was);
	if (r == 0)
		r = dirent_delete(db, &d);
	if (r == 0)
		r = drop_name(p, db, dir->ino, name, &was);
	if (r == 0)
		r = inode_touch_dir(db, dir->ino, now_ns(), 0);
	return r < 0 ? r : tx_track_gone(p->ex, db, dir->ino, name, &p->drop);
}

int put_find_dir(struct put *p, struct db *db, uint64_t base, const char *path, struct inode_row *ret)
{
	int r = inode_get(db, base, ret);

	for (const char *at = path, *slash; r == 0 && (slash = strchr(at, '/')) != NULL; at = slash + 1) {
		_cleanup_free_ char *name = strndup(at, (size_t)(slash - at));
		struct dirent_row d;

		r = !name ? -ENOMEM : cred_permits(p->cred, ret, X_OK) ? dirent_get(db, ret->ino, name, &d) : -EACCES;
		if (r == 0)
			r = inode_get(db, d.ino, ret);
		if (r == 0 && !S_ISDIR(ret->mode))
			r = -ENOENT;
	}
	return r;
}

int tx_put_gone(struct put *p, struct db *db, uint64_t base, const char *path)
{
	struct inode_row dir;
	int r = put_find_dir(p, db, base, path, &dir);

	if (r == 0)
		r = take_away(p, db, &dir, path_last(path));
	return r == -ENOENT ? 0 : r < 0 ? put_fail_at(p, r, path) : 0;
}

int tx_put_new_dir(struct put *p, struct db *db, uint64_t base, const char *name, uint32_t uid, uint32_t gid,
		   uint64_t *ret_ino)
{
	const struct inode_row like = { .mode = 0755, .uid = uid, .gid = gid };
	struct inode_row above, row = { 0 };
	struct dirent_row d;
	int r = inode_get(db, base, &above);

	if (r == 0)
		r = dirent_get(db, base, name, &d);
	if (r != -ENOENT)
		return r == 0 ? -EEXIST : r;
	r = make_dir(p, db, &above, name, &like, &row);
	*ret_ino = row.ino;
	return r;
}
