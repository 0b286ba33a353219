/* A report as one HTML page: self-contained, without scripts, and loading nothing. Pure: JSON in, text out.
 *
 * The report is what `expfs report --json` prints (op/report.h). Whatever is missing in it, or of another type, is left out;
 * all text is taken for hostile. The page is a few MB long at most, however large the report is: curves have at most three
 * points a column of pixels, long lists fold, are cut, and say how many more there are and what shows them. */
#ifndef EXPFS_PAGE_H
#define EXPFS_PAGE_H

#include <jansson.h>
#include <stddef.h>

#define PAGE_STYLES 12   /* branches that have a style of their own: whose curves are drawn */
#define PAGE_COLUMNS 300 /* for points of a curve */

/* *ret is to be freed; 0 or -ENOMEM. */
int page_html(const json_t *report, char **ret, size_t *ret_len);

#endif
