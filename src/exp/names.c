#include "exp/names.h"

#include <string.h>

#include "exp/entries.h"

void names_free(struct names *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct names){ 0 };
}

int names_add(struct names *l, const char *name)
{
	char **v = array_grow(l->v, l->n, sizeof(*v));

	if (!v)
		return -ENOMEM;
	l->v = v;
	v[l->n] = strdup(name);
	return v[l->n] ? (l->n++, 0) : -ENOMEM;
}
