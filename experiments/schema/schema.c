/* experiments/schema/schema.c -- the keys of a spec, as a JSON Schema.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each section is described once, among the definitions; the root, sweeps and
 * smoke refer to it.
 */
#include "experiments/schema/schema.h"

#include <string.h>

#include "algos/algo.h"
#include "experiments/schema/fields.h"
#include "experiments/schema/rules.h"
#include "experiments/spec/config.h"
#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"
#include "results/schema.h"

enum {
	MAX_METRICS = RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS + RES_N_RATIOS +
	    RES_N_TRIAL_RATIOS
};

static void schema_put_metrics(struct xp_writer *w)
{
	static const struct {
		const struct res_metric *metric;
		unsigned n;
	} lists[] = {{res_ratios, RES_N_RATIOS},
	    {res_algo_metrics, RES_N_ALGO_METRICS},
	    {res_trial_ratios, RES_N_TRIAL_RATIOS},
	    {res_trial_metrics, RES_N_TRIAL_METRICS}};
	const char *names[MAX_METRICS + 1];
	size_t n = 0;
	for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
		for (unsigned i = 0; i < lists[k].n; i++)
			names[n++] = lists[k].metric[i].name;
	names[n] = NULL;
	xp_write_list(w, "allOf");
	xp_write_map(w, NULL);
	xp_write_map(w, "properties");
	xp_write_map(w, "metric");
	xp_write_names(w, "enum", names);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_list(w);
}

/* --- definitions ---------------------------------------------------------- */

static void describe(struct xp_writer *w, const struct xp_page *p)
{
	if (*p->name)
		xp_write_text(w, "title", p->name);
	xp_write_text(w, "description", p->doc);
}

static void define_tables(struct xp_writer *w, const struct xp_page *p)
{
	xp_write_map(w, *p->name ? p->name : "top");
	describe(w, p);
	xp_schema_section(w, p);
	if (p->form == XP_FORM_LIST)
		schema_put_metrics(w);
	xp_write_end_map(w);
	if (xp_schema_kind_of(p))
		xp_schema_define_kinds(w, p);
}

static void schema_put_algo(struct xp_writer *w, const struct algo_ops *a,
    const struct xp_own_key *keys)
{
	const char *const name[] = {a->name, NULL};
	xp_write_map(w, NULL);
	xp_schema_if(w, "name", name, 1);
	xp_write_map(w, "then");
	xp_write_text(w, "description", a->doc);
	xp_schema_fields(w, a->params, keys);
	xp_write_end_map(w);
	xp_write_end_map(w);
}

static void schema_put_type(struct xp_writer *w, const char *key,
    const char *type)
{
	xp_write_map(w, key);
	xp_write_text(w, "type", type);
	xp_write_end_map(w);
}

/* What else one from outside takes it tells itself. */
static void schema_put_outside(struct xp_writer *w, const char *key)
{
	const char *const need[] = {key, NULL};
	xp_write_map(w, "if");
	xp_write_names(w, "required", need);
	xp_write_end_map(w);
	xp_write_map(w, "then");
	xp_write_map(w, "properties");
	schema_put_type(w, key, "string");
	schema_put_type(w, "label", "string");
	schema_put_type(w, "timeout", "number");
	schema_put_type(w, "audit", "integer");
	xp_write_end_map(w);
	xp_write_end_map(w);
}

/* By cases, as a mistake is then told of the algorithm that is meant. */
static void define_algos(struct xp_writer *w, const struct xp_page *p)
{
	static const char *const types[] = {"string", "object", NULL};
	static const char *const need[] = {"name", NULL};
	const char *names[64];
	size_t n = 0;
	for (; n < 63 && algo_registry[n]; n++)
		names[n] = algo_registry[n]->name;
	names[n] = NULL;
	xp_write_map(w, "algorithm");
	xp_write_names(w, "type", types);
	xp_write_map(w, "if");
	xp_write_text(w, "type", "string");
	xp_write_end_map(w);
	xp_write_map(w, "then");
	xp_write_names(w, "enum", names);
	xp_write_end_map(w);
	xp_write_map(w, "else");
	schema_put_outside(w, "exec");
	xp_write_map(w, "else");
	schema_put_outside(w, "plugin");
	xp_write_map(w, "else");
	xp_write_names(w, "required", need);
	xp_write_map(w, "properties");
	xp_write_map(w, "name");
	xp_write_names(w, "enum", names);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_list(w, "allOf");
	for (size_t i = 0; algo_registry[i]; i++)
		schema_put_algo(w, algo_registry[i], p->keys);
	xp_write_end_list(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
}

/* A name, or a map of one name to the options of its section. */
static void define_fabric(struct xp_writer *w)
{
	xp_write_map(w, "fabric");
	xp_write_list(w, "anyOf");
	xp_schema_ref(w, NULL, "top/properties/fabric");
	xp_write_map(w, NULL);
	xp_write_text(w, "type", "object");
	xp_write_number(w, "minProperties", 1);
	xp_write_number(w, "maxProperties", 1);
	xp_write_bool(w, "additionalProperties", 0);
	xp_write_map(w, "properties");
	for (const struct xp_fabric *const *f = xp_fabrics; *f; f++)
		if ((*f)->section)
			xp_schema_ref(w, (*f)->name, "%s", (*f)->section->name);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_list(w);
	xp_write_end_map(w);
}

/* --- values of the root --------------------------------------------------- */

/* The value of section P, under KEY, or in a list. */
static void put_section_value(struct xp_writer *w, const char *key,
    const struct xp_page *p)
{
	switch (p->form) {
	case XP_FORM_MAPS:
		xp_write_map(w, key);
		describe(w, p);
		xp_schema_one_or_more(w, p->name);
		xp_write_end_map(w);
		return;
	case XP_FORM_LIST:
		xp_schema_list_of(w, key, p->name,
		    strcmp(p->name, "gates") == 0);
		return;
	case XP_FORM_ALGOS:
		xp_schema_list_of(w, key, "algorithm", 1);
		return;
	default:
		xp_schema_ref(w, key, "%s", p->name);
	}
}

/* The keys of the top and of all sections that POINT's keys, or all, are of. */
static void put_root_keys(struct xp_writer *w, int in_smoke)
{
	struct sim_field all[SIM_PARTS_MAX];
	struct xp_page p;
	xp_page_at(0, &p);
	sim_parts_join(p.parts, all);
	for (size_t i = in_smoke; all[i].name; i++)
		if (strcmp(all[i].name, "fabric") == 0)
			xp_schema_ref(w, "fabric", "fabric");
		else
			xp_schema_ref(w, all[i].name, "top/properties/%s",
			    all[i].name);
	for (size_t i = 1; xp_page_at(i, &p); i++)
		if (!in_smoke ||
		    (strcmp(p.name, "gates") != 0 && p.form != XP_FORM_SMOKE))
			put_section_value(w, p.name, &p);
}

/* --- sweeps --------------------------------------------------------------- */

/* An axis: values that are as ITEMS says, or, if that is empty, any. */
static void put_axis_of(struct xp_writer *w, const char *path,
    const char *items)
{
	xp_write_map(w, path);
	xp_write_text(w, "type", "array");
	xp_write_number(w, "minItems", 1);
	if (*items)
		xp_schema_ref(w, "items", "%s", items);
	xp_write_end_map(w);
}

/* Where a key of a section is described. */
static void definition_of(char buf[256], const struct xp_page *p,
    const char *map, const char *key)
{
	snprintf(buf, 256, "%s/properties/%s%s%s", p->name, map,
	    *map ? "/properties/" : "", key);
}

static void sweep_key(void *arg, const struct xp_page *p, const char *map,
    const struct sim_field *field, const struct xp_own_key *own)
{
	const char *key = own ? own->name : field->name;
	char path[256], items[256];
	snprintf(path, sizeof(path), "%s.%s%s%s", p->name, map, *map ? "." : "",
	    key);
	definition_of(items, p, map, key);
	put_axis_of(arg, path, items);
}

/* The same key of one of several groups. */
static void sweep_place(void *arg, const struct xp_page *p, const char *map,
    const struct sim_field *field, const struct xp_own_key *own)
{
	const char *key = own ? own->name : field->name;
	char path[256], items[256];
	snprintf(path, sizeof(path), "^%s\\.[0-9]+\\.%s$", p->name, key);
	definition_of(items, p, map, key);
	put_axis_of(arg, path, items);
}

static void join_key(void *arg, const struct xp_page *p, const char *map,
    const struct sim_field *field, const struct xp_own_key *own)
{
	struct sim_text *t = arg;
	(void)p;
	sim_put(t, "%s%s%s%s", t->n ? "|" : "", map, *map ? "\\." : "",
	    own ? own->name : field->name);
}

/* A section's keys and what is beyond them: the ends of a draw, a place of a
 * list; and its maps as a whole. Of algorithms' parameters no more is asked. */
static void put_paths(struct xp_writer *w, const struct xp_page *p)
{
	char keys[4096] = "", maps[256] = "", path[4608];
	struct sim_text t = {keys, sizeof(keys), 0};
	struct sim_text m = {maps, sizeof(maps), 0};
	if (p->form == XP_FORM_ALGOS) {
		put_axis_of(w, "^algorithms\\.[0-9]+(\\.[a-z0-9_]+)*$", "");
		return;
	}
	xp_page_visit(p, join_key, &t);
	for (const struct sim_part *q = p->parts; q->fields; q++)
		if (*q->map)
			sim_put(&m, "|%s", q->map);
	snprintf(path, sizeof(path), "^%s%s\\.((%s)(\\.[a-z0-9_]+)*%s)$",
	    p->name, p->form == XP_FORM_MAPS ? "(\\.[0-9]+)?" : "", keys, maps);
	put_axis_of(w, path, "");
}

static void put_swept_top(struct xp_writer *w)
{
	char items[128];
	for (const struct sim_field *f = xp_run_fields; f->name; f++) {
		const int fabric = strcmp(f->name, "fabric") == 0;
		snprintf(items, sizeof(items), "top/properties/%s", f->name);
		put_axis_of(w, f->name, fabric ? "fabric" : items);
	}
}

/* A section as a whole may be swept, too. */
static void put_swept_section(struct xp_writer *w, const struct xp_page *p)
{
	xp_write_map(w, p->name);
	xp_write_text(w, "type", "array");
	xp_write_number(w, "minItems", 1);
	if (xp_schema_kind_of(p)) {
		xp_write_map(w, "items");
		xp_write_list(w, "allOf");
		put_section_value(w, NULL, p);
		xp_schema_by_kind(w, NULL, p);
		xp_write_end_list(w);
		xp_write_end_map(w);
	} else {
		put_section_value(w, "items", p);
	}
	xp_write_end_map(w);
	if (p->parts)
		xp_page_visit(p, sweep_key, w);
}

static void define_swept(struct xp_writer *w)
{
	struct xp_page p;
	xp_write_map(w, "swept");
	xp_write_text(w, "type", "object");
	xp_write_bool(w, "additionalProperties", 0);
	xp_write_map(w, "properties");
	put_swept_top(w);
	for (size_t i = 1; xp_page_at(i, &p); i++)
		if (xp_page_is_of_point(&p))
			put_swept_section(w, &p);
	xp_write_end_map(w);
	xp_write_map(w, "patternProperties");
	put_axis_of(w, "^fabric(\\.[a-z0-9_]+)+$", "");
	for (size_t i = 1; xp_page_at(i, &p); i++) {
		if (!xp_page_is_of_point(&p))
			continue;
		put_paths(w, &p);
		if (p.form == XP_FORM_MAPS) {
			put_axis_of(w, "^faults\\.[0-9]+$", "faults");
			xp_page_visit(&p, sweep_place, w);
		}
	}
	xp_write_end_map(w);
	xp_write_end_map(w);
}

/* Two places of an axis of a grid are different; those of a zip differ by some
 * key of it. */
static void put_grid(struct xp_writer *w, const char *doc)
{
	xp_write_map(w, "grid");
	xp_write_text(w, "title", "grid");
	xp_write_text(w, "description", doc);
	xp_write_list(w, "allOf");
	xp_schema_ref(w, NULL, "swept");
	xp_write_map(w, NULL);
	xp_write_map(w, "additionalProperties");
	xp_write_bool(w, "uniqueItems", 1);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_list(w);
	xp_write_end_map(w);
}

static void define_sweep(struct xp_writer *w, const struct xp_page *p)
{
	define_swept(w);
	xp_write_map(w, p->name);
	describe(w, p);
	xp_write_text(w, "type", "object");
	xp_write_bool(w, "additionalProperties", 0);
	xp_write_map(w, "properties");
	put_grid(w, p->keys[0].doc);
	xp_write_map(w, "zip");
	xp_write_text(w, "title", "zip");
	xp_write_text(w, "description", p->keys[1].doc);
	xp_write_list(w, "allOf");
	xp_schema_ref(w, NULL, "swept");
	xp_write_end_list(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
}

/* Paths are taken as they are: they stand for what is described elsewhere. */
static void define_smoke(struct xp_writer *w, const struct xp_page *p)
{
	xp_write_map(w, p->name);
	describe(w, p);
	xp_write_text(w, "type", "object");
	xp_write_bool(w, "additionalProperties", 0);
	xp_write_map(w, "properties");
	put_root_keys(w, 1);
	xp_write_end_map(w);
	xp_write_map(w, "patternProperties");
	xp_write_map(w, "^[a-z_]+\\.[a-z0-9_.]+$");
	xp_write_end_map(w);
	xp_write_end_map(w);
	xp_write_end_map(w);
}

/* --- the whole ------------------------------------------------------------ */

static void schema_define(struct xp_writer *w, const struct xp_page *p)
{
	switch (p->form) {
	case XP_FORM_ALGOS:
		define_algos(w, p);
		return;
	case XP_FORM_SWEEP:
		define_sweep(w, p);
		return;
	case XP_FORM_SMOKE:
		define_smoke(w, p);
		return;
	default:
		define_tables(w, p);
	}
}

void xp_schema_print(FILE *out)
{
	static const char *const need[] = {"figure", NULL};
	struct xp_writer w = {.out = out};
	struct xp_page p;
	xp_write_map(&w, NULL);
	xp_write_text(&w, "$schema", "http://json-schema.org/draft-07/schema#");
	xp_write_text(&w, "title", "culprit spec");
	xp_write_text(&w, "description",
	    "What to build, what to break, who looks for it, what to vary.");
	xp_write_text(&w, "type", "object");
	xp_write_bool(&w, "additionalProperties", 0);
	xp_write_names(&w, "required", need);
	xp_write_list(&w, "allOf");
	xp_schema_rules(&w);
	xp_write_end_list(&w);
	xp_write_map(&w, "properties");
	put_root_keys(&w, 0);
	xp_write_end_map(&w);
	xp_write_map(&w, "definitions");
	define_fabric(&w);
	for (size_t i = 0; xp_page_at(i, &p); i++)
		schema_define(&w, &p);
	xp_write_end_map(&w);
	xp_write_end_map(&w);
	fputc('\n', out);
}
