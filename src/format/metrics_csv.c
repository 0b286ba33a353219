/* A record is a line, or more where line ends are in quotes. */
#include <string.h>

#include "format/metrics.h"

struct cell {
	char text[METRICS_NAME_MAX + 1]; /* without spaces around it; "" also where it is longer */
	size_t len;
};

struct columns {
	struct cell *names;
	size_t count, step;
};

static void clear_columns(struct columns *c)
{
	free(c->names);
}

/* Where the next record begins; NULL: this one has no end yet. */
static const char *record_end(const char *p, const char *end)
{
	bool quoted = false;

	for (; p < end; p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (*p == '\n' && !quoted)
			return p + 1;
	}
	return NULL;
}

size_t metrics_csv_header(const char *text, size_t len)
{
	const char *end = record_end(text, text + len);

	return end ? (size_t)(end - text) : 0;
}

/* Takes a cell and what ends it; false: the record is over, or ends with it. */
static bool take_cell(const char **p, const char *end, struct cell *ret)
{
	bool quoted = false;
	char c = '\0';
	size_t n = 0;

	for (; *p < end; (*p)++) {
		c = **p;
		if (c == '"') {
			bool twice = quoted && *p + 1 < end && (*p)[1] == '"';

			*p += twice;
			if (!twice) {
				quoted = !quoted;
				continue;
			}
		} else if (!quoted && (c == ',' || c == '\n')) {
			break;
		}
		if (n > 0 || c != ' ') {
			if (n < METRICS_NAME_MAX)
				ret->text[n] = c;
			n++;
		}
	}
	if (n > METRICS_NAME_MAX)
		n = 0;
	while (n > 0 && (ret->text[n - 1] == ' ' || ret->text[n - 1] == '\r'))
		n--;
	ret->text[n] = '\0';
	ret->len = n;
	if (*p == end || c == '\n')
		return false;
	(*p)++;
	return true;
}

static int read_header(const char *p, const char *end, struct columns *ret, struct reason *why)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8, as some write it */
	size_t allocated = 0;
	int best = -1;
	bool more = true;

	if ((size_t)(end - p) >= sizeof(mark) - 1 && !memcmp(p, mark, sizeof(mark) - 1))
		p += sizeof(mark) - 1;
	while (more) {
		int rank;

		if (ret->count == METRICS_COLUMNS_MAX)
			return reason_set(why, 1, "more than %u columns", METRICS_COLUMNS_MAX);
		if (ret->count == allocated) {
			struct cell *names = reallocarray(ret->names, allocated = MAX(allocated * 2, 16u), sizeof(*names));

			if (!names)
				return -ENOMEM;
			ret->names = names;
		}
		more = take_cell(&p, end, &ret->names[ret->count]);
		rank = metrics_step_rank(ret->names[ret->count].text);
		if (rank >= 0 && (best < 0 || rank < best)) {
			best = rank;
			ret->step = ret->count;
		}
		ret->count++;
	}
	return best < 0 ? reason_set(why, 1, "no column of steps") : 0;
}

static bool to_number(const struct cell *c, double *ret)
{
	return strlen(c->text) == c->len && metrics_number(c->text, ret);
}

/* 1: a row; 0: none, nor is it meant to be; -EINVAL with the reason. */
static int find_step(const struct columns *columns, const char *p, const char *end, int64_t *ret, struct reason *why)
{
	struct cell c = { .len = 0 };
	double number;
	size_t i = 0;

	while (take_cell(&p, end, &c) && i < columns->step)
		i++;
	if (i < columns->step || c.len == 0)
		return reason_set(why, 0, "has no step");
	if (!strcmp(c.text, columns->names[i].text))
		return 0;
	*ret = to_number(&c, &number) ? metrics_step(number) : -1;
	return *ret < 0 ? reason_set(why, 0, "its step is no whole number") : 1;
}

static int give_record(const struct columns *columns, const char *p, const char *end, int64_t step, metrics_fn f,
		       void *data)
{
	bool more = true;
	int r = 0;

	for (size_t i = 0; r >= 0 && more && i < columns->count; i++) {
		const struct cell *name = &columns->names[i];
		struct cell c;
		double number;

		more = take_cell(&p, end, &c);
		if (i != columns->step && name->len > 0 && strlen(name->text) == name->len && to_number(&c, &number))
			r = f(data, step, name->text, number);
	}
	return r;
}

static size_t count_lines(const char *p, const char *end)
{
	size_t n = 0;

	for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
		n++;
	return n;
}

static bool is_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\r' || *p == '\n'))
		p++;
	return p == end;
}

int metrics_csv(struct metrics *m, const char *header, size_t header_len, const char *text, size_t len, bool end,
		metrics_fn f, void *data, size_t *ret_used)
{
	_cleanup_(clear_columns) struct columns columns = { 0 };
	const char *p = text, *text_end = text + len;
	int r = read_header(header, header + header_len, &columns, &m->why);

	if (r < 0)
		return r;
	m->by_epoch = metrics_rank_is_epoch(metrics_step_rank(columns.names[columns.step].text));
	if (m->lines == 0)
		m->lines = count_lines(header, header + header_len);
	while (p < text_end) {
		const char *next = record_end(p, text_end);
		struct reason why;
		int64_t step = 0;

		if (!next && text_end - p > METRICS_LINE_MAX)
			return -EFBIG;
		if (!next && !end)
			break;
		next = next ? next : text_end;
		if (next - p > METRICS_LINE_MAX)
			r = reason_set(&why, 0, "longer than 1 MiB");
		else
			r = is_blank(p, next) ? 0 : find_step(&columns, p, next, &step, &why);
		if (r < 0)
			metrics_bad(m, m->lines + 1, why.text);
		if (r > 0) {
			r = give_record(&columns, p, next, step, f, data);
			if (r < 0)
				return r;
			m->rows++;
		}
		m->lines += count_lines(p, next);
		p = next;
	}
	*ret_used = (size_t)(p - text);
	return 0;
}
