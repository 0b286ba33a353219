/* Metrics by step, a chart each: the lines are drawn into a box that is stretched to the place that there is, so that the
 * numbers beside it, which are text of the page, stay legible on a telephone. */
#include "page/page_part.h"

#include <math.h>
#include <string.h>

#include "page/axis.h"
#include "page/out.h"
#include "page/thin.h"
#include "util/util.h"

#define WIDTH 3600 /* of the box, in its own units */
#define HEIGHT 1000
#define CHARTS 32
#define DASH 8
#define POINTS_MAX (1u << 20) /* of one curve; more are not looked at */

struct series {
	size_t style;
	const char *name;
	struct thin_point *v, last;
	size_t n;
	json_int_t first, end; /* steps: as doubles the largest are one more */
	double low, high;
	json_int_t odd; /* values that are not finite */
	const struct series *as; /* the first one with the same points, or NULL; */
	size_t place, equals;    /* among them, as many as there are */
};

struct chart {
	const char *name;
	struct series v[PAGE_STYLES];
	size_t n;
	struct axis x, y;
	json_int_t first, end; /* steps */
	double low, high;
};

static void chart_free(struct chart *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].v);
}

static void add_point(struct series *s, double step, double y)
{
	if (!isfinite(y)) {
		s->odd++;
		s->v[s->n++] = (struct thin_point){ step, NAN };
		return;
	}
	s->v[s->n] = s->last = (struct thin_point){ step, y };
	s->n++;
	s->low = isnan(s->low) ? y : MIN(s->low, y);
	s->high = isnan(s->high) ? y : MAX(s->high, y);
}

/* The points in JSON, ascending in step; what does not ascend is left out. */
static int take_points(const json_t *points, struct series *s)
{
	size_t n = MIN(json_array_size(points), POINTS_MAX);

	s->low = s->high = NAN;
	s->v = calloc(n + 1, sizeof(*s->v));
	if (!s->v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const json_t *point = json_array_get(points, i), *y = json_array_get(point, 1);
		json_int_t step = json_integer_value(json_array_get(point, 0));

		if (!json_is_array(point) || (s->n > 0 && step < s->end))
			continue;
		s->first = s->n > 0 ? s->first : step;
		s->end = step;
		add_point(s, (double)step, json_is_number(y) ? json_number_value(y) : NAN);
	}
	return 0;
}

static void span(struct chart *c, const struct series *s)
{
	if (isnan(s->low))
		return;
	c->low = isnan(c->low) ? s->low : MIN(c->low, s->low);
	c->high = isnan(c->high) ? s->high : MAX(c->high, s->high);
	c->first = MIN(c->first, s->first);
	c->end = MAX(c->end, s->end);
}

static bool is_equal(const struct series *a, const struct series *b)
{
	if (a->n == 0 || a->n != b->n || a->odd != b->odd)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->v[i].x != b->v[i].x || (a->v[i].y != b->v[i].y && !(isnan(a->v[i].y) && isnan(b->v[i].y))))
			return false;
	return true;
}

static void find_equals(struct chart *c)
{
	for (size_t i = 0; i < c->n; i++)
		for (size_t j = 0; j < i && !c->v[i].as; j++)
			if (!c->v[j].as && is_equal(&c->v[j], &c->v[i])) {
				c->v[i].as = &c->v[j];
				c->v[i].place = ++c->v[j].equals;
			}
}

static int chart_make(const json_t *report, const json_t *curve, struct chart *c)
{
	const json_t *branches = json_object_get(json_object_get(report, "curves"), "branches"), *j;
	size_t i;

	*c = (struct chart){ .name = out_get(curve, "name"), .low = NAN, .high = NAN, .first = INT64_MAX, .end = INT64_MIN };
	json_array_foreach (json_object_get(curve, "series"), i, j) {
		json_int_t branch = out_get_number(j, "branch");
		struct series *s = &c->v[c->n];

		if (branch < 0 || branch >= PAGE_STYLES || c->n == PAGE_STYLES)
			continue;
		*s = (struct series){ .style = (size_t)branch, .name = json_string_value(json_array_get(branches, (size_t)branch)) };
		c->n++;
		if (take_points(json_object_get(j, "points"), s) < 0)
			return -ENOMEM;
		span(c, s);
	}
	if (isnan(c->low))
		return 0;
	axis_make((double)c->first, (double)c->end, AXIS_STEPS, &c->x);
	axis_make(c->low, c->high, AXIS_VALUES, &c->y);
	for (i = 0; i < c->n; i++)
		c->v[i].n = thin(c->v[i].v, c->v[i].n, c->x.lo, c->x.hi, PAGE_COLUMNS);
	find_equals(c);
	return 0;
}

static void put_class(FILE *f, const struct series *s)
{
	fprintf(f, "<path class=\"s c%zu%s\"", s->style % PAGE_COLOURS, s->style < PAGE_COLOURS ? "" : " d");
}

/* Of equal ones the first is drawn whole, and on it of each other one the dashes that are its own. */
static void put_style(FILE *f, const struct series *s)
{
	put_class(f, s);
	if (s->as)
		fprintf(f, " style=\"stroke-dasharray:%d %zu;stroke-dashoffset:-%zu;stroke-linecap:butt\"", DASH,
			DASH * s->as->equals, DASH * s->place);
}

static int x_of(const struct chart *c, const struct thin_point *p)
{
	return (int)lround(axis_place(&c->x, p->x) * WIDTH);
}

static int y_of(const struct chart *c, const struct thin_point *p)
{
	return HEIGHT - (int)lround(axis_place(&c->y, p->y) * HEIGHT);
}

static void put_line(FILE *f, const struct chart *c, const struct series *s)
{
	int x = 0, y = 0;
	bool pen = false;

	put_style(f, s);
	fputs(" d=\"", f);
	for (size_t i = 0; i < s->n; i++) {
		bool gap = isnan(s->v[i].y);
		int to_x = x_of(c, &s->v[i]), to_y = gap ? 0 : y_of(c, &s->v[i]);

		if (!gap && !pen)
			fprintf(f, "M%d %d", to_x, to_y);
		else if (!gap && (to_x != x || to_y != y))
			fprintf(f, "l%d %d", to_x - x, to_y - y);
		pen = !gap;
		x = to_x;
		y = to_y;
	}
	fputs("\"/>\n", f);
}

/* Points between gaps are lines of no length, which are drawn as dots. */
static void put_dots(FILE *f, const struct chart *c, const struct series *s)
{
	bool any = false;

	for (size_t i = 0; i < s->n; i++) {
		if (isnan(s->v[i].y) || (i > 0 && !isnan(s->v[i - 1].y)) || (i + 1 < s->n && !isnan(s->v[i + 1].y)))
			continue;
		if (!any)
			fprintf(f, "<path class=\"s p c%zu\" d=\"", s->style % PAGE_COLOURS);
		fprintf(f, "M%d %dh0", x_of(c, &s->v[i]), y_of(c, &s->v[i]));
		any = true;
	}
	fputs(any ? "\"/>\n" : "", f);
}

static void put_grid(FILE *f, const struct chart *c)
{
	fputs("<path class=\"g\" d=\"", f);
	for (unsigned i = 0; i <= c->y.n; i++)
		fprintf(f, "M0 %uh%d", HEIGHT * i / c->y.n, WIDTH);
	for (unsigned i = 0; i <= c->x.n; i++)
		fprintf(f, "M%u 0v%d", WIDTH * i / c->x.n, HEIGHT);
	fputs("\"/>\n", f);
}

static void put_marks(FILE *f, const char *class, const struct axis *a, bool down)
{
	fprintf(f, "<div class=\"%s\" aria-hidden=\"true\">", class);
	for (unsigned i = 0; i <= a->n; i++) {
		fputs("<span>", f);
		out_number(f, axis_mark(a, down ? a->n - i : i));
		fputs("</span>", f);
	}
	fputs("</div>\n", f);
}

static double length(const struct series *s)
{
	return s->n > 0 ? s->v[s->n - 1].x - s->v[0].x : 0;
}

/* So that one that has the same values for a while is not covered. */
static void longest_first(const struct chart *c, const struct series *ret[static PAGE_STYLES])
{
	for (size_t i = 0; i < c->n; i++) {
		size_t at = i;

		for (; at > 0 && length(ret[at - 1]) < length(&c->v[i]); at--)
			ret[at] = ret[at - 1];
		ret[at] = &c->v[i];
	}
}

static void put_box(FILE *f, const struct chart *c)
{
	const struct series *order[PAGE_STYLES];

	put_marks(f, "y", &c->y, true);
	fprintf(f, "<svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\">\n<title>", WIDTH, HEIGHT);
	out_text(f, c->name);
	fprintf(f, " by step, of ");
	out_count(f, (json_int_t)c->n, "branch");
	fprintf(f, ": steps %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT ", values ", c->first, c->end);
	out_number(f, c->low);
	fputs(" to ", f);
	out_number(f, c->high);
	fputs("</title>\n", f);
	put_grid(f, c);
	longest_first(c, order);
	for (size_t i = 0; i < c->n; i++) {
		put_line(f, c, order[i]);
		put_dots(f, c, order[i]);
	}
	fputs("</svg>\n", f);
	put_marks(f, "x", &c->x, false);
}

static void put_extent(FILE *f, const struct series *s)
{
	if (!isnan(s->low)) {
		fputs("last ", f);
		out_number(f, s->last.y);
		fputs(" at ", f);
		out_number(f, s->last.x);
		fputs(", lowest ", f);
		out_number(f, s->low);
		fputs(", highest ", f);
		out_number(f, s->high);
	}
	if (s->odd) {
		fputs(isnan(s->low) ? "" : ", ", f);
		out_count(f, s->odd, "value");
		fputs(s->odd == 1 ? " is not finite" : " are not finite", f);
	}
}

static void put_as(FILE *f, const struct series *as)
{
	if (!as)
		return;
	fputs("; the same as ", f);
	out_name(f, as->name ? as->name : "");
}

/* As the curve is drawn: whole, or one of its dashes. */
static void put_key(FILE *f, const struct series *s)
{
	put_class(f, s);
	if (s->as)
		fprintf(f, " style=\"stroke-dasharray:none;stroke-linecap:butt\" d=\"M%d 4h%d\"/>", 14 - DASH / 2, DASH);
	else
		fputs(" d=\"M2 4h24\"/>", f);
}

static void put_legend(FILE *f, const struct chart *c)
{
	fputs("<ul class=\"legend\">\n", f);
	for (size_t i = 0; i < c->n; i++) {
		fputs("<li><svg viewBox=\"0 0 28 8\" aria-hidden=\"true\">", f);
		put_key(f, &c->v[i]);
		fputs("</svg> <span>", f);
		out_name(f, c->v[i].name ? c->v[i].name : "");
		fputs(" <small>", f);
		put_extent(f, &c->v[i]);
		put_as(f, c->v[i].as);
		fputs("</small></span></li>\n", f);
	}
	fputs("</ul>\n", f);
}

static void put_chart(FILE *f, const json_t *report, const json_t *curve)
{
	struct chart c;

	if (chart_make(report, curve, &c) == 0 && c.n > 0) {
		fputs("<figure class=\"chart\">\n<figcaption><h3>", f);
		out_name(f, c.name);
		fputs(c.y.log ? "</h3> <small>logarithmic</small>" : "</h3>", f);
		fputs("</figcaption>\n", f);
		if (!isnan(c.low)) {
			fputs("<div class=\"plot\">\n", f);
			put_box(f, &c);
			fputs("</div>\n", f);
		}
		put_legend(f, &c);
		fputs("</figure>\n", f);
	}
	chart_free(&c);
}

static size_t place_in(const json_t *names, const char *name)
{
	size_t n = json_array_size(names), i = 0;

	while (i < n && (!json_is_string(json_array_get(names, i)) || strcmp(json_string_value(json_array_get(names, i)), name) != 0))
		i++;
	return i;
}

size_t page_style_of(const json_t *report, const char *branch)
{
	const json_t *drawn = json_object_get(json_object_get(report, "curves"), "branches"), *b;
	size_t n = json_array_size(drawn), style = place_in(drawn, branch), i;

	if (style < n)
		return MIN(style, (size_t)PAGE_STYLES);
	json_array_foreach (json_object_get(json_object_get(report, "status"), "branches"), i, b) {
		if (style >= PAGE_STYLES || !strcmp(out_get(b, "name"), branch))
			return MIN(style, (size_t)PAGE_STYLES);
		style += place_in(drawn, out_get(b, "name")) == n;
	}
	return PAGE_STYLES;
}

void page_curves(FILE *f, const json_t *report)
{
	const json_t *curves = json_object_get(report, "curves"), *list = json_object_get(curves, "list"), *curve;
	size_t i;

	if (json_array_size(list) == 0)
		return;
	out_section(f, "curves", "Metrics by step");
	fputs("<div class=\"charts\">\n", f);
	json_array_foreach (list, i, curve)
		if (i < CHARTS)
			put_chart(f, report, curve);
	fputs("</div>\n", f);
	out_more(f, (json_int_t)(i > CHARTS ? i - CHARTS : 0) + out_get_number(curves, "more_names"), "metric", "expfs signal BRANCH");
	out_more(f, out_get_number(curves, "more_branches"), "branch", "expfs signal BRANCH");
	out_section_end(f);
}
