/* Names and patterns: a pattern, NUL, a path.
 *
 * Matching of one component is held against a matcher that tries everything;
 * the promises of role.h and pattern.h about names are checked. */
#include "format/pattern.h"
#include "format/role.h"
#include "fuzz.h"

#define SLOW_MAX 64u /* bytes */

/* The length of what a pattern asks for first, '*' or one thing else. */
static size_t element(const char *g, size_t n)
{
	if (*g == '\\')
		return 2;
	if (*g == '<')
		return 3;
	if (*g == '[')
		for (size_t i = 2; i <= n; i++) {
			_cleanup_free_ char *set = as_text((const uint8_t *)g, i);
			struct pattern p;

			if (!memchr(set, '/', i) && pattern_parse(set, &p) == 0)
				return i;
		}
	return 1;
}

struct slow {
	const char *glob, *name;
	size_t glob_len, len;
	signed char known[SLOW_MAX + 1][SLOW_MAX + 1];
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool match(struct slow *m, size_t g, size_t s);

static bool match_element(struct slow *m, size_t g, size_t s)
{
	size_t n = element(m->glob + g, m->glob_len - g), t = s;

	if (m->glob[g] == '*')
		return match(m, g + 1, s) || (s < m->len && match(m, g, s + 1));
	if (m->glob[g] != '<')
		return s < m->len && glob_match(m->glob + g, n, m->name + s, 1, NULL) && match(m, g + n, s + 1);
	while (t < m->len && is_digit(m->name[t]))
		t++;
	return t > s && (s == 0 || !is_digit(m->name[s - 1])) && match(m, g + n, t);
}

static bool match(struct slow *m, size_t g, size_t s)
{
	signed char *known = &m->known[g][s];

	if (!*known) {
		bool is = g == m->glob_len ? s == m->len : match_element(m, g, s);

		*known = is ? 1 : -1;
	}
	return *known > 0;
}

static void compare(const struct pattern *p, const char *name, size_t len)
{
	static struct slow m;

	if (p->len > SLOW_MAX || len > SLOW_MAX || memchr(p->text, '/', p->len))
		return;
	m = (struct slow){ .glob = p->text, .name = name, .glob_len = p->len, .len = len };
	must(match(&m, 0, 0) == glob_match(p->text, p->len, name, len, NULL));
}

static bool ends_in_any(const struct pattern *p)
{
	return p->from_top && p->len >= 2 && !memcmp(p->text + p->len - 2, "**", 2) &&
	       (p->len == 2 || p->text[p->len - 3] == '/');
}

static bool is_path(const char *path)
{
	size_t n = strlen(path);

	return n > 0 && n < 4096 && path[0] != '/' && path[n - 1] != '/' && !strstr(path, "//");
}

static void check_roles(const struct role_rules *rules, const char *path, const char *name, bool is_dir)
{
	/* Others come from directories above, or from the added pattern. */
	const unsigned of_name = 1u << ROLE_MODEL | 1u << ROLE_SIGNALS | 1u << ROLE_MANIFEST | 1u << ROLE_WEIGHTS;
	enum role role = role_of(rules, path, is_dir);
	unsigned class = role_class(rules, name, strlen(name), is_dir);
	uint64_t step = 0;

	must(role < ROLE_COUNT && role_name(role));
	must(!is_dir || role == ROLE_NONE || role == ROLE_WEIGHTS);
	must(!(1u << role & of_name) || class & 1u << role);
	if (step_of_name(name, is_dir, &step))
		must(step <= INT64_MAX);
	role_digit_dir(name);
	role_hp_version(path, &step);
	tracker_names(path, strlen(path), name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = as_text(data, size);
	_cleanup_role_rules_ struct role_rules *rules = NULL;
	const char *path = strlen(text) < size ? text + strlen(text) + 1 : "x", *name = strrchr(path, '/');
	struct pattern p;
	int r = pattern_parse(text, &p);

	name = name ? name + 1 : path;
	if (!is_path(path) || strlen(name) > 255)
		return 0;
	must(role_rules_new(&rules) == 0);
	for (int is_dir = 0; is_dir < 2; is_dir++) {
		check_roles(rules, path, name, is_dir);
		if (r == 0 && pattern_match(&p, path, strlen(path), is_dir) && !ends_in_any(&p))
			must(pattern_match_name(&p, name, strlen(name), is_dir));
	}
	if (r == 0)
		compare(&p, name, strlen(name));
	must(role_rules_add(rules, ROLE_NONE, text) == r);
	must(role_of(rules, path, false) < ROLE_COUNT);
	return 0;
}
