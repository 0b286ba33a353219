#include "cmd/import_where.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/place.h"
#include "cmd/target.h"
#include "exp/path.h"
#include "exp/config.h"
#include "util/log.h"

#define RUNS "runs"

void import_where_free(struct import_where *w)
{
	free(w->source);
	free(w->store);
	free(w->point);
	free(w->below);
	free(w->path);
	if (w->config)
		config_free(w->config);
}

static const char *last_name(const char *path)
{
	return strrchr(path, '/') + 1;
}

static enum op_exit fail(int r)
{
	log_msg("import: %s", strerror(-r));
	return OP_FAILED;
}

static enum op_exit find_source(const char *source, struct import_where *w)
{
	_cleanup_place_ struct place *p = NULL;
	struct stat st;

	w->source = realpath(source, NULL);
	if (!w->source || stat(w->source, &st) < 0) {
		log_msg("%s: %s", source, strerror(errno));
		return OP_FAILED;
	}
	if (!S_ISDIR(st.st_mode)) {
		log_msg("%s: is no directory; import takes one: an experiment root, or the directory of a run", source);
		return OP_FAILED;
	}
	if (place_open(w->source, &p) == 0 && place_is_mount(p)) {
		log_msg("%s: is itself a mount of a store; import a run in it", source);
		return OP_FAILED;
	}
	return OP_DONE;
}

static int mount_of(void *arg, const struct place *p)
{
	struct import_where *w = arg;

	if (strcmp(p->source, w->store) != 0 || strcmp(p->root, "/") != 0)
		return 0;
	w->point = strdup(p->point);
	return w->point ? 1 : -ENOMEM;
}

static enum op_exit find_mount(const char *store, struct import_where *w)
{
	int r;

	w->store = realpath(store, NULL);
	if (!w->store) {
		log_msg("%s: %s", store, strerror(errno));
		return OP_FAILED;
	}
	r = place_each(mount_of, w);
	if (r < 0)
		return fail(r);
	if (r == 0) {
		log_msg("%s: is not mounted, as it has to be to import into it; first: expfs mount %s MNT", store, store);
		return OP_FAILED;
	}
	w->path = strdup("");
	w->below = strdup("");
	return w->path && w->below ? OP_DONE : fail(-ENOMEM);
}

/* In the mount in which dest or, where that is not given, the working directory lies. */
static enum op_exit find_target(const char *dest, struct import_where *w)
{
	_cleanup_target_ struct target t = { 0 };
	enum op_exit exit = target_open("import", dest ? dest : ".", NULL, dest ? TARGET_MOUNTED : TARGET_THERE, &t);

	if (exit != OP_DONE)
		return exit;
	w->store = steal(&t.store);
	w->point = steal(&t.point);
	w->path = dest ? steal(&t.path) : strndup(t.path, strlen(t.path) - strlen(t.below));
	w->below = dest ? steal(&t.below) : strdup("");
	if (!w->path || !w->below)
		return fail(-ENOMEM);
	if (dest || !*w->path)
		return OP_DONE;
	log_msg("%s: not the whole store is mounted there; name DEST", w->point);
	return OP_FAILED;
}

/* No message of a directory that the daemon alone may look into. */
static int read_config(struct import_where *w)
{
	_cleanup_close_ int store = open(w->store, O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_free_ char *error = NULL;

	int r = store < 0 ? -EINVAL : config_read(store, &w->config, &error);

	return r == -EINVAL ? config_new(&w->config) : r;
}

static bool is_root(const char *source)
{
	_cleanup_free_ char *manifest = NULL;

	return asprintf(&manifest, "%s/checkpoints/manifest.yaml", source) >= 0 && access(manifest, F_OK) == 0;
}

/* Beside what becomes the top of the mount it gets the name that it has. */
static enum op_exit name_run(struct import_where *w)
{
	const char *name = last_name(w->source);

	if (!*name || *name == '.') {
		log_msg("%s: a run cannot be called so; name DEST, as in: %s/runs/NAME", w->source, w->point);
		return OP_USAGE;
	}
	free(w->path);
	free(w->below);
	w->below = NULL;
	if (asprintf(&w->path, RUNS "/%s", name) < 0)
		w->path = NULL;
	else
		w->below = strdup(w->path);
	return w->path && w->below ? OP_DONE : fail(-ENOMEM);
}

static bool overlap(const char *a, const char *b)
{
	return !strcmp(a, "/") || path_is_below(a, b) || path_is_below(b, a);
}

static enum op_exit refuse_overlap(const struct import_where *w)
{
	_cleanup_free_ char *dest = NULL;

	if (asprintf(&dest, "%s%s%s", w->point, *w->below ? "/" : "", w->below) < 0)
		return fail(-ENOMEM);
	if (!strcmp(w->source, dest)) {
		log_msg("%s: is in this mount already; for a second one of it name another DEST", w->source);
		return OP_FAILED;
	}
	if (overlap(w->source, dest)) {
		log_msg("%s: lies in %s, or that in this; name another DEST", w->source, dest);
		return OP_FAILED;
	}
	if (overlap(w->source, w->store)) {
		log_msg("%s: lies in the store %s, or that in this; name a directory that has nothing of it", w->source, w->store);
		return OP_FAILED;
	}
	return OP_DONE;
}

/* A path in a mount says which store it is. */
static enum op_exit refuse_both(const char *source, const char *dest, const char *store, struct import_where *w)
{
	enum op_exit exit = find_mount(store, w);
	_cleanup_free_ char *above = NULL;

	if (exit != OP_DONE)
		return exit;
	if (asprintf(&above, "%s/%s", w->point, strchr(dest, '/') ? "" : RUNS "/") < 0)
		return fail(-ENOMEM);
	log_msg("import: DEST is a path in a mount, which says the store; without --store: expfs import %s %s%s", source,
		*dest == '/' ? "" : above, dest);
	return OP_USAGE;
}

enum op_exit import_where_find(const char *source, const char *dest, const char *store, struct import_where *w)
{
	const char *named = store ? store : getenv("EXPFS_STORE");
	enum op_exit exit = find_source(source, w);
	int r;

	if (exit == OP_DONE && dest && store)
		return refuse_both(source, dest, store, w);
	if (exit == OP_DONE)
		exit = !dest && named && *named ? find_mount(named, w) : find_target(dest, w);
	if (exit != OP_DONE)
		return exit;
	r = read_config(w);
	if (r < 0)
		return fail(r);
	w->chosen = *w->path || (dest && is_root(w->source));
	if (!w->chosen)
		exit = name_run(w);
	return exit == OP_DONE ? refuse_overlap(w) : exit;
}
