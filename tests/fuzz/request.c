/* The control socket's requests, with the arguments of the operations. */
#include "op/request.h"

#include "fuzz.h"

static struct expfs *store(void)
{
	static struct expfs *ex;
	char *error;

	if (!ex)
		must(expfs_open(scratch_store(), "fuzzing", &ex, &error) == 0);
	return ex;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = 0;
	_cleanup_free_ char *answer = request_answer(store(), &(struct op_caller){ 0 }, (const char *)data, size, &len);
	json_t *json;

	must(answer && len > 0 && memchr(answer, '\n', len) == answer + len - 1);
	json = json_loadb(answer, len, 0, NULL);
	must(json_is_integer(json_object_get(json, "exit")) && json_is_object(json_object_get(json, "result")));
	json_decref(json);
	return 0;
}
