/* experiments/spec/override.c -- overrides and axes that are given in vain.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/spec/keys.h"
#include "experiments/spec/strict.h"
#include "sim/vec.h"

/* Where mistakes of --set stand. */
static const struct sim_yaml_node of_set = {.line = 0};

/* --- --set ---------------------------------------------------------------- */

/* A --set after another one for the same key, or for a map around it, leaves
 * nothing of that one. */
static int check_twice(struct xp_spec *s, const char *const set[], size_t i)
{
	char path[512], later[512];
	xp_path_of_set(path, set[i]);
	for (size_t k = 0; k < i; k++) {
		char earlier[512];
		xp_path_of_set(earlier, set[k]);
		snprintf(later, sizeof(later), "%s", path);
		if (strcmp(earlier, later) == 0)
			return sim_yaml_mistake(&s->yaml, &of_set,
			    "%.200s is given twice, %.100s and %.100s; only "
			    "the last would count.",
			    path, set[k] + strlen(path) + 1,
			    set[i] + strlen(path) + 1);
		if (xp_path_holds(later, earlier))
			return sim_yaml_mistake(&s->yaml, &of_set,
			    "%.200s replaces %.200s, which was given before; "
			    "give it after.",
			    later, earlier);
	}
	return 0;
}

/* The key of an axis that replaces PATH's value at every point, or a part of
 * it that NODE, the value, has; NULL if there is none. */
static const struct xp_sweep_key *find_replacing(const struct xp_spec *s,
    const char *path, const struct sim_yaml_node *root,
    const struct xp_axis **axis)
{
	for (size_t a = 0; a < s->n_axes; a++)
		for (size_t k = 0; k < s->axis[a].n_keys; k++) {
			const struct xp_sweep_key *key = &s->axis[a].key[k];
			*axis = &s->axis[a];
			if (xp_path_holds(key->path, path) ||
			    (xp_path_holds(path, key->path) &&
				xp_path_find(root, key->path)))
				return key;
		}
	return NULL;
}

static int check_set_swept(struct xp_spec *s, const char *set)
{
	const struct xp_axis *axis = NULL;
	char path[512];
	xp_path_of_set(path, set);
	const char *value = set + strlen(path) + 1;
	const struct xp_sweep_key *key =
	    find_replacing(s, path, s->yaml.root, &axis);
	if (!key)
		return 0;
	if (axis->n_keys > 1)
		return sim_yaml_mistake(&s->yaml, &of_set,
		    "the sweep varies %.200s, with other keys of its zip, so "
		    "%.200s would be ignored; give the whole of it anew, --set "
		    "'sweep.zip={...}'.",
		    key->path, path);
	if (strcmp(key->path, path) != 0)
		return sim_yaml_mistake(&s->yaml, &of_set,
		    "the sweep varies %.200s, so what %.200s gives for it "
		    "would "
		    "be ignored; change or drop the axis, --set 'sweep={...}'.",
		    key->path, path);
	return sim_yaml_mistake(&s->yaml, &of_set,
	    "the sweep varies %.200s, so %.200s would be ignored; for this "
	    "value alone write --set 'sweep.%s.%.200s=[%.200s]'.",
	    path, value, axis->is_zip ? "zip" : "grid", path, value);
}

int xp_strict_sets(struct xp_spec *s, const char *const set[], size_t n,
    struct sim_err *e)
{
	int rc = 0;
	(void)e;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		char path[512];
		xp_path_of_set(path, set[i]);
		/* Results note an override a line. */
		if (strchr(set[i], '\n'))
			rc = sim_yaml_mistake(&s->yaml, &of_set,
			    "%.200s is given more than one line; write its "
			    "value in one.",
			    path);
		if (rc == 0 && xp_path_holds("smoke", path))
			rc = sim_yaml_mistake(&s->yaml, &of_set,
			    "%.200s: smoke is put before --set is; set the key "
			    "itself.",
			    path);
		if (rc == 0)
			rc = check_twice(s, set, i);
		if (rc == 0)
			rc = check_set_swept(s, set[i]);
	}
	return rc;
}

/* --- smoke ---------------------------------------------------------------- */

static int check_smoke_key(struct sim_yaml *y,
    const struct sim_yaml_node *smoke, size_t i,
    const struct sim_yaml_node *sweep)
{
	static const char *const kinds[] = {"grid", "zip"};
	const struct sim_yaml_node at = {.line = smoke->key_line[i],
	    .col = smoke->key_col[i]};
	for (size_t k = 0; k < 2; k++) {
		const struct sim_yaml_node *m = sim_yaml_get(sweep, kinds[k]);
		for (size_t a = 0; m && m->kind == SIM_YAML_MAP && a < m->n;
		     a++)
			if (xp_path_holds(m->key[a], smoke->key[i]))
				return sim_yaml_mistake(y, &at,
				    "the sweep varies %s, so what smoke says "
				    "of %s would be ignored; give smoke a "
				    "sweep of its own.",
				    m->key[a], smoke->key[i]);
	}
	return 0;
}

int xp_strict_smoke(struct sim_yaml *y, const struct sim_yaml_node *smoke,
    struct sim_err *e)
{
	const struct sim_yaml_node *own = sim_yaml_get(smoke, "sweep");
	int rc = 0;
	(void)e;
	for (size_t i = 0; rc == 0 && i < smoke->n; i++)
		rc = check_smoke_key(y, smoke, i,
		    own ? own : sim_yaml_get(y->root, "sweep"));
	return rc;
}

/* --- places of an axis ---------------------------------------------------- */

/* Write NODE so that what means the same is the same text: numbers as they are
 * read, and keys in order. */
static void put_meaning(struct sim_text *t, const struct sim_yaml_node *node)
{
	char buf[32];
	double x;
	if (node->kind == SIM_YAML_SCALAR) {
		if (!node->quoted && sim_parse_f64(node->text, &x, NULL) == 0)
			sim_put(t, "%s", sim_format_f64(buf, x + 0.0));
		else
			sim_put_scalar(t, node->text, 1);
		return;
	}
	const int is_map = node->kind == SIM_YAML_MAP;
	const char *last = NULL;
	sim_put(t, is_map ? "{" : "[");
	for (size_t i = 0; i < node->n; i++) {
		size_t next = is_map ? node->n : i;
		/* The least key beyond the last one; maps are short. */
		for (size_t k = 0; is_map && k < node->n; k++)
			if ((!last || strcmp(node->key[k], last) > 0) &&
			    (next == node->n ||
				strcmp(node->key[k], node->key[next]) < 0))
				next = k;
		if (next == node->n)
			break; /* a key was given twice, which has been told */
		if (is_map) {
			last = node->key[next];
			sim_put_scalar(t, last, 1);
			sim_put(t, ": ");
		}
		put_meaning(t, node->child[next]);
		sim_put(t, ", ");
	}
	sim_put(t, is_map ? "}" : "]");
}

/* The places of an axis, each in the words of put_meaning(). */
struct meaning {
	char *text;
	size_t place;
};

static int by_meaning(const void *a, const void *b)
{
	const struct meaning *p = a, *q = b;
	const int order = strcmp(p->text, q->text);
	return order ? order : (p->place > q->place) - (p->place < q->place);
}

static void put_place(struct sim_text *t, const struct xp_axis *a, size_t place)
{
	for (size_t k = 0; k < a->n_keys; k++) {
		put_meaning(t, a->key[k].values->child[place]);
		sim_put(t, "; ");
	}
}

static int meaning_of(struct meaning *m, const struct xp_axis *a, size_t place,
    struct sim_err *e)
{
	struct sim_text count = {NULL, 0, 0};
	put_place(&count, a, place);
	m->place = place;
	int rc = SIM_ZALLOC(&m->text, count.n + 1, e);
	if (rc == 0) {
		struct sim_text t = {m->text, count.n + 1, 0};
		put_place(&t, a, place);
	}
	return rc;
}

static int tell_equal(struct sim_yaml *y, const struct xp_axis *a, size_t place,
    size_t first)
{
	const struct xp_sweep_key *key = &a->key[0];
	return sim_yaml_mistake(y, key->values->child[place],
	    "%s%s: the values at places %zu and %zu are equal; their points "
	    "would count as two and be one.",
	    a->n_keys > 1 ? "zip of " : "", key->path, first + 1, place + 1);
}

int xp_strict_axis(struct xp_spec *s, const struct xp_axis *a,
    struct sim_err *e)
{
	struct meaning *m = NULL;
	int rc = SIM_ZALLOC(&m, a->n, e);
	for (size_t i = 0; rc == 0 && i < a->n; i++)
		rc = meaning_of(&m[i], a, i, e);
	if (rc == 0)
		qsort(m, a->n, sizeof(*m), by_meaning);
	for (size_t i = 1, first = 0; rc == 0 && i < a->n; i++) {
		if (strcmp(m[i].text, m[first].text) != 0)
			first = i;
		else
			rc =
			    tell_equal(&s->yaml, a, m[i].place, m[first].place);
	}
	for (size_t i = 0; m && i < a->n; i++)
		free(m[i].text);
	free(m);
	return rc;
}
