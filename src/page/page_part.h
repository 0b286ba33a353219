/* The parts of a page, for page.c: each writes its section, from the report; nothing where that has nothing for it. */
#ifndef EXPFS_PAGE_PART_H
#define EXPFS_PAGE_PART_H

#include <stdio.h>

#include "page/page.h"

#define PAGE_COLOURS 6 /* of curves and branches; beyond these, the styles have them once more, dashed */

extern const char page_style[]; /* the style sheet */

void page_summary(FILE *f, const json_t *report); /* warnings, space, branches */
void page_lineage(FILE *f, const json_t *report);
void page_curves(FILE *f, const json_t *report);
void page_checkpoints(FILE *f, const json_t *report);
void page_changes(FILE *f, const json_t *report);
void page_selections(FILE *f, const json_t *report);

/* The style of a branch in the whole page: its place among those that have curves, or behind them; PAGE_STYLES: it has none. */
size_t page_style_of(const json_t *report, const char *branch);

#endif
