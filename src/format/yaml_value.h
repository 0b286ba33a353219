/* YAML, read as yaml.safe_load() of PyYAML 6.0 does.
 *
 * The syntax is libyaml's, which differs from PyYAML's own scanner in details.
 * Where one of the two takes a document and the other does not:
 * - taken here only: tabs between tokens and in plain scalars; a question mark in
 *   one in flow style; a tag right before a comma or bracket
 * - taken there only: escapes of surrogates ("\ud83d\ude00"); a block scalar whose
 *   first line begins with a tab; a colon right before a comma or bracket in flow
 *   style; directives other than %YAML 1.1, 1.2 and %TAG
 * Not taken here either, though it is there, as no file has use for it:
 * - a byte order mark that is not at the begin
 * - more than 16 directives %TAG, and what value.h and hp.h limit
 * - a map merged into itself; merged maps or lists of them with tags of their own
 * - "=" or "<<" as a key that is used as a value by an alias; a map with a key
 *   "=" in the place of a scalar
 * - numbers in digits of other scripts, after a tag; more than 14 sexagesimal
 *   parts
 * - sets of several types, of dates, of bytes, of strings that are not in ASCII
 *
 * A set's text in Python hangs on the order of hashes, which changes from
 * process to process: here it is sorted.
 * Of maps merged in a list the first that has a key gives its value, as YAML has
 * it and PyYAML up to 6.0.3; in 6.0.4 the last does unless the key is one
 * character. */
#ifndef EXPFS_FORMAT_YAML_VALUE_H
#define EXPFS_FORMAT_YAML_VALUE_H

#include "format/value.h"

/* The one document of the bytes as a value; VALUE_NULL for none. -EINVAL with the reason in the document. -ENOMEM. */
int yaml_value(struct value_document *d, const char *bytes, size_t len, struct value **ret);

#endif
