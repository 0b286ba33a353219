/* Colours, on a terminal that knows them, unless NO_COLOR (no-color.org) is set: of few words, and none says
 * by its colour alone what it means. */
#ifndef EXPFS_CMD_PAINT_H
#define EXPFS_CMD_PAINT_H

#include "util/util.h"

enum paint { PAINT_NONE, PAINT_BOLD, PAINT_RED, PAINT_GREEN, PAINT_YELLOW };

/* What begins the colour on standard output and, as PAINT_NONE, ends it; "" where there are none. */
const char *paint(enum paint p);

/* Prints so. */
void paint_printf(enum paint p, const char *fmt, ...) _printf_(2, 3);

#endif
