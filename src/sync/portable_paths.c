#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sync/portable.h"
#include "util/util.h"

struct level {
	const char *const *paths; /* all begin with the same directory */
	size_t n, off;            /* bytes of that, with the slash */
	char **ret;
	const char *as;           /* what it is mapped to, with a slash; NULL: it cannot be */
};

static size_t name_length(const struct level *l, size_t i)
{
	return strcspn(l->paths[i] + l->off, "/");
}

/* How many, from i on, have the same name there. */
static size_t run_length(const struct level *l, size_t i)
{
	size_t len = name_length(l, i), end = i + 1;

	while (end < l->n && name_length(l, end) == len && !memcmp(l->paths[i] + l->off, l->paths[end] + l->off, len))
		end++;
	return end - i;
}

static int map_level(const struct level *l);

/* All that begin with one name, which is mapped to that (NULL: to none); the first may be the directory itself. */
static int map_run(const struct level *l, size_t i, size_t n, const char *mapped)
{
	size_t len = name_length(l, i), own = l->paths[i][l->off + len] == 0;
	struct level below = { .paths = l->paths + i + own, .n = n - own, .off = l->off + len + 1, .ret = l->ret + i + own };
	_cleanup_free_ char *as = NULL;

	if (mapped && l->as && asprintf(&as, "%s%s/", l->as, mapped) < 0)
		return -ENOMEM;
	if (own && as) {
		l->ret[i] = strndup(as, strlen(as) - 1);
		if (!l->ret[i])
			return -ENOMEM;
	}
	below.as = as;
	return below.n > 0 ? map_level(&below) : 0;
}

static void free_names(char **v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i]);
	free(v);
}

static int map_level(const struct level *l)
{
	char **names = calloc(l->n + 1, sizeof(*names)), **mapped = calloc(l->n + 1, sizeof(*mapped));
	size_t n = 0, at = 0;
	int r = names && mapped ? 0 : -ENOMEM;

	for (size_t i = 0; i < l->n && r == 0; i += run_length(l, i)) {
		names[n] = strndup(l->paths[i] + l->off, name_length(l, i));
		r = names[n++] ? 0 : -ENOMEM;
	}
	if (r == 0)
		r = portable_map_all((const char *const *)names, n, mapped);
	for (size_t i = 0, k = 0; i < l->n && r == 0; i += at, k++) {
		at = run_length(l, i);
		r = map_run(l, i, at, mapped[k]);
	}
	if (names)
		free_names(names, n);
	if (mapped)
		free_names(mapped, n);
	return r;
}

int portable_map_paths(const char *const *paths, size_t n, char **ret)
{
	struct level top = { .paths = paths, .n = n, .ret = ret, .as = "" };
	int r;

	memset(ret, 0, n * sizeof(*ret));
	r = map_level(&top);
	for (size_t i = 0; i < n && r < 0; i++)
		free(steal(&ret[i]));
	return r;
}
