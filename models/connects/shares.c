/* models/connects/shares.c -- which connects sources have looked at already.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sources are gone over one after the other, and none may look at a connect that
 * an earlier one has: so those looked at are kept. And as each is to look at its
 * share p of all connects, it looks at p / (1 - q) of those that are left, q being
 * the sum of the shares of the earlier ones. That sum is one of units: what
 * concerns a connect is above its two servers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/connects/impl.h"
#include "sim/vec.h"

static uint32_t unit_size(const struct connects *c, int tier)
{
	return tier == 0 ? 1
	    : tier == 1  ? c->clos.n_hosts
			 : c->clos.n_hosts * c->clos.n_tors;
}

static double *share_of_unit(const struct connects *c, int tier, topo_host h)
{
	return &c->share[tier][h / unit_size(c, tier)];
}

void connects_share_add(struct connects *c, const struct connects_source *s)
{
	*share_of_unit(c, s->tier, s->first_host) += s->p;
	c->is_shared[s->tier] = 1;
}

double connects_share_of(const struct connects *c, topo_host src, topo_host dst,
    enum connects_hops hops)
{
	double sum = 0;
	for (int t = 0; t <= (int)hops; t++)
		if (c->is_shared[t])
			sum += *share_of_unit(c, t, src) +
			    *share_of_unit(c, t, dst);
	return sum;
}

static void clear_shares(struct connects *c)
{
	memset(c->share[0], 0, c->clos.all_hosts * sizeof(double));
	memset(c->share[1], 0, c->clos.all_tors * sizeof(double));
	memset(c->share[2], 0, c->clos.n_pods * sizeof(double));
	memset(c->is_shared, 0, sizeof(c->is_shared));
}

void connects_weigh(struct connects *c)
{
	struct connects_segment *g = &c->now;
	const double of_all = fmax(g->all[CONNECTS_TOR], g->all[CONNECTS_DC]);
	g->any_heavy = g->all_heavy = of_all > CONNECTS_LIGHT_ALL;
	clear_shares(c);
	for (size_t i = 0; i < c->n_sources; i++)
		connects_share_add(c, &c->source[i]);
	memset(c->heavy, g->all_heavy, c->clos.all_hosts);
	for (topo_host h = 0; c->n_sources > 0 && h < c->clos.all_hosts; h++) {
		const double sum = *share_of_unit(c, 0, h) +
		    *share_of_unit(c, 1, h) + *share_of_unit(c, 2, h);
		if (sum > CONNECTS_LIGHT)
			c->heavy[h] = g->any_heavy = 1;
		else
			g->top = fmax(g->top, 2 * sum);
	}
	clear_shares(c);
}

/* --- those looked at ------------------------------------------------------ */

/* A connect's number: not 0, as no server connects to itself, and no other's unless
 * the two are 2^64 / servers^2 times of their pair's connects apart, which is longer
 * than any segment, with fewer servers than addresses. */
static uint64_t seen_number(const struct connects *c, topo_host src,
    topo_host dst, uint64_t slot)
{
	const uint64_t n = c->clos.all_hosts;
	return (slot * n + src) * n + dst;
}

/* An open table, no more than half of which is used. */
static size_t seen_place(const struct connects_seen *s, uint64_t x)
{
	uint64_t k = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
	k = (k ^ k >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	size_t i = (k ^ k >> 33) & (s->cap - 1);
	while (s->one[i] != 0 && s->one[i] != x)
		i = (i + 1) & (s->cap - 1);
	return i;
}

static int grow_seen(struct connects_seen *s, struct sim_err *e)
{
	struct connects_seen more = {.n = s->n,
	    .cap = s->cap ? 2 * s->cap : 1024};
	int rc = SIM_ZALLOC(&more.one, more.cap, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < s->cap; i++)
		if (s->one[i] != 0)
			more.one[seen_place(&more, s->one[i])] = s->one[i];
	free(s->one);
	*s = more;
	return 0;
}

void connects_seen_clear(struct connects_seen *s)
{
	if (s->n > 0)
		memset(s->one, 0, s->cap * sizeof(*s->one));
	s->n = 0;
}

int connects_seen_has(const struct connects *c, topo_host src, topo_host dst,
    uint64_t slot)
{
	const struct connects_seen *s = &c->seen;
	const uint64_t x = seen_number(c, src, dst, slot);
	return s->n > 0 && s->one[seen_place(s, x)] != 0;
}

int connects_seen_add(struct connects *c, topo_host src, topo_host dst,
    uint64_t slot, int *is_new, struct sim_err *e)
{
	struct connects_seen *s = &c->seen;
	const uint64_t x = seen_number(c, src, dst, slot);
	int rc = 2 * s->n >= s->cap ? grow_seen(s, e) : 0;
	if (rc < 0)
		return rc;
	const size_t i = seen_place(s, x);
	*is_new = s->one[i] == 0;
	s->n += (unsigned)*is_new;
	s->one[i] = x;
	return 0;
}
