#include "exp/structure.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "exp/entries.h"
#include "exp/inside.h"
#include "format/checkpoint_name.h"
#include "util/hex.h"

/* Texts of several files follow each other, as in a checkpoint of shards; they are digested one by one, for all of them
 * may be large. */
struct structure {
	struct expfs *ex;
	EVP_MD_CTX *digest;
	bool any;
	uint64_t *file; /* objects of a directory */
	size_t n;
};

static void cleanup_structure(struct structure *s)
{
	EVP_MD_CTX_free(s->digest);
	free(s->file);
}

static int begin(struct structure *s, uint64_t init_step)
{
	char line[48];
	int n = snprintf(line, sizeof(line), "init_step:%llu\n", (unsigned long long)init_step);

	s->digest = EVP_MD_CTX_new();
	return s->digest && EVP_DigestInit_ex(s->digest, EVP_sha256(), NULL) == 1 &&
		       EVP_DigestUpdate(s->digest, line, (size_t)n) == 1 ? 0 : -ENOMEM;
}

static int end(struct structure *s, char ret[SEGMENT_DIGEST + 1])
{
	uint8_t digest[SEGMENT_DIGEST / 2];

	if (EVP_DigestFinal_ex(s->digest, digest, NULL) != 1)
		return -ENOMEM;
	hex_text(digest, sizeof(digest), ret);
	return 0;
}

static int add_structure(struct structure *s, uint64_t object)
{
	_cleanup_free_ char *more = NULL;
	int r = object ? inside_structure(s->ex, object, &more) : 0;

	if (r < 0 || !more || !*more)
		return r;
	s->any = true;
	return EVP_DigestUpdate(s->digest, more, strlen(more)) == 1 ? 0 : -ENOMEM;
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
	_cleanup_(cleanup_structure) struct structure s = { .ex = ex };
	int r = begin(&s, init_step);

	*ret = 0;
	if (r == 0 && v->is_dir) {
		_cleanup_(cleanup_reader) struct db *db = meta_reader(ex->meta);

		r = member_list(db, v->id, add_weights, &s);
	} else if (r == 0) {
		r = add_structure(&s, v->object);
	}
	for (size_t i = 0; i < s.n && r == 0; i++)
		r = add_structure(&s, s.file[i]);
	return r < 0 || !s.any ? r : end(&s, ret);
}
