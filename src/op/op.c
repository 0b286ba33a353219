#include "op/op.h"

#include <string.h>

#include "op/reply.h"

static const struct {
	const char *name;
	enum op_exit (*run)(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret);
} ops[] = {
	{ "branch", op_branch },
	{ "commit", op_commit },
	{ "decide", op_decide },
	{ "diff", op_diff },
	{ "du", op_du },
	{ "export", op_export },
	{ "forget", op_forget },
	{ "fsck", op_fsck },
	{ "history", op_history },
	{ "known", op_known },
	{ "versions", op_versions },
	{ "nearest", op_nearest },
	{ "list", op_list },
	{ "load", op_load },
	{ "log", op_log },
	{ "report", op_report },
	{ "select", op_select },
	{ "show", op_show },
	{ "signal", op_signal },
	{ "status", op_status },
	{ "verify", op_verify },
};

enum op_exit op_run(struct expfs *ex, const struct op_caller *caller, const char *name, const json_t *args,
		    json_t **ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (!strcmp(name, ops[i].name))
			return ops[i].run(ex, caller, args, ret);
	return reply_error(ret, OP_USAGE, "%s: no such operation; the daemon may be of an older expfs: unmount the store and mount it again", name);
}
