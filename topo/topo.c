/* topo/topo.c -- a network: a Clos by arithmetic or any graph by tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/topo.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/text.h"
#include "topo/mesh.h"
#include "topo/region.h"

const char *const topo_class_names[] = {
#define X(name, text) text,
    TOPO_LINK_CLASSES(X)
#undef X
	NULL,
};

int topo_open_clos(struct topo *t, const struct topo_clos *shape,
    struct sim_err *e)
{
	*t = (struct topo){0};
	struct topo_clos c = *shape;
	int rc = topo_clos_init(&c, e);
	if (rc < 0)
		return rc;
	t->clos = c;
	t->n_hosts = c.all_hosts;
	t->n_switches = topo_clos_n_switches(&c);
	t->n_links = 2 * c.n_cables;
	return 0;
}

/* Counts are copied into T, since they are asked for everywhere. */
int topo_open_mesh(struct topo *t, struct topo_mesh *mesh, struct sim_err *e)
{
	*t = (struct topo){0};
	if (!mesh)
		return sim_fail(e, SIM_EINVAL, "There is no mesh to open.");
	t->mesh = mesh;
	t->n_hosts = topo_mesh_n_hosts(mesh);
	t->n_switches = topo_mesh_n_switches(mesh);
	t->n_links = topo_mesh_n_links(mesh);
	return 0;
}

void topo_close(struct topo *t)
{
	topo_mesh_close(t->mesh);
	free(t->region);
	*t = (struct topo){0};
}

topo_switch topo_tor_of(const struct topo *t, topo_host h)
{
	return t->mesh ? topo_mesh_tor_of(t->mesh, h) : h / t->clos.n_hosts;
}

uint32_t topo_tier_of(const struct topo *t, topo_switch s)
{
	if (t->mesh)
		return topo_mesh_tier(t->mesh, s);
	const struct topo_clos *c = &t->clos;
	return (s >= c->all_tors) + (s >= c->all_tors + c->all_t1);
}

uint32_t topo_pod_of(const struct topo *t, topo_host h)
{
	const struct topo_region *r = t->region;
	const struct topo_clos *c = &t->clos;
	uint32_t first = 0;
	/* Pods are counted over all data centres, so count within the host's
	 * own and add those before it. */
	if (r) {
		const uint32_t dc = topo_region_dc_of(r, h);
		first = r->first_pod[dc];
		h -= r->first_host[dc];
		c = &r->shape[dc];
	} else if (t->mesh) {
		return TOPO_NONE;
	}
	/* Hosts are numbered by pod, so a pod is a run of them. */
	return first + h / (c->n_tors * c->n_hosts);
}

sim_ns topo_link_delay(const struct topo *t, topo_link l)
{
	const struct topo_region *r = t->region;
	topo_node from, to;
	if (!r || l >> 1 < r->first_long)
		return 0;
	topo_mesh_link_ends(t->mesh, l, &from, &to);
	const topo_node border = t->n_hosts + r->first_switch[r->n_dcs];
	/* Both ends are borders, numbered by data centre. */
	return r->delay_ns[(from - border) / r->n_borders]
			  [(to - border) / r->n_borders];
}

void topo_link_ends(const struct topo *t, topo_link l, topo_node *from,
    topo_node *to)
{
	if (t->mesh) {
		topo_mesh_link_ends(t->mesh, l, from, to);
		return;
	}
	const struct topo_clos *c = &t->clos;
	struct topo_clos_place at = topo_clos_place(c, l);
	/* Places count within a tier; nodes count hosts, ToRs, T1s and T2s
	 * on. */
	topo_node low = at.low, high = at.high;
	switch (at.class) {
	case TOPO_HOST_TOR:
	case TOPO_TOR_HOST:
		high += c->all_hosts;
		break;
	case TOPO_TOR_T1:
	case TOPO_T1_TOR:
		low += c->all_hosts;
		high += c->all_hosts + c->all_tors;
		break;
	default:
		low += c->all_hosts + c->all_tors;
		high += c->all_hosts + c->all_tors + c->all_t1;
	}
	*from = (l & 1) == TOPO_UP ? low : high;
	*to = (l & 1) == TOPO_UP ? high : low;
}

enum topo_link_class topo_class_of(const struct topo *t, topo_link l)
{
	return t->mesh ? topo_mesh_class_of(t->mesh, l)
		       : topo_clos_place(&t->clos, l).class;
}

/* Arithmetic where there is any, the tables otherwise. */
unsigned topo_path(const struct topo *t, uint32_t ecmp_seed, topo_host src,
    topo_host dst, uint32_t digest, topo_link path[])
{
	if (t->region)
		return topo_region_path(t->region, ecmp_seed, src, dst, digest,
		    path);
	if (t->mesh)
		return topo_mesh_path(t->mesh, ecmp_seed, src, dst, digest,
		    path);
	return topo_clos_path(&t->clos, ecmp_seed, src, dst, digest, path);
}

/* Regions have a mesh, whose tables know the borders too. */
double topo_path_share(const struct topo *t, topo_host src, topo_host dst,
    topo_link l)
{
	return t->mesh ? topo_mesh_path_share(t->mesh, src, dst, l)
		       : topo_clos_path_share(&t->clos, src, dst, l);
}

int topo_share_given(const struct topo *t, topo_link given,
    const topo_link link[], size_t n, double share[], struct sim_err *e)
{
	if (t->mesh)
		return topo_mesh_share_given(t->mesh, given, link, n, share, e);
	for (size_t i = 0; i < n; i++)
		share[i] = topo_clos_share(&t->clos, given, link[i]);
	return 0;
}

/* --- names ---------------------------------------------------------------- */

/* Nodes of one kind: those numbered from FIRST are PREFIX0, PREFIX1, ... */
struct kind {
	const char *prefix;
	topo_node first;
	uint32_t n;
};

/* A Clos has hosts, ToRs, T1s and T2s; a data centre of a region has borders
 * instead of hosts. */
enum { MAX_KINDS = 4 };

/* The kinds of switch of a Clos whose first ToR is node TOR. */
static void clos_kinds(const struct topo_clos *c, topo_node tor,
    struct kind k[3])
{
	const topo_node t1 = tor + c->all_tors;
	k[0] = (struct kind){"tor", tor, c->all_tors};
	k[1] = (struct kind){"t1.", t1, c->all_t1};
	k[2] = (struct kind){"t2.", t1 + c->all_t1, c->n_t2};
}

static int kinds(const struct topo *t, struct kind k[MAX_KINDS])
{
	k[0] = (struct kind){"host", 0, t->n_hosts};
	if (t->mesh) {
		k[1] = (struct kind){"sw", t->n_hosts, t->n_switches};
		return 2;
	}
	clos_kinds(&t->clos, t->n_hosts, k + 1);
	return 4;
}

void topo_node_name(const struct topo *t, topo_node n, char buf[64])
{
	const char *given = t->mesh ? topo_mesh_name(t->mesh, n) : NULL;
	struct kind k[MAX_KINDS] = {0};
	int i = kinds(t, k) - 1;
	assert(n < t->n_hosts + t->n_switches);
	/* Kinds stand in the order of node numbers, so the last one that does
	 * not begin after N is N's. Names that were given come first. */
	while (n < k[i].first)
		i--;
	if (given)
		snprintf(buf, 64, "%s", given);
	else
		snprintf(buf, 64, "%s%u", k[i].prefix, n - k[i].first);
}

/* Two names of at most 30 bytes and the arrow fit in 64. */
void topo_link_name(const struct topo *t, topo_link l, char buf[64])
{
	topo_node from, to;
	char name[64];
	topo_link_ends(t, l, &from, &to);
	topo_node_name(t, from, buf);
	topo_node_name(t, to, name);
	size_t n = strlen(buf);
	snprintf(buf + n, 64 - n, "->%s", name);
}

/* No prefix begins another one, so at most one kind fits. */
static topo_node find_kind(const struct kind k[], int n, const char *name)
{
	for (int i = 0; i < n; i++) {
		const size_t skip = strlen(k[i].prefix);
		uint64_t x;
		/* Leading zeros are refused: a node has one name only. */
		if (strncmp(name, k[i].prefix, skip) == 0 &&
		    sim_parse_u64(name + skip, &x, NULL) == 0 && x < k[i].n)
			return k[i].first + (topo_node)x;
	}
	return TOPO_NONE;
}

/* Find a switch of a region by its name, which is "dc1." and what it would be
 * called in a data centre by itself, or border0. */
static topo_node find_in_dc(const struct topo *t, const char *name)
{
	const struct topo_region *r = t->region;
	const char *dot = strchr(name, '.');
	struct kind k[MAX_KINDS] = {0};
	char number[16];
	uint64_t dc;
	if (!dot || strncmp(name, "dc", 2) != 0)
		return TOPO_NONE;
	/* What is cut off here is too large anyway. */
	snprintf(number, sizeof(number), "%.*s", (int)(dot - name) - 2,
	    name + 2);
	if (sim_parse_u64(number, &dc, NULL) < 0 || dc >= r->n_dcs)
		return TOPO_NONE;
	clos_kinds(&r->shape[dc], t->n_hosts + r->first_switch[dc], k);
	k[3] = (struct kind){"border",
	    t->n_hosts + r->first_switch[r->n_dcs] +
		(uint32_t)dc * r->n_borders,
	    r->n_borders};
	return find_kind(k, 4, dot + 1);
}

int topo_node_parse(const struct topo *t, const char *name, topo_node *out,
    struct sim_err *e)
{
	topo_node n = TOPO_NONE;
	char quote[64];
	if (t->region)
		n = find_in_dc(t, name);
	else if (t->mesh)
		n = topo_mesh_find(t->mesh, name);
	/* Not a name that was given: one made of a kind and a number, unless
	 * such names are given to other nodes. */
	if (n == TOPO_NONE && (!t->mesh || topo_mesh_has_numbers(t->mesh))) {
		struct kind k[MAX_KINDS] = {0};
		n = find_kind(k, kinds(t, k), name);
	}
	if (n == TOPO_NONE)
		return sim_fail(e, SIM_EINVAL, "no node is called %s.",
		    sim_quote(quote, name));
	*out = n;
	return 0;
}

/* The cable that could join two nodes follows from their numbers: every node of
 * a lower tier has the smaller number. Its real ends then tell whether the two
 * are joined at all, since a pair in different pods, or of one tier, gives the
 * number of some other cable. */
static topo_link clos_link(const struct topo *t, topo_node from, topo_node to)
{
	const struct topo_clos *c = &t->clos;
	topo_node low = from < to ? from : to, high = from < to ? to : from;
	enum topo_dir dir = from < to ? TOPO_UP : TOPO_DOWN;
	topo_node t1 = c->all_hosts + c->all_tors, t2 = t1 + c->all_t1;
	uint64_t cable = low;
	if (low >= t1 && high >= t2) {
		cable =
		    c->cable_t1 + (uint64_t)(low - t1) * c->n_t2 + (high - t2);
	} else if (low >= c->all_hosts && high >= t1) {
		uint32_t tor = low - c->all_hosts;
		cable = c->cable_tor + (uint64_t)tor * c->n_t1 +
		    (high - t1) % c->n_t1;
	}
	if (cable >= c->n_cables)
		return TOPO_NONE;
	topo_link l = topo_link_of((uint32_t)cable, dir);
	topo_node at_from, at_to;
	topo_link_ends(t, l, &at_from, &at_to);
	return at_from == from && at_to == to ? l : TOPO_NONE;
}

topo_link topo_link_between(const struct topo *t, topo_node from, topo_node to)
{
	return t->mesh ? topo_mesh_link_between(t->mesh, from, to)
		       : clos_link(t, from, to);
}

/* Digits alone are an id, since a pair of names has an arrow in between. */
int topo_link_parse(const struct topo *t, const char *text, topo_link *out,
    struct sim_err *e)
{
	size_t n = strlen(text);
	uint64_t id;
	if (n > 0 && strspn(text, "0123456789") == n) {
		if (sim_parse_u64(text, &id, NULL) < 0 || id >= t->n_links)
			return sim_fail(e, SIM_ERANGE,
			    "Link %.40s is not in [0, %u].", text,
			    t->n_links - 1);
		*out = (topo_link)id;
		return 0;
	}
	const char *arrow = strstr(text, "->");
	if (!arrow)
		return sim_fail(e, SIM_EINVAL,
		    "\"%.80s\" is not a link: write an id in [0, %u] or two "
		    "node names as FROM->TO.",
		    text, t->n_links - 1);
	topo_node from, to;
	char name[64]; /* too long for a name if it is cut */
	snprintf(name, sizeof(name), "%.*s",
	    arrow - text < 63 ? (int)(arrow - text) : 63, text);
	int rc;
	if ((rc = topo_node_parse(t, name, &from, e)) < 0 ||
	    (rc = topo_node_parse(t, arrow + 2, &to, e)) < 0)
		return sim_wrap(e, rc, "Link \"%.80s\"", text);
	topo_link l = topo_link_between(t, from, to);
	if (l == TOPO_NONE)
		return sim_fail(e, SIM_EINVAL,
		    "Link \"%.80s\": no cable joins the two nodes.", text);
	*out = l;
	return 0;
}
