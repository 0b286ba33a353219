/* What the operations' answers are built from. */
#ifndef EXPFS_OP_REPLY_H
#define EXPFS_OP_REPLY_H

#include "op/op.h"

struct branch;

/* Text of any encoding as JSON: bytes that are no UTF-8 are written \xHH. */
json_t *reply_text(const char *bytes);

/* A path of the room exp, as users write it: with a slash in front. */
json_t *reply_path(const char *path);

/* The same as it can be typed, to be freed: in the mount or, where there is none, from the top of the store that --store names. */
char *reply_place(const struct expfs *ex, const char *path);

/* The path of a branch's run, null if that was removed; the answer to who wants it to take something then. */
json_t *reply_run(const struct branch *b);
enum op_exit reply_removed(const struct expfs *ex, json_t **ret, const struct branch *b);

/* A time in ns since 1970, as in RFC 3339; and such a text as the clock of the process shows it, "" where it is none. */
#define REPLY_TIME_TEXT 32
json_t *reply_time(int64_t ns);
void reply_time_text(const char *text, char ret[static REPLY_TIME_TEXT]);

/* A number; one that is none in JSON as text: "nan", "inf", "-inf". */
json_t *reply_number(double value);

/* What json_dumps() gives, with each real number as the shortest that is read back as the same; to be freed. */
char *reply_dump(const json_t *j, size_t flags);

/* A path in the arguments of an operation, of any bytes, from the top of the store: as "path" with
 * a slash in front or, where it is no UTF-8, in hex as "path_hex". */
int reply_put_path(json_t *args, const char *path);
char *reply_get_path(const json_t *args); /* to be freed; NULL: there is none */

/* *ret is {"error": …}; exit is given back. */
enum op_exit reply_error(json_t **ret, enum op_exit exit, const char *fmt, ...) _printf_(3, 4);

static inline void cleanup_json(json_t **j)
{
	json_decref(*j);
}
#define _cleanup_json_ _cleanup_(cleanup_json)

#endif
