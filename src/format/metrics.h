/* Rows of metrics (step, name, value) from what trainings write beside their
 * checkpoints: metrics.jsonl, metrics.csv; trainer_state.json is in
 * format/trainer_state.h.
 *
 * The step is the first of these that a row has as a number: step, global_step,
 * _step, iteration, iter, iter_num, epoch; a whole one, 0 or more. All else that
 * is a number is a metric, NaN and infinities too; texts, truth values, empty
 * cells and nested values are not.
 *
 * A file that grows is read on: give it from where the last call came to, which
 * is a line's begin. Of a line not yet ended nothing is taken, unless the caller
 * says that this is the end: that no one is writing the file. Lines that are no
 * rows are counted, the reason of the first is kept, and reading goes on. */
#ifndef EXPFS_FORMAT_METRICS_H
#define EXPFS_FORMAT_METRICS_H

#include "format/pyjson.h"

#define METRICS_LINE_MAX (1u << 20) /* bytes; longer ones are bad */
#define METRICS_NAME_MAX 255u       /* metrics of longer names, or of none, are passed over */
#define METRICS_COLUMNS_MAX 4096u

/* A negative result ends reading and becomes the reader's result. */
typedef int (*metrics_fn)(void *data, int64_t step, const char *name, double value);

/* Zero before the first call for a file; kept by the caller from call to call. */
struct metrics {
	size_t lines; /* gone over */
	size_t rows;  /* lines that had a step */
	size_t bad;
	struct reason why; /* of the first bad one */
	bool by_epoch; /* the row that is being given has no step but its epoch */
};

/* A JSON object in each line. *ret_used: how much of the text is done with.
 * -EFBIG: the text is more than METRICS_LINE_MAX bytes of one line. */
int metrics_jsonl(struct metrics *m, const char *text, size_t len, bool end, metrics_fn f, void *data,
		  size_t *ret_used);

/* The length of the header with which a metrics.csv begins; 0: not all of it is
 * there yet. */
size_t metrics_csv_header(const char *text, size_t len);

/* Rows of cells (RFC 4180) below that header. Rows that repeat it are passed over.
 * Otherwise as metrics_jsonl(); -EINVAL also: the header has no column of steps,
 * or too many columns; m->why says so. */
int metrics_csv(struct metrics *m, const char *header, size_t header_len, const char *text, size_t len, bool end,
		metrics_fn f, void *data, size_t *ret_used);

/* A number as Python writes floats, and no more. */
bool metrics_number(const char *text, double *ret);

/* The following are what the readers share. */

/* The place of a name among those of steps, the best 0; -1: no such name. */
int metrics_step_rank(const char *name);
bool metrics_rank_is_epoch(int rank);

/* The same number as a step, -1 where it is none. */
int64_t metrics_step(double number);

/* Counts a line that is no row; why may be m->why. */
void metrics_bad(struct metrics *m, size_t line, const char *why);

/* From an object's first token to its last: the step in it, -1 where it is no
 * whole number, and the rank of its name, -1 where there is none. -EINVAL: does
 * not parse. */
int metrics_find_step(struct pyjson *j, int64_t *ret_step, int *ret_rank);

/* From an object's first token to its last: gives f its metrics. */
int metrics_object(struct pyjson *j, int64_t step, int rank, metrics_fn f, void *data);

#endif
