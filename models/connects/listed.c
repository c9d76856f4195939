/* models/connects/listed.c -- pairs and five-tuples that black holes drop.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/connects/impl.h"
#include "sim/divisor.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* From SRC to DST; T has what ports it has. */
static int drops_connect(const struct truth_hole *h, const struct topo_tuple *t)
{
	const struct topo_tuple back = {.src_ip = t->dst_ip,
	    .dst_ip = t->src_ip,
	    .src_port = t->dst_port,
	    .dst_port = t->src_port,
	    .proto = t->proto};
	return blackhole_rule_drops(&h->rule, t) ||
	    blackhole_rule_drops(&h->rule, &back);
}

/* Both ways of a connect lead through the ToRs of both ends. The index of the
 * first hole of TYPE that drops it, or n_holes. */
static size_t hole_of(const struct connects *c, enum blackhole_rule_type type,
    topo_host a, topo_host b, const struct topo_tuple *t, sim_ns at)
{
	const struct truth *x = &c->scene->truth;
	const topo_switch tor[2] = {a / c->clos.n_hosts, b / c->clos.n_hosts};
	size_t found = x->n_holes;
	for (int k = 0; k < 2; k++)
		for (size_t i = truth_first_hole(x, tor[k]);
		     i < found && x->hole[i].at == tor[k]; i++)
			if (x->hole[i].rule.type == type &&
			    x->hole[i].from_ns <= at && at < x->hole[i].to_ns &&
			    drops_connect(&x->hole[i], t))
				found = i;
	return found;
}

static size_t hole_of_pair(const struct connects *c, topo_host a, topo_host b,
    sim_ns at)
{
	const struct topo_tuple t = {.src_ip = topo_addr_of_host(a),
	    .dst_ip = topo_addr_of_host(b)};
	return hole_of(c, BLACKHOLE_RULE_PAIR, a, b, &t, at);
}

static size_t hole_of_tuple(const struct connects *c, topo_host src,
    topo_host dst, uint16_t port, sim_ns at)
{
	const struct topo_tuple t = {.src_ip = topo_addr_of_host(src),
	    .dst_ip = topo_addr_of_host(dst),
	    .src_port = port,
	    .dst_port = c->params.ports.dst,
	    .proto = TOPO_PROTO_TCP};
	return hole_of(c, BLACKHOLE_RULE_TUPLE, src, dst, &t, at);
}

int connects_is_dead(const struct connects *c, enum connects_level level,
    topo_host src, topo_host dst, sim_ns sent, sim_ns at)
{
	const struct connects_ports *p = &c->params.ports;
	const size_t none = c->scene->truth.n_holes;
	if (hole_of_pair(c, src, dst, at) < none)
		return 1;
	if (!p->again)
		return 0;
	const struct connects_turn t = connects_turn_of(c, level, src, dst);
	const uint64_t k = (sent - connects_phase(c, level, src, dst)) /
	    c->params.mesh.every_ns[level];
	return hole_of_tuple(c, src, dst, connects_port(p, &t, k), at) < none;
}

/* Where both servers are under the ToR the one with the lower number counts. */
int connects_list_pairs(struct connects *c, size_t i, struct sim_err *e)
{
	const struct connects_mesh *m = &c->params.mesh;
	const uint32_t n = c->clos.n_hosts, tor = c->scene->truth.hole[i].at;
	for (topo_host a = tor * n; a < (tor + 1) * n; a++)
		for (unsigned k = 0; k < CONNECTS_N_LEVELS; k++)
			for (uint32_t p = 0; p < m->n_peers[k]; p++) {
				const topo_host b = m->peer(m->arg, k, a, p);
				if ((b / n == tor && b < a) ||
				    hole_of_pair(c, a, b, c->now.from) != i)
					continue;
				int rc = SIM_RESERVE(&c->pair, &c->cap_pairs,
				    c->n_pairs + 1, e);
				if (rc < 0)
					return rc;
				c->pair[c->n_pairs++] =
				    (struct connects_pair){.in = a,
					.out = b,
					.hole = (uint32_t)i,
					.level = (uint8_t)k};
			}
	return 0;
}

/* Of the connects from SRC to DST. A pair that type 1 drops has all of its
 * connects listed already. */
static int list_tuples_of(struct connects *c, size_t i,
    enum connects_level level, topo_host src, topo_host dst, struct sim_err *e)
{
	const struct connects_ports *p = &c->params.ports;
	const struct connects_turn t = connects_turn_of(c, level, src, dst);
	const uint32_t period = p->n / sim_divisor(p->n, t.step);
	const uint32_t due = connects_due(c, level, src, dst, 0, c->now.to);
	if (hole_of_pair(c, src, dst, c->now.from) < c->scene->truth.n_holes)
		return 0;
	for (uint32_t k = 0; k < period && k < due; k++) {
		if (hole_of_tuple(c, src, dst, connects_port(p, &t, k),
			c->now.from) != i)
			continue;
		int rc =
		    SIM_RESERVE(&c->tuple, &c->cap_tuples, c->n_tuples + 1, e);
		if (rc < 0)
			return rc;
		c->tuple[c->n_tuples++] = (struct connects_tuple){.src = src,
		    .dst = dst,
		    .hole = (uint32_t)i,
		    .first = k,
		    .period = period,
		    .level = (uint8_t)level};
	}
	return 0;
}

/* Peers under the same ToR are met from both sides. */
int connects_list_tuples(struct connects *c, size_t i, struct sim_err *e)
{
	const struct connects_mesh *m = &c->params.mesh;
	const uint32_t n = c->clos.n_hosts, tor = c->scene->truth.hole[i].at;
	int rc = 0;
	for (topo_host a = tor * n; a < (tor + 1) * n; a++)
		for (unsigned k = 0; k < CONNECTS_N_LEVELS; k++)
			for (uint32_t p = 0; rc == 0 && p < m->n_peers[k];
			     p++) {
				const topo_host b = m->peer(m->arg, k, a, p);
				rc = list_tuples_of(c, i, k, a, b, e);
				if (rc == 0 && b / n != tor)
					rc = list_tuples_of(c, i, k, b, a, e);
			}
	return rc;
}
