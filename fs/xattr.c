/* Extended attributes: user.*, trusted.* and security.* are kept; user.expfs.*
 * are made up, but for those that a user sets (spec section 8). */
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "exp/branch.h"
#include "exp/checkpoint.h"
#include "exp/complete.h"
#include "exp/derive.h"
#include "exp/experiment.h"
#include "exp/metric.h"
#include "exp/path.h"
#include "format/parts.h"
#include "fs.h"
#include "gate.h"
#include "meta/content.h"
#include "meta/weights.h"
#include "meta/xattr.h"
#include "store/digest.h"
#include "util/hex.h"
#include "util/io.h"
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
	return has_prefix(name, METRIC_XATTR) || !strcmp(name, OURS "note");
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
	if (r == 0 && has_prefix(c->name, METRIC_XATTR))
		r = tx_metric_set(db, &row, c->name + strlen(METRIC_XATTR), c->value, c->size);
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

static int hex(const uint8_t *digest, size_t n, char **ret)
{
	char *s = malloc(2 * n + 1);

	if (!s)
		return -ENOMEM;
	hex_text(digest, n, s);
	*ret = s;
	return 0;
}

static int number(int64_t n, char **ret)
{
	return asprintf(ret, "%lld", (long long)n) < 0 ? -ENOMEM : 0;
}

static int text(const char *s, char **ret)
{
	*ret = strdup(s);
	return *ret ? 0 : -ENOMEM;
}

static int digest_value(struct fs *fs, uint64_t ino, char **ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);
	struct inode_row row;
	struct content_row content;
	int r = inode_get(db, ino, &row);

	if (r < 0)
		return r;
	if (!row.object || (row.flags & INODE_LIVE))
		return -ENODATA;
	r = content_get(db, row.object, &content);
	return r < 0 ? r : hex(content.digest, CONTENT_DIGEST, ret);
}

static int sha256_of(struct file *f, char **ret)
{
	uint8_t digest[DIGEST_SHA256_SIZE];
	struct stat st = { 0 };
	struct object *obj;
	int fd = -1, r = file_read_begin(f, true, &obj, &fd);

	if (r < 0)
		return r;
	r = obj ? io_stat(fd, &st) : 0;
	if (r == 0)
		r = digest_file_sha256(fd, (uint64_t)st.st_size, digest);
	file_read_end(obj);
	return r < 0 ? r : hex(digest, sizeof(digest), ret);
}

/* Of a content that somebody began to write meanwhile it would be one of nothing. */
static int sha256_value(struct fs *fs, uint64_t ino, char **ret)
{
	_cleanup_(cleanup_file) struct file *f = NULL;
	_cleanup_free_ char *value = NULL;
	int r = file_get(fs->ex, ino, &f);

	if (r == 0)
		r = file_is_written(fs->ex, ino) ? -ENODATA : sha256_of(f, &value);
	if (r < 0)
		return r == -EINVAL ? -ENODATA : r;
	if (file_is_written(fs->ex, ino))
		return -ENODATA;
	*ret = steal(&value);
	return 0;
}

static int version_value(struct fs *fs, uint64_t ino, char **ret)
{
	uint64_t n;
	int r = checkpoint_version_of(fs->ex, ino, &n);

	return r < 0 ? r : number((int64_t)n, ret);
}

static int step_value(struct fs *fs, uint64_t ino, char **ret)
{
	struct checkpoint_state c;
	int r = checkpoint_state_of(fs->ex, ino, &c);

	return r < 0 ? r : c.step == NO_STEP ? -ENODATA : number(c.step, ret);
}

static int experiment_value(struct fs *fs, uint64_t ino, char **ret)
{
	char hash[EXPERIMENT_HASH + 1];
	int r = experiment_of_inode(fs->ex, ino, hash);

	return r < 0 ? r : text(hash, ret);
}

static int branch_value(struct fs *fs, uint64_t ino, char **ret)
{
	struct branch b = { 0 };
	struct tracked_row t;
	int r = root_settle(fs->ex);

	if (r == 0)
		r = checkpoint_tracked(fs->ex, ino, &t);
	if (r == 0)
		r = branch_by_id(fs->ex, NULL, t.run, &b);
	if (r == 0)
		*ret = steal(&b.name);
	branch_free(&b);
	return r;
}

static int complete_value(struct fs *fs, uint64_t ino, char **ret)
{
	struct checkpoint_state c;
	int r = checkpoint_state_of(fs->ex, ino, &c);

	return r < 0 ? r : number(c.complete, ret);
}

/* What is beside the model of the checkpoint that it holds, once that was read; "" where there is nothing. */
static int parts_value(struct fs *fs, uint64_t ino, char **ret)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	char parts[PARTS_TEXT];
	struct tracked_row t;
	struct holds_row h;
	int r = checkpoint_tracked(fs->ex, ino, &t);

	if (r < 0)
		return r;
	db = meta_reader(fs->ex->meta);
	r = holds_get(db, t.head, &h);
	if (r < 0)
		return r;
	parts_text(h.parts, parts);
	return text(parts, ret);
}

static int tier_value(struct fs *fs, uint64_t ino, char **ret)
{
	return text("hot", ret);
}

/* What its contents take of the disk, whoever shares them. */
static int stored_value(struct fs *fs, uint64_t ino, char **ret)
{
	_cleanup_members_ struct members m = { 0 };
	struct inode_row row;
	uint64_t blocks = 0;
	int r = fs_get_row(fs, ino, &row);

	if (r == 0 && S_ISDIR(row.mode))
		r = members_load(fs->ex, ino, &m);
	else
		blocks = row.blocks;
	if (r < 0)
		return r;
	for (size_t i = 0; i < m.n; i++)
		blocks += m.v[i].row.blocks;
	return number((int64_t)blocks * 512, ret);
}

/* Digits are the name of a checkpoint where others stand beside it, which its path does not tell. */
static enum role role_of_inode(struct fs *fs, uint64_t ino)
{
	struct checkpoint_state c;
	enum role role;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);

		role = path_role_of_inode(fs->ex, db, ino);
	}
	return role == ROLE_NONE && checkpoint_state_of(fs->ex, ino, &c) == 0 ? ROLE_WEIGHTS : role;
}

static int role_value(struct fs *fs, uint64_t ino, char **ret)
{
	return text(role_name(role_of_inode(fs, ino)), ret);
}

static const struct {
	const char *key;
	int (*get)(struct fs *fs, uint64_t ino, char **ret); /* -ENOENT: there is none */
} made_up[] = {
	{ "role", role_value },         { "step", step_value },       { "complete", complete_value },
	{ "digest", digest_value },     { "sha256", sha256_value },   { "version", version_value },
	{ "stored_bytes", stored_value }, { "tier", tier_value },
	{ "hash", experiment_value },    { "branch", branch_value },   { "parts", parts_value },
};

/* Of anything with a role. */
static int our_value(struct fs *fs, uint64_t ino, const char *key, char **ret)
{
	int r = -ENODATA;

	for (size_t i = 0; i < ARRAY_SIZE(made_up); i++)
		if (!strcmp(key, made_up[i].key) && role_of_inode(fs, ino) != ROLE_NONE)
			r = made_up[i].get(fs, ino, ret);
	return r == -ENOENT ? -ENODATA : r;
}

static int get_value(struct fs *fs, uint64_t ino, const char *name, void **ret, size_t *ret_len)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;

	if (view_is(ino))
		return -ENODATA;
	/* The kernel asks before every write. */
	if (!strcmp(name, CAPABILITY) && !atomic_load(&fs->has_capabilities))
		return -ENODATA;
	if (has_prefix(name, "system.") || !strcmp(name, LABEL))
		return -EOPNOTSUPP;
	db = meta_reader(fs->ex->meta);
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

/* One that is made up. */
static int get_ours(fuse_req_t req, const struct gate_call *c)
{
	_cleanup_free_ char *value = NULL;
	int r = our_value(fs_of(req), c->ino, c->name + strlen(OURS), &value);

	if (r >= 0)
		reply_buffer(req, value, strlen(value), c->size);
	return r;
}

void fs_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	const struct gate_call ours = { .serve = get_ours, .ino = ino, .name = name, .size = size };
	_cleanup_free_ void *value = NULL;
	size_t len = 0;
	int r;

	if (!view_is(ino) && has_prefix(name, OURS) && !is_set_by_user(name)) {
		gate_serve(fs_of(req)->gate, req, &ours);
		return;
	}
	r = get_value(fs_of(req), ino, name, &value, &len);
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
