/* The section checkpoint_manager: of a configuration, by which WeightsLab is told
 * what to save. */
#ifndef EXPFS_FORMAT_MANAGER_OPTIONS_H
#define EXPFS_FORMAT_MANAGER_OPTIONS_H

#include "format/reason.h"

#define MANAGER_OPTIONS_SIZE_MAX (1u << 20) /* of the configuration's text */

struct manager_options {
	bool enable_checkpoints;
	bool dump_model_architecture;
	bool dump_model_state;
	bool dump_optimizer_state;
	bool dump_data_state;
	bool dump_config_state;
	bool given; /* there is such a section */
};

/* As WeightsLab has it where nothing is said. */
#define MANAGER_OPTIONS_DEFAULT \
	((struct manager_options){ true, false, true, true, true, true, false })

/* From a configuration in YAML, with the defaults for what is missing. What an
 * alias or a merge key (<<) brings is not looked up. -EINVAL with the reason:
 * the text does not parse, or the section is no mapping. */
int manager_options_parse(const char *text, size_t len, struct manager_options *ret, struct reason *why);

#endif
