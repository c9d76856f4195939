/* sim/yaml_read.c -- reading a tree into field tables, mistake by mistake.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/yaml.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

static const char *const yaml_read_kind_names[] = {[SIM_YAML_SCALAR] =
						       "a value",
    [SIM_YAML_MAP] = "a map",
    [SIM_YAML_SEQ] = "a list"};

/* Mistakes are collected in Y so that a user sees all of them at once. So a
 * function here that meets one still returns 0; below 0 means that the mistake
 * itself could not be stored. RC is of sim_yaml_mistake(). */
static int yaml_read_noted(int rc, struct sim_err *e)
{
	return rc < 0 ? sim_fail(e, rc, "no memory for a mistake.") : 0;
}

/* Keys are not nodes, so this makes one to place a mistake at key I of MAP. */
static struct sim_yaml_node key_place(const struct sim_yaml_node *map, size_t i)
{
	return (struct sim_yaml_node){.line = map->key_line[i],
	    .col = map->key_col[i]};
}

/* --- one value ---------------------------------------------------------- */
/* `key:` with nothing behind it is an empty scalar without quotes. */
static int is_nothing(const struct sim_yaml_node *node)
{
	return node->kind == SIM_YAML_SCALAR && !node->quoted && !node->text[0];
}

static int wrong_kind(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct sim_field *f, const char *wanted, struct sim_err *e)
{
	const char *kind = yaml_read_kind_names[node->kind];
	int rc;
	if (is_nothing(node))
		rc = sim_yaml_mistake(y, node, "%s has no value.", f->name);
	else if (f->type == SIM_F_SET && node->kind == SIM_YAML_SCALAR)
		rc = sim_yaml_mistake(y, node,
		    "%s must be %s, not %s; write [%.40s].", f->name, wanted,
		    kind, node->text);
	else
		rc = sim_yaml_mistake(y, node, "%s must be %s, not %s.",
		    f->name, wanted, kind);
	return yaml_read_noted(rc, e);
}

/* *GOOD = whether scalar NODE could be read into OBJ. */
static int read_scalar(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct sim_field *f, void *obj, int *good, struct sim_err *e)
{
	struct sim_err why;
	*good = 0;
	if (node->kind != SIM_YAML_SCALAR || is_nothing(node))
		return wrong_kind(y, node, f, "one value", e);
	/* "5" in quotes is text in YAML. Taking it as a number would hide that
	 * whoever wrote it, perhaps a program, meant something else. */
	if (node->quoted && f->type != SIM_F_STR && f->type != SIM_F_ENUM) {
		char quote[64];
		return yaml_read_noted(
		    sim_yaml_mistake(y, node,
			"%s: %s is text; write it without quotes.", f->name,
			sim_quote(quote, node->text)),
		    e);
	}
	if (sim_field_set(f, obj, node->text, &why) < 0)
		return yaml_read_noted(sim_yaml_mistake(y, node, "%s", why.msg),
		    e);
	*good = 1;
	return 0;
}

/* A list of names. Each is read by itself as an enumeration, so that its
 * mistake has its own place, and OBJ is changed only if all are good. */
static int read_set(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct sim_field *f, void *obj, struct sim_err *e)
{
	struct sim_field one = *f;
	uint32_t mask = 0, bit = 0;
	int all_good = 1, good, rc;
	one.type = SIM_F_ENUM;
	one.offset = 0;
	if (node->kind != SIM_YAML_SEQ)
		return wrong_kind(y, node, f, "a list", e);
	for (size_t i = 0; i < node->n; i++) {
		struct sim_yaml_node *item = node->child[i];
		if ((rc = read_scalar(y, item, &one, &bit, &good, e)) < 0)
			return rc;
		all_good &= good;
		if (!good)
			continue;
		if (mask & 1u << bit) {
			all_good = 0;
			rc = sim_yaml_mistake(y, item,
			    "%s: \"%s\" is given twice.", f->name, item->text);
			if (rc < 0)
				return yaml_read_noted(rc, e);
		}
		mask |= 1u << bit;
	}
	if (all_good)
		memcpy((char *)obj + f->offset, &mask, sizeof(mask));
	return 0;
}

/* {uniform: [a, b]}. Both ends are read by themselves first, for mistakes with
 * their own places; then the whole is read as text, which checks the name and
 * that a <= b. */
static int read_draw(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct sim_field *f, void *obj, struct sim_err *e)
{
	static const char want[] = "a number, {uniform: [a, b]} or "
				   "{log_uniform: [a, b]}";
	char text[128], a[32], b[32];
	struct sim_dist end[2];
	struct sim_err why;
	struct sim_field one = *f;
	int good[2], rc;
	one.offset = 0;
	if (node->kind == SIM_YAML_SEQ || node->n != 1)
		return wrong_kind(y, node, f, want, e);
	const struct sim_yaml_node *ends = node->child[0];
	if (ends->kind != SIM_YAML_SEQ || ends->n != 2) {
		rc = sim_yaml_mistake(y, ends, "%s must be %s.", f->name, want);
		return yaml_read_noted(rc, e);
	}
	for (size_t i = 0; i < 2; i++)
		if ((rc = read_scalar(y, ends->child[i], &one, &end[i],
			 &good[i], e)) < 0)
			return rc;
	if (!good[0] || !good[1])
		return 0;
	sim_format_f64(a, end[0].a);
	sim_format_f64(b, end[1].a);
	/* The key is cut to fit: no kind of draw has so long a name, so what is
	 * left of it is refused all the same. */
	snprintf(text, sizeof(text), "{%.32s: [%s, %s]}", node->key[0], a, b);
	const struct sim_yaml_node at = key_place(node, 0);
	if (sim_field_set(f, obj, text, &why) < 0)
		return yaml_read_noted(sim_yaml_mistake(y, &at, "%s", why.msg),
		    e);
	return 0;
}

int sim_yaml_read_value(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct sim_field *f, void *obj, struct sim_err *e)
{
	int good;
	if (f->type == SIM_F_SET)
		return read_set(y, node, f, obj, e);
	if (f->type == SIM_F_DIST && node->kind != SIM_YAML_SCALAR)
		return read_draw(y, node, f, obj, e);
	return read_scalar(y, node, f, obj, &good, e);
}

/* --- keys that do nothing ------------------------------------------------- */

struct sim_yaml_given *sim_yaml_noted(const struct sim_yaml *y,
    const struct sim_yaml_node *map, size_t i)
{
	for (size_t k = 0; k < y->n_given; k++) {
		struct sim_yaml_given *g = &y->given[k];
		if (g->line == map->key_line[i] && g->col == map->key_col[i] &&
		    strcmp(g->key, map->key[i]) == 0)
			return g;
	}
	return NULL;
}

int sim_yaml_note(struct sim_yaml *y, const struct sim_yaml_node *map, size_t i,
    const char *why, struct sim_err *e)
{
	struct sim_yaml_given *g = sim_yaml_noted(y, map, i);
	int rc;
	if (!g) {
		rc = SIM_RESERVE(&y->given, &y->cap_given, y->n_given + 1, e);
		if (rc < 0)
			return rc;
		g = &y->given[y->n_given];
		*g = (struct sim_yaml_given){.line = map->key_line[i],
		    .col = map->key_col[i]};
		if ((rc = sim_dup(&g->key, map->key[i], e)) < 0)
			return rc;
		y->n_given++;
	}
	g->counts |= why == NULL;
	g->is_idle = why != NULL;
	if (!why)
		return 0;
	free(g->why);
	g->why = NULL;
	return sim_dup(&g->why, why, e);
}

int sim_yaml_refuse_idle(struct sim_yaml *y)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < y->n_given; i++) {
		const struct sim_yaml_given *g = &y->given[i];
		const struct sim_yaml_node at = {.line = g->line,
		    .col = g->col};
		if (!g->counts)
			rc = sim_yaml_mistake(y, &at, "%s does nothing: %s.",
			    g->key, g->why);
	}
	return rc;
}

/* After all keys of MAP were read, as a condition may be about a later one. */
static int note_keys(struct sim_yaml *y, const struct sim_yaml_node *map,
    const struct sim_field *fields, const void *obj, struct sim_err *e)
{
	char why[160];
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < map->n; i++) {
		const struct sim_field *f = sim_field_find(fields, map->key[i]);
		if (!f || !f->when)
			continue;
		rc = sim_yaml_note(y, map, i,
		    sim_field_counts(fields, f, obj, why) ? NULL : why, e);
		if (rc == 0 && strncmp(f->when, "kind=", 5) == 0)
			sim_yaml_noted(y, map, i)->of_kind = 1;
	}
	return rc;
}

/* --- a map -------------------------------------------------------------- */
/* List the names of FIELDS, then those of ALSO, for suggestions; *OUT is to be
 * freed. */
static int list_keys(const struct sim_field *fields, const char *const *also,
    const char ***out, size_t *n, struct sim_err *e)
{
	size_t n_fields = 0, n_also = 0;
	while (fields[n_fields].name)
		n_fields++;
	while (also && also[n_also])
		n_also++;
	*n = n_fields + n_also;
	int rc = SIM_ZALLOC(out, *n, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < *n; i++)
		(*out)[i] = i < n_fields ? fields[i].name : also[i - n_fields];
	return 0;
}

static int unknown_key(struct sim_yaml *y, const struct sim_yaml_node *map,
    size_t i, const char *const *known, size_t n_known, struct sim_err *e)
{
	char list[400] = "", quote[64], paths[200];
	struct sim_text t = {list, sizeof(list), 0};
	const struct sim_yaml_node at = key_place(map, i);
	const char *key = map->key[i];
	const char *near = sim_did_you_mean(key, known, n_known);
	int rc;
	sim_quote(quote, key);
	for (size_t k = 0; k < n_known; k++)
		sim_put(&t, "%s%s", k ? ", " : "", known[k]);
	if (!near)
		near = sim_like(key, known, n_known);
	/* A key that stands in the wrong map is likelier than one that was
	 * misspelt into another map's. The whole list helps only if it fits in
	 * the message. */
	const int is_map = map->child[i]->kind == SIM_YAML_MAP;
	if (y->elsewhere &&
	    (y->elsewhere(key, is_map, 0, paths, sizeof(paths)) ||
		(!near && y->elsewhere(key, is_map, 1, paths, sizeof(paths)))))
		rc = sim_yaml_mistake(y, &at,
		    "unknown key %s; did you mean %s?", quote, paths);
	else if (near)
		rc = sim_yaml_mistake(y, &at,
		    "unknown key %s; did you mean \"%s\"?", quote, near);
	else if (t.n > 0 && t.n < sizeof(list))
		rc = sim_yaml_mistake(y, &at, "unknown key %s; known are %s.",
		    quote, list);
	else
		rc = sim_yaml_mistake(y, &at, "unknown key %s.", quote);
	return yaml_read_noted(rc, e);
}

/* Every key of the map in the order of the file, so that mistakes come in that
 * order too. */
static int read_keys(struct sim_yaml *y, const struct sim_yaml_node *map,
    const struct sim_field *fields, const char *const *also, void *obj,
    struct sim_err *e)
{
	const char **known = NULL;
	size_t n_known;
	int rc = list_keys(fields, also, &known, &n_known, e);
	for (size_t i = 0; i < map->n && rc == 0; i++) {
		const struct sim_field *f = sim_field_find(fields, map->key[i]);
		if (f)
			rc = sim_yaml_read_value(y, map->child[i], f, obj, e);
		else if (!also || !also[sim_word_find(also, map->key[i])])
			rc = unknown_key(y, map, i, known, n_known, e);
	}
	free(known);
	return rc;
}

int sim_yaml_read(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct sim_yaml_node *where, const struct sim_field *fields,
    const char *const *also, void *obj, struct sim_err *e)
{
	int rc = sim_field_defaults(fields, obj, NULL);
	/* Defaults are part of the program, so a bad one is not the user's
	 * mistake. */
	assert(rc == 0 && "a default must be a value of its field");
	if (node && node->kind != SIM_YAML_MAP) {
		/* Whoever wrote a word may not know that there are keys. */
		const int is_word = node->kind == SIM_YAML_SCALAR &&
		    !is_nothing(node) && fields->name;
		rc = sim_yaml_mistake(y, node,
		    "a map is needed here, not %s%s%s%s.",
		    is_nothing(node) ? "nothing"
				     : yaml_read_kind_names[node->kind],
		    is_word ? ", such as {" : "", is_word ? fields->name : "",
		    is_word ? ": ...}" : "");
		return yaml_read_noted(rc, e);
	}
	if (node &&
	    ((rc = read_keys(y, node, fields, also, obj, e)) < 0 ||
		(rc = note_keys(y, node, fields, obj, e)) < 0))
		return rc;
	for (const struct sim_field *f = fields; f->name && rc == 0; f++) {
		/* A field without a default is a required key. */
		if (f->def || sim_yaml_get(node, f->name))
			continue;
		rc = sim_yaml_mistake(y, node ? node : where, "%s is missing.",
		    f->name);
	}
	return yaml_read_noted(rc, e);
}
