/* A run's configuration in the form in which WeightsLab keeps one:
 *
 *   exp_hash: '<eight>'
 *   hyperparameters:
 *     <the configuration, as it is>
 *   last_updated: '<time>'
 *
 * The text of the configuration is kept, for what PyYAML makes of its values depends on how they are written. */
#ifndef EXPFS_CMD_EXPORT_LAB_CONFIG_H
#define EXPFS_CMD_EXPORT_LAB_CONFIG_H

#include "format/hp.h"

#define LAB_CONFIG_MAX ((size_t)1 << 20)

/* name: of the file; time as in RFC 3339. *ret is to be freed. -EINVAL: it cannot be put so that it is read as what it is. -ENOMEM */
int lab_config(const char *text, const char *name, const char *hash, const char *time, char **ret);

#endif
