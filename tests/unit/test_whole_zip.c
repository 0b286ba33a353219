/* Zip files: the sample in tests/data/format is of torch; the rest is built here. */
#include "whole.h"

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

int main(void)
{
	static const struct CMUnitTest tests[] = {
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
