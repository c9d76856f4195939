/* experiments/schema/sections.h -- all that a spec may hold, as one list.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Keys, types, ranges, units, defaults and meanings are those of the tables that
 * a spec is read by. Here is only what these can't say. The pages of
 * `culprit spec` and the JSON Schema are both made of this list.
 */
#ifndef EXPERIMENTS_SCHEMA_SECTIONS_H
#define EXPERIMENTS_SCHEMA_SECTIONS_H

#include <stddef.h>

#include "sim/field.h"
#include "sim/parts.h"

/* How the value of a section is written. */
enum xp_form {
	XP_FORM_TOP,   /* it has no key: these are keys of the root */
	XP_FORM_MAP,   /* NAME: {...} */
	XP_FORM_MAPS,  /* NAME: {...}, or a list of such maps */
	XP_FORM_LIST,  /* NAME: [{...}, ...] */
	XP_FORM_ALGOS, /* NAME: [vote, {name: vote, ...}] */
	XP_FORM_SWEEP, /* NAME: {grid: {PATH: [...]}, zip: {PATH: [...]}} */
	XP_FORM_SMOKE, /* NAME: {PATH: ...} */
};

/* A key that is no field of a table. */
struct xp_own_key {
	const char *name, *type, *doc;
	uint8_t texts, numbers; /* a list of which; neither: no list */
};

struct xp_page {
	const char *name;
	enum xp_form form;
	const char *doc;               /* one line */
	const char *owner;             /* "plane agents", or NULL */
	const struct sim_part *parts;  /* NULL: it has no tables */
	const struct xp_own_key *keys; /* the last has no name; or NULL */
	const char *more;              /* paragraphs; or NULL */
	const char *example;           /* keys of the root, as YAML */
};

/* The I-th, in the order of a spec. Returns 0 beyond the last. */
int xp_page_at(size_t i, struct xp_page *out);

/* The one that reads key NAME of the root, or none and 0. */
int xp_page_find(const char *name, struct xp_page *out);

/* Called for each key of a page, MAP being the map that it is in, or "". One of
 * FIELD, whose life is that of the call, and OWN is NULL. */
typedef void xp_page_visitor(void *arg, const struct xp_page *p,
    const char *map, const struct sim_field *field,
    const struct xp_own_key *own);
void xp_page_visit(const struct xp_page *p, xp_page_visitor *visit, void *arg);

/* May a sweep vary it, and `smoke` replace it? */
int xp_page_is_of_point(const struct xp_page *p);

#endif
