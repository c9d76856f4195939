/* sim/field.h -- descriptor tables: one list gives parsing, ranges and help.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	static const struct sim_field fields[] = {
 *		{"n_pods", SIM_F_U32, offsetof(struct shape, n_pods),
 *		 .def = "2", .min = 1, .max = 4096, .unit = "pods",
 *		 .doc = "pods"},
 *		{0}};
 *
 * A table ends with an entry whose name is NULL.
 */
#ifndef SIM_FIELD_H
#define SIM_FIELD_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/err.h"
#include "sim/text.h"

enum sim_field_type {
	SIM_F_U32,  /* uint32_t */
	SIM_F_U64,  /* uint64_t */
	SIM_F_F64,  /* double; nan and inf are refused */
	SIM_F_BOOL, /* uint32_t 0 or 1; written true or false */
	SIM_F_ENUM, /* uint32_t index into names[] */
	SIM_F_SET,  /* uint32_t bit mask over names[]; written as a list */
	SIM_F_STR,  /* char[size], always terminated */
	SIM_F_DIST, /* struct sim_dist; min and max hold for both ends */
};

/* A number, or how to draw one. Written 0.01, {uniform: [a, b]} or
 * {log_uniform: [a, b]}, with a <= b (and a > 0 for log_uniform). */
enum sim_dist_kind { SIM_FIXED, SIM_UNIFORM, SIM_LOG_UNIFORM };
struct sim_dist {
	enum sim_dist_kind kind;
	double a, b; /* a == b when fixed */
};

struct sim_field {
	const char *name;
	enum sim_field_type type;
	size_t offset;
	size_t size;              /* SIM_F_STR: bytes with the terminator */
	double min, max;          /* numbers: allowed range, both included;
				     0, 0: whatever the type holds */
	uint8_t whole;            /* SIM_F_DIST: both ends must be integers */
	const char *unit;         /* "1", "ns", "packets", ... */
	const char *const *names; /* SIM_F_ENUM, SIM_F_SET: NULL-terminated */
	const char *def;          /* default as it would be written, or NULL:
				     the key is required */
	const char *doc;
	/* The key counts only then, by another key of the same table:
	 * "dst=skewed", "kind=clos|region", "rate!=0", "vips!=" (not
	 * empty). NULL: always. A key of another `kind` cannot be meant, so
	 * whoever reads it may take it for a mistake. */
	const char *when;
};

/* Set one field of OBJ from the text of a YAML scalar (for SIM_F_SET and
 * SIM_F_DIST: from a flow text such as "[a, b]" or "{uniform: [1, 9]}").
 * OBJ keeps its value on failure.
 * Errors SIM_EINVAL (wrong type), SIM_ERANGE; the message names the field, the
 * value, the allowed range and the unit, and suggests the nearest enum name. */
int sim_field_set(const struct sim_field *f, void *obj, const char *text,
    struct sim_err *e);

/* Set every field that has a default. Required fields are left alone. */
int sim_field_defaults(const struct sim_field *fields, void *obj,
    struct sim_err *e);

/* *OBJ, of SIZE bytes, is PARAMS, or the defaults if that is NULL. */
int sim_field_take(const struct sim_field *fields, const void *params,
    size_t size, void *obj, struct sim_err *e);

/* Whether field F of table FIELDS counts with the values in OBJ. If not, WHY is
 * a text such as "it counts only with dst: skewed". */
int sim_field_counts(const struct sim_field *fields, const struct sim_field *f,
    const void *obj, char why[160]);

/* Append to ALL, which holds N fields in room for CAP, the fields of table F,
 * or only those named in ONLY (NULL-terminated; NULL: all of them). F describes
 * a struct that stands at OFFSET in the object that ALL describes, so OFFSET is
 * added to each. Returns the new number of fields; behind them is a nameless
 * entry, which CAP must also hold. */
size_t sim_field_join(struct sim_field all[], size_t n, size_t cap,
    const struct sim_field *f, size_t offset, const char *const only[]);

/* One line a field: name, type, unit, range, default, doc. For --help. */
void sim_field_help(const struct sim_field *fields, FILE *out);

/* What a value is, "number or draw"; and what it may be, "[0, 1000] packets" or
 * "bpf, nft", as far as that is stated. */
const char *sim_field_type_name(const struct sim_field *f);
void sim_field_put_values(const struct sim_field *f, struct sim_text *t);

/* With what it counts, which is stated: "dst: skewed", "rate other than 0". */
void sim_field_put_when(const struct sim_field *f, struct sim_text *t);

/* The range of a number: the stated one, within what its type holds. 2^64 is
 * the upper end of a uint64_t, without itself. */
void sim_field_range(const struct sim_field *f, double *lo, double *hi);

/* The entry of that name, or NULL. */
const struct sim_field *sim_field_find(const struct sim_field *fields,
    const char *name);

#endif
