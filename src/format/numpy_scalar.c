/* scalar(dtype, bytes) of numpy's multiarray, where
 *
 *   dtype   numpy.dtype('i8', False, True), whose state is (3, '<', …): the order of the bytes
 *   bytes   themselves; before protocol 3 _codecs.encode(text, 'latin1') */
#include "format/numpy_scalar.h"

#include <string.h>

#include "format/dtype.h"

typedef const struct pickle_value value;

static value *argument(value *object, uint32_t i)
{
	const struct pickle_items *args = &object->object->args->items;

	return i < args->n ? args->v[i] : NULL;
}

/* Whether v is what calling that function gives. */
static bool is_of(value *v, const char *module, const char *name)
{
	const struct pickle_bytes *called = v && v->kind == PICKLE_OBJECT ? pickle_name_in(v->object->callable, module) :
									    NULL;

	return called && pickle_bytes_are(*called, name);
}

static const struct dtype *read_dtype(value *v, bool *ret_big_endian)
{
	value *name = is_of(v, "numpy", "dtype") ? argument(v, 0) : NULL, *state = name ? v->object->state : NULL;

	if (!name || name->kind != PICKLE_STR)
		return NULL;
	*ret_big_endian = state && state->kind == PICKLE_TUPLE && state->items.n > 1 &&
			  pickle_is_str(state->items.v[1], ">");
	return dtype_of_numpy((const char *)name->bytes.p, name->bytes.len);
}

/* Latin-1 that stands as UTF-8. */
static bool decode(struct pickle_bytes text, uint8_t *bytes, size_t n)
{
	const uint8_t *p = text.p, *end = p + text.len;

	for (; n > 0 && p < end; n--) {
		if (*p < 0x80)
			*bytes++ = *p++;
		else if ((*p & 0xfe) == 0xc2 && end - p > 1 && (p[1] & 0xc0) == 0x80) {
			*bytes++ = (uint8_t)(p[0] << 6 | (p[1] & 0x3f));
			p += 2;
		} else
			return false;
	}
	return n == 0 && p == end;
}

static bool read_bytes(value *v, uint8_t *bytes, size_t n)
{
	value *text = is_of(v, "_codecs", "encode") ? argument(v, 0) : NULL;

	if (text && text->kind == PICKLE_STR)
		return decode(text->bytes, bytes, n);
	if (!v || v->kind != PICKLE_BYTES || v->bytes.len != n)
		return false;
	memcpy(bytes, v->bytes.p, n);
	return true;
}

bool numpy_scalar_integer(value *v, int64_t *ret)
{
	const struct dtype *dtype;
	uint8_t bytes[8];
	bool big_endian;

	if (!is_of(v, "numpy._core.multiarray", "scalar") && !is_of(v, "numpy.core.multiarray", "scalar"))
		return false;
	dtype = read_dtype(argument(v, 0), &big_endian);
	return dtype && dtype_is_integer(dtype->name) && read_bytes(argument(v, 1), bytes, dtype->item) &&
	       dtype_read_integer(dtype->name, dtype->item, big_endian, bytes, ret);
}
