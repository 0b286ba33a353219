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
};

static int tx_keep(struct db *db, void *arg)
{
	struct keep *k = arg;

	return fact_put(db, k->object, k->seal, k->kind, k->value);
}

void known_keep(struct expfs *ex, uint64_t object, uint64_t seal, enum fact kind, const char *value)
{
	struct keep k = { .object = object, .seal = seal, .kind = kind, .value = value };

	if (object && seal && strlen(value) <= FACT_MAX)
		expfs_write(ex, tx_keep, &k); /* if it cannot be kept, it is found out again */
}

int known_read(struct expfs *ex, const struct version_row *v, size_t max, char **ret)
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	_cleanup_free_ char *buf = NULL;
	ssize_t n = 0;
	int fd, r;

	if (v->size > max)
		return -EFBIG;
	buf = malloc(v->size + 1);
	r = !buf ? -ENOMEM : v->object ? object_get(ex->store, v->object, &o) : 0;
	if (r == 0 && o) {
		r = object_pin(o, &fd);
		if (r < 0)
			return r;
		n = io_pread(fd, buf, v->size, 0);
		object_unpin(o);
	}
	if (r < 0 || n < 0)
		return r < 0 ? r : (int)n;
	buf[n] = 0;
	*ret = steal(&buf);
	return (uint64_t)n == v->size ? 0 : -EIO;
}
