/* WeightsLab's .checkpoint_manager_state.json: which experiment a root is at.
 *
 * previous_exp_hash is where current_exp_hash came from; after a resume the two
 * are equal, and it may name a hash that no manifest ever lists. */
#ifndef EXPFS_FORMAT_STATE_FILE_H
#define EXPFS_FORMAT_STATE_FILE_H

#include "format/reason.h"

#define STATE_FILE_SIZE_MAX (1u << 20)

/* Hashes of lower-case hex; "" where missing or null. Numbers: -1 likewise. */
struct state_file {
	char current_exp_hash[25], previous_exp_hash[25];
	char hp_hash[9], model_hash[9], data_hash[9], combined_hash[25]; /* component_hashes */
	int64_t step_counter, model_init_step;
	char last_updated[40]; /* local time in ISO form, without a zone */
};

/* -EINVAL with the reason: no JSON object, or a field of another kind. */
int state_file_parse(const char *text, size_t len, struct state_file *ret, struct reason *why);

#endif
