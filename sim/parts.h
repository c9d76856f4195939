/* sim/parts.h -- a section of a spec that several tables of fields read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	static const struct sim_part parts[] = {
 *		{"", own_fields, .offset = 0},
 *		{"icmp", fabric_sim_icmp_fields,
 *		    .offset = offsetof(struct agents, icmp)},
 *		{0}};
 *
 * reads `agents: {partial: known, icmp: {t_max: 100}}` into a struct agents.
 * Parts of one map stand one after another, the section's own, "", first.
 */
#ifndef SIM_PARTS_H
#define SIM_PARTS_H

#include <stdio.h>

#include "sim/yaml.h"

struct sim_part {
	const char *map; /* within the section; "": the section itself */
	const struct sim_field *fields; /* NULL ends the list */
	size_t offset; /* in the section's object, of what they fill */
	const char *const *only; /* of these fields alone; NULL: of all */
	const char *when; /* each counts only then: see struct sim_field */
};

enum { SIM_PARTS_MAX = 40 }; /* parts of a section; fields of a map */

/* Read SECTION of the tree's root into OBJ; absent keys, maps and sections
 * stand for defaults. Mistakes are added to Y; returns only SIM_ENOMEM. */
int sim_parts_read(struct sim_yaml *y, const char *section,
    const struct sim_part parts[], void *obj, struct sim_err *e);

/* The same for a section whose map is NODE, or NULL. */
int sim_parts_read_map(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct sim_part parts[], void *obj, struct sim_err *e);

/* The field of a key by its path within the section, "icmp.t_max", or NULL. */
const struct sim_field *sim_parts_find(const struct sim_part parts[],
    const char *path);

/* Collect in ALL the fields of all parts that read the same map as PART, with
 * offsets within the section's object. Returns the first part of the next
 * map. */
const struct sim_part *sim_parts_join(const struct sim_part *part,
    struct sim_field all[SIM_PARTS_MAX]);

#endif
