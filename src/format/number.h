/* Numbers as Python reads and writes them. */
#ifndef EXPFS_FORMAT_NUMBER_H
#define EXPFS_FORMAT_NUMBER_H

#include <stddef.h>

/* Python's own limit of int() and repr(). */
#define NUMBER_DIGITS_MAX 4300

/* int(text, base) for the bases 2, 8, 10 and 16: a sign and spaces around it
 * are taken, and a prefix as 0x where the base has one. *ret is the number in
 * decimal, to be freed. -EINVAL: no number, or digits of other scripts, which
 * Python would take. -ERANGE: too many digits. -ENOMEM. */
int number_int(const char *text, size_t len, int base, char **ret);

/* The same of up to 14 parts joined by colons, each 60 times the next; base 10. */
int number_int_sexagesimal(const char *text, size_t len, char **ret);

/* float(text), but without '_'. -EINVAL as above. */
int number_float(const char *text, size_t len, double *ret);

/* The same of up to 14 parts joined by colons. -ERANGE: more. */
int number_float_sexagesimal(const char *text, size_t len, double *ret);

/* The shortest decimal that is read back as this double, in the form of
 * Python's json: 0.0001, 1e-05, 1e+16, Infinity, NaN. */
#define NUMBER_REPR_SIZE 32
void number_repr(double number, char ret[NUMBER_REPR_SIZE]);

#endif
