/* models/connects/blocks.c -- connects that fail all alike, or are not made.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/connects/impl.h"

/* When the first of N is sent that are due in the segment. */
static sim_ns first_due(const struct connects *c, enum connects_level level,
    topo_host src, topo_host dst)
{
	const sim_ns every = c->params.mesh.every_ns[level];
	const sim_ns phase = connects_phase(c, level, src, dst);
	const sim_ns from = c->now.from;
	return from <= phase
	    ? phase
	    : phase + (from - phase + every - 1) / every * every;
}

/* All from SRC to DST fail until END. One row does for all of them, unless some
 * are still under way when it ends, or when the sender goes off. */
static int fails_until(struct connects *c, enum connects_level level,
    topo_host src, topo_host dst, sim_ns end, struct sim_err *e)
{
	const sim_ns every = c->params.mesh.every_ns[level];
	const uint32_t n =
	    connects_due(c, level, src, dst, c->now.from, c->now.to);
	sim_ns at = first_due(c, level, src, dst);
	int rc = 0;
	if (n == 0 || c->off[src])
		return 0;
	if (!c->soon[src] &&
	    (end == SIM_NEVER || c->now.to + c->ladder_ns <= end))
		return connects_put(c, src, dst, at, n, CONNECTS_TIMED_OUT, e);
	for (uint32_t i = 0; rc == 0 && i < n; i++, at += every)
		rc = connects_follow(c, src, dst, at, e);
	return rc;
}

/* Likewise those of the five-tuple T alone. */
static int tuple_fails(struct connects *c, const struct connects_tuple *t,
    struct sim_err *e)
{
	const sim_ns every = c->params.mesh.every_ns[t->level];
	const sim_ns turn = every * t->period, from = c->now.from;
	const sim_ns end = c->scene->truth.hole[t->hole].to_ns;
	const int all = !c->soon[t->src] &&
	    (end == SIM_NEVER || c->now.to + c->ladder_ns <= end);
	sim_ns at =
	    connects_phase(c, t->level, t->src, t->dst) + t->first * every;
	int rc = 0;
	if (at < from)
		at += (from - at + turn - 1) / turn * turn;
	for (; rc == 0 && at < c->now.to; at += turn)
		rc = all ? connects_put(c, t->src, t->dst, at, 1,
			       CONNECTS_TIMED_OUT, e)
			 : connects_follow(c, t->src, t->dst, at, e);
	return rc;
}

static int not_made(struct connects *c, enum connects_level level,
    topo_host src, topo_host dst, struct sim_err *e)
{
	const uint32_t n =
	    connects_due(c, level, src, dst, c->now.from, c->now.to);
	return n == 0 ? 0
		      : connects_put(c, src, dst, first_due(c, level, src, dst),
			    n, CONNECTS_UNTOLD, e);
}

/* What server H does not make, and what is made to it in vain. */
static int server_off(struct connects *c, topo_host h, struct sim_err *e)
{
	const struct connects_mesh *m = &c->params.mesh;
	const sim_ns end =
	    truth_outage_at(&c->scene->truth, TRUTH_HOST_OFF, h, c->now.from)
		->to_ns;
	int rc = 0;
	for (unsigned k = 0; k < CONNECTS_N_LEVELS; k++)
		for (uint32_t p = 0; rc == 0 && p < m->n_peers[k]; p++) {
			const topo_host g = m->peer(m->arg, k, h, p);
			rc = not_made(c, k, h, g, e);
			if (rc == 0)
				rc = fails_until(c, k, g, h, end, e);
		}
	return rc;
}

int connects_blocks(struct connects *c, struct sim_err *e)
{
	const struct truth *x = &c->scene->truth;
	int rc = 0;
	for (topo_host h = 0; c->now.any_off && rc == 0 && h < c->topo->n_hosts;
	     h++)
		if (c->off[h])
			rc = server_off(c, h, e);
	for (size_t i = 0; rc == 0 && i < c->n_pairs; i++) {
		const struct connects_pair *p = &c->pair[i];
		const sim_ns end = x->hole[p->hole].to_ns;
		if (c->off[p->in] || c->off[p->out])
			continue;
		rc = fails_until(c, p->level, p->in, p->out, end, e);
		if (rc == 0)
			rc = fails_until(c, p->level, p->out, p->in, end, e);
	}
	for (size_t i = 0; rc == 0 && i < c->n_tuples; i++)
		if (!c->off[c->tuple[i].src] && !c->off[c->tuple[i].dst])
			rc = tuple_fails(c, &c->tuple[i], e);
	return rc;
}
