#include <string.h>

#include "op/reply.h"
#include "op/selection.h"
#include "util/advice.h"

static bool is_decision(const char *text)
{
	static const char *const decisions[] = { "ACCEPT", "RECOVER", "RECAPTURE", "RERUN", "HOLD" };

	for (size_t i = 0; text && i < ARRAY_SIZE(decisions); i++)
		if (!strcmp(text, decisions[i]))
			return true;
	return false;
}

static enum op_exit check(const json_t *args, json_t **ret)
{
	const char *decision = json_string_value(json_object_get(args, "decision"));
	const char *by = json_string_value(json_object_get(args, "by")), *note = json_string_value(json_object_get(args, "note"));
	const char *fault;

	if (!json_is_string(json_object_get(args, "selection")))
		return reply_error(ret, OP_USAGE, "decide: no selection is given; see: expfs help decide");
	if (!is_decision(decision))
		return reply_error(ret, OP_USAGE, "%s: a decision is ACCEPT, RECOVER, RECAPTURE, RERUN or HOLD", decision ? decision : "decide");
	fault = !by || !*by ? "is not given" : selection_line_fault(by);
	if (fault)
		return reply_error(ret, OP_USAGE, "decide: the name of who decides %s; give it with --by", fault);
	fault = note ? selection_line_fault(note) : NULL;
	return fault ? reply_error(ret, OP_USAGE, "decide: the note %s", fault) : OP_DONE;
}

static enum op_exit answer(struct expfs *ex, const struct ledger_row *row, json_t *record, json_t **ret)
{
	_cleanup_free_ char *branch = NULL;
	char id[SELECTION_TEXT];
	int r = selection_branch(ex, row->run, &branch);

	if (r < 0)
		return reply_error(ret, OP_FAILED, "%s: decide: %s", row->name, advice(r));
	selection_text(row->of, id);
	*ret = json_pack("{s:s, s:o, s:o, s:o}", "selection", id, "name", reply_text(row->name), "branch", reply_text(branch), "time",
			 reply_time(row->time));
	return !*ret || json_object_update(*ret, record) < 0 ? OP_FAILED : OP_DONE;
}

enum op_exit op_decide(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	_cleanup_ledger_row_ struct ledger_row selection = { 0 };
	_cleanup_ledger_row_ struct ledger_row row = { 0 };
	_cleanup_json_ json_t *record = NULL;
	json_t *note = json_object_get(args, "note");
	bool found = false;
	enum op_exit exit = check(args, ret);
	int r;

	if (exit == OP_DONE)
		exit = selection_named(ex, args, &selection, &found, ret);
	if (exit != OP_DONE)
		return exit;
	record = json_pack("{s:O, s:O, s:o}", "decision", json_object_get(args, "decision"), "by", json_object_get(args, "by"), "note",
			   json_is_string(note) ? json_incref(note) : json_null());
	row.record = record ? json_dumps(record, JSON_COMPACT) : NULL;
	r = row.record ? selection_decide(ex, &selection, &row) : -ENOMEM;
	if (r < 0)
		return reply_error(ret, OP_FAILED, "%s: decide: %s", selection.name, selection_put_fault(r));
	return answer(ex, &row, record, ret);
}
