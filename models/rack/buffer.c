/* models/rack/buffer.c -- how a quadrant's buffer is shared by its queues.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>

#include "models/rack/impl.h"

static uint64_t rack_arrived_bytes(const struct rack *r,
    const struct rack_port *p)
{
	return (uint64_t)p->arrived * r->p.segment;
}

/* What the queue would be with all that came, and with nothing of it. */
static double rack_wish(const struct rack *r, const struct rack_port *p)
{
	const uint64_t all = p->queue + rack_arrived_bytes(r, p);
	return all > r->drain ? (double)(all - r->drain) : 0;
}

static double rack_least(const struct rack *r, const struct rack_port *p)
{
	return p->queue > r->drain ? (double)(p->queue - r->drain) : 0;
}

static double rack_allowed(const struct rack *r, const struct rack_port *p,
    double limit)
{
	return fmin(rack_wish(r, p), fmax(limit, rack_least(r, p)));
}

static double rack_sum_allowed(const struct rack *r, const struct rack_group *g,
    double limit)
{
	double sum = 0;
	for (uint32_t i = 0; i < g->n; i++)
		sum += rack_allowed(r, &r->port[g->port[i]], limit);
	return sum;
}

/* The T that solves T = alpha (B - what T allows). The right side falls as T
 * rises, so there is one, and halving finds it; what is below a byte does not
 * count. SURE is at or below it. */
static double rack_dynamic(const struct rack *r, const struct rack_group *g,
    double sure)
{
	double lo = fmax(sure, 0), hi = r->p.alpha * r->p.shared;
	while (hi - lo > 0.5) {
		const double t = (lo + hi) / 2;
		if (r->p.alpha * (r->p.shared - rack_sum_allowed(r, g, t)) > t)
			lo = t;
		else
			hi = t;
	}
	return floor(lo);
}

/* Whole segments of EXCESS bytes, rounded by chance. */
static void rack_drop(const struct rack *r, struct rack_port *p, double excess)
{
	if (excess <= 0)
		return;
	const double n = floor(excess / r->p.segment + rack_draw(r, p));
	p->dropped = n < p->arrived ? (uint32_t)n : p->arrived;
}

static void rack_drop_above(struct rack *r, struct rack_group *g, double limit)
{
	g->limit = limit;
	for (uint32_t i = 0; i < g->n; i++) {
		struct rack_port *p = &r->port[g->port[i]];
		rack_drop(r, p, rack_wish(r, p) - rack_allowed(r, p, limit));
	}
}

/* Without limits all lose alike of what has come. What is sent on within the
 * slot takes no room. */
static void rack_drop_alike(struct rack *r, struct rack_group *g, double excess)
{
	double sum = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct rack_port *p = &r->port[g->port[i]];
		sum += rack_wish(r, p) - rack_least(r, p);
	}
	for (uint32_t i = 0; i < g->n; i++) {
		struct rack_port *p = &r->port[g->port[i]];
		rack_drop(r, p,
		    excess * (rack_wish(r, p) - rack_least(r, p)) / sum);
	}
	g->limit = r->p.shared;
}

void rack_buffer_share(struct rack *r, struct rack_group *g)
{
	double sum = 0, most = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		const double x = rack_wish(r, &r->port[g->port[i]]);
		sum += x;
		most = fmax(most, x);
	}
	const double b = r->p.shared, sure = r->p.alpha * (b - sum);
	switch ((enum rack_policy)r->p.policy) {
	case RACK_STATIC:
		if (most > b / r->part)
			rack_drop_above(r, g, b / r->part);
		break;
	case RACK_COMPLETE:
		if (sum > b)
			rack_drop_alike(r, g, sum - b);
		break;
	case RACK_DYNAMIC:
		if (most > sure)
			rack_drop_above(r, g, rack_dynamic(r, g, sure));
		break;
	}
}
