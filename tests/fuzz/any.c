/* Names and beginnings that choose the check: a name, NUL, the content. */
#include "format/whole.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	size_t n = end ? (size_t)(end - data) + 1 : 0;

	if (!end)
		return 0;
	must(format_kind((const char *)data) < FORMAT_KINDS);
	return fuzz_whole((const char *)data, data + n, size - n);
}
