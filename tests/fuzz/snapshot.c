#include "format/snapshot.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot s = { 0 };
	struct reason why = { "" };
	int r = snapshot_parse((const char *)data, size, &s, &why);

	must(r == 0 ? !why.text[0] : r == -EINVAL && why.text[0] && !s.text && !s.data_file);
	if (r < 0)
		return 0;
	must(s.text || s.data_file);
	must(!s.text || (strlen(s.text) == s.len && s.len <= 2 * size && s.len + 1 >= 6 * s.samples));
	must(!s.text || s.len == 0 || !strcmp(s.text + s.len - 2, ":t"));
	must(!s.data_file || (s.data_file[0] && !strchr(s.data_file, '/')));
	must(strlen(s.exp_hash) == 0 || strlen(s.exp_hash) == 24);
	snapshot_clear(&s);
	return 0;
}
