/*
 * charlm trains a small character language model and leaves in a directory what trainers leave there: config.yaml,
 * metrics.jsonl that grows line by line, and a checkpoint every 50 steps. It knows nothing of expfs.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint.h"
#include "file.h"
#include "model.h"
#include "text.h"

#define SEED 1
#define LOG_EVERY 10
#define SAVE_EVERY 50
#define VALIDATION_BATCHES 16

struct options {
	const char *run;
	const char *resume;
	unsigned steps;
	float learning_rate;
	bool freeze_embedding;
};

static _Noreturn void usage(void)
{
	fputs("usage: charlm RUN_DIR [--steps N] [--lr X] [--freeze-embedding] [--resume CHECKPOINT_DIR]\n", stderr);
	exit(2);
}

static void options_parse(int argc, char **argv, struct options *ret_options)
{
	static const struct option names[] = {
		{ "steps", required_argument, NULL, 's' },
		{ "lr", required_argument, NULL, 'l' },
		{ "freeze-embedding", no_argument, NULL, 'f' },
		{ "resume", required_argument, NULL, 'r' },
		{ 0 }
	};
	struct options options = { .steps = 200, .learning_rate = 0.003f };
	char *end = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "", names, NULL)) != -1)
		switch (c) {
		case 's':
			options.steps = (unsigned)strtoul(optarg, &end, 10);
			if (*end || options.steps < 1 || options.steps > 1000000)
				usage();
			break;
		case 'l':
			options.learning_rate = strtof(optarg, &end);
			if (*end || !(options.learning_rate > 0 && isfinite(options.learning_rate)))
				usage();
			break;
		case 'f':
			options.freeze_embedding = true;
			break;
		case 'r':
			options.resume = optarg;
			break;
		default:
			usage();
		}
	if (argc - optind != 1)
		usage();
	options.run = argv[optind];
	*ret_options = options;
}

/* YAML 1.1 takes 1e-05 for text and 1.0e-05 for a number, hence %.5e for the learning rate. */
static void config_write(const struct options *options)
{
	char *path = path_join(options->run, "config.yaml");
	char yaml[512];
	int n = snprintf(yaml, sizeof(yaml),
			 "model: charlm\nseed: %d\nbatch_size: %d\ncontext: %d\nembedding_size: %d\nhidden_size: %d\n"
			 "learning_rate: %.5e\nfreeze_embedding: %s\n",
			 SEED, BATCH, CONTEXT, EMBEDDING_SIZE, HIDDEN_SIZE, (double)options->learning_rate,
			 options->freeze_embedding ? "true" : "false");

	file_put(path, yaml, (size_t)n);
	free(path);
}

static float validation_loss(const struct model *model, const struct text *text)
{
	struct batch batch;
	float loss = 0;

	for (unsigned i = 0; i < VALIDATION_BATCHES; i++) {
		text_validation_batch(text, i, VALIDATION_BATCHES, &batch);
		loss += model_loss(model, &batch);
	}
	return loss / VALIDATION_BATCHES;
}

/* One line of metrics.jsonl, in one write. */
static void metrics_append(int fd, const char *path, const json_t *entry)
{
	char *line = json_dumps(entry, JSON_REAL_PRECISION(6));
	size_t length;

	if (!line)
		die("out of memory");
	length = strlen(line);
	line[length] = '\n';
	file_write(fd, path, line, length + 1);
	free(line);
}

static void train(const struct options *options, struct model *model, const struct text *text, unsigned step,
		  json_t *history)
{
	char *path = path_join(options->run, "metrics.jsonl");
	int fd = file_append_open(path);
	unsigned last = step + options->steps, n_losses = 0;
	float losses = 0;

	while (step++ < last) {
		bool save = step % SAVE_EVERY == 0 || step == last;
		struct batch batch;
		json_t *entry;

		text_training_batch(text, SEED, step, &batch);
		losses += model_train(model, &batch, options->learning_rate, step);
		n_losses++;
		if (!save && step % LOG_EVERY != 0)
			continue;

		entry = json_pack("{s: i, s: f}", "step", (int)step, "loss", (double)losses / n_losses);
		if (save)
			json_object_set_new(entry, "val_loss", json_real(validation_loss(model, text)));
		metrics_append(fd, path, entry);
		json_array_append_new(history, entry);
		if (save) {
			checkpoint_save(options->run, model, text, step, history);
			printf("step %u  loss %.3f  val_loss %.3f  checkpoint-%u\n", step, (double)losses / n_losses,
			       json_real_value(json_object_get(entry, "val_loss")), step);
			fflush(stdout);
		}
		losses = 0;
		n_losses = 0;
	}
	file_close(fd, path);
	free(path);
}

int main(int argc, char **argv)
{
	struct options options;
	struct model model;
	struct text text;
	json_t *history;
	unsigned step = 0;

	options_parse(argc, argv, &options);
	text_load(CHARLM_TEXT, &text);
	model_init(&model, text.n_symbols, SEED, options.freeze_embedding);
	if (options.resume)
		checkpoint_load(options.resume, &model, &step, &history);
	else
		history = json_array();

	directory_make(options.run);
	config_write(&options);
	train(&options, &model, &text, step, history);

	json_decref(history);
	model_free(&model);
	free(text.data);
	return 0;
}
