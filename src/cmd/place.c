/* /proc/self/fd gives the path of a descriptor, /proc/self/fdinfo the number of
 * the mount that it is in, and /proc/self/mountinfo tells of that mount:
 *
 *   36 35 98:0 /root /point rw,noatime master:1 - type source rw,errors=continue
 *
 * with spaces, tabs, line feeds and backslashes in octal. */
#include "cmd/place.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int read_path(int fd, char **ret)
{
	char link[64], buf[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, buf, sizeof(buf) - 1);
	if (n < 0)
		return -errno;
	*ret = strndup(buf, (size_t)n);
	return *ret ? 0 : -ENOMEM;
}

static int read_mount_id(int fd, int *ret)
{
	char name[64], line[256];
	FILE *f;
	int r = -ENODATA;

	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", fd);
	f = fopen(name, "re");
	if (!f)
		return -errno;
	while (r < 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "mnt_id: %d", ret) == 1)
			r = 0;
	fclose(f);
	return r;
}

/* Undoes the octal in place. */
static char *unescape(char *s)
{
	char *to = s;

	for (const char *from = s; *from; to++) {
		unsigned c;
		int n = 0;

		if (*from == '\\' && sscanf(from + 1, "%3o%n", &c, &n) == 1 && n == 3) {
			*to = (char)c;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = 0;
	return s;
}

/* Those of the mount, and those of the file system that say more than what every mount of ours has. */
static char *join_options(char *of_mount, char *of_system)
{
	static const char *const usual[] = { "rw", "user_id=", "group_id=", "default_permissions", "max_read=" };
	char *options = strdup(of_mount), *save = NULL;

	for (char *o = strtok_r(of_system, ",\n", &save); o && options; o = strtok_r(NULL, ",\n", &save)) {
		_cleanup_free_ char *before = NULL;
		size_t i = 0;

		while (i < ARRAY_SIZE(usual) && strncmp(o, usual[i], strlen(usual[i])) != 0)
			i++;
		if (i < ARRAY_SIZE(usual) || (!strcmp(o, "ro") && !strncmp(options, "ro", 2)))
			continue;
		before = steal(&options);
		if (asprintf(&options, "%s,%s", before, o) < 0)
			options = NULL;
	}
	return options;
}

/* Takes the row apart if it is that of the mount, or any is wanted (a negative id); 1, or 0 if it is another's. */
static int read_mount(char *line, int id, struct place *p)
{
	char *field[6], *rest = strstr(line, " - "), *save = NULL;
	char *type, *source, *options;

	if (!rest || (id >= 0 && atoi(line) != id))
		return 0;
	*rest = 0;
	for (size_t i = 0; i < ARRAY_SIZE(field); i++)
		if (!(field[i] = strtok_r(i ? NULL : line, " ", &save)))
			return -EPROTO;
	type = strtok_r(rest + 3, " ", &save);
	source = strtok_r(NULL, " ", &save);
	options = strtok_r(NULL, " ", &save);
	if (!type || !source || !options)
		return -EPROTO;
	snprintf(p->device, sizeof(p->device), "%s", field[2]);
	p->root = strdup(unescape(field[3]));
	p->point = strdup(unescape(field[4]));
	p->type = strdup(type);
	p->source = strdup(unescape(source));
	p->options = join_options(field[5], options);
	return p->root && p->point && p->type && p->source && p->options ? 1 : -ENOMEM;
}

/* In a chroot the mount that its root lies in is not listed where that root is
 * none of the mount: it is no expfs mount, whatever it is. */
static int not_listed(struct place *p)
{
	p->root = strdup("/");
	p->point = strdup("/");
	p->type = strdup("");
	p->source = strdup("");
	p->options = strdup("");
	return p->root && p->point && p->type && p->source && p->options ? 0 : -ENOMEM;
}

static int find_mount(int id, struct place *p)
{
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	FILE *f = fopen("/proc/self/mountinfo", "re");
	int r = 0;

	if (!f)
		return -errno;
	while (r == 0 && getline(&line, &room, f) >= 0)
		r = read_mount(line, id, p);
	fclose(f);
	return r == 0 ? not_listed(p) : MIN(r, 0);
}

int place_open(const char *path, struct place **ret)
{
	_cleanup_place_ struct place *p = calloc(1, sizeof(*p));
	int id, r;

	if (!p)
		return -ENOMEM;
	p->fd = open(path, O_PATH | O_CLOEXEC);
	if (p->fd < 0)
		return -errno;
	r = read_path(p->fd, &p->path);
	if (r == 0)
		r = read_mount_id(p->fd, &id);
	if (r == 0)
		r = find_mount(id, p);
	if (r < 0)
		return r;
	*ret = steal(&p);
	return 0;
}

void place_let_go(struct place *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

void place_free(struct place *p)
{
	place_let_go(p);
	free(p->path);
	free(p->point);
	free(p->root);
	free(p->type);
	free(p->source);
	free(p->options);
	free(p);
}

bool place_is_inside(const struct place *p)
{
	return !strcmp(p->type, PLACE_TYPE);
}

bool place_is_mount(const struct place *p)
{
	return place_is_inside(p) && !strcmp(p->path, p->point);
}

bool place_is_dead(const struct place *p)
{
	struct statx st; /* plain stat would be answered from the kernel's cache */

	return statx(p->fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_MODE, &st) < 0 &&
	       (errno == ENOTCONN || errno == ECONNABORTED);
}

char *place_path_inside(const struct place *p)
{
	const char *root = strcmp(p->root, "/") ? p->root : "";
	const char *rest = strcmp(p->point, "/") ? p->path + strlen(p->point) : p->path;
	char *path;

	if (asprintf(&path, "%s%s", root, rest) < 0)
		return NULL;
	if (*path)
		return path;
	free(path);
	return strdup("/");
}

int place_each(place_fn f, void *arg)
{
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	FILE *table = fopen("/proc/self/mountinfo", "re");
	int r = 0;

	if (!table)
		return -errno;
	while (r == 0 && getline(&line, &room, table) >= 0) {
		_cleanup_place_ struct place *p = calloc(1, sizeof(*p));

		if (!p) {
			r = -ENOMEM;
			break;
		}
		p->fd = -1;
		r = read_mount(line, -1, p);
		r = r == -EPROTO ? 0 : r == 1 ? (place_is_inside(p) ? f(arg, p) : 0) : r;
	}
	fclose(table);
	return r;
}

static int is_of(void *store, const struct place *p)
{
	return !strcmp(p->source, store);
}

bool place_has_mount_of(const char *store)
{
	return place_each(is_of, (void *)(uintptr_t)store) == 1;
}
