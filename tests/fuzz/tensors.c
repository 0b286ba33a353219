/* The first byte tells what the others are: '0' a file, '1' the pickle of one of
 * torch, '2' an array of numpy, '3' the header of safetensors; the rest of the
 * file is then sound. '4' is a .distcp, '5' the .metadata of one. The linker gives io_pread() to the one here (--wrap). */
#include "format/distcp.h"
#include "format/identity.h"
#include "format/structure.h"
#include "fuzz.h"

#define STORAGE 256u

ssize_t __wrap_io_pread(int fd, void *buf, size_t n, uint64_t off);

static uint8_t *file;
static size_t file_size, room;

ssize_t __wrap_io_pread(int fd, void *buf, size_t n, uint64_t off)
{
	n = off < file_size ? MIN(n, file_size - (size_t)off) : 0;
	if (n)
		memcpy(buf, file + off, n);
	return (ssize_t)n;
}

static void add(const void *p, size_t n)
{
	must(n <= room - file_size);
	if (n)
		memcpy(file + file_size, p, n);
	file_size += n;
}

static void add_int(uint64_t v, size_t n)
{
	for (; n > 0; n--, v >>= 8)
		add(&(uint8_t){ (uint8_t)v }, 1);
}

static void add_record(const char *name, const void *p, size_t n, size_t *ret_at)
{
	*ret_at = file_size;
	add("PK\3\4\24\0\0\0\0\0\0\0\0\0\0\0\0\0", 18);
	add_int(n, 4);
	add_int(n, 4);
	add_int(strlen(name), 4);
	add(name, strlen(name));
	add(p, n);
}

static void add_entry(const char *name, size_t n, size_t at)
{
	add("PK\1\2\24\0\24\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
	add_int(n, 4);
	add_int(n, 4);
	add_int(strlen(name), 2);
	add_int(0, 12);
	add_int(at, 4);
	add(name, strlen(name));
}

static void make_zip(const char *name, const uint8_t *data, size_t size)
{
	static const uint8_t storage[STORAGE];
	size_t at[3], directory;

	add_record(name, data, size, &at[0]);
	add_record("a/data/0.npy", "\x93NUMPY\1\0\66\0{'descr': '<f4', 'fortran_order': False, 'shape': ()}  ....", 68, &at[1]);
	add_record("a/data/0", storage, sizeof(storage), &at[2]);
	directory = file_size;
	add_entry(name, size, at[0]);
	if (strcmp(name, "a/data.pkl") == 0)
		add_entry("a/data/0", sizeof(storage), at[2]);
	else
		add_entry("a/data/0.npy", 68, at[1]);
	at[0] = file_size - directory;
	add("PK\5\6\0\0\0\0\2\0\2\0", 12);
	add_int(at[0], 4);
	add_int(directory, 4);
	add_int(0, 2);
}

static void make_file(const uint8_t *data, size_t size)
{
	switch (*data) {
	case '1':
		make_zip("a/data.pkl", data + 1, size - 1);
		break;
	case '2':
		make_zip("a.npy", data + 1, size - 1);
		break;
	case '3':
		add_int(size - 1, 8);
		add(data + 1, size - 1);
		add_int(0, STORAGE);
		break;
	default:
		add(data + 1, size - 1);
	}
}

static void check_tensor(const struct tensor *t)
{
	must(t->name[t->name_len] == '\0' && t->inner <= t->name_len && t->dtype);
	must(t->ndim <= TENSOR_DIMS_MAX);
	must(t->located || t->why);
	for (unsigned i = 0; i < t->n_components; i++) {
		must(t->components[i].located && t->components[i].n_components == 0);
		must(t->components[i].name_len <= TENSOR_COMPONENT_NAME_MAX);
		check_tensor(&t->components[i]);
	}
	if (!t->located || t->n_components > 0)
		return;
	must(t->item > 0 && t->begin <= t->end);
	must(t->packed ? t->packed->at + t->packed->len <= file_size && t->end == t->packed->size : t->end <= file_size);
	must(tensor_in_bounds(t));
}

/* Whatever lies where they are said to lie can be read, in pieces as at once. */
static void check_digests(const struct tensors *ts)
{
	_cleanup_free_ tensor_digests *v = calloc(ts->n + 1, sizeof(*v));
	_cleanup_identity_ struct identity *id = NULL;
	uint8_t model[TENSOR_DIGEST_SIZE];
	size_t next = 0;

	must(v && identity_new(&id) == 0);
	for (int i = 0; i < 64 && next < ts->n; i++) {
		int r = identity_digest(-1, file_size, ts, next, 1, NULL, NULL, v, &next);

		must(r == 0 || (r == -EBADMSG && ts->v[next].packed));
		if (r < 0)
			return;
	}
	if (next < ts->n)
		return;
	must(identity_add(id, ts, v) == 0);
	must(identity_get(id, model) >= 0);
}

/* What has a name lies in the file that is named. */
static int check_names(void)
{
	_cleanup_distcp_names_ struct distcp_names *names = NULL;
	struct tensor t = { .name = "x", .name_len = 1 };
	struct tensors ts = { .v = &t, .n = 1, .arena.limit = TENSORS_MEMORY_MAX };
	const char *why = "";
	unsigned parts = 0;
	int r = distcp_names_read(-1, file_size, &names, &why);

	must(r == 0 ? names && !why : r == -EBADMSG && why && *why && !names);
	if (r == 0) {
		r = distcp_name(names, "__0_0.distcp", &ts, &parts, &why);
		must(r == 0 ? t.name[t.name_len] == '\0' && t.inner <= t.name_len : r == -EBADMSG && why);
		arena_clear(&ts.arena);
	}
	return 0;
}

static int check(bool distcp)
{
	_cleanup_tensors_ struct tensors *ts = NULL;
	_cleanup_free_ char *text = NULL;
	uint8_t digest[STRUCTURE_DIGEST_SIZE];
	const char *why = "";
	size_t len;
	int r = (distcp ? distcp_read : tensors_read)(-1, file_size, &ts, &why);

	if (r < 0) {
		must(r == -EBADMSG && why && *why && !ts);
		return 0;
	}
	must(!why && (!ts->has_step || ts->step <= INT64_MAX));
	for (size_t i = 0; i < ts->n; i++)
		check_tensor(&ts->v[i]);
	check_digests(ts);
	r = model_structure(ts, 0, &text, &len, digest);
	must(r == 0 ? strlen(text) == len : r == -ENODATA);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int r;

	if (size == 0)
		return 0;
	room = size + 2048;
	file_size = 0;
	file = malloc(room);
	must(file);
	make_file(data, size);
	r = *data == '5' ? check_names() : check(*data == '4');
	free(file);
	return r;
}
