/* topo/swap.c -- a network as a file has it in which cables are swapped.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/swap.h"

#include <stdlib.h>

#include "sim/vec.h"
#include "topo/mesh.h"

struct swap {
	const struct topo *t;
	uint32_t n_cables;
	struct topo_cable *cable; /* a nearer to the hosts */
	uint32_t *tier;
	char (*text)[64];
	const char **name;
};

static void swap_free(struct swap *x)
{
	free(x->cable);
	free(x->tier);
	free(x->text);
	free(x->name);
}

static int swap_open(struct swap *x, const struct topo *t, struct sim_err *e)
{
	const uint32_t n_nodes = t->n_hosts + t->n_switches;
	int rc;
	*x = (struct swap){.t = t, .n_cables = t->n_links / 2};
	if ((rc = SIM_ZALLOC(&x->cable, x->n_cables, e)) < 0 ||
	    (rc = SIM_ZALLOC(&x->tier, t->n_switches, e)) < 0 ||
	    (rc = SIM_ZALLOC(&x->text, n_nodes, e)) < 0 ||
	    (rc = SIM_ZALLOC(&x->name, n_nodes, e)) < 0)
		return rc;
	for (uint32_t c = 0; c < x->n_cables; c++)
		topo_link_ends(t, topo_link_of(c, TOPO_UP), &x->cable[c].a,
		    &x->cable[c].b);
	for (topo_switch s = 0; s < t->n_switches; s++)
		x->tier[s] = topo_tier_of(t, s);
	for (topo_node n = 0; n < n_nodes; n++) {
		topo_node_name(t, n, x->text[n]);
		x->name[n] = x->text[n];
	}
	return 0;
}

/* --- which ----------------------------------------------------------------- */

/* Whether there is a cable from A up to B. That end of one which is up is told by
 * the two alone, so none leads from B to A. */
static int swap_has(const struct swap *x, topo_node a, topo_node b)
{
	for (uint32_t c = x->t->n_hosts; c < x->n_cables; c++)
		if (x->cable[c].a == a && x->cable[c].b == b)
			return 1;
	return 0;
}

static uint32_t swap_tier(const struct swap *x, topo_node n)
{
	return x->tier[n - x->t->n_hosts];
}

/* Without tiers the end with the smaller number is the nearer one, and has to be
 * so behind the swap. */
static int swap_fits(const struct swap *x, const struct topo_cable *p,
    const struct topo_cable *q)
{
	return p->a != q->a && p->b != q->b && p->a != q->b && p->b != q->a &&
	    swap_tier(x, p->a) == swap_tier(x, q->a) &&
	    swap_tier(x, p->b) == swap_tier(x, q->b) &&
	    (swap_tier(x, p->a) != swap_tier(x, p->b) ||
		(p->a < q->b && q->a < p->b)) &&
	    !swap_has(x, p->a, q->b) && !swap_has(x, q->a, p->b);
}

static void swap_ends(struct topo_cable *p, struct topo_cable *q)
{
	const topo_node b = p->b;
	p->b = q->b;
	q->b = b;
}

static int swap_switches(struct swap *x, struct sim_rng *r)
{
	const uint32_t n = x->n_cables - x->t->n_hosts;
	struct topo_cable *of = x->cable + x->t->n_hosts;
	for (int i = 0; n > 1 && i < TOPO_SWAP_TRIES; i++) {
		struct topo_cable *p = &of[sim_rng_below(r, n)],
				  *q = &of[sim_rng_below(r, n)];
		if (swap_fits(x, p, q)) {
			swap_ends(p, q);
			return 1;
		}
	}
	return 0;
}

static int swap_hosts(struct swap *x, struct sim_rng *r)
{
	const uint32_t n = x->t->n_hosts;
	for (int i = 0; i < TOPO_SWAP_TRIES; i++) {
		struct topo_cable *p = &x->cable[sim_rng_below(r, n)],
				  *q = &x->cable[sim_rng_below(r, n)];
		if (p->b != q->b) {
			swap_ends(p, q);
			return 1;
		}
	}
	return 0;
}

/* --- the network ----------------------------------------------------------- */

static int swap_close(struct swap *x, struct topo *out, struct sim_err *e)
{
	const struct topo_mesh_input in = {.n_hosts = x->t->n_hosts,
	    .n_switches = x->t->n_switches,
	    .n_cables = x->n_cables,
	    .cable = x->cable,
	    .tier = x->tier[0] == TOPO_NONE ? NULL : x->tier,
	    .name = x->name};
	struct topo_mesh *m;
	const int rc = topo_mesh_open(&m, &in, e);
	return rc < 0 ? rc : topo_open_mesh(out, m, e);
}

int topo_swap(struct topo *out, const struct topo *t, uint32_t n,
    struct sim_rng *r, struct sim_err *e)
{
	struct swap x;
	*out = (struct topo){0};
	if (t->region)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "cables of a region can't be swapped.");
	int rc = swap_open(&x, t, e);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		if (!swap_switches(&x, r) && !swap_hosts(&x, r))
			rc = sim_fail(e, SIM_EINVAL,
			    "no two cables of a single rack can be swapped.");
	if (rc == 0)
		rc = swap_close(&x, out, e);
	if (rc < 0)
		topo_close(out);
	swap_free(&x);
	return rc;
}
