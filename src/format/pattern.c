/* Matching of name patterns in polynomial time, without recursion.
 *
 * Both matchers go back to the last wildcard only (* among bytes, ** among
 * components). That suffices: whether what stands between two wildcards matches
 * at a place, and how much it takes there, depends on the text alone, so the
 * earliest place leaves the most to the rest. <n> keeps to this because it
 * takes a whole run of digits or nothing. */
#include "format/pattern.h"

#include <errno.h>
#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool digits_value(const struct digits *d, uint64_t *ret)
{
	uint64_t v = 0;

	if (d->len == 0)
		return false;
	for (size_t i = 0; i < d->len; i++) {
		unsigned digit = (unsigned)(d->text[i] - '0');

		if (v > ((uint64_t)INT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*ret = v;
	return true;
}

/* *g is behind a '['; moves it behind the ']'. False where there is none. */
static bool match_set(const char **g, const char *end, unsigned char c, bool *ret_in)
{
	const char *p = *g, *first;
	bool in = false, negated = false;

	if (p < end && (*p == '!' || *p == '^')) {
		negated = true;
		p++;
	}
	for (first = p; p < end && (*p != ']' || p == first);) {
		unsigned char low, high;

		if (*p == '[' && end - p >= 2 && p[1] == ':')
			return false; /* a class such as [:alpha:], which we do not have */
		if (*p == '\\' && ++p == end)
			return false;
		low = high = (unsigned char)*p++;
		if (end - p >= 2 && *p == '-' && p[1] != ']') {
			p++;
			if (*p == '\\' && ++p == end)
				return false;
			high = (unsigned char)*p++;
		}
		if (c >= low && c <= high)
			in = true;
	}
	if (p == end)
		return false;
	*g = p + 1;
	*ret_in = in != negated;
	return true;
}

/* What a position of a pattern asks for, other than '*'. Moves both on. */
static bool match_one(const char **g, const char *g_end, const char **s, const char *begin, const char *end,
		      struct digits *n)
{
	const char *p = *g, *t = *s;
	bool in;

	if (p == g_end || t == end)
		return false;
	switch (*p++) {
	case '?':
		t++;
		break;
	case '[':
		if (!match_set(&p, g_end, (unsigned char)*t++, &in) || !in)
			return false;
		break;
	case '<':
		if (!is_digit(*t) || (t > begin && is_digit(t[-1])))
			return false;
		n->text = t;
		while (t < end && is_digit(*t))
			t++;
		n->len = (size_t)(t - n->text);
		p += strlen("n>");
		break;
	case '\\':
		if (*p++ != *t++)
			return false;
		break;
	default:
		if (p[-1] != *t++)
			return false;
	}
	*g = p;
	*s = t;
	return true;
}

bool glob_match(const char *glob, size_t glob_len, const char *name, size_t len, struct digits *ret_n)
{
	const char *g = glob, *g_end = glob + glob_len, *s = name, *end = name + len;
	const char *after_star = NULL, *star_at = NULL;
	struct digits n = { NULL, 0 };

	while (g < g_end || s < end) {
		if (g < g_end && *g == '*') {
			after_star = ++g;
			star_at = s;
		} else if (!match_one(&g, g_end, &s, name, end, &n)) {
			if (!after_star || star_at == end)
				return false;
			g = after_star;
			s = ++star_at;
		}
	}
	if (ret_n)
		*ret_n = n;
	return true;
}

struct span {
	const char *at;
	size_t len;
};

/* The component that begins at p; end if it is the last one. */
static struct span component(const char *p, const char *end)
{
	const char *slash = memchr(p, '/', (size_t)(end - p));

	return (struct span){ p, (size_t)((slash ? slash : end) - p) };
}

/* Behind a component and its slash; NULL behind the last one. */
static const char *next(struct span c, const char *end)
{
	return c.at + c.len < end ? c.at + c.len + 1 : NULL;
}

static bool is_any_dirs(struct span c)
{
	return c.len == 2 && memcmp(c.at, "**", 2) == 0;
}

static bool match_path(const char *p, const char *p_end, const char *s, const char *end)
{
	const char *after_any = NULL, *any_at = NULL;

	while (p || s) {
		struct span c = p ? component(p, p_end) : (struct span){ NULL, 0 };
		struct span d = s ? component(s, end) : (struct span){ NULL, 0 };

		if (p && is_any_dirs(c)) {
			p = next(c, p_end);
			if (!p)
				return s != NULL;
			after_any = p;
			any_at = s;
		} else if (p && s && glob_match(c.at, c.len, d.at, d.len, NULL)) {
			p = next(c, p_end);
			s = next(d, end);
		} else {
			if (!after_any || !any_at)
				return false;
			p = after_any;
			s = any_at = next(component(any_at, end), end);
		}
	}
	return true;
}

static struct span last_component(const char *path, size_t len)
{
	size_t at = len;

	while (at > 0 && path[at - 1] != '/')
		at--;
	return (struct span){ path + at, len - at };
}

bool pattern_match(const struct pattern *p, const char *path, size_t len, bool is_dir)
{
	if (p->dir_only && !is_dir)
		return false;
	if (p->from_top)
		return match_path(p->text, p->text + p->len, path, path + len);

	struct span name = last_component(path, len);
	return glob_match(p->text, p->len, name.at, name.len, NULL);
}

bool pattern_match_name(const struct pattern *p, const char *name, size_t len, bool is_dir)
{
	struct span last = last_component(p->text, p->len);

	if (p->dir_only && !is_dir)
		return false;
	if (p->from_top && is_any_dirs(last))
		return false;
	return glob_match(last.at, last.len, name, len, NULL);
}

/* Whether one component of a pattern is well formed. */
static bool check_glob(struct span c)
{
	const char *p = c.at, *end = c.at + c.len;
	bool in;

	if (c.len == 0 || (c.len == 1 && *p == '.') || (c.len == 2 && memcmp(p, "..", 2) == 0))
		return false;
	while (p < end)
		switch (*p++) {
		case '\\':
			if (p++ == end)
				return false;
			break;
		case '[':
			if (!match_set(&p, end, 0, &in))
				return false;
			break;
		case '<':
			if (end - p < 2 || memcmp(p, "n>", 2) != 0)
				return false;
			p += 2;
			break;
		}
	return true;
}

int pattern_parse(const char *text, struct pattern *ret)
{
	struct pattern p = { .text = text, .len = strnlen(text, PATTERN_MAX + 1) };
	const char *end;

	if (p.len > PATTERN_MAX || *text == '!')
		return -EINVAL;
	if (p.len > 0 && p.text[0] == '/') {
		p.from_top = true;
		p.text++;
		p.len--;
	}
	if (p.len > 0 && p.text[p.len - 1] == '/') {
		p.dir_only = true;
		p.len--;
	}
	if (memchr(p.text, '/', p.len))
		p.from_top = true;
	end = p.text + p.len;
	for (const char *at = p.text; at; at = next(component(at, end), end))
		if (!check_glob(component(at, end)))
			return -EINVAL;
	*ret = p;
	return 0;
}
