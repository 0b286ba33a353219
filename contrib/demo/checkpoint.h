/*
 * Checkpoints as the Hugging Face Trainer lays them out: a directory checkpoint-<step> with model, optimizer,
 * vocabulary and state of the trainer. The embedding has a file of its own, which never changes while it is frozen.
 */
#ifndef CHARLM_CHECKPOINT_H
#define CHARLM_CHECKPOINT_H

#include <jansson.h>

#include "model.h"
#include "text.h"

/* Writes run/checkpoint-<step>/; history is the list of what was logged so far. */
void checkpoint_save(const char *run, const struct model *model, const struct text *text, unsigned step,
		     json_t *history);

/* Reads a checkpoint directory into a model of the same shape; *ret_history is a new reference. */
void checkpoint_load(const char *directory, struct model *model, unsigned *ret_step, json_t **ret_history);

#endif
