/* Checkpoints of torch.distributed.checkpoint: a real one, and metadata by hand. */
#include "format/distcp.h"
#include "format/parts.h"
#include "tensors.h"

static int read_names(const struct bytes *b, struct distcp_names **ret, const char **ret_why)
{
	FILE *f = tmpfile();
	int r;

	assert_non_null(f);
	assert_int_equal(pwrite(fileno(f), b->p, b->len, 0), (ssize_t)b->len);
	r = distcp_names_read(fileno(f), b->len, ret, ret_why);
	fclose(f);
	assert_true(r == 0 ? *ret && !*ret_why : r == -EBADMSG && *ret_why);
	return r;
}

static struct tensors *read_file(const struct bytes *b, const char **ret_why)
{
	FILE *f = tmpfile();
	struct tensors *ts = NULL;
	int r;

	assert_non_null(f);
	assert_int_equal(pwrite(fileno(f), b->p, b->len, 0), (ssize_t)b->len);
	r = distcp_read(fileno(f), b->len, &ts, ret_why);
	fclose(f);
	assert_true(r == 0 ? ts && !*ret_why : !ts && r == -EBADMSG && *ret_why);
	return ts;
}

static void test_real(void **state)
{
	_cleanup_bytes_ struct bytes file = sample("dcp.distcp"), metadata = sample("dcp.metadata");
	_cleanup_distcp_names_ struct distcp_names *names = NULL;
	unsigned parts = 0;
	const char *why;
	_cleanup_tensors_ struct tensors *ts = read_file(&file, &why);

	assert_non_null(ts);
	assert_false(ts->has_step);
	assert_int_equal(read_names(&metadata, &names, &why), 0);
	assert_int_equal(distcp_name(names, "__0_0.distcp", ts, &parts, &why), 0);
	for (size_t i = 0; i < ts->n; i++)
		assert_true(ts->v[i].end <= file.len && ts->v[i].begin > ts->v[i].blob);
	assert_tensors(ts, "optimizer.lr.1:float32[1]/1@0 optimizer.m:float32[2]/1@0 model.bias:float32[2]/1@0* "
			   "model.weight:float32[2,2]/2,1@0*");
	assert_string_equal(ts->v[2].name + ts->v[2].inner, "bias");
	assert_int_equal(parts, PART_OPTIMIZER);
	assert_memory_equal(file.p + ts->v[1].begin, "\0\0\x80\x3f\0\0\x80\x3f", 8);
	assert_int_equal(distcp_name(names, "__0_1.distcp", ts, &parts, &why), -EBADMSG);
}

static void test_cut(void **state)
{
	_cleanup_bytes_ struct bytes b = sample("dcp.distcp"), metadata = sample("dcp.metadata");
	size_t whole = 0, len = b.len;

	for (; b.len > 0; b.len -= 7 < b.len ? 7 : b.len) {
		const char *why;
		_cleanup_tensors_ struct tensors *ts = read_file(&b, &why);

		whole += ts != NULL;
		assert_true(!ts || b.len == len);
	}
	assert_int_equal(whole, 1);
	for (; metadata.len > 0; metadata.len--) {
		struct bytes cut = { .p = metadata.p, .len = metadata.len - 1 };
		struct distcp_names *names = NULL;
		const char *why;

		assert_int_equal(read_names(&cut, &names, &why), -EBADMSG);
	}
}

#define ENTRY(name, file, at) \
	"(cm\nI\n(tR(Vfqn\nV" name "\ndbcm\nS\n(tR(Vrelative_path\nV" file "\nVoffset\nI" at "\ndb"
#define METADATA(entries) "cm\nMetadata\n(tR(Vstorage_data\n" entries "ddb."

static void name_zip(const char *metadata, const char *wanted)
{
	_cleanup_bytes_ struct bytes b = torch_file(TENSOR "."), text = { 0 };
	_cleanup_distcp_names_ struct distcp_names *names = NULL;
	unsigned parts = 0;
	const char *why;
	_cleanup_tensors_ struct tensors *ts = read_file(&b, &why);

	add(&text, metadata, strlen(metadata));
	assert_non_null(ts);
	assert_int_equal(read_names(&text, &names, &why), 0);
	assert_int_equal(distcp_name(names, "f", ts, &parts, &why), 0);
	assert_tensors(ts, wanted);
}

static void test_names(void **state)
{
	name_zip(METADATA(ENTRY("w.b", "f", "0")), "w.b:float32[2,3]/3,1@0*");
	name_zip(METADATA(ENTRY("w.b", "f", "0") "cm\nI\n(tR(Vfqn\nVmodel.x\ndbcm\nS\n(tR(Vrelative_path\nVg\nVoffset\nI0\ndb"),
		 "w.b:float32[2,3]/3,1@0");
	name_zip(METADATA(ENTRY("w.b", "f", "0") "cm\nI\n(tR(Vfqn\nVw.b\ndbcm\nS\n(tR(Vrelative_path\nVg\nVoffset\nI9\ndb"),
		 "w.b:float32[2,3]?*");
}

static void test_faults(void **state)
{
	static const char *const texts[] = { "", "N.", "cm\nMetadata\n(tR.", "cm\nMetadata\n(tR(Vstorage_data\nNdb.",
					     METADATA("(I1\nI2\n"), METADATA(ENTRY("a", "f", "-1")),
					     "cm\nMetadata\n(tR(I1\ntb." };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		_cleanup_bytes_ struct bytes b = { 0 };
		struct distcp_names *names = NULL;
		const char *why;

		add(&b, texts[i], strlen(texts[i]));
		assert_int_equal(read_names(&b, &names, &why), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a file of several tensors is told by the names that .metadata has for them", test_real),
		TEST("cut anywhere, both are refused", test_cut),
		TEST("the model's are those below the first of its keys, and what lies in pieces is not located", test_names),
		TEST("metadata of another form are refused", test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
