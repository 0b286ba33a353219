/* STORE/exports/ has two files for each folder, called by XXH3-128 of its path in hex:
 *
 *   HEX.json  {"format": 1, "dest": the path, "origin": ORIGIN, "files": {NAME: [FILE, …]}}, replaced as a whole;
 *             ORIGIN: an object, see cmd/export_origin.c, not there where it is not known;
 *             NAME as in the folder, with the names of directories in it;
 *             FILE: {"size", "digest": XXH3-128 in hex, "mtime": ns, "ino", "stamp": text}. Several FILEs of one NAME: an export
 *             began to replace one by the other.
 *   HEX.lock  held with flock while an export to the folder is at work; the text is the number of its process
 *
 * A file of another format, or that does not parse, counts as none. */
#include "sync/memory.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <xxhash.h>

#include "util/hex.h"
#include "util/io.h"

#define MEMORY_FORMAT 1
#define MEMORY_MAX (256u << 20)
#define EXPECTED_MAX 4
#define NAME_ROOM (2 * DIGEST_SIZE + 8)

struct memory {
	int dir, lock;
	char file[NAME_ROOM];
	json_t *files;
	json_t *origin; /* or NULL */
	char *dest;
	bool changed;
};

void memory_free(struct memory *m)
{
	if (m->lock >= 0)
		close(m->lock);
	if (m->dir >= 0)
		close(m->dir);
	json_decref(m->files);
	json_decref(m->origin);
	free(m->dest);
	free(m);
}

static void file_name(const char *dest, const char *suffix, char ret[static NAME_ROOM])
{
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits(dest, strlen(dest)));
	hex_text(canonical.digest, sizeof(canonical.digest), ret);
	memcpy(ret + 2 * DIGEST_SIZE, suffix, strlen(suffix) + 1);
}

static int lock(struct memory *m, const char *dest, long *ret_pid)
{
	char name[NAME_ROOM], text[32] = "";
	int n;

	file_name(dest, ".lock", name);
	m->lock = openat(m->dir, name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (m->lock < 0)
		return -errno;
	if (flock(m->lock, LOCK_EX | LOCK_NB) < 0) {
		int r = -errno;

		if (r == -EWOULDBLOCK && io_pread(m->lock, text, sizeof(text) - 1, 0) > 0)
			*ret_pid = strtol(text, NULL, 10);
		return r;
	}
	n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
	if (io_truncate(m->lock, 0) == 0)
		io_pwrite(m->lock, text, (size_t)n, 0); /* a courtesy */
	return 0;
}

/* Does it stay in the folder? A file is removed by what is remembered. */
static bool is_inside(const char *name)
{
	while (*name) {
		size_t n = strcspn(name, "/");

		if (n == 0 || (n == 1 && *name == '.') || (n == 2 && !strncmp(name, "..", 2)))
			return false;
		name += n + (name[n] == '/');
	}
	return true;
}

static int drop_bad(void *arg, const char *name)
{
	const struct memory *m = arg;

	if (!is_inside(name) || !json_is_array(json_object_get(m->files, name)))
		memory_forget(arg, name);
	return 0;
}

static void load(struct memory *m)
{
	_cleanup_free_ char *text = NULL;
	json_t *root, *files;
	size_t len;

	if (io_read_file(m->dir, m->file, MEMORY_MAX, &text, &len) < 0)
		return;
	root = json_loadb(text, len, 0, NULL);
	files = json_object_get(root, "files");
	if (json_integer_value(json_object_get(root, "format")) == MEMORY_FORMAT && json_is_object(files)) {
		json_decref(m->files);
		m->files = json_incref(files);
		m->origin = json_incref(json_object_get(root, "origin"));
		memory_each(m, drop_bad, m);
	}
	json_decref(root);
}

int memory_open(const char *store, const char *dest, struct memory **ret, long *ret_pid)
{
	_cleanup_memory_ struct memory *m = calloc(1, sizeof(*m));
	_cleanup_free_ char *path = NULL;
	int r = 0;

	if (!m)
		return -ENOMEM;
	m->dir = m->lock = -1;
	m->files = json_object();
	m->dest = strdup(dest);
	if (!m->files || !m->dest || asprintf(&path, "%s/" MEMORY_DIR, store) < 0)
		return -ENOMEM;
	file_name(dest, ".json", m->file);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		r = -errno;
	m->dir = r < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*ret_pid = 0;
	if (m->dir >= 0) {
		r = lock(m, dest, ret_pid);
		if (r == -EWOULDBLOCK)
			return r;
		load(m);
	}
	*ret = steal(&m);
	return 0;
}

const json_t *memory_origin(const struct memory *m)
{
	return m->origin;
}

int memory_set_origin(struct memory *m, json_t *origin)
{
	if (!origin)
		return -ENOMEM;
	m->changed |= !json_equal(origin, m->origin);
	json_decref(m->origin);
	m->origin = origin;
	return 0;
}

static bool read_file(const json_t *j, struct memory_file *ret)
{
	const char *hex = json_string_value(json_object_get(j, "digest"));
	const char *stamp = json_string_value(json_object_get(j, "stamp"));

	*ret = (struct memory_file){ .size = (uint64_t)json_integer_value(json_object_get(j, "size")),
				     .mtime = json_integer_value(json_object_get(j, "mtime")),
				     .ino = (uint64_t)json_integer_value(json_object_get(j, "ino")),
				     .stamp = stamp ? stamp : "" };
	return hex && hex_bytes(hex, ret->digest, DIGEST_SIZE);
}

bool memory_find(const struct memory *m, const char *name, const struct stat *st, struct memory_file *ret)
{
	const json_t *list = json_object_get(m->files, name);

	for (size_t i = 0; i < json_array_size(list); i++)
		if (read_file(json_array_get(list, i), ret) && ret->size == (uint64_t)st->st_size &&
		    ret->mtime == timespec_ns(&st->st_mtim) && ret->ino == (uint64_t)st->st_ino)
			return true;
	return false;
}

bool memory_has_content(const struct memory *m, const char *name, uint64_t size, const uint8_t digest[DIGEST_SIZE])
{
	const json_t *list = json_object_get(m->files, name);
	struct memory_file f;

	for (size_t i = 0; i < json_array_size(list); i++)
		if (read_file(json_array_get(list, i), &f) && f.size == size && !memcmp(f.digest, digest, DIGEST_SIZE))
			return true;
	return false;
}

size_t memory_newest(const struct memory *m, const char *name, struct memory_file *ret)
{
	const json_t *list = json_object_get(m->files, name);
	size_t n = json_array_size(list);

	return n > 0 && read_file(json_array_get(list, n - 1), ret) ? n : 0;
}

bool memory_has(const struct memory *m, const char *name)
{
	return json_object_get(m->files, name);
}

bool memory_has_below(const struct memory *m, const char *dir)
{
	_cleanup_free_ char *own = NULL; /* a directory's own entry is found without looking at all */
	size_t len = strlen(dir);
	const char *name;
	json_t *list;

	if (asprintf(&own, "%s/", dir) > 0 && json_object_get(m->files, own))
		return true;
	json_object_foreach (m->files, name, list)
		if (!strncmp(name, dir, len) && name[len] == '/')
			return true;
	return false;
}

static json_t *file_json(const struct memory_file *f)
{
	char hex[2 * DIGEST_SIZE + 1];

	hex_text(f->digest, DIGEST_SIZE, hex);
	return json_pack("{s:I, s:s, s:I, s:I, s:s}", "size", (json_int_t)f->size, "digest", hex, "mtime", (json_int_t)f->mtime, "ino",
			 (json_int_t)f->ino, "stamp", f->stamp ? f->stamp : "");
}

/* However often something is tried, the first is what stands there since it was looked at, the last what was tried last. */
static int add_expected(json_t *list, const struct memory_file *f)
{
	json_t *file = file_json(f);
	size_t n = json_array_size(list);

	if (n > 0 && json_equal(file, json_array_get(list, n - 1))) {
		json_decref(file);
		return 0;
	}
	if (n >= EXPECTED_MAX)
		json_array_remove(list, 1);
	return json_array_append_new(list, file) < 0 ? -ENOMEM : 0;
}

int memory_expect(struct memory *m, const char *name, const struct memory_file *f)
{
	json_t *list = json_object_get(m->files, name);

	if (!list && json_object_set_new(m->files, name, json_array()) < 0)
		return -ENOMEM;
	list = json_object_get(m->files, name);
	m->changed = true;
	return add_expected(list, f);
}

int memory_settle(struct memory *m, const char *name, const struct memory_file *f)
{
	json_t *list = json_pack("[o]", file_json(f));

	if (list && json_equal(list, json_object_get(m->files, name))) {
		json_decref(list);
		return 0;
	}
	m->changed = true;
	return json_object_set_new(m->files, name, list) < 0 ? -ENOMEM : 0;
}

void memory_forget(struct memory *m, const char *name)
{
	m->changed |= json_object_del(m->files, name) == 0;
}

int memory_each(struct memory *m, memory_fn f, void *arg)
{
	const char *name;
	json_t *list;
	void *next;
	int r;

	json_object_foreach_safe (m->files, next, name, list) {
		r = f(arg, name);
		if (r != 0)
			return r;
	}
	return 0;
}

int memory_save(struct memory *m)
{
	_cleanup_free_ char *text = NULL;
	json_t *root;
	int r;

	if (!m->changed)
		return 0;
	if (m->dir < 0)
		return -EROFS;
	root = json_pack("{s:i, s:o, s:O*, s:O}", "format", MEMORY_FORMAT, "dest", json_string(m->dest) ?: json_null(), "origin",
			 m->origin, "files", m->files);
	text = root ? json_dumps(root, JSON_COMPACT) : NULL;
	json_decref(root);
	r = text ? io_write_file(m->dir, m->file, text, strlen(text)) : -ENOMEM;
	if (r == 0)
		r = io_sync(m->dir, false);
	m->changed = r < 0;
	return r;
}
