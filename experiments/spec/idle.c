/* experiments/spec/idle.c -- keys that do nothing at any point of a sweep.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/spec/fabric.h"
#include "experiments/spec/keys.h"
#include "experiments/spec/plane.h"
#include "experiments/spec/strict.h"
#include "sim/vec.h"

/* --- one point ------------------------------------------------------------ */

/* Note the key at PATH, if there is one. */
static int note_path(struct sim_yaml *y, const char *path, const char *why,
    struct sim_err *e)
{
	const struct sim_yaml_node *node = y->root, *map = NULL;
	size_t i = 0;
	while (*path)
		if (!xp_path_step(&node, &path, &map, &i))
			return 0;
	return map ? sim_yaml_note(y, map, i, why, e) : 0;
}

/* A section counts where the plane or the fabric is that it belongs to. */
static int note_section(struct sim_yaml *y, const struct xp_section *s,
    const struct xp_config *c, struct sim_err *e)
{
	char why[160] = "";
	struct sim_text t = {why, sizeof(why), 0};
	if (xp_plane_of(c)->section == s || xp_fabric_of(c)->section == s)
		return note_path(y, s->name, NULL, e);
	for (const struct xp_plane *const *p = xp_planes; *p; p++)
		if ((*p)->section == s)
			sim_put(&t, "%s%s",
			    t.n ? " and " : "it counts only on plane ",
			    (*p)->name);
	for (const struct xp_fabric *const *f = xp_fabrics; *f; f++)
		if ((*f)->section == s)
			sim_put(&t, "it counts only on fabric %s", (*f)->name);
	return note_path(y, s->name, why, e);
}

static const struct xp_idle_key *idle_find(const struct xp_idle_key *k,
    const char *path, int is_real)
{
	for (; k && k->path; k++)
		if (strcmp(k->path, path) == 0 && (is_real || !k->on_real))
			return k;
	return NULL;
}

/* Note PATH, which some plane or fabric does not read, by those of C. */
static int note_unread(struct sim_yaml *y, const char *path,
    const struct xp_config *c, struct sim_err *e)
{
	const struct xp_plane *p = xp_plane_of(c);
	const struct xp_fabric *f = xp_fabric_of(c);
	const int is_real = f->open != NULL;
	const struct xp_idle_key *k = idle_find(p->idle, path, is_real);
	const int by_fabric = !k && idle_find(f->idle, path, is_real);
	char why[160];
	if (k && k->why)
		return note_path(y, path, k->why(c), e);
	snprintf(why, sizeof(why), "plane %s does not read it%s%s", p->name,
	    by_fabric || (k && k->on_real) ? " on fabric " : "",
	    by_fabric || (k && k->on_real) ? f->name : "");
	return note_path(y, path, k || by_fabric ? why : NULL, e);
}

static int note_all_unread(struct sim_yaml *y, const struct xp_config *c,
    struct sim_err *e)
{
	const struct xp_idle_key *k;
	int rc = 0;
	for (size_t i = 0; xp_planes[i]; i++)
		for (k = xp_planes[i]->idle; rc == 0 && k && k->path; k++)
			rc = note_unread(y, k->path, c, e);
	for (size_t i = 0; xp_fabrics[i]; i++)
		for (k = xp_fabrics[i]->idle; rc == 0 && k && k->path; k++)
			rc = note_unread(y, k->path, c, e);
	return rc;
}

/* Samples are drawn where some algorithm reads them. */
static int note_samples(struct sim_yaml *y, const struct xp_config *c,
    struct sim_err *e)
{
	char why[160];
	snprintf(why, sizeof(why), "plane %s does not read it",
	    xp_plane_of(c)->name);
	return note_path(y, "samples",
	    !xp_plane_of(c)->has_hosts      ? why
		: !(c->needs & OBS_SAMPLES) ? "no algorithm reads samples"
					    : NULL,
	    e);
}

/* Why the key at PATH, or a map that it is in, does nothing just now; NULL if it
 * does something. */
static const char *idle_now(const struct sim_yaml *y, const char *path)
{
	const struct sim_yaml_node *node = y->root, *map;
	size_t i;
	while (*path && xp_path_step(&node, &path, &map, &i)) {
		const struct sim_yaml_given *g =
		    map ? sim_yaml_noted(y, map, i) : NULL;
		if (g && g->is_idle)
			return g->why;
	}
	return NULL;
}

/* Where none of an axis' keys does anything, its places make equal points. */
static void note_axis(const struct sim_yaml *y, struct xp_axis *a)
{
	const char *why = "";
	for (size_t k = 0; k < a->n_keys; k++)
		if (!(why = idle_now(y, a->key[k].path)))
			return;
	snprintf(a->idle, sizeof(a->idle), "%s", why);
}

int xp_strict_point(struct xp_spec *s, const struct xp_config *c,
    struct sim_err *e)
{
	struct sim_yaml *y = &s->yaml;
	const struct xp_section *section;
	int rc = 0;
	for (size_t i = 0; rc == 0 && (section = xp_section_at(i)); i++)
		rc = note_section(y, section, c, e);
	if (rc == 0)
		rc = note_all_unread(y, c, e);
	if (rc == 0)
		rc = note_samples(y, c, e);
	for (size_t a = 0; rc == 0 && a < s->n_axes; a++)
		if (s->axis[a].n > 1)
			note_axis(y, &s->axis[a]);
	return rc;
}

/* --- all points ----------------------------------------------------------- */

struct idle {
	struct xp_spec *s;
	const char *const *set;
	size_t n_set;
	struct sim_err *e;
};

static int warn(struct xp_spec *s, struct sim_err *e,
    const struct sim_yaml_node *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static int warn(struct xp_spec *s, struct sim_err *e,
    const struct sim_yaml_node *at, const char *fmt, ...)
{
	struct sim_err text, line;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text.msg, sizeof(text.msg), fmt, ap);
	va_end(ap);
	if (at)
		sim_fail(&line, 0, "%s:%u:%u: %.900s", s->yaml.name, at->line,
		    at->col, text.msg);
	else
		sim_fail(&line, 0, "%s: %.900s", s->yaml.name, text.msg);
	int rc =
	    SIM_RESERVE(&s->warning, &s->cap_warnings, s->n_warnings + 1, e);
	if (rc == 0)
		rc = sim_dup(&s->warning[s->n_warnings], line.msg, e);
	s->n_warnings += rc == 0;
	return rc;
}

/* The --set that gives the key at PATH, something within it or a map around it;
 * NULL if none does. */
static const char *given_by(const struct idle *x, const char *path,
    char set[512])
{
	for (size_t i = 0; i < x->n_set; i++) {
		xp_path_of_set(set, x->set[i]);
		if (xp_path_holds(path, set) || xp_path_holds(set, path))
			return set;
	}
	return NULL;
}

/* The key of an axis that is the one at PATH, or within it. */
static const struct xp_sweep_key *swept_by(const struct xp_spec *s,
    const char *path)
{
	for (size_t a = 0; a < s->n_axes; a++)
		for (size_t k = 0; k < s->axis[a].n_keys; k++)
			if (xp_path_holds(path, s->axis[a].key[k].path))
				return &s->axis[a].key[k];
	return NULL;
}

/* The key that was noted as G, at PATH, did nothing at any point. */
static int idle_tell(const struct idle *x, const struct sim_yaml_given *g,
    const char *path)
{
	const struct sim_yaml_node at = {.line = g->line, .col = g->col};
	const struct xp_sweep_key *key = swept_by(x->s, path);
	char buf[512];
	const char *set = given_by(x, path, buf);
	if (key)
		return sim_yaml_mistake(&x->s->yaml, key->values,
		    "the sweep varies %s, but %s does nothing at any point: "
		    "%s.",
		    key->path, path, g->why);
	if (set)
		return sim_yaml_mistake(&x->s->yaml,
		    &(struct sim_yaml_node){.line = 0},
		    "%.200s%s%.200s does nothing at any point: %s.",
		    strcmp(set, path) ? set : "", strcmp(set, path) ? ": " : "",
		    path, g->why);
	if (g->of_kind)
		return sim_yaml_mistake(&x->s->yaml, &at,
		    "%s does nothing: %s.", path, g->why);
	/* A smaller sweep need not have a use for all that the whole one has. */
	if (x->s->is_smoke)
		return 0;
	return warn(x->s, x->e, &at, "%s does nothing%s: %s.", path,
	    x->s->n_points > 1 ? " at any point" : "", g->why);
}

/* Tell what of MAP, at PATH, does nothing; what is within such a key is told
 * with it. */
static int tell_node(const struct idle *x, const struct sim_yaml_node *node,
    const char *path)
{
	char below[512];
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < node->n; i++) {
		const int is_map = node->kind == SIM_YAML_MAP;
		struct sim_yaml_given *g =
		    is_map ? sim_yaml_noted(&x->s->yaml, node, i) : NULL;
		if (is_map)
			snprintf(below, sizeof(below), "%.250s%s%.250s", path,
			    *path ? "." : "", node->key[i]);
		else
			snprintf(below, sizeof(below), "%.250s.%zu", path, i);
		/* These are not read at points. */
		if (!*path && xp_keys_is_of_sweep(below))
			continue;
		if (g && !g->counts)
			rc = idle_tell(x, g, below);
		else
			rc = tell_node(x, node->child[i], below);
		if (g)
			g->counts = 1; /* told */
	}
	return rc;
}

/* What is left stands in a value of the sweep that is not that of the last
 * point, whose tree is no more. */
static int tell_rest(const struct idle *x)
{
	const struct sim_yaml *y = &x->s->yaml;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < y->n_given; i++)
		if (!y->given[i].counts)
			rc = idle_tell(x, &y->given[i], y->given[i].key);
	return rc;
}

int xp_strict_keys(struct xp_spec *s, const char *const set[], size_t n,
    struct sim_err *e)
{
	const struct idle x = {.s = s, .set = set, .n_set = n, .e = e};
	int rc = tell_node(&x, s->yaml.root, "");
	if (rc == 0)
		rc = tell_rest(&x);
	for (size_t a = 0; rc == 0 && a < s->n_axes; a++)
		/* An axis that does nothing anywhere has been told. */
		if (*s->axis[a].idle && s->yaml.n_mistakes == 0)
			rc = warn(s, e, s->axis[a].key[0].values,
			    "%s does nothing at some points of the sweep (%s): "
			    "those that differ in it alone are one.",
			    s->axis[a].key[0].path, s->axis[a].idle);
	return rc;
}
