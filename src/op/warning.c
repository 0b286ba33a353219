#include "op/warning.h"

#include <stdio.h>
#include <string.h>

#include "exp/complete.h"
#include "op/reply.h"

/* path is one of the room exp, or NULL. */
static _printf_(4, 5) void warn(json_t *warnings, const char *kind, const char *path, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	if (json_array_size(warnings) >= WARNINGS_MAX)
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		json_array_append_new(warnings, json_pack("{s:s, s:o, s:o}", "kind", kind, "path",
							  path ? reply_path(path) : json_null(), "text",
							  reply_text(text)));
}

static void warn_of_power_cut(const struct recovered *k, json_t *warnings)
{
	if (k->back + k->gone + k->kept > 0)
		warn(warnings, "power-cut", NULL,
		     "of the files that were written last before a power cut %u have their content from before, %u that were "
		     "new are gone, %u are as the disk has them; the store's log names them",
		     k->back, k->gone, k->kept);
}

int warn_of_store(struct expfs *ex, json_t *warnings)
{
	struct statvfs v;
	int r;

	if (atomic_load(&ex->read_only) && ex->read_only_reason)
		warn(warnings, "read-only", NULL, "%s", ex->read_only_reason);
	if (ex->config_error)
		warn(warnings, "config", NULL, "config.yaml: %s; the defaults are used", ex->config_error);
	for (char **p = ex->config->unknown; *p; p++)
		warn(warnings, "config", NULL, "config.yaml: %s", *p);
	warn_of_power_cut(&ex->recovered, warnings);
	r = expfs_statvfs(ex, &v);
	if (r < 0)
		return r;
	if ((uint64_t)v.f_bavail * v.f_frsize < STORE_RESERVE)
		warn(warnings, "full", NULL, "the disk of the store is full");
	else if (v.f_files > 0 && v.f_favail == 0)
		warn(warnings, "full", NULL, "the disk of the store has no inodes left");
	return 0;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The path with the numbers in its last component without leading zeros. */
static char *canonical(const char *path)
{
	char *copy = strdup(path), *to = copy ? copy + (last_component(path) - path) : NULL;
	bool in_number = false;

	for (const char *s = to; s && *s; s++) {
		bool digit = *s >= '0' && *s <= '9';

		if (*s == '0' && !in_number && s[1] >= '0' && s[1] <= '9')
			continue;
		in_number = digit;
		*to++ = *s;
	}
	if (to)
		*to = 0;
	return copy;
}

struct named {
	char *key;
	const struct checkpoint *checkpoint;
};

static int named_compare(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;
	int c = strcmp(a->key, b->key);

	return c ? c : strcmp(a->checkpoint->path, b->checkpoint->path);
}

/* As step_0900000.pt and step_900000.pt in one directory. */
static int warn_of_duplicates(const struct checkpoint_list *l, json_t *warnings)
{
	struct named *v = calloc(l->n + 1, sizeof(*v));
	size_t n = 0;
	int r = v ? 0 : -ENOMEM;

	for (size_t i = 0; i < l->n && r == 0; i++) {
		if (!l->v[i].has_step)
			continue;
		v[n] = (struct named){ .key = canonical(l->v[i].path), .checkpoint = &l->v[i] };
		r = v[n++].key ? 0 : -ENOMEM;
	}
	if (r == 0)
		qsort(v, n, sizeof(*v), named_compare);
	for (size_t i = 1; i < n && r == 0; i++)
		if (!strcmp(v[i].key, v[i - 1].key))
			warn(warnings, "duplicate-step", v[i].checkpoint->path, "stands for the same step as %s",
			     last_component(v[i - 1].checkpoint->path));
	for (size_t i = 0; i < n; i++)
		free(v[i].key);
	free(v);
	return r;
}

static void tell(const struct checkpoint_list *l, const struct checkpoint *c, const char *kind, json_t *warnings)
{
	char why[512];

	complete_explain(l->ex, c, why, sizeof(why));
	warn(warnings, kind, c->path, "is not complete: %s", why);
}

int warn_of_checkpoints(struct checkpoint_list *l, json_t *warnings)
{
	checkpoint_judge(l);
	for (size_t i = 0; i < l->n; i++) {
		const struct checkpoint *c = &l->v[i];

		if (!c->complete && !c->passing)
			tell(l, c, "torn", warnings);
	}
	/* What somebody who misses it wants to know. */
	if (l->n > 0 && l->v[l->n - 1].passing && !checkpoint_latest(l))
		tell(l, &l->v[l->n - 1], "waiting", warnings);
	return warn_of_duplicates(l, warnings);
}
