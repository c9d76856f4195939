/* experiments/check/place.c -- which points of results a claim means.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/place.h"

#include <math.h>
#include <string.h>

#include "sim/text.h"

static int place_equals(const struct res_coord *k, size_t i,
    const struct sim_yaml_node *v)
{
	char text[256];
	double x;
	/* Numbers are compared as numbers, so that 1e-3 is 0.001; all else as
	 * the text that the spec's own value has in the results. */
	if (k->number)
		return v->kind == SIM_YAML_SCALAR &&
		    sim_parse_f64(v->text, &x, NULL) == 0 && x == k->number[i];
	return sim_yaml_format(v, text, sizeof(text)) < (int)sizeof(text) &&
	    strcmp(text, k->text[i]) == 0;
}

/* Is place I of the axis what V asks for? A text of the axis may
 * itself be a list, as in faults.classes: [tor-t1], so the whole of V
 * is tried before its elements. */
static int place_matches(const struct res_coord *k, size_t i,
    const struct sim_yaml_node *v)
{
	if (place_equals(k, i, v))
		return 1;
	/* A missing end of a range is open. Texts have no
	 * order and are in no range. */
	if (v->kind == SIM_YAML_MAP)
		return k->number &&
		    k->number[i] >= xp_claim_bound(v, "from", -INFINITY) &&
		    k->number[i] <= xp_claim_bound(v, "to", INFINITY);
	for (size_t j = 0; v->kind == SIM_YAML_SEQ && j < v->n; j++)
		if (place_equals(k, i, v->child[j]))
			return 1;
	return 0;
}

int xp_place_find(const struct res_cube *c, const char *name, size_t *axis,
    const struct res_coord **coord)
{
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++)
			if (strcmp(c->axis[a].coord[i].name, name) == 0) {
				*axis = a;
				*coord = &c->axis[a].coord[i];
				return 1;
			}
	return 0;
}

int xp_place_is_meant(const struct xp_claim *c, const struct res_cube *cube,
    const size_t place[])
{
	for (size_t i = 0; c->at && i < c->at->n; i++) {
		size_t axis;
		const struct res_coord *coord;
		if (!xp_place_find(cube, c->at->key[i], &axis, &coord) ||
		    !place_matches(coord, place[axis], c->at->child[i]))
			return 0;
	}
	return 1;
}

int xp_place_is_guess(const struct xp_claim *c, const struct res_axis *a)
{
	for (size_t g = 0; c->guess && g < c->guess->n; g++)
		for (size_t i = 0; i < a->n_coords; i++)
			if (strcmp(a->coord[i].name,
				c->guess->child[g]->text) == 0)
				return 1;
	return 0;
}

/* The first coordinate of an axis names its places; those of a zip go with it. */
void xp_place_name(const struct xp_claim *claim, const struct res_cube *c,
    const size_t place[], int guess, char *buf, size_t size)
{
	struct sim_text t = {buf, size, 0};
	char number[32];
	*buf = '\0';
	for (size_t a = 0; a < c->n_axes; a++) {
		const struct res_coord *k = &c->axis[a].coord[0];
		if (xp_place_is_guess(claim, &c->axis[a]) != guess)
			continue;
		/* Of a guess, which the claim names whole, the key alone. */
		const char *key = guess ? strrchr(k->name, '.') : NULL;
		sim_put(&t, "%s%s %s", t.n ? ", " : "", key ? key + 1 : k->name,
		    k->number ? sim_format_f64(number, k->number[place[a]])
			      : k->text[place[a]]);
	}
}
