#include "whole.h"

#include "format/whole.h"

const char *why(const char *name, const void *p, size_t n)
{
	FILE *f = tmpfile();
	const char *reason = "unset";
	bool whole = false;

	assert_non_null(f);
	assert_int_equal(pwrite(fileno(f), p, n, 0), (ssize_t)n);
	assert_int_equal(format_whole(fileno(f), n, name, &whole, &reason), 0);
	fclose(f);
	if (whole)
		assert_null(reason);
	else
		assert_non_null(reason);
	return reason;
}

void assert_whole(const char *name, const struct bytes *b)
{
	const char *reason = why(name, b->p, b->len);

	if (reason)
		fail_msg("%s: %s", name, reason);
}

void assert_torn(const char *name, const struct bytes *b, const char *reason)
{
	const char *r = why(name, b->p, b->len);

	if (!r || strcmp(r, reason) != 0)
		fail_msg("%s: %s, not: %s", name, r ? r : "whole", reason);
}

void assert_each_counts(const char *name, struct bytes *b, size_t at, size_t n)
{
	for (size_t i = at; i < at + n; i++) {
		b->p[i] ^= 0xff;
		if (!why(name, b->p, b->len))
			fail_msg("%s: whole with byte %zu changed", name, i);
		b->p[i] ^= 0xff;
	}
	assert_whole(name, b);
}
