#include "format/manifest.h"

#include "fuzz.h"

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : !a && !b;
}

static void must_be_same(const struct manifest *a, const struct manifest *b)
{
	must(a->count == b->count && same(a->latest_hash, b->latest_hash) && same(a->last_updated, b->last_updated));
	for (size_t i = 0; i < a->count; i++) {
		const struct manifest_entry *x = &a->entries[i], *y = &b->entries[i];

		must(same(x->hash, y->hash) && same(x->hp_hash, y->hp_hash) && same(x->model_hash, y->model_hash));
		must(same(x->data_hash, y->data_hash) && same(x->created, y->created) && same(x->last_used, y->last_used));
		must(same(x->latest_weight_checkpoint, y->latest_weight_checkpoint));
		must(same(x->experiment_name, y->experiment_name) && same(x->notes ? x->notes : "", y->notes));
		must(x->latest_weight_step == y->latest_weight_step && x->latest_weight_step >= -1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct manifest *m = NULL, *part = NULL, *again = NULL;
	char *text = NULL;
	size_t len = 0;
	int r;

	must(manifest_parse((const char *)data, size, &m) == 0);
	must((m->state == MANIFEST_BROKEN) == (m->why.text[0] != 0));
	must(m->count == 0 || m->state == MANIFEST_WHOLE || m->state == MANIFEST_NO_LATEST);
	must((m->state != MANIFEST_WHOLE) || m->latest_hash);
	for (size_t i = 0; i < m->count; i++)
		must(manifest_find(m, m->entries[i].hash) == &m->entries[i]);
	must(!manifest_lost(m, m));
	must(manifest_parse((const char *)data, size / 2, &part) == 0);
	manifest_lost(m, part);
	manifest_lost(part, m);
	r = manifest_write(m, &text, &len);
	must(r == 0 || r == -EINVAL);
	if (r == 0) {
		must(manifest_parse(text, len, &again) == 0);
		must_be_same(m, again);
		free(text);
	}
	manifest_free(again);
	manifest_free(part);
	manifest_free(m);
	return 0;
}
