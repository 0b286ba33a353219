/* Prints an answer of verify, which select gives, too, where what it is to freeze is not what it is held against. */
#ifndef EXPFS_CMD_VERIFY_H
#define EXPFS_CMD_VERIFY_H

#include "op/op.h"

enum op_exit verify_print(const json_t *answer);

#endif
