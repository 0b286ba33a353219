#include "util/fault.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

/* The plan is the process's, as the environment is. */
static struct fault_plan *plan;

__attribute__((constructor)) static void map_plan(void)
{
	const char *path = getenv("EXPFS_FAULTS");
	_cleanup_close_ int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p != MAP_FAILED)
		plan = p;
	else if (path)
		_exit(3); /* a test that finds no fault would say that all is well */
}

/* As util/io.c:12 pread */
static void set_where(const char *where)
{
	const char *call = strchr(where, ' '), *file = where;

	for (const char *p = where; p < call; p++)
		if (*p == '/' && !strncmp(p, "/src/", 5))
			file = p + 5;
	strncpy(plan->where, file, MIN((size_t)(call - file) + strcspn(call, "("), sizeof(plan->where) - 1));
}

static bool is_hit(enum fault_class class, const char *where)
{
	int32_t n;

	if (!(atomic_load(&plan->classes) & (int32_t)class))
		return false;
	n = atomic_fetch_sub(&plan->countdown, 1);
	if (n > 1 || (n < 1 && !plan->forever))
		return false;
	if (n == 1)
		set_where(where);
	atomic_fetch_or(&plan->hit_classes, (int32_t)class);
	atomic_fetch_add(&plan->hits, 1);
	errno = plan->error;
	return true;
}

bool fault(enum fault_class class, const char *where)
{
	return plan && plan->error && is_hit(class, where);
}

bool fault_count(enum fault_class class, const char *where, size_t *n)
{
	if (!plan || (plan->error == 0 && *n < 2) || !is_hit(class, where))
		return false;
	if (plan->error == 0)
		*n /= 2;
	return plan->error != 0;
}
