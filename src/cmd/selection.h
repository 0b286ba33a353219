/* Selections as text. */
#ifndef EXPFS_CMD_SELECTION_H
#define EXPFS_CMD_SELECTION_H

#include "op/op.h"

/* ", selected as BRANCH:NAME", of a head in what names a version ("selection"); nothing where it is null. */
void selection_print_as(const json_t *named);

/* The record, as of selection_json() (op/selection.h), and its decisions, if there are any. */
void selection_print(const json_t *selection);

/* Of a new one that had its name before; nothing where it is null. */
void selection_print_superseded(const json_t *selection);

/* That of show: one, and a line for each of the others of its name. */
enum op_exit selection_print_ledger(const json_t *answer);

/* Of a path: a line for each that has a version of it. */
void selection_print_list(const json_t *selections);

#endif
