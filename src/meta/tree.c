/* From a directory one climbs by first names (those of lowest id), as path_of() does, and
 * comes to the top or into a circle.
 *
 * Circles that are not reached are opened first, then all is reached. Then the names of
 * each directory that has several are tried in their order: the first one from whose
 * parent the top is reached without the directory itself is kept. Where other
 * directories with several names are in the way there may be none yet; but the first
 * of them on any way from the top has one, so each round leaves fewer. */
#include "meta/tree.h"

#include <stdlib.h>

#include "meta/db.h"
#include "meta/dirent.h"

/* Climbs from ino until the top, not_by (0: none) or a circle is reached. *ret_circle:
 * a directory of that circle, not_by, or 0 for the top. */
static int climb(struct db *db, uint64_t ino, uint64_t not_by, uint64_t *ret_circle)
{
	uint64_t seen = ino, steps = 0, until = 1;

	while (ino != META_ROOT && ino != not_by) {
		struct dirent_row d;
		int r = dirent_of(db, ino, &d, NULL);

		if (r < 0)
			return r;
		ino = d.parent;
		if (ino == seen) /* Brent's way of finding a circle */
			break;
		if (++steps == until) {
			seen = ino;
			until *= 2;
			steps = 0;
		}
	}
	*ret_circle = ino == META_ROOT ? 0 : ino;
	return 0;
}

/* The directory of the circle with the lowest number, which is the oldest. */
static int first_of_circle(struct db *db, uint64_t ino, uint64_t *ret)
{
	uint64_t first = ino, at = ino;

	do {
		struct dirent_row d;
		int r = dirent_of(db, at, &d, NULL);

		if (r < 0)
			return r;
		at = d.parent;
		first = MIN(first, at);
	} while (at != ino);
	*ret = first;
	return 0;
}

static int open_circle(struct db *db, struct lost_found *l, uint64_t ino)
{
	uint64_t circle;
	int r = climb(db, ino, 0, &circle);

	if (r < 0 || circle == 0)
		return r;
	r = first_of_circle(db, circle, &circle);
	if (r == 0)
		r = db_run(db, "DELETE FROM dirent WHERE ino=?1", "i", (int64_t)circle);
	return r < 0 ? r : lost_found_add(db, l, circle, S_IFDIR >> 12);
}

static int list_unreached(struct db *db, uint64_t **ret, size_t *ret_n)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	_cleanup_free_ uint64_t *ino = NULL;
	size_t n = 0, room = 0;
	int r = db_row(db, &st,
		       "SELECT ino FROM inode WHERE mode & 61440 = 16384 AND EXISTS(SELECT 1 FROM dirent d WHERE"
		       " d.ino=inode.ino) AND ino NOT IN " TREE_REACHED " ORDER BY ino",
		       "");

	for (; r == 1; r = db_next(db, st)) {
		if (n == room) {
			uint64_t *more = realloc(ino, (room = room ? room * 2 : 64) * sizeof(*ino));

			if (!more)
				return -ENOMEM;
			ino = more;
		}
		ino[n++] = (uint64_t)sqlite3_column_int64(st, 0);
	}
	if (r < 0)
		return r;
	*ret = steal(&ino);
	*ret_n = n;
	return 0;
}

static int open_circles(struct db *db, struct lost_found *l)
{
	_cleanup_free_ uint64_t *ino = NULL;
	size_t n = 0;
	int r = list_unreached(db, &ino, &n);

	for (size_t i = 0; i < n && r == 0; i++)
		r = open_circle(db, l, ino[i]);
	return r;
}

/* The first directory after one that has several names. */
static int next_of_several(struct db *db, uint64_t after, uint64_t *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st,
		       "SELECT ino FROM dirent WHERE ino>?1 AND type=4 GROUP BY ino HAVING count(*)>1 ORDER BY ino LIMIT 1",
		       "i", (int64_t)after);

	if (r == 1)
		*ret = (uint64_t)sqlite3_column_int64(st, 0);
	return r;
}

static int next_name(struct db *db, uint64_t ino, uint64_t after, struct dirent_row *ret)
{
	_cleanup_stmt_ sqlite3_stmt *st = NULL;
	int r = db_row(db, &st, "SELECT parent, id FROM dirent WHERE ino=?1 AND id>?2 ORDER BY id LIMIT 1", "ii",
		       (int64_t)ino, (int64_t)after);

	if (r == 1)
		*ret = (struct dirent_row){
			.parent = (uint64_t)sqlite3_column_int64(st, 0),
			.id = (uint64_t)sqlite3_column_int64(st, 1),
			.ino = ino,
		};
	return r;
}

/* 1 where one name is left, 0 where the top is reached by none. */
static int keep_one(struct db *db, uint64_t ino)
{
	struct dirent_row d = { .id = (uint64_t)INT64_MIN };
	uint64_t circle = ino;
	int r;

	while (circle != 0 && (r = next_name(db, ino, d.id, &d)) != 0) {
		if (r == 1)
			r = climb(db, d.parent, ino, &circle);
		if (r < 0)
			return r;
	}
	if (circle != 0)
		return 0;
	r = db_run(db, "DELETE FROM dirent WHERE ino=?1 AND (parent, id)<>(?2, ?3)", "iii", (int64_t)ino,
		   (int64_t)d.parent, (int64_t)d.id);
	return r < 0 ? r : 1;
}

static int keep_one_each(struct db *db)
{
	bool any;
	int r;

	do {
		uint64_t ino = 0;

		any = false;
		while ((r = next_of_several(db, ino, &ino)) == 1) {
			r = keep_one(db, ino);
			if (r < 0)
				return r;
			any = any || r == 1;
		}
	} while (r == 0 && any);
	return r;
}

int tree_mend(struct db *db, struct lost_found *l)
{
	int r = open_circles(db, l);

	return r < 0 ? r : keep_one_each(db);
}
