/* Whether a Parquet file has all of its parts.
 *
 *   "PAR1", data, footer, u32 length of the footer, "PAR1"
 *
 * With an encrypted footer the magic is "PARE", at both ends. The footer, which
 * is Thrift, is not read. */
#include "format/parquet.h"

#include <string.h>

#define MAGIC_LEN 4u
#define TAIL_LEN 8u

int parquet_check(struct window *w)
{
	uint8_t magic[MAGIC_LEN], tail[TAIL_LEN];
	uint32_t footer;
	int r;

	if (w->size < MAGIC_LEN + TAIL_LEN)
		return window_bad(w, "ends too early");
	r = window_read(w, 0, magic, sizeof(magic));
	if (r < 0)
		return r;
	r = window_read(w, w->size - TAIL_LEN, tail, sizeof(tail));
	if (r < 0)
		return r;
	if (memcmp(magic, "PAR1", MAGIC_LEN) != 0 && memcmp(magic, "PARE", MAGIC_LEN) != 0)
		return window_bad(w, "does not begin as Parquet does");
	if (memcmp(tail + 4, magic, MAGIC_LEN) != 0)
		return window_bad(w, "does not end as Parquet does");
	footer = le32(tail);
	if (footer == 0)
		return window_bad(w, "Parquet without a footer");
	if (footer > w->size - MAGIC_LEN - TAIL_LEN)
		return window_bad(w, "Parquet footer larger than the file");
	return 0;
}
