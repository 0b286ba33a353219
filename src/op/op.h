/* Operations: what a command, the control socket or a control file asks for.
 *
 * An operation takes a JSON object of arguments and gives a JSON object; it
 * runs in the process that has the store open, which is the daemon while the
 * store is mounted and the command itself otherwise. */
#ifndef EXPFS_OP_H
#define EXPFS_OP_H

#include <jansson.h>

#include "exp/expfs.h"

enum op_exit { OP_DONE = 0, OP_NO = 1, OP_USAGE = 2, OP_FAILED = 3 };

/* Who asks: an operation that takes long looks now and then whether its answer
 * is still wanted, and gives up if not. */
struct op_caller {
	bool (*has_gone)(void *arg); /* NULL: it waits as long as it takes */
	void *arg;
	uid_t uid; /* root or the owner of the store, to whom is what he makes */
	gid_t gid;
};

/* Has he gone? caller is a struct op_caller: for what asks now and then whether to stop. */
static inline bool op_is_unwanted(void *caller)
{
	const struct op_caller *c = caller;

	return c->has_gone && c->has_gone(c->arg);
}

/* Runs the operation of that name. *ret is a new reference; where the exit
 * status is OP_USAGE or OP_FAILED it is {"error": "thing: reason; what to do"}. */
enum op_exit op_run(struct expfs *ex, const struct op_caller *caller, const char *name, const json_t *args,
		    json_t **ret);

/* op/status.c: {"path": absolute path inside the mount or absent} → the object
 * of `expfs status --json` (spec section 8); "run" of a branch whose run was removed is null.
 * The view of a branch stands for its run. OP_NO: it is another view; {"error"} says so. */
enum op_exit op_status(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* op/commit.c: {"branch": name, or "path": of anything in a run} → {"branch", "hash", "committed": bool: something was
 * pending}. OP_NO: there is no such branch, or nothing in it makes an experiment; {"error"} says so. */
enum op_exit op_commit(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* op/load.c: {"hash": HASH[@STEP], "branch" or "path"} → {"run": path, "hash", "checkpoint": path or null, "step": n or
 * null, "changed": files that came or went}. OP_NO: it is not there, {"error"} says so.
 * branch: {"new": name, "from": HASH or BRANCH[@STEP], or {"path", "n"} (op/load_from.h)} → the same. */
enum op_exit op_load(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);
enum op_exit op_branch(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* op/log.c: {"branch": name, or "path", or neither: all} → as of experiments_log() (op/experiments.h). OP_NO: it is not
 * there, {"error"} says so. */
enum op_exit op_log(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* op/show.c: {"hash": the begin of one, or with "step" a checkpoint of it, or "path" and "n": version or 0: the last
 * one, or "selection"} → {"selection", "others"} (selection_ledger()), or {"experiment": as of experiments_entry(), with
 * "branches", "head_of", "children": [hash], "HP", "MODEL", "DATA": digest where there is one, "files": {"HP": [{"path",
 * "found": path}], …}}; or of a path {"path", "role", "directory": bool, "there": bool, "held": bool, "version",
 * "versions": count, "last": is it the last one, "mtime", "size", "complete", "step": n or null, "digest": hex or null,
 * "experiment": hash or null, "branch": name or null, "selections": as of selection_list_of()}. OP_NO: nothing is known
 * of it, {"error"} says so. */
enum op_exit op_show(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* op/history.c: {"path"} → {"path", "named": {"path" or "path_hex", "n"} where a "selection" or a path in a view history/ named
 * one of the versions, "role", "there": bool, "versions": [{"n", "mtime": text, "size", "mode", "uid", "gid",
 * "directory": bool, "complete": bool, "step": n or null, "held": bool, "digest": hex or null, "found": path}]}, the
 * oldest first. OP_NO: nothing is known of the path, {"error"} says so. */
enum op_exit op_history(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* op/forget.c: {"path", "n": number, or absent: all that nothing needs} → {"path", "forgotten": [n], "kept": [{"n",
 * "why"}], "freed": bytes}. OP_NO: it is not known, or needed; {"error"} says so; of all that are needed with the rest. */
enum op_exit op_forget(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* op/signal.c: {"branch": name, or "path": any path of its run} → {"branch", "run", "curves": [{"name", "points": [[step,
 * value]]}]}, by name and step; with "name" of that curve alone. With {"step": n, "values": [{"name", "value": text}]} these
 * are recorded → {"branch", "run", "step", "recorded": n}. OP_NO: there is no such branch, or curve; {"error"} says so. */
enum op_exit op_signal(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* op/report.c: {} → as of report_json() (op/report.h): what `expfs report` makes its page of. */
enum op_exit op_report(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* A version is named by {"path", "n": version or 0: the last complete one}, or {"hash", "step"}, or {"selection": text, with
 * a path that counts where it is there}. */

/* op/verify.c: {what names a version, and "against": likewise, or {"file": absolute path outside of the store}, or
 * absent: the first version under its label} → {"path", "version", "held": does the path hold that, "answer": ACCEPT,
 * RECOVER, RECAPTURE, RERUN or HOLD, "exit": that of the command, "why": or null, "reference": {"path", "version",
 * "step", "epoch", "label": what is wrong with these or null}, {"file"} or null, "model" and "beside": {"equal", "tied",
 * "content", "type", "shape", "missing", "extra", "untold": tensors}, "different": [{"name", "difference"}], "holds":
 * [version as reference], "part_of": likewise, "instead": likewise or null, "control": likewise, null: one bit was
 * changed, "control_differs": tensors}. OP_NO: nothing is known of a path, {"error"} says so. */
enum op_exit op_verify(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* op/select.c: {what names a version, "name", "label": step or absent: its own, "metric": {"name", "value": text}, "against": as of
 * verify, "source", "software": {name: version}} → {"selection": as of selection_json() (op/selection.h), "superseded": likewise, what had the name before, or null}; where it is not
 * the same as "against" the answer of verify, with "exit". OP_NO: it is not known, or not whole; {"error"} says so.
 * decide: {"selection", "decision", "by", "note"} → {"selection", "name", "branch", "decision", "by", "note", "time"} */
enum op_exit op_select(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);
enum op_exit op_decide(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* op/diff.c: {"a": what names a version, "b": likewise} → {"a": {"path", "version"}, "b", "role", and of checkpoints
 * "tensors": [{"name", "model": bool, "difference", "a": {"type", "shape"} or null, "b", "elements", "changed", "max",
 * "cosine": or null}], "counts": {"equal", "tied", "content", "type", "shape", "added", "removed", "untold"}; of
 * configurations "keys": [{"key", "a": JSON text or null, "a_type", "b", "b_type"}]; of data snapshots "ids": {"added":
 * [id], "removed", "changed", "n_added", "n_removed", "n_changed"}}. OP_NO: nothing is known of a path, or it cannot be
 * read; {"error"} says so. */
enum op_exit op_diff(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* op/export.c: {"branch": name, or "path": of a directory} → {"branch": name or null, "removed": bool, "dir": {a path}, "mount": where
 * the store is mounted or null, "latest": what a training goes on from (exp/resume.h), {a path, "n", "version": id, "directory": bool, "step", "mtime": ns, "mode", "files":
 * [{a path below it, "size", "mtime", "mode", "object", "digest": or null}]} or null, "best": likewise}. OP_NO: it is not there,
 * {"error"} says so. A path is as of reply_put_path().
 * list: {"path"} → {"entries": [{a path, "mode", "size", "mtime", "ctime", "ino", "nlink", "object", "role", "digest": or null,
 * "run": bool, "complete": bool of a file of weights, "target" or "target_hex" of a link}]} of that directory. OP_NO: there is none.
 * versions: {"path"} → {a path, "versions": [{"n", "object", "size", "mtime": ns, "mode", "digest": or null}]}, the complete ones of
 * a file, the last one first. OP_NO: nothing is known of it.
 * nearest: {"branch", "step"} → {a path, "version": n, "directory": bool, "step", "experiment": hash or ""} of the branch's checkpoint
 * nearest to that. OP_NO: there is none.
 * known: {"size", "digest"} → {"known": bool}: does the store have that content? */
enum op_exit op_export(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);
enum op_exit op_list(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);
enum op_exit op_versions(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);
enum op_exit op_nearest(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);
enum op_exit op_known(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* op/du.c: {"paths": [{"path"}]} → {"entries": [{"path", "kind", "files", "contents", "raw", "unique", "stored", "history", "own"}],
 * "total": likewise} (exp/space.h), the largest first. Of one directory, or without paths of the top, an entry each for the
 * directories in it ("kind": "path"), for its own files ("files") and for directories that are gone ("removed"); else for the
 * paths. OP_NO: one is not there and never was; {"error"} says so. */
enum op_exit op_du(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* op/fsck.c: {"repair": bool} → {"clean": bool, "problems": [{"kind", "path",
 * "text", "repaired"}], "found": n, "left": n, "objects": n, "inodes": n, "bytes":
 * n}; found and left (not repaired) count also what is not listed. OP_NO: damage
 * found (and, with repair, some of it is left). */
enum op_exit op_fsck(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);

/* The same of a store that expfs_open() says is damaged (-EUCLEAN), which nobody has open. */
enum op_exit op_fsck_damaged(const char *store, const char *who, const json_t *args, json_t **ret);

#endif
