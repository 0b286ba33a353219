/*
 * A character language model: the 16 characters before the wanted one, taken as 8 pairs, are looked up in an embedding,
 * go through one hidden layer, and give a probability for each character. float32, trained by Adam, deterministic.
 */
#ifndef CHARLM_MODEL_H
#define CHARLM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

#define PAIRS (CONTEXT / 2)
#define EMBEDDING_SIZE 32
#define INPUT_SIZE (PAIRS * EMBEDDING_SIZE)
#define HIDDEN_SIZE 256

enum {
	EMBEDDING,     /* a row of EMBEDDING_SIZE for each pair of characters */
	HIDDEN_WEIGHT, /* INPUT_SIZE x HIDDEN_SIZE */
	HIDDEN_BIAS,
	OUTPUT_WEIGHT, /* HIDDEN_SIZE x characters */
	OUTPUT_BIAS,
	N_PARAMETERS
};

struct parameter {
	const char *name;
	unsigned rows, columns; /* rows is 0 for a vector */
	float *value;
	float *gradient;
	float *mean, *square;   /* Adam's moving averages of the gradient and of its square */
};

struct model {
	unsigned n_symbols;
	bool freeze_embedding;  /* the embedding stays as it was made */
	struct parameter parameters[N_PARAMETERS];
};

/* A model with random weights; model_free() frees what it holds. */
void model_init(struct model *model, unsigned n_symbols, uint64_t seed, bool freeze_embedding);
void model_free(struct model *model);

/* The mean loss (nats a character) of a batch. */
float model_loss(const struct model *model, const struct batch *batch);

/* The same, then one step of Adam; step counts from 1. */
float model_train(struct model *model, const struct batch *batch, float learning_rate, unsigned step);

#endif
