/* Parquet files. */
#ifndef EXPFS_FORMAT_PARQUET_H
#define EXPFS_FORMAT_PARQUET_H

#include "format/window.h"

/* 0: whole. Errors as in format/window.h. */
int parquet_check(struct window *w);

#endif
