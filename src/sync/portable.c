#include "sync/portable.h"

#include <jansson.h>
#include <locale.h>
#include <string.h>
#include <strings.h>
#include <wctype.h>

#include "format/utf8.h"
#include "util/hex.h"
#include "util/util.h"

/* Which letters are written as bytes, beside what has to be: of which number, or */
#define LETTERS_NONE SIZE_MAX
#define LETTERS_ALL (SIZE_MAX - 1)

static void cleanup_json(json_t **j)
{
	json_decref(*j);
}

static locale_t characters;

/* Without it letters of ASCII alone have cases. */
static void load_characters(void)
{
	characters = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static wint_t fold_character(wint_t c)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load_characters);
	if (characters)
		return towlower_l(towupper_l(c, characters), characters);
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool has_case(wint_t c)
{
	return fold_character(c) != c || (characters ? towupper_l(c, characters) != c : c >= 'a' && c <= 'z');
}

/* CON, and with a 1, ², … behind it COM; blanks and an extension do not help. */
static bool is_device(const char *name)
{
	static const char *const plain[] = { "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$" };
	size_t len = strcspn(name, ".");

	while (len > 0 && name[len - 1] == ' ')
		len--;
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (len == strlen(plain[i]) && !strncasecmp(name, plain[i], len))
			return true;
	if (strncasecmp(name, "COM", 3) != 0 && strncasecmp(name, "LPT", 3) != 0)
		return false;
	return (len == 4 && name[3] >= '0' && name[3] <= '9') ||
	       (len == 5 && (!strncmp(name + 3, "¹", 2) || !strncmp(name + 3, "²", 2) || !strncmp(name + 3, "³", 2)));
}

/* Is the character at name[at], which is no letter to be written so, refused there? */
static bool is_refused(const char *name, size_t len, size_t at)
{
	unsigned char c = (unsigned char)name[at];

	if (c < 0x20 || c == 0x7f || strchr(":?*\"<>|\\", c))
		return true;
	if (c == '%')
		return at + 2 < len && hex_digit(name[at + 1]) >= 0 && hex_digit(name[at + 2]) >= 0;
	if (at == 0 && (c == ' ' || is_device(name) || !strncmp(name, PORTABLE_PART, strlen(PORTABLE_PART))))
		return true;
	return at == len - 1 && (c == '.' || c == ' ');
}

static size_t put_bytes(const char *from, size_t n, char *to)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)from[i];

		to[3 * i] = '%';
		to[3 * i + 1] = "0123456789ABCDEF"[c >> 4];
		to[3 * i + 2] = "0123456789ABCDEF"[c & 15];
	}
	return 3 * n;
}

/* *ret is of any length. */
static int encode(const char *name, size_t letters, char **ret)
{
	size_t len = strlen(name), out = 0, letter = 0;
	_cleanup_free_ char *to = malloc(3 * len + 1);

	if (!to)
		return -ENOMEM;
	for (size_t at = 0, n; at < len; at += n) {
		uint32_t c = 0;
		bool as_bytes;

		n = utf8_get(name + at, len - at, &c);
		as_bytes = n == 0 || is_refused(name, len, at);
		n = MAX(n, (size_t)1);
		if (has_case((wint_t)c))
			as_bytes |= letters == LETTERS_ALL || letters == letter++;
		if (as_bytes)
			out += put_bytes(name + at, n, to + out);
		else
			out = (size_t)((char *)mempcpy(to + out, name + at, n) - to);
	}
	to[out] = 0;
	*ret = steal(&to);
	return 0;
}

static size_t count_letters(const char *name)
{
	size_t len = strlen(name), n = 0;

	for (size_t at = 0; at < len;) {
		uint32_t c = 0;

		at += MAX(utf8_get(name + at, len - at, &c), (size_t)1);
		n += has_case((wint_t)c);
	}
	return n;
}

int portable_map(const char *name, char **ret)
{
	_cleanup_free_ char *mapped = NULL;
	int r = encode(name, LETTERS_NONE, &mapped);

	if (r < 0)
		return r;
	if (strlen(mapped) > PORTABLE_MAX)
		return -ENAMETOOLONG;
	*ret = steal(&mapped);
	return 0;
}

/* Of what encode() gave: equal where a folder that knows no cases sees one name. */
static char *fold(const char *mapped)
{
	size_t len = strlen(mapped), out = 0;
	char *to = malloc(len * UTF8_MAX + 1);

	if (!to)
		return NULL;
	for (size_t at = 0; at < len;) {
		uint32_t c = 0;

		at += MAX(utf8_get(mapped + at, len - at, &c), (size_t)1);
		out += utf8_put(to + out, (uint32_t)fold_character((wint_t)c));
	}
	to[out] = 0;
	return to;
}

/* 1: *ret is a name that no other has, and is in taken now; 0: it cannot be used. */
static int try_letters(json_t *taken, const char *name, size_t letters, char **ret)
{
	_cleanup_free_ char *mapped = NULL, *folded = NULL;
	int r = encode(name, letters, &mapped);

	if (r < 0)
		return r;
	if (!*mapped || strlen(mapped) > PORTABLE_MAX)
		return 0;
	folded = fold(mapped);
	if (!folded)
		return -ENOMEM;
	if (json_object_get(taken, folded))
		return 0;
	if (json_object_set_new(taken, folded, json_true()) < 0)
		return -ENOMEM;
	*ret = steal(&mapped);
	return 1;
}

static int find_free(json_t *taken, const char *name, char **ret)
{
	int r = try_letters(taken, name, LETTERS_NONE, ret);
	size_t n = r == 0 ? count_letters(name) : 0;

	for (size_t letter = 0; r == 0 && letter < n; letter++)
		r = try_letters(taken, name, letter, ret);
	return r == 0 ? try_letters(taken, name, LETTERS_ALL, ret) : r;
}

struct place {
	const char *name;
	size_t i;
};

static int by_bytes(const void *a, const void *b)
{
	return strcmp(((const struct place *)a)->name, ((const struct place *)b)->name);
}

int portable_map_all(const char *const *names, size_t n, char **ret)
{
	_cleanup_free_ struct place *order = calloc(n + 1, sizeof(*order));
	_cleanup_(cleanup_json) json_t *taken = json_object();
	int r = order && taken ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && r == 0; i++) {
		ret[i] = NULL;
		order[i] = (struct place){ names[i], i };
	}
	if (r == 0)
		qsort(order, n, sizeof(*order), by_bytes);
	for (size_t i = 0; i < n && r >= 0; i++)
		r = find_free(taken, order[i].name, &ret[order[i].i]);
	for (size_t i = 0; i < n && r < 0 && order && taken; i++)
		free(steal(&ret[i]));
	return MIN(r, 0);
}

static char *decode(const char *mapped)
{
	char *to = malloc(strlen(mapped) + 1);
	size_t out = 0;

	if (!to)
		return NULL;
	for (const char *p = mapped; *p; p++) {
		int high = *p == '%' ? hex_digit(p[1]) : -1, low = high >= 0 ? hex_digit(p[2]) : -1;

		to[out++] = low >= 0 ? (char)(high << 4 | low) : *p;
		p += low >= 0 ? 2 : 0;
	}
	to[out] = 0;
	return to;
}

/* 1: mapping the name in this way gives that one. */
static int gives(const char *name, size_t letters, const char *mapped)
{
	_cleanup_free_ char *again = NULL;
	int r = encode(name, letters, &again);

	return r < 0 ? r : !strcmp(again, mapped);
}

/* What mapping never gets: it is no name of a file, but leads elsewhere. */
static bool is_no_name(const char *plain)
{
	return !*plain || !strcmp(plain, ".") || !strcmp(plain, "..") || strchr(plain, '/');
}

int portable_unmap(const char *name, char **ret)
{
	_cleanup_free_ char *plain = decode(name);
	size_t n;
	int r;

	if (!plain)
		return -ENOMEM;
	if (is_no_name(plain)) {
		*ret = strdup(name);
		return *ret ? 0 : -ENOMEM;
	}
	n = strlen(plain) <= PORTABLE_MAX ? count_letters(plain) : 0;
	r = gives(plain, LETTERS_NONE, name);
	for (size_t letter = 0; r == 0 && letter < n; letter++)
		r = gives(plain, letter, name);
	if (r == 0)
		r = gives(plain, LETTERS_ALL, name);
	if (r < 0)
		return r;
	*ret = r ? steal(&plain) : strdup(name);
	return *ret ? 0 : -ENOMEM;
}
