/* What most commands do: they ask for an operation on a store and print its answer. In the order of calls:
 *
 *   _cleanup_ask_ struct ask a = { .command = "history" };
 *   exit = ask_options(&a, argc, argv, NULL, NULL);      the rest of argv begins at optind
 *   exit = ask_path(&a, …) or ask_branch(&a, …);         more arguments go into a.args
 *   exit = ask_run(&a, "history");
 *   return ask_print(&a, exit, print);
 *
 * A result other than OP_DONE and OP_NO was told on standard error. */
#ifndef EXPFS_CMD_ASK_H
#define EXPFS_CMD_ASK_H

#include "cmd/target.h"

struct ask {
	const char *command; /* as messages name it */
	const char *store;   /* as --store names it, or NULL */
	bool json;           /* --json */
	const char *outside; /* what is said of an operand that is a file in no mount; NULL: that stores are named by --store */
	struct target target;
	json_t *args, *answer;
};

/* Parses --store and --json, and the option name, if it is not NULL, whose value goes to *ret. */
enum op_exit ask_options(struct ask *a, int argc, char **argv, const char *name, const char **ret);

/* Finds the store, of path (NULL: of the working directory, or as it is named), and puts the path into the arguments. */
enum op_exit ask_path(struct ask *a, const char *path, enum target_where where);

/* The same for an operand BRANCH|PATH, as target_open_branch(). */
enum op_exit ask_branch(struct ask *a, const char *operand);

/* Asks for the operation; the answer is there with OP_DONE and OP_NO. */
enum op_exit ask_run(struct ask *a, const char *op);

/* Prints the answer, as JSON or by print, or with OP_NO says why. print tells whether it could; exit is given back otherwise. */
typedef enum op_exit (*ask_print_fn)(const json_t *answer);
enum op_exit ask_print(const struct ask *a, enum op_exit exit, ask_print_fn print);

void ask_free(struct ask *a);
#define _cleanup_ask_ _cleanup_(ask_free)

#endif
