/* value.p0 … value.p5 in tests/data/format are one value in each protocol; the
 * hostile streams are written here. */
#include <fcntl.h>

#include "format/pickle.h"
#include "test.h"
#include "util/io.h"

#define TEST(sentence, function) { sentence, function, NULL, NULL, NULL }
#define SHOW_DEPTH 5

/* A value as a text that is much like Python's repr(). */

static void show(FILE *f, const struct pickle_value *v, int depth);

static void show_items(FILE *f, const char *open, const struct pickle_items *items, const char *close, int depth)
{
	fputs(open, f);
	for (uint32_t i = 0; i < items->n; i++) {
		fputs(i ? ", " : "", f);
		show(f, items->v[i], depth);
	}
	fputs(close, f);
}

static void show_bytes(FILE *f, const char *prefix, struct pickle_bytes b)
{
	fprintf(f, "%s'", prefix);
	for (size_t i = 0; i < b.len; i++)
		fprintf(f, b.p[i] < 0x20 || b.p[i] > 0x7e ? "<%02x>" : "%c", b.p[i]);
	fputs("'", f);
}

static void show_object(FILE *f, const struct pickle_object *o, int depth)
{
	show(f, o->callable, depth);
	show(f, o->args, depth);
	if (o->kwargs)
		show_items(f, "**{", &o->kwargs->items, "}", depth);
	if (o->list.n)
		show_items(f, "+[", &o->list, "]", depth);
	if (o->dict.n)
		show_items(f, "+{", &o->dict, "}", depth);
	if (o->state) {
		fputs("<-", f);
		show(f, o->state, depth);
	}
}

static void show(FILE *f, const struct pickle_value *v, int depth)
{
	if (depth == SHOW_DEPTH) {
		fputs("…", f);
		return;
	}
	depth++;
	switch (v->kind) {
	case PICKLE_NONE:
		fputs("None", f);
		break;
	case PICKLE_BOOL:
		fputs(v->integer ? "True" : "False", f);
		break;
	case PICKLE_INT:
		fprintf(f, "%jd", (intmax_t)v->integer);
		break;
	case PICKLE_BIG_INT:
		fputs("big", f);
		break;
	case PICKLE_FLOAT:
		fprintf(f, "%g", v->real);
		break;
	case PICKLE_STR:
		show_bytes(f, "", v->bytes);
		break;
	case PICKLE_BYTES:
		show_bytes(f, "b", v->bytes);
		break;
	case PICKLE_TUPLE:
		show_items(f, "(", &v->items, ")", depth);
		break;
	case PICKLE_LIST:
		show_items(f, "[", &v->items, "]", depth);
		break;
	case PICKLE_SET:
		show_items(f, "set(", &v->items, ")", depth);
		break;
	case PICKLE_DICT:
		show_items(f, "{", &v->items, "}", depth);
		break;
	case PICKLE_GLOBAL:
		fprintf(f, "%.*s:%.*s", (int)v->global->module.len, v->global->module.p, (int)v->global->name.len,
			v->global->name.p);
		break;
	case PICKLE_OBJECT:
		show_object(f, v->object, depth);
		break;
	case PICKLE_PERSISTENT:
		fputs("@", f);
		show(f, v->persistent, depth);
	}
}

/* What a stream says, or "refused: REASON"; to be freed. */
static char *shown(const void *p, size_t n)
{
	_cleanup_pickle_ struct pickle *pickle = NULL;
	const char *why = "unset";
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);
	int r = pickle_parse(p, n, &pickle, &why);

	assert_non_null(f);
	if (r == 0) {
		assert_null(why);
		show(f, pickle_top(pickle), 0);
	} else {
		assert_int_equal(r, -EBADMSG);
		assert_null(pickle);
		fprintf(f, "refused: %s", why);
	}
	fclose(f);
	return text;
}

static void assert_says(const void *p, size_t n, const char *wanted)
{
	_cleanup_free_ char *text = shown(p, n);

	assert_string_equal(text, wanted);
}

/* A stream in a string literal. */
#define SAYS(stream, wanted) assert_says("" stream, sizeof(stream) - 1, wanted)
#define REFUSED(stream, why) SAYS(stream, "refused: " why)
#define MISFIT(stream, opcode) REFUSED(stream, "pickle opcode " opcode " that does not fit")

static char *sample(const char *name, size_t *ret_n)
{
	const char *top = getenv("EXPFS_SRCDIR");
	char path[4096], *p;

	snprintf(path, sizeof(path), "%s/tests/data/format/%s", top ? top : ".", name);
	assert_int_equal(io_read_file(AT_FDCWD, path, 1 << 20, &p, ret_n), 0);
	return p;
}

#define PICKLED                                                                                                   \
	"'none', None, 'bools', [True, False], 'ints', (0, 255, 256, 65535, -1, 2147483648, -2147483648, "        \
	"9223372036854775807, -9223372036854775808, big, big), 'float', -1.5, "                                   \
	"'<c3><a9><0a><f0><9f><99><82>\\', 'a'b\"', 'shared', [[1, 2], [1, 2]], 'empty', ((), [], {}), "          \
	"'one', (1), 'ordered', collections:OrderedDict()+{'b', 1, 'a', 2}, 'global', collections:OrderedDict, " \
	"'self', "

static void test_protocols(void **state)
{
	for (int protocol = 0; protocol <= 5; protocol++) {
		char name[] = "value.p0";
		_cleanup_free_ char *p = NULL, *text = NULL;
		size_t n;

		name[7] = (char)('0' + protocol);
		p = sample(name, &n);
		text = shown(p, n);
		if (strncmp(text, "{" PICKLED "{'none'", strlen("{" PICKLED "{'none'")) != 0)
			fail_msg("%s: %s", name, text);
	}
}

static void test_later_kinds(void **state)
{
	size_t n;
	_cleanup_free_ char *p = sample("more.p5", &n);

	assert_says(p, n,
		    "{'bytes', b'<00><ff>', 'array', b'xy', 'set', set(3), 'frozen', set(4), "
		    "'box', shop:Box()<-{'n', 1}, 'pid', @('storage', 'k')}");
}

static void test_cut(void **state)
{
	for (int protocol = 0; protocol <= 5; protocol++) {
		char name[] = "value.p0";
		_cleanup_free_ char *p = NULL;
		size_t n;

		name[7] = (char)('0' + protocol);
		p = sample(name, &n);
		for (size_t cut = 0; cut < n; cut++) {
			_cleanup_free_ char *part = malloc(cut + 1), *text = NULL;

			memcpy(part, p, cut);
			text = shown(part, cut);
			assert_string_equal(text, "refused: pickle that ends too early");
		}
	}
}

static void test_calls(void **state)
{
	SAYS("cos\nsystem\n(Vreboot\ntR.", "os:system('reboot')");
	SAYS("cm\nC\n)\x81}b.", "m:C()<-{}");
	SAYS("cm\nC\n)}\x92.", "m:C()**{}");
	SAYS("(I1\nim\nC\n.", "m:C(1)");
	SAYS("(cm\nC\nI1\no.", "m:C(1)");
	SAYS("cm\nf\n)R)R.", "m:f()()");
	SAYS("cm\nf\n)RI1\naVk\nI2\ns.", "m:f()+[1]+{'k', 2}");
	SAYS("Pid\n.", "@'id'");
}

static void test_numbers(void **state)
{
	SAYS("I01\n.", "True");
	SAYS("I00\n.", "False");
	SAYS("I1\n.", "1");
	SAYS("I-0\n.", "0");
	SAYS("L-12L\n.", "-12");
	SAYS("I9223372036854775808\n.", "big");
	SAYS("I-9223372036854775808\n.", "-9223372036854775808");
	SAYS("I-9223372036854775809\n.", "big");
	SAYS("\x8a\x00.", "0");
	SAYS("\x8a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff.", "-1");
	SAYS("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00.", "big");
	SAYS("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\xff.", "-9223372036854775808");
	SAYS("J\xff\xff\xff\xff.", "-1");
	SAYS("F1e3\n.", "1000");
	SAYS("F-inf\n.", "-inf");
	MISFIT("I\n.", "INT");
	MISFIT("I 1\n.", "INT");
	MISFIT("I1L\n.", "INT");
	MISFIT("Lx\n.", "LONG");
	MISFIT("F\n.", "FLOAT");
	MISFIT("F1.5x\n.", "FLOAT");
	MISFIT("F11111111111111111111111111111111111111111111111111111111111111111\n.", "FLOAT");
}

static void test_escapes(void **state)
{
	SAYS("V\\u00e9\\U0001f642\xe9\\n\\\n.", "'<c3><a9><f0><9f><99><82><c3><a9>\\n\\'");
	MISFIT("V\\u00e\n.", "UNICODE");
	MISFIT("V\\U00110000\n.", "UNICODE");
	SAYS("S'a\\x00\\n\\'\\101\\q'\n.", "'a<00><0a>'A\\q'");
	SAYS("S\"\"\n.", "''");
	MISFIT("S'a\n.", "STRING");
	MISFIT("S'\n.", "STRING");
	MISFIT("S'a\"\n.", "STRING");
	MISFIT("S'\\x0'\n.", "STRING");
	MISFIT("S'\\'\n.", "STRING");
	SAYS("U\x01\xff.", "'<ff>'");
}

static void test_underflow(void **state)
{
	MISFIT(".", "STOP");
	MISFIT("0.", "POP");
	MISFIT("1.", "POP_MARK");
	MISFIT("2.", "DUP");
	MISFIT("a.", "APPEND");
	MISFIT("NNs.", "SETITEM");
	MISFIT("N\x86.", "TUPLE2");
	MISFIT("R.", "REDUCE");
	MISFIT(")R.", "REDUCE");
	MISFIT(")\x81.", "NEWOBJ");
	MISFIT("N\x93.", "STACK_GLOBAL");
	MISFIT("Q.", "BINPERSID");
	MISFIT("b.", "BUILD");
	MISFIT("Nb.", "BUILD");
	MISFIT("q\x01.", "BINPUT");
	MISFIT("\x94.", "MEMOIZE");
	MISFIT("t.", "TUPLE");
	MISFIT("]e.", "APPENDS");
}

static void test_marks(void **state)
{
	SAYS("N(0.", "None");
	SAYS("N(NN1.", "None");
	SAYS("(N.", "None");
	MISFIT("N(.", "STOP");
	MISFIT("N(\x85.", "TUPLE1");
	MISFIT("](Na.", "APPEND");
	MISFIT("](2.", "DUP");
	MISFIT("](q\x01.", "BINPUT");
	MISFIT("(Nu.", "SETITEMS");
	MISFIT("(o.", "OBJ");
	MISFIT("Nim\nC\n.", "INST");
}

static void test_wrong_kinds(void **state)
{
	MISFIT("NNa.", "APPEND");
	MISFIT("](NNu.", "SETITEMS");
	MISFIT("}(Ne.", "APPENDS");
	MISFIT("}(Nu.", "SETITEMS");
	MISFIT("(Nd.", "DICT");
	MISFIT("}]Ns.", "SETITEM");
	MISFIT("(}Nd.", "DICT");
	MISFIT("](N\x90.", "ADDITEMS");
	MISFIT("cm\nf\n]R.", "REDUCE");
	MISFIT("N)R.", "REDUCE");
	MISFIT("I1\n)\x81.", "NEWOBJ");
	MISFIT("cm\nC\n)]\x92.", "NEWOBJ_EX");
	MISFIT("NN\x93.", "STACK_GLOBAL");
	MISFIT("]}b.", "BUILD");
	MISFIT("cm\nC\n}b.", "BUILD");
	MISFIT("cm\nC\n)R}b}b.", "BUILD");
}

static void test_memo(void **state)
{
	SAYS("I7\np3\n0g3\n.", "7");
	SAYS("]\x94h\x00" "a.", "[[[[[…]]]]]");
	SAYS("Nq\x01\x94]h\x01" "a.", "[None]");
	MISFIT("h\x00.", "BINGET");
	MISFIT("j\xff\xff\xff\xff.", "LONG_BINGET");
	MISFIT("g-1\n.", "GET");
	MISFIT("gx\n.", "GET");
	MISFIT("Np99999999999999999999\n.", "PUT");
	MISFIT("Nr\xff\xff\xff\xff.", "LONG_BINPUT");
	MISFIT("Nr\x07\x00\x00\x00.", "LONG_BINPUT");
	SAYS("Nr\x06\x00\x00\x00.", "None");
}

static void test_outside(void **state)
{
	REFUSED("\x82\x01.", "pickle opcode EXT1, of the extension registry");
	REFUSED("\x83\x01\x01.", "pickle opcode EXT2, of the extension registry");
	REFUSED("\x84\x01\x01\x01\x01.", "pickle opcode EXT4, of the extension registry");
	REFUSED("\x97.", "pickle opcode NEXT_BUFFER, of an out-of-band buffer");
	REFUSED("N\x98.", "pickle opcode READONLY_BUFFER, of an out-of-band buffer");
	REFUSED("\x80\x06N.", "pickle of a protocol after 5");
	REFUSED("\x00", "pickle opcode that is not known");
	REFUSED("\xff", "pickle opcode that is not known");
}

static void test_lengths(void **state)
{
	REFUSED("X\xff\xff\xff\xffx", "pickle that ends too early");
	REFUSED("\x8d\xff\xff\xff\xff\xff\xff\xff\xffx", "pickle that ends too early");
	REFUSED("\x8b\xff\xff\xff\xffx", "pickle that ends too early");
	REFUSED("\x96\xff\xff\xff\xff\xff\xff\xff\x7fx", "pickle that ends too early");
	REFUSED("\x95\x02\x00\x00\x00\x00\x00\x00\x00.", "pickle that ends too early");
	REFUSED("cm\nC", "pickle that ends too early");
	SAYS("N.what follows", "None");
}

/* n times the same bytes. */
static uint8_t *repeated(const char *p, size_t len, size_t n, size_t *ret_n)
{
	uint8_t *stream = malloc(len * n + 1);

	assert_non_null(stream);
	for (size_t i = 0; i < n; i++)
		memcpy(stream + i * len, p, len);
	stream[len * n] = '.';
	*ret_n = len * n + 1;
	return stream;
}

static void test_bounds(void **state)
{
	static const struct {
		const char *unit;
		size_t len;
		const char *wanted;
	} floods[] = {
		{ "N", 1, "refused: pickle that unfolds to too much" },
		{ "(", 1, "refused: pickle that unfolds to too much" },
		{ "]", 1, "refused: pickle that unfolds to too much" },
		{ "N2", 2, "refused: pickle that unfolds to too much" },
		{ "M\1\1", 3, "refused: pickle that unfolds to too much" },
		{ "cm\nf\n)R", 7, "refused: pickle that unfolds to too much" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(floods); i++) {
		size_t n;
		_cleanup_free_ uint8_t *p = repeated(floods[i].unit, floods[i].len, (PICKLE_MAX - 1) / floods[i].len, &n);

		assert_says(p, n, floods[i].wanted);
	}
}

static void test_size(void **state)
{
	_cleanup_free_ uint8_t *p = calloc(1, PICKLE_MAX + 1);

	assert_non_null(p);
	memcpy(p, "N.", 2);
	assert_says(p, PICKLE_MAX, "None");
	assert_says(p, PICKLE_MAX + 1, "refused: pickle over 32 MiB");
}

static void test_deep(void **state)
{
	size_t n;
	_cleanup_free_ uint8_t *p = repeated("]", 1, 500000, &n);
	_cleanup_free_ uint8_t *q = malloc(2 * n);

	assert_non_null(q);
	memcpy(q, p, n - 1);
	memset(q + n - 1, 'a', n - 2);
	q[2 * n - 3] = '.';
	assert_says(q, 2 * n - 2, "[[[[[…]]]]]");
}

static void test_lookups(void **state)
{
	static const char stream[] = "(Vb\nI1\nVa\nI2\nI3\nI4\nd.";
	_cleanup_pickle_ struct pickle *p = NULL;
	const char *why;

	assert_int_equal(pickle_parse((const uint8_t *)stream, strlen(stream), &p, &why), 0);
	assert_int_equal(pickle_find(pickle_top(p), "a")->integer, 2);
	assert_null(pickle_find(pickle_top(p), "I3"));
	assert_null(pickle_find(pickle_find(pickle_top(p), "a"), "a"));
	assert_int_equal(pickle_entries(pickle_top(p))->n, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("one value is the same in every protocol", test_protocols),
		TEST("sets, bytes, objects and persistent ids are told apart", test_later_kinds),
		TEST("a pickle cut anywhere is refused", test_cut),
		TEST("what Python would call is told and not called", test_calls),
		TEST("numbers are those that Python reads", test_numbers),
		TEST("escapes in lines are undone as Python does", test_escapes),
		TEST("an opcode that finds too little on the stack is named", test_underflow),
		TEST("nothing reaches below a mark", test_marks),
		TEST("an opcode that finds a value of another kind is named", test_wrong_kinds),
		TEST("the memo gives back what was put there, its own container too", test_memo),
		TEST("what lies outside of the stream is refused", test_outside),
		TEST("a length beyond the end is refused, and what follows the end is not read", test_lengths),
		TEST("a flood of values ends at the bound on memory", test_bounds),
		TEST("a pickle may have 32 MiB and no more", test_size),
		TEST("half a million lists in each other are read and freed", test_deep),
		TEST("keys are found in dictionaries only", test_lookups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
