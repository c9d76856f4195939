/* experiments/schema/fields.c -- descriptors of keys, as JSON Schema.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/schema/fields.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "results/schema.h"

/* --- values --------------------------------------------------------------- */

static void put_range(struct xp_writer *w, const struct sim_field *f)
{
	double lo, hi;
	sim_field_range(f, &lo, &hi);
	if (lo > -INFINITY)
		xp_write_number(w, "minimum", lo);
	/* Beyond 2^53 doubles have gaps. */
	if (hi < 0x1p53 || f->type != SIM_F_U64)
		if (hi < INFINITY)
			xp_write_number(w, "maximum", hi);
}

/* {uniform: [a, b]}: both ends are in the range of the number. */
static void put_draw(struct xp_writer *w, const struct sim_field *f,
    const char *kind, int above_0)
{
	xp_write_map(w, kind);
	xp_write_text(w, "type", "array");
	xp_write_number(w, "minItems", 2);
	xp_write_number(w, "maxItems", 2);
	xp_write_map(w, "items");
	xp_write_text(w, "type", f->whole ? "integer" : "number");
	put_range(w, f);
	if (above_0)
		xp_write_number(w, "exclusiveMinimum", 0);
	xp_write_end_map(w);
	xp_write_end_map(w);
}

/* Whole numbers are not drawn by the logarithm: see models/dist.h. */
static void put_dist(struct xp_writer *w, const struct sim_field *f)
{
	xp_write_list(w, "anyOf");
	xp_write_map(w, NULL);
	xp_write_text(w, "type", f->whole ? "integer" : "number");
	put_range(w, f);
	xp_write_end_map(w);
	xp_write_map(w, NULL);
	xp_write_text(w, "type", "object");
	xp_write_map(w, "properties");
	put_draw(w, f, "uniform", 0);
	if (!f->whole)
		put_draw(w, f, "log_uniform", 1);
	xp_write_end_map(w);
	xp_write_bool(w, "additionalProperties", 0);
	xp_write_number(w, "minProperties", 1);
	xp_write_number(w, "maxProperties", 1);
	xp_write_end_map(w);
	xp_write_end_list(w);
}

/* A text may be written without quotes, and then look like something else. */
static void put_string(struct xp_writer *w, const struct sim_field *f)
{
	static const char *const types[] = {"string", "number", "boolean",
	    NULL};
	xp_write_names(w, "type", types);
	xp_write_number(w, "maxLength", (double)f->size - 1);
}

static void schema_put_value(struct xp_writer *w, const struct sim_field *f)
{
	switch (f->type) {
	case SIM_F_U32:
	case SIM_F_U64:
		xp_write_text(w, "type", "integer");
		put_range(w, f);
		return;
	case SIM_F_F64:
		xp_write_text(w, "type", "number");
		put_range(w, f);
		return;
	case SIM_F_BOOL:
		xp_write_text(w, "type", "boolean");
		return;
	case SIM_F_ENUM:
		xp_write_names(w, "enum", f->names);
		return;
	case SIM_F_SET:
		xp_write_text(w, "type", "array");
		xp_write_bool(w, "uniqueItems", 1);
		xp_write_map(w, "items");
		xp_write_names(w, "enum", f->names);
		xp_write_end_map(w);
		return;
	case SIM_F_STR:
		put_string(w, f);
		return;
	case SIM_F_DIST:
		put_dist(w, f);
		return;
	}
}

/* --- defaults ------------------------------------------------------------- */

static void put_default_draw(struct xp_writer *w, const struct sim_dist *d)
{
	if (d->kind == SIM_FIXED) {
		xp_write_number(w, "default", d->a);
		return;
	}
	xp_write_map(w, "default");
	xp_write_list(w, d->kind == SIM_UNIFORM ? "uniform" : "log_uniform");
	xp_write_number(w, NULL, d->a);
	xp_write_number(w, NULL, d->b);
	xp_write_end_list(w);
	xp_write_end_map(w);
}

/* A default is read as what a spec holds is, so that it has its type. */
static void put_default(struct xp_writer *w, const struct sim_field *f)
{
	union {
		uint32_t u32;
		uint64_t u64;
		double f64;
		struct sim_dist dist;
	} value = {.u64 = 0};
	struct sim_field own = *f;
	own.offset = 0;
	if (f->type == SIM_F_STR || f->type == SIM_F_ENUM) {
		xp_write_text(w, "default", f->def);
		return;
	}
	if (sim_field_set(&own, &value, f->def, NULL) < 0)
		return;
	if (f->type == SIM_F_BOOL)
		xp_write_bool(w, "default", value.u32 != 0);
	else if (f->type == SIM_F_DIST)
		put_default_draw(w, &value.dist);
	else if (f->type == SIM_F_SET) {
		const char *names[33];
		size_t n = 0;
		for (unsigned i = 0; i < 32 && f->names[i]; i++)
			if (value.u32 >> i & 1)
				names[n++] = f->names[i];
		names[n] = NULL;
		xp_write_names(w, "default", names);
	} else {
		xp_write_number(w, "default",
		    f->type == SIM_F_U32       ? value.u32
			: f->type == SIM_F_U64 ? (double)value.u64
					       : value.f64);
	}
}

/* --- keys ----------------------------------------------------------------- */

/* The unit stands in the title, which an editor shows first, and by itself for
 * programs. */
void xp_schema_field(struct xp_writer *w, const char *key,
    const struct sim_field *f)
{
	const int has_unit = f->unit && strcmp(f->unit, "1") != 0;
	char title[160];
	snprintf(title, sizeof(title), "%s%s%s", f->name,
	    has_unit ? ", in " : "", has_unit ? f->unit : "");
	xp_write_map(w, key);
	xp_write_text(w, "title", title);
	xp_write_text(w, "description", f->doc);
	if (has_unit)
		xp_write_text(w, "x-unit", f->unit);
	schema_put_value(w, f);
	if (f->def)
		put_default(w, f);
	xp_write_end_map(w);
}

static void put_own_key(struct xp_writer *w, const struct xp_own_key *k)
{
	static const char *const both[] = {"string", "integer", NULL};
	static const char *const label[] = {"string", "number", "boolean",
	    NULL};
	xp_write_map(w, k->name);
	xp_write_text(w, "title", k->name);
	xp_write_text(w, "description", k->doc);
	if (k->texts || k->numbers) {
		xp_write_text(w, "type", "array");
		xp_write_number(w, "minItems", 1);
		xp_write_bool(w, "uniqueItems", 1);
		xp_write_map(w, "items");
		if (k->texts)
			xp_write_names(w, "type", both);
		else
			xp_write_text(w, "type", "integer");
		/* No text is below 0. */
		xp_write_number(w, "minimum", 0);
		xp_write_end_map(w);
	} else {
		xp_write_names(w, "type", label);
	}
	xp_write_end_map(w);
}

static void put_required(struct xp_writer *w, const struct sim_field *f)
{
	const char *names[SIM_PARTS_MAX + 1];
	size_t n = 0;
	for (; f->name; f++)
		if (!f->def)
			names[n++] = f->name;
	names[n] = NULL;
	if (n > 0)
		xp_write_names(w, "required", names);
}

static void put_properties(struct xp_writer *w, const struct sim_field *f,
    const struct xp_own_key *keys)
{
	for (; f->name; f++)
		xp_schema_field(w, f->name, f);
	for (; keys && keys->name; keys++)
		put_own_key(w, keys);
}

void xp_schema_fields(struct xp_writer *w, const struct sim_field *fields,
    const struct xp_own_key *keys)
{
	xp_write_text(w, "type", "object");
	xp_write_bool(w, "additionalProperties", 0);
	put_required(w, fields);
	xp_write_map(w, "properties");
	put_properties(w, fields, keys);
	xp_write_end_map(w);
}

void xp_schema_section(struct xp_writer *w, const struct xp_page *p)
{
	struct sim_field all[SIM_PARTS_MAX];
	const struct sim_part *part = sim_parts_join(p->parts, all);
	xp_write_text(w, "type", "object");
	xp_write_bool(w, "additionalProperties", 0);
	put_required(w, all);
	xp_write_map(w, "properties");
	put_properties(w, all, p->keys);
	while (part->fields) {
		const char *map = part->map;
		part = sim_parts_join(part, all);
		xp_write_map(w, map);
		xp_schema_fields(w, all, NULL);
		xp_write_end_map(w);
	}
	xp_write_end_map(w);
}

void xp_schema_ref(struct xp_writer *w, const char *key, const char *fmt, ...)
{
	char path[512];
	va_list ap;
	va_start(ap, fmt);
	const int n = snprintf(path, sizeof(path), "#/definitions/");
	vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, ap);
	va_end(ap);
	xp_write_map(w, key);
	xp_write_text(w, "$ref", path);
	xp_write_end_map(w);
}
