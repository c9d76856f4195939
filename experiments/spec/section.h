/* experiments/spec/section.h -- a part of a spec that belongs to one object.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Planes and fabrics come in kinds, and each kind may have a key of the spec's
 * root to itself: `pingmesh: {...}`. All sections are read at every point,
 * whatever plane the point has, so that a mistake is told in any case and a
 * sweep may vary the plane.
 */
#ifndef EXPERIMENTS_SPEC_SECTION_H
#define EXPERIMENTS_SPEC_SECTION_H

#include <stdio.h>

#include "sim/err.h"
#include "sim/field.h"
#include "sim/parts.h"
#include "sim/yaml.h"
#include "topo/topo.h"

struct xp_config;

struct xp_section {
	const char *name; /* the key */
	size_t size;      /* of what is read */

	/* Read NODE, the key's value in the tree, into PARAMS, which are
	 * zeroed; NULL stands for defaults. T is the network, or NULL:
	 * what depends on it is not checked. Mistakes are added to Y;
	 * returns only SIM_ENOMEM. */
	int (*read)(struct sim_yaml *y, const struct sim_yaml_node *node,
	    const struct topo *t, void *params, struct sim_err *e);

	/* The descriptor of a key by its path within the section, for the unit
	 * and the meaning of a swept one; NULL: none is known. */
	const struct sim_field *(*field)(const char *path);

	const struct sim_part *parts; /* all its keys */
	const char *example; /* of a spec with this section: YAML of the root */
};

/* A key by its path, "agents.rto", that a plane or a fabric does not read, if
 * only on real fabrics. With WHY it reads the key, but it may do nothing with C:
 * a phrase says why, or NULL. */
struct xp_idle_key {
	const char *path;
	uint8_t on_real;
	const char *(*why)(const struct xp_config *c);
};

/* All sections, in the order of their owners; NULL beyond the last one. */
enum { XP_MAX_SECTIONS = 16 };
const struct xp_section *xp_section_at(size_t i);

/* The one of that name, or NULL. */
const struct xp_section *xp_section_of_name(const char *name);

/* What was read into C of section S, which must be in the list. */
const void *xp_section_of(const struct xp_config *c,
    const struct xp_section *s);

#endif
