/*
 * safetensors: 8 bytes little-endian length of the header; the header, JSON padded with spaces to a multiple of 8,
 * which gives dtype, shape and [begin, end) of each tensor; the data, where those offsets count from.
 */
#include "safetensors.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are written as they lie in memory");

static size_t tensor_bytes(const struct tensor *tensor)
{
	return (size_t)(tensor->rows ? tensor->rows : 1) * tensor->columns * sizeof(float);
}

static json_t *shape(const struct tensor *tensor)
{
	if (tensor->rows)
		return json_pack("[i, i]", (int)tensor->rows, (int)tensor->columns);
	return json_pack("[i]", (int)tensor->columns);
}

/* The header as text, not padded yet; the caller frees it. */
static char *header_text(const struct tensor *tensors, size_t n_tensors)
{
	json_t *header = json_pack("{s: {s: s}}", "__metadata__", "format", "pt");
	json_int_t offset = 0;
	char *text;

	for (size_t i = 0; i < n_tensors; i++) {
		json_int_t end = offset + (json_int_t)tensor_bytes(&tensors[i]);

		json_object_set_new(header, tensors[i].name,
				    json_pack("{s: s, s: o, s: [I, I]}", "dtype", "F32", "shape", shape(&tensors[i]),
					      "data_offsets", offset, end));
		offset = end;
	}
	text = json_dumps(header, JSON_COMPACT);
	json_decref(header);
	if (!text)
		die("out of memory");
	return text;
}

void safetensors_write(const char *path, const struct tensor *tensors, size_t n_tensors)
{
	char *text = header_text(tensors, n_tensors);
	uint64_t length = (strlen(text) + 7) / 8 * 8;
	size_t size = sizeof(length) + length;
	char *file, *p;

	for (size_t i = 0; i < n_tensors; i++)
		size += tensor_bytes(&tensors[i]);
	file = allocate(size, 1);

	memcpy(file, &length, sizeof(length));
	memset(file + sizeof(length), ' ', length);
	memcpy(file + sizeof(length), text, strlen(text));
	p = file + sizeof(length) + length;
	for (size_t i = 0; i < n_tensors; i++) {
		memcpy(p, tensors[i].data, tensor_bytes(&tensors[i]));
		p += tensor_bytes(&tensors[i]);
	}
	file_put(path, file, size);
	free(file);
	free(text);
}

static void read_tensor(const char *path, const struct tensor *tensor, const json_t *header, const char *data,
			size_t n_data)
{
	json_t *wanted_shape = shape(tensor), *found_shape;
	json_int_t begin, end;
	const char *dtype;

	if (json_unpack(json_object_get(header, tensor->name), "{s: s, s: o, s: [I, I]}", "dtype", &dtype,
			"shape", &found_shape, "data_offsets", &begin, &end) < 0)
		die("%s: has no tensor %s", path, tensor->name);
	if (strcmp(dtype, "F32") != 0 || !json_equal(found_shape, wanted_shape))
		die("%s: tensor %s has another type or shape than this model's", path, tensor->name);
	if (begin < 0 || end < begin || (uint64_t)end > n_data || (size_t)(end - begin) != tensor_bytes(tensor))
		die("%s: tensor %s lies outside of the file", path, tensor->name);
	memcpy(tensor->data, data + begin, tensor_bytes(tensor));
	json_decref(wanted_shape);
}

void safetensors_read(const char *path, const struct tensor *tensors, size_t n_tensors)
{
	size_t size;
	char *file = file_get(path, &size);
	uint64_t length = UINT64_MAX;
	json_t *header;

	if (size >= sizeof(length))
		memcpy(&length, file, sizeof(length));
	if (size < sizeof(length) || length > size - sizeof(length))
		die("%s: is cut short", path);
	header = json_loadb(file + sizeof(length), length, 0, NULL);
	if (!header)
		die("%s: the header is no JSON", path);

	for (size_t i = 0; i < n_tensors; i++)
		read_tensor(path, &tensors[i], header, file + sizeof(length) + length, size - sizeof(length) - length);
	json_decref(header);
	free(file);
}
