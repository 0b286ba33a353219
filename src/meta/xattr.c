#include "meta/xattr.h"

#include <linux/limits.h>
#include <string.h>

#include "meta/db.h"

int xattr_get(struct db *db, uint64_t ino, const char *name, void **ret, size_t *ret_len)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT value FROM xattr WHERE ino=?1 AND name=?2", "ib", (int64_t)ino, name,
		       strlen(name));
	size_t n;
	void *p;

	if (r <= 0)
		return r < 0 ? r : -ENODATA;
	n = (size_t)sqlite3_column_bytes(st, 0);
	p = malloc(n + 1);
	if (!p)
		return -ENOMEM;
	if (n)
		memcpy(p, sqlite3_column_blob(st, 0), n);
	*ret = p;
	*ret_len = n;
	return 0;
}

static int xattr_exists(struct db *db, uint64_t ino, const char *name)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;

	return db_row(db, &st, "SELECT 1 FROM xattr WHERE ino=?1 AND name=?2", "ib", (int64_t)ino, name,
		      strlen(name));
}

int xattr_set(struct db *db, uint64_t ino, const char *name, const void *value, size_t len, enum xattr_set how)
{
	int r = xattr_exists(db, ino, name);

	if (r < 0)
		return r;
	if (how == XATTR_NEW && r == 1)
		return -EEXIST;
	if (how == XATTR_OLD && r == 0)
		return -ENODATA;
	return db_run(db, "INSERT OR REPLACE INTO xattr(ino, name, value) VALUES(?1, ?2, ?3)", "ibb", (int64_t)ino,
		      name, strlen(name), len ? value : "", len);
}

int xattr_remove(struct db *db, uint64_t ino, const char *name)
{
	int r = xattr_exists(db, ino, name);

	if (r <= 0)
		return r < 0 ? r : -ENODATA;
	return db_run(db, "DELETE FROM xattr WHERE ino=?1 AND name=?2", "ib", (int64_t)ino, name, strlen(name));
}

int xattr_list(struct db *db, uint64_t ino, char **ret, size_t *ret_len)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	_cleanup_free_ char *buf = NULL;
	size_t len = 0;
	int r;

	for (r = db_row(db, &st, "SELECT name FROM xattr WHERE ino=?1", "i", (int64_t)ino); r == 1;
	     r = db_next(db, st)) {
		size_t n = (size_t)sqlite3_column_bytes(st, 0);
		char *p;

		if (len + n + 1 > XATTR_LIST_MAX)
			return -E2BIG;
		p = realloc(buf, len + n + 1);
		if (!p)
			return -ENOMEM;
		buf = p;
		if (n)
			memcpy(buf + len, sqlite3_column_blob(st, 0), n);
		buf[len + n] = 0;
		len += n + 1;
	}
	if (r < 0)
		return r;
	*ret = steal(&buf);
	*ret_len = len;
	return 0;
}

int xattr_any(struct db *db, const char *name)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;

	return db_row(db, &st, "SELECT 1 FROM xattr WHERE name=?1 LIMIT 1", "b", name, strlen(name));
}
