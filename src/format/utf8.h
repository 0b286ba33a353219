/* UTF-8, strictly: no overlong forms, no surrogates, nothing over U+10FFFF. */
#ifndef EXPFS_FORMAT_UTF8_H
#define EXPFS_FORMAT_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_MAX 4

/* The bytes, 1 to 4, of the character that begins the len > 0 bytes at text; 0 where
 * none does. */
static inline size_t utf8_length(const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	if (n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

/* The same, and which character it is. */
static inline size_t utf8_get(const char *text, size_t len, uint32_t *ret)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n = utf8_length(text, len);
	uint32_t c = n < 2 ? p[0] : p[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3fu);
	if (n > 0)
		*ret = c;
	return n;
}

/* Writes a code point below 0x110000, a surrogate too; how many bytes. */
static inline size_t utf8_put(char *to, uint32_t c)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n - 1; i > 0; i--) {
		to[i] = (char)(0x80 | (c & 0x3f));
		c >>= 6;
	}
	to[0] = (char)(lead[n] | c);
	return n;
}

#endif
