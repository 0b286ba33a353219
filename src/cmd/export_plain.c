/* --layout plain: a directory with all that is in it, as it is. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/export.h"
#include "op/reply.h"
#include "util/list.h"
#include "util/log.h"

static int add_entry(void *arg, const json_t *entry, const char *path, bool *ret_enter)
{
	struct export_tree *t = arg;
	struct export_tree_entry *v;

	*ret_enter = true;
	if (t->choice && !t->choice->takes(t, entry, path + t->top))
		return *ret_enter = false;
	v = array_grow(t->v, t->n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	t->v = v;
	v[t->n] = (struct export_tree_entry){ .path = strdup(path + t->top), .entry = json_incref((json_t *)(uintptr_t)entry) };
	return v[t->n++].path ? 0 : -ENOMEM;
}

/* As a path with the names of a directory together: a slash comes before all other bytes. */
static int by_path(const void *pa, const void *pb)
{
	const unsigned char *a = (const unsigned char *)((const struct export_tree_entry *)pa)->path;
	const unsigned char *b = (const unsigned char *)((const struct export_tree_entry *)pb)->path;

	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (!*a || !*b)
		return (*a != 0) - (*b != 0);
	return *a == '/' ? -1 : *b == '/' ? 1 : *a - *b;
}

static char *get_target(const json_t *entry)
{
	const char *target = json_string_value(json_object_get(entry, "target"));

	return target ? strdup(target) : NULL;
}

/* Does a link at the path, which leads there, stay in the directory wherever that goes? */
static bool stays_inside(const char *path, const char *target)
{
	long depth = 0;

	if (*target == '/')
		return false;
	for (; (path = strchr(path, '/')) != NULL; path++)
		depth++;
	while (*target && depth >= 0) {
		size_t n = strcspn(target, "/");

		if (n == 2 && !strncmp(target, "..", 2))
			depth--;
		else if (n > 0 && !(n == 1 && *target == '.'))
			depth++;
		target += n + strspn(target + n, "/");
	}
	return depth >= 0;
}

/* What a link leads to, if that is a file. */
static int resolve(const struct export_job *j, struct export_file *f)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	f->from.follow = true;
	f->has_digest = false;
	r = j->source.point ? supply_open(&j->source, &f->from, &fd) : -ENOENT;
	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return -errno;
	f->size = (uint64_t)st.st_size;
	f->mtime = timespec_ns(&st.st_mtim);
	f->mode = st.st_mode;
	free(f->stamp);
	if (asprintf(&f->stamp, "%llu.%lld", (unsigned long long)st.st_ino, (long long)timespec_ns(&st.st_ctim)) < 0)
		f->stamp = NULL;
	return !f->stamp ? -ENOMEM : S_ISREG(st.st_mode) ? 0 : -EISDIR;
}

static void say_left_out(const char *path, const char *why)
{
	log_msg("%s: %s; it is left out", path, why);
}

static int add_link(struct export_tree *t, struct export *e, const struct export_tree_entry *v, char *name)
{
	char *target = get_target(v->entry);
	bool inside = target && stays_inside(v->path, target);
	int r = export_add_entry(e, v->entry, name, EXPORT_LINK), there;
	struct export_unit *u = r < 0 ? NULL : &e->units[e->n - 1];

	if (r < 0) {
		free(target);
		return r;
	}
	u->target = target;
	there = resolve(t->j, u->files);
	if (inside)
		u->files->mtime = cmd_number(v->entry, "mtime");
	if (inside && there < 0) /* there is nothing to copy instead */
		free(steal(&u->files->from.path));
	if (inside || there == -ENOMEM)
		return there == -ENOMEM ? there : 0;
	u->kind = EXPORT_FILE;
	if (there < 0) {
		say_left_out(v->path, there == -EISDIR ? "leads to a directory outside" :
				      there == -EXDEV  ? "leads out of the mount" :
							 "leads outside, to what cannot be read");
		export_drop_last(e);
	}
	return 0;
}

/* The files with several names, by inode: {number: the unit that is the first}. */
static int add_file(json_t *twins, struct export *e, const struct export_tree_entry *v, char *name)
{
	char key[24];
	const json_t *first;
	int r;

	if (cmd_number(v->entry, "nlink") < 2)
		return export_add_entry(e, v->entry, name, EXPORT_FILE);
	snprintf(key, sizeof(key), "%lld", (long long)cmd_number(v->entry, "ino"));
	first = json_object_get(twins, key);
	r = export_add_entry(e, v->entry, name, first ? EXPORT_TWIN : EXPORT_FILE);
	if (r == 0 && first)
		e->units[e->n - 1].twin = (size_t)json_integer_value(first);
	else if (r == 0 && json_object_set_new(twins, key, json_integer((json_int_t)e->n - 1)) < 0)
		r = -ENOMEM;
	return r;
}

static int add_one(struct export_tree *t, struct export *e, json_t *twins, const struct export_tree_entry *v, char *name)
{
	mode_t mode = (mode_t)cmd_number(v->entry, "mode");

	if (S_ISDIR(mode))
		return export_add_entry(e, v->entry, name, EXPORT_PLACE);
	if (S_ISREG(mode))
		return add_file(twins, e, v, name);
	if (S_ISLNK(mode))
		return add_link(t, e, v, name);
	say_left_out(v->path, "is no file");
	free(name);
	return 0;
}

static int add_all(struct export_tree *t, struct export *e)
{
	const char **paths = calloc(t->n + 1, sizeof(*paths));
	char **names = calloc(t->n + 1, sizeof(*names));
	json_t *twins = json_object();
	int r = paths && names && twins && (t->mapped = json_object()) ? 0 : -ENOMEM;

	if (t->n > 0)
		qsort(t->v, t->n, sizeof(*t->v), by_path);
	for (size_t i = 0; i < t->n && r == 0; i++)
		paths[i] = t->v[i].path;
	if (r == 0)
		r = export_map(t->j, paths, t->n, names);
	for (size_t i = 0; i < t->n && r == 0; i++)
		if (names[i] && strcmp(paths[i], names[i]) != 0 &&
		    json_object_set_new_nocheck(t->mapped, paths[i], json_string_nocheck(names[i])) < 0)
			r = -ENOMEM;
	for (unsigned turn = 0; turn <= (t->choice ? t->choice->turns : 0) && r == 0; turn++)
		for (size_t i = 0; i < t->n && r == 0; i++) {
			unsigned own = t->choice ? t->choice->turn(t, t->v[i].entry, t->v[i].path) : 0;

			if (names[i] && own == turn && turn > 0)
				r = t->choice->add(t, e, t->v[i].entry, steal(&names[i]));
			else if (names[i] && own == turn)
				r = add_one(t, e, twins, &t->v[i], steal(&names[i]));
		}
	for (size_t i = 0; i < t->n && names; i++)
		free(names[i]);
	free(names);
	free(paths);
	json_decref(twins);
	return r;
}

enum op_exit export_tree_read(struct export_tree *t)
{
	_cleanup_free_ char *dir = reply_get_path(json_object_get(t->j->answer, "dir"));

	if (!dir)
		return OP_FAILED;
	t->top = strlen(dir) + (*dir != 0);
	return export_walk(t->j, dir, add_entry, t);
}

enum op_exit export_tree_add(struct export_tree *t, struct export *e)
{
	int r = add_all(t, e);

	if (r == -ENOMEM)
		log_msg("export: memory is short");
	return r < 0 ? OP_FAILED : OP_DONE;
}

void export_tree_clear(struct export_tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->v[i].path);
		json_decref(t->v[i].entry);
	}
	free(t->v);
	json_decref(t->mapped);
}

static enum op_exit fill(struct export_job *j, struct export *e, size_t *ret_together)
{
	_cleanup_export_tree_ struct export_tree t = { .j = j };
	enum op_exit exit = export_tree_read(&t);

	*ret_together = 0;
	if (exit == OP_NO)
		log_msg("export: the directory is not there any more; what was put into %s stays", j->folder.path);
	return exit == OP_DONE ? export_tree_add(&t, e) : exit;
}

const struct export_layout export_layout_plain = { .name = "plain", .fill = fill };
