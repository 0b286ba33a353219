#include "cmd/paint.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/terminal.h"

static bool has_colours(void)
{
	const char *no = getenv("NO_COLOR");

	return (!no || !*no) && terminal_is_able(STDOUT_FILENO);
}

const char *paint(enum paint p)
{
	static const char *const codes[] = {
		[PAINT_NONE] = "\033[0m", [PAINT_BOLD] = "\033[1m", [PAINT_RED] = "\033[31m", [PAINT_GREEN] = "\033[32m",
		[PAINT_YELLOW] = "\033[33m",
	};

	return has_colours() ? codes[p] : "";
}

void paint_printf(enum paint p, const char *fmt, ...)
{
	va_list ap;

	fputs(paint(p), stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	fputs(paint(PAINT_NONE), stdout);
}
