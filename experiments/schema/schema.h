/* experiments/schema/schema.h -- the keys of a spec, as a JSON Schema.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of draft-07, which is what YAML language servers read best. It takes whatever
 * experiments/spec/ takes, and refuses what can be seen without the network:
 * unknown keys, types, ranges, names that are none, keys that have no use with
 * the section's `kind`. A swept value is held against the key's own
 * description.
 */
#ifndef EXPERIMENTS_SCHEMA_SCHEMA_H
#define EXPERIMENTS_SCHEMA_SCHEMA_H

#include <stdio.h>

void xp_schema_print(FILE *out);

#endif
