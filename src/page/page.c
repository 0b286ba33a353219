#include "page/page.h"

#include <errno.h>
#include <stdlib.h>

#include "page/out.h"
#include "page/page_part.h"

/* Nothing may be loaded, from wherever, and nothing run: also if some text got past the escapes. */
static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
	"form-action 'none'\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<meta name=\"referrer\" content=\"no-referrer\">\n"
	"<meta name=\"generator\" content=\"expfs\">\n";

static void put_head(FILE *f, const json_t *report)
{
	const json_t *status = json_object_get(report, "status");
	const char *mount = out_get(status, "mount");

	fputs(head, f);
	fputs("<title>expfs: ", f);
	out_text(f, out_get(status, "store"));
	fprintf(f, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<header>\n<p class=\"kind\">expfs report</p>\n<h1>", page_style);
	out_name(f, out_get(status, "store"));
	fputs("</h1>\n<p>", f);
	out_time(f, out_get(report, "time"));
	fputs(*mount ? " UTC, mounted on " : " UTC, not mounted", f);
	out_name(f, mount);
	fputs(json_is_true(json_object_get(status, "read_only")) ? ", read-only" : "", f);
	fputs("</p>\n</header>\n<main>\n", f);
}

int page_html(const json_t *report, char **ret, size_t *ret_len)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int failed;

	if (!f)
		return -ENOMEM;
	put_head(f, report);
	page_summary(f, report);
	page_lineage(f, report);
	page_curves(f, report);
	page_checkpoints(f, report);
	page_changes(f, report);
	page_selections(f, report);
	fputs("</main>\n<footer><p>Made by expfs ", f);
	out_text(f, out_get(report, "version"));
	fputs(". All times are UTC. This page loads nothing and runs nothing.</p></footer>\n</body>\n</html>\n", f);
	failed = ferror(f);
	if (fclose(f) != 0 || failed) {
		free(text);
		return -ENOMEM;
	}
	*ret = text;
	*ret_len = len;
	return 0;
}
