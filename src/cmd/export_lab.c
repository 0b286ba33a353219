#include "cmd/export_lab.h"

#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/export_lab_config.h"
#include "exp/entries.h"
#include "exp/experiment.h"
#include "exp/root.h"
#include "format/manifest.h"
#include "format/tensors.h"
#include "op/experiments.h"
#include "op/reply.h"
#include "util/log.h"

#define HISTORY "/.expfs/history/"

struct made {
	struct export_job *j;
	struct export *e;
	int64_t time;  /* of what is made up */
	json_t *names; /* of files that experiments may share */
};

static enum op_exit fail(int r)
{
	if (r == 0)
		return OP_DONE;
	log_msg("export: %s", strerror(-r));
	return OP_FAILED;
}

/* A path in the answer of show: {"path", "found": the same, or one in history/NAME/N.EXT}. Its version among all, or NULL. */
static const json_t *version_of(const json_t *versions, const char *found)
{
	const char *name = path_last(found);
	const json_t *v;
	size_t i;

	if (strncmp(found, HISTORY, strlen(HISTORY)) != 0)
		return json_array_get(versions, 0);
	json_array_foreach (versions, i, v)
		if (cmd_number(v, "n") == strtoll(name, NULL, 10))
			return v;
	return NULL;
}

/* Experiments with the same part share its files: the first of them puts each there. */
static bool is_first(const struct made *m, const char *name)
{
	return !json_object_get(m->names, name) && json_object_set_new_nocheck(m->names, name, json_true()) == 0;
}

static char *experiment_text(const json_t *entry, enum segment which)
{
	return strndup(cmd_string(entry, "hash") + which * SEGMENT_LEN, SEGMENT_LEN);
}

/* In the form in which WeightsLab keeps it. */
static int add_config(const struct made *m, const json_t *entry, const char *path, const json_t *version)
{
	_cleanup_free_ char *hash = experiment_text(entry, SEGMENT_HP), *text = NULL, *name = NULL, *wrapped = NULL;
	int r = hash ? export_version_read(m->j, path, version, LAB_CONFIG_MAX, &text) : -ENOMEM;

	if (r == 0)
		r = lab_config(text, path_last(path), hash, cmd_string(entry, "time"), &wrapped);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		log_msg("/%s: cannot be put in WeightsLab's form; it is left out", path);
		return 0;
	}
	if (asprintf(&name, ROOT_DIR "/HP/%s/%s_config.yaml", hash, hash) < 0)
		return -ENOMEM;
	return is_first(m, name) ? export_text_add(m->e, steal(&wrapped), cmd_number(version, "mtime"), steal(&name)) : 0;
}

/* Architectures and data snapshots that have a form of WeightsLab's are taken as they are. */
static int add_as_it_is(const struct made *m, const json_t *entry, enum segment which, const char *path, const json_t *version)
{
	static const char *const ends[][4] = {
		[SEGMENT_MODEL] = { "_architecture.pkl", "_architecture.txt" },
		[SEGMENT_DATA] = { "_data_snapshot.json", "_data_snapshot.parquet" },
	};
	static const char *const dirs[] = { [SEGMENT_MODEL] = "models", [SEGMENT_DATA] = "data" };
	_cleanup_free_ char *hash = experiment_text(entry, which), *name = NULL;
	size_t len = strlen(path);

	for (size_t i = 0; hash && ends[which][i]; i++) {
		size_t n = strlen(ends[which][i]);

		if (len < n || strcmp(path + len - n, ends[which][i]) != 0)
			continue;
		if (asprintf(&name, ROOT_DIR "/%s/%s/%s%s", dirs[which], hash, hash, ends[which][i]) < 0)
			return -ENOMEM;
		return is_first(m, name) ? export_version_add(m->e, path, version, steal(&name)) : 0;
	}
	return hash ? 0 : -ENOMEM;
}

static int add_file(const struct made *m, const json_t *entry, enum segment which, const json_t *file)
{
	const char *path = cmd_string(file, "path") + 1, *found = cmd_string(file, "found");
	_cleanup_json_ json_t *versions = export_versions(m->j, path);
	const json_t *version = version_of(versions, found);

	if (!version)
		return 0;
	return which == SEGMENT_HP ? add_config(m, entry, path, version) : add_as_it_is(m, entry, which, path, version);
}

static int add_files(const struct made *m, const json_t *entry, const json_t *shown)
{
	const json_t *files = json_object_get(shown, "files"), *file;
	size_t i;
	int r = 0;

	for (enum segment which = 0; which < SEGMENTS && r == 0; which++) {
		const json_t *list = json_object_get(files, experiments_segment[which]);

		if (which == SEGMENT_HP && json_array_size(list) > 1) {
			log_msg("%s: has several configuration files, and WeightsLab one; they are left out",
				cmd_string(entry, "hash"));
			continue;
		}
		json_array_foreach (list, i, file)
			if (r == 0)
				r = add_file(m, entry, which, file);
	}
	return r;
}

/* WeightsLab loads what lies under this key. */
static bool can_load(const struct made *m, const char *path, const json_t *version)
{
	static const char key[] = "model_state_dict.";
	_cleanup_close_ int fd = export_version_open(m->j, path, version);
	_cleanup_tensors_ struct tensors *ts = NULL;
	const char *why;

	if (fd < 0 || tensors_read(fd, (uint64_t)cmd_number(version, "size"), &ts, &why) < 0)
		return false;
	for (size_t i = 0; i < ts->n; i++)
		if (!strncmp(ts->v[i].name, key, strlen(key)))
			return true;
	return false;
}

/* The checkpoint of an experiment and a step: that of the branch, as another run may have been at the same experiment; or, where the
 * branch is past it by another one, any. NULL: there is none. */
static json_t *find_step(const struct made *m, const json_t *entry, json_int_t step)
{
	const json_t *branch = json_object_get(m->j->answer, "branch"), *hash = json_object_get(entry, "hash");
	_cleanup_json_ json_t *own = json_pack("{s:O, s:I}", "branch", branch, "step", step);
	_cleanup_json_ json_t *any = json_pack("{s:O, s:I}", "hash", hash, "step", step), *found = NULL;

	if (export_ask(m->j, "nearest", own, &found) == OP_DONE && cmd_number(found, "step") == step &&
	    json_equal(json_object_get(found, "experiment"), hash))
		return steal(&found);
	json_decref(steal(&found));
	if (export_ask(m->j, "show", any, &found) != OP_DONE || cmd_number(found, "step") != step)
		return NULL;
	return steal(&found);
}

/* *ret_name: what it is called there, to be freed; NULL: it is none that WeightsLab loads. */
static int add_step(const struct made *m, const json_t *entry, json_int_t step, char **ret_name)
{
	_cleanup_json_ json_t *shown = find_step(m, entry, step), *versions = NULL;
	_cleanup_free_ char *name = NULL, *path = shown ? reply_get_path(shown) : NULL;
	const char *hash = cmd_string(entry, "hash");
	const json_t *v = NULL;
	size_t i;

	if (!path)
		return 0;
	versions = json_is_true(json_object_get(shown, "directory")) ? NULL : export_versions(m->j, path);
	json_array_foreach (versions, i, v)
		if (cmd_number(v, "n") == cmd_number(shown, "version"))
			break;
	if (i == json_array_size(versions) || !can_load(m, path, v)) {
		log_msg("/%s: is a checkpoint that WeightsLab cannot load, without model_state_dict; it is left out", path);
		return 0;
	}
	if (asprintf(ret_name, "%s_step_%06lld.pt", hash, (long long)step) < 0 ||
	    asprintf(&name, ROOT_DIR "/models/%.*s/%s", SEGMENT_LEN, hash + SEGMENT_MODEL * SEGMENT_LEN, *ret_name) < 0)
		return -ENOMEM;
	return export_version_add(m->e, path, v, steal(&name));
}

/* Its checkpoints in the order of steps; the manifest's entry then names the last one. */
static int add_experiment(const struct made *m, const json_t *entry, struct manifest_entry *in)
{
	_cleanup_json_ json_t *args = json_pack("{s:O}", "hash", json_object_get(entry, "hash")), *shown = NULL;
	const json_t *steps = json_object_get(entry, "steps"), *step;
	size_t i;
	int r = 0;

	if (export_ask(m->j, "show", args, &shown) == OP_DONE)
		r = add_files(m, entry, json_object_get(shown, "experiment"));
	free(steal(&in->latest_weight_checkpoint));
	in->latest_weight_step = -1;
	json_array_foreach (steps, i, step) {
		_cleanup_free_ char *name = NULL;

		if (r == 0)
			r = add_step(m, entry, json_integer_value(step), &name);
		if (r < 0 || !name)
			continue;
		free(in->latest_weight_checkpoint);
		in->latest_weight_checkpoint = steal(&name);
		in->latest_weight_step = json_integer_value(step);
	}
	return r;
}

static int add_manifest(const struct made *m, const struct manifest *manifest)
{
	char *text = NULL, *name = strdup(ROOT_DIR "/" ROOT_MANIFEST);
	size_t len;
	int r = name ? manifest_write(manifest, &text, &len) : -ENOMEM;

	if (r == 0)
		return export_text_add(m->e, text, m->time, name);
	free(name);
	return r;
}

/* It leads to the branch's head. */
static int add_state(const struct made *m, const struct manifest *manifest)
{
	const char *hash = manifest->latest_hash ? manifest->latest_hash : "";
	const struct manifest_entry *e = manifest_find(manifest, hash);
	_cleanup_json_ json_t *state = NULL;

	if (!e)
		return 0;
	state = json_pack("{s:s, s:s, s:I, s:i, s:s?, s:{s:s?, s:s?, s:s?, s:s}}", "current_exp_hash", hash, "previous_exp_hash", hash,
			  "step_counter", (json_int_t)MAX(e->latest_weight_step, 0), "model_init_step", 0, "last_updated",
			  manifest->last_updated, "component_hashes", "hp", e->hp_hash, "model", e->model_hash, "data",
			  e->data_hash, "combined", hash);
	return export_text_add(m->e, state ? json_dumps(state, JSON_INDENT(2)) : NULL, m->time, strdup(ROOT_STATE));
}

static const json_t *entry_of(const json_t *log, const char *hash)
{
	const json_t *entry;
	size_t i;

	json_array_foreach (json_object_get(log, "experiments"), i, entry)
		if (!strcmp(cmd_string(entry, "hash"), hash))
			return entry;
	return NULL;
}

static int add_all(const struct made *m, const json_t *log, struct manifest *manifest)
{
	int r = 0;

	for (size_t i = 0; i < manifest->count && r == 0; i++) {
		const json_t *entry = entry_of(log, manifest->entries[i].hash);

		if (entry)
			r = add_experiment(m, entry, &manifest->entries[i]);
	}
	if (r == 0)
		r = add_manifest(m, manifest);
	return r == 0 ? add_state(m, manifest) : r;
}

enum op_exit export_lab_fill(struct export_job *j, struct export *e)
{
	_cleanup_json_ json_t *args = json_pack("{s:O}", "branch", json_object_get(j->answer, "branch")), *log = NULL, *names = json_object();
	struct made m = { .j = j, .e = e, .time = cmd_number(json_object_get(j->answer, "latest"), "mtime"), .names = names };
	_cleanup_free_ char *text = NULL;
	struct manifest *manifest = NULL;
	enum op_exit exit;
	size_t len;
	int r;

	if (!json_is_string(json_object_get(j->answer, "branch"))) {
		log_msg("export: what is named is neither a run nor an experiment root; name one of these, or its branch");
		return OP_NO;
	}
	exit = export_ask(j, "log", args, &log);
	if (exit != OP_DONE || json_array_size(json_object_get(log, "experiments")) == 0) {
		if (exit == OP_DONE)
			log_msg("%s: has no experiment yet; expfs commit makes what is there one", cmd_string(j->answer, "branch"));
		return exit == OP_DONE ? OP_NO : exit;
	}
	r = experiments_manifest(log, &text, &len);
	if (r == 0)
		r = manifest_parse(text, len, &manifest);
	if (r == 0)
		r = add_all(&m, log, manifest);
	if (manifest)
		manifest_free(manifest);
	return fail(r);
}
