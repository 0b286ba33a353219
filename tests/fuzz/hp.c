/* A configuration, as YAML and as JSON. Its text is itself JSON, which has to give
 * a text of that length: keys that were numbers sort otherwise as strings. Of such
 * a text comes the same one again. */
#include "format/hp.h"

#include "fuzz.h"

static const char *const nothing[] = { NULL };

static char *again(const char *text)
{
	char *next = NULL, *error = NULL;

	must(hp_parse(text, strlen(text), "x.json", nothing, &next, &error) == 0);
	must(strlen(next) == strlen(text));
	return next;
}

static void check_whole(const char *text, size_t count)
{
	struct hp_file files[] = { { "config.yaml", text }, { "\xff/\xc3\xa9.yaml", text } };
	_cleanup_free_ char *whole = NULL, *second = NULL, *third = NULL;
	char digest[HP_DIGEST_LEN + 1];

	must(hp_whole(files, count, &whole) == 0);
	must(strstr(whole, "\"auditor_mode\": "));
	must(hp_digest(whole, digest) == 0 && strlen(digest) == HP_DIGEST_LEN);
	if (strlen(whole) > 100000)
		return;
	second = again(whole);
	third = again(second);
	must(strcmp(second, third) == 0);
}

static void check(const uint8_t *data, size_t size, const char *name)
{
	char *text = NULL, *error = NULL;
	int r = hp_parse(data, size, name, hp_ignore_default, &text, &error);

	must(r == 0 || r == -EINVAL);
	must((r == 0) == (text != NULL) && (r == 0) == !error);
	for (const char *p = r == 0 ? text : error; *p; p++)
		must(*p >= ' ' && *p <= '~');
	if (r == 0) {
		must(text[0] == '{' && strlen(text) <= HP_TEXT_MAX);
		check_whole(text, 1);
		check_whole(text, 2);
	}
	free(text);
	free(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check(data, size, "config.yaml");
	check(data, size, "args.json");
	return 0;
}
