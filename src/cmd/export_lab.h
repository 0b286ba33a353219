/* An experiment root of WeightsLab that is made up for a run (cmd/export_lab.c). */
#ifndef EXPFS_CMD_EXPORT_LAB_H
#define EXPFS_CMD_EXPORT_LAB_H

#include "cmd/export.h"

/* Adds checkpoints/manifest.yaml with the experiments of the branch, its configurations in WeightsLab's form, those checkpoints that
 * WeightsLab can load under its names, architectures and data snapshots likewise, and a state file. What it cannot load is told.
 * Of one whose model_state_dict has no current_step it takes the weights, and counts its steps from 0. */
enum op_exit export_lab_fill(struct export_job *j, struct export *e);

#endif
