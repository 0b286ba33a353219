/* Extended attributes: user.*, trusted.* and security.* are kept; user.expfs.*
 * are made up, but for those that a user sets (spec section 8). */
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "exp/checkpoint.h"
#include "exp/path.h"
#include "fs.h"
#include "meta/content.h"
#include "meta/xattr.h"
#include "view.h"

#define OURS "user.expfs."
#define CAPABILITY "security.capability"
#define LABEL "security.selinux" /* the kernel gives FUSE none; ls asks each file until one says so */

static bool has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* A user.expfs.* attribute that a user sets. */
static bool is_set_by_user(const char *name)
{
	return has_prefix(name, OURS "metric.") || !strcmp(name, OURS "note");
}

static int check_name(const char *name)
{
	if (has_prefix(name, OURS))
		return is_set_by_user(name) ? 0 : -EPERM;
	if (!strcmp(name, LABEL))
		return -EOPNOTSUPP;
	if (!has_prefix(name, "user.") && !has_prefix(name, "trusted.") && !has_prefix(name, "security."))
		return -EOPNOTSUPP;
	return strchr(name, '.')[1] ? 0 : -EINVAL;
}

struct change {
	uint64_t ino;
	const char *name;
	const void *value; /* NULL: remove */
	size_t size;
	enum xattr_set how;
};

static int tx_change(struct db *db, void *arg)
{
	struct change *c = arg;
	struct inode_row row;
	int r = inode_get(db, c->ino, &row);

	if (r < 0)
		return r;
	r = c->value ? xattr_set(db, c->ino, c->name, c->value, c->size, c->how) : xattr_remove(db, c->ino, c->name);
	if (r < 0)
		return r;
	row.ctime = now_ns();
	return inode_update(db, &row);
}

static int change(struct fs *fs, struct change *c)
{
	int r = view_is(c->ino) ? -EROFS : check_name(c->name);

	if (r == 0 && !strcmp(c->name, CAPABILITY))
		atomic_store(&fs->has_capabilities, true);
	return r < 0 ? r : expfs_write(fs->ex, tx_change, c);
}

void fs_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags)
{
	struct change c = {
		.ino = ino,
		.name = name,
		.value = value ? value : "",
		.size = size,
		.how = flags & XATTR_CREATE ? XATTR_NEW : flags & XATTR_REPLACE ? XATTR_OLD : XATTR_ANY,
	};

	fs_reply_err(req, change(fs_of(req), &c));
}

void fs_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct change c = { .ino = ino, .name = name };

	fs_reply_err(req, change(fs_of(req), &c));
}

static int content_digest(struct fs *fs, uint64_t ino, char **ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);
	struct inode_row row;
	struct content_row content;
	char hex[2 * CONTENT_DIGEST + 1];
	int r = inode_get(db, ino, &row);

	if (r < 0)
		return r;
	if (!row.object || (row.flags & INODE_LIVE))
		return -ENODATA;
	r = content_get(db, row.object, &content);
	if (r < 0)
		return r;
	for (size_t i = 0; i < CONTENT_DIGEST; i++)
		snprintf(hex + 2 * i, 3, "%02x", content.digest[i]);
	*ret = strdup(hex);
	return *ret ? 0 : -ENOMEM;
}

static int checkpoint_value(struct fs *fs, uint64_t ino, bool step, char **ret)
{
	struct checkpoint_state c;
	int r = checkpoint_state_of(fs->ex, ino, &c);

	if (r < 0)
		return r == -ENOENT ? -ENODATA : r;
	if (!step)
		*ret = strdup(c.complete ? "1" : "0");
	else if (c.step == NO_STEP)
		return -ENODATA;
	else if (asprintf(ret, "%lld", (long long)c.step) < 0)
		*ret = NULL;
	return *ret ? 0 : -ENOMEM;
}

/* A made-up attribute: of anything with a role. */
static int our_value(struct fs *fs, uint64_t ino, const char *key, char **ret)
{
	_cleanup_free_ char *path = NULL;
	enum role role = ROLE_NONE;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);

		r = path_of(db, ino, &path);
		if (r == 0)
			role = path_role_of_inode(fs->ex, db, ino);
	}
	if (r < 0)
		return r == -ENOENT ? -ENODATA : r;
	if (!strcmp(key, "step") || !strcmp(key, "complete"))
		return checkpoint_value(fs, ino, !strcmp(key, "step"), ret);
	if (role == ROLE_NONE)
		return -ENODATA;
	if (!strcmp(key, "digest"))
		return content_digest(fs, ino, ret);
	if (strcmp(key, "role") != 0)
		return -ENODATA;
	*ret = strdup(role_name(role));
	return *ret ? 0 : -ENOMEM;
}

static int get_value(struct fs *fs, uint64_t ino, const char *name, void **ret, size_t *ret_len)
{
	if (view_is(ino))
		return -ENODATA;
	/* The kernel asks before every write. */
	if (!strcmp(name, CAPABILITY) && !atomic_load(&fs->has_capabilities))
		return -ENODATA;
	if (has_prefix(name, OURS) && !is_set_by_user(name)) {
		char *value = NULL;
		int r = our_value(fs, ino, name + strlen(OURS), &value);

		if (r == 0) {
			*ret = value;
			*ret_len = strlen(value);
		}
		return r;
	}
	if (has_prefix(name, "system.") || !strcmp(name, LABEL))
		return -EOPNOTSUPP;
	_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);

	return xattr_get(db, ino, name, ret, ret_len);
}

static void reply_buffer(fuse_req_t req, const void *value, size_t len, size_t size)
{
	if (size == 0)
		fuse_reply_xattr(req, len);
	else if (len > size)
		fs_reply_err(req, -ERANGE);
	else
		fuse_reply_buf(req, value, len);
}

void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	_cleanup_free_ void *value = NULL;
	size_t len = 0;
	int r = get_value(fs_of(req), ino, name, &value, &len);

	if (r < 0)
		fs_reply_err(req, r);
	else
		reply_buffer(req, value, len, size);
}

void fs_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct fs *fs = fs_of(req);
	_cleanup_free_ char *names = NULL;
	size_t len = 0;
	int r = 0;

	if (!view_is(ino)) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);

		r = xattr_list(db, ino, &names, &len);
	}
	if (r < 0)
		fs_reply_err(req, r);
	else
		reply_buffer(req, names, len, size);
}
