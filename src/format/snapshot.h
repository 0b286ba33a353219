/* WeightsLab's data snapshots, and the text by which WeightsLab names a data
 * state: <id>:d<0|1>:t, sorted by id as text, joined by '|'. The first 8 hex
 * digits of its SHA-256 are the DATA segment.
 *
 * After the t stand no tags: WeightsLab means to put them there, and looks for
 * them where none are (1.2.6, 1.4.0 and 2.0.3 were read). So tagging changes no
 * hash; discarding does.
 *
 * The files of a snapshot, and which of them give the text:
 *
 *   <data8>_data_snapshot.json (up to 1.4.0)        has "data", a list of rows: text
 *   <data8>_data_snapshot.json (later)              has "data_file", where the rows are: none
 *   <data8>_data_snapshot.data.json (later, where   has the rows as column → number → value:
 *     Parquet could not be written)                   text
 *   <data8>_data_snapshot.parquet (later)           is not read here: none
 *
 * Where there is no text the caller lists paths and digests instead
 * (format/listing.h). Rows are samples; those with an annotation_id other than 0
 * are parts of a sample and do not count. discarded counts as it does in Python's
 * if, null and NaN as false. */
#ifndef EXPFS_FORMAT_SNAPSHOT_H
#define EXPFS_FORMAT_SNAPSHOT_H

#include "format/reason.h"

#define SNAPSHOT_SIZE_MAX (64u << 20)
#define SNAPSHOT_ROWS_MAX 1000000u

struct snapshot {
	char *text;      /* of len bytes, NUL-terminated; NULL: this form does not give it */
	size_t len;
	size_t samples;  /* that the text names */
	char *data_file; /* a bare name, beside this file; NULL: none is named */
	char exp_hash[25]; /* "": none */
};

/* -EINVAL with the reason: does not parse, or is no data snapshot. */
int snapshot_parse(const char *text, size_t len, struct snapshot *ret, struct reason *why);
void snapshot_clear(struct snapshot *s);

#endif
