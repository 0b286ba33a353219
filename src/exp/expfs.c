#include "exp/expfs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "exp/ancestry.h"
#include "exp/file.h"
#include "exp/keeper.h"
#include "exp/kept.h"
#include "exp/manifests.h"
#include "exp/recover.h"
#include "exp/settings.h"
#include "exp/standings.h"
#include "exp/track.h"
#include "meta/dirent.h"
#include "store/object.h"
#include "util/advice.h"
#include "util/io.h"
#include "util/log.h"

static const char *const top_dirs[] = { "branches", "experiments", "models", "HP", "data", "runs" };

static int fail(char **ret_error, int r, const char *thing, const char *text)
{
	if (ret_error && asprintf(ret_error, "%s: %s", thing, text) < 0)
		*ret_error = NULL;
	return r;
}

static int fail_open(char **ret_error, int r, const char *path, unsigned format)
{
	char text[PATH_MAX + 100];

	switch (r) {
	case -ENOENT:
		return fail(ret_error, r, path, "no such directory; make a store with: expfs init STORE");
	case -ENOTDIR:
		return fail(ret_error, r, path, "is not a directory; give the directory of a store");
	case -EMEDIUMTYPE:
		return fail(ret_error, r, path, "is not a store; make one with: expfs init STORE");
	case -EPROTONOSUPPORT:
		snprintf(text, sizeof(text), "store of format %u, this program knows format %d; use a newer expfs",
			 format, STORE_FORMAT);
		return fail(ret_error, r, path, text);
	case -EROFS:
		return fail(ret_error, r, path, "is on a read-only file system; remount that for writing");
	case -ENOSPC:
		return fail(ret_error, r, path, "the disk is full; free some space on it");
	case -EUCLEAN:
		snprintf(text, sizeof(text), "the store is damaged; run: expfs fsck %s", path);
		return fail(ret_error, r, path, text);
	}
	if (r == -EACCES)
		return fail(ret_error, r, path, "permission denied; do it as the owner of that directory");
	return fail(ret_error, r, path, advice(r));
}

/* What frees takes the reserve first, for who deletes is not to wait for other
 * removals; when that is used up, they are all that is left. */
static bool give_space(void *arg, bool frees)
{
	struct expfs *ex = arg;

	if (frees)
		return store_reserve_give(ex->store, true) || keeper_reap(ex);
	return keeper_reap(ex) || store_reserve_give(ex->store, false);
}

/* What becomes of files is told to who mounts, and to who looks into the log later. */
static int deal_with_cut(struct expfs *ex)
{
	_cleanup_close_ int log = openat(store_dirfd(ex->store), "log",
					 O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	const struct recovered *k = &ex->recovered;
	int r;

	log_copy(log);
	r = recover_after_cut(ex, &ex->recovered);
	if (k->back + k->gone + k->kept > 0)
		log_msg("%s: after a power cut %u files have their content from before, %u that were new are gone, %u that were "
			"changed in place are as the disk has them",
			store_path(ex->store), k->back, k->gone, k->kept);
	log_copy(-1);
	return r;
}

/* Takes the database into use, and deals with what the last use of it has left. */
static int begin_use(struct expfs *ex)
{
	uint64_t session;
	int r = store_session(ex->store, &session);

	if (r == 0)
		r = meta_begin_use(ex->meta, session, &ex->last_end);
	if (r == 0)
		r = io_sync(store_dirfd(ex->store), false); /* the log's own entry */
	if (r < 0 || ex->last_end != META_CUT)
		return r;
	r = deal_with_cut(ex);
	return r < 0 ? r : meta_set_session(ex->meta, session);
}

static int take_store(const char *path, const char *who, struct store **ret, unsigned *ret_format, char **ret_error)
{
	_cleanup_(cleanup_store) struct store *s = NULL;
	_cleanup_free_ char *holder = NULL, *text = NULL;
	unsigned format = 0;
	int r = store_open(path, &s, &format);

	if (r == 0)
		r = store_lock(s, who, &holder);
	if (r == -EWOULDBLOCK) {
		if (asprintf(&text, "in use by %s; unmount it there, or end what still uses it", holder ? holder : "another process") < 0)
			text = NULL;
		return fail(ret_error, r, path, text ? text : "in use");
	}
	if (r < 0)
		return fail_open(ret_error, r, path, format);
	*ret = steal(&s);
	*ret_format = format;
	return 0;
}

int expfs_open(const char *path, const char *who, struct expfs **ret, char **ret_error)
{
	_cleanup_(cleanup_expfs) struct expfs *ex = calloc(1, sizeof(*ex));
	_cleanup_free_ char *db = NULL;
	unsigned format;
	int r;

	if (!ex)
		return -ENOMEM;
	pthread_mutex_init(&ex->read_only_lock, NULL);
	pthread_mutex_init(&ex->settle_lock, NULL);
	pthread_mutex_init(&ex->config_lock, NULL);
	r = take_store(path, who, &ex->store, &format, ret_error);
	if (r < 0)
		return r;
	db = store_file(ex->store, "expfs.db");
	if (db && access(db, R_OK) < 0)
		return fail_open(ret_error, errno == ENOENT ? -EUCLEAN : -errno, errno == ENOENT ? path : db, format);
	r = db ? meta_open(db, give_space, ex, &ex->meta) : -ENOMEM;
	if (r == 0)
		r = store_set_format(ex->store);
	if (r == 0)
		r = settings_load(ex);
	if (r == 0)
		r = ancestries_new(&ex->ancestries);
	if (r == 0)
		r = manifests_new(&ex->manifests);
	if (r == 0)
		r = standings_new(&ex->standings);
	if (r == 0)
		r = kept_new(&ex->kept);
	if (r == 0)
		r = begin_use(ex);
	if (r == 0)
		r = settings_follow(ex);
	if (r == 0)
		r = file_table_new(&ex->files);
	if (r == 0 && ex->last_end != META_CLEAN)
		r = track_left_open(ex);
	if (r == 0)
		r = meta_sync_failed(ex->meta) ? -EIO : 0;
	if (r < 0)
		return fail_open(ret_error, r, path, format);
	*ret = steal(&ex);
	return 0;
}

int expfs_mend(const char *path, const char *who, bool repair, mend_fn f, void *arg, char **ret_error)
{
	_cleanup_(cleanup_store) struct store *s = NULL;
	_cleanup_free_ char *db = NULL;
	unsigned format;
	int r = take_store(path, who, &s, &format, ret_error);

	if (r < 0)
		return r;
	db = store_file(s, "expfs.db");
	r = db ? mend_database(db, repair, f, arg) : -ENOMEM;
	return r == -ENOENT || r == -EUCLEAN ? r : r < 0 ? fail_open(ret_error, r, path, format) : 0;
}

int expfs_close(struct expfs *ex)
{
	int r = 0;

	keeper_stop(ex);
	if (ex->meta)
		r = meta_close(ex->meta);
	if (ex->files)
		file_table_free(ex->files);
	if (ex->ancestries)
		ancestries_free(ex->ancestries);
	if (ex->manifests)
		manifests_free(ex->manifests);
	if (ex->standings)
		standings_free(ex->standings);
	if (ex->kept)
		kept_free(ex->kept);
	settings_free(ex);
	if (ex->store)
		store_close(ex->store);
	pthread_mutex_destroy(&ex->read_only_lock);
	pthread_mutex_destroy(&ex->settle_lock);
	pthread_mutex_destroy(&ex->config_lock);
	free(ex->mountpoint);
	free(ex->read_only_reason);
	free(ex);
	return r;
}

struct make_top {
	struct meta *meta;
	int64_t now;
};

static int tx_make_top(struct db *db, void *arg)
{
	struct make_top *t = arg;
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(top_dirs) && r == 0; i++) {
		struct inode_row row = {
			.ino = meta_id(t->meta), .mode = S_IFDIR | 0755, .nlink = 2, .uid = getuid(), .gid = getgid(),
			.size = 4096, .blocks = 8, .atime = t->now, .mtime = t->now, .ctime = t->now, .btime = t->now,
		};
		struct dirent_row d = { .parent = META_ROOT, .id = meta_id(t->meta), .ino = row.ino, .type = S_IFDIR >> 12 };

		r = inode_insert(db, &row, NULL);
		if (r == 0)
			r = dirent_insert(db, &d, top_dirs[i]);
		if (r == 0)
			r = inode_touch_dir(db, META_ROOT, t->now, 1);
	}
	return r;
}

static int init_database(const char *dir)
{
	_cleanup_free_ char *path = NULL;
	struct make_top top = { .now = now_ns() };
	int r, r2;

	if (asprintf(&path, "%s/expfs.db", dir) < 0)
		return -ENOMEM;
	r = meta_create(path, getuid(), getgid());
	if (r == 0)
		r = meta_open(path, NULL, NULL, &top.meta);
	if (r < 0)
		return r;
	r = meta_write(top.meta, tx_make_top, &top);
	r2 = meta_close(top.meta);
	return r < 0 ? r : r2;
}

int expfs_init(const char *path, char **ret_error)
{
	int r = store_init(path, config_default_text, init_database);

	switch (r) {
	case 0:
		return 0;
	case -EEXIST:
		return fail(ret_error, r, path, "is a store already; mount it with: expfs mount STORE MNT");
	case -ENOTEMPTY:
		return fail(ret_error, r, path, "is not empty; give a new or an empty directory");
	case -ENOTDIR:
		return fail(ret_error, r, path, "is not a directory; give a new or an empty directory");
	case -ENOENT:
		return fail(ret_error, r, path, "the directory above it does not exist; make that first");
	}
	return fail_open(ret_error, r, path, 0);
}

/* A disk that fails is mostly made read-only by its file system: then so are we. A
 * transaction may have synced. */
static int write_result(struct expfs *ex, int r)
{
	if (meta_take_unread(ex->meta))
		keeper_unread(ex);
	if (meta_sync_failed(ex->meta))
		expfs_fail(ex, "the store's disk failed a sync");
	if (r != -EIO || !store_is_read_only(ex->store))
		return r;
	expfs_fail(ex, "the store's disk has turned read-only");
	return -EROFS;
}

int expfs_write(struct expfs *ex, meta_fn f, void *arg)
{
	return atomic_load(&ex->read_only) ? -EROFS : write_result(ex, meta_write(ex->meta, f, arg));
}

int expfs_write_freeing(struct expfs *ex, meta_fn f, void *arg)
{
	return atomic_load(&ex->read_only) ? -EROFS : write_result(ex, meta_write_freeing(ex->meta, f, arg));
}

void expfs_fail(struct expfs *ex, const char *reason)
{
	{
		scoped_lock(&ex->read_only_lock);
		if (atomic_load(&ex->read_only))
			return;
		ex->read_only_reason = strdup(reason);
		atomic_store(&ex->read_only, true);
	}
	log_msg("%s; the mount is read-only from now on", reason);
	meta_distrust(ex->meta);
}

bool expfs_is_read_only(struct expfs *ex)
{
	struct mounts m = { 0 };

	if (!atomic_load(&ex->read_only) && *ex->device)
		mounts_of("/proc/self/mountinfo", ex->device, &m);
	return atomic_load(&ex->read_only) || (m.n > 0 && m.writable == 0);
}

int expfs_sync_result(struct expfs *ex, int r)
{
	if (r < 0 && (store_sync_failed(ex->store) || meta_sync_failed(ex->meta)))
		expfs_fail(ex, "the store's disk failed a sync");
	return r;
}

bool expfs_make_space(struct expfs *ex, bool precious)
{
	if (keeper_reap(ex))
		return true;
	return precious && store_reserve_give(ex->store, false);
}

int expfs_statvfs(struct expfs *ex, struct statvfs *ret)
{
	return store_statvfs(ex->store, ret);
}

int expfs_stat_live(struct expfs *ex, struct inode_row *row)
{
	struct stat st;
	int r = object_stat(ex->store, row->object, &st);

	if (r < 0)
		return r;
	row->size = (uint64_t)st.st_size;
	row->blocks = (uint64_t)st.st_blocks;
	row->mtime = timespec_ns(&st.st_mtim);
	row->ctime = MAX(row->ctime, timespec_ns(&st.st_ctim));
	return 0;
}

/* A live object can be sealed, shared and gone between the row and the look at
 * its file: then the row is another. */
int expfs_inode_get(struct expfs *ex, struct db *db, uint64_t ino, struct inode_row *ret)
{
	uint64_t last = 0;

	for (;;) {
		struct inode_row row;
		int r = inode_get(db, ino, &row);

		if (r < 0)
			return r;
		if (row.flags & INODE_LIVE)
			r = expfs_stat_live(ex, &row);
		if (r == -ENOENT && row.object != last) {
			last = row.object;
			continue;
		}
		/* Lost: the name must still be seen, to be removed; reading tells. */
		if (r < 0 && r != -ENOENT)
			return r;
		*ret = row;
		return 0;
	}
}
