#include "exp/branch_line.h"

int branch_settle(struct expfs *ex, const struct branch *b)
{
	int r = experiment_settle(ex, b->id);

	return r < 0 || !b->run ? r : experiment_settle(ex, b->run);
}

int branch_head(struct expfs *ex, const struct branch *b, struct experiment_head *ret)
{
	struct experiment_head run;
	int r = experiment_head(ex, b->id, ret), of_run;

	if (!b->run || (r < 0 && r != -ENOENT))
		return r;
	of_run = experiment_head(ex, b->run, &run);
	if (of_run < 0)
		return of_run == -ENOENT ? r : of_run;
	if (r < 0 || run.line.at > ret->line.at)
		*ret = run;
	return 0;
}

int branch_pending(struct expfs *ex, const struct branch *b, struct pending *ret)
{
	_cleanup_pending_ struct pending p = { 0 };
	int r = b->run ? experiment_pending(ex, b->run, &p) : 0;

	if (r == 0 && !*p.hash && !p.fault)
		return experiment_pending(ex, b->id, ret);
	*ret = p;
	p = (struct pending){ 0 };
	return r;
}

int branch_list_lines(struct expfs *ex, const struct branch *b, line_fn f, void *arg)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	int r = line_list(db, b->id, f, arg);

	return r < 0 || !b->run ? r : line_list(db, b->run, f, arg);
}
