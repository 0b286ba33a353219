#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "test.h"
#include "util/edit_distance.h"
#include "util/human.h"
#include "util/progress.h"

/* Standard error as a terminal of that many columns, with the progress shown. */
struct terminal {
	int pty, slave, error;
};

static struct terminal begin(const char *term, unsigned short columns)
{
	struct terminal t = { .pty = posix_openpt(O_RDWR | O_NOCTTY), .error = dup(STDERR_FILENO) };
	struct winsize w = { .ws_col = columns, .ws_row = 24 };

	assert_true(t.pty >= 0 && grantpt(t.pty) == 0 && unlockpt(t.pty) == 0);
	t.slave = open(ptsname(t.pty), O_RDWR | O_NOCTTY);
	assert_true(t.slave >= 0 && ioctl(t.slave, TIOCSWINSZ, &w) == 0);
	dup2(t.slave, STDERR_FILENO);
	setenv("TERM", term, 1);
	progress_enable();
	return t;
}

/* What it got; empty: nothing. */
static void end(const struct terminal *t, char ret[static 512])
{
	ssize_t n;

	dup2(t->error, STDERR_FILENO);
	fcntl(t->pty, F_SETFL, O_NONBLOCK);
	n = read(t->pty, ret, 511);
	ret[n > 0 ? n : 0] = 0;
	close(t->slave);
	close(t->error);
	close(t->pty);
	progress_enable();
}

/* What it gets ten seconds after the beginning. */
static void shown(struct progress *p, const char *term, unsigned short columns, uint64_t bytes, char ret[static 512])
{
	struct terminal t = begin(term, columns);

	p->start -= 10000000000ll;
	progress_add(p, bytes);
	end(&t, ret);
}

static void the_line_has_the_share_the_rate_and_the_time_left(void **state)
{
	struct progress p;
	char text[512];

	(void)state;
	progress_start(&p, "expfs: fsck: reading", 400u << 20);
	shown(&p, "xterm", 120, 100u << 20, text);
	assert_string_equal(text, "\rexpfs: fsck: reading: [#####---------------] 25 %, 100.0 MiB of 400.0 MiB, 10.0 MiB/s, 30 s left\033[K");
}

static void it_never_takes_two_rows(void **state)
{
	struct progress p;
	char text[512];

	(void)state;
	progress_start(&p, "expfs: fsck: reading", 400u << 20);
	shown(&p, "xterm", 30, 100u << 20, text);
	assert_string_equal(text, "\rexpfs: fsck: reading: [#####-\033[K");
}

static void without_a_total_it_has_what_was_done(void **state)
{
	struct progress p;
	char text[512];

	(void)state;
	progress_start(&p, "expfs: x", 0);
	shown(&p, "xterm", 80, 100u << 20, text);
	assert_string_equal(text, "\rexpfs: x: 100.0 MiB, 10.0 MiB/s\033[K");
	progress_start(&p, "expfs: x", 0);
	shown(&p, "xterm", 80, 0, text);
	assert_string_equal(text, "\rexpfs: x: 10 s\033[K");
}

static void of_two_the_inner_is_shown_and_then_the_outer_again(void **state)
{
	struct progress outer, inner;
	struct terminal t = begin("xterm", 80);
	char text[512];

	(void)state;
	progress_start(&outer, "expfs: outer", 0);
	progress_start(&inner, "expfs: inner", 0);
	outer.start = inner.start -= 10000000000ll;
	progress_add(&outer, 0);
	progress_add(&inner, 0);
	progress_end(&inner);
	progress_add(&outer, 0);
	end(&t, text);
	assert_string_equal(text, "\rexpfs: inner: 10 s\033[K\r\033[K\rexpfs: outer: 10 s\033[K");
}

static void a_terminal_that_only_prints_lines_gets_none(void **state)
{
	struct progress p;
	char text[512];

	(void)state;
	progress_start(&p, "expfs: x", 100);
	shown(&p, "dumb", 80, 50, text);
	assert_string_equal(text, "");
}

static void numbers_are_in_units_for_people(void **state)
{
	char text[HUMAN_TEXT], count[HUMAN_COUNT];

	(void)state;
	human_bytes(1023, text);
	assert_string_equal(text, "1023 B");
	human_bytes(1536, text);
	assert_string_equal(text, "1.5 KiB");
	human_bytes(1e30, text);
	assert_int_equal(strlen(text), HUMAN_TEXT - 1);
	human_seconds(59.6, text);
	assert_string_equal(text, "1 min 00 s");
	human_seconds(3900, text);
	assert_string_equal(text, "1 h 05 min");
	human_seconds(90000, text);
	assert_string_equal(text, "1 d 01 h");
	human_seconds(1e300, text);
	assert_string_equal(text, "11 d 13 h");
	assert_string_equal(human_count(0, "file", count), "0 files");
	assert_string_equal(human_count(1, "file", count), "1 file");
	assert_string_equal(human_count(2, "file", count), "2 files");
}

static void the_nearest_name_is_found_if_one_is_near(void **state)
{
	struct nearest n = { .word = "jsn" };

	(void)state;
	nearest_try(&n, "store");
	assert_null(n.name);
	nearest_try(&n, "jon");
	nearest_try(&n, "json");
	assert_string_equal(n.name, "jon");
	n = (struct nearest){ .word = "ab" };
	nearest_try(&n, "xy");
	assert_null(n.name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_has_the_share_the_rate_and_the_time_left),
		cmocka_unit_test(it_never_takes_two_rows),
		cmocka_unit_test(without_a_total_it_has_what_was_done),
		cmocka_unit_test(of_two_the_inner_is_shown_and_then_the_outer_again),
		cmocka_unit_test(a_terminal_that_only_prints_lines_gets_none),
		cmocka_unit_test(numbers_are_in_units_for_people),
		cmocka_unit_test(the_nearest_name_is_found_if_one_is_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
