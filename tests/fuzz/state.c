#include "format/manager_options.h"
#include "format/state_file.h"

#include "fuzz.h"

static void must_be_hash(const char *hash, size_t len)
{
	must(*hash == 0 || (strlen(hash) == len && strspn(hash, "0123456789abcdef") == len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct manager_options o = { 0 };
	struct reason why = { "" };
	struct state_file s;
	int r = state_file_parse((const char *)data, size, &s, &why);

	must(r == 0 ? !why.text[0] : r == -EINVAL && why.text[0]);
	if (r == 0) {
		must_be_hash(s.current_exp_hash, 24);
		must_be_hash(s.previous_exp_hash, 24);
		must_be_hash(s.combined_hash, 24);
		must_be_hash(s.hp_hash, 8);
		must_be_hash(s.model_hash, 8);
		must_be_hash(s.data_hash, 8);
		must(strlen(s.last_updated) < sizeof(s.last_updated) && s.step_counter >= -1 && s.model_init_step >= -1);
	}
	why.text[0] = 0;
	r = manager_options_parse((const char *)data, size, &o, &why);
	must(r == 0 ? !why.text[0] : r == -EINVAL && why.text[0]);
	return 0;
}
