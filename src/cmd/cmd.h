/* The commands of the program. */
#ifndef EXPFS_CMD_H
#define EXPFS_CMD_H

#include "op/op.h"

/* argv[0] is the command's name; the result is the exit status. */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage;   /* behind the name */
	const char *summary; /* in a line of `expfs help`: up to 27 letters */
	const char *help;    /* the rest of `expfs help COMMAND` */
};

extern const struct command cmd_init, cmd_mount, cmd_umount, cmd_status, cmd_log, cmd_show, cmd_branch, cmd_load,
	cmd_commit, cmd_history, cmd_restore, cmd_forget, cmd_signal, cmd_select, cmd_verify, cmd_decide, cmd_diff, cmd_du,
	cmd_export, cmd_import, cmd_report, cmd_fsck;

/* What mount(8) runs for -t expfs, with its exit statuses. */
int mount_helper(int argc, char **argv);

/* A long option: its value is put into value or, where it may be given several times, added to the array list; where it
 * takes none, flag is set. */
struct cmd_option {
	const char *name; /* NULL ends a list of them */
	const char **value;
	bool *flag;
	json_t *list;
};
#define CMD_OPTIONS_MAX 10

/* Parses the options of argv; the operands begin at optind then. A value is NULL before, and is given once. What is wrong was
 * told. */
enum op_exit cmd_options(int argc, char **argv, const struct cmd_option *options);

/* Says what is wrong with an option: c is what getopt_long() gave with these options, and
 * short ones that begin with a colon. OP_USAGE. */
struct option;
enum op_exit cmd_bad_option(int argc, char **argv, int c, const struct option *options);

/* Says that other operands are wanted. OP_USAGE. */
enum op_exit cmd_bad_operands(const struct command *c);

/* Parts of an answer; "" and 0 where it does not have them. */
const char *cmd_string(const json_t *j, const char *key);
json_int_t cmd_number(const json_t *j, const char *key);

/* Says what an answer of OP_NO gives as the reason. */
void cmd_say_no(const json_t *answer);

/* Prints text of an answer; what could disturb a terminal becomes '?'. */
void cmd_print_text(const char *text);

/* Prints the answer of load or branch. */
enum op_exit cmd_print_loaded(const json_t *answer);

/* Prints an answer as JSON, indented; with flags of json_dumps(). Numbers are as of reply_dump(). */
void cmd_print_json(const json_t *j);
void cmd_print_json_as(const json_t *j, size_t flags);

/* A number of an answer, which may be the text of one that JSON does not know. */
#define CMD_NUMBER 32
void cmd_format_number(const json_t *number, char ret[static CMD_NUMBER]);

/* A number of bytes, and of what a noun names, for people (util/human.h). */
void cmd_print_bytes(double bytes);
void cmd_print_count(json_int_t n, const char *noun);

#endif
