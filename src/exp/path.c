#include "exp/path.h"

#include <string.h>

#include "exp/run.h"
#include "meta/dirent.h"

int path_of(struct db *db, uint64_t ino, char **ret)
{
	_cleanup_free_ char *buf = malloc(PATH_BOUND);
	size_t at = PATH_BOUND - 1;
	char *path;

	if (!buf)
		return -ENOMEM;
	buf[at] = 0;
	while (ino != META_ROOT) {
		_cleanup_free_ char *name = NULL;
		struct dirent_row d;
		size_t n;
		int r = dirent_of(db, ino, &d, &name);

		if (r < 0)
			return r;
		n = strlen(name);
		if (n + 1 > at)
			return -ENAMETOOLONG;
		if (buf[at])
			buf[--at] = '/';
		at -= n;
		memcpy(buf + at, name, n);
		ino = d.parent;
	}
	path = strdup(buf + at);
	if (!path)
		return -ENOMEM;
	*ret = path;
	return 0;
}

bool path_is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return n == 0 || (!strncmp(path, dir, n) && (path[n] == '/' || path[n] == 0));
}

int path_may_walk(struct db *db, struct cred *cred, uint64_t ino, unsigned want)
{
	unsigned depth = 0;
	int r = 0;

	while (cred && r == 0 && ino != META_ROOT) {
		struct inode_row dir;
		struct dirent_row d;

		if (++depth > PATH_BOUND / 2)
			return -ENOENT; /* has no path; in a damaged database a directory may lie in itself */
		r = dirent_of(db, ino, &d, NULL);
		if (r == 0)
			r = inode_get(db, d.parent, &dir);
		if (r == 0 && !cred_permits(cred, &dir, want))
			r = -ENOENT;
		ino = d.parent;
	}
	return r == -ESTALE ? -ENOENT : r;
}

int path_lookup(struct db *db, const char *path, uint64_t *ret_ino)
{
	uint64_t ino = META_ROOT;

	while (*path) {
		size_t n = strcspn(path, "/");
		struct dirent_row d;
		char name[256];
		int r;

		if (n >= sizeof(name))
			return -ENAMETOOLONG;
		memcpy(name, path, n);
		name[n] = 0;
		if (n > 0) {
			r = dirent_get(db, ino, name, &d);
			if (r < 0)
				return r;
			ino = d.ino;
		}
		path += n;
		path += *path == '/';
	}
	*ret_ino = ino;
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool path_is_run(const struct expfs *ex, const char *path)
{
	return run_is(ex->config, path);
}

size_t path_run_prefix(const struct expfs *ex, const char *path)
{
	return run_prefix(ex->config, path);
}

size_t path_run_base(const struct expfs *ex, const char *path)
{
	size_t n = path_is_run(ex, path) ? strlen(path) : path_run_prefix(ex, path);

	return n + (n > 0);
}

enum role path_role_below(const struct expfs *ex, const char *path, size_t base, bool is_dir)
{
	return run_role_below(ex->config, path, base, is_dir);
}

enum role path_role(const struct expfs *ex, const char *path, bool is_dir)
{
	return run_role(ex->config, path, is_dir);
}

enum role path_role_of_inode(struct expfs *ex, struct db *db, uint64_t ino)
{
	_cleanup_free_ char *path = NULL;
	struct inode_row row;

	if (inode_get(db, ino, &row) < 0 || path_of(db, ino, &path) < 0)
		return ROLE_NONE;
	return path_role(ex, path, S_ISDIR(row.mode));
}

bool path_inode_in_checkpoint(struct expfs *ex, struct db *db, uint64_t ino)
{
	_cleanup_free_ char *path = NULL;
	char *slash;

	if (path_of(db, ino, &path) < 0)
		return false;
	while ((slash = strrchr(path, '/')) != NULL) {
		*slash = 0;
		if (path_role(ex, path, true) == ROLE_WEIGHTS || role_digit_dir(base_name(path)))
			return true;
	}
	return false;
}
