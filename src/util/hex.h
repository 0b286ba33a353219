/* Bytes as hexadecimal digits. */
#ifndef EXPFS_UTIL_HEX_H
#define EXPFS_UTIL_HEX_H

#include <stdbool.h>
#include <stddef.h>

/* Lower-case ones; ret has room for 2 * n digits and the NUL behind them. */
static inline void hex_text(const void *bytes, size_t n, char *ret)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++) {
		*ret++ = "0123456789abcdef"[p[i] >> 4];
		*ret++ = "0123456789abcdef"[p[i] & 15];
	}
	*ret = 0;
}

/* -1: it is none. */
static inline int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The n bytes that 2 * n digits, and nothing else, stand for; whether they do. */
static inline bool hex_bytes(const char *text, unsigned char *ret, size_t n)
{
	for (size_t i = 0; i < n; i++, text += 2) {
		int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);

		if (low < 0)
			return false;
		ret[i] = (unsigned char)(high << 4 | low);
	}
	return !*text;
}

#endif
