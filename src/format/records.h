/* The records of a zip file, to be found by name. */
#ifndef EXPFS_FORMAT_RECORDS_H
#define EXPFS_FORMAT_RECORDS_H

#include "format/tensors.h"
#include "format/zip.h"

struct records {
	struct zip_record *v; /* sorted by name; these have a NUL behind them */
	size_t n;
	const struct zip_record *first; /* in the directory */
};

/* Reads the directory; what it makes lies in the arena of ts. Two records of one
 * name are refused: readers disagree about which one counts. */
int records_read(struct tensors *ts, struct records *ret);

/* NULL if there is none. */
const struct zip_record *records_find(const struct records *rs, const char *name, size_t len);

#endif
