/* formats WHAT FILE: what expfs reads in a file, as JSON, for the clients that let
 * the real programs write it.
 *
 *   manifest, state, options    the fields
 *   write                       no JSON: the manifest as expfs writes it
 *   data                        a data snapshot: its text, and the file that it names
 *   jsonl, csv, trainer         a list of [step, name, value]; values as text */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "format/manager_options.h"
#include "format/manifest.h"
#include "format/snapshot.h"
#include "format/state_file.h"
#include "format/trainer_state.h"
#include "util/io.h"

#define SIZE_MAX_READ (256u << 20)

static const struct reason none;

static json_t *read_manifest(const char *text, size_t len)
{
	static const char *const states[] = { "whole", "no latest", "no experiments", "empty", "broken" };
	struct manifest *m;
	json_t *entries = json_object(), *answer;

	if (manifest_parse(text, len, &m) < 0)
		return NULL;
	for (size_t i = 0; i < m->count; i++) {
		const struct manifest_entry *e = &m->entries[i];
		json_t *step = e->latest_weight_step < 0 ? json_null() : json_integer(e->latest_weight_step);

		json_object_set_new(entries, e->hash,
				    json_pack("{s:s?, s:s?, s:s?, s:s?, s:s?, s:s?, s:o, s:s?, s:s?}", "hp_hash", e->hp_hash,
					      "model_hash", e->model_hash, "data_hash", e->data_hash, "created", e->created,
					      "last_used", e->last_used, "latest_weight_checkpoint", e->latest_weight_checkpoint,
					      "latest_weight_step", step, "experiment_name", e->experiment_name, "notes", e->notes));
	}
	answer = json_pack("{s:o, s:s?, s:s?, s:s, s:s}", "experiments", entries, "latest_hash", m->latest_hash, "last_updated",
			   m->last_updated, "state", states[m->state], "why", m->why.text);
	manifest_free(m);
	return answer;
}

static int write_manifest(const char *text, size_t len)
{
	struct manifest *m;
	char *written;
	size_t n;

	if (manifest_parse(text, len, &m) < 0 || manifest_write(m, &written, &n) < 0)
		return 1;
	fwrite(written, 1, n, stdout);
	free(written);
	manifest_free(m);
	return 0;
}

static json_t *why_not(const struct reason *why)
{
	return json_pack("{s:s}", "why", why->text);
}

static json_t *read_state(const char *text, size_t len)
{
	struct reason why = none;
	struct state_file s;

	if (state_file_parse(text, len, &s, &why) < 0)
		return why_not(&why);
	return json_pack("{s:s, s:s, s:I, s:I, s:s, s:{s:s, s:s, s:s, s:s}}", "current_exp_hash", s.current_exp_hash,
			 "previous_exp_hash", s.previous_exp_hash, "step_counter", (json_int_t)s.step_counter, "model_init_step",
			 (json_int_t)s.model_init_step, "last_updated", s.last_updated, "component_hashes", "hp", s.hp_hash,
			 "model", s.model_hash, "data", s.data_hash, "combined", s.combined_hash);
}

static json_t *read_options(const char *text, size_t len)
{
	struct manager_options o;
	struct reason why = none;

	if (manager_options_parse(text, len, &o, &why) < 0)
		return why_not(&why);
	return json_pack("{s:b, s:b, s:b, s:b, s:b, s:b}", "enable_checkpoints", o.enable_checkpoints, "dump_model_architecture",
			 o.dump_model_architecture, "dump_model_state", o.dump_model_state, "dump_optimizer_state",
			 o.dump_optimizer_state, "dump_data_state", o.dump_data_state, "dump_config_state", o.dump_config_state);
}

static json_t *read_data(const char *text, size_t len)
{
	struct reason why = none;
	struct snapshot s;
	json_t *answer;

	if (snapshot_parse(text, len, &s, &why) < 0)
		return why_not(&why);
	answer = json_pack("{s:s?, s:I, s:s?, s:s}", "text", s.text, "samples", (json_int_t)s.samples, "data_file", s.data_file,
			   "exp_hash", s.exp_hash);
	snapshot_clear(&s);
	return answer;
}

static int add(void *rows, int64_t step, const char *name, double value)
{
	char text[40];

	snprintf(text, sizeof(text), "%.17g", value);
	json_array_append_new(rows, json_pack("[I, s, s]", (json_int_t)step, name, text));
	return 0;
}

static json_t *read_metrics(const char *what, const char *text, size_t len)
{
	size_t header = metrics_csv_header(text, len), used;
	_cleanup_(trainer_state_clear) struct trainer_state s = { 0 };
	json_t *rows = json_array();
	struct metrics m = { 0 };
	struct reason why = none;
	int r;

	if (!strcmp(what, "jsonl"))
		r = metrics_jsonl(&m, text, len, true, add, rows, &used);
	else if (!strcmp(what, "csv"))
		r = metrics_csv(&m, text, header, text + header, len - header, true, add, rows, &used);
	else
		r = trainer_state_parse(text, len, &m, add, rows, &s, &why);
	return json_pack("{s:o, s:i, s:I, s:s, s:s?}", "rows", rows, "result", r, "bad", (json_int_t)m.bad, "why",
			 m.bad ? m.why.text : why.text, "best_model_checkpoint", s.best_model_checkpoint);
}

int main(int argc, char **argv)
{
	_cleanup_free_ char *text = NULL;
	json_t *answer;
	size_t len;

	if (argc != 3 || io_read_file(AT_FDCWD, argv[2], SIZE_MAX_READ, &text, &len) < 0) {
		fprintf(stderr, "usage: formats WHAT FILE\n");
		return 2;
	}
	if (!strcmp(argv[1], "write"))
		return write_manifest(text, len);
	answer = !strcmp(argv[1], "manifest") ? read_manifest(text, len) :
		 !strcmp(argv[1], "state")    ? read_state(text, len) :
		 !strcmp(argv[1], "options")  ? read_options(text, len) :
		 !strcmp(argv[1], "data")     ? read_data(text, len) :
						read_metrics(argv[1], text, len);
	if (!answer || json_dumpf(answer, stdout, 0) < 0)
		return 1;
	json_decref(answer);
	return 0;
}
