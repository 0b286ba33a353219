#include "exp/settings.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "exp/ancestry.h"
#include "exp/kept.h"
#include "meta/dirent.h"
#include "meta/experiment.h"
#include "meta/tracked.h"
#include "util/log.h"

/* Notes what is the matter, and logs it. error may be NULL. */
static int set_fault(struct expfs *ex, const char *error, const char *instead)
{
	char *text = NULL;

	if (error && asprintf(&text, "%s; %s", error, instead) < 0)
		return -ENOMEM;
	if (text)
		log_msg("%s/config.yaml: %s", store_path(ex->store), text);
	scoped_lock(&ex->config_lock);
	free(ex->config_error);
	ex->config_error = text;
	return 0;
}

int settings_fault(struct expfs *ex, char **ret)
{
	char *text = NULL;

	scoped_lock(&ex->config_lock);
	if (ex->config_error && !(text = strdup(ex->config_error)))
		return -ENOMEM;
	*ret = text;
	return 0;
}

int settings_load(struct expfs *ex)
{
	_cleanup_free_ char *error = NULL;
	struct config *c = NULL;
	int r = config_read(store_dirfd(ex->store), &c, &error);

	if (r == -EINVAL)
		r = config_new(&c);
	ex->config = c;
	return r < 0 ? r : set_fault(ex, error, "the defaults are used");
}

void settings_free(struct expfs *ex)
{
	for (struct config *c = ex->config; c;) {
		struct config *before = c->before;

		config_free(c);
		c = before;
	}
	free(ex->config_error);
}

/* What the database is to be in line with. */
struct follow {
	struct expfs *ex;
	struct config *config;
	int64_t rules, ignored; /* what the database has of them is in line with these */
};

static struct follow follow_of(struct expfs *ex, struct config *c)
{
	uint64_t rules = role_rules_id(c->rules), ignored = 0;

	for (char **p = c->runs; *p; p++)
		rules = XXH3_64bits_withSeed(*p, strlen(*p), rules);
	for (char **p = c->hash_ignore; *p; p++)
		ignored = XXH3_64bits_withSeed(*p, strlen(*p) + 1, ignored);
	return (struct follow){ .ex = ex, .config = c, .rules = (int64_t)rules, .ignored = (int64_t)ignored };
}

static uint32_t class_of(void *arg, const char *name, bool is_dir)
{
	const struct follow *f = arg;

	return role_class(f->config->rules, name, strlen(name), is_dir);
}

/* Names were classed and tracked when they were made, by the rules of then. */
static int follow_rules(struct db *db, struct follow *f)
{
	int64_t rules;
	int r = meta_get_value(db, "rules", &rules);

	if (r < 0 || rules == f->rules)
		return r;
	r = dirent_reclass(db, meta_id(f->ex->meta), class_of, f);
	if (r >= 0)
		r = moved_put(db, META_ROOT);
	return r < 0 ? r : meta_set_value(db, "rules", f->rules);
}

/* What is kept of configurations was found out without the keys that did not count then. */
static int follow_ignored(struct db *db, struct follow *f)
{
	int64_t ignored;
	int r = meta_get_value(db, "ignored", &ignored);

	if (r < 0 || ignored == f->ignored)
		return r;
	r = fact_forget_hp(db);
	return r < 0 ? r : meta_set_value(db, "ignored", f->ignored);
}

static int tx_follow(struct db *db, void *arg)
{
	struct follow *f = arg;
	int r = follow_rules(db, f);

	if (r == 0)
		r = follow_ignored(db, f);
	if (r < 0)
		return r;
	ancestry_forget(f->ex);
	kept_forget(f->ex, 0);
	f->ex->config = f->config;
	return 0;
}

/* Takes a configuration into force. Most ask for nothing of the database, and on a full disk nothing can be written. */
static int follow(struct expfs *ex, struct config *c)
{
	struct follow f = follow_of(ex, c);
	int64_t rules, ignored;
	int r;

	{
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = meta_get_value(db, "rules", &rules);
		if (r == 0)
			r = meta_get_value(db, "ignored", &ignored);
	}
	if (r < 0)
		return r;
	if (rules != f.rules || ignored != f.ignored)
		return expfs_write(ex, tx_follow, &f);
	ex->config = c;
	return 0;
}

int settings_follow(struct expfs *ex)
{
	return follow(ex, ex->config);
}

static bool is_same(char *const *a, char *const *b)
{
	while (*a && *b && !strcmp(*a, *b)) {
		a++;
		b++;
	}
	return !*a && !*b;
}

/* So that it can be read again any number of times. */
static bool is_in_force(const struct config *c, const struct config *now)
{
	return is_same(c->runs, now->runs) && role_rules_id(c->rules) == role_rules_id(now->rules) &&
	       c->commit_immediate == now->commit_immediate && is_same(c->best_metric, now->best_metric) &&
	       c->best_is_max == now->best_is_max && is_same(c->hash_ignore, now->hash_ignore) &&
	       is_same(c->unknown, now->unknown);
}

/* Who finds out an experiment does that by one configuration. A transaction that fails may have been seen to put the new
 * one into force, so that it is not freed before the others. */
static int take(struct expfs *ex, struct config *c)
{
	struct config *now = ex->config;
	int r;

	if (is_in_force(c, now)) {
		config_free(c);
		return 0;
	}
	scoped_lock(&ex->settle_lock);
	c->before = now->before;
	now->before = c;
	r = follow(ex, c);
	if (r < 0) {
		ex->config = now;
		return r;
	}
	now->before = c->before;
	c->before = now;
	return 0;
}

int settings_reload(struct expfs *ex)
{
	_cleanup_free_ char *error = NULL;
	struct config *c = NULL;
	int r = config_read(store_dirfd(ex->store), &c, &error);

	if (r == 0)
		r = take(ex, c);
	if (r < 0 && !error)
		error = strdup(strerror(-r));
	r = MIN(r, set_fault(ex, error, "the configuration from before holds"));
	if (r == 0)
		log_msg("%s/config.yaml: read again", store_path(ex->store));
	return r;
}
