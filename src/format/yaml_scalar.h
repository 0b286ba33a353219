/* What a YAML scalar is to PyYAML's SafeLoader: its tag by YAML 1.1, and the
 * value that a tag makes of it. */
#ifndef EXPFS_FORMAT_YAML_SCALAR_H
#define EXPFS_FORMAT_YAML_SCALAR_H

#include "format/value.h"

enum yaml_tag {
	YAML_NONE, /* of nothing that is known */
	YAML_NULL,
	YAML_BOOL,
	YAML_INT,
	YAML_FLOAT,
	YAML_BINARY,
	YAML_TIMESTAMP,
	YAML_STR,
	YAML_MERGE,
	YAML_VALUE,
	YAML_SEQ,
	YAML_MAP,
	YAML_SET,
	YAML_OMAP,
	YAML_PAIRS,
};

/* The tag of a URI; YAML_NONE for one that SafeLoader does not have. */
enum yaml_tag yaml_tag_of(const char *uri);

/* The tag of a plain scalar without one. */
enum yaml_tag yaml_resolve(const char *text, size_t len);

/* Makes the value of a scalar. -EINVAL, with the reason in the document, where
 * Python raises something. */
int yaml_scalar(struct value_document *d, struct value *v, enum yaml_tag tag, const char *text, size_t len);

/* Appends repr() of a value that can be a map's key. -EINVAL: not known here.
 * -E2BIG, -ENOMEM. */
int yaml_put_repr(struct value_document *d, struct value_buffer *b, const struct value *v);

#endif
