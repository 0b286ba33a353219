#include "config.h"

#include "op/report.h"

#include <string.h>

#include "op/experiments.h"
#include "op/reply.h"
#include "op/selection.h"
#include "op/status.h"

struct place {
	const struct branch *branch;
	uint64_t at; /* number of the change by which it came to its experiment */
};

static int last_first(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	return a->at != b->at ? (a->at > b->at ? -1 : 1) : a->branch < b->branch ? -1 : 1;
}

static int order_branches(struct expfs *ex, struct report_branches *b)
{
	_cleanup_free_ struct place *places = calloc(b->list.n + 1, sizeof(*places));

	b->v = calloc(b->list.n + 1, sizeof(*b->v));
	if (!places || !b->v)
		return -ENOMEM;
	for (size_t i = 0; i < b->list.n; i++) {
		struct experiment_head head = { 0 };
		int r = branch_head(ex, &b->list.v[i], &head);

		if (r < 0 && r != -ENOENT)
			return r;
		places[i] = (struct place){ &b->list.v[i], head.line.at };
	}
	qsort(places, b->list.n, sizeof(*places), last_first);
	for (; b->n < b->list.n; b->n++)
		b->v[b->n] = places[b->n].branch;
	return 0;
}

static void branches_free(struct report_branches *b)
{
	branch_list_free(&b->list);
	free(b->v);
}

static int collect(struct expfs *ex, struct cred *cred, const struct report_branches *b, json_t *to)
{
	const struct experiments e = { .ex = ex, .cred = cred, .branches = b->list.v, .n = b->list.n };
	json_t *status = NULL, *curves = NULL, *checkpoints = NULL, *selections = json_array();
	_cleanup_json_ json_t *log = NULL;
	int r = json_object_set_new(to, "selections", selections) < 0 ? -ENOMEM : status_json(ex, cred, "", &status);

	if (r < 0)
		return r;
	json_object_set_new(to, "status", status);
	r = experiments_log(&e, &log);
	if (r < 0)
		return r;
	json_object_set(to, "experiments", json_object_get(log, "experiments"));
	r = report_curves(ex, cred, b, &curves);
	if (r < 0)
		return r;
	json_object_set_new(to, "curves", curves);
	r = report_checkpoints(ex, cred, b, json_object_get(status, "branches"), &checkpoints);
	if (r < 0)
		return r;
	json_object_set_new(to, "checkpoints", checkpoints);
	return selection_list_all(ex, cred, selections);
}

int report_json(struct expfs *ex, struct cred *cred, json_t **ret)
{
	_cleanup_json_ json_t *to = json_pack("{s:o, s:s}", "time", reply_time(now_ns()), "version", PACKAGE_VERSION);
	_cleanup_(branches_free) struct report_branches b = { 0 };
	int r;

	cred_ask(cred);
	r = to ? branch_list_open(ex, cred, &b.list) : -ENOMEM;
	if (r == 0)
		r = order_branches(ex, &b);
	if (r == 0)
		r = collect(ex, cred, &b, to);
	if (r == 0)
		*ret = steal(&to);
	return r;
}

enum op_exit op_report(struct expfs *ex, const struct op_caller *caller, const json_t *args, json_t **ret)
{
	int r = report_json(ex, NULL, ret);

	return r < 0 ? reply_error(ret, OP_FAILED, "%s: report: %s", store_path(ex->store), strerror(-r)) : OP_DONE;
}
