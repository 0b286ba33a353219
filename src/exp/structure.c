#include "exp/structure.h"

#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/inside.h"
#include "format/checkpoint_name.h"
#include "format/hp.h"

/* Texts of several files follow each other, as in a checkpoint of shards. */
struct structure {
	struct expfs *ex;
	char *text;
	uint64_t *file; /* objects of a directory */
	size_t n;
};

static int add_structure(struct structure *s, uint64_t object)
{
	_cleanup_free_ char *more = NULL;
	char *text;
	int r = object ? inside_structure(s->ex, object, &more) : 0;

	if (r < 0 || !more)
		return r;
	if (asprintf(&text, "%s%s", s->text ? s->text : "", more) < 0)
		return -ENOMEM;
	free(s->text);
	s->text = text;
	return 0;
}

/* A file of a checkpoint directory that can hold the model. */
static int add_weights(void *arg, const struct member_row *m, const char *name)
{
	struct structure *s = arg;
	const char *last = path_last(name);
	uint64_t *more;

	if (!member_holds_model(name) || !role_weights_suffix(last, strlen(last)))
		return 0;
	more = array_grow(s->file, s->n, sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->file = more;
	more[s->n++] = m->object;
	return 0;
}

int structure_of_version(struct expfs *ex, const struct version_row *v, uint64_t init_step,
			    char ret[SEGMENT_DIGEST + 1])
{
	struct structure s = { .ex = ex };
	_cleanup_free_ char *whole = NULL;
	int r = 0;

	*ret = 0;
	if (v->is_dir) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = member_list(db, v->id, add_weights, &s);
	} else {
		r = add_structure(&s, v->object);
	}
	for (size_t i = 0; i < s.n && r == 0; i++)
		r = add_structure(&s, s.file[i]);
	if (r == 0 && s.text && *s.text) {
		if (asprintf(&whole, "init_step:%llu\n%s", (unsigned long long)init_step, s.text) < 0)
			whole = NULL;
		r = whole ? hp_digest(whole, ret) : -ENOMEM;
	}
	free(s.text);
	free(s.file);
	return r;
}
