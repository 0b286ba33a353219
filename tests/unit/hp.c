#include "hp.h"

/* The text of hp_parse(), to be freed; none if it does not parse. */
static char *text_of(const char *bytes, size_t len, const char *name, char **ret_error)
{
	char *text = NULL;
	int r = hp_parse(bytes, len, name, hp_ignore_default, &text, ret_error);

	assert_true(r == 0 || r == -EINVAL);
	assert_true((r == 0) == (text != NULL) && (r == 0) == (*ret_error == NULL));
	return text;
}

void takes_bytes(const char *bytes, size_t len, const char *name, const char *expected)
{
	_cleanup_free_ char *error = NULL;
	_cleanup_free_ char *text = text_of(bytes, len, name, &error);

	if (!text)
		fail_msg("%s: %s", bytes, error);
	assert_string_equal(text, expected);
}

void takes(const char *yaml, const char *expected)
{
	takes_bytes(yaml, strlen(yaml), "config.yaml", expected);
}

void takes_json(const char *json, const char *expected)
{
	takes_bytes(json, strlen(json), "args.json", expected);
}

void is(const char *scalar, const char *expected)
{
	_cleanup_free_ char *yaml = NULL, *text = NULL;

	assert_true(asprintf(&yaml, "v: %s\n", scalar) > 0);
	assert_true(asprintf(&text, "{\"v\": %s}", expected) > 0);
	takes(yaml, text);
}

void refuses_bytes(const char *bytes, size_t len, const char *name, const char *what)
{
	_cleanup_free_ char *error = NULL;
	_cleanup_free_ char *text = text_of(bytes, len, name, &error);

	if (text)
		fail_msg("taken as %s: %s", text, bytes);
	if (!strstr(error, what))
		fail_msg("expected '%s' in: %s", what, error);
	for (const char *p = error; *p; p++)
		assert_in_range(*p, ' ', '~');
}

void refuses(const char *yaml, const char *what)
{
	refuses_bytes(yaml, strlen(yaml), "config.yaml", what);
}

void refuses_json(const char *json, const char *what)
{
	refuses_bytes(json, strlen(json), "args.json", what);
}
