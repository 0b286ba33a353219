/* What the report of a store says, collected from what the commands say. */
#ifndef EXPFS_OP_REPORT_H
#define EXPFS_OP_REPORT_H

#include <jansson.h>

#include "exp/branch.h"

/* {"time", "version": of the program, "status": as of status_json(), "experiments": as of experiments_log(), "curves": as of
 * report_curves(), "checkpoints": as of report_checkpoints(), "selections": as of selection_list_all()}, for page_html()
 * (page/page.h). cred: as of status_json(). 0 or -errno. */
int report_json(struct expfs *ex, struct cred *cred, json_t **ret);

/* Branches, those first that came to an experiment last. */
struct report_branches {
	struct branch_list list;
	const struct branch **v;
	size_t n;
};

/* {"branches": [name: those whose curves are told, PAGE_STYLES at most], "more_branches": others with files of metrics,
 * "more_names": metrics that are not told, "list": [{"name", "series": [{"branch": place in branches,
 * "points": [[step, value or "nan" …]]}]}]}: of each curve so many points as can be seen (page/thin.h); the metrics that tell the
 * best checkpoint come first. */
int report_curves(struct expfs *ex, struct cred *cred, const struct report_branches *b, json_t **ret);

/* [{"branch", "count", "list": [{"path", "step": n or null, "time", "size", "stored": bytes that its contents take, shared or
 * not, "complete", "latest", "best", "off": a load left it, "weights": as of labels_summary() or null}]}]: of each branch the
 * last ones that are there, or that its removed run had; by step, the highest first. branches: as of status_json(). */
int report_checkpoints(struct expfs *ex, struct cred *cred, const struct report_branches *b, const json_t *branches,
		       json_t **ret);

#endif
