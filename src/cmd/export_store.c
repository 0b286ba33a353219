/* A store that is mounted is read through the mount, and answers through its daemon. One that nobody has mounted is opened here for
 * as long as the export lasts. */
#include <stdio.h>
#include <string.h>

#include "cmd/client.h"
#include "cmd/cmd.h"
#include "cmd/export.h"
#include "cmd/place.h"
#include "op/reply.h"
#include "util/log.h"

#define PATIENCE_NS 3000000000ll
#define PAUSE_US 50000

/* The mount in which a path was given. */
static int take_target(struct export_job *j)
{
	const struct target *t = &j->a.target;
	size_t root = strlen(t->path) - strlen(t->below);

	while (root > 0 && t->path[root - 1] == '/')
		root--;
	j->point = strdup(t->point);
	j->root = strndup(t->path, root);
	return j->point && j->root ? 0 : -ENOMEM;
}

/* The mount of which the daemon tells, if it can be seen from here. */
static enum op_exit take_mount(struct export_job *j, const char *point)
{
	_cleanup_place_ struct place *p = NULL;

	if (!*point || place_open(point, &p) < 0 || !place_is_mount(p) || strcmp(p->root, "/") != 0) {
		log_msg("%s: is mounted%s%s, which cannot be seen from here; give a path in the mount", j->a.target.store, *point ? " at " : "",
			point);
		return OP_FAILED;
	}
	j->point = strdup(point);
	j->root = strdup("");
	return j->point && j->root ? OP_DONE : OP_FAILED;
}

static enum op_exit open_here(struct export_job *j)
{
	int64_t until = monotonic_ns() + PATIENCE_NS;
	_cleanup_free_ char *who = NULL, *error = NULL;
	int r;

	if (asprintf(&who, "exporting to %s", j->folder.path) < 0)
		return OP_FAILED;
	while ((r = expfs_open(j->a.target.store, who, &j->source.ex, &error)) == -EWOULDBLOCK && monotonic_ns() < until) {
		free(steal(&error));
		usleep(PAUSE_US);
	}
	if (r == 0)
		return OP_DONE;
	log_msg("%s", error ? error : strerror(-r));
	return OP_FAILED;
}

enum op_exit export_store_open(struct export_job *j)
{
	_cleanup_json_ json_t *args = json_object(), *status = NULL;
	enum op_exit exit = OP_DONE;
	int sock;

	if (j->a.target.point) {
		if (take_target(j) < 0)
			return OP_FAILED;
	} else {
		sock = client_connect(j->a.target.store);
		if (sock < 0)
			return open_here(j);
		close(sock);
		exit = client_run(j->a.target.store, "status", args, &status);
		if (exit == OP_DONE)
			exit = take_mount(j, cmd_string(status, "mount"));
	}
	j->source.point = j->point;
	j->source.root = j->root;
	return exit;
}

int export_store_close(struct export_job *j, enum op_exit *exit)
{
	int r = j->source.ex ? expfs_close(j->source.ex) : 0;

	j->source.ex = NULL;
	if (r < 0) {
		log_msg("%s: closing the store: %s", j->a.target.store, strerror(-r));
		*exit = OP_FAILED;
	}
	free(steal(&j->point));
	free(steal(&j->root));
	return r;
}

bool export_store_is_there(const struct export_job *j)
{
	_cleanup_place_ struct place *p = NULL;

	return place_open(j->point, &p) == 0 && place_is_inside(p) && !place_is_dead(p);
}

enum op_exit export_ask(struct export_job *j, const char *op, const json_t *args, json_t **ret)
{
	struct op_caller caller = { .uid = geteuid(), .gid = getegid() };
	enum op_exit exit;

	if (!j->source.ex)
		return client_run(j->a.target.store, op, args, ret);
	exit = op_run(j->source.ex, &caller, op, args, ret);
	if (exit == OP_USAGE || exit == OP_FAILED)
		cmd_say_no(*ret);
	return exit;
}

enum op_exit export_ask_answer(struct export_job *j)
{
	enum op_exit exit;

	json_decref(steal(&j->answer));
	exit = export_ask(j, "export", j->a.args, &j->answer);
	if (exit == OP_NO && j->watch && j->by_branch && j->point)
		log_msg("%s: there is no such branch yet; of a directory the first checkpoint is waited for: make %s/runs/%s, and name that",
			cmd_string(j->a.args, "branch"), j->point, cmd_string(j->a.args, "branch"));
	else if (exit == OP_NO)
		cmd_say_no(j->answer);
	return exit;
}
