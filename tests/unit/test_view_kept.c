#include "test.h"
#include "fs/gate.h"
#include "fs/view_kept.h"

#include <malloc.h>
#include <string.h>

#define LONG_NS 60000000 /* no instant */

struct mount {
	struct fs fs;
	struct gate gate;
};

static void mount(struct mount *m)
{
	*m = (struct mount){ .fs.gate = &m->gate };
	gate_init(&m->gate);
	assert_int_equal(view_kept_new(&m->fs.kept), 0);
}

static void unmount(struct mount *m)
{
	view_kept_free(m->fs.kept);
	gate_free(&m->gate);
}

static atomic_uint made;
static void (*meanwhile)(void); /* NULL: nothing */

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

/* The key says how long it takes and how long it gets. */
static int make(struct view_req *q, const struct view_key *key, char **ret, size_t *ret_len)
{
	char *text = calloc(1, key->dir + 1);

	(void)q;
	assert_non_null(text);
	made++;
	work_until(now() + (int64_t)key->n);
	if (meanwhile)
		meanwhile();
	memset(text, 't', key->dir);
	*ret = text;
	*ret_len = key->dir;
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

static int ask(struct mount *m, const struct view_key *key, uint32_t uid, int (*get_groups)(void *, int, gid_t[]))
{
	struct view_req q = { .fs = &m->fs, .cred = { .uid = uid, .get_groups = get_groups } };
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	r = view_kept_text(&q, key, make, &text, &len);
	cred_done(&q.cred);
	if (r < 0)
		return r;
	assert_int_equal(len, key->dir);
	assert_int_equal(strspn(text, "t"), len);
	return 0;
}

/* How often it is made for two questions. */
static unsigned ask_twice(struct mount *m, uint64_t ns, uint32_t uid, int (*get_groups)(void *, int, gid_t[]))
{
	const struct view_key key = { .kind = VIEW_DOT_STATS, .n = ns, .dir = 4 };

	made = 0;
	for (int i = 0; i < 2; i++)
		assert_int_equal(ask(m, &key, uid, get_groups), 0);
	return made;
}

static void a_text_that_takes_long_is_kept_for_who_asked(void **state)
{
	struct mount m;

	(void)state;
	mount(&m);
	assert_int_equal(ask_twice(&m, 200000000, 1, no_groups), 1);
	assert_int_equal(ask_twice(&m, 200000000, 2, no_groups), 1);
	assert_int_equal(ask_twice(&m, 200000000, 2, one_group), 1);
	assert_int_equal(ask_twice(&m, 200000000, 2, one_group), 0);
	unmount(&m);
}

static void one_that_is_made_in_an_instant_is_made_each_time(void **state)
{
	struct mount m;

	(void)state;
	mount(&m);
	assert_int_equal(ask_twice(&m, 0, 1, no_groups), 2);
	unmount(&m);
}

/* --- bounds --- */

static void what_is_kept_has_a_bound_in_bytes(void **state)
{
	struct view_key key = { .kind = VIEW_DOT_STATS, .n = 2 * LONG_NS, .dir = VIEW_KEPT_MAX / 2 };
	struct mount m;

	(void)state;
	mount(&m);
	made = 0;
	for (key.part = 1; key.part <= 3; key.part++)
		assert_int_equal(ask(&m, &key, 1, no_groups), 0);
	key.part = 3;
	assert_int_equal(ask(&m, &key, 1, no_groups), 0);
	assert_int_equal(made, 3);
	key.part = 1;
	assert_int_equal(ask(&m, &key, 1, no_groups), 0);
	assert_int_equal(made, 4);
	key.dir = VIEW_KEPT_MAX + 1;
	for (int i = 0; i < 2; i++)
		assert_int_equal(ask(&m, &key, 1, no_groups), 0);
	assert_int_equal(made, 6);
	unmount(&m);
}

static size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static void what_nobody_asks_for_any_more_is_freed(void **state)
{
	const struct view_key key = { .kind = VIEW_DOT_STATS, .n = LONG_NS, .dir = VIEW_KEPT_MAX / 2 };
	struct mount m;
	size_t before = in_use();

	(void)state;
	mount(&m);
	assert_int_equal(ask(&m, &key, 1, no_groups), 0);
	for (int i = 0; i < 3000 && in_use() > before + key.dir / 2; i++)
		usleep(10000);
	assert_true(in_use() <= before + key.dir / 2);
	unmount(&m);
}

/* --- several at once --- */

static struct mount *asked;
static uint64_t work_ns;
static atomic_uint served;

/* As a handler does; the request, which nothing looks at, is a number. */
static int serve(fuse_req_t req, const struct gate_call *c)
{
	const struct view_key key = { .kind = VIEW_DOT_STATS, .n = work_ns, .dir = 4, .part = c->ino };
	int r = ask(asked, &key, 1, no_groups);

	(void)req;
	if (r == 0)
		served++;
	return r;
}

static void look(uint64_t text)
{
	gate_serve(&asked->gate, NULL, &(struct gate_call){ .serve = serve, .ino = text });
}

/* More than threads that may be inside: none is held. */
static void others_look(void)
{
	meanwhile = NULL;
	for (int i = 0; i < 3 * GATE_MAX; i++)
		look(1);
	assert_int_equal(served, 0);
	look(2);
	assert_int_equal(served, 1);
}

static void check_others_wait(uint64_t ns, unsigned times)
{
	struct mount m;

	mount(&m);
	asked = &m;
	work_ns = ns;
	made = served = 0;
	meanwhile = others_look;
	look(1);
	assert_int_equal(served, 2 + 3 * GATE_MAX);
	assert_int_equal(made, times);
	unmount(&m);
}

static void who_looks_while_a_text_is_made_waits_for_it_without_a_thread(void **state)
{
	(void)state;
	check_others_wait(LONG_NS, 2);
}

static void who_waited_for_what_was_made_in_an_instant_has_it_made(void **state)
{
	(void)state;
	check_others_wait(0, 2 + 3 * GATE_MAX);
}

#define LOOKERS 12
#define LOOKS 300

static void *look_on(void *arg)
{
	for (uint64_t i = 0; i < LOOKS; i++)
		look(i * (uint64_t)(uintptr_t)arg % 5);
	return NULL;
}

static void each_of_many_that_look_at_once_gets_its_answer(void **state)
{
	struct mount m;
	pthread_t threads[LOOKERS];

	(void)state;
	mount(&m);
	asked = &m;
	work_ns = 100000;
	served = 0;
	for (uintptr_t i = 0; i < LOOKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, look_on, (void *)(i + 1)), 0);
	for (size_t i = 0; i < LOOKERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(served, LOOKERS * LOOKS);
	unmount(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_that_takes_long_is_kept_for_who_asked),
		cmocka_unit_test(one_that_is_made_in_an_instant_is_made_each_time),
		cmocka_unit_test(what_is_kept_has_a_bound_in_bytes),
		cmocka_unit_test(what_nobody_asks_for_any_more_is_freed),
		cmocka_unit_test(who_looks_while_a_text_is_made_waits_for_it_without_a_thread),
		cmocka_unit_test(who_waited_for_what_was_made_in_an_instant_has_it_made),
		cmocka_unit_test(each_of_many_that_look_at_once_gets_its_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
