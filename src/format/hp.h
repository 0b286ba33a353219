/* The HP segment: from a run's configuration files to eight characters.
 *
 *   hp_parse()    for each file, when it has changed: bytes → text
 *   hp_whole()    the texts of all files → the text that is hashed
 *   hp_digest()   that text → digest, whose begin is the segment
 *
 * A text is what Python's json.dumps(…, sort_keys=True, default=str) gives for
 * what yaml.safe_load() or json.load() of PyYAML 6.0 and Python 3.11 give for the
 * bytes: ASCII, one line, equal for equal configurations. format/yaml_value.h
 * says where it is not so. */
#ifndef EXPFS_FORMAT_HP_H
#define EXPFS_FORMAT_HP_H

#include <stddef.h>

#define HP_SIZE_MAX (16u << 20) /* of a file; more is not parsed */
#define HP_TEXT_MAX (16u << 20) /* of a text, as aliases may make much of little */

/* The keys of the default configuration's hash.ignore. */
extern const char *const hp_ignore_default[];

/* The text of one file: a map, without the keys in ignore (NULL-ended) at its
 * top; a file with nothing in it is an empty map. A name that ends in .json is
 * read as JSON, any other as YAML. auditor_mode is not added.
 * *ret_text is to be freed. -EINVAL: does not parse, with *ret_error, to be
 * freed, saying where and why in one line. -ENOMEM.
 * Nor do more values or levels parse than format/value.h says, so that hostile
 * bytes cost time and memory in proportion to these limits. */
int hp_parse(const void *bytes, size_t len, const char *name, const char *const *ignore, char **ret_text,
	     char **ret_error);

struct hp_file {
	const char *path; /* relative to the run, NUL-ended, any bytes */
	const char *text; /* of hp_parse() */
};

/* One file's text, or an object of all files' texts by path, with auditor_mode
 * false at its top if that is absent; of no files the text of an empty map.
 * Paths are unlike each other, in any order. *ret is to be freed. -ENOMEM. */
int hp_whole(const struct hp_file *files, size_t count, char **ret);

/* SHA-256 of a text in hexadecimal digits. The first 8 are the segment; after a
 * collision the next 8. -ENOMEM. */
#define HP_SEGMENT_LEN 8
#define HP_DIGEST_LEN 64
int hp_digest(const char *text, char ret[HP_DIGEST_LEN + 1]);

#endif
