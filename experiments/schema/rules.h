/* experiments/schema/rules.h -- what keys have to do with each other.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Some sections have a `kind`, which says what else counts. That stands in a
 * definition of its own, NAME_by_kind, since a sweep may vary the kind: then the
 * section's own definition alone holds.
 */
#ifndef EXPERIMENTS_SCHEMA_RULES_H
#define EXPERIMENTS_SCHEMA_RULES_H

#include "experiments/schema/sections.h"
#include "experiments/schema/writer.h"

/* "if": key KEY is one of NAMES. REQUIRED: and it is given. */
void xp_schema_if(struct xp_writer *w, const char *key,
    const char *const names[], int required);

/* A list of at least LEAST values that are as DEFINITION says. */
void xp_schema_list_of(struct xp_writer *w, const char *key,
    const char *definition, int least);

/* Within a schema: a value that is as DEFINITION says, or a list of such. */
void xp_schema_one_or_more(struct xp_writer *w, const char *definition);

/* The kind of section P, or NULL; its definition; and a value of it. */
const struct sim_field *xp_schema_kind_of(const struct xp_page *p);
void xp_schema_define_kinds(struct xp_writer *w, const struct xp_page *p);
void xp_schema_by_kind(struct xp_writer *w, const char *key,
    const struct xp_page *p);

/* The schemas that the root must meet, all of them, besides its own. */
void xp_schema_rules(struct xp_writer *w);

#endif
