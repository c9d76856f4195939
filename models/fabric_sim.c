/* models/fabric_sim.c -- a fabric in simulated time, under a scene's faults.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A flow waits in the queue for its next retransmission only, so a black hole
 * costs no memory for those to come. A probe whose TTL ends at a switch is one
 * event there, where the bucket must see arrivals in order of time, and one
 * more when the answer is back; all its draws are made when it leaves. A probe
 * that no switch will answer is no event at all.
 */
#include "models/fabric_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/dist.h"
#include "sim/evq.h"
#include "sim/vec.h"
#include "topo/addr.h"

const struct sim_field fabric_sim_fields[] = {
    {"flow_s", SIM_F_F64, offsetof(struct fabric_sim_params, flow_s), .min = 0,
	.max = 1e6, .unit = "s", .def = "1", .doc = "how long a flow lives"},
    {"rto", SIM_F_F64, offsetof(struct fabric_sim_params, rto_s), .min = 0,
	.max = 1e3, .unit = "s", .def = "0.2",
	.doc = "from a loss to the retransmission"},
    {"lossless_probes", SIM_F_BOOL,
	offsetof(struct fabric_sim_params, lossless_probes), .def = "false",
	.doc = "links lose neither probes nor answers"},
    {0},
};

const struct sim_field fabric_sim_latency_fields[] = {
    {"hop", SIM_F_F64, offsetof(struct fabric_sim_params, hop_us), .min = 0,
	.max = 1e6, .unit = "us", .def = "1",
	.doc = "time a link and its switch take at least"},
    {"queue", SIM_F_F64, offsetof(struct fabric_sim_params, queue_us), .min = 0,
	.max = 1e6, .unit = "us", .def = "10",
	.doc = "mean of the exponential time in each queue"},
    {0},
};

enum kind { RETX, ARRIVE, TELL }; /* of queued events */

/* A flow that lost. */
struct flow {
	struct topo_tuple seen, real; /* with the VIP, with the DIP */
	struct model_slb_fate fate;
	uint32_t digest, row;
	uint32_t n_retx, n_done;
	double at; /* last loss, as a share of its life */
	uint8_t established;
};

/* An event for a host that will come, or a probe that may cause one. */
struct pending {
	struct agent_event ev;
	topo_host host;
	topo_switch at;
	sim_ns back;  /* from the switch to the host */
	uint8_t lost; /* on the way back */
	uint32_t next_free;
};

/* The path of the last probe, since probes come a path at a time. */
struct route {
	struct topo_tuple tuple;
	sim_ns at;
	unsigned n_hops;
	topo_link path[TOPO_MAX_HOPS];
	double there[TOPO_MAX_HOPS + 1]; /* hazard of the first links, */
	double back[TOPO_MAX_HOPS + 1];  /* and of their reverse */
};

struct fabric_sim {
	struct fabric base;
	const struct topo *topo;
	const struct fabric_sim_params *params;
	const struct model_scene *scene;
	const struct obs *lossy;
	struct sim_evq *q;
	sim_ns now;

	struct flow *flow;
	size_t n_flows, cap_flows;
	/* Flows by tuple, both of them: 1 + index, 0 = none. A power of two. */
	uint32_t *slot;
	size_t n_slots, cap_slots;

	struct pending *pending;
	size_t n_pending, cap_pending;
	uint32_t free_pending;

	struct model_icmp icmp;
	struct model_flaps flaps;
	struct route route;
	struct sim_rng *rng; /* [n_hosts] of probes */
	uint32_t *life;      /* [n_hosts] == now_living: rng is of this epoch */
	uint32_t now_living;
	uint32_t retx_key[2];
};

static int same_tuple(const struct topo_tuple *a, const struct topo_tuple *b)
{
	return a->src_ip == b->src_ip && a->dst_ip == b->dst_ip &&
	    a->src_port == b->src_port && a->dst_port == b->dst_port &&
	    a->proto == b->proto;
}

/* --- flows ------------------------------------------------------------------ */

static const struct flow *find(const struct fabric_sim *f,
    const struct topo_tuple *t)
{
	const size_t mask = f->n_slots - 1;
	if (f->n_slots == 0)
		return NULL;
	for (size_t i = topo_tuple_digest(t) & mask; f->slot[i];
	     i = (i + 1) & mask) {
		const struct flow *fl = &f->flow[f->slot[i] - 1];
		if (same_tuple(&fl->real, t) || same_tuple(&fl->seen, t))
			return fl;
	}
	return NULL;
}

static void enter(struct fabric_sim *f, const struct topo_tuple *t,
    uint32_t index)
{
	const size_t mask = f->n_slots - 1;
	size_t i = topo_tuple_digest(t) & mask;
	while (f->slot[i])
		i = (i + 1) & mask;
	f->slot[i] = index + 1;
}

/* When the next of the losses to come, all uniform in what is left of the life,
 * is met by the sender. */
static int put_retx(struct fabric_sim *f, uint32_t index, struct sim_err *e)
{
	struct flow *fl = &f->flow[index];
	const struct sim_seed *where = &f->scene->where;
	const uint32_t ctr[4] = {fl->n_done, fl->digest, where->run,
	    where->point};
	uint32_t word[4];
	sim_philox_block(f->retx_key, ctr, word);
	const double u = (word[0] + 0.5) * 0x1p-32;
	const double left = fl->n_retx - fl->n_done;
	fl->at += (1 - fl->at) * -expm1(log1p(-u) / left);
	const struct sim_event ev = {
	    .t = f->lossy->flows.start_ns[fl->row] +
		(sim_ns)((fl->at * f->params->flow_s + f->params->rto_s) * 1e9),
	    .aux = (uint64_t)RETX << 32 | index,
	};
	return sim_evq_put(f->q, &ev, e);
}

static struct flow flow_of(const struct fabric_sim *f, size_t row)
{
	const struct obs_flows *w = &f->lossy->flows;
	struct flow fl = {
	    .real = {.src_ip = topo_addr_of_host(w->src_host[row]),
		.dst_ip = topo_addr_of_host(w->dst_host[row]),
		.src_port = w->src_port[row],
		.dst_port = w->dst_port[row],
		.proto = TOPO_PROTO_TCP},
	    .row = (uint32_t)row,
	    .n_retx = w->n_retx[row],
	    .established = w->n_retx[row] < w->n_pkts[row],
	};
	fl.digest = topo_tuple_digest(&fl.real);
	fl.fate = model_slb_fate(&f->params->slb, &f->scene->where, fl.digest);
	fl.seen = fl.real;
	if (fl.fate.vip)
		fl.seen.dst_ip = topo_addr_of_vip(
		    w->dst_host[row] & (TOPO_ADDR_MAX_VIPS - 1));
	return fl;
}

static int take_flows(struct fabric_sim *f, struct sim_err *e)
{
	const struct obs_flows *w = &f->lossy->flows;
	size_t n = 0;
	int rc;
	for (size_t i = 0; i < w->n; i++)
		n += w->n_retx[i] > 0;
	for (f->n_slots = 16; f->n_slots < 4 * n;)
		f->n_slots *= 2;
	f->n_flows = 0;
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
		f->flow[index] = flow_of(f, i);
		enter(f, &f->flow[index].real, index);
		if (f->flow[index].fate.vip)
			enter(f, &f->flow[index].seen, index);
		rc = put_retx(f, index, e);
	}
	return rc;
}

size_t fabric_sim_row(const struct fabric_sim *f,
    const struct topo_tuple *tuple)
{
	const struct flow *fl = find(f, tuple);
	return fl && same_tuple(&fl->real, tuple) ? fl->row : SIZE_MAX;
}

/* --- events to come ---------------------------------------------------------- */

enum { NO_PENDING = UINT32_MAX };

static int new_pending(struct fabric_sim *f, uint32_t *out, struct sim_err *e)
{
	if (f->free_pending != NO_PENDING) {
		*out = f->free_pending;
		f->free_pending = f->pending[*out].next_free;
		return 0;
	}
	int rc = SIM_RESERVE(&f->pending, &f->cap_pending, f->n_pending + 1, e);
	if (rc < 0)
		return rc;
	*out = (uint32_t)f->n_pending++;
	return 0;
}

static void free_pending(struct fabric_sim *f, uint32_t i)
{
	f->pending[i].next_free = f->free_pending;
	f->free_pending = i;
}

static int put_pending(struct fabric_sim *f, const struct pending *p,
    enum kind kind, sim_ns at, struct sim_err *e)
{
	uint32_t i;
	int rc = new_pending(f, &i, e);
	if (rc < 0)
		return rc;
	f->pending[i] = *p;
	rc = sim_evq_put(f->q,
	    &(struct sim_event){.t = at, .aux = (uint64_t)kind << 32 | i}, e);
	if (rc < 0)
		free_pending(f, i);
	return rc;
}

/* --- probes ------------------------------------------------------------------ */

/* Hazards of the path's links now, one way and the other, summed up. A cable
 * that is down loses all. */
static void sum_hazards(struct fabric_sim *f, struct route *r)
{
	const struct model_loss *loss = &f->scene->loss;
	const unsigned down =
	    model_flap_down(&f->flaps, r->path, r->n_hops, r->at);
	r->there[0] = r->back[0] = 0;
	for (unsigned i = 0; i < r->n_hops; i++) {
		const topo_link l = r->path[i];
		double there = i == down ? INFINITY : 0, back = there;
		if (!f->params->lossless_probes) {
			there += model_loss_hazard(loss, l, r->at);
			back += model_loss_hazard(loss, topo_link_reverse(l),
			    r->at);
		}
		r->there[i + 1] = r->there[i] + there;
		r->back[i + 1] = r->back[i] + back;
	}
}

/* Where a packet of TUPLE goes now; no hops if nowhere. */
static const struct route *route_of(struct fabric_sim *f,
    const struct topo_tuple *tuple)
{
	struct route *r = &f->route;
	if (r->at == f->now && same_tuple(&r->tuple, tuple))
		return r;
	const topo_host src =
	    topo_addr_to_host(tuple->src_ip, f->topo->n_hosts);
	const topo_host dst =
	    topo_addr_to_host(tuple->dst_ip, f->topo->n_hosts);
	const struct flow *fl = find(f, tuple);
	const uint32_t digest = topo_tuple_digest(tuple);
	r->tuple = *tuple;
	r->at = f->now;
	r->n_hops = 0;
	if (src == TOPO_NONE || dst == TOPO_NONE)
		return r;
	if (fl) {
		r->n_hops = obs_n_hops(f->lossy, fl->row);
		memcpy(r->path, obs_path(f->lossy, fl->row),
		    r->n_hops * sizeof(r->path[0]));
	} else {
		r->n_hops = topo_path(f->topo, f->scene->ecmp_seed, src, dst,
		    digest, r->path);
	}
	r->n_hops = model_flap_path(&f->flaps, f->topo, f->scene->ecmp_seed,
	    src, dst, digest, f->now, r->path, r->n_hops);
	sum_hazards(f, r);
	return r;
}

static struct sim_rng *rng_of(struct fabric_sim *f, topo_host h)
{
	if (f->life[h] != f->now_living) {
		sim_rng_init(&f->rng[h], &f->scene->where, SIM_STREAM_PROBE, h);
		f->life[h] = f->now_living;
	}
	return &f->rng[h];
}

/* Time over N links: a sum of exponentials is the logarithm of a product. */
static sim_ns delay(const struct fabric_sim *f, struct sim_rng *r, unsigned n)
{
	double product = 1;
	for (unsigned i = 0; i < n; i++)
		product *= (sim_rng_u32(r) + 0.5) * 0x1p-32;
	return (sim_ns)(1e3 *
	    (n * f->params->hop_us - f->params->queue_us * log(product)));
}

static int is_lost(struct sim_rng *r, double hazard)
{
	return hazard > 0 && sim_rng_u01(r) < -expm1(-hazard);
}

/* The node that TTL ends at: a switch, unless the last hop is the host. */
static int send_probe(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	const struct route *r = route_of(f, &a->tuple);
	topo_node from, to;
	if (a->ttl == 0 || a->ttl >= r->n_hops)
		return 0;
	struct sim_rng *rng = rng_of(f, host);
	const topo_link last = r->path[a->ttl - 1];
	topo_link_ends(f->topo, last, &from, &to);
	struct pending p = {
	    .ev = {.kind = AGENT_ICMP, .ip_id = a->ip_id, .tuple = a->tuple},
	    .host = host,
	    .at = to - f->topo->n_hosts,
	};
	p.ev.from_ip = f->params->icmp.source == MODEL_ICMP_INGRESS
	    ? topo_addr_of_link(last)
	    : topo_addr_of_switch(p.at);
	const int lost = is_lost(rng, r->there[a->ttl]);
	p.lost = (uint8_t)is_lost(rng, r->back[a->ttl]);
	const sim_ns there = delay(f, rng, a->ttl);
	p.back = delay(f, rng, a->ttl) +
	    (sim_ns)(1e3 *
		model_dist_at(&f->params->icmp.latency_us, sim_rng_u01(rng)));
	return lost ? 0 : put_pending(f, &p, ARRIVE, f->now + there, e);
}

static int ask_slb(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	const struct flow *fl = find(f, &a->tuple);
	struct pending p = {
	    .ev = {.kind = AGENT_SLB_REPLY, .token = a->token},
	    .host = host,
	};
	if (!fl || !fl->fate.vip)
		return put_pending(f, &p, TELL, f->now, e);
	if (fl->fate.lost)
		return 0;
	p.ev.ok = !fl->fate.refused;
	p.ev.dip = p.ev.ok ? fl->real.dst_ip : 0;
	return put_pending(f, &p, TELL, f->now + fl->fate.latency_ns, e);
}

static int set_timer(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	const struct pending p = {
	    .ev = {.kind = AGENT_TIMER, .token = a->token},
	    .host = host,
	};
	return put_pending(f, &p, TELL, a->at_ns > f->now ? a->at_ns : f->now,
	    e);
}

/* --- the fabric ---------------------------------------------------------------- */

static sim_ns now(const struct fabric *base)
{
	return ((const struct fabric_sim *)base)->now;
}

static int submit(struct fabric *base, topo_host host,
    const struct agent_action *a, size_t n, struct sim_err *e)
{
	struct fabric_sim *f = (struct fabric_sim *)base;
	int rc = 0;
	for (; rc == 0 && n > 0; a++, n--) {
		switch (a->kind) {
		case AGENT_PROBE:
			rc = send_probe(f, host, a, e);
			break;
		case AGENT_SLB_QUERY:
			rc = ask_slb(f, host, a, e);
			break;
		case AGENT_SET_TIMER:
			rc = set_timer(f, host, a, e);
			break;
		case AGENT_REPORT:
			break;
		default:
			rc = sim_fail(e, SIM_EUNSUPPORTED,
			    "the simulated fabric carries out no action %d.",
			    a->kind);
		}
	}
	return rc;
}

/* Take one queued event; 1 if it is one for a host, put into EV and HOST. */
static int take(struct fabric_sim *f, const struct sim_event *queued,
    struct agent_event *ev, topo_host *host, struct sim_err *e)
{
	const uint32_t i = (uint32_t)queued->aux;
	struct pending *p;
	struct flow *fl;
	int rc = 0;
	switch ((enum kind)(queued->aux >> 32)) {
	case RETX:
		fl = &f->flow[i];
		*ev = (struct agent_event){.kind = AGENT_RETX,
		    .established = fl->established,
		    .tuple = fl->seen};
		*host = f->lossy->flows.src_host[fl->row];
		if (++fl->n_done < fl->n_retx)
			rc = put_retx(f, i, e);
		return rc < 0 ? rc : 1;
	case ARRIVE:
		p = &f->pending[i];
		if (model_icmp_answer(&f->icmp, p->at, queued->t) && !p->lost)
			return sim_evq_put(f->q,
			    &(struct sim_event){.t = queued->t + p->back,
				.aux = (uint64_t)TELL << 32 | i},
			    e);
		free_pending(f, i);
		return 0;
	case TELL:
		*ev = f->pending[i].ev;
		*host = f->pending[i].host;
		free_pending(f, i);
		return 1;
	}
	return 0;
}

/* One event a call: an answer to it may come before the next. */
static int poll(struct fabric *base, sim_ns until, struct agent_event ev[],
    topo_host host[], sim_ns at[], size_t cap, size_t *n, struct sim_err *e)
{
	struct fabric_sim *f = (struct fabric_sim *)base;
	struct sim_event queued;
	int rc = 0;
	(void)cap;
	*n = 0;
	while (rc == 0 && sim_evq_pop(f->q, until, &queued)) {
		f->now = queued.t;
		rc = take(f, &queued, &ev[0], &host[0], e);
	}
	if (rc == 1) {
		at[0] = f->now;
		*n = 1;
	} else if (rc == 0 && until != SIM_NEVER && until > f->now) {
		f->now = until;
	}
	return rc < 0 ? rc : 0;
}

static void close_base(struct fabric *base)
{
	fabric_sim_close((struct fabric_sim *)base);
}

static const struct fabric_ops ops = {
    .name = "sim",
    .now = now,
    .submit = submit,
    .poll = poll,
    .close = close_base,
};

/* --- life ---------------------------------------------------------------------- */

int fabric_sim_open(struct fabric_sim **out, const struct topo *t,
    const struct fabric_sim_params *p, struct sim_err *e)
{
	struct fabric_sim *f;
	int rc;
	*out = NULL;
	if (p->icmp.source == MODEL_ICMP_INGRESS &&
	    t->n_links > TOPO_ADDR_MAX_LINKS)
		return sim_fail(e, SIM_ELIMIT,
		    "%u links are more than have addresses of their own, %u; "
		    "use icmp source: loopback.",
		    t->n_links, TOPO_ADDR_MAX_LINKS);
	if ((rc = SIM_ZALLOC(&f, 1, e)) < 0)
		return rc;
	f->base = (struct fabric){
	    .ops = &ops,
	    .caps = {.clock_res_ns = 1,
		.syn_rto_ns = {3 * SIM_SEC, 6 * SIM_SEC},
		.can_probe_ttl = 1,
		.sees_flows = 1},
	    .n_hosts = t->n_hosts,
	};
	f->topo = t;
	f->params = p;
	if ((rc = SIM_ZALLOC(&f->rng, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->life, t->n_hosts, e)) < 0) {
		fabric_sim_close(f);
		return rc;
	}
	*out = f;
	return 0;
}

void fabric_sim_close(struct fabric_sim *f)
{
	if (!f)
		return;
	sim_evq_close(f->q);
	free(f->flow);
	free(f->slot);
	free(f->pending);
	model_icmp_free(&f->icmp);
	model_flap_free(&f->flaps);
	free(f->rng);
	free(f->life);
	free(f);
}

static void renew_streams(struct fabric_sim *f)
{
	if (++f->now_living == 0) {
		memset(f->life, 0, f->base.n_hosts * sizeof(f->life[0]));
		f->now_living = 1;
	}
	sim_rng_key(f->retx_key, &f->scene->where, SIM_STREAM_RETX);
}

int fabric_sim_begin(struct fabric_sim *f, const struct model_scene *scene,
    const struct obs *lossy, struct sim_err *e)
{
	const struct fabric_sim_params *p = f->params;
	int rc;
	f->scene = scene;
	f->lossy = lossy;
	f->now = 0;
	f->n_pending = 0;
	f->free_pending = NO_PENDING;
	f->route.at = SIM_NEVER;
	renew_streams(f);
	/* A queue's clock never runs backwards, so each epoch has its own. */
	sim_evq_close(f->q);
	f->q = NULL;
	if ((rc = sim_evq_open(&f->q, e)) < 0 ||
	    (rc = model_icmp_begin(&f->icmp, &p->icmp, f->topo->n_switches,
		 scene->traffic.epoch_ns, e)) < 0 ||
	    (rc = model_flap_draw(&f->flaps, f->topo, &p->flap, &scene->where,
		 e)) < 0)
		return rc;
	return take_flows(f, e);
}

struct fabric *fabric_sim_fabric(struct fabric_sim *f)
{
	return &f->base;
}

struct model_flaps *fabric_sim_flaps(struct fabric_sim *f)
{
	return &f->flaps;
}

struct model_icmp_load fabric_sim_load(const struct fabric_sim *f)
{
	return model_icmp_load(&f->icmp);
}
