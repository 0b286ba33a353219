#include "format/trainer_state.h"
#include "test.h"

#include <math.h>

/* The rows as text: step name=value, each with a space behind it. */
struct rows {
	char text[4096];
	size_t len, count;
	int result; /* what to answer */
};

static int add(void *data, int64_t step, const char *name, double value)
{
	struct rows *rows = data;

	if (rows->len < sizeof(rows->text) - 400)
		rows->len += (size_t)sprintf(rows->text + rows->len, "%lld %s=%g ", (long long)step, name, value);
	rows->count++;
	return rows->result;
}

typedef int (*reader)(struct metrics *m, const char *text, size_t len, bool end, struct rows *rows, size_t *ret_used);

static int read_jsonl(struct metrics *m, const char *text, size_t len, bool end, struct rows *rows, size_t *ret_used)
{
	return metrics_jsonl(m, text, len, end, add, rows, ret_used);
}

/* With the header in front of the text. */
static int read_csv(struct metrics *m, const char *text, size_t len, bool end, struct rows *rows, size_t *ret_used)
{
	size_t header = metrics_csv_header(text, len);
	int r = metrics_csv(m, text, header, text + header, len - header, end, add, rows, ret_used);

	if (r == 0)
		*ret_used += header;
	return r;
}

static void gives(reader f, const char *text, const char *expected)
{
	struct metrics m = { 0 };
	struct rows rows = { .len = 0 };
	size_t used = 0;

	assert_int_equal(f(&m, text, strlen(text), false, &rows, &used), 0);
	assert_string_equal(rows.text, expected);
	assert_int_equal(used, strlen(text));
	assert_int_equal(m.bad, 0);
}

static void has_bad(reader f, const char *text, size_t bad, const char *why, const char *expected)
{
	struct metrics m = { 0 };
	struct rows rows = { .len = 0 };
	size_t used = 0;

	assert_int_equal(f(&m, text, strlen(text), true, &rows, &used), 0);
	assert_int_equal(m.bad, bad);
	assert_string_equal(m.why.text, why);
	assert_string_equal(rows.text, expected);
	assert_int_equal(used, strlen(text));
}

static void lines_of_json_give_rows(void **state)
{
	gives(read_jsonl, "", "");
	gives(read_jsonl, "{\"step\": 1, \"loss\": 0.5}\n{\"loss\": 0.25, \"val/acc\": 1e-3, \"step\": 2}\r\n\n  \n",
	      "1 loss=0.5 2 loss=0.25 2 val/acc=0.001 ");
	gives(read_jsonl, "{\"step\": 3, \"a\": NaN, \"b\": Infinity, \"c\": -Infinity}\n", "3 a=nan 3 b=inf 3 c=-inf ");
	gives(read_jsonl, "{\"step\": 1, \"t\": \"x\", \"u\": true, \"v\": null, \"w\": {\"loss\": 1}, \"x\": [1, {\"step\": 9}], \"y\": 7}\n", "1 y=7 ");
	gives(read_jsonl, "{\"step\": 1}\n{\"step\": 2.0, \"a\": 1}\n", "2 a=1 ");
	gives(read_jsonl, "{\"step\": 1, \"\": 1, \"a\\u0000\": 1, \"\\u00e9 \\\"\": 2}\n", "1 \xc3\xa9 \"=2 ");
}

static void the_step_is_the_first_known_key(void **state)
{
	gives(read_jsonl, "{\"epoch\": 1, \"global_step\": 20, \"a\": 1}\n", "20 epoch=1 20 a=1 ");
	gives(read_jsonl, "{\"global_step\": 20, \"step\": 5}\n", "5 global_step=20 ");
	gives(read_jsonl, "{\"step\": null, \"iteration\": 3, \"a\": 1}\n", "3 a=1 ");
	gives(read_jsonl, "{\"epoch\": 4, \"a\": 1}\n", "4 a=1 ");
	gives(read_jsonl, "{\"_step\": 4, \"_runtime\": 1.5}\n", "4 _runtime=1.5 ");
	gives(read_jsonl, "{\"step\": 9007199254740993, \"a\": 1}\n", "9007199254740993 a=1 ");
	gives(read_jsonl, "{\"step\": 1, \"step\": 2, \"a\": 1}\n", "2 a=1 ");
}

static void bad_lines_are_passed_over_and_counted(void **state)
{
	has_bad(read_jsonl, "{\"step\": 1, \"a\": 1}\nTraceback\n{\"step\": 2, \"a\": 2}\n{\"step\": 3, \"a\": \n", 2,
		"line 2: a value is wanted here", "1 a=1 2 a=2 ");
	has_bad(read_jsonl, "{\"a\": 1}\n", 1, "line 1: has no step", "");
	has_bad(read_jsonl, "{\"step\": 1.5, \"epoch\": 1, \"a\": 1}\n", 1, "line 1: its step is no whole number", "");
	has_bad(read_jsonl, "{\"step\": -1, \"a\": 1}\n[1]\n7\n{\"step\":1,\"a\":1}{\"step\":2,\"a\":2}\n", 4,
		"line 1: its step is no whole number", "");
	has_bad(read_jsonl, "{\"step\": NaN, \"a\": 1}\n{\"step\": 1e300, \"a\": 1}\n", 2, "line 1: its step is no whole number", "");
}

static void cells_give_rows(void **state)
{
	gives(read_csv, "epoch,step,train_loss,val_loss\n0,9,0.5,\n0,9,,0.75\n1,19,0.25,nan\n",
	      "9 epoch=0 9 train_loss=0.5 9 epoch=0 9 val_loss=0.75 19 epoch=1 19 train_loss=0.25 19 val_loss=nan ");
	gives(read_csv, "epoch,accuracy,loss\r\n0,0.5,1e-05\r\n\r\n1,,inf\r\n", "0 accuracy=0.5 0 loss=1e-05 1 loss=inf ");
	gives(read_csv, "  step ,  a b , \"c,\"\"d\"\"\ne\"\n 1 , -.5 ,\"+7\"\n", "1 a b=-0.5 1 c,\"d\"\ne=7 ");
	gives(read_csv, "\xef\xbb\xbfstep,a\n1,2\n", "1 a=2 ");
	gives(read_csv, "step,a,,b\n2.0,1,5\n3,text,6,4,9\n4\n", "2 a=1 3 b=4 ");
	gives(read_csv, "step,a\n1,0x10\n2,nan(5)\n3,1e5x\n4,-\n5,\"1\n\"\n6,1 2\n7,tensor(1.5)\n8,true\n", "");
	gives(read_csv, "step,a\n1,2\nstep,a\n2,3\n", "1 a=2 2 a=3 ");
}

static void bad_records_are_passed_over_and_counted(void **state)
{
	has_bad(read_csv, "a,step,b\n1,2,3\n1\n1,,3\n1,x,3\n1,1.5,3\n1,-1,3\n4,5,6\n", 5, "line 3: has no step", "2 a=1 2 b=3 5 a=4 5 b=6 ");
	has_bad(read_csv, "step,\"a\n\nb\"\n1,\"2\n\"\n\nx,1\n3,4", 1, "line 7: its step is no whole number", "3 a\n\nb=4 ");
}

static void a_header_without_steps_is_refused(void **state)
{
	_cleanup_free_ char *wide = malloc(20000);
	struct metrics m = { 0 };
	struct rows rows = { .len = 0 };
	size_t used;

	assert_int_equal(read_csv(&m, "a,b\n1,2\n", 8, false, &rows, &used), -EINVAL);
	assert_string_equal(m.why.text, "line 1: no column of steps");
	assert_non_null(wide);
	memset(wide, ',', 20000);
	wide[19999] = '\n';
	memcpy(wide, "step", 4);
	assert_int_equal(read_csv(&m, wide, 20000, false, &rows, &used), -EINVAL);
	assert_int_equal(metrics_csv_header("step,a", 6), 0);
	assert_int_equal(metrics_csv_header("step,\"a\n", 8), 0);
	assert_int_equal(metrics_csv_header("step,\"a\n\"\nx", 11), 10);
}

static const char jsonl[] = "{\"step\": 1, \"a\": 0.125}\nnothing\n{\"step\": 12, \"a\": 2, \"b\": 3}\n{\"step\": 13, \"a\": 44}\n";
static const char csv[] = "step,\"a\nb\",c\n1,0.125,\"2\"\nx,5,5\n12,2,\"3\n\"\n13,44,\n";

/* In whatever parts a file comes, the same rows come of it. */
static void in_parts(reader f, const char *text, const char *expected)
{
	size_t len = strlen(text), header = f == read_csv ? metrics_csv_header(text, len) : 0;

	for (size_t cut = header; cut <= len; cut++) {
		struct metrics m = { 0 };
		struct rows rows = { .len = 0 };
		size_t used = 0, more = 0;

		assert_int_equal(f(&m, text, cut, false, &rows, &used), 0);
		assert_true(used <= cut && (used == header || text[used - 1] == '\n'));
		if (f == read_jsonl)
			assert_int_equal(metrics_jsonl(&m, text + used, len - used, false, add, &rows, &more), 0);
		else
			assert_int_equal(metrics_csv(&m, text, header, text + used, len - used, false, add, &rows, &more), 0);
		assert_int_equal(used + more, len);
		assert_string_equal(rows.text, expected);
		assert_int_equal(m.bad, 1);
		assert_int_equal(m.rows, 3);
	}
}

static void a_file_that_grows_is_read_on(void **state)
{
	in_parts(read_jsonl, jsonl, "1 a=0.125 12 a=2 12 b=3 13 a=44 ");
	in_parts(read_csv, csv, "1 a\nb=0.125 1 c=2 12 a\nb=2 13 a\nb=44 ");
}

static void the_last_line_counts_only_at_the_end(void **state)
{
	static const char text[] = "{\"step\": 1, \"a\": 1}\n{\"step\": 2, \"a\": 2}";
	struct metrics m = { 0 };
	struct rows rows = { .len = 0 };
	size_t used = 0;

	assert_int_equal(read_jsonl(&m, text, strlen(text), false, &rows, &used), 0);
	assert_string_equal(rows.text, "1 a=1 ");
	assert_int_equal(used, 20);
	assert_int_equal(read_jsonl(&m, text + used, strlen(text) - used, true, &rows, &used), 0);
	assert_string_equal(rows.text, "1 a=1 2 a=2 ");
	assert_int_equal(used, strlen(text) - 20);
}

static void what_the_callback_answers_ends_reading(void **state)
{
	struct metrics m = { 0 };
	struct rows rows = { .result = -EINVAL };
	size_t used = 99;

	assert_int_equal(read_jsonl(&m, jsonl, strlen(jsonl), false, &rows, &used), -EINVAL);
	assert_int_equal(read_csv(&m, csv, strlen(csv), false, &rows, &used), -EINVAL);
	assert_int_equal(rows.count, 2);
	assert_int_equal(used, 99);
	assert_int_equal(m.bad, 0);
}

static void long_lines_are_bad(void **state)
{
	size_t n = METRICS_LINE_MAX + 10;
	_cleanup_free_ char *text = malloc(n + 100);
	struct metrics m = { 0 };
	struct rows rows = { .len = 0 };
	size_t used = 0;

	assert_non_null(text);
	memset(text, ' ', n);
	strcpy(text + n, "\n{\"step\": 1, \"a\": 1}\n");
	assert_int_equal(read_jsonl(&m, text, n, false, &rows, &used), -EFBIG);
	assert_int_equal(read_jsonl(&m, text, strlen(text), false, &rows, &used), 0);
	assert_int_equal(m.bad, 1);
	assert_string_equal(rows.text, "1 a=1 ");
	memset(text, '1', n);
	strcpy(text + n, "\n2,3\n");
	memset(&m, 0, sizeof(m));
	assert_int_equal(metrics_csv(&m, "step,b\n", 7, text, n, false, add, &rows, &used), -EFBIG);
	assert_int_equal(metrics_csv(&m, "step,b\n", 7, text, strlen(text), false, add, &rows, &used), 0);
	assert_int_equal(m.bad, 1);
	assert_string_equal(rows.text, "1 a=1 2 b=3 ");
}

static int parse(const char *text, struct metrics *m, struct rows *rows, struct trainer_state *s, struct reason *why)
{
	return trainer_state_parse(text, strlen(text), m, add, rows, s, why);
}

static void a_trainer_state_gives_its_log_and_its_best(void **state)
{
	static const char text[] = "{\n  \"best_global_step\": 100,\n  \"best_metric\": 0.25,\n  \"best_model_checkpoint\": \"./out/checkpoint-100\",\n"
				   "  \"epoch\": 2.5,\n  \"eval_steps\": 500,\n  \"global_step\": 250,\n  \"is_local_process_zero\": true,\n"
				   "  \"log_history\": [\n    {\"epoch\": 1.0, \"grad_norm\": NaN, \"learning_rate\": 2e-05, \"loss\": 0.5, \"step\": 100},\n"
				   "    {\"epoch\": 1.0, \"eval_loss\": 0.25, \"step\": 100},\n    {\"x\": 1},\n    5,\n"
				   "    {\"train_runtime\": 10.5, \"step\": 250, \"total_flos\": 0.0}\n  ],\n"
				   "  \"stateful_callbacks\": {\"TrainerControl\": {\"args\": {}}}, \"trial_name\": null}";
	_cleanup_(trainer_state_clear) struct trainer_state s = { 0 };
	struct metrics m = { 0 };
	struct rows rows = { .len = 0 };
	struct reason why = { "" };

	assert_int_equal(parse(text, &m, &rows, &s, &why), 0);
	assert_string_equal(rows.text, "100 epoch=1 100 grad_norm=nan 100 learning_rate=2e-05 100 loss=0.5 100 epoch=1 100 eval_loss=0.25 "
				       "250 train_runtime=10.5 250 total_flos=0 ");
	assert_int_equal(m.rows, 3);
	assert_int_equal(m.bad, 2);
	assert_int_equal(s.global_step, 250);
	assert_int_equal(s.best_global_step, 100);
	assert_true(s.best_metric == 0.25 && s.epoch == 2.5);
	assert_string_equal(s.best_model_checkpoint, "./out/checkpoint-100");
}

static void what_a_trainer_state_does_not_say_is_nothing(void **state)
{
	_cleanup_(trainer_state_clear) struct trainer_state s = { 0 };
	struct metrics m = { 0 };
	struct rows rows = { .len = 0 };
	struct reason why = { "" };

	assert_int_equal(parse("{\"best_metric\": null, \"best_model_checkpoint\": null, \"log_history\": null, \"global_step\": 1.5}",
			       &m, &rows, &s, &why), 0);
	assert_true(isnan(s.best_metric) && isnan(s.epoch));
	assert_true(s.global_step == -1 && s.best_global_step == -1 && !s.best_model_checkpoint);
	assert_int_equal(rows.count, 0);
}

static void of_a_torn_trainer_state_no_row_is_given(void **state)
{
	static const char text[] = "{\"log_history\": [{\"step\": 1, \"a\": 1}],\n \"best_model_checkpoint\": \"x\", \"epoch\": 1}";
	struct trainer_state s = { .global_step = 77 };
	struct metrics m = { 0 };
	struct rows rows = { .len = 0 };

	for (size_t n = 0; n < strlen(text); n++) {
		struct reason why = { "" };

		assert_int_equal(trainer_state_parse(text, n, &m, add, &rows, &s, &why), -EINVAL);
		assert_true(why.text[0]);
	}
	assert_int_equal(rows.count, 0);
	assert_int_equal(s.global_step, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_json_give_rows),
		cmocka_unit_test(the_step_is_the_first_known_key),
		cmocka_unit_test(bad_lines_are_passed_over_and_counted),
		cmocka_unit_test(cells_give_rows),
		cmocka_unit_test(bad_records_are_passed_over_and_counted),
		cmocka_unit_test(a_header_without_steps_is_refused),
		cmocka_unit_test(a_file_that_grows_is_read_on),
		cmocka_unit_test(the_last_line_counts_only_at_the_end),
		cmocka_unit_test(what_the_callback_answers_ends_reading),
		cmocka_unit_test(long_lines_are_bad),
		cmocka_unit_test(a_trainer_state_gives_its_log_and_its_best),
		cmocka_unit_test(what_a_trainer_state_does_not_say_is_nothing),
		cmocka_unit_test(of_a_torn_trainer_state_no_row_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
