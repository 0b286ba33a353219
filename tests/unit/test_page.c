/* The page of a report: what is in it, what is not, and how long it is. */
#include "test.h"

#include <jansson.h>
#include <math.h>

#include "page/page.h"

static const char sample[] =
	"{'time': '2026-12-01T10:20:30.123456789Z', 'version': '0.1.0',"
	" 'status': {'store': '/data/store', 'mount': '/mnt', 'read_only': false,"
	"  'space': {'raw': 4096, 'unique': 2048, 'stored': 1024},"
	"  'warnings': [{'kind': 'torn', 'path': '/runs/a/step_7.pt', 'text': 'is not complete'}],"
	"  'branches': [{'name': 'a', 'run': '/runs/a', 'head': 'bbbb', 'pending': {'components': ['HP'], 'hash': 'cccc'},"
	"   'latest': {'path': '/runs/a/step_7.pt', 'step': 7}, 'best': {'path': '/runs/a/step_5.pt', 'step': 5, 'metric': 'val_loss', 'value': 0.5}},"
	"   {'name': 'gone', 'run': null, 'head': null, 'pending': {'components': [], 'hash': null}, 'latest': null, 'best': null}]},"
	" 'experiments': [{'hash': 'bbbb', 'parent': 'aaaa', 'time': '2026-12-01T10:00:00Z', 'changed': ['HP', 'DATA'],"
	"   'hp': [{'key': 'lr', 'from': '0.1', 'from_type': 'float', 'to': '1', 'to_type': 'int'}], 'steps': [6, 7],"
	"   'branches': ['a'], 'head_of': ['a']},"
	"  {'hash': 'aaaa', 'parent': null, 'time': '2026-12-01T09:00:00Z', 'changed': [], 'steps': [5], 'branches': ['a'], 'head_of': []}],"
	" 'curves': {'branches': ['a'], 'more_branches': 2, 'more_names': 1, 'list': [{'name': 'val_loss', 'series': [{'branch': 0,"
	"   'points': [[0, 1.0], [5, 0.5], [6, 'nan'], [7, 0.75]]}]}]},"
	" 'checkpoints': [{'branch': 'a', 'count': 3, 'list': [{'path': '/runs/a/step_7.pt', 'step': 7, 'time': '2026-12-01T10:00:00Z',"
	"   'size': 2048, 'stored': 1024, 'complete': true, 'latest': true, 'off': false,"
	"   'weights': {'read': true, 'told': true, 'parts': ['optimizer', 'rng-torch'], 'label': 'labelled step 7, holds step 5'}},"
	"   {'path': '/runs/a/step_5.pt', 'step': 5, 'time': '2026-12-01T09:00:00Z', 'size': 2048, 'stored': 0, 'complete': false,"
	"   'off': true, 'weights': null}]}],"
	" 'selections': [{'selection': 'sel-12', 'name': 'best', 'branch': 'a', 'path': '/runs/a/step_5.pt', 'version': 1, 'held': true,"
	"   'step': 5, 'metric': {'name': 'val_loss', 'value': 0.5}, 'selected_at': '2026-12-01T10:00:00Z', 'label': 'wrong',"
	"   'decisions': [{'decision': 'ACCEPT', 'by': 'ada', 'note': 'fine', 'time': '2026-12-01T10:00:00Z'}]}]}";

static json_t *parse(const char *text)
{
	char *json = strdup(text);
	json_t *j;

	for (char *s = json; *s; s++)
		*s = *s == '\'' ? '"' : *s;
	j = json_loads(json, 0, NULL);
	free(json);
	assert_non_null(j);
	return j;
}

/* To be freed; takes the report over. */
static char *page_of(json_t *report)
{
	char *page = NULL;
	size_t len;

	assert_int_equal(page_html(report, &page, &len), 0);
	assert_int_equal(strlen(page), len);
	json_decref(report);
	return page;
}

static void assert_in(const char *page, const char *text)
{
	if (!strstr(page, text))
		fail_msg("not in the page: %s", text);
}

static void assert_not_in(const char *page, const char *text)
{
	if (strstr(page, text))
		fail_msg("in the page: %s", text);
}

static void all_that_a_report_says_is_in_the_page(void **state)
{
	static const char *const wanted[] = {
		"<h1><bdi>/data/store</bdi></h1>\n<p><time datetime=\"2026-12-01T10:20:30Z\">2026-12-01 10:20:30</time> UTC, mounted on <bdi>/mnt</bdi></p>",
		"<li><strong>torn</strong> <span><code><bdi>/runs/a/step_7.pt</bdi></code> is not complete</span></li>",
		"3.0 KiB saved <small>75 % of what the files have</small>",
		"<th scope=\"row\"><bdi>a</bdi></th><td class=\"p\"><b>step 7</b><br><code><bdi>/runs/a/step_7.pt</bdi></code></td>",
		"<td class=\"p\"><b>step 5</b>, <bdi>val_loss</bdi> 0.5<br>",
		"<th scope=\"row\"><bdi>gone</bdi> <em>removed</em></th><td>none</td><td>none</td>",
		"<code>bbbb</code> <b>HEAD of <bdi>a</bdi></b>",
		"<bdi>lr</bdi> <bdi>0.1</bdi> → <bdi>1</bdi>; DATA · steps 6 to 7 (2)",
		"begins here · step 5",
		"<title>val_loss by step, of 1 branch: steps 0 to 7, values 0.5 to 1</title>",
		"<small>last 0.75 at 7, lowest 0.5, highest 1, 1 value is not finite</small>",
		"<p class=\"more\">and 1 metric more: <code>expfs signal BRANCH</code></p>",
		"<p class=\"more\">and 2 branches more: <code>expfs signal BRANCH</code></p>",
		"<code><bdi>/runs/a/step_7.pt</bdi></code> <em>latest</em></td>",
		"<td class=\"n\">2.0 KiB</td><td class=\"n\">1.0 KiB</td><td>yes</td>",
		"<bdi>optimizer</bdi>, <bdi>rng-torch</bdi>",
		"labelled step 7, holds step 5",
		"<em>off the line</em>",
		"<td><strong>no</strong></td>",
		"and 1 checkpoint more, older ones",
		"<code>aaaa</code> → <code>bbbb</code>",
		"<code><bdi>0.1</bdi></code> <small>float</small></td><td><code><bdi>1</bdi></code> <small>int</small>",
		"<bdi>a</bdi>:<bdi>best</bdi>",
		"<b>ACCEPT</b> by <bdi>ada</bdi>",
	};
	char *page = page_of(parse(sample));

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_in(page, wanted[i]);
	free(page);
}

static void a_store_with_nothing_in_it_has_a_page(void **state)
{
	char *page = page_of(parse("{'status': {'store': '/s', 'mount': null, 'branches': [], 'warnings': [], 'space': {'raw': 0, 'unique': 0,"
				   " 'stored': 0}}, 'experiments': [], 'curves': {'branches': [], 'list': []}, 'checkpoints': []}"));

	assert_in(page, "There is nothing to warn of.");
	assert_in(page, "There is no branch yet");
	assert_in(page, "UTC, not mounted");
	assert_not_in(page, "<figure");
	free(page);
}

static void the_page_may_load_and_run_nothing(void **state)
{
	static const char *const unwanted[] = { "<script", "<link", "<img", "<iframe", "<object", "src=", "href=", "url(", "@import", "http:", "https:" };
	char *page = page_of(parse(sample));

	assert_in(page, "content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\"");
	for (size_t i = 0; i < ARRAY_SIZE(unwanted); i++)
		assert_not_in(page, unwanted[i]);
	free(page);
}

/* All texts of a value are another; a copy. */
static json_t *with_texts(const json_t *j, const char *text)
{
	json_t *copy = json_is_object(j) ? json_object() : json_array(), *member;
	const char *key;
	size_t i;

	if (json_is_string(j)) {
		json_decref(copy);
		return json_string(text);
	}
	if (!json_is_object(j) && !json_is_array(j)) {
		json_decref(copy);
		return json_deep_copy(j);
	}
	json_object_foreach ((json_t *)(uintptr_t)j, key, member)
		json_object_set_new(copy, key, with_texts(member, text));
	json_array_foreach (j, i, member)
		json_array_append_new(copy, with_texts(member, text));
	return copy;
}

/* The names of its tags, with the number of attributes' ends in each. */
static void skeleton(const char *page, char *to)
{
	for (const char *s = page; (s = strchr(s, '<')); s++) {
		const char *end = strchr(s, '>');

		assert_non_null(end);
		for (; s < end && *s != ' '; s++)
			*to++ = *s;
		for (; s < end; s++)
			if (*s == '"')
				*to++ = *s;
	}
	*to = 0;
}

static void steps_of_many_digits_are_told_whole(void **state)
{
	char *page = page_of(parse("{'curves': {'branches': ['a'], 'list': [{'name': 'loss', 'series': [{'branch': 0,"
				   " 'points': [[12345000, 1.0], [12347501, 0.5]]}]}]}}"));

	(void)state;
	assert_in(page, "at 12347501");
	assert_null(strstr(page, "e+07"));
	free(page);
}

static void the_largest_step_is_told_as_it_is(void **state)
{
	char *page = page_of(parse("{'curves': {'branches': ['a'], 'list': [{'name': 'loss', 'series': [{'branch': 0,"
				   " 'points': [[-9223372036854775808, 2.0], [5, 1.0], [9223372036854775807, 0.5]]}]}]}}"));

	assert_in(page, "steps -9223372036854775808 to 9223372036854775807,");
	free(page);
}

static void each_of_many_equal_curves_is_seen_in_the_legend(void **state)
{
	static const char key[] = "<li><svg viewBox=\"0 0 28 8\" aria-hidden=\"true\"><path class=\"s c%d\"%s\"/></svg>";
	char *page = page_of(parse("{'curves': {'branches': ['a', 'b', 'c', 'd', 'e'], 'list': [{'name': 'loss', 'series': ["
				   "{'branch': 0, 'points': [[1, 1.0], [2, 0.5]]}, {'branch': 1, 'points': [[1, 1.0], [2, 0.5]]},"
				   "{'branch': 2, 'points': [[1, 1.0], [2, 0.5]]}, {'branch': 3, 'points': [[1, 1.0], [2, 0.5]]},"
				   "{'branch': 4, 'points': [[1, 1.0], [2, 0.5]]}]}]}}"));

	for (int i = 0; i < 5; i++) {
		char *want = NULL;

		assert_true(asprintf(&want, key, i, i == 0 ? " d=\"M2 4h24" :
				     " style=\"stroke-dasharray:none;stroke-linecap:butt\" d=\"M10 4h8") >= 0);
		assert_in(page, want);
		free(want);
	}
	free(page);
}

static void hostile_texts_are_escaped_wherever_they_stand(void **state)
{
	static const char *const texts[] = { "</title></style><script>alert(1)</script>", "\" onload=\"alert(1)", "' x='", "]]>", "<!--", "-->", "&lt;",
					     "&#x3c;b&#x3e;", "\x1b[31m\r\n\t\x7f", "\u202egnp.exe\u2066", "\xc2\x85" "\u200b\ufeff\ufffe" };
	json_t *report = parse(sample);
	char *plain = page_of(with_texts(report, "plain")), *want = malloc(strlen(plain) + 1);

	skeleton(plain, want);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char *page = page_of(with_texts(report, texts[i])), *got = malloc(strlen(page) + 1);

		skeleton(page, got);
		assert_string_equal(got, want);
		assert_not_in(page, "<script");
		free(page);
		free(got);
	}
	free(plain);
	free(want);
	json_decref(report);
}

static void what_is_not_seen_is_written_out(void **state)
{
	json_t *report = parse(sample);
	char *page;

	json_object_set_new(json_object_get(report, "status"), "store", json_string("a\x1b[1m\u202e" "b\xc2\x85" "\U000e0001\ufeff&<>\"'é"));
	page = page_of(report);
	assert_in(page, "<h1><bdi>a\\x1b[1m\\u202eb\\x85\\U000e0001");
	assert_in(page, "\\ufeff&amp;&lt;&gt;&quot;&#39;é</bdi></h1>");
	free(page);
}

static void a_long_text_is_cut_between_characters(void **state)
{
	json_t *report = parse(sample);
	char text[2 * 5000 + 1] = "", *page;

	for (size_t i = 0; i < 5000; i++)
		memcpy(text + 2 * i, "é", 3);
	json_object_set_new(json_object_get(report, "status"), "mount", json_string(text));
	page = page_of(report);
	assert_in(page, "é…</bdi>");
	assert_true(strlen(page) < 30000);
	free(page);
}

/* Each value in turn is of another type. */
static void break_each(json_t *report, json_t *at, const json_t *by)
{
	json_t *member;
	const char *key;
	size_t i;

	json_object_foreach (at, key, member) {
		json_t *keep = json_incref(member);

		json_object_set(at, key, (json_t *)(uintptr_t)by);
		free(page_of(json_incref(report)));
		json_object_set_new(at, key, keep);
		break_each(report, keep, by);
	}
	json_array_foreach (at, i, member) {
		json_t *keep = json_incref(member);

		json_array_set(at, i, (json_t *)(uintptr_t)by);
		free(page_of(json_incref(report)));
		json_array_set_new(at, i, keep);
		break_each(report, keep, by);
	}
}

static void what_is_of_another_type_is_left_out(void **state)
{
	static const char *const values[] = { "null", "true", "-1", "9223372036854775807", "1e308", "'x'", "[]", "{}", "[[[]]]" };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		char text[64];
		json_t *report = parse(sample), *by;

		snprintf(text, sizeof(text), "[%s]", values[i]);
		by = parse(text);
		free(page_of(json_incref(by)));
		break_each(report, report, json_array_get(by, 0));
		json_decref(by);
		json_decref(report);
	}
}

static json_t *experiment(int i, int parent)
{
	char hash[32], up[32];

	snprintf(hash, sizeof(hash), "%024d", i);
	snprintf(up, sizeof(up), "%024d", parent);
	return json_pack("{s:s, s:s, s:s, s:[s, s, s], s:[s], s:[], s:[{s:s, s:s, s:s}]}", "hash", hash, "parent", up, "time", "2026-12-01T10:00:00Z",
			 "changed", "HP", "MODEL", "DATA", "branches", "a", "head_of", "hp", "key", "optimizer.learning_rate", "from",
			 "0.00012345", "to", "0.00054321");
}

static void a_branch_has_one_colour_in_the_whole_page(void **state)
{
	json_t *report = parse(sample), *of_other = experiment(5, -1);
	char *page;

	json_array_set_new(json_object_get(of_other, "branches"), 0, json_string("gone"));
	json_array_append_new(json_object_get(report, "experiments"), of_other);
	json_array_append_new(json_object_get(report, "experiments"), experiment(6, -1));
	page = page_of(report);
	assert_in(page, "<path class=\"s c0\" d=\"M0 0l");
	assert_in(page, "<circle class=\"h c0\"");
	assert_in(page, "<circle class=\"o c1\"");
	free(page);
}

static void parents_that_lead_round_are_no_trouble(void **state)
{
	json_t *report = parse(sample), *list = json_array();
	char *page;

	for (int i = 0; i < 30; i++)
		json_array_append_new(list, experiment(i, (i * 7 + 3) % 30));
	json_array_append_new(list, experiment(30, 30));
	json_object_set_new(report, "experiments", list);
	page = page_of(report);
	assert_in(page, "Lineage of 31 experiments");
	free(page);
}

static json_t *large_report(void)
{
	json_t *report = parse(sample), *experiments = json_array(), *curves = json_object_get(report, "curves"), *list = json_array();

	for (int i = 0; i < 3000; i++)
		json_array_append_new(experiments, experiment(i, i ? i - 1 - i % 9 : -1));
	json_object_set_new(report, "experiments", experiments);
	for (int c = 0; c < 10; c++) {
		json_t *points = json_array();

		for (int i = 0; i < 10000; i++)
			json_array_append_new(points, json_pack("[i, f]", i, sin(i) * 1000));
		json_array_append_new(list, json_pack("{s:s, s:[{s:i, s:o}]}", "name", "loss", "series", "branch", 0, "points", points));
	}
	json_object_set_new(curves, "list", list);
	return report;
}

static void many(json_t *list, int n)
{
	for (int i = 1; i < n; i++)
		json_array_append(list, json_array_get(list, 0));
}

static void a_page_of_very_much_is_bounded(void **state)
{
	json_t *report = large_report(), *status = json_object_get(report, "status");
	json_t *checkpoints = json_object_get(report, "checkpoints");
	char *page;

	many(json_object_get(status, "warnings"), 5000);
	many(json_object_get(status, "branches"), 5000);
	many(json_object_get(json_array_get(checkpoints, 0), "list"), 200);
	many(checkpoints, 5000);
	many(json_object_get(report, "selections"), 5000);
	many(json_object_get(json_object_get(report, "curves"), "list"), 100);
	page = page_of(report);
	assert_true(strlen(page) < 4000000);
	assert_in(page, "and 2000 experiments more");
	assert_in(page, "and 4700 warnings more");
	assert_in(page, "and 4501 branches more");
	assert_in(page, "and 4800 selections more");
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_a_report_says_is_in_the_page),
		cmocka_unit_test(a_store_with_nothing_in_it_has_a_page),
		cmocka_unit_test(the_page_may_load_and_run_nothing),
		cmocka_unit_test(hostile_texts_are_escaped_wherever_they_stand),
		cmocka_unit_test(what_is_not_seen_is_written_out),
		cmocka_unit_test(a_long_text_is_cut_between_characters),
		cmocka_unit_test(what_is_of_another_type_is_left_out),
		cmocka_unit_test(steps_of_many_digits_are_told_whole),
		cmocka_unit_test(the_largest_step_is_told_as_it_is),
		cmocka_unit_test(each_of_many_equal_curves_is_seen_in_the_legend),
		cmocka_unit_test(a_branch_has_one_colour_in_the_whole_page),
		cmocka_unit_test(parents_that_lead_round_are_no_trouble),
		cmocka_unit_test(a_page_of_very_much_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
