/* Zip files: torch, npz, keras. */
#ifndef EXPFS_FORMAT_ZIP_H
#define EXPFS_FORMAT_ZIP_H

#include "format/window.h"

/* 0: whole. Errors as in format/window.h. */
int zip_check(struct window *w);

#endif
