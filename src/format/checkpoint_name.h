/* What names of checkpoints, and of files in them, say beside the step (format/role.h). */
#ifndef EXPFS_FORMAT_CHECKPOINT_NAME_H
#define EXPFS_FORMAT_CHECKPOINT_NAME_H

#include <stdbool.h>
#include <stdint.h>

/* The number after "epoch" or "ep" where that begins a word: best_epoch_07.pt, epoch=3-step=90.ckpt, model-ep12.pt.
 * False where there is none, two that differ, or one beyond 2^63-1. */
bool epoch_of_name(const char *name, int64_t *ret);

/* Whether a file of a checkpoint directory, path below it, can hold the model: not what tools call the state of
 * the optimizer, the scheduler, the scaler, random numbers, or arguments. */
bool member_holds_model(const char *path);

#endif
