/* --layout weightslab: a tree that WeightsLab opens, lists and resumes. Of an experiment root that is its own, of which what belongs
 * together fits together: the last manifest that is whole, the weights that it names, and a state file that leads to an experiment
 * which it lists. Of another run it is made up (cmd/export_lab.h). */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/export_lab.h"
#include "exp/entries.h"
#include "exp/root.h"
#include "format/manifest.h"
#include "format/state_file.h"
#include "op/reply.h"
#include "util/log.h"

enum { AS_IT_IS, WEIGHTS, MANIFEST, STATE, LEFT_OUT };

/* Directories at the top of a store that are there for views; what lies in them is the root's own. */
static const char *const for_views[] = { "branches", "experiments", "models", "HP", "data" };

struct lab {
	json_t *weights; /* paths in the store that are in the copy already */
	json_t *listed;  /* hashes of all manifests */
	bool holds[ARRAY_SIZE(for_views)]; /* something */
	bool is_root, has_roots; /* the directory is one; there are some at or below it */
};

static void say(const char *path, const char *what)
{
	log_msg("/%s: %s", path, what);
}

/* The newest version that is whole; NULL: there is none. */
static const json_t *whole_manifest(struct export_job *j, const char *path, const json_t *versions, struct manifest **ret)
{
	const json_t *v;
	size_t i;

	json_array_foreach (versions, i, v) {
		_cleanup_free_ char *text = NULL;

		if (export_version_read(j, path, v, MANIFEST_SIZE_MAX, &text) < 0)
			continue;
		if (manifest_parse(text, (size_t)cmd_number(v, "size"), ret) < 0)
			return NULL;
		if ((*ret)->state == MANIFEST_WHOLE)
			return v;
		manifest_free(steal(ret));
	}
	return NULL;
}

static bool is_name(const char *text)
{
	return text && *text && *text != '.' && !strchr(text, '/');
}

/* What weights that a manifest names are called in the folder; the entry then names them so. */
static int map_named(struct export_tree *t, const char *path, struct manifest_entry *m, bool *changed)
{
	const char *below = path + t->top, *name = json_string_value(json_object_get(t->mapped, below));
	_cleanup_free_ char *own = NULL;
	int r = 0;

	if (!name && !json_object_get(((struct lab *)t->arg)->weights, path)) {
		r = export_map(t->j, &(const char *){ m->latest_weight_checkpoint }, 1, &own);
		name = own;
	}
	if (r < 0 || !name || !strcmp(path_last(name), m->latest_weight_checkpoint))
		return r;
	*changed = true;
	free(m->latest_weight_checkpoint);
	m->latest_weight_checkpoint = strdup(path_last(name));
	return m->latest_weight_checkpoint ? 0 : -ENOMEM;
}

/* Weights that a manifest names and that are not there any more, or not whole, as history has them. as: where checkpoints/ goes. */
static int add_named(struct export_tree *t, struct export *e, const char *dir, const char *as, struct manifest_entry *m, bool *changed)
{
	struct lab *lab = t->arg;
	_cleanup_free_ char *path = NULL, *name = NULL;
	_cleanup_json_ json_t *versions = NULL;
	int r;

	if (!is_name(m->model_hash) || !is_name(m->latest_weight_checkpoint))
		return 0;
	if (asprintf(&path, "%s/models/%s/%s", dir, m->model_hash, m->latest_weight_checkpoint) < 0)
		return -ENOMEM;
	r = map_named(t, path, m, changed);
	if (r < 0 || json_object_get(lab->weights, path))
		return r;
	versions = export_versions(t->j, path);
	if (json_array_size(versions) == 0) {
		say(path, "the manifest names it, and the store does not have it; WeightsLab takes another of that experiment");
		return 0;
	}
	say(path, "is not there any more; what it held last goes out, as the manifest names it");
	if (asprintf(&name, "%s/models/%s/%s", as, m->model_hash, m->latest_weight_checkpoint) < 0)
		return -ENOMEM;
	json_object_set_new(lab->weights, path, json_true());
	return export_version_add(e, path, json_array_get(versions, 0), steal(&name));
}

/* With the names that the folder takes. */
static int add_changed(struct export *e, const struct manifest *m, int64_t mtime, char *name)
{
	char *text = NULL;
	size_t len;
	int r = manifest_write(m, &text, &len);

	if (r < 0)
		free(name);
	return r < 0 ? r : export_text_add(e, text, mtime, name);
}

static int add_manifest(struct export_tree *t, struct export *e, const char *path, char *as)
{
	_cleanup_free_ char *name = as, *dir = strndup(path, (size_t)(path_last(path) - 1 - path));
	_cleanup_free_ char *to = strndup(as, (size_t)(path_last(as) - 1 - as));
	_cleanup_json_ json_t *versions = export_versions(t->j, path);
	struct manifest *m = NULL;
	const json_t *v = whole_manifest(t->j, path, versions, &m);
	struct lab *lab = t->arg;
	bool changed = false;
	int r = dir && to ? 0 : -ENOMEM;

	if (!v) {
		say(path, "no version of it is whole; it is left out, and WeightsLab finds no experiments there");
		return 0;
	}
	if (v != json_array_get(versions, 0))
		say(path, "is not whole; the last version that is goes out");
	for (size_t i = 0; i < m->count && r == 0; i++) {
		json_object_set_new(lab->listed, m->entries[i].hash, json_true());
		r = add_named(t, e, dir, to, &m->entries[i], &changed);
	}
	if (r == 0 && changed)
		r = add_changed(e, m, cmd_number(v, "mtime"), steal(&name));
	else if (r == 0)
		r = export_version_add(e, path, v, steal(&name));
	manifest_free(m);
	return r;
}

/* One that names an experiment which no manifest lists makes WeightsLab resume nothing; without it, it resumes the latest. */
static int add_state(struct export_tree *t, struct export *e, const char *path, char *as)
{
	_cleanup_free_ char *name = as, *text = NULL;
	_cleanup_json_ json_t *versions = export_versions(t->j, path);
	const json_t *v = json_array_get(versions, 0);
	struct state_file s = { .current_exp_hash = "" };
	const struct lab *lab = t->arg;
	struct reason why;
	int r = v ? export_version_read(t->j, path, v, STATE_FILE_SIZE_MAX, &text) : -ENOENT;

	if (r == 0)
		r = state_file_parse(text, (size_t)cmd_number(v, "size"), &s, &why);
	if (r == 0 && json_object_get(lab->listed, s.current_exp_hash))
		return export_version_add(e, path, v, steal(&name));
	if (r == 0)
		log_msg("/%s: names %s, which no manifest lists, so that WeightsLab would resume nothing; it is left out", path,
			s.current_exp_hash);
	else
		say(path, "cannot be read; it is left out");
	return r == -ENOMEM ? r : 0;
}

/* The path holds no checkpoint that is whole: what it held last. */
static int add_weights(struct export_tree *t, struct export *e, const char *path, char *as)
{
	_cleanup_free_ char *name = as;
	_cleanup_json_ json_t *versions = export_versions(t->j, path);
	struct lab *lab = t->arg;

	if (json_array_size(versions) == 0) {
		say(path, "is not whole, and never was; it is left out");
		return 0;
	}
	say(path, "is not whole, or being written; what it held last goes out");
	json_object_set_new(lab->weights, path, json_true());
	return export_version_add(e, path, json_array_get(versions, 0), steal(&name));
}

static bool is_role(const json_t *entry, const char *role)
{
	return !strcmp(cmd_string(entry, "role"), role);
}

/* In which of for_views it lies, or which it is; ARRAY_SIZE(for_views): none. */
static size_t view_dir(const struct export_tree *t, const char *path)
{
	size_t n = strcspn(path, "/"), i = t->top == 0 ? 0 : ARRAY_SIZE(for_views);

	while (i < ARRAY_SIZE(for_views) && (strlen(for_views[i]) != n || strncmp(path, for_views[i], n) != 0))
		i++;
	return i;
}

/* At the top of the store other runs lie beside what is its own. */
static bool takes(struct export_tree *t, const json_t *entry, const char *path)
{
	_cleanup_free_ char *whole = reply_get_path(entry);
	size_t view = view_dir(t, path);
	struct lab *lab = t->arg;

	if (t->top == 0 && !strcmp(path, "runs"))
		return false;
	if (view < ARRAY_SIZE(for_views))
		lab->holds[view] |= strchr(path, '/') != NULL;
	if (json_is_true(json_object_get(entry, "run")))
		return false;
	if (whole && json_is_true(json_object_get(entry, "complete")))
		json_object_set_new(lab->weights, whole, json_true());
	if (is_role(entry, "MANIFEST") && !strcmp(path_last(path), ROOT_MANIFEST)) {
		lab->has_roots = true;
		lab->is_root |= !strcmp(path, ROOT_DIR "/" ROOT_MANIFEST);
	}
	return true;
}

static unsigned turn(struct export_tree *t, const json_t *entry, const char *path)
{
	size_t view = view_dir(t, path);
	const struct lab *lab = t->arg;

	if (view < ARRAY_SIZE(for_views) && !lab->holds[view])
		return LEFT_OUT;
	if (is_role(entry, "MANIFEST") && !strcmp(path_last(path), ROOT_STATE))
		return STATE;
	if (is_role(entry, "MANIFEST") && !strcmp(path_last(path), ROOT_MANIFEST) && path_last(path) > path)
		return MANIFEST;
	return json_is_false(json_object_get(entry, "complete")) ? WEIGHTS : AS_IT_IS;
}

static int add(struct export_tree *t, struct export *e, const json_t *entry, char *name)
{
	_cleanup_free_ char *path = reply_get_path(entry);
	unsigned which = path ? turn(t, entry, path) : AS_IT_IS;

	switch (which) {
	case MANIFEST:
		return add_manifest(t, e, path, name);
	case STATE:
		return add_state(t, e, path, name);
	case WEIGHTS:
		return add_weights(t, e, path, name);
	default:
		free(name);
		return -ENOMEM;
	}
}

static enum op_exit fill(struct export_job *j, struct export *e, size_t *ret_together)
{
	static const struct export_choice choice = { .takes = takes, .turn = turn, .turns = STATE, .add = add };
	struct lab lab = { .weights = json_object(), .listed = json_object() };
	_cleanup_export_tree_ struct export_tree t = { .j = j, .choice = &choice, .arg = &lab };
	enum op_exit exit = export_tree_read(&t);

	*ret_together = 0;
	/* Who names a branch means that, whatever roots lie in its run. */
	if (exit == OP_DONE && (lab.is_root || (lab.has_roots && !j->by_branch)))
		exit = export_tree_add(&t, e);
	else if (exit == OP_DONE || exit == OP_NO)
		exit = export_lab_fill(j, e);
	json_decref(lab.weights);
	json_decref(lab.listed);
	return exit;
}

const struct export_layout export_layout_weightslab = { .name = "weightslab", .fill = fill };
