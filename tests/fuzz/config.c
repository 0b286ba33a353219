#include "exp/config.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const paths[] = { "config.yaml", "a/step_7.pt", "checkpoint-3/x", "data/x", "1 (2).x" };
	_cleanup_free_ char *text = as_text(data, size), *error = NULL;
	struct config *c = NULL;
	int r = config_parse(text, size, &c, &error);

	must(r == 0 || r == -EINVAL);
	must((r == 0) == (c != NULL) && (r == 0) == !error);
	if (!c)
		return 0;
	must(c->runs && c->runs[0]);
	for (char **p = c->runs; *p; p++)
		must(**p == '/' && strlen(*p) > 1);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		must(role_of(c->rules, paths[i], i % 2) < ROLE_COUNT);
	config_free(c);
	return 0;
}
