/* Pieces of HTML. What is given as text is escaped; characters that are not seen, or turn the order of others round, are
 * written as \x1b, \u202e. */
#ifndef EXPFS_PAGE_OUT_H
#define EXPFS_PAGE_OUT_H

#include <jansson.h>
#include <stdio.h>

#define OUT_TEXT 240 /* characters of a text that are shown */

/* A member of an object; "" and 0 where it has none of that type. */
const char *out_get(const json_t *j, const char *key);
json_int_t out_get_number(const json_t *j, const char *key);

/* Also fit for the value of an attribute in "". */
void out_text(FILE *f, const char *text);

/* A name, whose direction of writing is its own affair. */
void out_name(FILE *f, const char *text);
void out_names(FILE *f, const json_t *list);

void out_time(FILE *f, const char *time);    /* of RFC 3339, in UTC */
void out_bytes(FILE *f, double bytes);       /* "1.2 GiB" */
void out_count(FILE *f, json_int_t n, const char *thing); /* "1 branch": the plural is thing and s or, behind ch, es */

/* A value of a curve, or the text of one that JSON does not know. */
void out_number(FILE *f, double value);
void out_value(FILE *f, const json_t *value);

/* A section with a heading, which begins and ends; a table that scrolls in a box of its own. head: its columns, between '|';
 * those of numbers begin with '#'. */
void out_section(FILE *f, const char *id, const char *title);
void out_section_end(FILE *f);
void out_table(FILE *f, const char *label, const char *head);
void out_table_end(FILE *f);

/* So many more, which a command shows. */
void out_more(FILE *f, json_int_t n, const char *thing, const char *command);

#endif
