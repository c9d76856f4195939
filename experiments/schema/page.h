/* experiments/schema/page.h -- the keys of a spec, told to people.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lines have at most 78 columns.
 */
#ifndef EXPERIMENTS_SCHEMA_PAGE_H
#define EXPERIMENTS_SCHEMA_PAGE_H

#include <stdio.h>

#include "experiments/schema/sections.h"
#include "sim/err.h"

/* Each section with the names of its keys. */
void xp_page_overview(FILE *out);

/* A section: its keys, what else there is to know, an example. */
void xp_page_print(const struct xp_page *p, FILE *out);

/* All sections, and GraphML. */
void xp_page_print_all(FILE *out);

/* What a GraphML file may hold. */
void xp_page_graphml(FILE *out);

/* What WORD means: a section, a path as of a sweep ("faults.0.rate"), or a key
 * of whatever sections have it. Errors SIM_EINVAL, with what is near. */
int xp_page_tell(const char *word, FILE *out, struct sim_err *e);

#endif
