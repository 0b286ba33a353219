/* safetensors files. */
#ifndef EXPFS_FORMAT_SAFETENSORS_H
#define EXPFS_FORMAT_SAFETENSORS_H

#include "format/window.h"

/* 0: whole. Errors as in format/window.h. */
int safetensors_check(struct window *w);

#endif
