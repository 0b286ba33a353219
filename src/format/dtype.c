#include "format/dtype.h"

#include <string.h>

#include "util/util.h"

static const struct dtype dtypes[] = {
	{ "float64", 8, "DoubleStorage", "F64", "f8" },
	{ "float32", 4, "FloatStorage", "F32", "f4" },
	{ "float16", 2, "HalfStorage", "F16", "f2" },
	{ "bfloat16", 2, "BFloat16Storage", "BF16", NULL },
	{ "int64", 8, "LongStorage", "I64", "i8" },
	{ "int32", 4, "IntStorage", "I32", "i4" },
	{ "int16", 2, "ShortStorage", "I16", "i2" },
	{ "int8", 1, "CharStorage", "I8", "i1" },
	{ "uint64", 8, NULL, "U64", "u8" },
	{ "uint32", 4, NULL, "U32", "u4" },
	{ "uint16", 2, NULL, "U16", "u2" },
	{ "uint8", 1, "ByteStorage", "U8", "u1" },
	{ "bool", 1, "BoolStorage", "BOOL", "b1" },
	{ "complex128", 16, "ComplexDoubleStorage", NULL, "c16" },
	{ "complex64", 8, "ComplexFloatStorage", "C64", "c8" },
	{ "complex32", 4, NULL, NULL, NULL },
	{ "float8_e4m3fn", 1, NULL, "F8_E4M3", NULL },
	{ "float8_e5m2", 1, NULL, "F8_E5M2", NULL },
	{ "float8_e4m3fnuz", 1, NULL, "F8_E4M3FNUZ", NULL },
	{ "float8_e5m2fnuz", 1, NULL, "F8_E5M2FNUZ", NULL },
	{ "float8_e8m0fnu", 1, NULL, "F8_E8M0", NULL },
	{ "float4_e2m1fn_x2", 1, NULL, NULL, NULL }, /* a pair is one element */
	{ "float4_e2m1fn", 0, NULL, "F4", NULL },
	{ "float6_e2m3fn", 0, NULL, "F6_E2M3", NULL },
	{ "float6_e3m2fn", 0, NULL, "F6_E3M2", NULL },
	{ "qint8", 1, "QInt8Storage", NULL, NULL },
	{ "quint8", 1, "QUInt8Storage", NULL, NULL },
	{ "qint32", 4, "QInt32Storage", NULL, NULL },
	{ "quint4x2", 0, "QUInt4x2Storage", NULL, NULL },
	{ "quint2x4", 0, "QUInt2x4Storage", NULL, NULL },
	{ "bits8", 1, NULL, NULL, NULL },
	{ "bits16", 2, NULL, NULL, NULL },
	{ "bits1x8", 1, NULL, NULL, NULL },
	{ "bits2x4", 1, NULL, NULL, NULL },
	{ "bits4x2", 1, NULL, NULL, NULL },
};

static bool is(const char *a, const char *b, size_t len)
{
	return a && strlen(a) == len && memcmp(a, b, len) == 0;
}

const struct dtype *dtype_of_name(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(dtypes); i++)
		if (is(dtypes[i].name, name, len))
			return &dtypes[i];
	return NULL;
}

const struct dtype *dtype_of_storage(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(dtypes); i++)
		if (is(dtypes[i].storage, name, len))
			return &dtypes[i];
	return NULL;
}

const struct dtype *dtype_of_safetensors(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(dtypes); i++)
		if (is(dtypes[i].safetensors, name, strlen(name)))
			return &dtypes[i];
	return NULL;
}

const struct dtype *dtype_of_numpy(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(dtypes); i++)
		if (is(dtypes[i].numpy, name, len))
			return &dtypes[i];
	return NULL;
}

bool dtype_is_integer(const char *name)
{
	return strncmp(name, "int", 3) == 0 || strncmp(name, "uint", 4) == 0;
}

bool dtype_read_integer(const char *name, unsigned item, bool big_endian, const uint8_t *bytes, int64_t *ret)
{
	bool is_signed = name[0] == 'i';
	uint64_t v = is_signed && bytes[big_endian ? 0 : item - 1] & 0x80 ? UINT64_MAX : 0;

	for (unsigned i = 0; i < item; i++)
		v = v << 8 | bytes[big_endian ? i : item - 1 - i];
	*ret = (int64_t)v;
	return is_signed || v <= INT64_MAX;
}
