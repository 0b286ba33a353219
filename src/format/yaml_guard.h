/* What has to be asked of a YAML text before libyaml sees it.
 *
 * libyaml compares each %TAG directive with all before it: 740 KB of them take
 * seconds. Programs write none, and people few. */
#ifndef EXPFS_FORMAT_YAML_GUARD_H
#define EXPFS_FORMAT_YAML_GUARD_H

#include <stddef.h>

/* NULL, or the reason why the text, in any encoding that YAML knows, is not to
 * be given to libyaml. */
const char *yaml_guard(const char *text, size_t len);

#endif
