/* Values as Python's json knows them, and the text that json.dumps(value,
 * sort_keys=True, default=str) gives for them.
 *
 * A parser (yaml_value.h, json_value.h) fills a document with values, which live
 * as long as it does. Values may be shared, and even lie in themselves: YAML's
 * aliases do that. Strings are UTF-8 in which a lone surrogate may stand as
 * three bytes, so that the order of bytes is that of code points. */
#ifndef EXPFS_FORMAT_VALUE_H
#define EXPFS_FORMAT_VALUE_H

#include "util/util.h"

#define VALUE_COUNT_MAX (1u << 18) /* values, aliases, and pairs that maps get by merging */
#define VALUE_DEPTH_MAX 100        /* Python gives up at some hundreds */
#define VALUE_TEXT_MAX (16u << 20) /* of one value */

enum value_kind {
	VALUE_NULL,
	VALUE_BOOL,
	VALUE_INT,   /* decimal text: as long as it takes */
	VALUE_FLOAT,
	VALUE_STRING,
	VALUE_OTHER, /* text: what str() says of a type that JSON does not have; no key */
	VALUE_LIST,
	VALUE_MAP,
	VALUE_MERGE,   /* YAML only: the key << */
	VALUE_DEFAULT, /* YAML only: the key = */
};

struct value;

struct value_pair {
	struct value *key, *value;
};

struct value {
	uint8_t kind;
	uint8_t tag;   /* the parser's */
	uint8_t state; /* the parser's; then value_text()'s */
	uint32_t line; /* for messages; 0: not known */
	size_t count;  /* of bytes, items or pairs */
	union {
		bool truth;
		double number;
		const char *text; /* NUL-ended, though there may be others in it */
		struct value **items;
		struct value_pair *pairs;
	};
};

struct value_document {
	struct value_chunk *chunks;
	size_t count; /* against VALUE_COUNT_MAX */
	char error[200]; /* set where -EINVAL is returned: one line, lower case */
};

void value_document_clear(struct value_document *d);
#define _cleanup_value_document_ _cleanup_(value_document_clear)

/* Memory that lives as long as the document; NULL if there is none. */
void *value_alloc(struct value_document *d, size_t size);

/* n more values or pairs. -EINVAL: too many. */
int value_count(struct value_document *d, size_t n);

/* A value, VALUE_NULL at first. -EINVAL: too many. -ENOMEM. */
int value_new(struct value_document *d, size_t line, struct value **ret);

/* Makes a value one of those that have text; copied. */
int value_set_text(struct value_document *d, struct value *v, enum value_kind kind, const char *text, size_t len);

/* The children of lists and maps that are not whole yet. */
struct value_stack {
	struct value **values; /* to be freed */
	size_t count, size;
};

int value_push(struct value_stack *s, struct value *child);

/* Gives a list or map, by its kind, what is on the stack above the first base:
 * items, or keys and values in turn. */
int value_pop(struct value_document *d, struct value_stack *s, size_t base, struct value *v);

/* -EINVAL, with the message put after "line N: ". */
_printf_(3, 4) int value_fail(struct value_document *d, size_t line, const char *fmt, ...);

/* Makes a map of its pairs what Python's dict is after storing them one after
 * the other, and sorts it as sort_keys does. -EINVAL where Python fails: keys
 * that are no keys, or of kinds that do not compare. */
int value_sort(struct value_document *d, struct value *map);

/* Text that grows up to a limit. */
struct value_buffer {
	char *text; /* to be freed; NUL-ended */
	size_t len, size, max;
};

/* Appends. -E2BIG: over the limit. -ENOMEM. */
int value_put(struct value_buffer *b, const char *text, size_t len);

/* Appends a JSON string. */
int value_put_string(struct value_buffer *b, const char *text, size_t len);

/* Appends the text of a value, whose maps it sorts. -EINVAL: as value_sort(), or
 * it lies in itself, or too deep. -E2BIG. -ENOMEM. */
int value_put_text(struct value_document *d, struct value_buffer *b, struct value *v);

#endif
