/* fsck: the database's structure, its rows, the contents, and files that
 * nothing names; in this order, each trusting the ones before it.
 *
 * It also runs in the daemon while others write. Then each query sees one state
 * of the rows, and what is found wrong with a content counts only if its row is
 * still the same afterwards; nothing is repaired, and files without a row are
 * not looked for, because there may be a row for them in a moment. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exp/checkpoint.h"
#include "exp/path.h"
#include "meta/check.h"
#include "meta/content.h"
#include "op/reply.h"
#include "store/digest.h"
#include "store/object.h"
#include "util/advice.h"
#include "util/io.h"
#include "util/progress.h"

#define PROBLEMS_MAX 10000 /* that are told; all are counted */
#define BATCH 256
#define CHUNK (1u << 20)

struct fsck {
	struct expfs *ex;
	const struct op_caller *caller;
	bool repair;
	json_t *problems;
	uint64_t found, left; /* left: not repaired */
	uint64_t objects, inodes, bytes;
	char *buf; /* of CHUNK bytes */
	struct progress progress;
};

static bool is_unwanted(const struct fsck *k)
{
	return op_is_unwanted((void *)(uintptr_t)k->caller);
}

/* path is one of the room exp, or NULL. */
static void add_problem(struct fsck *k, const char *kind, const char *path, const char *text, bool repaired)
{
	k->found++;
	k->left += !repaired;
	if (json_array_size(k->problems) < PROBLEMS_MAX)
		json_array_append_new(k->problems,
				      json_pack("{s:s, s:o, s:o, s:b}", "kind", kind, "path",
						path ? reply_path(path) : json_null(), "text", reply_text(text),
						"repaired", repaired));
}

static void on_structure(void *arg, const char *text)
{
	add_problem(arg, "database", NULL, text, false);
}

static int check_database(struct fsck *k)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(k->ex->meta);

	return check_structure(db, on_structure, k);
}

/* The path of an inode, or of a name in it; NULL where it has none. */
static char *entry_path(struct db *db, uint64_t ino, const char *name)
{
	_cleanup_free_ char *dir = NULL;
	char *path;

	if (ino == 0 || path_of(db, ino, &dir) < 0)
		return NULL;
	return asprintf(&path, "%s%s%s", dir, *dir && name ? "/" : "", name ? name : "") < 0 ? NULL : path;
}

struct rows {
	struct fsck *k;
	struct db *db;
	json_t *before; /* faults found before the repair → their indexes among the problems */
	bool repaired;
};

static void on_row(void *arg, const struct check_fault *fault)
{
	struct rows *rows = arg;
	_cleanup_free_ char *path = entry_path(rows->db, fault->ino, fault->name), *id = NULL;
	_cleanup_json_ json_t *key = NULL;
	json_t *same;

	if (asprintf(&id, "%" PRIu64 "/%s/%s", fault->ino, fault->name ? fault->name : "", fault->text) < 0)
		id = NULL;
	key = id ? reply_text(id) : NULL;
	same = key ? json_object_get(rows->before, json_string_value(key)) : NULL;
	if (rows->repaired && json_array_size(same) > 0) {
		json_array_remove(same, 0);
		return; /* told already, and still there */
	}
	if (rows->k->repair && !rows->repaired && key) {
		if (!same)
			json_object_set_new(rows->before, json_string_value(key), same = json_array());
		json_array_append_new(same, json_integer((json_int_t)json_array_size(rows->k->problems)));
	}
	add_problem(rows->k, fault->content_lost ? "damaged" : "row", path, fault->text, false);
}

static int look_at_rows(struct rows *rows)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(rows->k->ex->meta);
	int r;

	rows->db = db;
	r = inode_count(db, &rows->k->inodes);
	return r < 0 ? r : check_rows(db, on_row, rows);
}

static bool has_file(void *arg, uint64_t object)
{
	struct fsck *k = arg;
	struct stat st;

	return object_stat(k->ex->store, object, &st) != -ENOENT;
}

static int check_inodes(struct fsck *k)
{
	_cleanup_json_ json_t *before = json_object();
	struct rows rows = { .k = k, .before = before };
	const char *key;
	json_t *same, *index;
	size_t i;
	int r = look_at_rows(&rows);

	if (r < 0 || !k->repair || k->found == 0)
		return r;
	r = expfs_write(k->ex, check_repair, &(struct check_contents){ has_file, k });
	if (r < 0)
		return r;
	rows.repaired = true;
	r = look_at_rows(&rows);
	json_object_foreach (before, key, same) /* what the second look did not find */
		json_array_foreach (same, i, index) {
			json_t *problem = json_array_get(k->problems, (size_t)json_integer_value(index));

			k->left--;
			if (problem)
				json_object_set_new(problem, "repaired", json_true());
		}
	return r;
}

/* Is a content's row still the one that was looked at? */
static bool is_same(struct fsck *k, const struct content_row *row)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(k->ex->meta);
	struct content_row now;

	return content_get(db, row->id, &now) == 0 && now.state == row->state && now.seal == row->seal;
}

struct damage {
	struct fsck *k;
	struct db *db;
	uint64_t object;
	const char *text;
	bool any;
};

/* Has the path any version with another content? */
static bool has_others(struct db *db, uint64_t parent, const char *name, uint64_t object)
{
	struct tracked_row t;
	struct version_row v = { .n = INT64_MAX };
	int r = tracked_by_dir(db, parent, &t);

	if (r == 0)
		r = tracked_by_name(db, t.id, name, &t);
	while (r == 0) {
		r = version_before(db, t.id, v.n, &v);
		if (r == 0 && v.object && v.object != object)
			return true;
	}
	return false;
}

static void on_holder(void *arg, uint64_t parent, const char *name, uint64_t before)
{
	struct damage *d = arg;
	_cleanup_free_ char *path = entry_path(d->db, parent, name);
	char text[384];

	d->any = true;
	if (before)
		snprintf(text, sizeof(text), "%s; what it had before its last save is still there (object %" PRIx64 ")",
			 d->text, before);
	else
		snprintf(text, sizeof(text), "%s; %s", d->text,
			 has_others(d->db, parent, name, d->object) ? "expfs history shows its other versions" :
								      "no other version is in the store");
	add_problem(d->k, "damaged", path, text, false);
}

/* Those that a path holds are told by its name. */
static void on_version(void *arg, const struct version_row *v, const char *member)
{
	struct damage *d = arg;
	_cleanup_free_ char *path = NULL, *below = NULL, *found = NULL;

	if (d->any && !v->until)
		return;
	if (tracked_path(d->db, v->tracked, &path) == 0)
		below = checkpoint_history_path(path, v);
	if (!below ||
	    asprintf(&found, ".expfs/history/%s%s%s", below, member ? "/" : "", member ? member : "") < 0)
		return;
	d->any = true;
	add_problem(d->k, "damaged", found, d->text, false);
}

static int add_damage(struct fsck *k, const struct content_row *row, const char *what)
{
	_cleanup_(cleanup_reader) struct db *db = NULL;
	char text[256];
	struct damage d = { .k = k, .object = row->id, .text = text };
	int r;

	if (!is_same(k, row))
		return 0;
	snprintf(text, sizeof(text), "%s (object %" PRIx64 ")", what, row->id);
	d.db = db = meta_reader(k->ex->meta);
	r = check_holders(db, row->id, on_holder, &d);
	if (r == 0)
		r = check_versions(db, row->id, on_version, &d);
	if (!d.any)
		add_problem(k, "damaged", NULL, text, false);
	return r;
}

static void cleanup_run(struct digest_run **d)
{
	digest_run_free(*d);
}

/* 1 where the bytes are those that were sealed, 0 where they are not. */
static int read_content(struct fsck *k, int fd, const struct content_row *row)
{
	_cleanup_(cleanup_run) struct digest_run *run = digest_run_new();
	uint8_t digest[DIGEST_SIZE];

	if (!run)
		return -ENOMEM;
	for (uint64_t off = 0; off < row->size;) {
		size_t want = (size_t)MIN(row->size - off, (uint64_t)CHUNK);
		ssize_t n = io_pread(fd, k->buf, want, off);

		if (n <= 0)
			return (int)n;
		if (is_unwanted(k))
			return -ECANCELED;
		digest_run_write(run, k->buf, (size_t)n, off);
		off += (size_t)n;
		k->bytes += (size_t)n;
		progress_add(&k->progress, (size_t)n);
	}
	return digest_run_get(run, row->size, digest) && !memcmp(digest, row->digest, DIGEST_SIZE);
}

static int check_content(struct fsck *k, const struct content_row *row)
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	char text[128];
	struct stat st;
	int fd, r;

	if (is_unwanted(k))
		return -ECANCELED;
	k->objects++;
	r = object_stat(k->ex->store, row->id, &st);
	if (r == -ENOENT)
		return add_damage(k, row, "content is not there");
	if (r == 0 && row->state == CONTENT_LIVE)
		return 0;
	if (r == 0 && (uint64_t)st.st_size != row->size) {
		snprintf(text, sizeof(text), "content has %lld bytes instead of %" PRIu64, (long long)st.st_size, row->size);
		return add_damage(k, row, text);
	}
	if (r == 0)
		r = object_get(k->ex->store, row->id, &o);
	if (r == 0)
		r = object_pin(o, &fd);
	if (r == 0) {
		r = read_content(k, fd, row);
		object_unpin(o);
	}
	if (r == -ECANCELED || r == -ENOMEM)
		return r;
	if (r < 0) {
		snprintf(text, sizeof(text), "content cannot be read: %s", strerror(-r));
		return add_damage(k, row, text);
	}
	return r == 1 ? 0 : add_damage(k, row, "content differs from its digest");
}

static int check_contents(struct fsck *k)
{
	struct content_row rows[BATCH];
	struct content_sums sums;
	uint64_t after = 0;
	int n, r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(k->ex->meta);

		r = content_sums(db, &sums);
	}
	if (r < 0)
		return r;
	progress_start(&k->progress, "expfs: fsck: reading", sums.unique);
	do {
		{
			_cleanup_(cleanup_reader) struct db *db = meta_reader(k->ex->meta);

			n = content_list(db, after, rows, BATCH);
		}
		for (int i = 0; i < n && r == 0; i++) {
			after = rows[i].id;
			r = check_content(k, &rows[i]);
		}
	} while (n == BATCH && r == 0);
	progress_end(&k->progress);
	return n < 0 ? n : r;
}

static int on_file(void *arg, uint64_t id, const char *name)
{
	struct fsck *k = arg;
	char text[384];

	if (id != 0) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(k->ex->meta);
		int r = check_is_named(db, id);

		if (r != 0)
			return MIN(r, 0);
	}
	snprintf(text, sizeof(text), "%s is no file's content", name);
	add_problem(k, "garbage", NULL, text, id != 0 && k->repair && object_unlink(k->ex->store, id) == 0);
	return 0;
}

/* After a disorderly end files without a row are to be expected. */
static int check_files(struct fsck *k)
{
	if (k->ex->mountpoint || (k->ex->last_end != META_CLEAN && !k->repair))
		return 0;
	return object_each(k->ex->store, on_file, k);
}

static int check(struct fsck *k)
{
	int r = check_database(k);

	if (r < 0 || k->left > 0)
		return r;
	r = check_inodes(k);
	if (r == 0)
		r = check_contents(k);
	return r < 0 ? r : check_files(k);
}

static enum op_exit fail_fsck(const char *store, int r, json_t **ret)
{
	if (r == -ECANCELED)
		return reply_error(ret, OP_FAILED, "%s: fsck: given up, because the store is being unmounted", store);
	return reply_error(ret, OP_FAILED, "%s: fsck: %s", store, advice(r));
}

static enum op_exit answer(const struct fsck *k, json_t **ret)
{
	*ret = json_pack("{s:b, s:O, s:I, s:I, s:I, s:I, s:I}", "clean", k->left == 0, "problems", k->problems, "found",
			 (json_int_t)k->found, "left", (json_int_t)k->left, "objects", (json_int_t)k->objects, "inodes",
			 (json_int_t)k->inodes, "bytes", (json_int_t)k->bytes);
	return k->left == 0 ? OP_DONE : OP_NO;
}

static enum op_exit check_open(struct fsck *k, json_t **ret)
{
	_cleanup_free_ char *buf = malloc(CHUNK);
	int r;

	k->buf = buf;
	r = buf && k->problems ? check(k) : -ENOMEM;
	if (r == -EUCLEAN)
		on_structure(k, "is damaged so that it cannot be read");
	else if (r < 0)
		return fail_fsck(store_path(k->ex->store), r, ret);
	return answer(k, ret);
}

enum op_exit op_fsck(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	_cleanup_json_ json_t *problems = json_array();
	struct fsck k = {
		.ex = ex,
		.caller = caller,
		.repair = json_is_true(json_object_get(args, "repair")),
		.problems = problems,
	};

	if (k.repair && ex->mountpoint)
		return reply_error(ret, OP_FAILED, "%s: is mounted on %s; unmount it before a repair", store_path(ex->store),
				   ex->mountpoint);
	return check_open(&k, ret);
}

static void on_mend(void *arg, const char *text, bool mended)
{
	add_problem(arg, "database", NULL, text, mended);
}

/* Goes on where the database has been mended. */
static enum op_exit check_mended(struct fsck *k, const char *store, const char *who, json_t **ret)
{
	_cleanup_free_ char *error = NULL;
	enum op_exit exit;
	int r = expfs_open(store, who, &k->ex, &error);

	if (r == -EUCLEAN) {
		on_structure(k, "is damaged so that it cannot be opened");
		return answer(k, ret);
	}
	if (r < 0)
		return error ? reply_error(ret, OP_FAILED, "%s", error) : fail_fsck(store, r, ret);
	exit = check_open(k, ret);
	r = expfs_close(k->ex);
	if (r == 0)
		return exit;
	json_decref(*ret);
	return reply_error(ret, OP_FAILED, "%s: closing the store: %s", store, advice(r));
}

enum op_exit op_fsck_damaged(const char *store, const char *who, const json_t *args, json_t **ret)
{
	_cleanup_json_ json_t *problems = json_array();
	_cleanup_free_ char *error = NULL;
	struct fsck k = {
		.caller = &(struct op_caller){ 0 },
		.repair = json_is_true(json_object_get(args, "repair")),
		.problems = problems,
	};
	int r = problems ? expfs_mend(store, who, k.repair, on_mend, &k, &error) : -ENOMEM;

	if (r == -ENOENT)
		on_structure(&k, "expfs.db is missing; see doc/recovery.md, \"The database is damaged\"");
	else if (r == -EUCLEAN || (r == 0 && k.found == 0))
		on_structure(&k, "is damaged so that it cannot be opened");
	else if (r < 0)
		return error ? reply_error(ret, OP_FAILED, "%s", error) : fail_fsck(store, r, ret);
	return k.left > 0 ? answer(&k, ret) : check_mended(&k, store, who, ret);
}
