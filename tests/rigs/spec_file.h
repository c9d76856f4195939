/* tests/rigs/spec_file.h -- specs written to a temporary folder, and loaded.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef TESTS_SPEC_FILE_H
#define TESTS_SPEC_FILE_H

#include "experiments/spec/spec.h"

/* Group setup and teardown: make and remove the folder of these files. */
int spec_folder_make(void **state);
int spec_folder_remove(void **state);

/* The path of NAME in that folder; good until the fourth call from now. */
const char *spec_path(const char *name);

/* Write TEXT to a file of that folder. */
void spec_write(const char *name, const char *text);

/* Load TEXT as the file x.yaml. */
int spec_load(struct xp_spec *s, const char *text, struct sim_err *e);

/* The same, which must succeed. */
void spec_open(struct xp_spec *s, const char *text);

#endif
