/* Where experiments came from: a list of them, children above their parents, and beside it a graph with a row of the same height
 * for each. Each child has a lane of its own down to its parent. */
#include "page/page_part.h"

#include <string.h>

#include "page/out.h"
#include "util/util.h"

#define NODES_MAX 1000
#define LANES 12
#define ROW 44 /* as .graph li has it, in page/style.c */
#define LANE 14
#define KEYS_SHOWN 2

struct node {
	const json_t *j;
	const char *hash, *time;
	size_t parent;   /* place among the nodes, n: none of them */
	size_t children; /* that have no row yet */
	size_t row, lane, style;
};

struct graph {
	struct node v[NODES_MAX];
	size_t n;
	struct node *rows[NODES_MAX];
	size_t lanes; /* that are used */
};

static size_t find(const struct graph *g, const char *hash)
{
	size_t i = 0;

	while (i < g->n && (!*hash || strcmp(g->v[i].hash, hash) != 0))
		i++;
	return i;
}

static void take_nodes(const json_t *report, struct graph *g)
{
	const json_t *e;
	size_t i;

	json_array_foreach (json_object_get(report, "experiments"), i, e) {
		const json_t *branch = json_array_get(json_object_get(e, "branches"), 0);

		if (g->n == NODES_MAX)
			break;
		g->v[g->n++] = (struct node){ .j = e, .hash = out_get(e, "hash"), .time = out_get(e, "time"), .row = SIZE_MAX,
					      .style = json_is_string(branch) ? page_style_of(report, json_string_value(branch)) :
									      PAGE_STYLES };
	}
	for (i = 0; i < g->n; i++) {
		g->v[i].parent = find(g, out_get(g->v[i].j, "parent"));
		if (g->v[i].parent < g->n)
			g->v[g->v[i].parent].children++;
	}
}

/* The last one whose children all have rows; where rows that are damaged lead round, any. */
static struct node *next_row(struct graph *g)
{
	struct node *best = NULL, *any = NULL;

	for (size_t i = 0; i < g->n; i++) {
		struct node *n = &g->v[i];

		if (n->row != SIZE_MAX)
			continue;
		any = any ? any : n;
		if (n->children == 0 && (!best || strcmp(n->time, best->time) > 0))
			best = n;
	}
	return best ? best : any;
}

static void order(struct graph *g)
{
	for (size_t row = 0; row < g->n; row++) {
		struct node *n = next_row(g);

		n->row = row;
		g->rows[row] = n;
		if (n->parent < g->n && g->v[n->parent].children > 0)
			g->v[n->parent].children--;
	}
}

static bool has_edge(const struct graph *g, const struct node *n)
{
	return n->parent < g->n && g->v[n->parent].row > n->row;
}

/* wants: for each lane, which node it leads to, or NULL: it is free. Where all are taken the last one is shared. */
static void choose_lanes(struct graph *g)
{
	const struct node *wants[LANES] = { NULL };

	for (size_t row = 0; row < g->n; row++) {
		struct node *n = g->rows[row];

		n->lane = LANES;
		for (size_t i = 0; i < LANES; i++)
			if (wants[i] == n) {
				n->lane = MIN(n->lane, i);
				wants[i] = NULL;
			}
		for (size_t i = 0; i < LANES && n->lane == LANES; i++)
			if (!wants[i])
				n->lane = i;
		n->lane = MIN(n->lane, (size_t)LANES - 1);
		wants[n->lane] = has_edge(g, n) ? &g->v[n->parent] : NULL;
		g->lanes = MAX(g->lanes, n->lane + 1);
	}
}

static size_t x_of(const struct node *n)
{
	return LANE * n->lane + LANE / 2 + 2;
}

static size_t y_of(const struct node *n)
{
	return ROW * n->row + ROW / 2;
}

static void put_class(FILE *f, const char *class, size_t style)
{
	if (style < PAGE_STYLES)
		fprintf(f, " class=\"%s c%zu\"", class, style % PAGE_COLOURS);
	else
		fprintf(f, " class=\"%s\"", class);
}

static void put_edge(FILE *f, const struct graph *g, const struct node *n)
{
	const struct node *p = &g->v[n->parent];

	fputs("<path", f);
	put_class(f, "e", n->style);
	fprintf(f, " d=\"M%zu %zuV%zu", x_of(n), y_of(n), y_of(p) - (p->lane == n->lane ? 0 : ROW * 3 / 4));
	if (p->lane != n->lane)
		fprintf(f, "C%zu %zu %zu %zu %zu %zu", x_of(n), y_of(p) - ROW / 4, x_of(p), y_of(p) - ROW / 2, x_of(p), y_of(p));
	fputs("\"/>\n", f);
}

static void put_node(FILE *f, const struct node *n)
{
	bool head = json_array_size(json_object_get(n->j, "head_of")) > 0;

	fputs("<circle", f);
	put_class(f, head ? "h" : "o", n->style);
	fprintf(f, " cx=\"%zu\" cy=\"%zu\" r=\"%d\"/>\n", x_of(n), y_of(n), head ? 6 : 5);
}

static void put_graph(FILE *f, const struct graph *g)
{
	fprintf(f, "<svg width=\"%zu\" height=\"%zu\" role=\"img\">\n<title>Lineage of ", LANE * g->lanes + 4, ROW * g->n);
	out_count(f, (json_int_t)g->n, "experiment");
	fputs(", as the list beside it tells in words</title>\n", f);
	for (size_t i = 0; i < g->n; i++)
		if (has_edge(g, g->rows[i]))
			put_edge(f, g, g->rows[i]);
	for (size_t i = 0; i < g->n; i++)
		put_node(f, g->rows[i]);
	fputs("</svg>\n", f);
}

static void put_changed(FILE *f, const json_t *e)
{
	const json_t *hp = json_object_get(e, "hp"), *changed = json_object_get(e, "changed"), *j;
	size_t n = json_array_size(hp), i;

	if (!*out_get(e, "parent"))
		fputs("begins here", f);
	json_array_foreach (hp, i, j) {
		if (i == KEYS_SHOWN)
			break;
		fputs(i ? "; " : "", f);
		out_name(f, out_get(j, "key"));
		fputc(' ', f);
		out_name(f, *out_get(j, "from") ? out_get(j, "from") : "none");
		fputs(" → ", f);
		out_name(f, *out_get(j, "to") ? out_get(j, "to") : "none");
	}
	if (n > KEYS_SHOWN) {
		fputs("; ", f);
		out_count(f, (json_int_t)(n - KEYS_SHOWN), "key");
		fputs(" more", f);
	}
	json_array_foreach (changed, i, j) {
		const char *what = json_is_string(j) ? json_string_value(j) : "";

		if (n > 0 && !strcmp(what, "HP"))
			continue;
		fputs(n > 0 || i > 0 ? "; " : "", f);
		out_text(f, what);
	}
}

static void put_steps(FILE *f, const json_t *e)
{
	const json_t *steps = json_object_get(e, "steps");
	size_t n = json_array_size(steps);

	if (n == 1)
		fprintf(f, " · step %" JSON_INTEGER_FORMAT, json_integer_value(json_array_get(steps, 0)));
	else if (n > 1)
		fprintf(f, " · steps %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT " (%zu)",
			json_integer_value(json_array_get(steps, 0)), json_integer_value(json_array_get(steps, n - 1)), n);
}

static void put_entry(FILE *f, const json_t *e)
{
	const json_t *head_of = json_object_get(e, "head_of");

	fputs("<li><div><code>", f);
	out_text(f, out_get(e, "hash"));
	fputs("</code>", f);
	if (json_array_size(head_of) > 0) {
		fputs(" <b>HEAD of ", f);
		out_names(f, head_of);
		fputs("</b>", f);
	}
	if (json_array_size(json_object_get(e, "branches")) > json_array_size(head_of)) {
		fputs(" <span>", f);
		out_names(f, json_object_get(e, "branches"));
		fputs("</span>", f);
	}
	fputs("</div>\n<div>", f);
	out_time(f, out_get(e, "time"));
	fputs(" · ", f);
	put_changed(f, e);
	put_steps(f, e);
	fputs("</div></li>\n", f);
}

void page_lineage(FILE *f, const json_t *report)
{
	_cleanup_free_ struct graph *g = calloc(1, sizeof(*g));
	size_t all = json_array_size(json_object_get(report, "experiments"));

	if (!g || all == 0)
		return;
	take_nodes(report, g);
	order(g);
	choose_lanes(g);
	out_section(f, "lineage", "Experiments");
	fputs("<div class=\"graph\" role=\"group\" tabindex=\"0\" aria-label=\"Experiments, the newest first\">\n", f);
	put_graph(f, g);
	fputs("<ol>\n", f);
	for (size_t i = 0; i < g->n; i++)
		put_entry(f, g->rows[i]->j);
	fputs("</ol>\n</div>\n", f);
	out_more(f, (json_int_t)(all - g->n), "experiment", "expfs log");
	out_section_end(f);
}
