#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "test.h"
#include "util/edit_distance.h"
#include "util/human.h"
#include "util/progress.h"

/* What a terminal of that many columns gets of it, ten seconds after its beginning; empty: nothing. */
static void shown(struct progress *p, const char *term, unsigned short columns, uint64_t bytes, char ret[static 512])
{
	int pty = posix_openpt(O_RDWR | O_NOCTTY), error = dup(STDERR_FILENO), slave;
	struct winsize w = { .ws_col = columns, .ws_row = 24 };
	ssize_t n;

	assert_true(pty >= 0 && grantpt(pty) == 0 && unlockpt(pty) == 0);
	slave = open(ptsname(pty), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0 && ioctl(slave, TIOCSWINSZ, &w) == 0);
	dup2(slave, STDERR_FILENO);
	setenv("TERM", term, 1);
	progress_enable();
	p->start -= 10000000000ll;
	progress_add(p, bytes);
	dup2(error, STDERR_FILENO);
	fcntl(pty, F_SETFL, O_NONBLOCK);
	n = read(pty, ret, 511);
	ret[n > 0 ? n : 0] = 0;
	close(slave);
	close(error);
	close(pty);
	progress_enable();
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
		cmocka_unit_test(a_terminal_that_only_prints_lines_gets_none),
		cmocka_unit_test(numbers_are_in_units_for_people),
		cmocka_unit_test(the_nearest_name_is_found_if_one_is_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
