/* experiments/pingmesh/bulk/every.c -- every probe of a window, as a table.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/every.h"
#include "sim/sort.h"

#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

/* All probes of one pair, and the rows of their sender. */
struct every_pair {
	struct xp_every *v;
	const struct xp_mesh_sums *s;
	const struct connects_row *row;
	size_t n_rows;
	topo_host src, dst;
	enum connects_level level;
	enum connects_hops hops;
	sim_ns phase;
	struct connects_turn turn;
};

int xp_every_open(struct xp_every *v, const struct topo_clos *clos,
    struct sim_err *e)
{
	*v = (struct xp_every){.n = 0};
	int rc = SIM_ZALLOC(&v->first, clos->all_hosts + (size_t)2, e);
	return rc < 0 ? rc : SIM_ZALLOC(&v->met, clos->all_hosts, e);
}

void xp_every_close(struct xp_every *v)
{
	free(v->row);
	free(v->first);
	free(v->met);
	*v = (struct xp_every){.n = 0};
}

int xp_every_take(struct xp_every *v, const struct connects_row *r,
    struct sim_err *e)
{
	const int rc = SIM_RESERVE(&v->row, &v->cap, v->n + 1, e);
	if (rc == 0)
		v->row[v->n++] = *r;
	return rc;
}

static int rows_by_sender(const void *a, const void *b)
{
	const struct connects_row *x = a, *y = b;
	if (x->src != y->src)
		return SIM_ORDER(x->src, y->src);
	if (x->dst != y->dst)
		return SIM_ORDER(x->dst, y->dst);
	return x->sent_ns < y->sent_ns ? -1 : x->sent_ns > y->sent_ns;
}

/* The row of the probe of P that was sent AT, or NULL: of those to its peer that
 * begin no later the last. A row of many ends before the next begins. */
static const struct connects_row *every_row_of(const struct every_pair *p,
    sim_ns at)
{
	const sim_ns every = p->s->connects.mesh.every_ns[p->level];
	if (!p->v->met[p->dst])
		return NULL;
	size_t first = 0, last = p->n_rows;
	while (first < last) {
		const size_t mid = first + (last - first) / 2;
		const struct connects_row *r = &p->row[mid];
		if (r->dst < p->dst || (r->dst == p->dst && r->sent_ns <= at))
			first = mid + 1;
		else
			last = mid;
	}
	if (first == 0)
		return NULL;
	const struct connects_row *r = &p->row[first - 1];
	return r->dst == p->dst && at < r->sent_ns + r->n * every ? r : NULL;
}

/* A time below late_ns, by the law of all. */
static sim_ns quick_rtt(const struct every_pair *p, struct sim_rng *r)
{
	sim_ns rtt;
	do
		rtt = fabric_sim_rtt_draw(&p->s->connects.law[p->hops], r);
	while (rtt >= p->s->connects.late_ns);
	return rtt;
}

static int tell_pair(const struct every_pair *p, sim_ns from, sim_ns to,
    struct sim_rng *r, struct obs_probes *out, struct sim_err *e)
{
	const struct connects_ports *ports = &p->s->connects.ports;
	const sim_ns every = p->s->connects.mesh.every_ns[p->level];
	sim_ns k = from <= p->phase ? 0 : (from - p->phase + every - 1) / every;
	int rc = 0;
	for (sim_ns at = p->phase + k * every; rc == 0 && at < to;
	     at += every, k++) {
		const struct connects_row *row = every_row_of(p, at);
		if (row && row->outcome == CONNECTS_UNTOLD)
			continue;
		const int failed = row && row->outcome == CONNECTS_TIMED_OUT;
		const struct obs_probe one = {.sent_ns = at,
		    .rtt_ns = failed ? 0
			: row        ? row->rtt_ns
				     : quick_rtt(p, r),
		    .src_host = p->src,
		    .dst_host = p->dst,
		    .src_port = connects_port(ports, &p->turn, k),
		    .dst_port = ports->dst,
		    .outcome = failed ? OBS_TIMED_OUT : OBS_CONNECTED,
		    .level = p->level == CONNECTS_TOR ? OBS_LEVEL_TOR
						      : OBS_LEVEL_DC};
		rc = obs_probes_add(out, &one, e);
	}
	return rc;
}

static int tell_sender(struct xp_every *v, const struct connects *c,
    const struct xp_mesh_sums *s, topo_host h, sim_ns from, sim_ns to,
    struct sim_rng *r, struct obs_probes *out, struct sim_err *e)
{
	const struct connects_mesh *m = &s->connects.mesh;
	struct every_pair p = {.v = v,
	    .s = s,
	    .row = v->row + v->first[h],
	    .n_rows = v->first[h + 1] - v->first[h],
	    .src = h};
	int rc = 0;
	for (size_t i = 0; i < p.n_rows; i++)
		v->met[p.row[i].dst] = 1;
	for (unsigned l = 0; l < CONNECTS_N_LEVELS; l++)
		for (uint32_t k = 0; rc == 0 && k < m->n_peers[l]; k++) {
			p.level = l;
			p.dst = m->peer(m->arg, l, h, k);
			p.hops = connects_hops_of(&s->clos, h, p.dst);
			p.phase = connects_phase(c, l, h, p.dst);
			p.turn = connects_turn_of(c, l, h, p.dst);
			rc = tell_pair(&p, from, to, r, out, e);
		}
	for (size_t i = 0; i < p.n_rows; i++)
		v->met[p.row[i].dst] = 0;
	return rc;
}

int xp_every_tell(struct xp_every *v, const struct connects *c,
    const struct xp_mesh_sums *s, sim_ns from, sim_ns to, struct sim_rng *r,
    struct obs_probes *out, struct sim_err *e)
{
	const uint32_t n = s->clos.all_hosts;
	size_t at = 0;
	int rc = 0;
	if (v->n > 0)
		qsort(v->row, v->n, sizeof(*v->row), rows_by_sender);
	for (topo_host h = 0; h < n; h++) {
		v->first[h] = (uint32_t)at;
		while (at < v->n && v->row[at].src == h)
			at++;
	}
	v->first[n] = (uint32_t)at;
	for (topo_host h = 0; rc == 0 && h < n; h++)
		rc = tell_sender(v, c, s, h, from, to, r, out, e);
	v->n = 0;
	return rc;
}
