/* JSON, read as Python's json.load() does from a text file. */
#ifndef EXPFS_FORMAT_JSON_VALUE_H
#define EXPFS_FORMAT_JSON_VALUE_H

#include "format/value.h"

/* All of the bytes as one value. -EINVAL with the reason
 * in the document. -ENOMEM. */
int json_value(struct value_document *d, const char *bytes, size_t len, struct value **ret);

#endif
