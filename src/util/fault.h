/* Fault points: calls to the system that a test can make fail.
 *
 * FAULT(class, call) is the call, and in a program that was configured with
 * --enable-fault-injection now and then -1 with errno set instead of it.
 * FAULT_COUNT(class, n, call) is one that may also transfer less than it was asked
 * for: then n, a variable that the call names, is smaller when it is made.
 *
 * Which point fails, and how, a struct fault_plan says: a file of that layout, whose
 * name is in the environment variable EXPFS_FAULTS, shared with the test. Points of the
 * classes of the plan, and where error is 0 those alone that can fall short, are
 * counted down together, in all processes; the one that gets to 0 fails, and
 * with forever set all after it too. Arm it by setting classes last. */
#ifndef EXPFS_FAULT_H
#define EXPFS_FAULT_H

#include "config.h"
#include "util/util.h"

#ifdef FAULT_INJECTION

#include <stdatomic.h>

enum fault_class {
	FAULT_STORE = 1,
	FAULT_DATABASE = 2,
	FAULT_SYNC = 4, /* of whatever file */
};

struct fault_plan {
	_Atomic int32_t classes; /* 0: no fault */
	int32_t error;           /* errno, or 0: a count that is too small */
	int32_t forever;
	_Atomic int32_t countdown;
	_Atomic int32_t hits;        /* faults until now */
	_Atomic int32_t hit_classes; /* of these */
	char where[104];             /* the first of them: file, line, call */
};

/* Whether the call is to fail, with errno set. */
bool fault(enum fault_class class, const char *where);
bool fault_count(enum fault_class class, const char *where, size_t *n);

#define FAULT_STRING_(x) #x
#define FAULT_STRING(x) FAULT_STRING_(x)
#define FAULT_WHERE(call) __FILE__ ":" FAULT_STRING(__LINE__) " " #call
#define FAULT(class, call) (fault(FAULT_##class, FAULT_WHERE(call)) ? -1 : (call))
#define FAULT_COUNT(class, n, call) (fault_count(FAULT_##class, FAULT_WHERE(call), &(n)) ? -1 : (call))

#else

#define FAULT(class, call) (call)
#define FAULT_COUNT(class, n, call) (call)

#endif
#endif
