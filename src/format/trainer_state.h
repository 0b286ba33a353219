/* Hugging Face's trainer_state.json: its log of metrics, and what it holds for
 * the best checkpoint. The file is always written whole. */
#ifndef EXPFS_FORMAT_TRAINER_STATE_H
#define EXPFS_FORMAT_TRAINER_STATE_H

#include "format/metrics.h"

#define TRAINER_STATE_SIZE_MAX (64u << 20)

struct trainer_state {
	int64_t global_step, best_global_step; /* -1: missing or null */
	double epoch, best_metric;             /* NaN: likewise */
	char *best_model_checkpoint;           /* a path as the training saw it, or NULL */
};

/* Gives f the rows of log_history; those that are none count in m. -EINVAL with
 * the reason: the text does not parse; f has then been given nothing. */
int trainer_state_parse(const char *text, size_t len, struct metrics *m, metrics_fn f, void *data,
			struct trainer_state *ret, struct reason *why);
void trainer_state_clear(struct trainer_state *s);

#endif
