/*
 * Forward, backward, Adam. The inner loops run over adjacent floats and add to each separately, which a compiler
 * vectorises without reordering sums: the same seed gives the same weights, bit by bit.
 */
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

struct activations {
	float input[BATCH][INPUT_SIZE];
	float hidden[BATCH][HIDDEN_SIZE];
	float output[BATCH][N_ASCII]; /* after the forward pass probabilities, then their gradient */
};

static unsigned parameter_size(const struct parameter *parameter)
{
	return parameter->rows ? parameter->rows * parameter->columns : parameter->columns;
}

/* From -1 to 1. */
static float random_float(uint64_t *seed)
{
	return (float)(random_next(seed) >> 40) * 0x1p-23f - 1;
}

static void parameter_init(struct parameter *p, const char *name, unsigned rows, unsigned columns, float spread,
			   uint64_t *seed)
{
	*p = (struct parameter){ .name = name, .rows = rows, .columns = columns };
	p->value = allocate(parameter_size(p), sizeof(float));
	p->gradient = allocate(parameter_size(p), sizeof(float));
	p->mean = allocate(parameter_size(p), sizeof(float));
	p->square = allocate(parameter_size(p), sizeof(float));
	for (unsigned i = 0; i < parameter_size(p); i++)
		p->value[i] = spread * random_float(seed);
}

/*
 * A row starts as the sum of a random vector for each of its two characters, so that pairs that share one look alike
 * before anything was learned, and a frozen embedding is of use.
 */
static void embedding_init(struct parameter *p, unsigned n_symbols, uint64_t *seed)
{
	float vectors[2 * N_ASCII][EMBEDDING_SIZE];

	for (unsigned v = 0; v < 2 * n_symbols; v++)
		for (unsigned i = 0; i < EMBEDDING_SIZE; i++)
			vectors[v][i] = random_float(seed);
	for (unsigned row = 0; row < n_symbols * n_symbols; row++)
		for (unsigned i = 0; i < EMBEDDING_SIZE; i++)
			p->value[row * EMBEDDING_SIZE + i] =
				vectors[row / n_symbols][i] + vectors[n_symbols + row % n_symbols][i];
}

void model_init(struct model *model, unsigned n_symbols, uint64_t seed, bool freeze_embedding)
{
	struct parameter *p = model->parameters;

	model->n_symbols = n_symbols;
	model->freeze_embedding = freeze_embedding;
	parameter_init(&p[EMBEDDING], "embedding.weight", n_symbols * n_symbols, EMBEDDING_SIZE, 0, &seed);
	embedding_init(&p[EMBEDDING], n_symbols, &seed);
	parameter_init(&p[HIDDEN_WEIGHT], "hidden.weight", INPUT_SIZE, HIDDEN_SIZE, 1 / sqrtf(INPUT_SIZE), &seed);
	parameter_init(&p[HIDDEN_BIAS], "hidden.bias", 0, HIDDEN_SIZE, 0, &seed);
	parameter_init(&p[OUTPUT_WEIGHT], "output.weight", HIDDEN_SIZE, n_symbols, 1 / sqrtf(HIDDEN_SIZE), &seed);
	parameter_init(&p[OUTPUT_BIAS], "output.bias", 0, n_symbols, 0, &seed);
}

void model_free(struct model *model)
{
	for (unsigned i = 0; i < N_PARAMETERS; i++) {
		free(model->parameters[i].value);
		free(model->parameters[i].gradient);
		free(model->parameters[i].mean);
		free(model->parameters[i].square);
	}
}

/* sum[j] += factor * row[j] */
static void add_scaled(float *restrict sum, const float *restrict row, float factor, unsigned n)
{
	for (unsigned j = 0; j < n; j++)
		sum[j] += factor * row[j];
}

static float dot(const float *a, const float *b, unsigned n)
{
	float sum = 0;

	for (unsigned j = 0; j < n; j++)
		sum += a[j] * b[j];
	return sum;
}

static unsigned embedding_row(const struct model *model, const uint8_t *context, unsigned pair)
{
	return context[2 * pair] * model->n_symbols + context[2 * pair + 1];
}

/* Turns logits into probabilities; returns the loss for the target. */
static float softmax(float *output, unsigned n, unsigned target)
{
	float highest = output[0], sum = 0;

	for (unsigned v = 1; v < n; v++)
		highest = fmaxf(highest, output[v]);
	for (unsigned v = 0; v < n; v++)
		sum += output[v] = expf(output[v] - highest);
	for (unsigned v = 0; v < n; v++)
		output[v] /= sum;
	return -logf(fmaxf(output[target], 1e-30f));
}

static float forward(const struct model *model, const struct batch *batch, struct activations *a)
{
	const struct parameter *p = model->parameters;
	unsigned n = model->n_symbols;
	float loss = 0;

	for (unsigned b = 0; b < BATCH; b++) {
		for (unsigned i = 0; i < PAIRS; i++)
			memcpy(a->input[b] + i * EMBEDDING_SIZE,
			       p[EMBEDDING].value + embedding_row(model, batch->context[b], i) * EMBEDDING_SIZE,
			       EMBEDDING_SIZE * sizeof(float));

		memcpy(a->hidden[b], p[HIDDEN_BIAS].value, sizeof(a->hidden[b]));
		for (unsigned i = 0; i < INPUT_SIZE; i++)
			add_scaled(a->hidden[b], p[HIDDEN_WEIGHT].value + i * HIDDEN_SIZE, a->input[b][i], HIDDEN_SIZE);
		for (unsigned i = 0; i < HIDDEN_SIZE; i++)
			a->hidden[b][i] = tanhf(a->hidden[b][i]);

		memcpy(a->output[b], p[OUTPUT_BIAS].value, n * sizeof(float));
		for (unsigned i = 0; i < HIDDEN_SIZE; i++)
			add_scaled(a->output[b], p[OUTPUT_WEIGHT].value + i * n, a->hidden[b][i], n);
		loss += softmax(a->output[b], n, batch->target[b]);
	}
	return loss / BATCH;
}

/* Adds up the gradients of one example. */
static void backward(struct model *model, const struct batch *batch, unsigned b, struct activations *a)
{
	struct parameter *p = model->parameters;
	float hidden[HIDDEN_SIZE], input[INPUT_SIZE];
	float *output = a->output[b];
	unsigned n = model->n_symbols;

	output[batch->target[b]] -= 1;
	add_scaled(p[OUTPUT_BIAS].gradient, output, 1.0f / BATCH, n);
	for (unsigned i = 0; i < HIDDEN_SIZE; i++) {
		float h = a->hidden[b][i];

		add_scaled(p[OUTPUT_WEIGHT].gradient + i * n, output, h / BATCH, n);
		hidden[i] = dot(p[OUTPUT_WEIGHT].value + i * n, output, n) * (1 - h * h);
	}

	add_scaled(p[HIDDEN_BIAS].gradient, hidden, 1.0f / BATCH, HIDDEN_SIZE);
	for (unsigned i = 0; i < INPUT_SIZE; i++)
		add_scaled(p[HIDDEN_WEIGHT].gradient + i * HIDDEN_SIZE, hidden, a->input[b][i] / BATCH, HIDDEN_SIZE);

	if (model->freeze_embedding)
		return;
	for (unsigned i = 0; i < INPUT_SIZE; i++)
		input[i] = dot(p[HIDDEN_WEIGHT].value + i * HIDDEN_SIZE, hidden, HIDDEN_SIZE);
	for (unsigned i = 0; i < PAIRS; i++)
		add_scaled(p[EMBEDDING].gradient + embedding_row(model, batch->context[b], i) * EMBEDDING_SIZE,
			   input + i * EMBEDDING_SIZE, 1.0f / BATCH, EMBEDDING_SIZE);
}

static void adam(struct parameter *p, float learning_rate, unsigned step)
{
	const float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
	float rate = learning_rate * sqrtf(1 - powf(beta2, (float)step)) / (1 - powf(beta1, (float)step));

	for (unsigned i = 0; i < parameter_size(p); i++) {
		float g = p->gradient[i];

		p->mean[i] = beta1 * p->mean[i] + (1 - beta1) * g;
		p->square[i] = beta2 * p->square[i] + (1 - beta2) * g * g;
		p->value[i] -= rate * p->mean[i] / (sqrtf(p->square[i]) + epsilon);
		p->gradient[i] = 0;
	}
}

float model_loss(const struct model *model, const struct batch *batch)
{
	struct activations a;

	return forward(model, batch, &a);
}

float model_train(struct model *model, const struct batch *batch, float learning_rate, unsigned step)
{
	struct activations a;
	float loss = forward(model, batch, &a);

	for (unsigned b = 0; b < BATCH; b++)
		backward(model, batch, b, &a);
	for (unsigned i = model->freeze_embedding ? EMBEDDING + 1 : EMBEDDING; i < N_PARAMETERS; i++)
		adam(&model->parameters[i], learning_rate, step);
	return loss;
}
