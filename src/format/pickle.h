/* What a Python pickle says, as a tree of values, told without running it.
 *
 * A pickle is a program for a stack machine. The data part of it is carried out
 * here; where it would have Python import or call something, the tree has a
 * node that says what. So nothing is ever imported, called or opened.
 *
 * Protocols 0 to 5 are read, except for what lies outside of the stream: codes
 * of the extension registry, and out-of-band buffers.
 *
 * Bounds: PICKLE_MAX bytes of stream, PICKLE_MEMORY_MAX bytes for that and all
 * that is built of it; time is linear in the stream. Depth has no bound here, and what
 * was put into the memo may stand in many places, its own inside too: who walks
 * the tree has to bound depth and visits. */
#ifndef EXPFS_FORMAT_PICKLE_H
#define EXPFS_FORMAT_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/util.h"

#define PICKLE_MAX ((size_t)32 << 20)
#define PICKLE_MEMORY_MAX ((size_t)96 << 20)

enum pickle_kind {
	PICKLE_NONE,
	PICKLE_BOOL,	   /* integer: 0 or 1 */
	PICKLE_INT,	   /* integer */
	PICKLE_BIG_INT,	   /* one beyond 64 bits; its value is not kept */
	PICKLE_FLOAT,	   /* real */
	PICKLE_STR,	   /* bytes: UTF-8 where the writer was sound; of Python 2, any */
	PICKLE_BYTES,	   /* bytes; also a bytearray */
	PICKLE_TUPLE,	   /* items */
	PICKLE_LIST,	   /* items */
	PICKLE_SET,	   /* items; also a frozenset */
	PICKLE_DICT,	   /* items: key, value, key, value …, in the order of the stream */
	PICKLE_GLOBAL,	   /* global */
	PICKLE_OBJECT,	   /* object */
	PICKLE_PERSISTENT, /* persistent: the id of something that lies elsewhere */
};

struct pickle_value;

struct pickle_bytes {
	const uint8_t *p; /* in the stream, or beside the tree */
	size_t len;
};

struct pickle_items {
	struct pickle_value **v;
	uint32_t n, room;
};

struct pickle_global {
	struct pickle_bytes module, name;
};

/* What calling a callable gives: REDUCE, NEWOBJ, NEWOBJ_EX, INST, OBJ. */
struct pickle_object {
	struct pickle_value *callable; /* a global or an object */
	struct pickle_value *args;     /* a tuple */
	struct pickle_value *kwargs;   /* a dict, or NULL */
	struct pickle_value *state;    /* what BUILD gives to it, or NULL */
	struct pickle_items list;      /* what is appended to it */
	struct pickle_items dict;      /* what is set in it: key, value … */
};

struct pickle_value {
	enum pickle_kind kind;
	union {
		int64_t integer;
		double real;
		struct pickle_bytes bytes;
		struct pickle_items items;
		struct pickle_global *global;
		struct pickle_object *object;
		struct pickle_value *persistent;
	};
};

struct pickle;

/* Reads the n bytes at p up to STOP; what follows that is not looked at. The
 * tree refers to them: they have to stay until it is freed.
 * -EBADMSG: it is no such pickle, or beyond the bounds; *ret_why, static text,
 * says why and, where it is an opcode, which. -ENOMEM. */
int pickle_parse(const uint8_t *p, size_t n, struct pickle **ret, const char **ret_why);
void pickle_free(struct pickle *p);

static inline void pickle_freep(struct pickle **p)
{
	pickle_free(*p);
}
#define _cleanup_pickle_ _cleanup_(pickle_freep)

const struct pickle_value *pickle_top(const struct pickle *p);

bool pickle_bytes_are(struct pickle_bytes b, const char *text);

/* Whether v is the str text. */
bool pickle_is_str(const struct pickle_value *v, const char *text);

/* The name of a global of that module, NULL for other values. */
const struct pickle_bytes *pickle_name_in(const struct pickle_value *v, const char *module);

/* The keys and values of a dict, or of an object that is filled like one
 * (OrderedDict, defaultdict); NULL for other values. */
const struct pickle_items *pickle_entries(const struct pickle_value *v);

/* The value of a str key there, NULL if there is none. */
const struct pickle_value *pickle_find(const struct pickle_value *v, const char *key);

#endif
