/* Going over a hostile YAML text by libyaml's events: one document, bounded in
 * depth, where what is skipped is not built.
 *
 * Functions return 0, -ENOMEM, or -EINVAL with the reason and the line. An alias
 * that is not refused is a node without content: what it stands for is not
 * followed. */
#ifndef EXPFS_FORMAT_YAML_WALK_H
#define EXPFS_FORMAT_YAML_WALK_H

#include <yaml.h>

#include "format/reason.h"

struct yaml_walk {
	yaml_parser_t parser;
	yaml_event_t event; /* the one looked at */
	unsigned depth;
	unsigned refused;
	struct reason *why;
};

/* What is a mistake although it parses. */
enum yaml_walk_refused {
	YAML_WALK_UNSAFE_TAGS = 1, /* tags that PyYAML's safe_load does not construct */
	YAML_WALK_ALIASES = 2,
};

/* Called at the top node's first event; returns at its last. */
typedef int (*yaml_walk_fn)(struct yaml_walk *w, void *data);

/* Goes over a text; f is not called where there is no document in it. */
int yaml_walk(const char *text, size_t len, unsigned refused, yaml_walk_fn f, void *data, struct reason *why);

/* For f: */

/* Goes on to the next event. */
int yaml_walk_next(struct yaml_walk *w);

/* From a node's first event to its last. */
int yaml_walk_skip(struct yaml_walk *w);

/* Of scalars: the text, which may have NULs in it, and is NULL for other nodes. */
const char *yaml_walk_text(const struct yaml_walk *w);

/* A scalar that PyYAML's safe_load takes for None. */
bool yaml_walk_is_null(const struct yaml_walk *w);

/* Sets the reason, with the line of the event; -EINVAL. */
_printf_(2, 3) int yaml_walk_bad(struct yaml_walk *w, const char *fmt, ...);

#endif
