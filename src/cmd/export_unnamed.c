/* Why there is nothing to export: files that are called as checkpoints are elsewhere, and have no role here. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/export.h"
#include "exp/entries.h"
#include "op/reply.h"
#include "util/log.h"

static bool looks_like_one(const char *name)
{
	static const char *const begins[] = { "step", "checkpoint", "ckpt", "model", "weights", "epoch", "iter" };
	static const char *const ends[] = { ".pkl", ".pickle", ".tar", ".gz", ".zip", ".h5", ".hdf5", ".bin", ".npy", ".joblib", ".msgpack",
					    ".params", ".pdparams" };
	size_t len = strlen(name);
	bool begin = false, end = false;

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		begin |= !strncmp(name, begins[i], strlen(begins[i]));
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		end |= len > strlen(ends[i]) && !strcmp(name + len - strlen(ends[i]), ends[i]);
	return begin && end;
}

static int find(void *arg, const json_t *entry, const char *path, bool *ret_enter)
{
	char **found = arg;

	*ret_enter = !json_is_true(json_object_get(entry, "run"));
	if (!S_ISREG((mode_t)cmd_number(entry, "mode")) || strcmp(cmd_string(entry, "role"), "none") || !looks_like_one(path_last(path)))
		return 0;
	*found = strdup(path);
	return *found ? 1 : -ENOMEM;
}

void export_say_none(struct export_job *j)
{
	_cleanup_free_ char *dir = reply_get_path(json_object_get(j->answer, "dir")), *found = NULL;
	const char *name = export_subject(j);

	if (dir && !json_is_true(json_object_get(j->answer, "removed")))
		export_walk(j, dir, find, &found);
	if (found)
		log_msg("%s: has no complete checkpoint; by its name %s could be one, and has no role: a pattern under roles: WEIGHTS: in "
			"%s/config.yaml makes it one", name, found + strlen(dir) + (*dir != 0), j->a.target.store);
	else
		log_msg("%s: has no complete checkpoint; expfs status shows what there is", name);
}
