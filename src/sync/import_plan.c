/* What there is to bring, and in which order. */
#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/root.h"
#include "exp/run.h"
#include "format/manifest.h"
#include "sync/import_part.h"
#include "util/io.h"
#include "util/list.h"

/* What is found out of each entry of the tree, by its number. */
struct find {
	struct import *im;
	char *path;    /* of the entry that is looked at, in the mount */
	size_t *unit;  /* 1 + that of the checkpoint directory that it is or lies in; 0: none */
	size_t *place; /* 1 + that to which what lies in the directory belongs; 0: none */
	bool *marked;  /* a directory of digits with the marker of a checkpoint in it */
};

static void find_free(struct find *f)
{
	free(f->path);
	free(f->unit);
	free(f->place);
	free(f->marked);
}

static int set_path(struct find *f, size_t i)
{
	const char *to = f->im->tree->v[i].to, *dest = f->im->dest;

	free(f->path);
	if (asprintf(&f->path, "%s%s%s", dest, *dest && *to ? "/" : "", to) >= 0)
		return 0;
	f->path = NULL;
	return -ENOMEM;
}

/* Does it make the directory checkpoints/ above it one of a root? Its length, or 0. */
static size_t shows_root(const char *path)
{
	const char *dir = strstr(path, ROOT_DIR "/models/"), *name = path_last(path);
	size_t n = strlen(path), m = strlen(ROOT_DIR "/" ROOT_MANIFEST);
	char hash[25];

	if (n >= m && !strcmp(path + n - m, ROOT_DIR "/" ROOT_MANIFEST) && (n == m || path[n - m - 1] == '/'))
		return n - strlen("/" ROOT_MANIFEST);
	if (!dir || (dir > path && dir[-1] != '/') || !root_hash_of_name(name, hash))
		return 0;
	return name - dir == (ptrdiff_t)strlen(ROOT_DIR "/models/12345678/") ? (size_t)(dir - path) + strlen(ROOT_DIR) : 0;
}

static int add_place(struct find *f, const char *path, size_t len, bool is_root, size_t *ret)
{
	struct import *im = f->im;
	struct import_place *v = array_grow(im->places, im->n_places, sizeof(*v));

	if (!v)
		return -ENOMEM;
	im->places = v;
	v[im->n_places] = (struct import_place){ .path = strndup(path, len), .is_root = is_root, .low = UINT64_MAX,
						 .hp_version = UINT64_MAX };
	if (!v[im->n_places].path)
		return -ENOMEM;
	*ret = ++im->n_places;
	return 0;
}

/* Directories checkpoints/ of roots are places before anything else is looked at. */
static int find_roots(struct find *f)
{
	const struct tree *t = f->im->tree;

	for (size_t i = 1; i < t->n; i++) {
		size_t len, above = t->v[i].dir;
		int r;

		if (S_ISDIR(t->v[i].st.st_mode))
			continue;
		r = set_path(f, i);
		if (r < 0)
			return r;
		if (role_is_marker(path_last(f->path)) && role_digit_dir(path_last(t->v[above].to)))
			f->marked[above] = true;
		len = shows_root(f->path);
		if (!len)
			continue;
		if (len <= strlen(f->im->dest))
			return -EINVAL;
		if (strcmp(path_last(f->path), ROOT_MANIFEST) != 0)
			above = t->v[t->v[above].dir].dir; /* models/<MODEL8>/ lies between */
		len -= strlen(ROOT_DIR);
		if (!f->place[above]) {
			r = add_place(f, f->path, len ? len - 1 : 0, true, &f->place[above]);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int find_place(struct find *f, size_t i)
{
	const struct tree *t = f->im->tree;

	if (f->place[i])
		return 0;
	if (i > 0 && !run_is(f->im->config, f->path)) {
		f->place[i] = f->place[t->v[i].dir];
		return 0;
	}
	return add_place(f, f->path, run_is(f->im->config, f->path) ? strlen(f->path) : run_prefix(f->im->config, f->path), false,
			 &f->place[i]);
}

static int find_unit(struct find *f, size_t i)
{
	const struct tree_entry *e = &f->im->tree->v[i];
	struct import_unit *v, *unit;

	f->unit[i] = f->unit[e->dir];
	if (f->unit[i] || i == 0 || (run_role(f->im->config, f->path, true) != ROLE_WEIGHTS && !f->marked[i]))
		return 0;
	v = array_grow(f->im->units, f->im->n_units, sizeof(*v));
	if (!v)
		return -ENOMEM;
	f->im->units = v;
	unit = &v[f->im->n_units];
	*unit = (struct import_unit){ .dir = e, .time = INT64_MIN, .has_step = f->marked[i] };
	if (f->marked[i])
		unit->step = strtoull(path_last(e->to), NULL, 10);
	else
		unit->has_step = step_of_name(path_last(e->to), true, &unit->step);
	f->unit[i] = ++f->im->n_units;
	return 0;
}

static int find_dirs(struct find *f)
{
	const struct tree *t = f->im->tree;
	int r = 0;

	for (size_t i = 0; i < t->n && r == 0; i++) {
		if (!S_ISDIR(t->v[i].st.st_mode))
			continue;
		r = set_path(f, i);
		if (r == 0)
			r = find_place(f, i);
		if (r == 0)
			r = find_unit(f, i);
	}
	return r;
}

/* Of Lightning's runs in one directory each has its configuration. */
static bool hp_version(const struct find *f, uint64_t *ret)
{
	size_t n = run_prefix(f->im->config, f->path);

	return role_hp_version(f->path + n + (n > 0), ret);
}

static enum import_turn turn_of(struct find *f, size_t i, enum role role)
{
	if (f->unit[f->im->tree->v[i].dir])
		return IMPORT_CHECKPOINTS;
	switch (role) {
	case ROLE_HP:
	case ROLE_MODEL:
	case ROLE_DATA:
		return IMPORT_FIRST;
	case ROLE_WEIGHTS:
		return IMPORT_CHECKPOINTS;
	case ROLE_MANIFEST:
		return strcmp(path_last(f->path), ROOT_STATE) != 0 ? IMPORT_MANIFESTS : IMPORT_STATES;
	default:
		return IMPORT_REST;
	}
}

static int add_item(struct find *f, size_t i)
{
	struct import *im = f->im;
	const struct tree_entry *e = &im->tree->v[i];
	struct import_place *place = &im->places[f->place[e->dir] - 1];
	struct import_item *item = &im->v[im->n];
	size_t unit = f->unit[e->dir];
	uint64_t n;
	enum role role;
	int r = set_path(f, i);

	if (r < 0)
		return r;
	role = e->link ? ROLE_NONE : run_role(im->config, f->path, false);
	*item = (struct import_item){ .e = e, .first = item, .turn = turn_of(f, i, role), .place = f->place[e->dir] - 1 };
	if (unit) {
		item->unit = &im->units[unit - 1];
		item->step = item->unit->step;
		item->unit->time = MAX(item->unit->time, timespec_ns(&e->st.st_mtim));
	} else if (role == ROLE_WEIGHTS) {
		item->is_checkpoint = true;
		item->has_step = step_of_name(path_last(e->to), false, &item->step);
	} else if (role == ROLE_HP && hp_version(f, &n)) {
		place->hp_version = MIN(place->hp_version, n);
	} else {
		item->is_hp = role == ROLE_HP && !place->is_root;
	}
	im->n_given_back += strcmp(path_last(e->path), path_last(e->to)) != 0;
	im->n++;
	return 0;
}

/* All but the first of them come in the order of time, among the checkpoints. */
static int move_later_hp(struct find *f)
{
	struct import *im = f->im;
	uint64_t n;

	for (size_t i = 0; i < im->n; i++) {
		size_t at = (size_t)(im->v[i].e - im->tree->v);
		int r;

		if (im->v[i].turn != IMPORT_FIRST || !strstr(im->v[i].e->to, "/version_"))
			continue;
		r = set_path(f, at);
		if (r < 0)
			return r;
		if (hp_version(f, &n) && n > im->places[f->place[im->v[i].e->dir] - 1].hp_version)
			im->v[i].turn = IMPORT_CHECKPOINTS;
	}
	return 0;
}

static void add_dir(struct find *f, size_t i)
{
	struct import *im = f->im;

	struct import_unit *unit = f->unit[i] ? &im->units[f->unit[i] - 1] : NULL;

	im->dirs[im->n_dirs++] = (struct import_dir){ &im->tree->v[i], unit };
	if (unit)
		unit->lost |= im->tree->v[i].partial;
}

static int add_items(struct find *f)
{
	struct import *im = f->im;
	int r = 0;

	im->v = calloc(im->tree->n + 1, sizeof(*im->v));
	im->dirs = calloc(im->tree->n + 1, sizeof(*im->dirs));
	if (!im->v || !im->dirs)
		return -ENOMEM;
	for (size_t i = 0; i < im->tree->n && r == 0; i++)
		if (S_ISDIR(im->tree->v[i].st.st_mode))
			add_dir(f, i);
		else
			r = add_item(f, i);
	for (size_t i = 0; i < im->n_units; i++)
		im->units[i].place = f->place[im->units[i].dir->dir] - 1;
	if (r == 0)
		r = move_later_hp(f);
	return r < 0 ? r : import_order(im);
}

/* One that cannot be read tells nothing here; that it cannot is told when it is to come. */
static int read_manifest(const struct tree *t, const struct tree_entry *e, size_t *ret_count)
{
	_cleanup_close_ int fd = e->st.st_size <= MANIFEST_SIZE_MAX ? tree_open(t, e) : -EFBIG;
	_cleanup_free_ char *text = fd < 0 ? NULL : malloc((size_t)e->st.st_size + 1);
	struct manifest *m;
	int r;

	if (!text || io_pread(fd, text, (size_t)e->st.st_size, 0) != e->st.st_size)
		return 0;
	r = manifest_parse(text, (size_t)e->st.st_size, &m);
	if (r < 0)
		return r;
	*ret_count = m->count;
	manifest_free(m);
	return 0;
}

static int count_experiments(struct find *f)
{
	const struct import *im = f->im;
	int r = 0;

	for (size_t i = 0; i < im->n && r == 0; i++) {
		const struct tree_entry *e = im->v[i].e;
		struct import_place *place = &im->places[f->place[e->dir] - 1];

		if (im->v[i].turn == IMPORT_MANIFESTS && place->is_root && S_ISREG(e->st.st_mode))
			r = read_manifest(im->tree, e, &place->experiments);
	}
	return r;
}

static int find_dest(struct import *im, const char *dest)
{
	_cleanup_free_ char *below = NULL;

	im->dest = strdup(dest);
	if (!im->dest || asprintf(&below, "%s%sx", dest, *dest ? "/" : "") < 0)
		return -ENOMEM;
	im->holds_runs = run_is(im->config, below);
	return 0;
}

int import_plan(const char *dir, const struct config *config, const char *dest, struct import **ret)
{
	_cleanup_import_ struct import *im = calloc(1, sizeof(*im));
	_cleanup_(find_free) struct find f = { .im = im };
	int r;

	if (!im)
		return -ENOMEM;
	im->config = config;
	r = find_dest(im, dest);
	if (r == 0)
		r = tree_read(dir, &im->tree);
	if (r < 0)
		return r;
	f.unit = calloc(im->tree->n, sizeof(*f.unit));
	f.place = calloc(im->tree->n, sizeof(*f.place));
	f.marked = calloc(im->tree->n, sizeof(*f.marked));
	r = f.unit && f.place && f.marked ? find_roots(&f) : -ENOMEM;
	if (r == 0)
		r = find_dirs(&f);
	if (r == 0)
		r = add_items(&f);
	if (r == 0)
		r = count_experiments(&f);
	if (r < 0)
		return r;
	import_count(im);
	*ret = steal(&im);
	return r;
}

void import_free(struct import *im)
{
	for (size_t i = 0; i < im->n_places; i++)
		free(im->places[i].path);
	if (im->tree)
		tree_free(im->tree);
	free(im->dest);
	free(im->foreign);
	free(im->in_way);
	free(im->view);
	free(im->places);
	free(im->units);
	free(im->dirs);
	free(im->v);
	free(im);
}
