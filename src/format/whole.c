/* Which check a file gets: some suffixes demand a format, else its first bytes
 * tell. The rest of the names that weights have may hold anything (pickles with
 * raw storages behind them), but never begin with a block of zeros: that is what
 * a crash or a failed copy leaves of them. */
#include "format/whole.h"

#include <errno.h>
#include <string.h>

#include "format/hdf5.h"
#include "format/parquet.h"
#include "format/role.h"
#include "format/safetensors.h"
#include "format/zip.h"
#include "util/util.h"

#define MAGIC_MAX 8u
#define ZERO_PROBE 4096u

typedef int (*check_fn)(struct window *w);

static int check_weights(struct window *w)
{
	const uint8_t *p;
	size_t n = (size_t)MIN(w->size, ZERO_PROBE);
	int r;

	r = window_get(w, 0, n, &p);
	if (r < 0)
		return r;
	if (n < 4 && memcmp(p, "PK\3\4", n) == 0)
		return window_bad(w, "ends too early");
	for (size_t i = 0; i < n; i++)
		if (p[i] != 0)
			return 0;
	return window_bad(w, "begins with nothing but zeros");
}

static int check_any(struct window *w)
{
	return 0;
}

/* Keras before 3 wrote HDF5 under this name. */
static int check_keras(struct window *w)
{
	const uint8_t *p;
	int r;

	r = window_get(w, 0, 1, &p);
	if (r < 0)
		return r;
	return p[0] == (uint8_t)HDF5_MAGIC[0] ? hdf5_check(w) : zip_check(w);
}

static const struct {
	const char *suffix;
	check_fn check;
} by_suffix[] = {
	{ ".safetensors", safetensors_check },
	{ ".parquet", parquet_check },
	{ ".npz", zip_check },
	{ ".keras", check_keras },
	{ ".weights.h5", hdf5_check },
	{ ".distcp", check_any }, /* torch DCP: any number of zip files in a row */
};

static bool begins(const uint8_t *head, size_t n, const char *magic)
{
	return n >= strlen(magic) && memcmp(head, magic, strlen(magic)) == 0;
}

#define KIND_ANY ARRAY_SIZE(by_suffix)
#define KIND_WEIGHTS (ARRAY_SIZE(by_suffix) + 1)
_Static_assert(KIND_WEIGHTS < FORMAT_KINDS, "kinds are stored");

unsigned format_kind(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(by_suffix); i++) {
		size_t m = strlen(by_suffix[i].suffix);

		if (len >= m && strcmp(name + len - m, by_suffix[i].suffix) == 0)
			return (unsigned)i;
	}
	return role_weights_suffix(name, len) ? KIND_WEIGHTS : KIND_ANY;
}

static check_fn choose(const char *name, const uint8_t *head, size_t n)
{
	unsigned kind = format_kind(name);

	if (kind < ARRAY_SIZE(by_suffix))
		return by_suffix[kind].check;
	if (begins(head, n, "PK\3\4"))
		return zip_check;
	if (begins(head, n, "PAR1"))
		return parquet_check;
	if (begins(head, n, HDF5_MAGIC))
		return hdf5_check;
	return kind == KIND_WEIGHTS ? check_weights : check_any;
}

int format_whole(int fd, uint64_t size, const char *name, bool *ret_whole, const char **ret_why)
{
	struct window w = { .fd = fd, .size = size };
	_cleanup_free_ uint8_t *buf = NULL;
	const uint8_t *head;
	size_t n = (size_t)MIN(size, MAGIC_MAX);
	int r;

	if (size == 0) {
		*ret_whole = false;
		*ret_why = "empty";
		return 0;
	}
	buf = malloc(WINDOW_SIZE);
	if (!buf)
		return -ENOMEM;
	w.buf = buf;
	r = window_get(&w, 0, n, &head);
	if (r == 0)
		r = choose(name, head, n)(&w);
	if (r < 0 && !w.why)
		return r;
	*ret_whole = r == 0;
	*ret_why = r == 0 ? NULL : w.why;
	return 0;
}
