/* Arrays that grow one by one. */
#ifndef EXPFS_UTIL_LIST_H
#define EXPFS_UTIL_LIST_H

#include <stddef.h>
#include <stdint.h>

/* Room for one more in an array of n elements that doubles; NULL: no memory,
 * and the array is as it was. */
void *array_grow(void *v, size_t n, size_t size);

/* Numbers of rows, as queries give them; arg of id_list_add() is the list. */
struct id_list {
	uint64_t *v;
	size_t n;
};
int id_list_add(void *arg, uint64_t id); /* 0, -ENOMEM */
void id_list_free(struct id_list *l);
#define _cleanup_id_list_ _cleanup_(id_list_free)

#endif
