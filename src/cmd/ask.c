#include "cmd/ask.h"

#include "cmd/client.h"
#include "cmd/cmd.h"
#include "op/reply.h"

enum op_exit ask_options(struct ask *a, int argc, char **argv, const char *name, const char **ret)
{
	const struct cmd_option options[] = {
		{ "store", .value = &a->store }, { "json", .flag = &a->json }, { name, .value = ret }, { NULL }
	};

	a->args = json_object();
	return cmd_options(argc, argv, options);
}

enum op_exit ask_path(struct ask *a, const char *path, enum target_where where)
{
	enum op_exit exit = target_open(a->command, path, a->store, where, &a->target);

	if (exit != OP_DONE || !a->target.path)
		return exit;
	return reply_put_path(a->args, a->target.path) < 0 ? OP_FAILED : OP_DONE;
}

enum op_exit ask_branch(struct ask *a, const char *operand)
{
	return target_open_branch(a->command, operand, a->store, a->args, &a->target);
}

enum op_exit ask_run(struct ask *a, const char *op)
{
	return client_run(a->target.store, op, a->args, &a->answer);
}

enum op_exit ask_print(const struct ask *a, enum op_exit exit, ask_print_fn print)
{
	if (exit == OP_NO)
		cmd_say_no(a->answer);
	if (exit != OP_DONE)
		return exit;
	if (!a->json)
		return print(a->answer);
	cmd_print_json(a->answer);
	return exit;
}

void ask_free(struct ask *a)
{
	target_free(&a->target);
	json_decref(a->args);
	json_decref(a->answer);
}
