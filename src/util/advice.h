/* An error in words for who asked for something: what went wrong, and what he can do about it. */
#ifndef EXPFS_UTIL_ADVICE_H
#define EXPFS_UTIL_ADVICE_H

/* Of a negative errno; the text holds until the thread's next call. */
const char *advice(int r);

#endif
