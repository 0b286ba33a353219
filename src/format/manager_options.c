/* A value counts as it does in Python's if, after safe_load. */
#include "format/manager_options.h"

#include <string.h>

#include "format/yaml_walk.h"

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
	{ "enable_checkpoints", offsetof(struct manager_options, enable_checkpoints) },
	{ "dump_model_architecture", offsetof(struct manager_options, dump_model_architecture) },
	{ "dump_model_state", offsetof(struct manager_options, dump_model_state) },
	{ "dump_optimizer_state", offsetof(struct manager_options, dump_optimizer_state) },
	{ "dump_data_state", offsetof(struct manager_options, dump_data_state) },
	{ "dump_config_state", offsetof(struct manager_options, dump_config_state) },
};

static bool is_zero(const char *text)
{
	text += *text == '-' || *text == '+';
	return *text && strspn(text, "0") == strlen(text);
}

/* Of a scalar. */
static bool is_true(const struct yaml_walk *w)
{
	static const char *const falses[] = { "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "0.0" };
	const char *text = yaml_walk_text(w);

	if (w->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return w->event.data.scalar.length > 0;
	for (size_t i = 0; i < ARRAY_SIZE(falses); i++)
		if (!strcmp(text, falses[i]))
			return false;
	return !yaml_walk_is_null(w) && !is_zero(text);
}

static int read_section(struct yaml_walk *w, struct manager_options *o)
{
	int r;

	if (w->event.type == YAML_ALIAS_EVENT)
		return yaml_walk_bad(w, "checkpoint_manager: an alias is not followed here");
	if (w->event.type != YAML_MAPPING_START_EVENT)
		return yaml_walk_bad(w, "checkpoint_manager: options with values are wanted here");
	*o = MANAGER_OPTIONS_DEFAULT; /* a second time: the last one counts */
	o->given = true;
	for (r = yaml_walk_next(w); r == 0 && w->event.type != YAML_MAPPING_END_EVENT; r = yaml_walk_next(w)) {
		const char *key = yaml_walk_text(w);
		size_t i = key ? 0 : ARRAY_SIZE(fields);

		while (i < ARRAY_SIZE(fields) && strcmp(key, fields[i].name) != 0)
			i++;
		r = yaml_walk_skip(w);
		if (r == 0)
			r = yaml_walk_next(w);
		if (r == 0 && i < ARRAY_SIZE(fields) && w->event.type == YAML_SCALAR_EVENT)
			*(bool *)((char *)o + fields[i].offset) = is_true(w);
		if (r == 0)
			r = yaml_walk_skip(w);
		if (r < 0)
			return r;
	}
	return r;
}

static int read_top(struct yaml_walk *w, void *options)
{
	int r;

	if (w->event.type != YAML_MAPPING_START_EVENT)
		return yaml_walk_skip(w);
	for (r = yaml_walk_next(w); r == 0 && w->event.type != YAML_MAPPING_END_EVENT; r = yaml_walk_next(w)) {
		const char *key = yaml_walk_text(w);
		bool section = key && !strcmp(key, "checkpoint_manager");

		r = yaml_walk_skip(w);
		if (r == 0)
			r = yaml_walk_next(w);
		if (r == 0)
			r = section ? read_section(w, options) : yaml_walk_skip(w);
		if (r < 0)
			return r;
	}
	return r;
}

int manager_options_parse(const char *text, size_t len, struct manager_options *ret, struct reason *why)
{
	struct manager_options o = MANAGER_OPTIONS_DEFAULT;
	int r;

	if (len > MANAGER_OPTIONS_SIZE_MAX)
		return reason_set(why, 0, "larger than %u MiB", MANAGER_OPTIONS_SIZE_MAX >> 20);
	r = yaml_walk(text, len, 0, read_top, &o, why);
	if (r < 0)
		return r;
	*ret = o;
	return 0;
}
