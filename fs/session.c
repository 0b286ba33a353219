/* The session: options, what is agreed with the kernel, the loop, the end.
 *
 * The mount is usable from INIT on: a request that comes before our answer to
 * it waits for that. Nothing in this process ever asks the mount for anything:
 * killed while it waits for itself, it could not end, nor the mount with it. The
 * notifier comes near to that with kernels before 6.16 (notify.c). */
#include "session.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "control.h"
#include "exp/keeper.h"
#include "fs.h"
#include "gate.h"
#include "notify.h"
#include "signals.h"
#include "meta/xattr.h"
#include "util/io.h"
#include "util/log.h"
#include "util/service.h"
#include "view.h"
#include "view_kept.h"

#define READ_AHEAD (4u << 20)
#define MAX_BACKGROUND 64
#define MAX_THREADS 32
#define IDLE_THREADS 8

static const struct fuse_lowlevel_ops operations;

/* Those of mount(8) that the kernel or fusermount3 know for FUSE. */
static const char *const known_options[] = {
	"allow_other", "allow_root", "ro", "rw", "suid", "nosuid", "dev", "nodev", "exec", "noexec", "sync", "async",
	"dirsync", "atime", "noatime", "auto_unmount",
};

int session_check_options(const char *options, char **ret_bad)
{
	while (options && *options) {
		size_t n = strcspn(options, ",");
		bool known = false;

		for (size_t i = 0; i < ARRAY_SIZE(known_options) && !known; i++)
			known = strlen(known_options[i]) == n && strncmp(known_options[i], options, n) == 0;
		if (!known) {
			*ret_bad = strndup(options, n);
			return -EINVAL;
		}
		options += n + (options[n] == ',');
	}
	return 0;
}

static void want(struct fuse_conn_info *conn, unsigned flag)
{
	if (conn->capable & flag)
		conn->want |= flag;
}

/* Of the mount point, without a request to ourselves: no attribute is asked for. */
static void find_device(struct expfs *ex)
{
	struct statx st;

	if (statx(AT_FDCWD, ex->mountpoint, AT_STATX_DONT_SYNC, 0, &st) < 0)
		log_msg("%s: its device is not known, read-ahead stays as it is: %s", ex->mountpoint, strerror(errno));
	else
		snprintf(ex->device, sizeof(ex->device), "%u:%u", st.stx_dev_major, st.stx_dev_minor);
}

/* The kernel takes the smaller one of what the device has now and what we
 * answer. Only root may set the former; others have the kernel's default. */
static void set_read_ahead(const struct expfs *ex, struct fuse_conn_info *conn)
{
	_cleanup_close_ int fd = -1;
	char path[80], text[16];
	int r;

	snprintf(path, sizeof(path), "/sys/class/bdi/%s/read_ahead_kb", ex->device);
	snprintf(text, sizeof(text), "%u\n", READ_AHEAD / 1024);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	r = io_write_all(fd, text, strlen(text));
	if (r < 0)
		log_msg("%s: cannot be set: %s", path, strerror(-r));
	else
		conn->max_readahead = READ_AHEAD;
}

static void fs_init(void *userdata, struct fuse_conn_info *conn)
{
	const struct fs *fs = userdata;

	/* The data of a file change through this mount only: the kernel's pages
	 * stay good until it changes them itself. */
	conn->want &= ~(unsigned)(FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_WRITEBACK_CACHE);
	want(conn, FUSE_CAP_EXPLICIT_INVAL_DATA);
	want(conn, FUSE_CAP_ATOMIC_O_TRUNC);
	want(conn, FUSE_CAP_EXPORT_SUPPORT);
	want(conn, FUSE_CAP_PARALLEL_DIROPS);
	want(conn, FUSE_CAP_READDIRPLUS);
	want(conn, FUSE_CAP_READDIRPLUS_AUTO);
	/* The bytes are wanted for their digest. */
	conn->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
	/* The kernel leaves out the sync of such a write with O_DSYNC, and what is in its
	 * cache beside it goes stale. */
	conn->want &= ~(unsigned)FUSE_CAP_ASYNC_DIO;
	/* Locks are the kernel's own business. */
	conn->want &= ~(unsigned)(FUSE_CAP_POSIX_LOCKS | FUSE_CAP_FLOCK_LOCKS);
	conn->max_background = MAX_BACKGROUND;
	conn->congestion_threshold = MAX_BACKGROUND * 3 / 4;
	conn->time_gran = 1;
	if (*fs->ex->device)
		set_read_ahead(fs->ex, conn);
	if (fs->options->ready)
		fs->options->ready(fs->options->ready_arg);
}

static int add_args(struct fuse_args *args, struct expfs *ex, const struct session_options *o)
{
	_cleanup_free_ char *name = NULL;
	char *opts = NULL;
	int r = -ENOMEM;

	if (asprintf(&name, "fsname=%s", store_path(ex->store)) < 0)
		return -ENOMEM;
	/* As with a disk: root's mount has devices and set-user-ID programs unless
	 * the options say otherwise. */
	if (fuse_opt_add_opt(&opts, "default_permissions,subtype=expfs") == 0 &&
	    (geteuid() != 0 || fuse_opt_add_opt(&opts, "suid,dev") == 0) &&
	    fuse_opt_add_opt_escaped(&opts, name) == 0 &&
	    (!o->options || !*o->options || fuse_opt_add_opt(&opts, o->options) == 0) &&
	    fuse_opt_add_arg(args, "expfs") == 0 && fuse_opt_add_arg(args, "-o") == 0 &&
	    fuse_opt_add_arg(args, opts) == 0)
		r = 0;
	free(opts);
	return r;
}

static bool is_known(void *arg, uint64_t ino)
{
	return itable_known(((struct fs *)arg)->inodes, ino);
}

/* What exp/load.h changed. */
static void changed(void *arg, const struct expfs_change *v, size_t n)
{
	struct fs *fs = arg;

	for (size_t i = 0; i < n; i++) {
		if (v[i].last)
			fs_unlinked(fs, v[i].was);
		if (v[i].dir == META_ROOT)
			fs_forget_families(fs);
	}
	notifier_tell(fs->notifier, v, n);
}

static void fs_close(struct fs *fs)
{
	fs_drop_handles(fs);
	pthread_mutex_destroy(&fs->handles_lock);
	if (fs->inodes)
		itable_free(fs->inodes);
	if (fs->views)
		view_table_free(fs->views);
	if (fs->kept)
		view_kept_free(fs->kept);
}

static int fs_open_tables(struct fs *fs)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(fs->ex->meta);
	int r = itable_new(&fs->inodes);

	pthread_mutex_init(&fs->handles_lock, NULL);
	if (r == 0)
		r = view_table_new(&fs->views);
	if (r == 0)
		r = view_kept_new(&fs->kept);
	if (r == 0)
		r = xattr_any(db, "security.capability");
	if (r >= 0)
		atomic_store(&fs->has_capabilities, r > 0);
	return MIN(r, 0);
}

static int loop(struct fs *fs)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int r;

	if (!config)
		return -ENOMEM;
	fuse_loop_cfg_set_clone_fd(config, 0);
	fuse_loop_cfg_set_max_threads(config, MAX_THREADS);
	fuse_loop_cfg_set_idle_threads(config, IDLE_THREADS);
	r = fuse_session_loop_mt(fs->session, config);
	fuse_loop_cfg_destroy(config);
	return r > 0 ? 0 : r; /* a signal is a good end */
}

static int serve(struct fs *fs)
{
	struct control *control = NULL;
	struct signals *signals = NULL;
	int r = signals_start(fs->ex, fs->session, &signals);

	if (r == 0)
		r = keeper_start(fs->ex);
	if (r == 0)
		r = notifier_start(fs, &fs->notifier);
	if (r == 0) {
		fs->ex->changed = changed;
		r = control_start(fs->ex, &control);
	}
	if (r < 0)
		log_msg("%s: cannot start: %s", store_path(fs->ex->store), strerror(-r));
	else
		r = loop(fs);
	if (signals)
		signals_stop(signals);
	if (control) {
		service_stopping();
		control_stop(control);
	}
	return r;
}

/* Who waits for our answers, while we wait for what he holds, is told that there will be none. */
static void abort_connection(const struct expfs *ex)
{
	_cleanup_close_ int fd = -1;
	char path[80];

	snprintf(path, sizeof(path), "/sys/fs/fuse/connections/%s/abort", ex->device + strcspn(ex->device, ":") + 1);
	fd = *ex->device ? open(path, O_WRONLY | O_CLOEXEC) : -1;
	if (fd < 0 || io_write_all(fd, "1\n", 2) < 0)
		log_msg("%s: who has files open there hangs; abort it by writing 1 to %s", ex->mountpoint, path);
}

static int mount_session(struct fs *fs, struct fuse_args *args, const struct session_options *o)
{
	int r;

	fs->session = fuse_session_new(args, &operations, sizeof(operations), fs);
	if (!fs->session)
		return -EINVAL;
	if (fuse_set_signal_handlers(fs->session) == 0) {
		r = fuse_session_mount(fs->session, o->mountpoint) == 0 ? 0 : -EIO;
		if (r < 0) {
			log_msg("%s: cannot be mounted", o->mountpoint);
		} else {
			find_device(fs->ex);
			r = serve(fs);
		}
		fs->ex->changed = NULL;
		fuse_session_unmount(fs->session);
		fuse_remove_signal_handlers(fs->session);
	} else {
		r = -EINVAL;
	}
	if (!fs->notifier || notifier_stop(fs->notifier))
		fuse_session_destroy(fs->session);
	else
		abort_connection(fs->ex);
	return r;
}

int session_run(struct expfs *ex, const struct session_options *o)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct gate gate;
	struct fs fs = { .ex = ex, .options = o, .gate = &gate };
	int r;

	gate_init(&gate);
	ex->mountpoint = strdup(o->mountpoint);
	r = ex->mountpoint ? fs_open_tables(&fs) : -ENOMEM;
	if (r < 0)
		log_msg("%s: cannot start: %s", store_path(ex->store), strerror(-r));
	if (r == 0) {
		ex->is_known_arg = &fs;
		ex->is_known = is_known;
		fs_forget_families(&fs);
		r = add_args(&args, ex, o);
	}
	if (r == 0)
		r = mount_session(&fs, &args, o);
	keeper_stop(ex);
	ex->is_known = NULL;
	fuse_opt_free_args(&args);
	fs_close(&fs);
	gate_free(&gate);
	return r;
}

static const struct fuse_lowlevel_ops operations = {
	.init = fs_init,
	.lookup = fs_lookup,
	.forget = fs_forget_one,
	.forget_multi = fs_forget_multi,
	.getattr = fs_getattr,
	.setattr = fs_setattr,
	.readlink = fs_readlink,
	.mknod = fs_mknod,
	.mkdir = fs_mkdir,
	.unlink = fs_unlink,
	.rmdir = fs_rmdir,
	.symlink = fs_symlink,
	.rename = fs_rename,
	.link = fs_link,
	.create = fs_create,
#ifdef HAVE_STRUCT_FUSE_LOWLEVEL_OPS_TMPFILE
	.tmpfile = fs_tmpfile,
#endif
	.open = fs_open,
	.read = fs_read,
	.write = fs_write,
	.flush = fs_flush,
	.release = fs_release,
	.fsync = fs_fsync,
	.fallocate = fs_fallocate,
	.lseek = fs_lseek,
	.copy_file_range = fs_copy_file_range,
	.opendir = fs_opendir,
	.readdir = fs_readdir,
	.readdirplus = fs_readdirplus,
	.releasedir = fs_releasedir,
	.fsyncdir = fs_fsyncdir,
	.statfs = fs_statfs,
	.setxattr = fs_setxattr,
	.getxattr = fs_getxattr,
	.listxattr = fs_listxattr,
	.removexattr = fs_removexattr,
};
