/* What is in the folder and not wanted any more. */
#include <stdio.h>
#include <string.h>

#include "sync/copy.h"
#include "sync/export_part.h"

struct tidying {
	struct export *e;
	json_t *wanted; /* names as of export_key() */
	json_t *dirs;   /* directories with something of that in them, and at the folder's top also those that are done with */
};

/* By its content, where a drive numbers its files anew. */
static bool is_ours(const struct tidying *t, const char *name, const struct stat *st)
{
	struct memory_file there;
	bool ours = false;

	if (S_ISDIR(st->st_mode))
		return memory_has_below(t->e->memory, name);
	if (!S_ISREG(st->st_mode))
		return memory_find(t->e->memory, name, st, &there);
	return memory_has(t->e->memory, name) && export_digest_there(t->e, name, st, &there, &ours) == 0 && ours;
}

static int each_is_ours(void *arg, const char *name, const struct stat *st)
{
	return !is_ours(arg, name, st);
}

/* A directory goes as a whole, so that a part of it is never taken for it; but not with files of others. 1: it went. */
static int remove_whole(struct tidying *t, const char *dir)
{
	_cleanup_free_ char *part = folder_part(dir, 0);
	const struct folder *f = t->e->folder;
	int r;

	if (!part)
		return -ENOMEM;
	if (folder_each(f, dir, each_is_ours, t) != 0 || renameat(f->fd, dir, f->fd, part) < 0)
		return 0;
	folder_sync(f, dir);
	r = copy_remove(f->fd, part);
	if (r == 0 && json_array_append_new(t->e->removed, json_string(dir)) < 0)
		r = -ENOMEM;
	return r < 0 ? export_failed(t->e, dir, r) : 1;
}

/* The directory at the folder's top in which the name lies. */
static int tidy_dir(struct tidying *t, const char *name)
{
	_cleanup_free_ char *dir = strndup(name, strcspn(name, "/"));

	if (!dir)
		return -ENOMEM;
	if (!strchr(name, '/') || json_object_get(t->dirs, dir))
		return 0;
	return json_object_set_new(t->dirs, dir, json_true()) < 0 ? -ENOMEM : remove_whole(t, dir);
}

static int tidy_file(struct tidying *t, const char *name)
{
	struct stat st;
	int r = folder_stat(t->e->folder, name, &st);

	if (r == 0 && S_ISDIR(st.st_mode)) {
		if (!json_object_get(t->dirs, name)) /* else it is one now */
			folder_remove_empty(t->e->folder, name);
	} else if (r == 0 && is_ours(t, name, &st)) {
		r = folder_remove(t->e->folder, name);
		if (r < 0)
			return export_failed(t->e, name, r);
		json_array_append_new(t->e->removed, json_string(name));
		folder_sync(t->e->folder, name);
	}
	return 0;
}

static bool is_to_go(const struct tidying *t, const char *name)
{
	return !json_object_get(t->wanted, name) && (!t->e->keep || !t->e->keep(t->e->arg, name));
}

static int tidy_one(void *arg, const char *name)
{
	struct tidying *t = arg;
	int r;

	if (!is_to_go(t, name))
		return 0;
	r = tidy_dir(t, name);
	if (r == 0)
		r = tidy_file(t, name);
	if (r >= 0)
		memory_forget(t->e->memory, name);
	return MIN(r, 0);
}

static int want(struct tidying *t, const struct export_unit *u, const struct export_file *f)
{
	_cleanup_free_ char *key = export_key(u, f);
	int r = key ? json_object_set_new(t->wanted, key, json_true()) : -1;

	for (const char *slash = key; r == 0 && (slash = strchr(slash, '/')) != NULL; slash++)
		r = json_object_setn_new(t->dirs, key, (size_t)(slash - key), json_true());
	return r < 0 ? -ENOMEM : 0;
}

int export_tidy(struct export *e)
{
	struct tidying t = { .e = e, .wanted = json_object(), .dirs = json_object() };
	int r = t.wanted && t.dirs ? 0 : -ENOMEM;

	if (!e->removed)
		e->removed = json_array();
	for (size_t i = 0; i < e->n && r == 0; i++)
		for (size_t k = 0; k < e->units[i].n && r == 0; k++)
			r = want(&t, &e->units[i], &e->units[i].files[k]);
	if (r == 0)
		r = memory_each(e->memory, tidy_one, &t);
	json_decref(t.wanted);
	json_decref(t.dirs);
	memory_save(e->memory);
	return r;
}
