#include "exp/inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exp/known.h"
#include "format/structure.h"
#include "store/object.h"
#include "util/io.h"

struct inside {
	char *structure;
	char step[24]; /* decimal, or "" */
};

static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

int inside_tensors(int fd, uint64_t size, struct tensors **ret, const char **ret_why)
{
	scoped_lock(&reading);
	return tensors_read(fd, size, ret, ret_why);
}

int inside_distcp(int fd, uint64_t size, struct tensors **ret, const char **ret_why)
{
	scoped_lock(&reading);
	return distcp_read(fd, size, ret, ret_why);
}

int inside_distcp_names(int fd, uint64_t size, struct distcp_names **ret, const char **ret_why)
{
	scoped_lock(&reading);
	return distcp_names_read(fd, size, ret, ret_why);
}

static int read_tensors(struct expfs *ex, uint64_t object, struct tensors **ret)
{
	_cleanup_(cleanup_object) struct object *o = NULL;
	const char *why;
	struct stat st;
	int fd, r = object_get(ex->store, object, &o);

	if (r == 0)
		r = object_pin(o, &fd);
	if (r < 0)
		return r;
	r = io_stat(fd, &st);
	if (r == 0)
		r = tensors_read(fd, (uint64_t)st.st_size, ret, &why);
	object_unpin(o);
	return r;
}

static int look(struct expfs *ex, uint64_t object, struct inside *ret)
{
	_cleanup_tensors_ struct tensors *ts = NULL;
	_cleanup_free_ char *text = NULL;
	uint8_t digest[STRUCTURE_DIGEST_SIZE];
	int r;

	scoped_lock(&reading);
	r = read_tensors(ex, object, &ts);
	if (r == 0 && ts->has_step)
		snprintf(ret->step, sizeof(ret->step), "%" PRIu64, ts->step);
	if (r == 0)
		r = model_structure(ts, 0, &text, NULL, digest);
	if (r < 0 && r != -EBADMSG && r != -ENODATA)
		return r;
	ret->structure = strdup(text ? strchr(text, '\n') + 1 : "");
	return ret->structure ? 0 : -ENOMEM;
}

static int look_and_keep(struct expfs *ex, uint64_t object, uint64_t seal, struct inside *ret)
{
	int r = look(ex, object, ret);

	if (r < 0)
		return r;
	known_keep(ex, NULL, object, seal, FACT_STRUCTURE, ret->structure);
	known_keep(ex, NULL, object, seal, FACT_STEP, ret->step);
	return 0;
}

int inside_structure(struct expfs *ex, uint64_t object, char **ret)
{
	struct inside in = { .structure = NULL };
	uint64_t seal;
	int r = known_get(ex, object, FACT_STRUCTURE, ret, &seal);

	if (r != -ENOENT)
		return r;
	r = look_and_keep(ex, object, seal, &in);
	*ret = in.structure;
	return r;
}

int64_t inside_step(struct expfs *ex, uint64_t object)
{
	_cleanup_free_ char *kept = NULL;
	struct inside in = { .structure = NULL };
	const char *step;
	uint64_t seal;
	int r = known_get(ex, object, FACT_STEP, &kept, &seal);

	if (r == -ENOENT)
		r = look_and_keep(ex, object, seal, &in);
	free(in.structure);
	step = kept ? kept : in.step;
	return r == 0 && *step ? strtoll(step, NULL, 10) : NO_STEP;
}
