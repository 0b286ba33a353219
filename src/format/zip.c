/* Whether a zip file has all of its parts.
 *
 *   record…                 "PK\3\4", 26 bytes, name, extra, data
 *                           [data descriptor of 12 to 24 bytes]
 *   directory entry…        "PK\1\2", 42 bytes, name, extra, comment
 *   [zip64 end record       "PK\6\6", u64 length of what follows, 44 bytes …
 *    zip64 locator]         "PK\6\7", disk, u64 where the end record is, disks
 *   end record              "PK\5\6", 18 bytes, comment up to the end of file
 *
 * The directory has to fill the space up to the end record, each of its entries
 * has to name a record before it, and no two records may share bytes. Sizes
 * count as the directory gives them: torch writes zeros into the records and
 * the sizes into descriptors. Content is neither read nor unpacked.
 *
 * That no two share bytes is kept by a list of the space that is still free, in
 * which each record takes its place. Pieces too small for any record are
 * dropped, so that the list has one piece where records stand in the order of
 * the directory, as all known writers put them, and stays short elsewhere. */
#include "format/zip.h"

#include <string.h>

#include "util/util.h"

#define RECORD_LEN 30u
#define ENTRY_LEN 46u
#define END_LEN 22u
#define LOCATOR_LEN 20u
#define END64_LEN 56u
#define DESCRIPTOR_LEN 12u
#define COMMENT_MAX 65535u

#define FLAG_ENCRYPTED 0x0001u
#define FLAG_DESCRIPTOR 0x0008u
#define METHOD_STORED 0u
#define METHOD_DEFLATED 8u

#define PIECES 1024u

struct piece {
	uint64_t begin, end;
};

struct directory {
	zip_record_fn fn;
	void *arg;
	uint64_t at, size, count;
	uint64_t end_record; /* what follows it: the zip64 end record, if there is one */
	struct piece pieces[PIECES];
	size_t n_pieces;
};

struct entry {
	unsigned flags, method;
	uint64_t stored, size, record; /* bytes in the file, unpacked, where */
	const uint8_t *name;
	size_t name_len;
};

static int take_space(struct window *w, struct directory *d, uint64_t begin, uint64_t end)
{
	struct piece *p = d->pieces, *last = d->pieces + d->n_pieces, rest;

	while (p < last && (begin < p->begin || end > p->end))
		p++;
	if (p == last)
		return window_bad(w, "zip records share bytes");
	rest = (struct piece){ end, p->end };
	p->end = begin;
	if (p->end - p->begin < RECORD_LEN) {
		*p = *--last;
		d->n_pieces--;
	}
	if (rest.end - rest.begin >= RECORD_LEN) {
		if (d->n_pieces == PIECES)
			return window_bad(w, "zip records in too wild an order");
		d->pieces[d->n_pieces++] = rest;
	}
	return 0;
}

/* Where the end record is: it ends, with its comment, where the file does. */
static int find_end(struct window *w, uint64_t *ret)
{
	size_t n = (size_t)MIN(w->size, END_LEN + COMMENT_MAX);
	const uint8_t *tail;
	bool seen = false;
	int r;

	if (n < END_LEN)
		return window_bad(w, "no zip end record");
	r = window_get(w, w->size - n, n, &tail);
	if (r < 0)
		return r;
	for (size_t at = n - END_LEN + 1; at-- > 0;) {
		if (memcmp(tail + at, "PK\5\6", 4) != 0)
			continue;
		seen = true;
		if (le16(tail + at + 20) == n - END_LEN - at) {
			*ret = w->size - n + at;
			return 0;
		}
	}
	return window_bad(w, seen ? "bytes after the zip end record" : "no zip end record");
}

/* A field of the end record agrees with the zip64 one, or leaves it to that. */
static bool agrees(uint64_t field, uint64_t field64, uint64_t all_ones)
{
	return field == field64 || field == all_ones;
}

static int read_end64(struct window *w, uint64_t end, const uint8_t *e, const uint8_t *locator, struct directory *d)
{
	uint64_t at = le64(locator + 8), locator_at = end - LOCATOR_LEN;
	uint8_t e64[END64_LEN];
	int r;

	if (at > locator_at || locator_at - at < END64_LEN)
		return window_bad(w, "no zip64 end record where one should be");
	r = window_read(w, at, e64, sizeof(e64));
	if (r < 0)
		return r;
	if (memcmp(e64, "PK\6\6", 4) != 0 || le64(e64 + 4) != locator_at - at - 12)
		return window_bad(w, "no zip64 end record where one should be");
	d->end_record = at;
	d->count = le64(e64 + 32);
	d->size = le64(e64 + 40);
	d->at = le64(e64 + 48);
	if (le32(locator + 4) != 0 || le32(locator + 16) > 1 || le32(e64 + 16) != 0 || le32(e64 + 20) != 0 ||
	    le64(e64 + 24) != d->count || !agrees(le16(e + 4), 0, UINT16_MAX) || !agrees(le16(e + 6), 0, UINT16_MAX) ||
	    !agrees(le16(e + 8), d->count, UINT16_MAX) || !agrees(le16(e + 10), d->count, UINT16_MAX) ||
	    !agrees(le32(e + 12), d->size, UINT32_MAX) || !agrees(le32(e + 16), d->at, UINT32_MAX))
		return window_bad(w, "zip end records contradict each other");
	return 0;
}

static int read_end(struct window *w, struct directory *d)
{
	uint8_t e[END_LEN], locator[LOCATOR_LEN];
	uint64_t end;
	int r;

	r = find_end(w, &end);
	if (r < 0)
		return r;
	r = window_read(w, end, e, sizeof(e));
	if (r < 0)
		return r;
	if (end >= LOCATOR_LEN) {
		r = window_read(w, end - LOCATOR_LEN, locator, sizeof(locator));
		if (r < 0)
			return r;
		if (memcmp(locator, "PK\6\7", 4) == 0)
			return read_end64(w, end, e, locator, d);
	}
	d->end_record = end;
	d->count = le16(e + 10);
	d->size = le32(e + 12);
	d->at = le32(e + 16);
	if (le16(e + 4) != 0 || le16(e + 6) != 0 || le16(e + 8) != d->count)
		return window_bad(w, "zip end record of a part of an archive");
	return 0;
}

/* What the entry leaves to its zip64 extra field, in the field's order. */
static int read_extra(struct window *w, const uint8_t *extra, size_t len, unsigned disk, struct entry *e)
{
	uint64_t *const wanted[] = { &e->size, &e->stored, &e->record };
	const uint8_t *p = NULL;
	size_t n = 0;

	if (e->size != UINT32_MAX && e->stored != UINT32_MAX && e->record != UINT32_MAX)
		return disk == 0 ? 0 : window_bad(w, "zip record on another disk");
	while (len >= 4 && !p) {
		n = le16(extra + 2);
		if (n > len - 4)
			break;
		if (le16(extra) == 1)
			p = extra + 4;
		extra += 4 + n;
		len -= 4 + n;
	}
	if (!p)
		return window_bad(w, "zip64 field missing");
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		if (*wanted[i] != UINT32_MAX)
			continue;
		if (n < 8)
			return window_bad(w, "zip64 field missing");
		*wanted[i] = le64(p);
		p += 8;
		n -= 8;
	}
	if (disk == UINT16_MAX && n >= 4)
		disk = le32(p);
	return disk == 0 ? 0 : window_bad(w, "zip record on another disk");
}

static int check_record(struct window *w, struct directory *d, const struct entry *e)
{
	uint8_t record[RECORD_LEN + 226];
	uint64_t begin, end;
	bool plain;
	size_t n;
	int r;

	if (e->record > d->at || d->at - e->record < RECORD_LEN + e->name_len)
		return window_bad(w, "no zip record where the directory says");
	n = MIN(sizeof(record), RECORD_LEN + e->name_len);
	r = window_read(w, e->record, record, n);
	if (r < 0)
		return r;
	if (memcmp(record, "PK\3\4", 4) != 0 || le16(record + 8) != e->method || le16(record + 26) != e->name_len ||
	    memcmp(record + RECORD_LEN, e->name, n - RECORD_LEN) != 0)
		return window_bad(w, "no zip record where the directory says");
	begin = e->record + RECORD_LEN + e->name_len + le16(record + 28);
	if (begin > d->at || e->stored > d->at - begin)
		return window_bad(w, "zip record reaches into the directory");
	end = begin + e->stored;
	if (e->flags & FLAG_DESCRIPTOR) {
		if (d->at - end < DESCRIPTOR_LEN)
			return window_bad(w, "zip record reaches into the directory");
		end += DESCRIPTOR_LEN;
	}
	plain = e->method == METHOD_STORED && !(e->flags & FLAG_ENCRYPTED);
	if (plain && e->stored != e->size)
		return window_bad(w, "zip record of two sizes");
	r = take_space(w, d, e->record, end);
	if (r < 0 || !d->fn)
		return r;
	return d->fn(d->arg, &(struct zip_record){ .name = e->name, .name_len = e->name_len, .at = begin, .len = e->stored,
						   .plain = plain, .size = e->size,
						   .deflated = e->method == METHOD_DEFLATED && !(e->flags & FLAG_ENCRYPTED) });
}

/* The entry of the directory at *at, which moves on to the next one. */
static int check_entry(struct window *w, struct directory *d, uint64_t *at)
{
	struct entry e;
	const uint8_t *p;
	size_t extra_len, len;
	int r;

	r = window_get(w, *at, ENTRY_LEN, &p);
	if (r < 0)
		return r;
	if (memcmp(p, "PK\1\2", 4) != 0)
		return window_bad(w, "zip directory does not fill its place");
	e.name_len = le16(p + 28);
	extra_len = le16(p + 30);
	len = ENTRY_LEN + e.name_len + extra_len + le16(p + 32);
	if (e.name_len == 0)
		return window_bad(w, "zip record without a name");
	r = window_get(w, *at, len, &p);
	if (r < 0)
		return r;
	e.flags = le16(p + 8);
	e.method = le16(p + 10);
	e.stored = le32(p + 20);
	e.size = le32(p + 24);
	e.record = le32(p + 42);
	e.name = p + ENTRY_LEN;
	r = read_extra(w, e.name + e.name_len, extra_len, le16(p + 34), &e);
	if (r < 0)
		return r;
	*at += len;
	return check_record(w, d, &e);
}

int zip_each(struct window *w, zip_record_fn fn, void *arg)
{
	struct directory d = { .fn = fn, .arg = arg };
	uint64_t at;
	int r;

	r = read_end(w, &d);
	if (r < 0)
		return r;
	if (d.size > d.end_record || d.at != d.end_record - d.size)
		return window_bad(w, "no zip directory before the end record");
	if (d.count > d.size / ENTRY_LEN)
		return window_bad(w, "zip directory too small for its entries");
	d.pieces[0] = (struct piece){ 0, d.at };
	d.n_pieces = 1;
	at = d.at;
	for (uint64_t i = 0; i < d.count; i++) {
		r = check_entry(w, &d, &at);
		if (r < 0)
			return r;
	}
	return at == d.end_record ? 0 : window_bad(w, "zip directory does not fill its place");
}

int zip_check(struct window *w)
{
	return zip_each(w, NULL, NULL);
}
