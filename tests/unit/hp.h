/* What hp_parse() makes of a configuration. */
#ifndef EXPFS_TEST_HP_H
#define EXPFS_TEST_HP_H

#include "format/hp.h"
#include "test.h"

void takes_bytes(const char *bytes, size_t len, const char *name, const char *expected);
void takes(const char *yaml, const char *expected);
void takes_json(const char *json, const char *expected);

/* A scalar after "v: ". */
void is(const char *scalar, const char *expected);

void refuses_bytes(const char *bytes, size_t len, const char *name, const char *what);
void refuses(const char *yaml, const char *what);
void refuses_json(const char *json, const char *what);

#endif
