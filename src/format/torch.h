/* torch's files since 1.6: a zip file with a pickle, and a record for each
 * storage that the pickle refers to. TorchScript archives have the same. */
#ifndef EXPFS_FORMAT_TORCH_H
#define EXPFS_FORMAT_TORCH_H

#include "format/pickle.h"
#include "format/records.h"

bool torch_is(const struct records *rs);

/* Fills ts with the tensors that loading would give, named by the keys of
 * dictionaries, the indices of sequences, and the attributes of objects that lead
 * to them. What an unknown callable is called with counts as its content, under
 * indices; so a nested tensor is those that it is built of. Tensors that are sparse,
 * quantised, or wrapped by a class that keeps its data elsewhere are told with their
 * components (format/torch_composed.h). Of what is on no device type and shape are told,
 * but it is not located. Not tensors are storages by themselves and numpy's arrays.
 *
 * The tensors of the model are those below the first of the top-level keys model,
 * model_state_dict, state_dict, module that has tensors below it. Where none has,
 * they are all tensors but those that
 * - stand below a top-level key one of whose words (between '_', in any case) is
 *   amp, opt or rng or begins with optim, sched, scaler or rng: optimizer,
 *   optimizer_state_dict, optimizer_states, optim_g, opt_state, lr_scheduler,
 *   lr_schedulers, sched, scaler, grad_scaler, amp_state, rng, rng_state, rng_states,
 *   torch_rng, cuda_rng_state …
 * - are themselves the value of a top-level key with such a word for rng.
 * Names that hold a '.' have no such words: they are a flat list of weights.
 *
 * Errors as in format/window.h. */
int torch_read(struct tensors *ts, const struct records *rs);

/* That rule: the place of a top-level key among those of the model, SIZE_MAX for others; whether a tensor below the key,
 * or its value, is of something else than the model. */
size_t torch_model_rank(struct pickle_bytes key);
bool torch_is_other(struct pickle_bytes key, bool below);

#endif
