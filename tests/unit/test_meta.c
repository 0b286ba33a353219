#include <dirent.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "meta/content.h"
#include "meta/fault_vfs.h"
#include "meta/dirent.h"
#include "meta/inode.h"
#include "meta/meta.h"
#include "meta/undo.h"
#include "meta/xattr.h"
#include "test.h"

static char db_path[4096];

static int open_db(void **state)
{
	struct meta *m;
	enum meta_end end;

	if (make_scratch(state) < 0)
		return -1;
	snprintf(db_path, sizeof(db_path), "%s/db", (char *)*state);
	free(steal((char **)state));
	if (meta_create(db_path, 0, 0) < 0 || meta_open(db_path, NULL, NULL, &m) < 0 ||
	    meta_begin_use(m, 1, &end) < 0 || end != META_CLEAN)
		return -1;
	*state = m;
	return 0;
}

static int close_db(void **state)
{
	int r = *state ? meta_close(*state) : 0;

	*strrchr(db_path, '/') = 0;
	*state = strdup(db_path);
	return remove_scratch(state) < 0 ? -1 : r;
}

struct make {
	struct meta *m;
	const char *name;
	uint64_t ino;
	int result;
};

static int tx_make(struct db *db, void *arg)
{
	struct make *k = arg;
	struct inode_row row = { .ino = meta_id(k->m), .mode = S_IFREG | 0644, .nlink = 1, .mtime = -1 };
	struct dirent_row d = { .parent = META_ROOT, .id = meta_id(k->m), .ino = row.ino, .type = DT_REG };
	int r = inode_insert(db, &row, NULL);

	if (r == 0)
		r = dirent_insert(db, &d, k->name);
	k->ino = row.ino;
	return r < 0 ? r : k->result;
}

static void a_transaction_that_fails_leaves_nothing(void **state)
{
	struct make k = { .m = *state, .name = "a", .result = -EDOM };
	struct inode_row row;
	struct db *db;

	assert_int_equal(meta_write(*state, tx_make, &k), -EDOM);
	db = meta_reader(*state);
	assert_int_equal(inode_get(db, k.ino, &row), -ESTALE);
	meta_reader_done(db);
	k.result = 7;
	assert_int_equal(meta_write(*state, tx_make, &k), 7);
	db = meta_reader(*state);
	assert_int_equal(inode_get(db, k.ino, &row), 0);
	assert_int_equal(row.mtime, -1);
	meta_reader_done(db);
}

static void a_name_is_there_once(void **state)
{
	struct make k = { .m = *state, .name = "a" };
	struct dirent_row d;
	struct db *db;

	assert_int_equal(meta_write(*state, tx_make, &k), 0);
	assert_int_equal(meta_write(*state, tx_make, &k), -EEXIST);
	k.name = "A\xff\n";
	assert_int_equal(meta_write(*state, tx_make, &k), 0);
	db = meta_reader(*state);
	assert_int_equal(dirent_get(db, META_ROOT, "A\xff\n", &d), 0);
	assert_int_equal(d.ino, k.ino);
	assert_int_equal(dirent_get(db, META_ROOT, "A", &d), -ENOENT);
	meta_reader_done(db);
}

static void ids_are_never_used_again_after_a_death(void **state)
{
	struct make k = { .m = *state, .name = "a" };
	uint64_t before;
	struct meta *second;

	for (int i = 0; i < 100000; i++)
		meta_id(*state);
	assert_int_equal(meta_write(*state, tx_make, &k), 0);
	before = meta_id(*state);
	/* What a process that dies leaves: a second one opens the file as it is. */
	assert_int_equal(meta_open(db_path, NULL, NULL, &second), 0);
	assert_true(meta_id(second) > before);
	assert_int_equal(meta_close(second), 0);
}

/* Opens a second time, as a later process does, and tells how the last one ended. */
static struct meta *open_again(uint64_t session, enum meta_end *ret)
{
	struct meta *m;

	assert_int_equal(meta_open(db_path, NULL, NULL, &m), 0);
	assert_int_equal(meta_begin_use(m, session, ret), 0);
	return m;
}

static void a_death_is_noticed_until_it_was_dealt_with(void **state)
{
	enum meta_end end;
	struct meta *second = open_again(1, &end); /* the first one is "in use" */

	assert_int_equal(end, META_KILLED);
	assert_int_equal(meta_close(second), 0); /* ends in order, but nothing was dealt with */
	second = open_again(1, &end);
	assert_int_equal(end, META_KILLED);
	meta_recovered(second);
	assert_int_equal(meta_close(second), 0);
	second = open_again(2, &end);
	assert_int_equal(end, META_CLEAN);
	assert_int_equal(meta_close(second), 0);
}

static void a_death_in_another_session_of_the_disk_is_a_power_cut_until_it_was_dealt_with(void **state)
{
	enum meta_end end;
	struct meta *second = open_again(2, &end), *third;

	assert_int_equal(end, META_CUT);
	third = open_again(2, &end); /* the second one died before it said anything */
	assert_int_equal(end, META_CUT);
	assert_int_equal(meta_set_session(third, 2), 0);
	assert_int_equal(meta_close(third), 0);
	third = open_again(2, &end);
	assert_int_equal(end, META_KILLED);
	assert_int_equal(meta_close(third), 0);
	assert_int_equal(meta_close(second), 0);
}

static void after_a_failure_of_the_disk_the_next_process_finds_a_power_cut(void **state)
{
	enum meta_end end;
	struct meta *second = open_again(1, &end);

	meta_recovered(second);
	meta_distrust(second);
	assert_int_equal(meta_close(second), 0);
	second = open_again(1, &end);
	assert_int_equal(end, META_CUT);
	assert_int_equal(meta_close(second), 0);
}

static int tx_seal(struct db *db, void *arg)
{
	static const uint8_t digest[CONTENT_DIGEST] = { 1, 2, 3 };
	struct inode_row row;
	uint64_t equal[4];
	struct content_row c;

	assert_int_equal(content_insert_live(db, 50), 0);
	assert_int_equal(content_insert_live(db, 51), 0);
	assert_int_equal(content_equal(db, 9, digest, 0, equal, 4), 0);
	assert_int_equal(content_set_sealed(db, 50, 1, 9, digest), 0);
	assert_int_equal(content_set_sealed(db, 51, 2, 9, digest), 0);
	assert_int_equal(content_equal(db, 9, digest, 51, equal, 4), 1);
	assert_int_equal(equal[0], 50);
	assert_int_equal(content_equal(db, 8, digest, 51, equal, 4), 0);
	/* An answer about an earlier sealing is of no use. */
	assert_int_equal(content_set_synced(db, 50, 99, CONTENT_CHANGED), 0);
	assert_int_equal(content_get(db, 50, &c), 0);
	assert_false(c.synced);
	assert_int_equal(content_set_synced(db, 50, 1, CONTENT_CHANGED), 0);
	assert_int_equal(content_get(db, 50, &c), 0);
	assert_true(c.synced);
	assert_int_equal(content_refs(db, 50), 0);
	row = (struct inode_row){ .ino = 60, .mode = S_IFREG, .nlink = 1, .object = 50 };
	assert_int_equal(inode_insert(db, &row, NULL), 0);
	row.ino = 61;
	assert_int_equal(inode_insert(db, &row, NULL), 0);
	assert_int_equal(content_refs(db, 50), 2);
	assert_int_equal(content_set_live(db, 50), 0);
	assert_int_equal(content_equal(db, 9, digest, 51, equal, 4), 0);
	return 0;
}

static int synced_of(struct db *db, uint64_t id)
{
	struct content_row c;

	assert_int_equal(content_get(db, id, &c), 0);
	return (int)c.synced;
}

static int tx_sync(struct db *db, void *arg)
{
	static const uint8_t digest[CONTENT_DIGEST] = { 4 };
	struct inode_row row = { .ino = 72, .mode = S_IFREG, .nlink = 1, .object = 70 };

	assert_int_equal(content_insert_live(db, 70), 0);
	assert_int_equal(inode_insert(db, &row, NULL), 0);
	assert_int_equal(undo_put(db, 72, 0), 0);
	assert_int_equal(content_set_begun(db, 70), 0);
	assert_int_equal(synced_of(db, 70), CONTENT_UNSYNCED); /* it has something to go back to */
	assert_int_equal(undo_delete(db, 72), 0);
	assert_int_equal(content_set_begun(db, 70), 0);
	assert_int_equal(synced_of(db, 70), CONTENT_BEGUN);
	assert_int_equal(content_set_sealed(db, 70, 1, 9, digest), 0);
	assert_int_equal(synced_of(db, 70), CONTENT_BEGUN);
	assert_int_equal(content_set_held(db, 70, 1), 0);
	assert_int_equal(synced_of(db, 70), CONTENT_BEGUN);
	assert_int_equal(content_unset_begun(db, 70), 0);
	assert_int_equal(content_set_held(db, 70, 1), 0);
	assert_int_equal(synced_of(db, 70), CONTENT_HELD);
	assert_int_equal(content_set_live(db, 70), 0);
	assert_int_equal(synced_of(db, 70), CONTENT_UNSYNCED);
	assert_int_equal(content_set_synced(db, 70, 0, CONTENT_CHANGED), 0);
	assert_int_equal(content_set_synced(db, 70, 0, CONTENT_BEGUN), 0);
	assert_int_equal(content_unset_begun(db, 70), 0);
	assert_int_equal(synced_of(db, 70), CONTENT_CHANGED);
	assert_int_equal(content_set_sealed(db, 70, 2, 9, digest), 0);
	assert_int_equal(content_set_synced(db, 70, 2, CONTENT_BEGUN), 0);
	assert_int_equal(synced_of(db, 70), CONTENT_WHOLE);
	assert_int_equal(content_set_live(db, 70), 0);
	assert_int_equal(synced_of(db, 70), CONTENT_CHANGED);
	return 0;
}

static void what_the_disk_has_of_a_content_follows_its_life(void **state)
{
	assert_int_equal(meta_write(*state, tx_sync, NULL), 0);
}

static void references_and_equals_follow_the_rows(void **state)
{
	assert_int_equal(meta_write(*state, tx_seal, NULL), 0);
}

static int tx_xattr(struct db *db, void *arg)
{
	_cleanup_free_ void *value = NULL;
	_cleanup_free_ char *names = NULL;
	size_t len;

	assert_int_equal(xattr_set(db, 1, "user.a", "", 0, XATTR_OLD), -ENODATA);
	assert_int_equal(xattr_set(db, 1, "user.a", "x\0y", 3, XATTR_NEW), 0);
	assert_int_equal(xattr_set(db, 1, "user.a", "", 0, XATTR_NEW), -EEXIST);
	assert_int_equal(xattr_get(db, 1, "user.a", &value, &len), 0);
	assert_int_equal(len, 3);
	assert_memory_equal(value, "x\0y", 3);
	assert_int_equal(xattr_set(db, 1, "user.empty", "", 0, XATTR_ANY), 0);
	assert_int_equal(xattr_list(db, 1, &names, &len), 0);
	assert_int_equal(len, sizeof("user.a") + sizeof("user.empty"));
	assert_int_equal(xattr_any(db, "user.empty"), 1);
	assert_int_equal(xattr_remove(db, 1, "user.empty"), 0);
	assert_int_equal(xattr_remove(db, 1, "user.empty"), -ENODATA);
	assert_int_equal(xattr_any(db, "user.empty"), 0);
	return 0;
}

static void xattrs_hold_bytes_of_any_length(void **state)
{
	assert_int_equal(meta_write(*state, tx_xattr, NULL), 0);
}

static int sync_errno;

static int (*real_sync)(sqlite3_file *f, int flags);
static sqlite3_vfs *real_vfs;

static int failing_sync(sqlite3_file *f, int flags)
{
	if (sync_errno == 0)
		return real_sync(f, flags);
	errno = sync_errno;
	return SQLITE_IOERR_FSYNC;
}

/* The syncs of a log fail while sync_errno is set. */
static int open_failing(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *ret_flags)
{
	static sqlite3_io_methods methods;
	int rc = real_vfs->xOpen(real_vfs, name, f, flags, ret_flags);

	if (rc == SQLITE_OK && (flags & SQLITE_OPEN_WAL)) {
		methods = *f->pMethods;
		real_sync = methods.xSync;
		methods.xSync = failing_sync;
		f->pMethods = &methods;
	}
	return rc;
}

static void a_sync_that_fails_gives_its_errno_from_then_on(void **state)
{
	static const int errors[] = { ENOSPC, EDQUOT, EROFS, EIO };
	static sqlite3_vfs vfs;
	char path[sizeof(db_path) + 8];

	real_vfs = sqlite3_vfs_find(DB_VFS);
	vfs = *real_vfs;
	vfs.xOpen = open_failing;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		struct make k = { .name = "a" };

		snprintf(path, sizeof(path), "%s.%zu", db_path, i);
		assert_int_equal(meta_create(path, 0, 0), 0);
		sqlite3_vfs_register(&vfs, 0);
		assert_int_equal(meta_open(path, NULL, NULL, &k.m), 0);
		sqlite3_vfs_unregister(&vfs);
		sync_errno = 0;
		assert_int_equal(meta_write(k.m, tx_make, &k), 0);
		sync_errno = errors[i];
		assert_false(meta_sync_failed(k.m));
		assert_int_equal(meta_sync(k.m), -errors[i]);
		assert_int_equal(meta_sync(k.m), -errors[i]);
		assert_true(meta_sync_failed(k.m));
		meta_close(k.m);
	}
}

#define test(f) cmocka_unit_test_setup_teardown(f, open_db, close_db)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(a_transaction_that_fails_leaves_nothing), test(a_name_is_there_once),
		test(ids_are_never_used_again_after_a_death),
		test(a_death_is_noticed_until_it_was_dealt_with),
		test(a_death_in_another_session_of_the_disk_is_a_power_cut_until_it_was_dealt_with),
		test(after_a_failure_of_the_disk_the_next_process_finds_a_power_cut),
		test(a_sync_that_fails_gives_its_errno_from_then_on),
		test(references_and_equals_follow_the_rows),   test(xattrs_hold_bytes_of_any_length),
		test(what_the_disk_has_of_a_content_follows_its_life),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
