/* Zip files: torch, npz, keras. */
#ifndef EXPFS_FORMAT_ZIP_H
#define EXPFS_FORMAT_ZIP_H

#include <stdbool.h>

#include "format/window.h"

/* 0: whole. Errors as in format/window.h. */
int zip_check(struct window *w);

struct zip_record {
	const uint8_t *name; /* no NUL behind it; valid until the function returns */
	size_t name_len;
	uint64_t at, len; /* its bytes in the file */
	bool plain;	  /* these are the content: neither compressed nor encrypted */
	bool deflated;	  /* they are deflated, not encrypted, of so many bytes, the directory says: */
	uint64_t size;
};

typedef int (*zip_record_fn)(void *arg, const struct zip_record *r);

/* The same, calling fn for each record, in the order of the directory. It may
 * not move the window; what it returns other than 0 is returned. A file may turn
 * out not to be whole after the last call. */
int zip_each(struct window *w, zip_record_fn fn, void *arg);

#endif
