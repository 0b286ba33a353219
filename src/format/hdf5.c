/* Whether an HDF5 file is as long as its superblock says, and was closed.
 *
 *   8  magic; at 8 the version of the superblock
 *   version 0, 1   at 13 bytes of an address; from 24 (0) or 28 (1) addresses:
 *                  base, free space, end of file, driver
 *   version 2, 3   at 9 bytes of an address, at 11 flags; from 12 addresses:
 *                  base, extension, end of file, root
 *
 * Flag 1 of version 3 is set while a program has the file open for writing, and
 * stays if that dies; libhdf5 then refuses the file. */
#include "format/hdf5.h"

#include <string.h>

#define SUPERBLOCK_MIN 48u
#define FLAG_WRITING 0x01u

int hdf5_check(struct window *w)
{
	const uint8_t *p;
	size_t addresses, address_len;
	uint64_t end;
	int r;

	r = window_get(w, 0, SUPERBLOCK_MIN, &p);
	if (r < 0)
		return r;
	if (memcmp(p, HDF5_MAGIC, strlen(HDF5_MAGIC)) != 0)
		return window_bad(w, "does not begin as HDF5 does");
	if (p[8] > 3)
		return window_bad(w, "HDF5 superblock of an unknown version");
	address_len = p[8] < 2 ? p[13] : p[9];
	addresses = p[8] == 0 ? 24 : p[8] == 1 ? 28 : 12;
	if (address_len != 4 && address_len != 8)
		return window_bad(w, "HDF5 addresses of an unknown length");
	if (p[8] == 3 && (p[11] & FLAG_WRITING))
		return window_bad(w, "HDF5 file that its writer did not close");
	r = window_get(w, addresses + 2 * address_len, address_len, &p);
	if (r < 0)
		return r;
	end = address_len == 4 ? le32(p) : le64(p);
	return end <= w->size ? 0 : window_bad(w, "shorter than its HDF5 superblock says");
}
