#include "meta/experiment.h"
#include "meta/ledger.h"
#include "meta/line.h"
#include "meta/root.h"
#include "meta/tracked.h"
#include "meta/version.h"
#include "test.h"

static char db_path[4096];

static int open_db(void **state)
{
	struct meta *m;
	enum meta_end end;

	if (make_scratch(state) < 0)
		return -1;
	snprintf(db_path, sizeof(db_path), "%s/db", (char *)*state);
	free(steal((char **)state));
	if (meta_create(db_path, 0, 0) < 0 || meta_open(db_path, NULL, NULL, &m) < 0 || meta_begin_use(m, 1, &end) < 0)
		return -1;
	*state = m;
	return 0;
}

static int close_db(void **state)
{
	int r = *state ? meta_close(*state) : 0;

	*strrchr(db_path, '/') = 0;
	*state = strdup(db_path);
	return remove_scratch(state) < 0 ? -1 : r;
}

static int tx_put(struct db *db, void *arg)
{
	return ledger_put(db, arg);
}

/* A row whose number is its place in time. */
static void put(struct meta *m, uint64_t id, uint64_t run, const char *name, enum ledger_kind kind, uint64_t of, const char *record)
{
	struct ledger_row row = { .id = id, .run = run, .kind = kind, .of = of, .time = (int64_t)id, .record = strdup(record) };

	snprintf(row.name, sizeof(row.name), "%s", name);
	assert_int_equal(meta_write(m, tx_put, &row), 0);
	ledger_row_free(&row);
}

static uint64_t current(struct meta *m, uint64_t run, const char *name)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(m);
	_cleanup_ledger_row_ struct ledger_row row = { 0 };
	int r = ledger_current(db, run, name, &row);

	assert_true(r == 0 || r == -ENOENT);
	return r == 0 ? row.id : 0;
}

static int needs(struct meta *m, uint64_t version)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(m);
	_cleanup_ledger_row_ struct ledger_row row = { 0 };

	return ledger_needs(db, version, &row);
}

static int append(void *arg, const struct ledger_row *row)
{
	char *text = arg;

	snprintf(text + strlen(text), 16, "%d ", (int)row->id);
	return 0;
}

static void the_last_selection_of_a_name_counts_and_the_others_stay(void **state)
{
	_cleanup_ledger_row_ struct ledger_row row = { 0 };
	char text[200] = "", named[200] = "", version[200] = "";
	struct db *db;

	put(*state, 10, 7, "best", LEDGER_SELECTION, 100, "{\"a\": 1}");
	put(*state, 11, 7, "best", LEDGER_DECISION, 10, "{}");
	put(*state, 12, 7, "best", LEDGER_SELECTION, 101, "{}");
	put(*state, 13, 7, "best", LEDGER_DECISION, 10, "{}");
	put(*state, 14, 7, "other", LEDGER_SELECTION, 100, "{}");
	put(*state, 15, 8, "best", LEDGER_SELECTION, 101, "{}");
	assert_int_equal(current(*state, 7, "best"), 12);
	assert_int_equal(current(*state, 8, "best"), 15);
	assert_int_equal(current(*state, 8, "other"), 0);
	db = meta_reader(*state);
	assert_int_equal(ledger_get(db, 10, &row), 0);
	assert_string_equal(row.record, "{\"a\": 1}");
	assert_string_equal(row.name, "best");
	assert_int_equal(row.of, 100);
	assert_int_equal(ledger_list_name(db, 7, "best", append, text), 0);
	assert_string_equal(text, "10 11 12 13 ");
	*text = 0;
	assert_int_equal(ledger_list_current(db, 7, append, text), 0);
	assert_string_equal(text, "12 14 ");
	*text = 0;
	assert_int_equal(ledger_list_current(db, 0, append, text), 0);
	assert_string_equal(text, "12 14 15 ");
	assert_int_equal(ledger_list_named(db, "best", append, named), 0);
	assert_string_equal(named, "12 15 ");
	assert_int_equal(ledger_list_version(db, 100, append, version), 0);
	assert_string_equal(version, "10 14 ");
	meta_reader_done(db);
}

static void a_version_is_needed_while_its_selection_counts(void **state)
{
	put(*state, 10, 7, "best", LEDGER_SELECTION, 100, "{}");
	assert_int_equal(needs(*state, 100), 1);
	put(*state, 11, 7, "best", LEDGER_SELECTION, 101, "{}");
	assert_int_equal(needs(*state, 100), 0);
	assert_int_equal(needs(*state, 101), 1);
	put(*state, 12, 7, "best", LEDGER_SELECTION, 100, "{}");
	assert_int_equal(needs(*state, 100), 1);
	/* A decision has the number of a selection, which may be that of a version. */
	put(*state, 13, 7, "best", LEDGER_DECISION, 101, "{}");
	assert_int_equal(needs(*state, 101), 0);
}

static void a_record_has_a_bound(void **state)
{
	struct ledger_row row = { .id = 5, .run = 1, .name = "best" };

	row.record = malloc(LEDGER_RECORD + 2);
	assert_non_null(row.record);
	memset(row.record, ' ', LEDGER_RECORD + 1);
	row.record[LEDGER_RECORD + 1] = 0;
	assert_int_equal(meta_write(*state, tx_put, &row), -E2BIG);
	row.record[LEDGER_RECORD] = 0;
	assert_int_equal(meta_write(*state, tx_put, &row), 0);
	free(row.record);
}

#define TOP_ROOT 20
#define FORK 21

/* The root checkpoints/ at the top, with a fork, a version of an experiment, and one that is gone. */
static int tx_root(struct db *db, void *arg)
{
	struct tracked_row t = { .id = TOP_ROOT, .parent = TRACKED_TOP, .run = TOP_ROOT, .is_dir = true, .step = NO_STEP };
	struct fork_row fork = { .id = FORK, .root = TOP_ROOT, .n = 2 };
	struct version_row v = { .id = 100, .tracked = TOP_ROOT, .n = 1, .complete = 1, .step = 1, .experiment = 30 };
	int r = tracked_insert(db, &t, "checkpoints");

	if (r == 0)
		r = root_insert(db, TOP_ROOT);
	if (r == 0)
		r = fork_insert(db, &fork);
	return r < 0 ? r : version_insert(db, &v);
}

static int tx_to_fork(struct db *db, void *arg)
{
	return line_move_checkpoints(db, &(struct line_row){ .run = FORK, .experiment = 30 }, TOP_ROOT);
}

static int tx_forget_forks(struct db *db, void *arg)
{
	return root_forget_lines(db, TOP_ROOT);
}

static void selections_go_where_the_checkpoints_of_a_root_go(void **state)
{
	char text[200] = "";
	struct db *db;
	uint64_t run;

	assert_int_equal(meta_write(*state, tx_root, NULL), 0);
	db = meta_reader(*state);
	assert_int_equal(ledger_run(db, TOP_ROOT, &run), 0);
	assert_int_equal(run, TRACKED_TOP); /* as the run that is the same branch */
	assert_int_equal(ledger_run(db, FORK, &run), 0);
	assert_int_equal(run, FORK);
	meta_reader_done(db);
	put(*state, 40, TRACKED_TOP, "best", LEDGER_SELECTION, 100, "{}");
	put(*state, 41, TRACKED_TOP, "best", LEDGER_DECISION, 40, "{}");
	put(*state, 42, TRACKED_TOP, "best", LEDGER_SELECTION, 99, "{}");
	assert_int_equal(meta_write(*state, tx_to_fork, NULL), 0);
	db = meta_reader(*state);
	assert_int_equal(ledger_list_name(db, FORK, "best", append, text), 0);
	assert_string_equal(text, "40 41 ");
	meta_reader_done(db);
	assert_int_equal(current(*state, FORK, "best"), 40);
	assert_int_equal(current(*state, TRACKED_TOP, "best"), 42);
	assert_int_equal(meta_write(*state, tx_forget_forks, NULL), 0);
	assert_int_equal(current(*state, FORK, "best"), 0);
	assert_int_equal(current(*state, TRACKED_TOP, "best"), 42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_last_selection_of_a_name_counts_and_the_others_stay, open_db, close_db),
		cmocka_unit_test_setup_teardown(a_version_is_needed_while_its_selection_counts, open_db, close_db),
		cmocka_unit_test_setup_teardown(a_record_has_a_bound, open_db, close_db),
		cmocka_unit_test_setup_teardown(selections_go_where_the_checkpoints_of_a_root_go, open_db, close_db),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
