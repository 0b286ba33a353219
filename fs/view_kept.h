/* Texts that take long to make are given again for a while, to who asked before: for twenty times as long as making them
 * took of a processor. So who looks every second, and the kernel, which asks for size and content one after the other, cost a twentieth
 * of it at most. A text that is made in an instant is made each time. */
#ifndef EXPFS_VIEW_KEPT_H
#define EXPFS_VIEW_KEPT_H

#include "view_kind.h"

int view_kept_new(struct view_kept **ret);
void view_kept_free(struct view_kept *k);

/* As the function text of a kind, which it calls where nothing is kept. */
int view_kept_text(struct view_req *q, const struct view_key *key, view_text_fn make, char **ret, size_t *ret_len);

#endif
