/* Bytes as lower-case hexadecimal digits. */
#ifndef EXPFS_UTIL_HEX_H
#define EXPFS_UTIL_HEX_H

#include <stddef.h>

/* ret has room for 2 * n digits and the NUL behind them. */
static inline void hex_text(const void *bytes, size_t n, char *ret)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++) {
		*ret++ = "0123456789abcdef"[p[i] >> 4];
		*ret++ = "0123456789abcdef"[p[i] & 15];
	}
	*ret = 0;
}

#endif
