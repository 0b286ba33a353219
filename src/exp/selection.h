/* Selections: checkpoints that somebody nominated, by a name that is unique in a branch (spec section 7). The records are
 * in meta/ledger.h.
 *
 * A selection is written NAME, BRANCH:NAME, or sel-NUMBER: also one that was superseded. In a run NAME is that of its own
 * branch; elsewhere that of the one branch that has it, where removed ones count only if no other does. The branch of a run
 * that is none any more, as it was moved elsewhere, is called by its path. */
#ifndef EXPFS_SELECTION_H
#define EXPFS_SELECTION_H

#include "exp/expfs.h"
#include "meta/ledger.h"
#include "meta/version.h"

#define SELECTION_PREFIX "sel-"
#define SELECTION_TEXT 32 /* of sel-NUMBER */
#define SELECTION_LINE 1024 /* bytes of a text that somebody gives, at most */

/* What is wrong with a name, as text that continues "NAME: "; NULL: nothing. */
const char *selection_name_fault(const char *name);

/* Of a text on one line, of at most SELECTION_LINE bytes. */
const char *selection_line_fault(const char *text);

void selection_text(uint64_t id, char ret[static SELECTION_TEXT]);

/* Its branch, to be freed. */
int selection_branch(struct expfs *ex, uint64_t run, char **ret);

/* The one that a text names to who stands in the directory near, a path of the room exp (NULL: outside). -ENOENT;
 * -EEXIST: that name is in several branches. *ret_names, to be freed, has those with either, as "BRANCH:NAME
 * (sel-NUMBER), …", or is NULL. */
int selection_find(struct expfs *ex, const char *text, const char *near, struct ledger_row *ret, char **ret_names);

/* Adds the record row->record of a selection of v under row->name, and syncs it. The objects that v consists of are on
 * the disk before. Fills in id, run, of and time. -ESTALE: v is gone meanwhile; -ETXTBSY: who wrote it
 * may go on. */
int selection_put(struct expfs *ex, const struct version_row *v, const uint64_t *objects, size_t n, struct ledger_row *row);

/* Adds a decision about a selection, likewise, and fills in the rest of the row. */
int selection_decide(struct expfs *ex, const struct ledger_row *selection, struct ledger_row *row);

#endif
