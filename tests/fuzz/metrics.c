/* The first byte says of what kind the rest is, the second where it is cut: read
 * in one go and in two, a file gives the same. */
#include "format/trainer_state.h"

#include "fuzz.h"

struct sum {
	uint64_t hash;
	size_t count;
};

static int add(void *data, int64_t step, const char *name, double value)
{
	struct sum *sum = data;
	uint64_t bits;

	must(step >= 0 && *name && strlen(name) <= METRICS_NAME_MAX);
	memcpy(&bits, &value, sizeof(bits));
	sum->hash = (sum->hash ^ bits ^ (uint64_t)step) * 0x100000001b3u + strlen(name);
	sum->count++;
	return 0;
}

struct file {
	bool csv;
	const char *header;
	size_t header_len;
};

static int read_part(const struct file *f, struct metrics *m, const char *text, size_t len, bool end, struct sum *sum,
		     size_t *ret_used)
{
	int r = f->csv ? metrics_csv(m, f->header, f->header_len, text, len, end, add, sum, ret_used) :
			 metrics_jsonl(m, text, len, end, add, sum, ret_used);

	must(r == 0 || r == -EFBIG || (r == -EINVAL && f->csv && m->why.text[0]));
	must(r < 0 || (*ret_used <= len && (!end || *ret_used == len)));
	return r;
}

static void read_file(const struct file *f, const char *text, size_t len, size_t cut)
{
	struct metrics whole = { 0 }, parts = { 0 };
	struct sum sum = { 0 }, sum_of_parts = { 0 };
	size_t used = 0, first = 0, second = 0;

	if (read_part(f, &whole, text, len, true, &sum, &used) < 0)
		return;
	must(sum.count <= len && whole.rows + whole.bad <= len && (whole.bad > 0) == (whole.why.text[0] != 0));
	must(read_part(f, &parts, text, cut, false, &sum_of_parts, &first) == 0);
	must(read_part(f, &parts, text + first, len - first, true, &sum_of_parts, &second) == 0);
	must(sum.hash == sum_of_parts.hash && sum.count == sum_of_parts.count);
	must(whole.rows == parts.rows && whole.bad == parts.bad && whole.lines == parts.lines);
	must(!strcmp(whole.why.text, parts.why.text));
}

static void read_trainer_state(const char *text, size_t len)
{
	struct trainer_state s = { 0 };
	struct metrics m = { 0 };
	struct sum sum = { 0 };
	struct reason why = { "" };
	int r = trainer_state_parse(text, len, &m, add, &sum, &s, &why);

	must(r == 0 ? !why.text[0] : r == -EINVAL && why.text[0] && sum.count == 0 && !s.best_model_checkpoint);
	trainer_state_clear(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 2;
	struct file f = { 0 };

	if (size < 2)
		return 0;
	size -= 2;
	if (data[0] == 't') {
		read_trainer_state(text, size);
		return 0;
	}
	f.csv = data[0] == 'c';
	f.header = text;
	f.header_len = f.csv ? metrics_csv_header(text, size) : 0;
	must(f.header_len <= size);
	read_file(&f, text + f.header_len, size - f.header_len, (size - f.header_len) * data[1] / 255);
	return 0;
}
