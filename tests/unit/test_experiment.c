#include <sqlite3.h>

#include "exp/expfs.h"
#include "meta/content.h"
#include "meta/experiment.h"
#include "meta/line.h"
#include "meta/meta.h"
#include "meta/tracked.h"
#include "meta/version.h"
#include "test.h"

static char db_path[4096];

static int open_db(void **state)
{
	struct meta *m;

	if (make_scratch(state) < 0)
		return -1;
	snprintf(db_path, sizeof(db_path), "%s/db", (char *)*state);
	free(steal((char **)state));
	if (meta_create(db_path, 0, 0) < 0 || meta_open(db_path, NULL, NULL, &m) < 0)
		return -1;
	*state = m;
	return 0;
}

static int close_db(void **state)
{
	int r = meta_close(*state);

	*strrchr(db_path, '/') = 0;
	*state = strdup(db_path);
	return remove_scratch(state) < 0 ? -1 : r;
}

/* 64 digits that begin so, the rest being fill. */
static const char *digest(const char *begin, char fill, char ret[SEGMENT_DIGEST + 1])
{
	memset(ret, fill, SEGMENT_DIGEST);
	ret[SEGMENT_DIGEST] = 0;
	memcpy(ret, begin, strlen(begin));
	return ret;
}

static const char *text_of(struct db *db, enum segment which, const char *of, bool insert)
{
	static char text[SEGMENT_LEN + 1];

	assert_int_equal(segment_text(db, which, of, insert, text), 0);
	return text;
}

static int count_collision(void *arg, enum segment which, const char *text, const char *of)
{
	assert_int_equal(which, SEGMENT_HP);
	assert_string_equal(text, "22222222");
	(*(int *)arg)++;
	return 0;
}

static int tx_segments(struct db *db, void *arg)
{
	char a[SEGMENT_DIGEST + 1], b[SEGMENT_DIGEST + 1], zeros[SEGMENT_DIGEST + 1];
	int n = 0;

	digest("1111111133", '3', a);
	digest("1111111122222222", '4', b);
	digest(SEGMENT_ABSENT "5", '5', zeros);
	assert_string_equal(text_of(db, SEGMENT_HP, "", true), SEGMENT_ABSENT);
	assert_string_equal(text_of(db, SEGMENT_HP, b, false), "11111111");
	assert_string_equal(text_of(db, SEGMENT_HP, a, true), "11111111");
	assert_string_equal(text_of(db, SEGMENT_HP, b, false), "22222222");
	assert_string_equal(text_of(db, SEGMENT_HP, b, true), "22222222");
	assert_string_equal(text_of(db, SEGMENT_HP, a, true), "11111111");
	assert_string_equal(text_of(db, SEGMENT_HP, b, true), "22222222");
	assert_string_equal(text_of(db, SEGMENT_DATA, b, true), "11111111");
	assert_int_equal(segment_list_collisions(db, count_collision, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(text_of(db, SEGMENT_MODEL, zeros, true), "55555555");
	return 0;
}

static void the_later_of_two_that_begin_alike_takes_its_next_characters(void **state)
{
	assert_int_equal(meta_write(*state, tx_segments, NULL), 0);
}

static void put_experiment(struct db *db, uint64_t id, const char *hash)
{
	struct experiment_row e = { .id = id };

	snprintf(e.hash, sizeof(e.hash), "%s", hash);
	assert_int_equal(experiment_insert(db, &e), 0);
}

static int add_up(void *arg, const struct experiment_row *e)
{
	*(uint64_t *)arg += e->id;
	return 0;
}

static int tx_experiments(struct db *db, void *arg)
{
	struct experiment_row e;
	uint64_t sum = 0;

	put_experiment(db, 100, "aaaaaaaabbbbbbbbcccccccc");
	put_experiment(db, 200, "aaaaaaaaddddddddcccccccc");
	put_experiment(db, 400, "fffffffff000000000000000");
	assert_int_equal(experiment_by_prefix(db, "aaaaaaaab", &e), 0);
	assert_int_equal(e.id, 100);
	assert_int_equal(experiment_by_prefix(db, "f", &e), 0);
	assert_int_equal(e.id, 400);
	assert_int_equal(experiment_by_prefix(db, "a", &e), -EEXIST);
	assert_int_equal(experiment_by_prefix(db, "b", &e), -ENOENT);
	assert_int_equal(experiment_by_prefix(db, "aaaaaaaabbbbbbbbcccccccc0", &e), -ENOENT);
	assert_int_equal(experiment_list_by_segment(db, SEGMENT_HP, "aaaaaaaa", add_up, &sum), 0);
	assert_int_equal(sum, 300);
	assert_int_equal(experiment_list_by_segment(db, SEGMENT_MODEL, "dddddddd", add_up, &sum), 0);
	assert_int_equal(sum, 500);
	assert_int_equal(experiment_list_by_segment(db, SEGMENT_DATA, "cccccccc", add_up, &sum), 0);
	assert_int_equal(sum, 800);
	assert_int_equal(experiment_list(db, add_up, &sum), 0);
	assert_int_equal(sum, 1500);
	return 0;
}

static void an_experiment_is_found_by_the_beginning_of_its_hash_and_by_its_segments(void **state)
{
	assert_int_equal(meta_write(*state, tx_experiments, NULL), 0);
}

static void put_line(struct db *db, uint64_t id, uint64_t experiment, uint64_t at, unsigned flags)
{
	struct line_row l = { .id = id, .run = 7, .experiment = experiment, .at = at, .flags = flags };

	assert_int_equal(line_insert(db, &l), 0);
}

static int tx_line(struct db *db, void *arg)
{
	struct line_row l;

	put_experiment(db, 1, "1");
	put_experiment(db, 2, "2");
	put_experiment(db, 3, "3");
	assert_int_equal(line_last(db, 7, &l), -ENOENT);
	put_line(db, 10, 1, 30, 0);
	put_line(db, 11, 2, 20, 0); /* began earlier, completed later */
	put_line(db, 12, 3, 40, LINE_LOADED);
	put_line(db, 13, 9, 50, 0); /* of no experiment, as damaged rows may be */
	assert_int_equal(line_last(db, 7, &l), 0);
	assert_int_equal(l.experiment, 3);
	assert_int_equal(line_last(db, 8, &l), -ENOENT);
	assert_int_equal(line_at(db, 7, 39, &l), 0);
	assert_int_equal(l.experiment, 1);
	assert_int_equal(line_at(db, 7, 29, &l), 0);
	assert_int_equal(l.experiment, 2);
	assert_int_equal(line_at(db, 7, 19, &l), -ENOENT);
	assert_int_equal(line_after(db, 7, 20, &l), 0);
	assert_int_equal(l.experiment, 1);
	assert_int_equal(line_after(db, 7, 40, &l), -ENOENT);
	assert_int_equal(line_between(db, 7, 25, 35, &l), 0);
	assert_int_equal(l.experiment, 1);
	assert_int_equal(line_between(db, 7, 25, 30, &l), -ENOENT);
	assert_int_equal(line_between(db, 7, 25, 0, &l), 0);
	assert_int_equal(l.experiment, 3);
	assert_int_equal(line_has(db, 7, 2, 35), 1);
	assert_int_equal(line_has(db, 7, 1, 29), 0); /* comes later */
	assert_int_equal(line_has(db, 7, 1, 50), 0); /* was before the load */
	assert_int_equal(line_has(db, 7, 3, 50), 1);
	assert_int_equal(line_of_experiment(db, 2, &l), 0);
	assert_int_equal(l.at, 20);
	return 0;
}

static void a_line_is_in_the_order_of_its_states_not_of_its_rows(void **state)
{
	assert_int_equal(meta_write(*state, tx_line, NULL), 0);
}

static int tx_due(struct db *db, void *arg)
{
	static const struct due_row rows[] = { { 50, 7, 30 }, { 51, 7, 20 }, { 52, 8, 25 }, { 53, 7, 20 } };
	struct due_row d = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(due_put(db, &rows[i]), 0);
	for (size_t i = 0; i < 4; i++) {
		static const uint64_t order[] = { 51, 53, 52, 50 };

		assert_int_equal(due_next(db, 0, &d), 0);
		assert_int_equal(d.version, order[i]);
	}
	assert_int_equal(due_next(db, 0, &d), -ENOENT);
	d = (struct due_row){ 0 };
	assert_int_equal(due_next(db, 8, &d), 0);
	assert_int_equal(d.version, 52);
	assert_int_equal(due_delete(db, 52), 0);
	assert_int_equal(due_get(db, 52, &d), -ENOENT);
	return 0;
}

static void what_is_due_comes_in_the_order_in_which_it_was_begun(void **state)
{
	assert_int_equal(meta_write(*state, tx_due, NULL), 0);
}

static void assert_fact(struct db *db, uint64_t object, const char *value)
{
	_cleanup_free_ char *is = NULL;
	int r = fact_get(db, object, FACT_STRUCTURE, &is);

	assert_int_equal(r, value ? 0 : -ENOENT);
	if (value)
		assert_string_equal(is, value);
}

static int tx_facts(struct db *db, void *arg)
{
	static const uint8_t sum[CONTENT_DIGEST] = { 1 };

	assert_int_equal(content_insert_live(db, 50), 0);
	assert_int_equal(fact_put(db, 50, 0, FACT_STRUCTURE, "of a live one"), 0);
	assert_fact(db, 50, NULL);
	assert_int_equal(content_set_sealed(db, 50, 9, 1, sum), 0);
	assert_int_equal(fact_put(db, 50, 8, FACT_STRUCTURE, "of another sealing"), 0);
	assert_fact(db, 50, NULL);
	assert_int_equal(fact_put(db, 50, 9, FACT_STRUCTURE, "kept"), 0);
	assert_fact(db, 50, "kept");
	assert_int_equal(fact_forget_hp(db), 0);
	assert_fact(db, 50, "kept");
	assert_int_equal(content_set_live(db, 50), 0);
	assert_fact(db, 50, NULL);
	assert_int_equal(content_set_sealed(db, 50, 10, 1, sum), 0);
	assert_int_equal(fact_put(db, 50, 10, FACT_STRUCTURE, "again"), 0);
	assert_int_equal(content_delete(db, 50), 0);
	assert_fact(db, 50, NULL);
	return 0;
}

static void what_was_found_out_about_a_content_goes_with_it(void **state)
{
	assert_int_equal(meta_write(*state, tx_facts, NULL), 0);
}

static void put_path(struct db *db, uint64_t id, uint64_t ino)
{
	struct tracked_row t = { .id = id, .parent = TRACKED_TOP, .ino = ino, .run = TRACKED_TOP, .role = ROLE_WEIGHTS,
				 .step = NO_STEP };
	char name[32];

	snprintf(name, sizeof(name), "%llu", (unsigned long long)id);
	assert_int_equal(tracked_insert(db, &t, name), 0);
}

static void put_version(struct db *db, uint64_t id, uint64_t tracked, uint64_t n, int64_t step, bool gone)
{
	struct version_row v = { .id = id, .tracked = tracked, .n = n, .complete = 1, .step = step, .rank = (int64_t)id,
				 .gone = gone, .until = gone ? id + 1 : 0, .experiment = 5 };

	assert_int_equal(version_insert(db, &v), 0);
}

static int tx_versions(struct db *db, void *arg)
{
	struct tracked_row t, before;
	int64_t step;

	put_path(db, 1000, 1);
	put_path(db, 1001, 1);
	put_version(db, 100, 1000, 1, 10, false);
	put_version(db, 110, 1000, 2, 10, false);
	put_version(db, 120, 1001, 1, 20, false);
	put_version(db, 130, 1001, 2, 30, true); /* the path was taken away, and came back */
	put_version(db, 140, 1001, 3, 40, false);
	assert_int_equal(tracked_latest(db, TRACKED_EXPERIMENT, 5, NULL, &t), 0);
	assert_int_equal(t.good, 140);
	assert_int_equal(t.id, 1001);
	before = t;
	assert_int_equal(tracked_latest(db, TRACKED_EXPERIMENT, 5, &before, &t), 0);
	assert_int_equal(t.good, 110);
	before = t;
	assert_int_equal(tracked_latest(db, TRACKED_EXPERIMENT, 5, &before, &t), 0);
	assert_int_equal(t.good, 100);
	before = t;
	assert_int_equal(tracked_latest(db, TRACKED_EXPERIMENT, 5, &before, &t), -ENOENT);
	assert_int_equal(tracked_latest(db, TRACKED_EXPERIMENT, 6, NULL, &t), -ENOENT);
	assert_int_equal(tracked_step_above(db, TRACKED_EXPERIMENT, 5, 11, &step), 0);
	assert_int_equal(step, 40);
	assert_int_equal(tracked_step_below(db, TRACKED_EXPERIMENT, 5, 39, &step), 0);
	assert_int_equal(step, 10);
	assert_int_equal(tracked_latest_of_step(db, TRACKED_EXPERIMENT, 5, 10, NULL, &t), 0);
	assert_int_equal(t.good, 110);
	return 0;
}

static void an_experiment_has_the_versions_whose_path_was_not_taken_away(void **state)
{
	assert_int_equal(meta_write(*state, tx_versions, NULL), 0);
}

static int tx_line_of_version(struct db *db, void *arg)
{
	struct line_row l = { .id = 10, .run = 7, .experiment = 1, .version = 100, .at = 9 };
	const struct due_row d = { .version = 100, .run = 7, .begin = 1 };

	put_path(db, 1000, 1);
	put_version(db, 100, 1000, 1, 10, false);
	put_experiment(db, 1, "1");
	assert_int_equal(line_insert(db, &l), 0);
	assert_int_equal(due_put(db, &d), 0);
	assert_int_equal(version_delete(db, 100), 0);
	assert_int_equal(line_last(db, 7, &l), 0);
	assert_int_equal(l.version, 0);
	assert_int_equal(due_get(db, 100, &(struct due_row){ 0 }), -ENOENT);
	return 0;
}

static void a_version_that_goes_leaves_nothing_that_leads_to_it(void **state)
{
	assert_int_equal(meta_write(*state, tx_line_of_version, NULL), 0);
}

#define test(f) cmocka_unit_test_setup_teardown(f, open_db, close_db)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(the_later_of_two_that_begin_alike_takes_its_next_characters),
		test(an_experiment_is_found_by_the_beginning_of_its_hash_and_by_its_segments),
		test(a_line_is_in_the_order_of_its_states_not_of_its_rows),
		test(what_is_due_comes_in_the_order_in_which_it_was_begun),
		test(what_was_found_out_about_a_content_goes_with_it),
		test(an_experiment_has_the_versions_whose_path_was_not_taken_away),
		test(a_version_that_goes_leaves_nothing_that_leads_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
