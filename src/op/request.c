#include "op/request.h"

#include <string.h>

char *request_answer(struct expfs *ex, const struct op_caller *caller, const char *line, size_t len, size_t *ret_len)
{
	json_t *in = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL), *args = NULL, *out, *result = NULL;
	enum op_exit exit = OP_USAGE;
	const char *op;
	char *text;

	if (in && json_unpack(in, "{s:s, s?o}", "op", &op, "args", &args) == 0)
		exit = op_run(ex, caller, op, args, &result);
	else
		result = json_pack("{s:s}", "error", "no request");
	out = result ? json_pack("{s:i, s:o}", "exit", exit, "result", result) : NULL;
	text = out ? json_dumps(out, JSON_COMPACT) : NULL;
	json_decref(out);
	json_decref(in);
	if (!text)
		return NULL;
	*ret_len = strlen(text) + 1;
	text[*ret_len - 1] = '\n'; /* in place of its NUL */
	return text;
}
