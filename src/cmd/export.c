#include "cmd/export.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/place.h"
#include "cmd/shell.h"
#include "op/reply.h"
#include "sync/portable.h"
#include "util/hex.h"
#include "util/human.h"
#include "util/log.h"
#include "util/progress.h"

static const struct export_layout *const layouts[] = { &export_layout_pair, &export_layout_plain, &export_layout_weightslab };

static volatile sig_atomic_t signals;

static void count_signal(int sig)
{
	signals++;
}

int export_signals(void)
{
	return signals;
}

static bool is_stopped(void)
{
	return signals > 0;
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = count_signal }; /* without SA_RESTART: a sleep ends */

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

static bool is_known(void *arg, uint64_t size, const uint8_t digest[DIGEST_SIZE])
{
	_cleanup_json_ json_t *args = NULL, *answer = NULL;
	char hex[2 * DIGEST_SIZE + 1];

	hex_text(digest, DIGEST_SIZE, hex);
	args = json_pack("{s:I, s:s}", "size", (json_int_t)size, "digest", hex);
	return export_ask(arg, "known", args, &answer) == OP_DONE && json_is_true(json_object_get(answer, "known"));
}

/* Which version it is that is in the folder now. */
static void report_version(const struct export_job *j, const char *name)
{
	const json_t *c = json_object_get(j->answer, name);
	_cleanup_free_ char *path = json_is_object(c) ? reply_get_path(c) : NULL;

	json_object_set_new(j->report, name, path ? json_pack("{s:o, s:O, s:O}", "path", reply_path(path), "n", json_object_get(c, "n"),
							      "step", json_object_get(c, "step")) : json_null());
}

bool export_tell_once(struct export_job *j, const char *name)
{
	bool first = !json_object_get(j->told, name);

	json_object_set_new(j->told, name, json_true());
	return first;
}

int export_report_file(struct export_job *j, const char *name, const char *action)
{
	json_t *file = json_pack("{s:s, s:i, s:s}", "name", name, "bytes", 0, "action", action);

	return json_array_append_new(json_object_get(j->report, "files"), file) < 0 ? -ENOMEM : 0;
}

static void report_files(const struct export *e, json_t *report)
{
	static const char *const actions[] = { "unchanged", "touched", "written", "refused" };
	json_t *files = json_array();
	json_t *name;
	size_t i;

	for (size_t k = 0; k < e->n; k++) {
		uint64_t bytes = 0;

		for (size_t m = 0; m < e->units[k].n && (e->units[k].kind == EXPORT_FILE || e->units[k].kind == EXPORT_SET); m++)
			bytes += e->units[k].files[m].size;
		json_array_append_new(files, json_pack("{s:s, s:I, s:s}", "name", e->units[k].name, "bytes", (json_int_t)bytes, "action",
						       actions[e->units[k].action]));
	}
	json_array_foreach (e->removed, i, name)
		json_array_append_new(files, json_pack("{s:O, s:i, s:s}", "name", name, "bytes", 0, "action", "removed"));
	json_object_set_new(report, "files", files);
	json_object_set_new(report, "written", json_integer((json_int_t)e->written));
	json_object_set_new(report, "needed", json_integer((json_int_t)e->needed));
}

/* Are there as many bytes as are to be written, beside what is there? */
static enum op_exit check_space(struct export_job *j, const struct export *e, int *ret_errno)
{
	char needed[16], room[16];
	uint64_t space;

	json_object_set_new(j->report, "free", json_null());
	if (folder_free(&j->folder, &space) < 0)
		return OP_DONE;
	json_object_set_new(j->report, "free", json_integer((json_int_t)space));
	if (e->needed <= space)
		return OP_DONE;
	human_bytes((double)e->needed, needed);
	human_bytes((double)space, room);
	*ret_errno = ENOSPC;
	if (!j->quiet)
		log_msg("%s: %s are to be written and %s are free; make room, what was there before is as it was", j->folder.path, needed, room);
	return OP_FAILED;
}

static enum op_exit say_refused(const struct export_job *j, const struct export *e)
{
	_cleanup_free_ char *command = shell_import(j->folder.path, j->point);

	for (size_t i = 0; i < e->n; i++)
		if (e->units[i].action == EXPORT_REFUSED && folder_has_old(&j->folder, e->units[i].name))
			log_msg("%s/%s: another made it while an export was killed; what export had there is " FOLDER_OLD "%s; move one of "
				"both away", j->folder.path, e->units[i].name, e->units[i].name);
		else if (e->units[i].action == EXPORT_REFUSED)
			log_msg("%s/%s: export did not put this there, or another changed it, and the store does not have it; move it away%s%s",
				j->folder.path, e->units[i].name, command ? ", or bring it in: " : "", command ? command : "");
	return OP_FAILED;
}

static const char *reason(int r)
{
	return r == -EBUSY    ? "was changed while the export went on; export again" :
	       r == -EEXIST || r == -ENOTEMPTY ? "was made by another while the export went on; export again" :
	       r == -EBADMSG  ? "what is read from the store is not what was stored; see: expfs fsck" :
	       r == -EXDEV    ? "does not lie in what is mounted here; go to the mount of the whole store" :
	       r == -ENODEV   ? "another file system is there than before; mount the former again" :
	       r == -EWOULDBLOCK ? "another export is at work there; end it" :
	       r == -ECANCELED ? "stopped; what was there before is as it was" :
				strerror(-r);
}

static enum op_exit say_failed(const struct export_job *j, const struct export *e, int r)
{
	if (!j->quiet)
		log_msg("%s%s%s: %s", j->folder.path, e->at ? "/" : "", e->at ? e->at : "", reason(r));
	return OP_FAILED;
}

static enum op_exit run_pass(struct export_job *j, struct export *e, int *ret_errno)
{
	size_t together = 0;
	enum op_exit exit = export_claim(j);
	int r;

	if (exit == OP_DONE)
		exit = j->layout->fill(j, e, &together);
	if (exit != OP_DONE)
		return exit;
	r = export_check(e);
	if (r == 0 && e->refused)
		return say_refused(j, e);
	if (r == 0) {
		exit = check_space(j, e, ret_errno);
		if (exit != OP_DONE)
			return exit;
		r = export_run(e, together);
	}
	report_files(e, j->report);
	if (r == 0 && j->layout->after)
		r = j->layout->after(j, e);
	report_version(j, "latest");
	report_version(j, "best");
	json_object_set_new(j->report, "whole", json_boolean(!j->partial));
	*ret_errno = -r;
	return r < 0 ? say_failed(j, e, r) : OP_DONE;
}

enum op_exit export_pass(struct export_job *j, bool (*stop)(void), int *ret_errno)
{
	struct export e = { .source = &j->source, .folder = &j->folder, .memory = j->memory, .known = is_known, .keep = j->layout->keep, .arg = j, .stop = stop };
	enum op_exit exit;
	int r;

	*ret_errno = 0;
	j->partial = false;
	json_decref(j->report);
	j->report = json_pack("{s:o, s:o, s:[]}", "time", reply_time(now_ns()), "dest", reply_text(j->folder.path), "mapped");
	r = folder_follow(&j->folder);
	if (r < 0) {
		*ret_errno = -r;
		exit = say_failed(j, &e, r);
	} else {
		exit = j->report ? run_pass(j, &e, ret_errno) : OP_FAILED;
	}
	export_free(&e);
	if (exit == OP_DONE)
		export_print(j);
	return exit;
}

/* It must not lie in what is exported. */
static enum op_exit check_dest(const struct export_job *j)
{
	_cleanup_free_ char *store = realpath(j->a.target.store, NULL);
	_cleanup_place_ struct place *p = NULL;
	size_t len = store ? strlen(store) : 0;
	int r = place_open(j->folder.path, &p);

	if (r == 0 && place_is_inside(p) && store && !strcmp(p->source, store))
		log_msg("%s: lies in the mount of the store that is exported; name a place outside of it", j->dest);
	else if (store && !strncmp(j->folder.path, store, len) && (!j->folder.path[len] || j->folder.path[len] == '/'))
		log_msg("%s: lies in the store itself; name a place outside of it", j->dest);
	else
		return OP_DONE;
	return OP_USAGE;
}

static enum op_exit open_dest(struct export_job *j)
{
	int r = folder_open(j->dest, &j->folder);
	enum op_exit exit;
	long pid;

	if (r < 0) {
		log_msg("%s: %s", j->dest, r == -ENOENT	 ? "the directory above it is not there; make it first" :
					   r == -ENOTDIR ? "is a file, or lies in one; name a directory" :
							   strerror(-r));
		return OP_FAILED;
	}
	exit = check_dest(j);
	if (exit != OP_DONE)
		return exit;
	r = memory_open(j->a.target.store, j->folder.path, &j->memory, &pid);
	if (r == -EWOULDBLOCK)
		log_msg("%s: process %ld is exporting there; wait for it, or end it", j->folder.path, pid);
	else if (r < 0)
		log_msg("%s: %s", j->folder.path, strerror(-r));
	else if ((r = folder_lock(&j->folder)) < 0)
		log_msg("%s: another store is exported there, or by another way; wait for that, or end it", j->folder.path);
	return r < 0 ? OP_FAILED : OP_DONE;
}

/* 600s, 10m, 1h; -1: it is none. */
static json_int_t seconds(const char *text)
{
	static const struct {
		const char *unit;
		json_int_t s;
	} units[] = { { "s", 1 }, { "m", 60 }, { "h", 3600 } };
	size_t digits = strspn(text, "0123456789");

	for (size_t i = 0; i < ARRAY_SIZE(units) && digits > 0 && digits < 7; i++)
		if (!strcmp(text + digits, units[i].unit) && atol(text) > 0)
			return atol(text) * units[i].s;
	return -1;
}

static enum op_exit run_all(struct export_job *j)
{
	json_int_t every = j->every ? seconds(j->every) : 0, steps = j->every_steps ? operand_step(j->every_steps) : 0;
	enum op_exit exit = open_dest(j);
	int why;

	if (exit == OP_DONE)
		exit = export_store_open(j);
	catch_signals();
	if (exit == OP_DONE && j->watch)
		exit = export_watch(j, every, steps);
	else if (exit == OP_DONE) {
		exit = export_ask_answer(j);
		if (exit == OP_DONE)
			exit = export_pass(j, is_stopped, &why);
	}
	if (exit == OP_DONE && j->partial)
		exit = OP_FAILED;
	export_store_close(j, &exit);
	return exit;
}

static enum op_exit check_options(struct export_job *j)
{
	const char *name = j->layout_name ? j->layout_name : "pair";

	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (!strcmp(name, layouts[i]->name))
			j->layout = layouts[i];
	if (!j->layout)
		log_msg("%s: is no layout; there are pair, plain, weightslab; see: expfs help export", name);
	else if (j->files && !export_files_are_known(j->files))
		log_msg("%s: names other files than config, metrics, model, data, log; see: expfs help export", j->files);
	else if (j->files && j->layout != &export_layout_pair)
		log_msg("export: --files is for the layout pair; others have all that belongs to them");
	else if ((j->every || j->every_steps) && !j->watch)
		log_msg("export: --every and --every-steps are for --watch");
	else if (j->every && seconds(j->every) < 0)
		log_msg("%s: is no time; give it as 600s, 10m or 1h", j->every);
	else if (j->every_steps && operand_step(j->every_steps) <= 0)
		log_msg("%s: is no number of steps", j->every_steps);
	else
		return OP_DONE;
	return OP_USAGE;
}

/* The folder given where the run is to be. */
static bool is_swapped(const struct export_job *j, const char *dir)
{
	_cleanup_place_ struct place *from = NULL, *to = NULL;

	return target_is_path(dir) && target_here(j->a.store) && place_open(j->dest, &to) == 0 && place_is_inside(to) &&
	       (place_open(dir, &from) < 0 || !place_is_inside(from));
}

static int run(int argc, char **argv)
{
	struct export_job j = { .a = { .command = "export" }, .folder = { .fd = -1 } };
	const struct cmd_option options[] = {
		{ "store", .value = &j.a.store }, { "json", .flag = &j.a.json }, { "layout", .value = &j.layout_name },
		{ "files", .value = &j.files }, { "watch", .flag = &j.watch }, { "every", .value = &j.every },
		{ "every-steps", .value = &j.every_steps }, { NULL }
	};
	enum op_exit exit = cmd_options(argc, argv, options);

	if (exit != OP_DONE)
		return exit;
	if (argc - optind != 2)
		return cmd_bad_operands(&cmd_export);
	exit = check_options(&j);
	if (exit != OP_DONE)
		return exit;
	j.dest = argv[optind + 1];
	if (is_swapped(&j, argv[optind])) {
		log_msg("%s: is in a mount, and %s in none; what is exported comes first, and the folder behind it", j.dest, argv[optind]);
		return OP_USAGE;
	}
	progress_enable();
	j.a.args = json_object();
	j.told = json_object();
	exit = ask_branch(&j.a, argv[optind]);
	j.by_branch = json_object_get(j.a.args, "branch");
	if (exit == OP_DONE)
		exit = run_all(&j);
	ask_free(&j.a);
	if (exit != OP_DONE && j.folder.made)
		rmdir(j.folder.path); /* if nothing is in it */
	folder_close(&j.folder);
	if (j.memory)
		memory_free(j.memory);
	json_decref(j.answer);
	json_decref(j.report);
	json_decref(j.told);
	free(j.files_before);
	return exit;
}

const struct command cmd_export = {
	.name = "export",
	.run = run,
	.usage = "BRANCH|DIR DEST [OPTION...] [--store DIR] [--json]",
	.summary = "copy latest and best out",
	.help = "Puts the latest and the best checkpoint of a branch, or of those in a directory,\n"
		"into the folder DEST, as latest.EXT and best.EXT, or latest/ and best/: for\n"
		"Drive, Dropbox, Syncthing, or to resume. Both are written beside, checked,\n"
		"synced, and renamed when both are there, so that a whole pair stays whole.\n"
		"What is unchanged is not written again, and nothing that another put there is\n"
		"replaced or removed. A folder is one run's: another is refused.\n"
		"\n"
		"  --files LIST     more files of the run: config,metrics,model,data,log, or\n"
		"                   none; holds for later exports there\n"
		"  --layout plain   all that is in the directory instead, as it is\n"
		"  --layout weightslab\n"
		"                   a tree that WeightsLab resumes from: a root itself, or one\n"
		"                   made up of a branch, with the checkpoints that it can load\n"
		"  --watch          export again when there is something new, until interrupted\n"
		"                   or the run is removed; not more often than\n"
		"  --every TIME     30s, 10m (if nothing is said) or 1h; or once\n"
		"  --every-steps N  the latest is N steps on\n"
		"  --store DIR      the store, where it is not that of DIR or of this directory\n"
		"  --json           the answer as JSON; with --watch one line a pass\n"
		"\n"
		"Exit status 1: there is no such branch or directory, or no complete checkpoint;\n"
		"3: also if something was told and left out.\n",
};
