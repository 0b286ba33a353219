#include "store/object.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "test.h"
#include "util/io.h"

static int nothing_more(const char *path)
{
	return 0;
}

static int open_store(void **state)
{
	_cleanup_free_ char *path = NULL;
	struct store *s;

	if (make_scratch(state) < 0 || asprintf(&path, "%s/s", (char *)*state) < 0)
		return -1;
	free(steal((char **)state));
	if (store_init(path, "", nothing_more) < 0 || store_open(path, &s, NULL) < 0)
		return -1;
	*state = s;
	return 0;
}

static int close_store(void **state)
{
	char *path = strdup(store_path(*state));

	store_close(*state);
	*strrchr(path, '/') = 0;
	*state = path;
	return remove_scratch(state);
}

static void an_object_is_made_once_and_gone_when_unlinked(void **state)
{
	struct object *o, *again;
	struct stat st;
	int fd;

	assert_int_equal(object_create(*state, 0x1234, &o), 0);
	assert_int_equal(object_create(*state, 0x1234, &again), -EEXIST);
	assert_int_equal(object_pin(o, &fd), 0);
	assert_int_equal(io_pwrite(fd, "x", 1, 9), 1);
	object_unpin(o);
	assert_int_equal(object_stat(*state, 0x1234, &st), 0);
	assert_int_equal(st.st_size, 10);
	assert_int_equal(object_sync(o, false), 0);
	assert_int_equal(object_unlink(*state, 0x1234), 0);
	assert_int_equal(object_stat(*state, 0x1234, &st), -ENOENT);
	object_put(o);
	assert_int_equal(object_get(*state, 0x1234, &o), 0);
	assert_int_equal(object_pin(o, &fd), -ENOENT);
	object_put(o);
}

static unsigned open_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The limit is set before the store is opened, whose budget follows it. */
static int few_descriptors(void **state)
{
	struct rlimit rl = { 160, 160 };

	return setrlimit(RLIMIT_NOFILE, &rl) < 0 ? -1 : open_store(state);
}

static void more_objects_than_descriptors_can_be_written_and_read(void **state)
{
	enum { OBJECTS = 500 };
	static struct object *o[OBJECTS];
	unsigned most = 0;
	int fd;

	for (unsigned i = 0; i < OBJECTS; i++) {
		assert_int_equal(object_create(*state, 0x10000 + i, &o[i]), 0);
		assert_int_equal(object_pin(o[i], &fd), 0);
		assert_int_equal(io_pwrite(fd, &i, sizeof(i), 0), sizeof(i));
		object_unpin(o[i]);
		most = MAX(most, open_descriptors());
	}
	assert_in_range(most, 10, 120);
	for (unsigned i = 0; i < OBJECTS; i++) {
		unsigned got = 0;

		assert_int_equal(object_pin(o[i], &fd), 0);
		assert_int_equal(io_pread(fd, &got, sizeof(got), 0), sizeof(got));
		assert_int_equal(got, i);
		object_unpin(o[i]);
		object_put(o[i]);
	}
}

static int count(void *arg, uint64_t id, const char *name)
{
	unsigned *n = arg;

	n[id == 0]++;
	return 0;
}

static void each_tells_objects_and_names_that_are_none(void **state)
{
	static const uint64_t ids[] = { 1, 0xff, 0x100, 0xabcdef, 0xffffffffffull };
	static const char *const strange[] = { "objects/00/0", "objects/00/100", "objects/00/01", "objects/7f/x" };
	unsigned n[2] = { 0, 0 };
	struct object *o;

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		assert_int_equal(object_create(*state, ids[i], &o), 0);
		object_put(o);
	}
	for (size_t i = 0; i < ARRAY_SIZE(strange); i++)
		close(openat(store_dirfd(*state), strange[i], O_CREAT | O_WRONLY, 0600));
	assert_int_equal(object_each(*state, count, n), 0);
	assert_int_equal(n[0], ARRAY_SIZE(ids));
	assert_int_equal(n[1], ARRAY_SIZE(strange));
}

static void the_reserve_is_given_in_pieces_and_taken_back(void **state)
{
	int pieces = 0;

	while (store_reserve_give(*state, false))
		pieces++;
	assert_int_equal(pieces, 4);
	while (store_reserve_give(*state, true)) /* the rest is for what frees space */
		pieces++;
	assert_int_equal(pieces, 8);
	store_reserve_hold(*state);
	assert_true(store_reserve_give(*state, false));
}

static void a_second_lock_is_refused_and_told_who_has_it(void **state)
{
	_cleanup_free_ char *who = NULL;
	char pid[32];
	struct store *other;

	snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
	assert_int_equal(store_lock(*state, "mounted on /mnt", NULL), 0);
	assert_int_equal(store_open(store_path(*state), &other, NULL), 0);
	assert_int_equal(store_lock(other, "second", &who), -EWOULDBLOCK);
	assert_non_null(strstr(who, pid));
	assert_non_null(strstr(who, "mounted on /mnt"));
	store_close(other);
}

static void a_store_of_a_newer_format_is_told_from_what_is_no_store(void **state)
{
	unsigned format = 0;
	char newer[64];
	struct store *other;

	snprintf(newer, sizeof(newer), "expfs store\nformat %d\n", STORE_FORMAT + 1);
	assert_int_equal(io_write_file(store_dirfd(*state), "format", newer, strlen(newer)), 0);
	assert_int_equal(store_open(store_path(*state), &other, &format), -EPROTONOSUPPORT);
	assert_int_equal(format, STORE_FORMAT + 1);
	assert_int_equal(io_write_file(store_dirfd(*state), "format", "something", 9), 0);
	assert_int_equal(store_open(store_path(*state), &other, &format), -EMEDIUMTYPE);
}

#define test(f) cmocka_unit_test_setup_teardown(f, open_store, close_store)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(an_object_is_made_once_and_gone_when_unlinked),
		test(each_tells_objects_and_names_that_are_none),
		test(the_reserve_is_given_in_pieces_and_taken_back),
		test(a_second_lock_is_refused_and_told_who_has_it),
		test(a_store_of_a_newer_format_is_told_from_what_is_no_store),
		cmocka_unit_test_setup_teardown(more_objects_than_descriptors_can_be_written_and_read, few_descriptors,
						close_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
