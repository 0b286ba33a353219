#include "test.h"
#include "fs/view_kept.h"

#include <string.h>

static unsigned made;

/* Of this thread's time. */
static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return timespec_ns(&ts);
}

static void work_until(int64_t end)
{
	while (now() < end)
		;
}

static int make(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len)
{
	(void)q;
	made++;
	work_until(now() + (int64_t)key->n);
	*ret = strdup("text");
	*ret_len = 4;
	return 0;
}

static int no_groups(void *arg, int size, gid_t list[])
{
	(void)arg;
	(void)size;
	(void)list;
	return 0;
}

static int one_group(void *arg, int size, gid_t list[])
{
	(void)arg;
	if (size > 0)
		list[0] = 7;
	return 1;
}

/* How often it is made for two questions. */
static unsigned ask_twice(struct fs *fs, uint64_t ns, uint32_t uid, int (*get_groups)(void *, int, gid_t[]))
{
	const struct view_key key = { .kind = VIEW_DOT_STATS, .n = ns };

	made = 0;
	for (int i = 0; i < 2; i++) {
		struct view_req q = { .fs = fs, .cred = { .uid = uid, .get_groups = get_groups } };
		_cleanup_free_ char *text = NULL;
		size_t len;

		assert_int_equal(view_kept_text(&q, &key, make, &text, &len), 0);
		assert_string_equal(text, "text");
		assert_int_equal(len, 4);
		cred_done(&q.cred);
	}
	return made;
}

static void a_text_that_takes_long_is_kept_for_who_asked(void **state)
{
	struct fs fs = { 0 };

	(void)state;
	assert_int_equal(view_kept_new(&fs.kept), 0);
	assert_int_equal(ask_twice(&fs, 200000000, 1, no_groups), 1);
	assert_int_equal(ask_twice(&fs, 200000000, 2, no_groups), 1);
	assert_int_equal(ask_twice(&fs, 200000000, 2, one_group), 1);
	assert_int_equal(ask_twice(&fs, 200000000, 2, one_group), 0);
	view_kept_free(fs.kept);
}

static void one_that_is_made_in_an_instant_is_made_each_time(void **state)
{
	struct fs fs = { 0 };

	(void)state;
	assert_int_equal(view_kept_new(&fs.kept), 0);
	assert_int_equal(ask_twice(&fs, 0, 1, no_groups), 2);
	view_kept_free(fs.kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_that_takes_long_is_kept_for_who_asked),
		cmocka_unit_test(one_that_is_made_in_an_instant_is_made_each_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
