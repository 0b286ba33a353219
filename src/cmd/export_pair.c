/* latest.<ext> and best.<ext>: the folder that sync tools are pointed at, and that a training resumes from. */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/export.h"
#include "exp/entries.h"
#include "op/reply.h"
#include "sync/portable.h"
#include "util/log.h"

static const char *const bases[] = { "latest", "best" };

/* The extension, as programs look for it. */
static const char *extension(const char *path)
{
	static const char whole[] = ".weights.h5";
	const char *name = path_last(path), *dot = strrchr(name, '.');
	size_t len = strlen(name);

	if (len > strlen(whole) && !strcmp(name + len - strlen(whole), whole))
		return name + len - strlen(whole);
	return dot && dot != name ? dot : "";
}

static char *unit_name(const char *base, const char *path, bool is_dir)
{
	_cleanup_free_ char *name = NULL;
	char *mapped = NULL;

	if (asprintf(&name, "%s%s", base, is_dir ? "" : extension(path)) < 0)
		return NULL;
	return portable_map(name, &mapped) == 0 ? mapped : NULL;
}

static int add_version(struct export_unit *u, const json_t *checkpoint, const json_t *file, const char *name)
{
	struct supply_ref from = { .path = reply_get_path(checkpoint), .name = reply_get_path(file),
				   .n = (uint64_t)cmd_number(checkpoint, "n"), .is_dir = u->kind == EXPORT_SET };

	return export_file_add(u, name, from, file, export_version_stamp(file));
}

/* The files of a directory, under the names that the folder takes. -ENAMETOOLONG: one has none, and without it this is no checkpoint. */
static int add_files(struct export_job *j, struct export_unit *u, const json_t *checkpoint)
{
	const json_t *files = json_object_get(checkpoint, "files");
	size_t n = json_array_size(files);
	char **paths = calloc(n + 1, sizeof(*paths)), **names = calloc(n + 1, sizeof(*names));
	int r = paths && names ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && r == 0; i++) {
		paths[i] = reply_get_path(json_array_get(files, i));
		r = paths[i] ? 0 : -ENOMEM;
	}
	if (r == 0)
		r = export_map(j, (const char *const *)paths, n, names);
	for (size_t i = 0; i < n && r == 0; i++)
		r = names[i] ? add_version(u, checkpoint, json_array_get(files, i), names[i]) : -ENAMETOOLONG;
	for (size_t i = 0; i < n && paths && names; i++) {
		free(paths[i]);
		free(names[i]);
	}
	free(paths);
	free(names);
	return r;
}

static int add_checkpoint(struct export_job *j, struct export *e, const char *base, const json_t *checkpoint)
{
	bool is_dir = json_is_true(json_object_get(checkpoint, "directory"));
	_cleanup_free_ char *path = reply_get_path(checkpoint);
	struct export_unit *u = path ? export_unit(e, unit_name(base, path, is_dir), is_dir ? EXPORT_SET : EXPORT_FILE) : NULL;

	if (!u)
		return -ENOMEM;
	return is_dir ? add_files(j, u, checkpoint) :
			add_version(u, checkpoint, json_array_get(json_object_get(checkpoint, "files"), 0), "");
}

/* What a training looks for. */
static const char *const extensions[] = { "", ".pt", ".pth", ".ckpt", ".safetensors", ".bin", ".npz", ".keras", ".weights.h5" };

#define NAME_ROOM 32

/* What an export put there under another extension, of which the memory is lost. */
static void adopt(struct export_job *j, const struct export *e, const char *base)
{
	for (size_t i = 0; i < ARRAY_SIZE(extensions); i++) {
		char name[NAME_ROOM];
		struct stat st;
		struct memory_file f = { .stamp = "" };

		snprintf(name, sizeof(name), "%s%s", base, extensions[i]);
		if (memory_has(j->memory, name) || folder_stat(&j->folder, name, &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		f.size = (uint64_t)st.st_size;
		f.mtime = timespec_ns(&st.st_mtim);
		f.ino = st.st_ino;
		if (folder_digest(&j->folder, name, f.size, f.digest) == 0 && e->known(e->arg, f.size, f.digest))
			memory_expect(j->memory, name, &f);
	}
}

static void leave_out(struct export_job *j, const char *base)
{
	j->partial = true;
	if (export_tell_once(j, base))
		log_msg("%s/%s: is not put there, as not all of it can be; what was there before stays", j->folder.path, base);
	json_object_set_new(j->answer, base, json_false()); /* there is one */
}

static enum op_exit fill(struct export_job *j, struct export *e, size_t *ret_together)
{
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		const json_t *checkpoint = json_object_get(j->answer, bases[i]);

		if (!json_is_object(checkpoint))
			continue;
		r = add_checkpoint(j, e, bases[i], checkpoint);
		if (r == -ENAMETOOLONG) {
			export_drop_last(e);
			leave_out(j, bases[i]);
		} else if (r < 0) {
			log_msg("export: memory is short");
			return OP_FAILED;
		} else {
			adopt(j, e, bases[i]);
		}
	}
	*ret_together = e->n;
	if (e->n == 0 && !j->partial) {
		export_say_none(j);
		return OP_NO;
	}
	return j->files ? export_fill_beside(j, e) : OP_DONE;
}

static bool is_of(const char *name, const char *base)
{
	size_t len = strlen(base);

	return !strncmp(name, base, len) && (!name[len] || name[len] == '.' || name[len] == '/');
}

/* A best that is not known any more, as metrics are gone, is better than none; so are the files beside of a run that was removed, or if
 * nobody ever said which there are to be. */
static bool keep(void *arg, const char *name)
{
	const struct export_job *j = arg;

	for (size_t i = 0; i < ARRAY_SIZE(bases); i++)
		if (is_of(name, bases[i]))
			return !json_is_object(json_object_get(j->answer, bases[i]));
	return !j->files || json_is_true(json_object_get(j->answer, "removed"));
}

static const struct export_unit *find_unit(const struct export *e, const char *base)
{
	for (size_t i = 0; i < e->n; i++)
		if (is_of(e->units[i].name, base) && !strchr(e->units[i].name, '/'))
			return &e->units[i];
	return NULL;
}

/* What is in the folder by a name of the pair, and not of it. */
static int tell_stray(struct export_job *j, const char *base, const struct export_unit *wanted, const char *name, bool ours)
{
	const char *of = export_subject(j);
	bool first = export_tell_once(j, name);

	j->partial |= !ours;
	if (first && ours)
		log_msg("%s/%s: is what was %s when it was exported; %s has none now; remove it if it is to stay no longer", j->folder.path,
			name, base, of);
	else if (first && wanted)
		log_msg("%s/%s: was not put there by export; what is %s is %s; move it away, lest it is taken for that", j->folder.path, name, base,
			wanted->name);
	else if (first)
		log_msg("%s/%s: was not put there by export, and %s has no %s; move it away, lest it is taken for that", j->folder.path, name,
			of, base);
	return export_report_file(j, name, ours ? "kept" : "refused");
}

static int look_for_strays(struct export_job *j, struct export *e, const char *base)
{
	const struct export_unit *wanted = json_is_object(json_object_get(j->answer, base)) ? find_unit(e, base) : NULL;
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(extensions) && r == 0; i++) {
		char name[NAME_ROOM];
		bool ours;

		snprintf(name, sizeof(name), "%s%s", base, extensions[i]);
		if (wanted && !strcmp(wanted->name, name))
			continue;
		r = export_is_ours(e, name, &ours);
		if (r == 0)
			r = tell_stray(j, base, wanted, name, ours || memory_has_below(j->memory, name));
		else if (r == -ENOENT)
			r = 0;
	}
	if (r == 0 && folder_has_old(&j->folder, base)) {
		j->partial = true;
		if (export_tell_once(j, FOLDER_OLD))
			log_msg("%s/" FOLDER_OLD "%s: export had it at %s, where another made one; move it away", j->folder.path, base, base);
	}
	return r;
}

static int after(struct export_job *j, struct export *e)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bases) && r == 0; i++)
		if (!json_is_false(json_object_get(j->answer, bases[i])))
			r = look_for_strays(j, e, bases[i]);
	return r;
}

const struct export_layout export_layout_pair = { .name = "pair", .fill = fill, .keep = keep, .after = after };
