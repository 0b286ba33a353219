#include "meta/dirent.h"

#include <string.h>

#include "meta/db.h"

#define COLUMNS "parent, id, ino, type, class, \"order\""

static void read_row(sqlite3_stmt *st, struct dirent_row *ret)
{
	*ret = (struct dirent_row){
		.parent = (uint64_t)sqlite3_column_int64(st, 0),
		.id = (uint64_t)sqlite3_column_int64(st, 1),
		.ino = (uint64_t)sqlite3_column_int64(st, 2),
		.type = (uint8_t)sqlite3_column_int64(st, 3),
		.class = (uint32_t)sqlite3_column_int64(st, 4),
		.order = (uint64_t)sqlite3_column_int64(st, 5),
	};
}

/* Copies a name, of at most 255 bytes, out of a column. */
static int read_name(sqlite3_stmt *st, int col, char ret[static 256])
{
	const void *p = sqlite3_column_blob(st, col);
	int n = sqlite3_column_bytes(st, col);

	if (!p || n < 1 || n > 255 || memchr(p, '/', (size_t)n) || memchr(p, 0, (size_t)n))
		return -EUCLEAN;
	memcpy(ret, p, (size_t)n);
	ret[n] = 0;
	return 0;
}

int dirent_insert(struct db *db, const struct dirent_row *d, const char *name)
{
	return db_run(db, "INSERT INTO dirent(" COLUMNS ", name) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)", "iiiiiib",
		      (int64_t)d->parent, (int64_t)d->id, (int64_t)d->ino, (int64_t)d->type, (int64_t)d->class,
		      (int64_t)d->order, name, strlen(name));
}

int dirent_get(struct db *db, uint64_t parent, const char *name, struct dirent_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT " COLUMNS " FROM dirent WHERE parent=?1 AND name=?2", "ib", (int64_t)parent,
		       name, strlen(name));

	if (r == 1)
		read_row(st, ret);
	return r == 1 ? 0 : r == 0 ? -ENOENT : r;
}

int dirent_delete(struct db *db, const struct dirent_row *d)
{
	return db_run(db, "DELETE FROM dirent WHERE parent=?1 AND id=?2", "ii", (int64_t)d->parent, (int64_t)d->id);
}

int dirent_set_ino(struct db *db, const struct dirent_row *d)
{
	return db_run(db, "UPDATE dirent SET ino=?3, type=?4, class=?5, \"order\"=?6 WHERE parent=?1 AND id=?2",
		      "iiiiii", (int64_t)d->parent, (int64_t)d->id, (int64_t)d->ino, (int64_t)d->type, (int64_t)d->class,
		      (int64_t)d->order);
}

int dirent_is_empty(struct db *db, uint64_t parent)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT 1 FROM dirent WHERE parent=?1 LIMIT 1", "i", (int64_t)parent);

	return r < 0 ? r : r == 0;
}

static void read_attr(sqlite3_stmt *st, int c, uint64_t ino, struct inode_row *ret)
{
	*ret = (struct inode_row){
		.ino = ino,
		.mode = (uint32_t)sqlite3_column_int64(st, c),
		.nlink = (uint32_t)sqlite3_column_int64(st, c + 1),
		.uid = (uint32_t)sqlite3_column_int64(st, c + 2),
		.gid = (uint32_t)sqlite3_column_int64(st, c + 3),
		.rdev = (uint64_t)sqlite3_column_int64(st, c + 4),
		.size = (uint64_t)sqlite3_column_int64(st, c + 5),
		.blocks = (uint64_t)sqlite3_column_int64(st, c + 6),
		.atime = sqlite3_column_int64(st, c + 7),
		.mtime = sqlite3_column_int64(st, c + 8),
		.ctime = sqlite3_column_int64(st, c + 9),
		.btime = sqlite3_column_int64(st, c + 10),
		.object = (uint64_t)sqlite3_column_int64(st, c + 11),
		.order = (uint64_t)sqlite3_column_int64(st, c + 12),
		.flags = (uint32_t)sqlite3_column_int64(st, c + 13),
		.begin = (uint64_t)sqlite3_column_int64(st, c + 14),
	};
}

/* Gives each row of a query of COLUMNS, name (and attributes) to f. */
static int each(struct db *db, sqlite3_stmt *st, int r, bool with_attr, dirent_fn f, void *arg)
{
	while (r == 1) {
		struct dirent_row row;
		struct inode_row attr;
		char name[256];

		read_row(st, &row);
		r = read_name(st, 6, name);
		if (r < 0)
			return r;
		if (with_attr)
			read_attr(st, 7, row.ino, &attr);
		r = f(arg, &row, name, with_attr ? &attr : NULL);
		if (r != 0)
			return r;
		r = db_next(db, st);
	}
	return r;
}

int dirent_list(struct db *db, uint64_t parent, uint64_t after, uint64_t before, bool with_attr, dirent_fn f,
		void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r;

	if (with_attr)
		r = db_row(db, &st,
			   "SELECT d.parent, d.id, d.ino, d.type, d.class, d.\"order\", d.name, mode, nlink, uid, gid,"
			   " rdev, size, blocks, atime, mtime, ctime, btime, object, i.\"order\", flags, begin"
			   " FROM dirent d JOIN inode i ON i.ino=d.ino WHERE d.parent=?1 AND d.id>?2 AND d.id<?3"
			   " ORDER BY d.id",
			   "iii", (int64_t)parent, (int64_t)after, (int64_t)before);
	else
		r = db_row(db, &st,
			   "SELECT " COLUMNS ", name FROM dirent WHERE parent=?1 AND id>?2 AND id<?3 ORDER BY id", "iii",
			   (int64_t)parent, (int64_t)after, (int64_t)before);
	return each(db, st, r, with_attr, f, arg);
}

/* A directory with several names, which only a damaged database has, is below
 * the first one alone: so nothing is below itself, or reached on many ways. */
#define LIST_BELOW                                                                                         \
	"SELECT d.parent, d.id, d.ino, d.type, d.class, d.\"order\", d.name, mode, nlink, uid, gid,"       \
	" rdev, size, blocks, atime, mtime, ctime, btime, object, i.\"order\", flags, begin"                      \
	" FROM dirent d JOIN inode i ON i.ino=d.ino WHERE d.parent=?1 AND (mode & 61440 <> 16384 OR i.ino<>1" \
	" AND NOT EXISTS (SELECT 1 FROM dirent e WHERE e.ino=d.ino AND e.id<d.id))"

int dirent_list_below(struct db *db, uint64_t parent, bool roles_only, dirent_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r;

	if (roles_only)
		r = db_row(db, &st, LIST_BELOW " AND (d.class<>0 OR d.type=4)", "i", (int64_t)parent);
	else
		r = db_row(db, &st, LIST_BELOW, "i", (int64_t)parent);
	return each(db, st, r, true, f, arg);
}

int dirent_list_roles(struct db *db, uint64_t parent, uint64_t after, dirent_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT " COLUMNS ", name FROM dirent WHERE parent=?1 AND id>?2 AND (class<>0 OR type=4) ORDER BY id",
		       "ii", (int64_t)parent, (int64_t)after);

	return each(db, st, r, false, f, arg);
}

int dirent_reclass(struct db *db, uint64_t order, dirent_class_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT " COLUMNS ", name FROM dirent", "");

	for (; r == 1; r = db_next(db, st)) {
		struct dirent_row d;
		char name[256];
		uint32_t class;

		read_row(st, &d);
		if (read_name(st, 6, name) < 0)
			continue; /* fsck tells of it */
		class = f(arg, name, d.type == S_IFDIR >> 12);
		if (class == d.class)
			continue;
		r = db_run(db, "UPDATE dirent SET class=?3, \"order\"=?4 WHERE parent=?1 AND id=?2", "iiii",
			   (int64_t)d.parent, (int64_t)d.id, (int64_t)class, (int64_t)order);
		if (r < 0)
			return r;
	}
	return r;
}

int dirent_of(struct db *db, uint64_t ino, struct dirent_row *ret, char **ret_name)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT " COLUMNS ", name FROM dirent WHERE ino=?1 ORDER BY id LIMIT 1", "i",
		       (int64_t)ino);
	char name[256];

	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	read_row(st, ret);
	r = ret_name ? read_name(st, 6, name) : 0;
	if (r < 0 || !ret_name)
		return r;
	*ret_name = strdup(name);
	return *ret_name ? 0 : -ENOMEM;
}

int dirent_names_of(struct db *db, uint64_t ino, dirent_fn f, void *arg)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT " COLUMNS ", name FROM dirent WHERE ino=?1", "i", (int64_t)ino);

	return each(db, st, r, false, f, arg);
}
