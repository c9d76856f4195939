/* models/sim/trace.c -- flows that lost, and the probes that trace them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A flow waits in the queue for its next retransmission only, so a black hole
 * costs no memory for those to come. A probe whose TTL ends at a switch is one
 * event there, where the bucket must see arrivals in order of time, and one
 * more when the answer is back; all its draws are made when it leaves. A probe
 * that no switch will answer is no event at all.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/dist.h"
#include "models/sim/impl.h"
#include "sim/vec.h"
#include "topo/addr.h"

/* A flow that lost. */
struct fabric_sim_flow {
	struct topo_tuple seen, real; /* with the VIP, with the DIP */
	struct fabric_sim_slb_fate fate;
	uint32_t digest, row;
	uint32_t n_retx, n_done;
	double at; /* last loss, as a share of its life */
	uint8_t established;
};

/* --- flows ---------------------------------------------------------------- */

static const struct fabric_sim_flow *sim_trace_find(const struct fabric_sim *f,
    const struct topo_tuple *t)
{
	/* An open table of at most half its slots in use: flows are found by
	 * either of their tuples, as the host sees them (VIP) and as switches
	 * do (DIP). */
	const size_t mask = f->n_slots - 1;
	if (f->n_slots == 0)
		return NULL;
	for (size_t i = topo_tuple_digest(t) & mask; f->slot[i];
	     i = (i + 1) & mask) {
		const struct fabric_sim_flow *fl = &f->flow[f->slot[i] - 1];
		if (topo_tuple_same(&fl->real, t) ||
		    topo_tuple_same(&fl->seen, t))
			return fl;
	}
	return NULL;
}

static void sim_trace_enter(struct fabric_sim *f, const struct topo_tuple *t,
    uint32_t index)
{
	const size_t mask = f->n_slots - 1;
	size_t i = topo_tuple_digest(t) & mask;
	while (f->slot[i])
		i = (i + 1) & mask;
	f->slot[i] = index + 1;
}

/* Queue the moment at which the sender notices the next of its losses. Those at
 * once come first; the losses to come are uniform in what is left of the flow's life; the least of
 * LEFT uniform numbers is 1 - (1 - u)^(1/left), so the times come out in order
 * with one number each. Number n_done of a flow is a function of its digest,
 * whatever else runs. */
static int put_retx(struct fabric_sim *f, uint32_t index, struct sim_err *e)
{
	struct fabric_sim_flow *fl = &f->flow[index];
	const struct sim_seed *where = &f->scene->where;
	const int at_once = f->at_once && fl->n_done < f->at_once[fl->row];
	const uint32_t ctr[4] = {fl->n_done, fl->digest, where->run,
	    where->point};
	uint32_t word[4];
	sim_philox_block(f->retx_key, ctr, word);
	const double u = (word[0] + 0.5) * 0x1p-32;
	const double left = fl->n_retx - fl->n_done;
	if (!at_once)
		fl->at += (1 - fl->at) * -expm1(log1p(-u) / left);
	const struct sim_event ev = {
	    .t = f->lossy->flows.start_ns[fl->row] +
		(sim_ns)((fl->at * f->params->flow_s + f->params->rto_s) * 1e9),
	    .aux = (uint64_t)FABRIC_SIM_RETX << 32 | index,
	};
	return sim_evq_put(f->q, &ev, e);
}

static struct fabric_sim_flow sim_trace_flow_of(const struct fabric_sim *f,
    size_t row)
{
	const struct obs_flows *w = &f->lossy->flows;
	struct fabric_sim_flow fl = {
	    .real = {.src_ip = topo_addr_of_host(w->src_host[row]),
		.dst_ip = topo_addr_of_host(w->dst_host[row]),
		.src_port = w->src_port[row],
		.dst_port = w->dst_port[row],
		.proto = TOPO_PROTO_TCP},
	    .row = (uint32_t)row,
	    .n_retx = w->n_retx[row],
	    /* A flow of which nothing arrived did not get through its
	     * handshake. */
	    .established = w->n_retx[row] < w->n_pkts[row],
	};
	fl.digest = topo_tuple_digest(&fl.real);
	fl.fate =
	    fabric_sim_slb_fate(&f->params->slb, &f->scene->where, fl.digest);
	fl.seen = fl.real;
	if (fl.fate.vip)
		fl.seen.dst_ip = topo_addr_of_vip(
		    w->dst_host[row] & (TOPO_ADDR_MAX_VIPS - 1));
	return fl;
}

int fabric_sim_take_flows(struct fabric_sim *f, struct sim_err *e)
{
	static const struct obs_flows none;
	const struct obs_flows *w = f->lossy ? &f->lossy->flows : &none;
	size_t n = 0;
	int rc;
	f->n_flows = f->n_slots = 0;
	for (size_t i = 0; i < w->n; i++)
		n += w->n_retx[i] > 0;
	if (n == 0)
		return 0;
	/* Two tuples a flow at most, so a load of a half. */
	for (f->n_slots = 16; f->n_slots < 4 * n;)
		f->n_slots *= 2;
	if ((rc = SIM_RESERVE(&f->flow, &f->cap_flows, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&f->slot, &f->cap_slots, f->n_slots, e)) < 0) {
		f->n_slots = 0;
		return rc;
	}
	memset(f->slot, 0, f->n_slots * sizeof(f->slot[0]));
	for (size_t i = 0; rc == 0 && i < w->n; i++) {
		if (w->n_retx[i] == 0)
			continue;
		const uint32_t index = (uint32_t)f->n_flows++;
		f->flow[index] = sim_trace_flow_of(f, i);
		sim_trace_enter(f, &f->flow[index].real, index);
		if (f->flow[index].fate.vip)
			sim_trace_enter(f, &f->flow[index].seen, index);
		rc = put_retx(f, index, e);
	}
	return rc;
}

size_t fabric_sim_row(const struct fabric_sim *f,
    const struct topo_tuple *tuple)
{
	const struct fabric_sim_flow *fl = sim_trace_find(f, tuple);
	return fl && topo_tuple_same(&fl->real, tuple) ? fl->row : SIZE_MAX;
}

/* --- probes --------------------------------------------------------------- */

unsigned fabric_sim_path(const struct fabric_sim *f,
    const struct topo_tuple *tuple, topo_host src, topo_host dst,
    topo_link path[])
{
	const struct fabric_sim_flow *fl = sim_trace_find(f, tuple);
	/* Only flows that lost have a path in the window, which with ideal ECMP
	 * is not the one of the hash; all others have that. */
	if (!fl)
		return scene_walk_path(&f->net, tuple, src, dst, f->now, path);
	const unsigned n_hops = obs_n_hops(f->lossy, fl->row);
	memcpy(path, obs_path(f->lossy, fl->row), n_hops * sizeof(path[0]));
	return scene_walk_detour(&f->net, tuple, src, dst, f->now, path,
	    n_hops);
}

/* Sum up the hazards of probes along the path and of their answers on the way
 * back, over the same cables. Answers are ICMP, which no hole takes. */
static void sum_hazards(struct fabric_sim *f, struct fabric_sim_route *r)
{
	static const struct topo_tuple answer = {.proto = TOPO_PROTO_ICMP};
	const struct scene_walk_net *net = &f->probe_net;
	for (unsigned i = 0; i < r->n_hops; i++)
		r->reverse[i] = topo_link_reverse(r->path[i]);
	const int there = scene_walk_hazards(net, &r->tuple, r->path, r->n_hops,
	    f->now, r->there);
	const int back = scene_walk_hazards(net, &answer, r->reverse, r->n_hops,
	    f->now, r->back);
	r->is_slow = there || back;
}

/* The route of a packet of TUPLE that leaves now; no hops if it goes nowhere.
 * Agents send the probes of a trace at one time, so the route of the last one
 * is kept. It holds for this moment, as faults and flaps may change. */
static const struct fabric_sim_route *route_of(struct fabric_sim *f,
    const struct topo_tuple *tuple)
{
	struct fabric_sim_route *r = &f->route;
	if (r->at == f->now && topo_tuple_same(&r->tuple, tuple))
		return r;
	const topo_host src =
	    topo_addr_to_host(tuple->src_ip, f->topo->n_hosts);
	const topo_host dst =
	    topo_addr_to_host(tuple->dst_ip, f->topo->n_hosts);
	r->tuple = *tuple;
	r->at = f->now;
	r->n_hops = 0;
	if (src == TOPO_NONE || dst == TOPO_NONE)
		return r;
	r->n_hops = fabric_sim_path(f, tuple, src, dst, r->path);
	sum_hazards(f, r);
	return r;
}

static struct sim_rng *rng_of(struct fabric_sim *f, topo_host h)
{
	if (f->life[h] != f->now_living) {
		sim_rng_init(&f->probe_rng[h], &f->scene->where,
		    SIM_STREAM_PROBE, h);
		f->life[h] = f->now_living;
	}
	return &f->probe_rng[h];
}

/* The time over N links: for each the hop and an exponential time in its queue.
 * A sum of exponentials is the logarithm of a product, which is one logarithm
 * instead of N. */
static sim_ns delay(const struct fabric_sim *f, struct sim_rng *r, unsigned n)
{
	double product = 1;
	for (unsigned i = 0; i < n; i++)
		product *= (sim_rng_u32(r) + 0.5) * 0x1p-32;
	return (sim_ns)(1e3 *
	    (n * f->params->hop_us - f->params->queue_us * log(product)));
}

/* Add what faults and distance take, there and back. They are drawn from the
 * host's stream for delays, as those of connects are, and not from that of its
 * probes: so a slow link changes times and nothing else. */
static int add_delays(struct fabric_sim *f, topo_host host,
    const struct fabric_sim_route *r, unsigned ttl, sim_ns *there, sim_ns *back,
    struct sim_err *e)
{
	struct fabric_sim_streams *s;
	int rc;
	if (!r->is_slow)
		return 0;
	if ((rc = fabric_sim_streams(f, host, &s, e)) < 0)
		return rc;
	*there +=
	    scene_walk_delay(&f->probe_net, r->path, ttl, f->now, &s->delay);
	*back +=
	    scene_walk_delay(&f->probe_net, r->reverse, ttl, f->now, &s->delay);
	return 0;
}

static int sim_trace_is_lost(struct sim_rng *r, double hazard)
{
	return hazard > 0 && scene_walk_is_lost(sim_rng_u01(r), hazard);
}

/* Send a probe: an event where its TTL ends, unless it is lost or ends nowhere.
 * With a TTL of at least n_hops it reaches the host, which throws it away for
 * its checksum. All of its draws are made now, in a fixed order, also the times
 * of one that is lost: so losses move no times. */
int fabric_sim_probe(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	const struct fabric_sim_route *r = route_of(f, &a->tuple);
	if (a->ttl == 0 || a->ttl >= r->n_hops)
		return 0;
	struct sim_rng *rng = rng_of(f, host);
	const topo_link last = r->path[a->ttl - 1];
	struct fabric_sim_pending p = {
	    .ev = {.kind = AGENT_ICMP, .ip_id = a->ip_id, .tuple = a->tuple},
	    .host = host,
	    .at = scene_walk_switch(&f->probe_net, last),
	};
	p.ev.from_ip = f->params->icmp.source == FABRIC_SIM_ICMP_INGRESS
	    ? topo_addr_of_link(last)
	    : topo_addr_of_switch(p.at);
	const int lost = sim_trace_is_lost(rng, r->there[a->ttl]);
	const int lost_back = sim_trace_is_lost(rng, r->back[a->ttl]);
	sim_ns there = delay(f, rng, a->ttl);
	p.back = delay(f, rng, a->ttl);
	p.back += (sim_ns)(1e3 *
	    dist_at(&f->params->icmp.latency_us, sim_rng_u01(rng)));
	int rc = add_delays(f, host, r, a->ttl, &there, &p.back, e);
	if (lost_back)
		p.back = SIM_NEVER;
	return rc < 0 || lost
	    ? rc
	    : fabric_sim_put(f, &p, FABRIC_SIM_ARRIVE, f->now + there, e);
}

int fabric_sim_ask_slb(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	const struct fabric_sim_flow *fl = sim_trace_find(f, &a->tuple);
	struct fabric_sim_pending p = {
	    .ev = {.kind = AGENT_SLB_REPLY, .token = a->token},
	    .host = host,
	};
	/* A tuple without a mapping is refused at once; one whose query is lost
	 * is never answered. */
	if (!fl || !fl->fate.vip)
		return fabric_sim_put(f, &p, FABRIC_SIM_TELL, f->now, e);
	if (fl->fate.lost)
		return 0;
	p.ev.ok = !fl->fate.refused;
	p.ev.dip = p.ev.ok ? fl->real.dst_ip : 0;
	return fabric_sim_put(f, &p, FABRIC_SIM_TELL,
	    f->now + fl->fate.latency_ns, e);
}

int fabric_sim_take_retx(struct fabric_sim *f, uint32_t index,
    struct agent_event *ev, topo_host *host, struct sim_err *e)
{
	struct fabric_sim_flow *fl = &f->flow[index];
	int rc = 0;
	*ev = (struct agent_event){.kind = AGENT_RETX,
	    .established =
		f->early ? fl->n_done >= f->early[fl->row] : fl->established,
	    .tuple = fl->seen};
	*host = f->lossy->flows.src_host[fl->row];
	if (++fl->n_done < fl->n_retx)
		rc = put_retx(f, index, e);
	/* The losses of a host that is off still pass, but nobody sees them. */
	return rc < 0 ? rc : !f->off[*host];
}

void fabric_sim_free_trace(struct fabric_sim *f)
{
	free(f->flow);
	free(f->slot);
	fabric_sim_icmp_free(&f->icmp);
	fault_flap_free(&f->flaps);
	free(f->probe_rng);
	free(f->life);
}
