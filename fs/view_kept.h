/* Texts that take long to make are given again for a while, to who asked before: for twenty times as long as making them
 * took of a processor. So who looks every second, and the kernel, which asks for size and content one after the other, cost a twentieth
 * of it at most. A text that is made in an instant is made each time. Of equal requests that come while a text is made all but
 * the one that makes it wait, for as long without a thread (gate.h).
 *
 * All that is kept has a bound in bytes, and is freed when its time is over. */
#ifndef EXPFS_VIEW_KEPT_H
#define EXPFS_VIEW_KEPT_H

#include "view_kind.h"

#define VIEW_KEPT_MAX ((size_t)32 << 20) /* bytes */

int view_kept_new(struct view_kept **ret);
void view_kept_free(struct view_kept *k);

/* As the function text of a kind, which it calls where nothing is kept. To be called inside the gate; GATE_LATER where
 * somebody is just making that text. */
int view_kept_text(struct view_req *q, const struct view_key *key, view_text_fn make, char **ret, size_t *ret_len);

#endif
