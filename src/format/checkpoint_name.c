/* HF Trainer: optimizer.pt, scheduler.pt, scaler.pt, rng_state*.pth, training_args.bin; accelerate: optimizer.bin,
 * sampler.bin, random_states_N.pkl; DeepSpeed: *_optim_states.pt. */
#include "format/checkpoint_name.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "util/util.h"

static bool read_number(const char *p, int64_t *ret)
{
	int64_t n = 0;

	if (*p && strchr("=_-", *p))
		p++;
	if (!isdigit((unsigned char)*p))
		return false;
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *p - '0', &n))
			return false;
	*ret = n;
	return true;
}

static size_t epoch_word(const char *p)
{
	return strncasecmp(p, "epoch", 5) == 0 ? 5 : strncasecmp(p, "ep", 2) == 0 ? 2 : 0;
}

bool epoch_of_name(const char *name, int64_t *ret)
{
	bool any = false;

	for (const char *p = name; *p; p++) {
		size_t n = p == name || !isalpha((unsigned char)p[-1]) ? epoch_word(p) : 0;
		int64_t v;

		if (n == 0 || !read_number(p + n, &v))
			continue;
		if (any && v != *ret)
			return false;
		any = true;
		*ret = v;
	}
	return any;
}

bool member_holds_model(const char *path)
{
	static const char *const others[] = { "optimizer", "scheduler", "scaler", "rng_state", "random_states", "sampler",
					      "training_args" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!strncmp(name, others[i], strlen(others[i])))
			return false;
	return strstr(name, "optim_states") == NULL;
}
