/* Checkpoints. trainer_state.json is written last: a directory that has it is whole. */
#include "checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "safetensors.h"

static struct tensor tensor_of(const struct parameter *p, const char *prefix, float *data)
{
	struct tensor tensor = { .rows = p->rows, .columns = p->columns, .data = data };

	snprintf(tensor.name, sizeof(tensor.name), "%s%s", prefix, p->name);
	return tensor;
}

/* Writes or reads the tensors of one file of a checkpoint. */
typedef void (*transfer_fn)(const char *path, const struct tensor *tensors, size_t n_tensors);

static void transfer_tensors(const char *directory, const struct model *model, transfer_fn transfer)
{
	const struct parameter *p = model->parameters;
	struct tensor weights[N_PARAMETERS], moments[2 * N_PARAMETERS];
	size_t n_moments = 0;
	char *path;

	for (unsigned i = 0; i < N_PARAMETERS; i++) {
		weights[i] = tensor_of(&p[i], "", p[i].value);
		if (i == EMBEDDING && model->freeze_embedding)
			continue;
		moments[n_moments++] = tensor_of(&p[i], "exp_avg.", p[i].mean);
		moments[n_moments++] = tensor_of(&p[i], "exp_avg_sq.", p[i].square);
	}

	path = path_join(directory, "embedding.safetensors");
	transfer(path, &weights[EMBEDDING], 1);
	free(path);
	path = path_join(directory, "model.safetensors");
	transfer(path, &weights[EMBEDDING + 1], N_PARAMETERS - 1);
	free(path);
	path = path_join(directory, "optimizer.safetensors");
	transfer(path, moments, n_moments);
	free(path);
}

static void put_json(const char *directory, const char *name, const json_t *json)
{
	char *path = path_join(directory, name);
	char *text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(6));

	if (!text)
		die("out of memory");
	file_put(path, text, strlen(text));
	free(text);
	free(path);
}

static json_t *vocabulary(const struct text *text)
{
	json_t *vocabulary = json_object();

	for (unsigned i = 0; i < text->n_symbols; i++) {
		char symbol[2] = { text->symbols[i], 0 };

		json_object_set_new(vocabulary, symbol, json_integer(i));
	}
	return vocabulary;
}

void checkpoint_save(const char *run, const struct model *model, const struct text *text, unsigned step,
		     json_t *history)
{
	char name[32], *directory;
	json_t *json;

	snprintf(name, sizeof(name), "checkpoint-%u", step);
	directory = path_join(run, name);
	directory_make(directory);

	json = vocabulary(text);
	put_json(directory, "vocab.json", json);
	json_decref(json);
	transfer_tensors(directory, model, safetensors_write);
	json = json_pack("{s: i, s: O}", "global_step", (int)step, "log_history", history);
	put_json(directory, "trainer_state.json", json);
	json_decref(json);
	free(directory);
}

void checkpoint_load(const char *directory, struct model *model, unsigned *ret_step, json_t **ret_history)
{
	char *path = path_join(directory, "trainer_state.json");
	json_t *state, *history;
	size_t size;
	char *file = file_get(path, &size);
	int step;

	state = json_loadb(file, size, 0, NULL);
	if (json_unpack(state, "{s: i, s: O}", "global_step", &step, "log_history", &history) < 0 || step < 0)
		die("%s: is no state of a trainer", path);
	json_decref(state);
	free(file);
	free(path);

	transfer_tensors(directory, model, safetensors_read);
	*ret_step = (unsigned)step;
	*ret_history = history;
}
