#include "exp/selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exp/branch.h"
#include "exp/branch_part.h"
#include "exp/path.h"
#include "exp/root.h"
#include "exp/settle.h"
#include "format/utf8.h"
#include "meta/tracked.h"

#define NAMES_MAX 20 /* candidates that are named */

/* Controls, ends of lines, and what turns the direction of the text around it. */
static bool is_unseen(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) || c == 0x200e || c == 0x200f || c == 0x61c ||
	       (c >= 0x2066 && c <= 0x2069);
}

/* Blanks, and what takes no place at all: two names that differ in these look the same. */
static bool is_blank(uint32_t c)
{
	return c == ' ' || c == 0xa0 || c == 0xad || c == 0x34f || c == 0x1680 || c == 0x180e || (c >= 0x2000 && c <= 0x200f) ||
	       c == 0x202f || (c >= 0x205f && c <= 0x206f) || c == 0x3000 || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe007f);
}

/* What stands there is one line in UTF-8, or one word of it, which shows as what it is. */
static bool is_line(const char *text, bool word)
{
	size_t left = strlen(text);

	while (left > 0) {
		uint32_t c;
		size_t n = utf8_get(text, left, &c);

		if (n == 0 || is_unseen(c) || (word && is_blank(c)))
			return false;
		text += n;
		left -= n;
	}
	return true;
}

const char *selection_line_fault(const char *text)
{
	if (strlen(text) > SELECTION_LINE)
		return "is longer than 1024 bytes";
	return is_line(text, false) ? NULL : "is not one line of text in UTF-8";
}

static bool is_id(const char *text)
{
	size_t n = strlen(SELECTION_PREFIX);

	return !strncmp(text, SELECTION_PREFIX, n) && text[n] && !text[n + strspn(text + n, "0123456789")];
}

const char *selection_name_fault(const char *name)
{
	if (!*name || strlen(name) > LEDGER_NAME)
		return "a name has 1 to 64 bytes";
	if (strpbrk(name, "/:@") || *name == '-' || *name == '.' || !is_line(name, true))
		return "a name is UTF-8 without /, :, @, blanks and control characters, and does not begin with - or .";
	return is_id(name) ? "that is the form of a selection's number" : NULL;
}

void selection_text(uint64_t id, char ret[static SELECTION_TEXT])
{
	snprintf(ret, SELECTION_TEXT, SELECTION_PREFIX "%" PRIu64, id);
}

/* The branch of a root, by the directory that is it. */
static int find_root(struct expfs *ex, uint64_t dir, uint64_t *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct tracked_row t;
	struct root_row row;
	int r = tracked_by_name(db, dir, ROOT_DIR, &t);

	if (r == 0)
		r = root_get(db, t.id, &row);
	*ret = r == 0 ? t.id : 0;
	return r;
}

static int name_of_root(struct db *db, const struct fork_row *fork, char **ret)
{
	_cleanup_free_ char *path = NULL, *name = NULL;
	struct tracked_row t;
	int r = tracked_get(db, fork->root, &t);

	if (r == 0)
		r = tracked_path(db, t.parent, &path);
	if (r < 0)
		return r;
	name = branch_path_name(path);
	return !name || asprintf(ret, fork->n > 1 ? "%s.%" PRIu64 : "%s", name, fork->n) < 0 ? -ENOMEM : 0;
}

/* As the branch was called when it was one. */
static int name_by_path(struct expfs *ex, uint64_t run, char **ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	_cleanup_free_ char *path = NULL;
	struct fork_row fork = { .root = run, .n = 1 };
	struct root_row root;
	int r = fork_get(db, run, &fork);

	if (r == 0 || r == -ENOENT)
		r = root_get(db, fork.root, &root);
	if (r != -ENOENT)
		return r < 0 ? r : name_of_root(db, &fork, ret);
	r = tracked_path(db, run, &path);
	if (r == 0)
		*ret = branch_run_name(path);
	return r < 0 ? r : *ret ? 0 : -ENOMEM;
}

/* -ENOENT: it is none any more. */
static int find_branch(struct expfs *ex, uint64_t run, struct branch *ret)
{
	uint64_t root = 0;
	int r = branch_by_id(ex, NULL, run, ret);

	if (r == -ENOENT)
		r = find_root(ex, run, &root);
	if (r == 0 && !ret->name)
		r = branch_by_id(ex, NULL, root, ret);
	return r == -ESTALE ? -ENOENT : r;
}

int selection_branch(struct expfs *ex, uint64_t run, char **ret)
{
	struct branch b = { 0 };
	int r = find_branch(ex, run, &b);

	if (r == 0)
		*ret = steal(&b.name);
	branch_free(&b);
	return r == -ENOENT ? name_by_path(ex, run, ret) : r;
}

/* Finding */

static int list_named(struct expfs *ex, const char *name, struct ledger_rows *f)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

	return ledger_list_named(db, name, ledger_rows_add, f);
}

static int find_id(struct expfs *ex, const char *text, struct ledger_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	const char *digits = text + strlen(SELECTION_PREFIX);
	int r = strlen(digits) > 18 ? -ENOENT : ledger_get(db, strtoull(digits, NULL, 10), ret);

	if (r < 0 || ret->kind == LEDGER_SELECTION)
		return r;
	ledger_row_free(ret);
	return -ENOENT;
}

/* Those of one branch alone stay. */
static int keep_branch(struct expfs *ex, struct ledger_rows *f, const char *branch, size_t len)
{
	size_t n = 0, all = f->n;
	int r = 0;

	for (size_t i = 0; i < all; i++) {
		_cleanup_free_ char *own = NULL;

		r = r < 0 ? r : selection_branch(ex, f->v[i].run, &own);
		if (r == 0 && strlen(own) == len && !memcmp(own, branch, len))
			f->v[n++] = f->v[i];
		else
			ledger_row_free(&f->v[i]);
	}
	f->n = n;
	return r;
}

static int tell_names(struct expfs *ex, const struct ledger_rows *f, char **ret)
{
	_cleanup_free_ char *text = strdup("");

	for (size_t i = 0; i < f->n && i < NAMES_MAX; i++) {
		_cleanup_free_ char *branch = NULL;
		char id[SELECTION_TEXT], *more;
		int r = text ? selection_branch(ex, f->v[i].run, &branch) : -ENOMEM;

		selection_text(f->v[i].id, id);
		if (r < 0 || asprintf(&more, "%s%s%s:%s (%s)", text, i ? ", " : "", branch, f->v[i].name, id) < 0)
			return r < 0 ? r : -ENOMEM;
		free(text);
		text = more;
	}
	*ret = steal(&text);
	return *ret ? 0 : -ENOMEM;
}

/* How much speaks for a branch at a path: that it is not there any more, there, or the one in which the path lies, of which the
 * deepest counts. */
enum { RANK_GONE, RANK_THERE, RANK_AROUND };

/* Length of the path of the run in which a path lies: 0: the top. */
static size_t run_length(struct expfs *ex, const char *near)
{
	return path_is_run(ex, near) ? strlen(near) : path_run_prefix(ex, near);
}

static bool is_around(const char *dir, const char *path)
{
	size_t n = strlen(dir);

	return n == 0 || (!strncmp(path, dir, n) && (!path[n] || path[n] == '/'));
}

static int rank(struct expfs *ex, uint64_t run, const char *near, size_t *ret)
{
	struct branch b = { 0 };
	int r = find_branch(ex, run, &b);

	*ret = r < 0 || branch_is_removed(&b) ? RANK_GONE : RANK_THERE;
	if (r == 0 && near && is_around(b.path, near) && strlen(b.path) >= run_length(ex, near))
		*ret = RANK_AROUND + strlen(b.path);
	branch_free(&b);
	return r == -ENOENT ? 0 : r;
}

/* Those of the best rank stay. */
static int keep_near(struct expfs *ex, struct ledger_rows *f, const char *near)
{
	size_t best = near && run_length(ex, near) > 0 ? RANK_AROUND : RANK_GONE, kept = 0;

	for (size_t i = 0; i < f->n; i++) {
		struct ledger_row row = f->v[i];
		size_t own;
		int r = rank(ex, row.run, near, &own);

		if (r < 0)
			return r;
		if (own < best)
			continue;
		kept = own > best ? 0 : kept;
		best = own;
		f->v[i] = f->v[kept];
		f->v[kept++] = row;
	}
	while (f->n > kept)
		ledger_row_free(&f->v[--f->n]);
	return 0;
}

static int choose(struct expfs *ex, struct ledger_rows *f, const char *near, char **ret_names)
{
	_cleanup_free_ char *names = NULL;
	int r = f->n > 0 ? tell_names(ex, f, &names) : 0;

	if (r == 0)
		r = keep_near(ex, f, near);
	if (r == 0 && f->n > 1)
		r = tell_names(ex, f, ret_names);
	else if (r == 0 && f->n == 0)
		*ret_names = steal(&names);
	return r < 0 ? r : f->n > 1 ? -EEXIST : 0;
}

int selection_find(struct expfs *ex, const char *text, const char *near, struct ledger_row *ret, char **ret_names)
{
	_cleanup_ledger_rows_ struct ledger_rows f = { 0 };
	const char *colon = strrchr(text, ':'), *name = colon ? colon + 1 : text;
	int r;

	*ret_names = NULL;
	if (is_id(text))
		return find_id(ex, text, ret);
	r = strlen(name) > LEDGER_NAME ? -ENOENT : list_named(ex, name, &f);
	if (r == 0 && colon)
		r = keep_branch(ex, &f, text, (size_t)(colon - text));
	else if (r == 0)
		r = choose(ex, &f, near, ret_names);
	if (r < 0 || f.n == 0)
		return r < 0 ? r : -ENOENT;
	*ret = f.v[0];
	f.v[0] = (struct ledger_row){ 0 };
	return 0;
}

/* Adding */

struct adding {
	struct expfs *ex;
	struct ledger_row *row;
	const struct version_row *v; /* of a selection */
};

static int tx_put(struct db *db, void *arg)
{
	struct adding *a = arg;
	struct ledger_row *row = a->row;
	struct version_row v;
	struct tracked_row t;
	int r = a->v ? version_get(db, a->v->id, &v) : 0;

	if (r == 0 && a->v)
		r = v.complete == 1 ? tracked_get(db, v.tracked, &t) : -ETXTBSY;
	if (r == 0 && a->v)
		r = ledger_run(db, t.run, &row->run);
	if (r < 0)
		return r == -ENOENT ? -ESTALE : r;
	row->id = meta_id(a->ex->meta);
	row->time = now_ns();
	return ledger_put(db, row);
}

static int put(struct adding *a)
{
	int r = expfs_write(a->ex, tx_put, a);

	return r < 0 ? r : expfs_sync_result(a->ex, meta_sync(a->ex->meta));
}

int selection_put(struct expfs *ex, const struct version_row *v, const uint64_t *objects, size_t n, struct ledger_row *row)
{
	struct adding a = { ex, row, v };
	int r = settle_objects(ex, objects, n);

	row->kind = LEDGER_SELECTION;
	row->of = v->id;
	return r < 0 ? r : put(&a);
}

int selection_decide(struct expfs *ex, const struct ledger_row *selection, struct ledger_row *row)
{
	struct adding a = { ex, row, NULL };

	row->kind = LEDGER_DECISION;
	row->of = selection->id;
	row->run = selection->run;
	memcpy(row->name, selection->name, sizeof(row->name));
	return put(&a);
}
