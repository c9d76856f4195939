/* experiments/spec/fabric.c -- all fabrics, and the key `fabric`.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/spec/config.h"
#include "experiments/spec/fabric.h"
#include "experiments/spec/plane.h"

const struct xp_fabric *const xp_fabrics[] = {
#define X(name) &xp_fabric_##name,
    XP_FABRICS(X)
#undef X
	NULL};

const char *const xp_fabric_names[] = {
#define X(name) #name,
    XP_FABRICS(X)
#undef X
	NULL};

/* The simulator has no open(): each plane makes one with the parts that it
 * needs (models/sim/sim.h). */
const struct xp_fabric xp_fabric_sim = {
    .name = "sim",
    .doc = "the simulator, in simulated time",
    .has = XP_ASKS_EPOCH | XP_ASKS_NET | XP_ASKS_SYN_TIMER | XP_ASKS_DELAY,
};

int xp_fabrics_usable(const unsigned takes[], struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && xp_fabrics[i]; i++)
		/* The simulator takes nothing, and has no usable() to ask. */
		if (takes[i])
			rc = xp_fabrics[i]->usable(takes[i], e);
	return rc;
}

/* --- the key -------------------------------------------------------------- */

int xp_fabric_read(struct sim_yaml *y, struct xp_config *c, struct sim_err *e)
{
	const struct sim_field *f = sim_field_find(xp_run_fields, "fabric");
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "fabric");
	/* A plain name is read as any other enum; without the
	 * key the default stands. */
	if (!node || node->kind != SIM_YAML_MAP)
		return node ? sim_yaml_read_value(y, node, f, c, e) : 0;
	if (node->n != 1)
		return sim_yaml_mistake(y, node,
		    "fabric is a name, or a map of one name to its options.");
	/* In a map the name is a key and no node of the tree. This node stands
	 * for it, with its place in the file, so that it is read and complained
	 * about like a plain name. */
	const struct sim_yaml_node name = {.kind = SIM_YAML_SCALAR,
	    .text = node->key[0],
	    .line = node->key_line[0],
	    .col = node->key_col[0]};
	const size_t had = y->n_mistakes;
	int rc = sim_yaml_read_value(y, &name, f, c, e);
	if (rc == 0 && y->n_mistakes == had && !xp_fabric_of(c)->section)
		rc = sim_yaml_mistake(y, &name, "fabric %s has no options.",
		    xp_fabric_of(c)->name);
	return rc;
}

/* Put option I of FROM into MAP, in place of one that has its name. */
static int put_option(struct sim_yaml_node *map,
    const struct sim_yaml_node *from, size_t i, struct sim_err *e)
{
	struct sim_yaml_node *copy = NULL;
	char *key = NULL;
	int rc = sim_yaml_copy(&copy, from->child[i], e);
	for (size_t k = 0; rc == 0 && k < map->n; k++)
		if (strcmp(map->key[k], from->key[i]) == 0) {
			sim_yaml_node_free(map->child[k]);
			map->child[k] = copy;
			return 0;
		}
	if (rc == 0 && (rc = sim_dup(&key, from->key[i], e)) == 0)
		rc = sim_yaml_append(map, key, from->key_line[i],
		    from->key_col[i], copy, e);
	if (rc < 0) {
		sim_yaml_node_free(copy);
		free(key);
	}
	return rc;
}

int xp_fabric_options(struct sim_yaml_node **out, const struct sim_yaml *y,
    const struct xp_section *s, struct sim_err *e)
{
	const struct sim_yaml_node *own = sim_yaml_get(y->root, s->name);
	const struct sim_yaml_node *more =
	    sim_yaml_get(sim_yaml_get(y->root, "fabric"), s->name);
	int rc = 0;
	*out = NULL;
	if (own || more)
		rc = sim_yaml_copy(out, own ? own : more, e);
	/* With one of the two there is nothing to join, and what is no map will
	 * be told by whoever reads the section. */
	if (rc < 0 || !own || !more || own->kind != SIM_YAML_MAP)
		return rc;
	/* Where both have a key, that of `fabric` counts: it belongs to this
	 * point, while the section may serve several. */
	for (size_t i = 0; rc == 0 && i < more->n; i++)
		rc = put_option(*out, more, i, e);
	return rc;
}

/* --- what planes ask of fabrics ------------------------------------------- */

/* The lowest of the bits ASKS in words: one reason is enough for a refusal. */
static const char *asks_text(unsigned asks)
{
	static const char *const text[] = {
#define X(what, text) text,
	    XP_ASKS(X)
#undef X
	};
	return text[__builtin_ctz(asks)];
}

static int refuse_plane(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct xp_fabric *f)
{
	char list[200] = "";
	struct sim_text t = {list, sizeof(list), 0};
	for (const struct xp_plane *const *p = xp_planes; *p; p++)
		if ((*p)->asks)
			sim_put(&t, "%s%s", *list ? " and " : "", (*p)->name);
	return sim_yaml_mistake(y, node, "fabric %s is for planes %s.", f->name,
	    list);
}

int xp_fabric_check(struct sim_yaml *y, const struct xp_config *c)
{
	const struct xp_fabric *f = xp_fabric_of(c);
	const struct xp_plane *p = xp_plane_of(c);
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "fabric");
	const unsigned gives = f->gives ? f->gives(c) : f->has;
	/* A plane that asks for nothing runs on no fabric, so for it the key
	 * can only stay at its default. */
	if (!p->asks)
		return f == xp_fabrics[0] ? 0 : refuse_plane(y, node, f);
	const unsigned lacks = p->asks(c) & ~gives;
	if (lacks == 0)
		return f->check ? f->check(y, c) : 0;
	/* What the fabric never has comes first. Only if there is nothing of
	 * that kind does it help to say which option would give the rest. */
	const int never = (lacks & ~f->has) != 0;
	return sim_yaml_mistake(y, node,
	    "plane %s takes %s, which fabric %s has not%s%s.", p->name,
	    asks_text(never ? lacks & ~f->has : lacks), f->name,
	    never ? "" : " unless ", never ? "" : f->unless);
}
