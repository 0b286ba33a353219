/* The samples in tests/data/format are of real writers; the rest is built here. */
#include <fcntl.h>

#include "format/whole.h"
#include "test.h"

#define TEST(sentence, function) { sentence, function, NULL, NULL, NULL }

struct bytes {
	uint8_t *p;
	size_t len, room;
};

static void bytes_free(struct bytes *b)
{
	free(b->p);
}
#define _cleanup_bytes_ _cleanup_(bytes_free)

static void add(struct bytes *b, const void *p, size_t n)
{
	if (b->len + n > b->room) {
		b->room = 2 * (b->len + n);
		b->p = realloc(b->p, b->room);
		assert_non_null(b->p);
	}
	if (n > 0)
		memcpy(b->p + b->len, p, n);
	b->len += n;
}

static void put_int(uint8_t *p, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t get_int(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | p[n];
	return v;
}

static void add_int(struct bytes *b, uint64_t v, size_t n)
{
	uint8_t p[8];

	put_int(p, v, n);
	add(b, p, n);
}

static void add_text(struct bytes *b, const char *text)
{
	add(b, text, strlen(text));
}

/* Why n bytes of a file of this name are not whole; NULL if they are. */
static const char *why(const char *name, const void *p, size_t n)
{
	FILE *f = tmpfile();
	const char *reason = "unset";
	bool whole = false;

	assert_non_null(f);
	assert_int_equal(pwrite(fileno(f), p, n, 0), (ssize_t)n);
	assert_int_equal(format_whole(fileno(f), n, name, &whole, &reason), 0);
	fclose(f);
	if (whole)
		assert_null(reason);
	else
		assert_non_null(reason);
	return reason;
}

static void assert_whole(const char *name, const struct bytes *b)
{
	const char *reason = why(name, b->p, b->len);

	if (reason)
		fail_msg("%s: %s", name, reason);
}

static void assert_torn(const char *name, const struct bytes *b, const char *reason)
{
	const char *r = why(name, b->p, b->len);

	if (!r || strcmp(r, reason) != 0)
		fail_msg("%s: %s, not: %s", name, r ? r : "whole", reason);
}

static struct bytes sample(const char *name)
{
	const char *top = getenv("EXPFS_SRCDIR");
	struct bytes b = { 0 };
	char path[4096], chunk[4096];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/tests/data/format/%s", top ? top : ".", name);
	f = fopen(path, "re");
	if (!f)
		fail_msg("%s: %s", path, strerror(errno));
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		add(&b, chunk, n);
	fclose(f);
	assert_true(b.len > 0);
	return b;
}

static const char *const framed[] = { "zip.pt",	       "stored.npz",	"deflated.npz", "three.safetensors",
				      "v0.weights.h5", "v3.weights.h5", "d.parquet" };

static void test_samples(void **state)
{
	static const char *const free_form[] = { "legacy.pt", "__0_0.distcp" };

	for (size_t i = 0; i < ARRAY_SIZE(framed); i++) {
		_cleanup_bytes_ struct bytes b = sample(framed[i]);

		assert_whole(framed[i], &b);
	}
	for (size_t i = 0; i < ARRAY_SIZE(free_form); i++) {
		_cleanup_bytes_ struct bytes b = sample(free_form[i]);

		assert_whole(free_form[i], &b);
	}
}

static void test_cuts(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(framed); i++) {
		_cleanup_bytes_ struct bytes b = sample(framed[i]);

		for (size_t n = 0; n < b.len; n++)
			if (!why(framed[i], b.p, n))
				fail_msg("%s: whole when cut to %zu of %zu bytes", framed[i], n, b.len);
	}
}

static void test_zeros(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(framed); i++) {
		_cleanup_bytes_ struct bytes b = sample(framed[i]);

		memset(b.p, 0, b.len);
		assert_non_null(why(framed[i], b.p, b.len));
	}
}

/* Turns each of n bytes around, one at a time; none may be whole then. */
static void assert_each_counts(const char *name, struct bytes *b, size_t at, size_t n)
{
	for (size_t i = at; i < at + n; i++) {
		b->p[i] ^= 0xff;
		if (!why(name, b->p, b->len))
			fail_msg("%s: whole with byte %zu changed", name, i);
		b->p[i] ^= 0xff;
	}
	assert_whole(name, b);
}

static void test_zip_fields(void **state)
{
	_cleanup_bytes_ struct bytes b = sample("zip.pt");
	size_t end = b.len - 22, locator = end - 20, end64 = locator - 56;
	size_t at = get_int(b.p + end64 + 48, 8), count = get_int(b.p + end64 + 32, 8);

	assert_memory_equal(b.p + end64, "PK\6\6", 4);
	assert_memory_equal(b.p + locator, "PK\6\7", 4);
	assert_int_equal(count, 9);
	assert_each_counts("a.pt", &b, end, 22);
	assert_each_counts("a.pt", &b, locator, 20);
	assert_each_counts("a.pt", &b, end64, 12);
	assert_each_counts("a.pt", &b, end64 + 16, 40);
	for (size_t i = 0; i < count; i++) {
		size_t name_len = get_int(b.p + at + 28, 2), record = get_int(b.p + at + 42, 4);

		assert_each_counts("a.pt", &b, at, 4);		    /* magic */
		assert_each_counts("a.pt", &b, at + 10, 2);	    /* method */
		assert_each_counts("a.pt", &b, at + 20, 16);	    /* sizes, lengths, disk */
		assert_each_counts("a.pt", &b, at + 42, 4 + name_len); /* offset, name */
		if (record > 0) /* else it is no zip file any more */
			assert_each_counts("a.pt", &b, record, 4);
		assert_each_counts("a.pt", &b, record + 8, 2);
		assert_each_counts("a.pt", &b, record + 26, 2);
		assert_each_counts("a.pt", &b, record + 30, name_len);
		at += 46 + name_len + get_int(b.p + at + 30, 2) + get_int(b.p + at + 32, 2);
	}
	assert_int_equal(at, end64);
}

static void test_zip_content(void **state)
{
	_cleanup_bytes_ struct bytes b = sample("zip.pt");
	size_t at = 64; /* of data.pkl */

	b.p[at] ^= 0xff;
	assert_whole("a.pt", &b);
}

static void test_zip_by_magic(void **state)
{
	_cleanup_bytes_ struct bytes b = sample("zip.pt");

	b.len--;
	for (size_t i = 0; i < 6; i++) {
		static const char *const names[] = { "a.pt", "a.pth", "a.ckpt", "a.bin", "a.pkl", "a" };

		assert_torn(names[i], &b, "no zip end record");
	}
	assert_whole("a.distcp", &b);
}

static void test_zip_demanded(void **state)
{
	_cleanup_bytes_ struct bytes text = { 0 };

	add_text(&text, "this is no zip file, but it is not empty");
	assert_torn("a.npz", &text, "no zip end record");
	assert_torn("a.keras", &text, "no zip end record");
	assert_whole("a.pt", &text);
	assert_whole("a.txt", &text);
}

/* A zip file as it grows: the records stand in b, the entries in dir. */
struct zip {
	struct bytes b, dir;
	size_t count;
};

static void zip_free(struct zip *z)
{
	bytes_free(&z->b);
	bytes_free(&z->dir);
}
#define _cleanup_zip_ _cleanup_(zip_free)

struct zip_fields {
	const char *name;
	uint32_t stored, size, record;
	unsigned flags, method, disk;
	struct bytes extra;
	const char *comment;
};

static void zip_entry(struct zip *z, struct zip_fields f)
{
	size_t comment_len = f.comment ? strlen(f.comment) : 0;

	add_text(&z->dir, "PK\1\2");
	add_int(&z->dir, 0, 4); /* versions */
	add_int(&z->dir, f.flags, 2);
	add_int(&z->dir, f.method, 2);
	add_int(&z->dir, 0, 8); /* time, date, CRC */
	add_int(&z->dir, f.stored, 4);
	add_int(&z->dir, f.size, 4);
	add_int(&z->dir, strlen(f.name), 2);
	add_int(&z->dir, f.extra.len, 2);
	add_int(&z->dir, comment_len, 2);
	add_int(&z->dir, f.disk, 2);
	add_int(&z->dir, 0, 6); /* attributes */
	add_int(&z->dir, f.record, 4);
	add_text(&z->dir, f.name);
	add(&z->dir, f.extra.p, f.extra.len);
	if (f.comment)
		add_text(&z->dir, f.comment);
	z->count++;
}

/* An entry of a stored record of n bytes. */
static void zip_stored(struct zip *z, const char *name, size_t n, size_t record)
{
	zip_entry(z, (struct zip_fields){ .name = name, .stored = (uint32_t)n, .size = (uint32_t)n, .record = (uint32_t)record });
}

/* A record of n bytes; where it stands. */
static size_t zip_record(struct zip *z, const char *name, size_t n, unsigned method)
{
	size_t at = z->b.len;

	add_text(&z->b, "PK\3\4");
	add_int(&z->b, 0, 4);
	add_int(&z->b, method, 2);
	add_int(&z->b, 0, 8);
	add_int(&z->b, 0, 8);
	add_int(&z->b, strlen(name), 2);
	add_int(&z->b, 0, 2);
	add_text(&z->b, name);
	for (size_t i = 0; i < n; i++)
		add(&z->b, "x", 1);
	return at;
}

static void zip_end(struct zip *z, const char *comment)
{
	size_t at = z->b.len;

	add(&z->b, z->dir.p, z->dir.len);
	add_text(&z->b, "PK\5\6");
	add_int(&z->b, 0, 4);
	add_int(&z->b, z->count, 2);
	add_int(&z->b, z->count, 2);
	add_int(&z->b, z->dir.len, 4);
	add_int(&z->b, at, 4);
	add_int(&z->b, strlen(comment), 2);
	add_text(&z->b, comment);
}

static void test_zip_comment(void **state)
{
	_cleanup_zip_ struct zip z = { 0 };

	zip_stored(&z, "a", 3, zip_record(&z, "a", 3, 0));
	zip_end(&z, "a comment with PK\5\6 in it");
	assert_whole("a.npz", &z.b);
	z.b.len--;
	assert_torn("a.npz", &z.b, "bytes after the zip end record");
}

static void test_zip_tail(void **state)
{
	_cleanup_bytes_ struct bytes b = sample("zip.pt");

	add_text(&b, "tail of a longer file");
	assert_torn("a.pt", &b, "bytes after the zip end record");
}

static void test_zip_twice(void **state)
{
	_cleanup_bytes_ struct bytes b = sample("zip.pt"), second = sample("zip.pt");

	add(&b, second.p, second.len);
	assert_torn("a.pt", &b, "no zip64 end record where one should be");
}

static void test_zip_empty(void **state)
{
	_cleanup_zip_ struct zip z = { 0 };

	zip_end(&z, "");
	assert_whole("a.npz", &z.b);
}

static void test_zip_order(void **state)
{
	static const unsigned order[] = { 3, 0, 4, 1, 2 };
	_cleanup_zip_ struct zip z = { 0 };
	size_t at[5];

	for (size_t i = 0; i < 5; i++)
		at[i] = zip_record(&z, "a", 100, 0);
	for (size_t i = 0; i < 5; i++)
		zip_stored(&z, "a", 100, at[order[i]]);
	zip_end(&z, "");
	assert_whole("a.npz", &z.b);
}

/* The gaps that are left between the records are too small to be kept. */
static void test_zip_backward(void **state)
{
	enum { N = 5000, RECORD = 31 + 10, GAP = 29 };
	_cleanup_zip_ struct zip z = { 0 };

	for (size_t i = 0; i < N; i++)
		zip_record(&z, "a", 10 + GAP, 0);
	for (size_t i = N; i-- > 0;)
		zip_stored(&z, "a", 10, i * (RECORD + GAP));
	zip_end(&z, "");
	assert_whole("a.npz", &z.b);
}

static void test_zip_wild_order(void **state)
{
	enum { N = 5000 };
	_cleanup_zip_ struct zip z = { 0 };
	static size_t at[N];

	for (size_t i = 0; i < N; i++)
		at[i] = zip_record(&z, "a", 10, 0);
	for (size_t i = 0; i < N; i++)
		zip_stored(&z, "a", 10, at[i * 2 % N + (i * 2 >= N)]);
	zip_end(&z, "");
	assert_torn("a.npz", &z.b, "zip records in too wild an order");
}

static void test_zip_overlap(void **state)
{
	for (int same = 0; same < 2; same++) {
		_cleanup_zip_ struct zip z = { 0 };
		size_t first = zip_record(&z, "a", 100, 0), inner;

		zip_stored(&z, "a", 100, first);
		z.b.len -= 50; /* what follows lies in the first one's data */
		inner = zip_record(&z, "b", 100, 0);
		zip_stored(&z, same ? "a" : "b", 100, same ? first : inner);
		zip_end(&z, "");
		assert_torn("a.npz", &z.b, "zip records share bytes");
	}
}

static void check_zip(struct zip *z, const char *reason)
{
	zip_end(z, "");
	if (reason)
		assert_torn("a.npz", &z->b, reason);
	else
		assert_whole("a.npz", &z->b);
}

/* Entries of a zip file of two records of 10 bytes each, the second at 41. */
static void test_zip_bounds(void **state)
{
	static const char elsewhere[] = "no zip record where the directory says", beyond[] = "zip record reaches into the directory";
	static const struct {
		struct zip_fields f;
		const char *reason;
	} cases[] = {
		{ { "b", 10, 10, 41, 0, 0, 0, { 0 }, NULL }, NULL },
		{ { "b", 10, 10, 41, 0, 0, 0, { 0 }, "comment" }, NULL },
		{ { "b", 9, 20, 41, 1, 0, 0, { 0 }, NULL }, NULL }, /* encrypted */
		{ { "b", 10, 20, 41, 0, 0, 0, { 0 }, NULL }, "zip record of two sizes" },
		{ { "b", 10, 20, 41, 0, 8, 0, { 0 }, NULL }, elsewhere },
		{ { "b", 11, 11, 41, 0, 0, 0, { 0 }, NULL }, beyond },
		{ { "b", UINT32_MAX - 1, UINT32_MAX - 1, 41, 0, 0, 0, { 0 }, NULL }, beyond },
		{ { "b", UINT32_MAX, 10, 41, 0, 0, 0, { 0 }, NULL }, "zip64 field missing" },
		{ { "b", 10, 10, 41, 0, 0, 1, { 0 }, NULL }, "zip record on another disk" },
		{ { "b", 10, 10, 40, 0, 0, 0, { 0 }, NULL }, elsewhere },
		{ { "b", 10, 10, 81, 0, 0, 0, { 0 }, NULL }, elsewhere },
		{ { "b", 10, 10, UINT32_MAX - 1, 0, 0, 0, { 0 }, NULL }, elsewhere },
		{ { "a", 10, 10, 41, 0, 0, 0, { 0 }, NULL }, elsewhere },
		{ { "bb", 10, 10, 41, 0, 0, 0, { 0 }, NULL }, elsewhere },
		{ { "", 10, 10, 41, 0, 0, 0, { 0 }, NULL }, "zip record without a name" },
		{ { "b", 0, 0, 41, 8, 0, 0, { 0 }, NULL }, beyond }, /* no room for a descriptor */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_zip_ struct zip z = { 0 };

		zip_stored(&z, "a", 10, zip_record(&z, "a", 10, 0));
		assert_int_equal(zip_record(&z, "b", 10, 0), 41);
		zip_entry(&z, cases[i].f);
		check_zip(&z, cases[i].reason);
	}
}

static void test_zip_descriptor(void **state)
{
	for (size_t n = 11; n <= 12; n++) {
		_cleanup_zip_ struct zip z = { 0 };

		zip_record(&z, "a", 10 + n, 0);
		zip_entry(&z, (struct zip_fields){ .name = "a", .stored = 10, .size = 10, .flags = 8 });
		check_zip(&z, n == 12 ? NULL : "zip record reaches into the directory");
	}
}

/* A record whose header would end in the directory. */
static void test_zip_header_bounds(void **state)
{
	_cleanup_zip_ struct zip z = { 0 };
	size_t at;

	zip_record(&z, "a", 20, 0);
	at = zip_record(&z, "P", 0, 0);
	z.b.len = at + 30; /* the name is the P that the directory begins with */
	zip_stored(&z, "P", 0, at);
	check_zip(&z, "no zip record where the directory says");
}

static void test_zip_extra(void **state)
{
	_cleanup_zip_ struct zip z = { 0 };
	_cleanup_bytes_ struct bytes extra = { 0 };
	size_t at;

	zip_stored(&z, "a", 10, zip_record(&z, "a", 10, 0));
	at = zip_record(&z, "b", 3, 0);
	z.b.p[at + 28] = 50; /* of padding, as torch aligns its records */
	for (int i = 0; i < 50; i++)
		add(&z.b, "Z", 1);
	add_text(&extra, "FB\3");
	add(&extra, "\0ZZZ", 4);
	zip_entry(&z, (struct zip_fields){ .name = "b", .stored = 3, .size = 3, .record = (uint32_t)at, .extra = extra });
	check_zip(&z, NULL);
	z.b.p[at + 28]++;
	assert_torn("a.npz", &z.b, "zip record reaches into the directory");
}

/* A field of id 1 and len bytes, of which what is there is 10, 10, 41 and disk. */
static struct bytes extra64(unsigned id, size_t len, unsigned disk)
{
	struct bytes b = { 0 };

	add(&b, "\2\0\1\0x", 5); /* another one before it */
	add_int(&b, id, 2);
	add_int(&b, len, 2);
	add_int(&b, 10, 8);
	add_int(&b, 10, 8);
	add_int(&b, 41, 8);
	add_int(&b, disk, 4);
	b.len = 9 + MIN(len, 28u);
	return b;
}

static void test_zip64_entry(void **state)
{
	static const char missing[] = "zip64 field missing", disk[] = "zip record on another disk";
	static const uint32_t F = UINT32_MAX;
	const struct {
		uint32_t size, stored, record;
		unsigned disk, id;
		size_t len;
		unsigned disk64;
		const char *reason;
	} cases[] = {
		{ F, F, F, 0, 1, 24, 0, NULL },
		{ F, F, 41, 0, 1, 16, 0, NULL },
		{ F, 10, 41, 0, 1, 8, 0, NULL },
		{ 10, F, 41, 0, 1, 8, 0, NULL },
		{ F, F, F, UINT16_MAX, 1, 28, 0, NULL },
		{ F, F, F, UINT16_MAX, 1, 28, 1, disk },
		{ F, F, F, UINT16_MAX, 1, 24, 0, disk },
		{ F, F, F, 1, 1, 28, 0, disk },
		{ F, F, F, 0, 1, 23, 0, missing },
		{ F, F, F, 0, 1, 7, 0, missing },
		{ F, F, F, 0, 1, 29, 0, missing }, /* longer than all extra fields */
		{ F, F, F, 0, 2, 24, 0, missing },
		{ 10, 10, F, 0, 1, 24, 0, "no zip record where the directory says" },
		{ 10, 10, 41, 0, 1, 7, 0, NULL }, /* nobody asks for it */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_zip_ struct zip z = { 0 };
		_cleanup_bytes_ struct bytes extra = extra64(cases[i].id, cases[i].len, cases[i].disk64);

		zip_stored(&z, "a", 10, zip_record(&z, "a", 10, 0));
		assert_int_equal(zip_record(&z, "b", 10, 0), 41);
		zip_entry(&z, (struct zip_fields){ .name = "b",
						   .stored = cases[i].stored,
						   .size = cases[i].size,
						   .record = cases[i].record,
						   .disk = cases[i].disk,
						   .extra = extra });
		check_zip(&z, cases[i].reason);
	}
}

static void test_zip_end_fields(void **state)
{
	_cleanup_zip_ struct zip z = { 0 };

	zip_stored(&z, "a", 10, zip_record(&z, "a", 10, 0));
	zip_stored(&z, "b", 10, zip_record(&z, "b", 10, 0));
	zip_end(&z, "");
	assert_each_counts("a.npz", &z.b, z.b.len - 22, 22);
}

static void test_zip_many(void **state)
{
	enum { N = 20000 }; /* the directory is larger than the window */
	_cleanup_zip_ struct zip z = { 0 };
	char name[32];

	for (size_t i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "archive/data/%zu", i);
		zip_stored(&z, name, i % 7, zip_record(&z, name, i % 7, 0));
	}
	zip_end(&z, "");
	assert_whole("a.pt", &z.b);
	z.b.p[z.b.len - 22 - 40] ^= 0xff; /* in the last entry */
	assert_non_null(why("a.pt", z.b.p, z.b.len));
}

static struct bytes tensors(const char *header, size_t n)
{
	struct bytes b = { 0 };

	add_int(&b, strlen(header), 8);
	add_text(&b, header);
	for (size_t i = 0; i < n; i++)
		add(&b, "x", 1);
	return b;
}

#define TENSOR(name, dtype, shape, offsets) \
	"\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

struct tensors_case {
	const char *header;
	size_t n;
};

static void test_tensors_whole(void **state)
{
	static const struct tensors_case cases[] = {
		{ "{}", 0 },
		{ "{} \n\t ", 0 },
		{ "{" TENSOR("a", "U8", "[8]", "[0,8]") "}", 8 },
		{ " { " TENSOR("a", "F32", "[ 2 , 1 ]", "[ 0 , 8 ]") " } ", 8 },
		{ "{" TENSOR("a", "F64", "[]", "[0,8]") "}", 8 },
		{ "{" TENSOR("b", "BF16", "[2]", "[4,8]") "," TENSOR("a", "I32", "[1]", "[0,4]") "}", 8 },
		{ "{" TENSOR("a", "U8", "[8]", "[0,8]") "," TENSOR("z", "F32", "[0,4]", "[8,8]") "}", 8 },
		{ "{" TENSOR("a", "F4", "[4]", "[0,2]") "}", 2 },
		{ "{" TENSOR("a", "NEW_TYPE", "[4]", "[0,3]") "}", 3 },
		{ "{\"__metadata__\":{\"a\":\"\\\"\\uafAF\\\\{\"}," TENSOR("a", "U8", "[1]", "[0,1]") "}", 1 },
		{ "{\"a\":{\"x\":[1,-2.5e3,null,{\"y\":true}],\"shape\":[1],\"data_offsets\":[0,1],\"dtype\":\"I8\"}}", 1 },
		{ "{" TENSOR("\\u0061 very long name of a tensor, with escapes \\n", "U8", "[1]", "[0,1]") "}", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_bytes_ struct bytes b = tensors(cases[i].header, cases[i].n);
		const char *reason = why("a.safetensors", b.p, b.len);

		if (reason)
			fail_msg("%s: %s", cases[i].header, reason);
	}
}

static void test_tensors_tiling(void **state)
{
	static const struct tensors_case cases[] = {
		{ "{}", 1 },
		{ "{" TENSOR("a", "U8", "[8]", "[0,8]") "}", 9 },
		{ "{" TENSOR("a", "U8", "[7]", "[1,8]") "}", 8 },
		{ "{" TENSOR("a", "U8", "[4]", "[0,4]") "," TENSOR("b", "U8", "[3]", "[5,8]") "}", 8 },
		{ "{" TENSOR("a", "U8", "[5]", "[0,5]") "," TENSOR("b", "U8", "[4]", "[4,8]") "}", 8 },
		{ "{" TENSOR("a", "U8", "[4]", "[0,4]") "," TENSOR("b", "U8", "[4]", "[0,4]") "}", 8 },
		{ "{" TENSOR("a", "U8", "[4]", "[0,4]") "," TENSOR("b", "U8", "[4]", "[2,6]") "}", 8 },
		{ "{" TENSOR("a", "U8", "[8]", "[0,8]") "," TENSOR("b", "U8", "[8]", "[0,8]") "}", 8 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_bytes_ struct bytes b = tensors(cases[i].header, cases[i].n);

		assert_torn("a.safetensors", &b, "tensors do not fill the file");
	}
}

static void test_tensors_bounds(void **state)
{
	static const struct tensors_case outside[] = {
		{ "{" TENSOR("a", "U8", "[8]", "[0,8]") "}", 7 },
		{ "{" TENSOR("a", "U8", "[8]", "[8,0]") "}", 8 },
		{ "{" TENSOR("a", "X", "[8]", "[0,18446744073709551615]") "}", 8 },
	};
	static const struct tensors_case shapes[] = {
		{ "{" TENSOR("a", "U8", "[7]", "[0,8]") "}", 8 },
		{ "{" TENSOR("a", "F32", "[8]", "[0,8]") "}", 8 },
		{ "{" TENSOR("a", "F4", "[3]", "[0,2]") "}", 2 },
		{ "{" TENSOR("a", "F64", "[2305843009213693953]", "[0,8]") "}", 8 },
	};
	_cleanup_bytes_ struct bytes many = tensors("{" TENSOR("a", "U8", "[4294967296,4294967296]", "[0,8]") "}", 8);

	for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
		_cleanup_bytes_ struct bytes b = tensors(outside[i].header, outside[i].n);

		assert_torn("a.safetensors", &b, "tensor outside of the file");
	}
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		_cleanup_bytes_ struct bytes b = tensors(shapes[i].header, shapes[i].n);

		assert_torn("a.safetensors", &b, "tensor whose shape does not give its length");
	}
	assert_torn("a.safetensors", &many, "tensor of too many elements");
}

static void test_tensors_json(void **state)
{
	static const char *const bad[] = {
		"", " ", "[]", "{", "}", "{}x", "{}{}", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1}", "{\"a\":{}}", "{a:1}",
		"{" TENSOR("a", "U8", "[0]", "[0,0]") ",}",
		"{" TENSOR("a", "U8", "[0]", "[0,0]") " " TENSOR("b", "U8", "[0]", "[0,0]") "}",
		"{" TENSOR("a", "U8", "[0]", "[0]") "}",
		"{" TENSOR("a", "U8", "[0]", "[0,0,0]") "}",
		"{" TENSOR("a", "U8", "[0,]", "[0,0]") "}",
		"{" TENSOR("a", "U8", "[00]", "[0,0]") "}",
		"{" TENSOR("a", "U8", "[-0]", "[0,0]") "}",
		"{" TENSOR("a", "U8", "[0.0]", "[0,0]") "}",
		"{" TENSOR("a", "U8", "0", "[0,0]") "}",
		"{" TENSOR("a", "U8", "[0]", "[18446744073709551616,0]") "}",
		"{" TENSOR("a", "U8", "[0]", "[0,0],\"shape\":[0]") "}",
		"{\"a\":{\"dtype\":1,\"shape\":[0],\"data_offsets\":[0,0]}}",
		"{\"a\":{\"shape\":[0],\"data_offsets\":[0,0]}}",
		"{\"__metadata__\":{\"a\":\"\\x\"}}",
		"{\"__metadata__\":{\"a\":\"\\u00g0\"}}",
		"{\"__metadata__\":{\"a\":\"\n\"}}",
		"{\"__metadata__\":{\"a\":}}",
		"{\"__metadata__\":[1}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_bytes_ struct bytes b = tensors(bad[i], 0);
		const char *reason = why("a.safetensors", b.p, b.len);

		if (!reason || strcmp(reason, "safetensors header does not parse") != 0)
			fail_msg("%s: %s", bad[i], reason ? reason : "whole");
	}
}

static void test_tensors_depth(void **state)
{
	_cleanup_bytes_ struct bytes b = { 0 };
	enum { DEPTH = 100000 };

	add_int(&b, 16 + DEPTH, 8);
	add_text(&b, "{\"__metadata__\":");
	for (int i = 0; i < DEPTH; i++)
		add_text(&b, "[");
	assert_torn("a.safetensors", &b, "safetensors header does not parse");
}

static void test_tensors_large_header(void **state)
{
	enum { N = 20000 }; /* several times the window */
	_cleanup_bytes_ struct bytes header = { 0 };
	_cleanup_bytes_ struct bytes b = { 0 };
	char text[128];

	for (unsigned i = 0; i < N; i++) {
		snprintf(text, sizeof(text), "%c" TENSOR("layer.%u", "F32", "[1]", "[%u,%u]"), i ? ',' : '{', i, 4 * i, 4 * i + 4);
		add_text(&header, text);
	}
	add_text(&header, "}");
	add_int(&b, header.len, 8);
	add(&b, header.p, header.len);
	for (unsigned i = 0; i < N; i++)
		add_int(&b, i, 4);
	assert_whole("a.safetensors", &b);
	b.len--;
	assert_torn("a.safetensors", &b, "tensor outside of the file");
}

static void test_tensors_header_length(void **state)
{
	_cleanup_bytes_ struct bytes b = tensors("{}", 0);

	put_int(b.p, UINT64_MAX, 8);
	assert_torn("a.safetensors", &b, "safetensors header over 100 MB");
	put_int(b.p, 100000001, 8);
	assert_torn("a.safetensors", &b, "safetensors header over 100 MB");
	put_int(b.p, 3, 8);
	assert_torn("a.safetensors", &b, "ends in its safetensors header");
}

static void test_parquet(void **state)
{
	_cleanup_bytes_ struct bytes b = sample("d.parquet");

	assert_each_counts("a.parquet", &b, 0, 4);
	assert_each_counts("a.parquet", &b, b.len - 4, 4);
	assert_whole("a", &b);
	put_int(b.p + b.len - 8, b.len - 12, 4);
	assert_whole("a.parquet", &b);
	put_int(b.p + b.len - 8, b.len - 11, 4);
	assert_torn("a", &b, "Parquet footer larger than the file");
	put_int(b.p + b.len - 8, 0, 4);
	assert_torn("a.parquet", &b, "Parquet without a footer");
	put_int(b.p + b.len - 8, 20, 4);
	b.p[3] = b.p[b.len - 1] = 'E'; /* encrypted */
	assert_whole("a.parquet", &b);
}

static void test_hdf5(void **state)
{
	_cleanup_bytes_ struct bytes v0 = sample("v0.weights.h5"), v3 = sample("v3.weights.h5");
	uint8_t v1[96] = "\x89HDF\r\n\x1a\n\1";

	assert_int_equal(get_int(v0.p + 24 + 16, 8), v0.len);
	assert_int_equal(get_int(v3.p + 12 + 16, 8), v3.len);
	assert_each_counts("a.weights.h5", &v0, 0, 8);
	v0.p[24 + 16]++;
	assert_torn("a.weights.h5", &v0, "shorter than its HDF5 superblock says");
	assert_torn("a.keras", &v0, "shorter than its HDF5 superblock says");
	v0.p[24 + 16]--;
	v0.p[24 + 20] = 1; /* the upper half of the address */
	assert_torn("a.weights.h5", &v0, "shorter than its HDF5 superblock says");
	v3.p[8] = 2;
	v3.p[11] |= 1; /* says nothing there */
	assert_whole("a.weights.h5", &v3);
	v3.p[12 + 16]++;
	assert_torn("a.weights.h5", &v3, "shorter than its HDF5 superblock says");
	v3.p[12 + 16]--;
	v3.p[8] = 3;
	assert_torn("a.weights.h5", &v3, "HDF5 file that its writer did not close");
	v3.p[8] = 4;
	assert_torn("a.weights.h5", &v3, "HDF5 superblock of an unknown version");
	v1[13] = 4;
	put_int(v1 + 28 + 8, 96, 4);
	assert_null(why("a.weights.h5", v1, sizeof(v1)));
	put_int(v1 + 28 + 8, 97, 4);
	assert_non_null(why("a.weights.h5", v1, sizeof(v1)));
	v1[13] = 3;
	assert_string_equal(why("a.weights.h5", v1, sizeof(v1)), "HDF5 addresses of an unknown length");
}

static void test_others(void **state)
{
	static const char *const weights[] = { "a.pt", "a.pth", "a.ckpt", "a.bin", "a.safetensors", "a.npz", "a.keras",
					       "a.weights.h5", "a.parquet" };
	uint8_t *zeros = calloc(1, 10000);

	assert_non_null(zeros);
	assert_string_equal(why("a.txt", "", 0), "empty");
	assert_string_equal(why("a.pt", "", 0), "empty");
	assert_null(why("a.txt", zeros, 10000));
	assert_null(why("P", "P", 1));
	for (size_t i = 0; i < ARRAY_SIZE(weights); i++)
		assert_non_null(why(weights[i], zeros, 10000));
	assert_string_equal(why("a.pt", zeros, 1), "begins with nothing but zeros");
	zeros[0] = 1;
	assert_null(why("a.pt", zeros, 10000));
	zeros[0] = 0;
	zeros[4095] = 1;
	assert_null(why("a.pt", zeros, 10000));
	zeros[4095] = 0;
	zeros[4096] = 1;
	assert_string_equal(why("a.pt", zeros, 10000), "begins with nothing but zeros");
	free(zeros);
}

static void test_errors(void **state)
{
	_cleanup_close_ int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *reason = "unset";
	bool whole = true;

	assert_true(dir >= 0);
	assert_int_equal(format_whole(-1, 100, "a.pt", &whole, &reason), -EBADF);
	assert_int_equal(format_whole(dir, 100, "a.npz", &whole, &reason), -EISDIR);
	assert_true(whole);
	assert_string_equal(reason, "unset");
}

static void test_shrunk(void **state)
{
	_cleanup_bytes_ struct bytes b = sample("zip.pt");
	FILE *f = tmpfile();
	const char *reason;
	bool whole = true;

	assert_non_null(f);
	assert_int_equal(pwrite(fileno(f), b.p, b.len / 2, 0), (ssize_t)b.len / 2);
	assert_int_equal(format_whole(fileno(f), b.len, "a.pt", &whole, &reason), 0);
	assert_false(whole);
	assert_string_equal(reason, "shorter than its size");
	fclose(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("what real writers closed is whole", test_samples),
		TEST("what is cut at any length is not whole", test_cuts),
		TEST("what became zeros is not whole", test_zeros),
		TEST("every field of a zip file that says where things are counts", test_zip_fields),
		TEST("the content of a zip record is not looked at", test_zip_content),
		TEST("a zip file is known by its first bytes, except in torch DCP", test_zip_by_magic),
		TEST("npz and keras have to be zip files", test_zip_demanded),
		TEST("a zip file may have a comment", test_zip_comment),
		TEST("a zip file with the tail of a longer one is not whole", test_zip_tail),
		TEST("two zip files in one are not whole", test_zip_twice),
		TEST("a zip file of no records is whole", test_zip_empty),
		TEST("zip records may stand in another order than the directory's", test_zip_order),
		TEST("zip records may stand in reverse, however many", test_zip_backward),
		TEST("zip records in a wild order cost no more memory", test_zip_wild_order),
		TEST("zip records that overlap are not whole", test_zip_overlap),
		TEST("a zip entry that disagrees with its record is not whole", test_zip_bounds),
		TEST("a zip record ends before its descriptor, and that before the directory", test_zip_descriptor),
		TEST("the header of a zip record ends before the directory", test_zip_header_bounds),
		TEST("zip records and entries may have extra fields", test_zip_extra),
		TEST("zip64 fields take the place of what does not fit", test_zip64_entry),
		TEST("every field of a zip end record counts", test_zip_end_fields),
		TEST("a zip directory may be larger than the memory that reads it", test_zip_many),
		TEST("safetensors with a header that explains the length are whole", test_tensors_whole),
		TEST("tensors with holes or overlaps are not whole", test_tensors_tiling),
		TEST("tensors out of bounds or of another length than their shape are not whole", test_tensors_bounds),
		TEST("a safetensors header that is no JSON is not whole", test_tensors_json),
		TEST("a safetensors header may not nest without end", test_tensors_depth),
		TEST("a safetensors header may be larger than the memory that reads it", test_tensors_large_header),
		TEST("the length of a safetensors header is bounded", test_tensors_header_length),
		TEST("Parquet needs its magic at both ends and its footer", test_parquet),
		TEST("HDF5 is as long as its superblock says, and closed", test_hdf5),
		TEST("other files are whole when they are not empty, weights when not zero", test_others),
		TEST("an error of the disk is neither whole nor torn", test_errors),
		TEST("a file shorter than its size is not whole", test_shrunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
