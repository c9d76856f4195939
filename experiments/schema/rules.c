/* experiments/schema/rules.c -- what keys have to do with each other.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/schema/rules.h"

#include <string.h>

#include "experiments/schema/fields.h"
#include "experiments/spec/plane.h"
#include "models/fault/fault.h"

/* "if": key KEY is one of NAMES. REQUIRED: and it is given. */
void xp_schema_if(struct xp_writer *w, const char *key,
    const char *const names[], int required)
{
	const char *const need[] = {key, NULL};
	xp_write_map(w, "if");
	xp_write_map(w, "properties");
	xp_write_map(w, key);
	xp_write_names(w, "enum", names);
	xp_write_end_map(w);
	xp_write_end_map(w);
	if (required)
		xp_write_names(w, "required", need);
	xp_write_end_map(w);
}

/* Does field F count with KIND, as far as kinds decide? */
static int counts_with(const struct sim_field *f, const char *kind)
{
	static const char by_kind[] = "kind=";
	const size_t n = strlen(kind);
	if (!f->when || strncmp(f->when, by_kind, strlen(by_kind)) != 0)
		return 1;
	for (const char *v = f->when + strlen(by_kind); *v; v += *v == '|') {
		const size_t len = strcspn(v, "|");
		if (len == n && strncmp(v, kind, n) == 0)
			return 1;
		v += len;
	}
	return 0;
}

static int is_useless(const struct xp_page *p, const char *key, uint32_t kind)
{
	return p->form == XP_FORM_MAPS && !fault_uses(kind, key);
}

/* What has no use with one of KIND's values. */
static void put_useless(struct xp_writer *w, const struct xp_page *p,
    const struct sim_field *all, const struct sim_field *kind, uint32_t value)
{
	const char *const name[] = {kind->names[value], NULL};
	xp_write_map(w, NULL);
	/* Without the key it is the default. */
	xp_schema_if(w, "kind", name, strcmp(kind->def, *name) != 0);
	xp_write_map(w, "then");
	xp_write_map(w, "properties");
	for (const struct sim_field *f = all; f->name; f++)
		if (!counts_with(f, *name) || is_useless(p, f->name, value))
			xp_write_bool(w, f->name, 0);
	for (const struct xp_own_key *k = p->keys; k && k->name; k++)
		if (is_useless(p, k->name, value))
			xp_write_bool(w, k->name, 0);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
}

/* Some sections have a `kind`, which says what else counts. That stands in a
 * definition of its own, since a sweep may vary the kind. */
const struct sim_field *xp_schema_kind_of(const struct xp_page *p)
{
	return p->parts ? sim_parts_find(p->parts, "kind") : NULL;
}

void xp_schema_define_kinds(struct xp_writer *w, const struct xp_page *p)
{
	const struct sim_field *kind = xp_schema_kind_of(p);
	struct sim_field all[SIM_PARTS_MAX];
	char name[64];
	sim_parts_join(p->parts, all);
	snprintf(name, sizeof(name), "%s_by_kind", p->name);
	xp_write_map(w, name);
	xp_write_list(w, "allOf");
	for (uint32_t i = 0; kind->names[i]; i++)
		put_useless(w, p, all, kind, i);
	xp_write_end_list(w);
	xp_write_end_map(w);
}

void xp_schema_list_of(struct xp_writer *w, const char *name,
    const char *definition, int least)
{
	xp_write_map(w, name);
	xp_write_text(w, "type", "array");
	xp_write_number(w, "minItems", least);
	xp_schema_ref(w, "items", "%s", definition);
	xp_write_end_map(w);
}

/* A value that is as DEFINITION says, or a list of such. */
void xp_schema_one_or_more(struct xp_writer *w, const char *definition)
{
	xp_write_list(w, "anyOf");
	xp_schema_ref(w, NULL, "%s", definition);
	xp_schema_list_of(w, NULL, definition, 0);
	xp_write_end_list(w);
}

/* What also holds of that value where its kind is not swept. */
void xp_schema_by_kind(struct xp_writer *w, const char *key,
    const struct xp_page *p)
{
	char name[64];
	snprintf(name, sizeof(name), "%s_by_kind", p->name);
	if (p->form != XP_FORM_MAPS) {
		xp_schema_ref(w, key, "%s", name);
		return;
	}
	xp_write_map(w, key);
	xp_schema_one_or_more(w, name);
	xp_write_end_map(w);
}

/* --- of the root ---------------------------------------------------------- */

/* {"required": [KEY]} */
static void put_needed(struct xp_writer *w, const char *key)
{
	const char *const need[] = {key, NULL};
	xp_write_map(w, NULL);
	xp_write_names(w, "required", need);
	xp_write_end_map(w);
}

/* A sweep with an axis KEY, of its grid or its zip. */
static void put_if_swept(struct xp_writer *w, const char *key)
{
	static const char *const kinds[] = {"grid", "zip"};
	const char *const need[] = {key, NULL};
	for (int i = 0; i < 2; i++) {
		const char *const kind[] = {kinds[i], NULL};
		xp_write_map(w, NULL);
		xp_write_names(w, "required", kind);
		xp_write_map(w, "properties");
		xp_write_map(w, kinds[i]);
		xp_write_names(w, "required", need);
		xp_write_end_map(w);
		xp_write_end_map(w);
		xp_write_end_map(w);
	}
}

/* A plane that tells nothing by itself needs algorithms, unless these or the
 * plane are swept. */
static void put_need_of_algos(struct xp_writer *w)
{
	static const char *const sweep[] = {"sweep", NULL};
	static const char *const plane[] = {"plane", NULL};
	const char *alone[64];
	size_t n = 0;
	for (const struct xp_plane *const *p = xp_planes; *p; p++)
		if ((*p)->alone)
			alone[n++] = (*p)->name;
	alone[n] = NULL;
	xp_write_map(w, NULL);
	xp_write_list(w, "anyOf");
	put_needed(w, "algorithms");
	xp_write_map(w, NULL);
	xp_write_names(w, "required", plane);
	xp_write_map(w, "properties");
	xp_write_map(w, "plane");
	xp_write_names(w, "enum", alone);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_map(w, NULL);
	xp_write_names(w, "required", sweep);
	xp_write_map(w, "properties");
	xp_write_map(w, "sweep");
	xp_write_list(w, "anyOf");
	put_if_swept(w, "algorithms");
	put_if_swept(w, "plane");
	xp_write_end_list(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_list(w);
	xp_write_end_map(w);
}

/* A file with gates is one point, of any number of runs. */
static void put_gates_alone(struct xp_writer *w)
{
	static const char *const gates[] = {"gates", NULL};
	static const char *const none[] = {"sweep", "runs", "smoke", "claims"};
	xp_write_map(w, NULL);
	xp_write_map(w, "if");
	xp_write_names(w, "required", gates);
	xp_write_end_map(w);
	xp_write_map(w, "then");
	xp_write_map(w, "properties");
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		xp_write_bool(w, none[i], 0);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
}

/* Unless an axis is of the section or its kind, its keys fit its kind. */
static void put_kinds_of(struct xp_writer *w, const struct xp_page *p)
{
	static const char *const kinds[] = {"grid", "zip"};
	char of_section[64];
	snprintf(of_section, sizeof(of_section), "^%s(\\.[0-9]+)?(\\.kind)?$",
	    p->name);
	xp_write_map(w, NULL);
	xp_write_map(w, "if");
	xp_write_map(w, "properties");
	xp_write_map(w, "sweep");
	xp_write_map(w, "properties");
	for (int i = 0; i < 2; i++) {
		xp_write_map(w, kinds[i]);
		xp_write_map(w, "propertyNames");
		xp_write_map(w, "not");
		xp_write_text(w, "pattern", of_section);
		xp_write_end_map(w);
		xp_write_end_map(w);
		xp_write_end_map(w);
	}
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_map(w, "then");
	xp_write_map(w, "properties");
	xp_schema_by_kind(w, p->name, p);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
}

static void put_figure(struct xp_writer *w)
{
	xp_write_map(w, NULL);
	xp_write_map(w, "properties");
	xp_write_map(w, "figure");
	xp_write_text(w, "pattern", "^[a-z0-9_]+$");
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
}

void xp_schema_rules(struct xp_writer *w)
{
	struct xp_page p;
	put_figure(w);
	put_need_of_algos(w);
	put_gates_alone(w);
	for (size_t i = 1; xp_page_at(i, &p); i++)
		if (xp_schema_kind_of(&p))
			put_kinds_of(w, &p);
}
