#include "exp/weights_distcp.h"

#include <string.h>

#include "exp/inside.h"
#include "util/io.h"

bool weights_is_distcp(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && strcmp(dot, ".distcp") == 0;
}

/* What is not told, and why, is not kept: it is so in this checkpoint only. */
static int name_file(struct weights *w, struct weights_file *f, const struct distcp_names *names, const char *why)
{
	int r = names ? distcp_name(names, f->name, f->ts, &w->parts, &why) : -EBADMSG;

	for (size_t i = 0; r == 0 && i < f->ts->n; i++)
		if (!f->ts->v[i].located)
			memset(f->row.digests[i], 0, sizeof(f->row.digests[i]));
	if (r != -EBADMSG)
		return r;
	tensors_free(steal(&f->ts));
	f->row.why = strdup(why);
	return f->row.why ? 0 : -ENOMEM;
}

static int read_names(struct expfs *ex, uint64_t object, struct distcp_names **ret, const char **ret_why)
{
	struct weights_file f = { .row.object = object, .fd = -1 };
	struct weights_open o;
	struct stat st;
	int r;

	*ret_why = "no .metadata that names its tensors";
	if (!object)
		return -EBADMSG;
	r = weights_open(ex, &f, &o);
	if (r < 0)
		return r;
	r = io_stat(o.fd, &st);
	if (r == 0)
		r = inside_distcp_names(o.fd, (uint64_t)st.st_size, ret, ret_why);
	weights_close(&o);
	return r;
}

int weights_name_distcp(struct expfs *ex, struct weights *w)
{
	_cleanup_distcp_names_ struct distcp_names *names = NULL;
	const char *why = NULL;
	bool any = false;
	int r = 0;

	for (size_t i = 0; i < w->n; i++)
		any = any || (w->v[i].ts && w->v[i].name && weights_is_distcp(w->v[i].name));
	if (any)
		r = read_names(ex, w->metadata, &names, &why);
	for (size_t i = 0; (r == 0 || r == -EBADMSG) && i < w->n; i++)
		if (w->v[i].ts && w->v[i].name && weights_is_distcp(w->v[i].name))
			r = name_file(w, &w->v[i], names, why);
	return r;
}
