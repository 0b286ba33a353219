/* The text. Its last tenth is for validation. */
#include "text.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"

/* splitmix64 */
uint64_t random_next(uint64_t *seed)
{
	uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void text_load(const char *path, struct text *ret_text)
{
	struct text text = { 0 };
	uint8_t number[N_ASCII] = { 0 };
	char *file;

	file = file_get(path, &text.n_data);
	text.n_training = text.n_data / 10 * 9;
	if (text.n_data - text.n_training <= CONTEXT)
		die("%s: too short to learn from", path);

	for (size_t i = 0; i < text.n_data; i++) {
		if ((unsigned char)file[i] >= N_ASCII)
			die("%s: is not ASCII", path);
		number[(unsigned char)file[i]] = 1;
	}
	for (unsigned c = 0; c < N_ASCII; c++)
		if (number[c]) {
			number[c] = (uint8_t)text.n_symbols;
			text.symbols[text.n_symbols++] = (char)c;
		}

	text.data = allocate(text.n_data, 1);
	for (size_t i = 0; i < text.n_data; i++)
		text.data[i] = number[(unsigned char)file[i]];
	free(file);
	*ret_text = text;
}

static void example(const struct text *text, size_t start, unsigned i, struct batch *batch)
{
	memcpy(batch->context[i], text->data + start, CONTEXT);
	batch->target[i] = text->data[start + CONTEXT];
}

void text_training_batch(const struct text *text, uint64_t seed, unsigned step, struct batch *ret_batch)
{
	uint64_t state = seed ^ ((uint64_t)step << 32);

	for (unsigned i = 0; i < BATCH; i++)
		example(text, random_next(&state) % (text->n_training - CONTEXT), i, ret_batch);
}

void text_validation_batch(const struct text *text, unsigned i, unsigned n, struct batch *ret_batch)
{
	size_t starts = text->n_data - text->n_training - CONTEXT;

	for (unsigned j = 0; j < BATCH; j++)
		example(text, text->n_training + ((size_t)i * BATCH + j) * starts / ((size_t)n * BATCH), j, ret_batch);
}
