/* For tests/clients/with_configurations.py. Each line of the input is a path of a
 * configuration, or several that count as one with tabs between; each gives a
 * line: the text of hp_whole(), a tab, the segment; or "-", a tab, the reason. A
 * file's path in the text is its last component. With -r root_log_dir counts, as in
 * WeightsLab from 2.0.2 on. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "format/hp.h"
#include "util/io.h"
#include "util/util.h"

#define FILES_MAX 16

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The files of a line: -EINVAL with *ret_error. */
static int read_files(char *line, const char *const *ignore, struct hp_file *files, size_t *count, char **ret_error)
{
	char *rest = line, *path;
	int r = 0;

	while (r == 0 && *count < FILES_MAX && (path = strsep(&rest, "\t"))) {
		_cleanup_free_ char *bytes = NULL;
		char *text = NULL;
		size_t n;

		r = io_read_file(AT_FDCWD, path, HP_SIZE_MAX + 1, &bytes, &n);
		if (r < 0)
			break;
		r = hp_parse(bytes, n, path, ignore, &text, ret_error);
		if (r == 0)
			files[(*count)++] = (struct hp_file){ last_component(path), text };
	}
	return r;
}

static int print_line(char *line, const char *const *ignore)
{
	struct hp_file files[FILES_MAX];
	_cleanup_free_ char *whole = NULL, *error = NULL;
	char digest[HP_DIGEST_LEN + 1];
	size_t count = 0;
	int r = read_files(line, ignore, files, &count, &error);

	if (r == 0)
		r = hp_whole(files, count, &whole);
	if (r == 0)
		r = hp_digest(whole, digest);
	if (r == 0)
		printf("%s\t%.*s\n", whole, HP_SEGMENT_LEN, digest);
	else if (error)
		printf("-\t%s\n", error);
	for (size_t i = 0; i < count; i++)
		free((void *)(uintptr_t)files[i].text);
	return error ? 0 : r;
}

int main(int argc, char **argv)
{
	/* it is the first of the list */
	const char *const *ignore = hp_ignore_default + (argc > 1 && strcmp(argv[1], "-r") == 0);
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while ((n = getline(&line, &size, stdin)) > 0) {
		int r;

		line[n - (line[n - 1] == '\n')] = 0;
		r = print_line(line, ignore);
		if (r < 0) {
			fprintf(stderr, "hp_text: %s: %s\n", line, strerror(-r));
			return 1;
		}
		fflush(stdout);
	}
	return 0;
}
