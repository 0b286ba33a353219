/* The name beside a name, while an import makes that: .NAME.import-XXXXXXXX.part, which has no role. */
#ifndef EXPFS_SYNC_IMPORT_NAME_H
#define EXPFS_SYNC_IMPORT_NAME_H

#include <stdbool.h>

#define IMPORT_PART 256

void import_part_name(const char *name, char ret[static IMPORT_PART]);

/* Whether it is such a name. */
bool import_is_part(const char *name);

#endif
