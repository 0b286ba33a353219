/* HDF5 files. */
#ifndef EXPFS_FORMAT_HDF5_H
#define EXPFS_FORMAT_HDF5_H

#include "format/window.h"

#define HDF5_MAGIC "\x89HDF\r\n\x1a\n"

/* 0: whole. Errors as in format/window.h. */
int hdf5_check(struct window *w);

#endif
