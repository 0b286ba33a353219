/* How two configurations differ, key by key. */
#ifndef EXPFS_FORMAT_HP_DIFF_H
#define EXPFS_FORMAT_HP_DIFF_H

/* key: those of maps in maps are joined by dots. from, to: the values as JSON; NULL: it has none. */
typedef int (*hp_diff_fn)(void *arg, const char *key, const char *from, const char *to);

/* Calls f for each value that one of two texts of hp_whole() has and the other has not, in the order of
 * the keys; ends early with what it returns other than 0. -EINVAL: one is no such text. -ENOMEM. */
int hp_diff(const char *from, const char *to, hp_diff_fn f, void *arg);

/* The type of such a value: "text", "int", "float" …; "none" of NULL. */
const char *hp_type(const char *json);

#endif
