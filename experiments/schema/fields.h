/* experiments/schema/fields.h -- descriptors of keys, as JSON Schema.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_SCHEMA_FIELDS_H
#define EXPERIMENTS_SCHEMA_FIELDS_H

#include "experiments/schema/sections.h"
#include "experiments/schema/writer.h"

/* A schema of the value that F describes: type, range, names, default; and
 * title, meaning and unit, for people. */
void xp_schema_field(struct xp_writer *w, const char *key,
    const struct sim_field *f);

/* The inside of a schema of a map: type, properties and those that are
 * required, of fields and of KEYS (which may be NULL), and nothing else. */
void xp_schema_fields(struct xp_writer *w, const struct sim_field *fields,
    const struct xp_own_key *keys);

/* The same of a section, with the maps within it. */
void xp_schema_section(struct xp_writer *w, const struct xp_page *p);

/* {"$ref": "#/definitions/PATH"} */
void xp_schema_ref(struct xp_writer *w, const char *key, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
