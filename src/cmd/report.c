#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/ask.h"
#include "cmd/cmd.h"
#include "cmd/place.h"
#include "exp/view_path.h"
#include "op/reply.h"
#include "page/page.h"
#include "util/advice.h"
#include "util/io.h"
#include "util/log.h"
#include "util/progress.h"

#define DEFAULT_FILE "report.html"

/* The directory in which the file is, to be freed. */
static char *dir_of(const char *file)
{
	const char *slash = strrchr(file, '/');

	return !slash ? strdup(".") : strndup(file, slash == file ? 1 : (size_t)(slash - file));
}

/* Can a file be made there? Says so before the page is. */
static enum op_exit check_file(const char *file, const char *dir, const struct place *p)
{
	_cleanup_free_ char *inside = place_is_inside(p) ? place_path_inside(p) : NULL;
	const char *below;
	struct stat st;

	if (stat(file, &st) == 0 && S_ISDIR(st.st_mode)) {
		log_msg("%s: is a directory; name the file: expfs report %s%s" DEFAULT_FILE, file, file, file[strlen(file) - 1] == '/' ? "" : "/");
		return OP_USAGE;
	}
	if (!inside || view_path(inside + (*inside == '/'), &below) != VIEW_PATH_BESIDE)
		return OP_DONE;
	log_msg("%s: %s shows what is made up, and takes no file; its report.html is such a page at each moment; name another place", file, dir);
	return OP_USAGE;
}

/* A file in a mount names its store, as a path does for other commands; one elsewhere is only written. */
static enum op_exit open_target(struct ask *a, const char *file)
{
	_cleanup_free_ char *dir = strcmp(file, "-") ? dir_of(file) : strdup(".");
	_cleanup_place_ struct place *p = NULL;
	enum op_exit exit;
	int r = dir ? place_open(dir, &p) : -ENOMEM;

	if (r < 0) {
		log_msg("%s: %s", dir ? dir : file, advice(r));
		return OP_FAILED;
	}
	exit = strcmp(file, "-") ? check_file(file, dir, p) : OP_DONE;
	return exit != OP_DONE ? exit : target_open(a->command, strcmp(file, "-") && place_is_inside(p) ? dir : NULL, a->store,
						     TARGET_THERE, &a->target);
}

/* What is no regular file, as a pipe, takes the page as it is; another is replaced by a whole one. */
static int write_file(const char *file, const char *page, size_t len)
{
	_cleanup_free_ char *beside = NULL;
	_cleanup_close_ int fd = -1;
	struct stat st;
	mode_t mask = umask(0);
	int r;

	umask(mask);
	if (stat(file, &st) == 0 && !S_ISREG(st.st_mode)) {
		fd = open(file, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return fd < 0 ? -errno : io_write_all(fd, page, len);
	}
	if (asprintf(&beside, "%s.XXXXXX", file) < 0)
		return -ENOMEM;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = fchmod(fd, 0666 & ~mask) < 0 ? -errno : io_write_all(fd, page, len);
	if (r == 0)
		r = io_sync(fd, false);
	if (r == 0 && rename(beside, file) < 0)
		r = -errno;
	if (r < 0)
		unlink(beside);
	return r;
}

static enum op_exit write_page(const json_t *report, const char *file)
{
	_cleanup_free_ char *page = NULL;
	size_t len;
	int r = page_html(report, &page, &len);

	if (r == 0 && strcmp(file, "-") == 0)
		return fwrite(page, 1, len, stdout) == len ? OP_DONE : OP_FAILED;
	if (r == 0)
		r = write_file(file, page, len);
	if (r < 0) {
		log_msg("%s: %s", file, advice(r));
		return OP_FAILED;
	}
	cmd_print_text(file);
	printf(": ");
	cmd_print_bytes((double)len);
	printf("; open it in a browser\n");
	return OP_DONE;
}

static int run(int argc, char **argv)
{
	_cleanup_ask_ struct ask a = { .command = "report" };
	enum op_exit exit = ask_options(&a, argc, argv, NULL, NULL);
	const char *file = argc > optind ? argv[optind] : DEFAULT_FILE;

	if (exit != OP_DONE)
		return exit;
	if (argc - optind > (a.json ? 0 : 1))
		return cmd_bad_operands(&cmd_report);
	progress_enable();
	exit = open_target(&a, file);
	if (exit == OP_DONE)
		exit = ask_run(&a, "report");
	if (exit != OP_DONE)
		return exit;
	if (!a.json)
		return write_page(a.answer, file);
	cmd_print_json(a.answer);
	return OP_DONE;
}

const struct command cmd_report = {
	.name = "report",
	.run = run,
	.usage = "[FILE] [--store STORE] | --json",
	.summary = "write a page for a browser",
	.help = "Writes one HTML page that tells of all of a store: warnings, space, branches,\n"
		"experiments and where they came from, metrics by step, checkpoints with what a\n"
		"resume finds in them, changes of configuration, selections and decisions. It\n"
		"loads nothing and runs nothing, so it can be sent to somebody or kept. Long\n"
		"lists are cut, and say what shows the rest. While the store is mounted the same\n"
		"page is .expfs/report.html at the top of the mount.\n"
		"\n"
		"FILE is report.html if it is not given, and is replaced; - is standard output.\n"
		"The store is that of the mount in which FILE lies, that of --store or of the\n"
		"environment variable EXPFS_STORE, or that of the mount in which the working\n"
		"directory lies.\n"
		"\n"
		"  --store STORE  the store, mounted or not\n"
		"  --json         what the page is made of, as JSON on standard output\n",
};
