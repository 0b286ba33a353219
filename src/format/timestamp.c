/* Timestamps by timestamp_regexp and construct_yaml_timestamp() of PyYAML. */
#include "format/timestamp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/scan.h"

#define DIGITS "0123456789"

struct moment {
	int year, month, day;
	bool has_time;
	int hour, minute, second, microsecond;
	bool has_zone;
	int zone; /* minutes east */
};

static bool take_number(struct scan *s, int min, int max, int *ret)
{
	int n = 0, v = 0;

	for (; n < max && s->p < s->end && *s->p >= '0' && *s->p <= '9'; n++)
		v = 10 * v + (*s->p++ - '0');
	*ret = v;
	return n >= min;
}

/* (?:\.[0-9]*)? of which six digits count */
static void take_fraction(struct scan *s, struct moment *m)
{
	const char *begin;

	if (!scan_any(s, "."))
		return;
	begin = s->p;
	scan_all(s, DIGITS);
	for (int i = 0; i < 6; i++)
		m->microsecond = 10 * m->microsecond + (begin + i < s->p ? begin[i] - '0' : 0);
}

/* (?:[ \t]*(?:Z|[-+][0-9][0-9]?(?::[0-9][0-9])?))?$ */
static bool take_zone(struct scan *s, struct moment *m)
{
	int hour, minute = 0;
	bool west;

	if (s->p == s->end)
		return true;
	scan_all(s, " \t");
	m->has_zone = true;
	if (scan_any(s, "Z"))
		return s->p == s->end;
	west = s->p < s->end && *s->p == '-';
	if (!scan_any(s, "+-") || !take_number(s, 1, 2, &hour) || (scan_any(s, ":") && !take_number(s, 2, 2, &minute)))
		return false;
	m->zone = (60 * hour + minute) * (west ? -1 : 1);
	return s->p == s->end;
}

static bool read_moment(const char *text, size_t len, struct moment *ret)
{
	struct scan s = { text, text + len };
	struct moment m = { 0 };

	if (!take_number(&s, 4, 4, &m.year) || !scan_any(&s, "-") || !take_number(&s, 1, 2, &m.month) ||
	    !scan_any(&s, "-") || !take_number(&s, 1, 2, &m.day))
		return false;
	*ret = m;
	if (s.p == s.end)
		return true;
	m.has_time = true;
	if (!(scan_any(&s, "Tt") || scan_all(&s, " \t")) || !take_number(&s, 1, 2, &m.hour) || !scan_any(&s, ":") ||
	    !take_number(&s, 2, 2, &m.minute) || !scan_any(&s, ":") || !take_number(&s, 2, 2, &m.second))
		return false;
	take_fraction(&s, &m);
	if (!take_zone(&s, &m))
		return false;
	*ret = m;
	return true;
}

static int days_in(const struct moment *m)
{
	bool leap = m->year % 4 == 0 && (m->year % 100 != 0 || m->year % 400 == 0);

	if (m->month == 2)
		return leap ? 29 : 28;
	return m->month == 4 || m->month == 6 || m->month == 9 || m->month == 11 ? 30 : 31;
}

bool timestamp_is_plain(const char *text, size_t len)
{
	struct moment m;

	return read_moment(text, len, &m) && (m.has_time || len == strlen("2001-01-01"));
}

int timestamp_text(const char *text, size_t len, char ret[TIMESTAMP_TEXT_SIZE])
{
	struct moment m;
	int n;

	if (!read_moment(text, len, &m) || m.year < 1 || m.month < 1 || m.month > 12 || m.day < 1 ||
	    m.day > days_in(&m) || m.hour > 23 || m.minute > 59 || m.second > 59 || abs(m.zone) >= 24 * 60)
		return -EINVAL;
	n = sprintf(ret, "%04d-%02d-%02d", m.year, m.month, m.day);
	if (m.has_time)
		n += sprintf(ret + n, " %02d:%02d:%02d", m.hour, m.minute, m.second);
	if (m.microsecond)
		n += sprintf(ret + n, ".%06d", m.microsecond);
	if (m.has_zone)
		sprintf(ret + n, "%c%02d:%02d", m.zone < 0 ? '-' : '+', abs(m.zone) / 60, abs(m.zone) % 60);
	return 0;
}
