/* experiments/spec/faults.c -- the section `faults` of a spec.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/spec/config.h"
#include "sim/vec.h"

void xp_faults_free(struct scene_params *s)
{
	for (size_t i = 0; i < s->n_groups; i++) {
		free(s->group[i].links);
		free(s->group[i].at);
	}
	free(s->group);
	s->group = NULL;
	s->n_groups = 0;
}

/* --- named places --------------------------------------------------------- */

static int read_link(struct sim_yaml *y, const struct sim_yaml_node *item,
    const struct topo *t, struct fault_params *g)
{
	struct sim_err why;
	topo_link l;
	char name[64];
	if (item->kind != SIM_YAML_SCALAR)
		return sim_yaml_mistake(y, item,
		    "a link is an id or a \"from->to\" name.");
	if (topo_link_parse(t, item->text, &l, &why) < 0)
		return sim_yaml_mistake(y, item, "%s", why.msg);
	/* Named twice, a link would count as two faults of
	 * the group and be one. */
	for (size_t i = 0; i < g->n_links; i++)
		if (g->links[i] == l) {
			topo_link_name(t, l, name);
			return sim_yaml_mistake(y, item,
			    "link %u, %s, is named twice in this group.", l,
			    name);
		}
	g->links[g->n_links++] = l;
	return 0;
}

/* `links: [17, "tor0->t1.3"]`. */
static int read_links(struct sim_yaml *y, const struct sim_yaml_node *list,
    const struct topo *t, struct fault_params *g, struct sim_err *e)
{
	int rc;
	if (list->kind != SIM_YAML_SEQ || list->n == 0)
		return sim_yaml_mistake(y, list,
		    "links is a list of link ids or \"from->to\" names.");
	/* Without a network, which has been told, names mean nothing. */
	if (!t)
		return 0;
	if ((rc = SIM_ZALLOC(&g->links, list->n, e)) < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < list->n; i++)
		rc = read_link(y, list->child[i], t, g);
	return rc;
}

static int read_node(struct sim_yaml *y, const struct sim_yaml_node *item,
    const struct topo *t, struct fault_params *g)
{
	const int hosts = fault_is_of_hosts(g->kind);
	const char *kind = fault_kind_names[g->kind];
	struct sim_err why;
	topo_node n;
	char quote[64];
	if (item->kind != SIM_YAML_SCALAR)
		return sim_yaml_mistake(y, item,
		    "a place is the name of a node, such as tor3.");
	if (topo_node_parse(t, item->text, &n, &why) < 0)
		return sim_yaml_mistake(y, item, "%s", why.msg);
	sim_quote(quote, item->text);
	if (hosts != (n < t->n_hosts))
		return sim_yaml_mistake(y, item,
		    "%s is a %s; kind %s is of %s.", quote,
		    hosts ? "switch" : "host", kind,
		    hosts ? "hosts" : "switches");
	for (size_t i = 0; i < g->n_at; i++)
		if (g->at[i] == n)
			return sim_yaml_mistake(y, item,
			    "%s is named twice in this group.", quote);
	g->at[g->n_at++] = n;
	return 0;
}

static int read_pod(struct sim_yaml *y, const struct sim_yaml_node *item,
    const struct topo *t, struct fault_params *g, struct sim_err *e)
{
	/* This bound only stops nonsense; which pods
	 * there are is asked below. */
	const struct sim_field field = {"pods", SIM_F_U32, 0, .max = 1e6,
	    .unit = "pods"};
	const size_t had = y->n_mistakes;
	uint32_t pod = 0;
	int rc = sim_yaml_read_value(y, item, &field, &pod, e);
	if (rc < 0 || y->n_mistakes > had)
		return rc;
	/* Hosts are numbered pod by pod, so the last host is in the last pod. A
	 * mesh may know no pods and say TOPO_NONE. */
	const uint32_t last = topo_pod_of(t, t->n_hosts - 1);
	if (last != TOPO_NONE && pod > last)
		return sim_yaml_mistake(y, item, "pod %u is not in [0, %u].",
		    pod, last);
	for (size_t i = 0; i < g->n_at; i++)
		if (g->at[i] == pod)
			return sim_yaml_mistake(y, item,
			    "pod %u is named twice in this group.", pod);
	g->at[g->n_at++] = pod;
	return 0;
}

/* `at: [tor3, t2.0]`, or `pods: [0, 1]`. */
static int spec_faults_read_at(struct sim_yaml *y,
    const struct sim_yaml_node *list, int pods, const struct topo *t,
    struct fault_params *g, struct sim_err *e)
{
	int rc;
	if (list->kind != SIM_YAML_SEQ || list->n == 0)
		return sim_yaml_mistake(y, list, "%s",
		    pods ? "pods is a list of numbers of pods."
			 : "at is a list of names of nodes, such as tor3.");
	/* Without a network, which has been told, names mean nothing. */
	if (!t)
		return 0;
	if ((rc = SIM_ZALLOC(&g->at, list->n, e)) < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < list->n; i++)
		rc = pods ? read_pod(y, list->child[i], t, g, e)
			  : read_node(y, list->child[i], t, g);
	return rc;
}

/* --- groups --------------------------------------------------------------- */

/* Tell keys that exist but are of no use to this kind of fault: they would be
 * ignored and look as if they worked. Unknown keys have been told already, and
 * of a kind that could not be read nothing can be said. */
static int spec_faults_check_keys(struct sim_yaml *y,
    const struct sim_yaml_node *node, const char *const *also, uint32_t kind)
{
	const char *name = fault_kind_names[kind];
	const struct sim_yaml_node *told = sim_yaml_get(node, "kind");
	int rc = 0;
	if (told && (told->kind != SIM_YAML_SCALAR || strcmp(told->text, name)))
		return 0;
	for (size_t i = 0; rc == 0 && i < node->n; i++) {
		const char *key = node->key[i];
		int known = sim_field_find(fault_fields, key) != NULL;
		for (size_t k = 0; also[k]; k++)
			known |= strcmp(also[k], key) == 0;
		if (known && !fault_uses(kind, key))
			rc = sim_yaml_mistake(y, node->child[i],
			    "kind %s has no use for `%s`.", name, key);
	}
	return rc;
}

/* Read the places that a group names. Those of a sort that the kind has no use
 * for are left to spec_faults_check_keys(), so that they are told once. */
static int read_places(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct topo *t, struct fault_params *g, struct sim_err *e)
{
	const struct sim_yaml_node *links = sim_yaml_get(node, "links");
	const struct sim_yaml_node *at = sim_yaml_get(node, "at");
	const struct sim_yaml_node *pods = sim_yaml_get(node, "pods");
	int rc = 0;
	if (links && fault_uses(g->kind, "links"))
		rc = read_links(y, links, t, g, e);
	if (links && at && rc == 0)
		rc = sim_yaml_mistake(y, at,
		    "a group names either links or nodes (`at`).");
	else if (rc == 0 && at && fault_uses(g->kind, "at"))
		rc = spec_faults_read_at(y, at, 0, t, g, e);
	if (rc == 0 && pods && fault_uses(g->kind, "pods"))
		rc = spec_faults_read_at(y, pods, 1, t, g, e);
	return rc;
}

int xp_classes_check(struct sim_yaml *y, const struct sim_yaml_node *named,
    const struct topo *t, uint32_t classes)
{
	char list[200] = "";
	struct sim_text there = {list, sizeof(list), 0};
	enum topo_link_class missing = TOPO_N_LINK_CLASSES;
	for (unsigned c = 0; c < TOPO_N_LINK_CLASSES; c++) {
		if (fault_class_size(t, c) > 0)
			sim_put(&there, "%s%s", *list ? ", " : "",
			    topo_class_names[c]);
		else if (classes >> c & 1)
			missing = c;
	}
	if (missing == TOPO_N_LINK_CLASSES)
		return 0;
	for (size_t i = 0; named->kind == SIM_YAML_SEQ && i < named->n; i++)
		if (strcmp(named->child[i]->text, topo_class_names[missing]) ==
		    0)
			named = named->child[i];
	return sim_yaml_mistake(y, named,
	    "classes: this network has no link of class %s; there are %s.",
	    topo_class_names[missing], list);
}

static int check_classes(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct topo *t, const struct fault_params *g)
{
	const struct sim_yaml_node *named = sim_yaml_get(node, "classes");
	return named && named->kind == SIM_YAML_SEQ &&
		fault_uses(g->kind, "classes")
	    ? xp_classes_check(y, named, t, g->classes)
	    : 0;
}

/* Note which of the keys KEY do nothing, for WHY, or do something (NULL). */
static int note_keys_of_places(struct sim_yaml *y,
    const struct sim_yaml_node *node, const char *const key[], const char *why,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < node->n; i++)
		if (key[sim_word_find(key, node->key[i])])
			rc = sim_yaml_note(y, node, i, why, e);
	return rc;
}

/* Of the keys that say where, only those count that are about the sort of place
 * that the group has: see fault_draw(). */
static int note_places(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct fault_params *g, struct sim_err *e)
{
	static const char *const links[] = {"count", "classes", "pick", NULL};
	static const char *const beside[] = {"same_switch", NULL};
	static const char *const switches[] = {"switches", NULL};
	static const char *const tiers[] = {"tiers", NULL};
	static const char *const share[] = {"share", NULL};
	static const char none[] = "no switches fail";
	const int named = g->n_links > 0 || g->n_at > 0;
	const int at_switches = g->n_links == 0 &&
	    (g->n_at > 0 || g->switches > 0 || fault_is_of_switches(g->kind));
	const char *why = named ? "the group names its places"
	    : at_switches       ? "the group is of switches"
				: NULL;
	int rc = note_keys_of_places(y, node, links, why, e);
	if (rc == 0)
		rc = note_keys_of_places(y, node, beside,
		    why || g->count > 1
			? why
			: "it counts only with count: 2 or more",
		    e);
	/* A number of switches counts even if it is none. */
	if (rc == 0)
		rc = note_keys_of_places(y, node, switches, named ? why : NULL,
		    e);
	if (rc == 0)
		rc = note_keys_of_places(y, node, tiers,
		    named             ? why
			: at_switches ? NULL
				      : none,
		    e);
	return rc < 0
	    ? rc
	    : note_keys_of_places(y, node, share, at_switches ? NULL : none, e);
}

static int read_group(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct topo *t, struct fault_params *g, struct sim_err *e)
{
	static const char *const also[] = {"links", "at", "pods", NULL};
	const size_t had = y->n_mistakes;
	int rc = sim_yaml_read(y, node, y->root, fault_fields, also, g, e);
	if (rc < 0 || node->kind != SIM_YAML_MAP)
		return rc;
	/* A black hole is in a switch, and one switch is the least of them. A
	 * bad hash is mostly that of all. Other kinds fail links unless
	 * `switches` is given. */
	if (!sim_yaml_get(node, "switches") && g->kind != FAULT_HASH &&
	    fault_is_of_switches(g->kind))
		g->switches = 1;
	rc = spec_faults_check_keys(y, node, also, g->kind);
	if (rc == 0 && t && y->n_mistakes == had)
		rc = check_classes(y, node, t, g);
	if (rc == 0)
		rc = read_places(y, node, t, g, e);
	return rc < 0 ? rc : note_places(y, node, g, e);
}

/* Can the N groups be drawn together? Each takes places from those that are
 * left, so a late one may find too few. All but the last are known to fit: what
 * fails is the last one's mistake. */
static int check_group(struct sim_yaml *y, const struct sim_yaml_node *node,
    const struct topo *t, const struct fault_params *group, size_t n,
    struct sim_err *e)
{
	const struct sim_seed where = {0};
	struct truth truth = {0};
	struct sim_err why;
	int rc = fault_draw(t, group, n, &where, &truth, &why);
	truth_free(&truth);
	return xp_take_mistake(y, node, rc, &why, e);
}

int xp_faults_read(struct sim_yaml *y, const struct topo *t,
    struct scene_params *s, struct sim_err *e)
{
	const struct sim_yaml_node *node = sim_yaml_get(y->root, "faults");
	/* A single group may stand without a list around it. */
	const int list = node && node->kind == SIM_YAML_SEQ;
	const size_t n = list ? node->n : node != NULL;
	const size_t had = y->n_mistakes;
	if (node && node->kind == SIM_YAML_SCALAR && *node->text)
		return sim_yaml_mistake(y, node,
		    "faults is a group {rate: ..., ...}, a list of groups, or "
		    "[] for none.");
	int rc = SIM_ZALLOC(&s->group, n, e);
	if (rc < 0)
		return rc;
	s->n_groups = n;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		const struct sim_yaml_node *at = list ? node->child[i] : node;
		rc = read_group(y, at, t, &s->group[i], e);
		/* After a mistake this group would be drawn
		 * beside the wrong ones. */
		if (rc == 0 && t && y->n_mistakes == had)
			rc = check_group(y, at, t, s->group, i + 1, e);
	}
	return rc;
}
