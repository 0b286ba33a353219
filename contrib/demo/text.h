/* The text that the model learns, as numbers of its characters, and the pieces that training and validation see. */
#ifndef CHARLM_TEXT_H
#define CHARLM_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define BATCH 64    /* examples in one batch */
#define CONTEXT 16  /* characters that the model sees before the one it predicts */
#define N_ASCII 128 /* a text is ASCII */

/* Numbers below 2^64 in an order that only the seed decides; any value is a seed. */
uint64_t random_next(uint64_t *seed);

struct text {
	unsigned n_symbols;    /* different characters */
	char symbols[N_ASCII]; /* number -> character, ascending */
	uint8_t *data;         /* the text as numbers */
	size_t n_training;     /* the first so many are for training, ... */
	size_t n_data;         /* ... the rest for validation */
};

struct batch {
	uint8_t context[BATCH][CONTEXT];
	uint8_t target[BATCH];
};

/* Reads a text file, which must be ASCII; the caller frees ret_text->data. */
void text_load(const char *path, struct text *ret_text);

/*
 * A batch from the training part. It depends on the seed and the step alone, so that a resumed training
 * sees what an uninterrupted one would have seen.
 */
void text_training_batch(const struct text *text, uint64_t seed, unsigned step, struct batch *ret_batch);

/* Batch i of n, spread evenly over the validation part. */
void text_validation_batch(const struct text *text, unsigned i, unsigned n, struct batch *ret_batch);

#endif
