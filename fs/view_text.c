/* Files of text: status.json of any .expfs/; HEAD, pending, log and manifest.yaml of a branch; log, lineage.json, report.html,
 * stats.json and metrics of all in the top's .expfs/. They say what the commands say (room op), to whom could find the runs by
 * himself. */
#include <stdio.h>
#include <string.h>

#include "exp/path.h"
#include "op/experiments.h"
#include "op/reply.h"
#include "op/report.h"
#include "op/stats.h"
#include "op/status.h"
#include "page/page.h"
#include "view_kind.h"

static int give(char *text, char **ret, size_t *ret_len)
{
	if (!text)
		return -ENOMEM;
	*ret = text;
	*ret_len = strlen(text);
	return 0;
}

static int json_text(const json_t *j, char **ret, size_t *ret_len)
{
	_cleanup_free_ char *text = reply_dump(j, JSON_INDENT(2));
	char *line;

	if (!text || asprintf(&line, "%s\n", text) < 0)
		return -ENOMEM;
	return give(line, ret, ret_len);
}

static int head_text(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len)
{
	char text[EXPERIMENT_HASH + 2] = "";
	struct experiment_head head;
	struct branch b;
	int r = branch_by_id(q->fs->ex, &q->cred, key->part, &b);

	if (r < 0)
		return r;
	r = branch_head(q->fs->ex, &b, &head);
	branch_free(&b);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0)
		strcat(strcpy(text, head.experiment.hash), "\n");
	return give(strdup(text), ret, ret_len);
}

static int pending_text(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len)
{
	char *text = NULL;
	struct branch b;
	int r = branch_by_id(q->fs->ex, &q->cred, key->part, &b);

	if (r < 0)
		return r;
	r = experiments_pending_text(q->fs->ex, &b, &text);
	branch_free(&b);
	return r < 0 ? r : give(text, ret, ret_len);
}

static int make_log(struct view_req *q, const struct branch *branches, size_t n, json_t **ret)
{
	const struct experiments e = { .ex = q->fs->ex, .cred = &q->cred, .branches = branches, .n = n };

	return experiments_log(&e, ret);
}

static int log_of(struct view_req *q, const struct view_key *key, json_t **ret)
{
	struct branch b;
	int r = branch_by_id(q->fs->ex, &q->cred, key->part, &b);

	if (r < 0)
		return r;
	r = make_log(q, &b, 1, ret);
	branch_free(&b);
	return r;
}

static int log_text(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len)
{
	_cleanup_json_ json_t *log = NULL;
	int r = log_of(q, key, &log);

	return r < 0 ? r : give(experiments_text(log), ret, ret_len);
}

static int manifest_text(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len)
{
	_cleanup_json_ json_t *log = NULL;
	int r = log_of(q, key, &log);

	return r < 0 ? r : experiments_manifest(log, ret, ret_len);
}

static int all_log_text(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len)
{
	_cleanup_json_ json_t *log = NULL;
	struct branch_list l;
	int r = branch_list_open(q->fs->ex, &q->cred, &l); /* it is told in the top's directory, not in theirs */

	if (r < 0)
		return r;
	r = make_log(q, l.v, l.n, &log);
	branch_list_free(&l);
	return r < 0 ? r : give(experiments_text(log), ret, ret_len);
}

static int lineage_text(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len)
{
	struct experiments e = { .ex = q->fs->ex, .cred = &q->cred };
	_cleanup_json_ json_t *lineage = NULL;
	struct branch_list l;
	int r = branch_list_open(q->fs->ex, &q->cred, &l);

	if (r < 0)
		return r;
	e.branches = l.v;
	e.n = l.n;
	r = experiments_lineage(&e, &lineage);
	branch_list_free(&l);
	return r < 0 ? r : json_text(lineage, ret, ret_len);
}

static int stats_text(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len)
{
	_cleanup_json_ json_t *stats = NULL;
	int r = stats_json(q->fs->ex, &q->cred, &stats);

	(void)key;
	return r < 0 ? r : json_text(stats, ret, ret_len);
}

static int all_metrics_text(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len)
{
	char *text;
	int r = metrics_text(q->fs->ex, &q->cred, &text);

	(void)key;
	return r < 0 ? r : give(text, ret, ret_len);
}

static int report_text(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len)
{
	_cleanup_json_ json_t *report = NULL;
	int r = report_json(q->fs->ex, &q->cred, &report);

	return r < 0 ? r : page_html(report, ret, ret_len);
}

static int status_text(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len)
{
	_cleanup_json_ json_t *status = NULL;
	_cleanup_free_ char *path = NULL;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(q->fs->ex->meta);

		r = path_of(db, key->dir, &path);
	}
	if (r == 0)
		r = status_json(q->fs->ex, &q->cred, path, &status);
	return r < 0 ? r : json_text(status, ret, ret_len);
}

const struct view_ops view_text_ops[] = {
	[VIEW_BRANCH_HEAD - VIEW_BRANCH_HEAD] = { S_IFREG, .stat = view_branch_stat, .text = head_text,
						   .write = view_head_write },
	[VIEW_BRANCH_PENDING - VIEW_BRANCH_HEAD] = { S_IFREG, .stat = view_branch_stat, .text = pending_text },
	[VIEW_BRANCH_LOG - VIEW_BRANCH_HEAD] = { S_IFREG, .stat = view_branch_stat, .text = log_text },
	[VIEW_BRANCH_MANIFEST - VIEW_BRANCH_HEAD] = { S_IFREG, .stat = view_branch_stat, .text = manifest_text },
	[VIEW_DOT_LOG - VIEW_BRANCH_HEAD] = { S_IFREG, .stat = view_branch_stat, .text = all_log_text },
	[VIEW_DOT_LINEAGE - VIEW_BRANCH_HEAD] = { S_IFREG, .stat = view_branch_stat, .text = lineage_text },
	[VIEW_DOT_REPORT - VIEW_BRANCH_HEAD] = { S_IFREG, .stat = view_branch_stat, .text = report_text, .costly = true },
	[VIEW_DOT_STATS - VIEW_BRANCH_HEAD] = { S_IFREG, .stat = view_branch_stat, .text = stats_text, .costly = true },
	[VIEW_DOT_METRICS - VIEW_BRANCH_HEAD] = { S_IFREG, .stat = view_branch_stat, .text = all_metrics_text, .costly = true },
	[VIEW_DOT_STATUS - VIEW_BRANCH_HEAD] = { S_IFREG, .stat = view_branch_stat, .text = status_text },
};

int view_text_of(const struct view_key *dir, const char *name, struct view_key *ret)
{
	static const struct {
		const char *name;
		enum view_kind in, kind;
	} texts[] = {
		{ "HEAD", VIEW_BRANCH, VIEW_BRANCH_HEAD },
		{ "pending", VIEW_BRANCH, VIEW_BRANCH_PENDING },
		{ "log", VIEW_BRANCH, VIEW_BRANCH_LOG },
		{ "manifest.yaml", VIEW_BRANCH, VIEW_BRANCH_MANIFEST },
		{ "log", VIEW_DOT, VIEW_DOT_LOG },
		{ "lineage.json", VIEW_DOT, VIEW_DOT_LINEAGE },
		{ "report.html", VIEW_DOT, VIEW_DOT_REPORT },
		{ "stats.json", VIEW_DOT, VIEW_DOT_STATS },
		{ "metrics", VIEW_DOT, VIEW_DOT_METRICS },
		{ "status.json", VIEW_DOT, VIEW_DOT_STATUS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i].in == dir->kind && !strcmp(texts[i].name, name)) {
			if (dir->kind == VIEW_DOT && texts[i].kind != VIEW_DOT_STATUS && dir->dir != META_ROOT)
				return -ENOENT;
			*ret = (struct view_key){ .kind = texts[i].kind, .dir = dir->dir, .part = dir->part };
			return 0;
		}
	return -ENOENT;
}
