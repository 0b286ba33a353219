#include "util/list.h"

#include "util/util.h"

void *array_grow(void *v, size_t n, size_t size)
{
	return n & (n - 1) ? v : realloc(v, (n ? n * 2 : 1) * size);
}

int id_list_add(void *arg, uint64_t id)
{
	struct id_list *l = arg;
	uint64_t *v = array_grow(l->v, l->n, sizeof(*v));

	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->n++] = id;
	return 0;
}

void id_list_free(struct id_list *l)
{
	free(l->v);
}
