#include <string.h>

#include "exp/evidence.h"
#include "exp/experiment.h"
#include "format/metrics.h"
#include "op/reply.h"
#include "op/selection.h"
#include "op/verify.h"
#include "util/advice.h"

#define SOFTWARE_MAX 32

/* What is asked for, in bounds. */
static enum op_exit check_text(const char *what, const char *text, json_t **ret)
{
	const char *fault = text ? selection_line_fault(text) : NULL;

	return fault ? reply_error(ret, OP_USAGE, "select: %s %s", what, fault) : OP_DONE;
}

static enum op_exit check_software(const json_t *software, json_t **ret)
{
	enum op_exit exit = OP_DONE;
	const char *name;
	json_t *version;

	if (json_object_size(software) > SOFTWARE_MAX)
		return reply_error(ret, OP_USAGE, "select: more than %d software versions; name those that matter", SOFTWARE_MAX);
	json_object_foreach ((json_t *)(uintptr_t)software, name, version) {
		if (!*name || !json_is_string(version))
			return reply_error(ret, OP_USAGE, "select: software is NAME=VERSION; see: expfs help select");
		if (exit == OP_DONE)
			exit = check_text("software", name, ret);
		if (exit == OP_DONE)
			exit = check_text("software", json_string_value(version), ret);
	}
	return exit;
}

static enum op_exit take_metric(const json_t *metric, json_t *record, json_t **ret)
{
	const char *name = json_string_value(json_object_get(metric, "name"));
	const char *text = json_string_value(json_object_get(metric, "value"));
	double value;

	if (!metric)
		return json_object_set_new(record, "metric", json_null()) < 0 ? OP_FAILED : OP_DONE;
	if (!name || !*name || selection_line_fault(name))
		return reply_error(ret, OP_USAGE, "select: a metric is NAME=VALUE; see: expfs help select");
	if (!text || !metrics_number(text, &value))
		return reply_error(ret, OP_USAGE, "%s=%s: the value is no number; give one, or inf or nan", name, text ? text : "");
	return json_object_set_new(record, "metric", json_pack("{s:s, s:o}", "name", name, "value", reply_number(value))) < 0 ?
		       OP_FAILED : OP_DONE;
}

static json_t *text_or_null(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

static json_t *time_or_null(int64_t ns)
{
	return ns ? reply_time(ns) : json_null();
}

static enum op_exit take_given(const json_t *args, const char *name, json_t *record, json_t **ret)
{
	const char *source = json_string_value(json_object_get(args, "source")), *fault = selection_name_fault(name);
	const json_t *software = json_object_get(args, "software"), *step = json_object_get(args, "label");
	enum op_exit exit = fault ? reply_error(ret, OP_USAGE, "%s: %s", name, fault) : check_text("the source commit", source, ret);

	if (exit == OP_DONE && step && (!json_is_integer(step) || json_integer_value(step) < 0))
		exit = reply_error(ret, OP_USAGE, "select: a step is a number from 0; see: expfs help select");
	if (exit == OP_DONE)
		exit = check_software(software, ret);
	if (exit == OP_DONE)
		exit = take_metric(json_object_get(args, "metric"), record, ret);
	if (exit != OP_DONE)
		return exit;
	json_object_set_new(record, "source", text_or_null(source));
	return json_object_set_new(record, "software", software ? json_deep_copy(software) : json_object()) < 0 ? OP_FAILED : OP_DONE;
}

static int experiment_hash(struct expfs *ex, const struct version_row *v, struct experiment_row *ret)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = v->experiment ? experiment_get(db, v->experiment, ret) : -ENOENT;

	return r == -ENOENT ? 0 : r;
}

static int take_found(struct expfs *ex, const char *path, const struct version_row *v, const json_t *label, const struct evidence *e,
		      json_t *record)
{
	struct experiment_row experiment = { 0 };
	int r = experiment_hash(ex, v, &experiment);

	if (r < 0)
		return r;
	json_object_set_new(record, "path", reply_path(path));
	json_object_set_new(record, "n", json_integer((json_int_t)v->n));
	json_object_set_new(record, "step", label ? json_integer(json_integer_value(label)) : v->step != NO_STEP ?
						 json_integer(v->step) : json_null());
	json_object_set_new(record, "captured_at", time_or_null(e->captured_at));
	json_object_set_new(record, "completed_at", time_or_null(e->completed_at));
	json_object_set_new(record, "capture", text_or_null(e->capture));
	json_object_set_new(record, "sha256", text_or_null(e->sha256));
	json_object_set_new(record, "model", text_or_null(e->model));
	json_object_set_new(record, "tensors", text_or_null(e->tensors));
	return json_object_set_new(record, "experiment", text_or_null(experiment.hash)) < 0 ? -ENOMEM : 0;
}

static const char *reason(int r)
{
	return r == -EOPNOTSUPP ? "is changed in place, as files with large holes are, and cannot be frozen; copy it and select the copy" :
	       r == -ESTALE	? "was let go meanwhile; see: expfs history" :
	       r == -ETXTBSY	? "is open still in a program that writes it, and may not be whole; select it when that has closed it" :
	       r == -E2BIG	? "what is given with it makes a record of more than 16 KiB" :
				  selection_put_fault(r);
}

static enum op_exit record(struct expfs *ex, const struct op_caller *caller, const json_t *args, const char *path,
			   const struct version_row *v, struct ledger_row *row, json_t *record, json_t **ret)
{
	_cleanup_evidence_ struct evidence e = { 0 };
	json_t *answer = NULL, *superseded = NULL;
	int r = evidence_find(ex, v, op_is_unwanted, (void *)(uintptr_t)caller, &e);

	if (r == 0)
		r = take_found(ex, path, v, json_object_get(args, "label"), &e, record);
	if (r == 0) {
		row->record = json_dumps(record, JSON_COMPACT);
		r = row->record ? selection_put(ex, v, e.objects.v, e.objects.n, row) : -ENOMEM;
	}
	if (r == 0)
		r = selection_superseded(ex, row, &superseded);
	if (r == 0)
		r = selection_json(ex, row, &answer);
	if (r < 0) {
		json_decref(superseded);
		return reply_error(ret, r == -E2BIG ? OP_USAGE : r == -EOPNOTSUPP || r == -ESTALE || r == -ETXTBSY ? OP_NO : OP_FAILED, "/%s: %s", path,
				   reason(r));
	}
	*ret = json_pack("{s:o, s:o}", "selection", answer, "superseded", superseded);
	return *ret ? OP_DONE : OP_FAILED;
}

/* 1: there is nothing to hold it against, or the tensors are the same; 0: they are not, and *ret is the answer of verify. */
static enum op_exit hold_against(struct expfs *ex, const struct op_caller *caller, const json_t *args, const char *path,
				 const struct version_row *v, bool *ret_same, json_t **ret)
{
	const json_t *against = json_object_get(args, "against");
	struct verify question = { .candidate = *v, .file = -1, .step = NO_STEP };
	enum op_exit exit = against ? verify_run(ex, caller, path, args, &question, ret) : OP_DONE;

	*ret_same = exit == OP_DONE && (!against || json_integer_value(json_object_get(*ret, "exit")) == 0);
	if (*ret_same && against) {
		json_decref(*ret);
		*ret = NULL;
	}
	return exit;
}

static const char *name_of(const json_t *args)
{
	const json_t *name = json_object_get(args, "name");

	return !name ? "best" : json_is_string(name) ? json_string_value(name) : "";
}

enum op_exit op_select(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	const char *name = name_of(args);
	_cleanup_ledger_row_ struct ledger_row row = { 0 };
	_cleanup_json_ json_t *to = json_object();
	_cleanup_versions_selection_ struct versions_selection selection = { 0 };
	_cleanup_free_ char *path = NULL;
	struct version_row v;
	bool same = false;
	enum op_exit exit = take_given(args, name, to, ret);
	int r = exit == OP_DONE ? experiment_settle(ex, 0) : 0;

	if (r < 0)
		return reply_error(ret, OP_FAILED, "select: %s", advice(r));
	strncat(row.name, name, LEDGER_NAME);
	if (exit == OP_DONE)
		exit = verify_candidate(ex, args, &path, &v, &selection, ret);
	if (exit == OP_DONE && v.complete != 1)
		exit = reply_error(ret, OP_NO, "/%s: is not complete, and cannot be selected; see: expfs status", path);
	if (exit == OP_DONE)
		exit = hold_against(ex, caller, args, path, &v, &same, ret);
	return exit == OP_DONE && same ? record(ex, caller, args, path, &v, &row, to, ret) : exit;
}
