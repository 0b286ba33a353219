/* It is not yaml_value.c, which builds all that a configuration is, follows aliases and merges, and takes what
 * PyYAML takes: here a part of a text is looked for, and what is not known is gone over as it comes, so that nothing
 * hostile costs memory. The loop over events is a few lines in each; where a mistake is told differs. */
#include "format/yaml_walk.h"

#include <string.h>

#include "format/yaml_guard.h"

#define DEPTH_MAX 64

int yaml_walk_bad(struct yaml_walk *w, const char *fmt, ...)
{
	char text[sizeof(w->why->text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return reason_set(w->why, w->event.start_mark.line + 1, "%s", text);
}

/* Does safe_load construct a node of this tag? */
static bool is_safe(const char *tag)
{
	static const char prefix[] = "tag:yaml.org,2002:";
	static const char *const names[] = { "null", "bool",  "int", "float", "binary", "timestamp",
					     "omap", "pairs", "set", "str",   "seq",    "map" };

	if (!strcmp(tag, "!"))
		return true;
	if (strncmp(tag, prefix, sizeof(prefix) - 1) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(tag + sizeof(prefix) - 1, names[i]))
			return true;
	return false;
}

static const char *event_tag(const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return (const char *)e->data.scalar.tag;
	case YAML_MAPPING_START_EVENT:
		return (const char *)e->data.mapping_start.tag;
	case YAML_SEQUENCE_START_EVENT:
		return (const char *)e->data.sequence_start.tag;
	default:
		return NULL;
	}
}

int yaml_walk_next(struct yaml_walk *w)
{
	const char *tag;

	yaml_event_delete(&w->event);
	if (!yaml_parser_parse(&w->parser, &w->event)) {
		if (w->parser.error == YAML_MEMORY_ERROR)
			return -ENOMEM;
		return reason_set(w->why, w->parser.problem_mark.line + 1, "%s",
				  w->parser.problem ? w->parser.problem : "not to be read");
	}
	tag = w->refused & YAML_WALK_UNSAFE_TAGS ? event_tag(&w->event) : NULL;
	if (tag && !is_safe(tag))
		return yaml_walk_bad(w, "%.100s: a tag that is not safe to load", tag);
	switch (w->event.type) {
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return ++w->depth > DEPTH_MAX ? yaml_walk_bad(w, "nested too deep") : 0;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		w->depth--;
		return 0;
	case YAML_ALIAS_EVENT:
		return w->refused & YAML_WALK_ALIASES ? yaml_walk_bad(w, "aliases are not taken here; write it out") : 0;
	default:
		return 0;
	}
}

int yaml_walk_skip(struct yaml_walk *w)
{
	unsigned outside = w->depth - 1;
	int r = 0;

	if (w->event.type != YAML_SEQUENCE_START_EVENT && w->event.type != YAML_MAPPING_START_EVENT)
		return 0;
	while (r == 0 && w->depth > outside)
		r = yaml_walk_next(w);
	return r;
}

const char *yaml_walk_text(const struct yaml_walk *w)
{
	return w->event.type == YAML_SCALAR_EVENT ? (const char *)w->event.data.scalar.value : NULL;
}

bool yaml_walk_is_null(const struct yaml_walk *w)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
	const char *text = yaml_walk_text(w);

	if (!text || w->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(nulls); i++)
		if (!strcmp(text, nulls[i]))
			return true;
	return false;
}

static int read_stream(struct yaml_walk *w, yaml_walk_fn f, void *data)
{
	int r = yaml_walk_next(w); /* the stream's start */

	if (r == 0)
		r = yaml_walk_next(w);
	if (r < 0 || w->event.type == YAML_STREAM_END_EVENT)
		return r;
	r = yaml_walk_next(w);
	if (r == 0)
		r = f(w, data);
	if (r == 0)
		r = yaml_walk_next(w); /* the document's end */
	if (r == 0)
		r = yaml_walk_next(w);
	if (r == 0 && w->event.type != YAML_STREAM_END_EVENT)
		r = yaml_walk_bad(w, "a second document");
	return r;
}

int yaml_walk(const char *text, size_t len, unsigned refused, yaml_walk_fn f, void *data, struct reason *why)
{
	struct yaml_walk w = { .refused = refused, .why = why };
	const char *reason = yaml_guard(text, len);
	int r;

	if (reason)
		return reason_set(why, 0, "%s", reason);
	if (!yaml_parser_initialize(&w.parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&w.parser, (const unsigned char *)text, len);
	r = read_stream(&w, f, data);
	yaml_event_delete(&w.event);
	yaml_parser_delete(&w.parser);
	return r;
}
