#include "format/json_escape.h"

#include <string.h>

static bool take_hex4(const char **p, const char *end, uint32_t *ret)
{
	static const char hex[] = "0123456789abcdef0123456789ABCDEF";

	*ret = 0;
	for (int i = 0; i < 4; i++, (*p)++) {
		const char *at = *p < end ? memchr(hex, **p, sizeof(hex) - 1) : NULL;

		if (!at)
			return false;
		*ret = *ret << 4 | (uint32_t)((at - hex) & 15);
	}
	return true;
}

bool json_escape(const char **p, const char *end, uint32_t *ret)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at = *p < end ? memchr(from, **p, sizeof(from) - 1) : NULL, *second;
	uint32_t low;

	if (at) {
		*ret = (unsigned char)to[at - from];
		(*p)++;
		return true;
	}
	if (*p == end || *(*p)++ != 'u' || !take_hex4(p, end, ret))
		return false;
	if (*ret < 0xd800 || *ret >= 0xdc00 || end - *p < 2 || memcmp(*p, "\\u", 2) != 0)
		return true;
	second = *p + 2;
	if (!take_hex4(&second, end, &low))
		return false;
	if (low >= 0xdc00 && low < 0xe000) {
		*ret = 0x10000 + ((*ret - 0xd800) << 10) + (low - 0xdc00);
		*p = second;
	}
	return true;
}
