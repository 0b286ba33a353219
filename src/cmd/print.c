/* What commands print of answers. */
#include <stdio.h>

#include "cmd/cmd.h"
#include "op/reply.h"
#include "util/human.h"
#include "util/log.h"

const char *cmd_string(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s ? s : "";
}

json_int_t cmd_number(const json_t *j, const char *key)
{
	return json_integer_value(json_object_get(j, key));
}

void cmd_say_no(const json_t *answer)
{
	log_msg("%s", cmd_string(answer, "error"));
}

void cmd_print_text(const char *text)
{
	for (; *text; text++)
		putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
}

void cmd_print_json_as(const json_t *j, size_t flags)
{
	_cleanup_free_ char *text = reply_dump(j, flags);

	if (text)
		puts(text);
}

void cmd_print_json(const json_t *j)
{
	cmd_print_json_as(j, JSON_INDENT(2));
}

void cmd_format_number(const json_t *number, char ret[static CMD_NUMBER])
{
	if (json_is_string(number))
		snprintf(ret, CMD_NUMBER, "%s", json_string_value(number));
	else
		snprintf(ret, CMD_NUMBER, "%.9g", json_number_value(number));
}

void cmd_print_bytes(double bytes)
{
	char text[HUMAN_TEXT];

	human_bytes(bytes, text);
	printf("%s", text);
}

void cmd_print_count(json_int_t n, const char *noun)
{
	char text[HUMAN_COUNT];

	printf("%s", human_count((uint64_t)n, noun, text));
}
