#include "exp/known.h"

#include <string.h>

#include "meta/content.h"
#include "store/object.h"
#include "util/io.h"

#define FACT_MAX (64u << 10)

int known_get(struct expfs *ex, uint64_t object, enum fact kind, char **ret, uint64_t *ret_seal)
{
	_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);
	struct content_row content;
	int r = fact_get(db, object, kind, ret);

	if (r == -ENOENT)
		r = content_get(db, object, &content);
	else
		return r;
	*ret_seal = content.seal;
	return r < 0 ? r : -ENOENT;
}

struct keep {
	uint64_t object, seal;
	enum fact kind;
	const char *value;
	struct expfs *ex;
	const struct config *by; /* NULL: any */
};

static int tx_keep(struct db *db, void *arg)
{
	struct keep *k = arg;

	if (k->by && k->by != k->ex->config)
		return 0;
	return fact_put(db, k->object, k->seal, k->kind, k->value);
}

void known_keep(struct expfs *ex, const struct config *by, uint64_t object, uint64_t seal, enum fact kind, const char *value)
{
	struct keep k = { .object = object, .seal = seal, .kind = kind, .value = value, .ex = ex, .by = by };

	if (object && seal && strlen(value) <= FACT_MAX)
		expfs_write(ex, tx_keep, &k); /* if it cannot be kept, it is found out again */
}

int known_read_object(struct expfs *ex, uint64_t object, size_t size, char **ret)
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	_cleanup_free_ char *buf = malloc(size + 1);
	int fd, r = buf ? object_get(ex->store, object, &o) : -ENOMEM;
	ssize_t n;

	if (r == 0)
		r = object_pin(o, &fd);
	if (r < 0)
		return r;
	n = io_pread(fd, buf, size, 0);
	object_unpin(o);
	if (n != (ssize_t)size)
		return n < 0 ? (int)n : -EIO;
	buf[size] = 0;
	*ret = steal(&buf);
	return 0;
}

int known_read(struct expfs *ex, const struct version_row *v, size_t max, char **ret)
{
	if (v->size > max)
		return -EFBIG;
	if (v->object)
		return known_read_object(ex, v->object, v->size, ret);
	*ret = strdup("");
	return !*ret ? -ENOMEM : v->size == 0 ? 0 : -EIO;
}
