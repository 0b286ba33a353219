/* From libyaml's events to values, in the two steps of PyYAML: compose makes
 * nodes and joins aliases to them, construct makes of the nodes what their tags
 * say. A node is a struct value from the beginning; scalars are done in the first
 * step, lists and maps are given their last form in the second.
 *
 * What only looks for some keys goes by yaml_walk.h, which builds nothing. */
#include "format/yaml_value.h"

#include <search.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "format/yaml_scalar.h"

#define TAG_DIRECTIVES_MAX 16

enum state { COMPOSED = 0, FLATTENING, FLAT, CONSTRUCTED };

struct anchor {
	const char *name;
	struct value *node;
};

struct reader {
	struct value_document *d;
	yaml_parser_t parser;
	yaml_event_t event; /* the one looked at */
	const char *bytes;
	void *anchors; /* a tree of struct anchor, in the document's memory */
	struct value_stack open;
};

static size_t line_of(const yaml_mark_t *mark)
{
	return mark->line + 1;
}

/* libyaml tells bytes that it cannot read by their offset alone. */
static size_t problem_line(const struct reader *rd)
{
	size_t line = 1;

	if (rd->parser.error != YAML_READER_ERROR)
		return line_of(&rd->parser.problem_mark);
	for (size_t i = 0; i < rd->parser.problem_offset; i++)
		line += rd->bytes[i] == '\n';
	return line;
}

/* Goes on to the next event. */
static int next(struct reader *rd)
{
	yaml_event_delete(&rd->event);
	if (yaml_parser_parse(&rd->parser, &rd->event))
		return 0;
	if (rd->parser.error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	return value_fail(rd->d, problem_line(rd), "%s", rd->parser.problem ? rd->parser.problem : "not to be read");
}

static int compare_anchors(const void *a, const void *b)
{
	return strcmp(((const struct anchor *)a)->name, ((const struct anchor *)b)->name);
}

static int set_anchor(struct reader *rd, const yaml_char_t *name, struct value *node)
{
	size_t size;
	struct anchor *a, **found;
	char *copy;

	if (!name)
		return 0;
	size = strlen((const char *)name) + 1;
	a = value_alloc(rd->d, sizeof(*a));
	copy = value_alloc(rd->d, size);
	if (!a || !copy)
		return -ENOMEM;
	*a = (struct anchor){ memcpy(copy, name, size), node };
	found = tsearch(a, &rd->anchors, compare_anchors);
	if (!found)
		return -ENOMEM;
	return *found == a ? 0 : value_fail(rd->d, node->line, "an anchor a second time");
}

static int find_anchor(struct reader *rd, const yaml_char_t *name, struct value **ret)
{
	struct anchor wanted = { .name = (const char *)name };
	struct anchor **found = tfind(&wanted, &rd->anchors, compare_anchors);

	if (!found)
		return value_fail(rd->d, line_of(&rd->event.start_mark), "an alias without its anchor");
	*ret = (*found)->node;
	return 0;
}

static void keep(void *node)
{
}

/* The tag ! is as good as none. */
static enum yaml_tag tag_of(const yaml_char_t *tag, enum yaml_tag otherwise)
{
	return !tag || !strcmp((const char *)tag, "!") ? otherwise : yaml_tag_of((const char *)tag);
}

static int compose_scalar(struct reader *rd, struct value *v)
{
	const char *text = (const char *)rd->event.data.scalar.value;
	size_t len = rd->event.data.scalar.length;
	const yaml_char_t *uri = rd->event.data.scalar.tag;
	enum yaml_tag tag;

	if (rd->event.data.scalar.plain_implicit || (uri && !strcmp((const char *)uri, "!")))
		tag = yaml_resolve(text, len); /* even if quoted, where its tag is ! */
	else
		tag = tag_of(uri, YAML_STR);
	if (tag == YAML_NONE)
		return value_fail(rd->d, v->line, "a tag that is not known");
	return yaml_scalar(rd->d, v, tag, text, len);
}

static int compose(struct reader *rd, unsigned depth, struct value **ret);

static int compose_inside(struct reader *rd, struct value *v, unsigned depth)
{
	bool map = v->kind == VALUE_MAP;
	yaml_event_type_t end = map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
	size_t base = rd->open.count;

	if (depth > VALUE_DEPTH_MAX)
		return value_fail(rd->d, v->line, "nested deeper than %d", VALUE_DEPTH_MAX);
	if (v->tag == YAML_NONE)
		return value_fail(rd->d, v->line, "a tag that is not known");
	for (;;) {
		struct value *child = NULL;
		int r = next(rd);

		if (r == 0 && rd->event.type == end)
			break;
		if (r == 0)
			r = compose(rd, depth, &child);
		if (r == 0)
			r = value_push(&rd->open, child);
		if (r < 0)
			return r;
	}
	return value_pop(rd->d, &rd->open, base, v);
}

/* The node that begins with the event. */
static int compose(struct reader *rd, unsigned depth, struct value **ret)
{
	struct value *v;
	int r;

	if (rd->event.type == YAML_ALIAS_EVENT) {
		r = value_count(rd->d, 1);
		return r == 0 ? find_anchor(rd, rd->event.data.alias.anchor, ret) : r;
	}
	r = value_new(rd->d, line_of(&rd->event.start_mark), &v);
	if (r < 0)
		return r;
	*ret = v;
	switch (rd->event.type) {
	case YAML_SEQUENCE_START_EVENT:
		v->kind = VALUE_LIST;
		v->tag = (uint8_t)tag_of(rd->event.data.sequence_start.tag, YAML_SEQ);
		r = set_anchor(rd, rd->event.data.sequence_start.anchor, v);
		return r == 0 ? compose_inside(rd, v, depth + 1) : r;
	case YAML_MAPPING_START_EVENT:
		v->kind = VALUE_MAP;
		v->tag = (uint8_t)tag_of(rd->event.data.mapping_start.tag, YAML_MAP);
		r = set_anchor(rd, rd->event.data.mapping_start.anchor, v);
		return r == 0 ? compose_inside(rd, v, depth + 1) : r;
	default:
		r = set_anchor(rd, rd->event.data.scalar.anchor, v);
		return r == 0 ? compose_scalar(rd, v) : r;
	}
}

static int flatten(struct value_document *d, struct value *map, unsigned depth);

/* Flattens what is merged by a pair's value, and counts its pairs. Empty maps
 * count too against VALUE_COUNT_MAX: a long list of them may be merged often. */
static int flatten_source(struct value_document *d, struct value *v, unsigned depth, bool in_list, size_t *count)
{
	int r = 0;

	if (v->kind == VALUE_LIST && !in_list) {
		for (size_t i = 0; r == 0 && i < v->count; i++)
			r = flatten_source(d, v->items[i], depth, true, count);
		return r;
	}
	if (v->kind != VALUE_MAP)
		return value_fail(d, v->line, "a map to merge is wanted here, or a list of maps");
	r = flatten(d, v, depth + 1);
	*count += v->count;
	return r == 0 ? value_count(d, v->count + 1) : r;
}

/* Of a list the first map comes last, so that its values are those that stay. */
static struct value_pair *put_source(const struct value *v, struct value_pair *out)
{
	if (v->kind == VALUE_LIST) {
		for (size_t i = v->count; i-- > 0;)
			out = put_source(v->items[i], out);
		return out;
	}
	memcpy(out, v->pairs, v->count * sizeof(*out));
	return out + v->count;
}

/* flatten_mapping(): the pairs that << brings stand before the map's own. */
static int flatten(struct value_document *d, struct value *map, unsigned depth)
{
	struct value_pair *pairs, *out;
	size_t count = 0, own = 0;
	int r = 0;

	if (map->state >= FLAT)
		return 0;
	if (map->state == FLATTENING)
		return value_fail(d, map->line, "a map merged into itself");
	if (depth > VALUE_DEPTH_MAX)
		return value_fail(d, map->line, "merged deeper than %d", VALUE_DEPTH_MAX);
	map->state = FLATTENING;
	for (size_t i = 0; r == 0 && i < map->count; i++) {
		if (map->pairs[i].key->kind == VALUE_MERGE)
			r = flatten_source(d, map->pairs[i].value, depth, false, &count);
		else
			own++;
	}
	map->state = FLAT;
	if (r < 0 || own == map->count)
		return r;
	pairs = out = value_alloc(d, (count + own) * sizeof(*pairs));
	if (!pairs)
		return -ENOMEM;
	for (size_t i = 0; i < map->count; i++)
		if (map->pairs[i].key->kind == VALUE_MERGE)
			out = put_source(map->pairs[i].value, out);
	for (size_t i = 0; i < map->count; i++)
		if (map->pairs[i].key->kind != VALUE_MERGE)
			*out++ = map->pairs[i];
	map->pairs = pairs;
	map->count = count + own;
	return 0;
}

static int construct(struct value_document *d, struct value *v, unsigned depth);

static int construct_map(struct value_document *d, struct value *v, unsigned depth)
{
	int r = flatten(d, v, depth);

	v->state = CONSTRUCTED;
	for (size_t i = 0; r == 0 && i < v->count; i++) {
		struct value *key = v->pairs[i].key;

		if (key->kind == VALUE_DEFAULT)
			key->kind = VALUE_STRING;
		if (key->kind == VALUE_LIST || key->kind == VALUE_MAP)
			return value_fail(d, key->line, "a list, map or set as a key");
		r = construct(d, key, depth + 1);
		if (r == 0)
			r = construct(d, v->pairs[i].value, depth + 1);
	}
	return r;
}

/* A list of maps of one pair each, which become lists of two. */
static int construct_pairs(struct value_document *d, struct value *v, unsigned depth)
{
	v->state = CONSTRUCTED;
	for (size_t i = 0; i < v->count; i++) {
		const struct value *map = v->items[i];
		struct value *both;
		int r;

		if (map->kind != VALUE_MAP || map->state != COMPOSED || map->count != 1)
			return value_fail(d, map->line, "a map of one key is wanted here");
		r = value_new(d, map->line, &both);
		if (r < 0)
			return r;
		both->items = value_alloc(d, 2 * sizeof(*both->items));
		if (!both->items)
			return -ENOMEM;
		both->kind = VALUE_LIST;
		both->tag = YAML_SEQ;
		both->count = 2;
		both->items[0] = map->pairs[0].key;
		both->items[1] = map->pairs[0].value;
		v->items[i] = both;
		r = construct(d, both, depth + 1);
		if (r < 0)
			return r;
	}
	return 0;
}

static int construct_list(struct value_document *d, struct value *v, unsigned depth)
{
	int r = 0;

	v->state = CONSTRUCTED;
	for (size_t i = 0; r == 0 && i < v->count; i++)
		r = construct(d, v->items[i], depth + 1);
	return r;
}

/* The map of its elements becomes the text of the set. */
static int construct_set(struct value_document *d, struct value *v, unsigned depth)
{
	struct value_buffer b = { .max = VALUE_COUNT_MAX };
	int r = construct_map(d, v, depth);

	if (r == 0)
		r = value_sort(d, v);
	if (r == 0)
		r = v->count ? value_put(&b, "{", 1) : value_put(&b, "set()", 5);
	for (size_t i = 0; r == 0 && i < v->count; i++) {
		if (i > 0)
			r = value_put(&b, ", ", 2);
		if (r == 0)
			r = yaml_put_repr(d, &b, v->pairs[i].key);
	}
	if (r == 0 && v->count)
		r = value_put(&b, "}", 1);
	if (r == -E2BIG || (r == 0 && value_count(d, b.len) < 0))
		r = value_fail(d, v->line, "a set that is too large");
	if (r == 0)
		r = value_set_text(d, v, VALUE_OTHER, b.text, b.len);
	free(b.text);
	return r;
}

/* What lies in itself is met again while it is CONSTRUCTED in part; the writing of
 * the text finds that. */
static int construct(struct value_document *d, struct value *v, unsigned depth)
{
	if (v->kind == VALUE_MERGE || v->kind == VALUE_DEFAULT)
		return value_fail(d, v->line, "'%s' as a value; quote it", v->kind == VALUE_MERGE ? "<<" : "=");
	if ((v->kind != VALUE_LIST && v->kind != VALUE_MAP) || v->state == CONSTRUCTED)
		return 0;
	if (depth > VALUE_DEPTH_MAX)
		return value_fail(d, v->line, "nested deeper than %d", VALUE_DEPTH_MAX);
	if (v->kind == VALUE_MAP && v->tag == YAML_MAP)
		return construct_map(d, v, depth);
	if (v->kind == VALUE_MAP && v->tag == YAML_SET)
		return construct_set(d, v, depth);
	if (v->kind == VALUE_LIST && v->tag == YAML_SEQ)
		return construct_list(d, v, depth);
	if (v->kind == VALUE_LIST && (v->tag == YAML_OMAP || v->tag == YAML_PAIRS))
		return construct_pairs(d, v, depth);
	return value_fail(d, v->line, "a list or map with a tag that it cannot have");
}

/* The one document of the stream. */
static int read_stream(struct reader *rd, struct value **ret)
{
	int r = next(rd); /* the stream's start */

	if (r == 0)
		r = next(rd);
	if (r == 0 && rd->event.type == YAML_STREAM_END_EVENT)
		return value_new(rd->d, 1, ret);
	if (r == 0)
		r = next(rd);
	if (r == 0)
		r = compose(rd, 0, ret);
	if (r == 0)
		r = next(rd); /* the document's end */
	if (r == 0)
		r = next(rd);
	if (r == 0 && rd->event.type != YAML_STREAM_END_EVENT)
		r = value_fail(rd->d, line_of(&rd->event.start_mark), "a second document");
	return r;
}

static unsigned occurrences(const char *bytes, size_t len, const char *word, size_t word_len)
{
	const char *end = bytes + len;
	unsigned count = 0;

	for (const char *p = bytes; (p = memmem(p, (size_t)(end - p), word, word_len)); p++)
		count++;
	return count;
}

/* libyaml compares each directive with all before it. The second word is in both
 * orders of UTF-16. */
static int check_directives(struct value_document *d, const char *bytes, size_t len)
{
	static const char word[] = "%TAG", wide[] = "%\0T\0A\0G";

	if (occurrences(bytes, len, word, sizeof(word) - 1) > TAG_DIRECTIVES_MAX ||
	    occurrences(bytes, len, wide, sizeof(wide) - 1) > TAG_DIRECTIVES_MAX)
		return value_fail(d, 0, "more than %d directives %%TAG", TAG_DIRECTIVES_MAX);
	return 0;
}

/* libyaml skips a byte order mark before any line, where PyYAML has it in the text. */
static int check_marks(struct value_document *d, const char *bytes, size_t len)
{
	static const char mark[] = "\xef\xbb\xbf", little[] = "\xff\xfe", big[] = "\xfe\xff";
	bool found = false;

	if (len >= 2 && (!memcmp(bytes, little, 2) || !memcmp(bytes, big, 2))) {
		for (size_t i = 2; i + 1 < len && !found; i += 2)
			found = !memcmp(bytes, bytes + i, 2);
	} else if (len > 1) {
		found = memmem(bytes + 1, len - 1, mark, sizeof(mark) - 1);
	}
	return found ? value_fail(d, 0, "a byte order mark that is not at the begin") : 0;
}

int yaml_value(struct value_document *d, const char *bytes, size_t len, struct value **ret)
{
	struct reader rd = { .d = d, .bytes = bytes };
	struct value *v = NULL;
	int r = check_directives(d, bytes, len);

	if (r == 0)
		r = check_marks(d, bytes, len);
	if (r < 0)
		return r;
	if (!yaml_parser_initialize(&rd.parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&rd.parser, (const unsigned char *)bytes, len);
	r = read_stream(&rd, &v);
	yaml_event_delete(&rd.event);
	yaml_parser_delete(&rd.parser);
	tdestroy(rd.anchors, keep);
	free(rd.open.values);
	if (r == 0)
		r = construct(d, v, 0);
	if (r < 0)
		return r;
	*ret = v;
	return 0;
}
