/* models/sim/sim.c -- a fabric in simulated time, under a scene's faults.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All that is to come stands in one queue of events. An event holds its kind
 * and an index; what it is about lies in tables, of which the row freed last is
 * used again first. So in the long run nothing is allocated, and what is
 * touched is in the cache. */
#include "models/sim/sim.h"

#include <stdlib.h>
#include <string.h>

#include "models/sim/impl.h"
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

#define AT(member) offsetof(struct fabric_sim_connect_params, member)

static const char *const profile_names[] = {"dc1", "dc2", "calm", NULL};
static const char *const timer_names[] = {"windows", "linux", "linux_linear",
    NULL};

const struct sim_field fabric_sim_connect_fields[] = {
    {"profile", SIM_F_ENUM, AT(profile), .names = profile_names, .def = "dc1",
	.doc = "law of round trips: that of a storage or a search data centre"},
    {"timers", SIM_F_ENUM, AT(timers), .names = timer_names, .def = "windows",
	.doc = "of clients: when a SYN is sent again, and when no more"},
    {"retries", SIM_F_U32, AT(retries), .min = 0,
	.max = FABRIC_SIM_TCP_MAX_RETRIES, .unit = "SYNs", .def = "0",
	.doc = "SYNs after the first; 0: as many as these timers send"},
    {"synack_timer", SIM_F_BOOL, AT(synack_timer), .def = "false",
	.doc = "servers repeat their SYN-ACKs by a timer of their own"},
    {"load", SIM_F_F64, AT(load), .min = -1, .max = FABRIC_SIM_RTT_MAX_LOAD,
	.unit = "1", .def = "-1",
	.doc = "of links, for the time in queues; below 0: the profile's"},
    {"class_load", SIM_F_F64, AT(class_load), .min = 0, .max = 1, .unit = "1",
	.def = "0", .doc = "what each QoS class beyond the first adds to it"},
    {"service", SIM_F_F64, AT(service_ms), .min = 0, .max = 1e6, .unit = "ms",
	.def = "20",
	.doc = "mean time that controller and collector take, half of it "
	       "exponential"},
    {0},
};
#undef AT

/* --- events to come ------------------------------------------------------- */

static int new_pending(struct fabric_sim *f, uint32_t *out, struct sim_err *e)
{
	if (f->free_pending != FABRIC_SIM_NONE) {
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

static int sim_fabric_put(struct fabric_sim *f, enum fabric_sim_kind kind,
    uint32_t index, sim_ns at, struct sim_err *e)
{
	return sim_evq_put(f->q,
	    &(struct sim_event){.t = at, .aux = (uint64_t)kind << 32 | index},
	    e);
}

int fabric_sim_put(struct fabric_sim *f, struct fabric_sim_pending *p,
    enum fabric_sim_kind kind, sim_ns at, struct sim_err *e)
{
	uint32_t i;
	int rc = new_pending(f, &i, e);
	if (rc < 0)
		return rc;
	/* A host that goes off in between loses what was under way: its boot
	 * differs when the event comes. */
	p->boot = f->boot[p->host];
	f->pending[i] = *p;
	if ((rc = sim_fabric_put(f, kind, i, at, e)) < 0)
		free_pending(f, i);
	return rc;
}

int fabric_sim_streams(struct fabric_sim *f, topo_host h,
    struct fabric_sim_streams **out, struct sim_err *e)
{
	const struct sim_seed *where = &f->scene->where;
	int rc;
	if (!f->streams &&
	    (rc = SIM_ZALLOC(&f->streams, f->base.n_hosts, e)) < 0)
		return rc;
	struct fabric_sim_streams *s = *out = &f->streams[h];
	if (s->life == f->now_living)
		return 0;
	/* Streams are set up when a host first needs them in an epoch: most
	 * hosts of an epoch need none. */
	s->life = f->now_living;
	sim_rng_init(&s->rtt, where, SIM_STREAM_RTT, h);
	sim_rng_init(&s->connect, where, SIM_STREAM_CONNECT, h);
	sim_rng_init(&s->delay, where, SIM_STREAM_DELAY, h);
	sim_rng_init(&s->service, where, SIM_STREAM_SERVICE, h);
	return 0;
}

/* A time that is past means at once, and not an event that goes backwards. */
static int sim_fabric_set_timer(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	struct fabric_sim_pending p = {
	    .ev = {.kind = AGENT_TIMER, .token = a->token},
	    .host = host,
	};
	return fabric_sim_put(f, &p, FABRIC_SIM_TELL,
	    a->at_ns > f->now ? a->at_ns : f->now, e);
}

/* --- hosts off and on ----------------------------------------------------- */

static int is_off(const struct fabric_sim *f, topo_host h)
{
	return truth_outage_at(&f->scene->truth, TRUTH_HOST_OFF, h, f->now) !=
	    NULL;
}

static int sim_fabric_is_on(const struct fabric *base, topo_host h)
{
	return !((const struct fabric_sim *)base)->off[h];
}

/* Note which hosts are off at the start, and queue a look at the host for each
 * end of an outage. */
static int take_outages(struct fabric_sim *f, struct sim_err *e)
{
	const struct truth *t = &f->scene->truth;
	int rc = 0;
	memset(f->off, 0, f->base.n_hosts);
	for (size_t i = 0; rc == 0 && i < t->n_outages; i++) {
		const struct truth_outage *o = &t->outage[i];
		if (o->kind != TRUTH_HOST_OFF)
			continue;
		f->off[o->id] = (uint8_t)is_off(f, o->id);
		rc = sim_fabric_put(f, FABRIC_SIM_POWER, o->id, o->from_ns, e);
		if (rc == 0 && o->to_ns != SIM_NEVER)
			rc = sim_fabric_put(f, FABRIC_SIM_POWER, o->id,
			    o->to_ns, e);
	}
	return rc;
}

/* --- the fabric ----------------------------------------------------------- */

static sim_ns sim_fabric_now(const struct fabric *base)
{
	return ((const struct fabric_sim *)base)->now;
}

static int sim_fabric_submit(struct fabric *base, topo_host host,
    const struct agent_action *a, size_t n, struct sim_err *e)
{
	struct fabric_sim *f = (struct fabric_sim *)base;
	int rc = 0;
	for (; rc == 0 && n > 0; a++, n--) {
		switch (a->kind) {
		case AGENT_PROBE:
			rc = fabric_sim_probe(f, host, a, e);
			break;
		case AGENT_SLB_QUERY:
			rc = fabric_sim_ask_slb(f, host, a, e);
			break;
		case AGENT_SET_TIMER:
			rc = sim_fabric_set_timer(f, host, a, e);
			break;
		/* fabric_run() gives reports to its caller. */
		case AGENT_REPORT:
			break;
		case AGENT_SEND:
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "this fabric carries no packets as they stand.");
		case AGENT_FETCH:
			rc = fabric_sim_fetch(f, host, a, e);
			break;
		case AGENT_CONNECT:
			rc = fabric_sim_connect(f, host, a, e);
			break;
		case AGENT_ANSWER:
			rc = fabric_sim_answer(f, host, a, e);
			break;
		case AGENT_UPLOAD:
			rc = fabric_sim_upload(f, host, a, e);
			break;
		case AGENT_COUNTERS:
			rc = fault_service_counters(&f->services,
			    &f->scene->truth, host, f->now, a->data, a->n_bytes,
			    e);
			break;
		default:
			rc = sim_fail(e, SIM_EUNSUPPORTED,
			    "the simulated fabric carries out no action %d.",
			    a->kind);
		}
	}
	return rc;
}

/* A probe is where its TTL ends, and the switch answers if its limit allows.
 * The limit is charged also for an answer that will be lost on the way back. */
static int take_arrival(struct fabric_sim *f, uint32_t i, struct sim_err *e)
{
	const struct fabric_sim_pending *p = &f->pending[i];
	if (fabric_sim_icmp_answer(&f->icmp, p->at, f->now) &&
	    p->back != SIM_NEVER)
		return sim_fabric_put(f, FABRIC_SIM_TELL, i, f->now + p->back,
		    e);
	free_pending(f, i);
	return 0;
}

/* Tell an event to its host, unless that went off since the event was caused.
 * Returns 1 if EV and HOST are set. */
static int sim_fabric_tell(struct fabric_sim *f, enum fabric_sim_kind kind,
    uint32_t i, struct agent_event *ev, topo_host *host, struct sim_err *e)
{
	const struct fabric_sim_pending *p = &f->pending[i];
	int rc = p->boot == f->boot[p->host];
	*host = p->host;
	*ev = p->ev;
	if (rc && kind == FABRIC_SIM_FETCHED)
		rc = fabric_sim_take_fetched(f, p, ev, e);
	free_pending(f, i);
	return rc;
}

/* An outage of host H begins or ends. Outages may overlap, and a repair may
 * have changed the truth since this was queued, so what counts is what holds
 * now. Returns 1 if the host comes on, with its AGENT_START. */
static int take_power(struct fabric_sim *f, topo_host h, struct agent_event *ev,
    topo_host *host)
{
	const int off = is_off(f, h);
	if (off == f->off[h])
		return 0;
	f->off[h] = (uint8_t)off;
	f->boot[h] += off;
	*ev = (struct agent_event){.kind = AGENT_START};
	*host = h;
	return !off;
}

/* Take one queued event; 1 if it is one for a host, put into EV and HOST. */
static int sim_fabric_take(struct fabric_sim *f, const struct sim_event *queued,
    struct agent_event *ev, topo_host *host, struct sim_err *e)
{
	const enum fabric_sim_kind kind =
	    (enum fabric_sim_kind)(queued->aux >> 32);
	const uint32_t i = (uint32_t)queued->aux;
	switch (kind) {
	case FABRIC_SIM_TELL:
	case FABRIC_SIM_FETCHED:
		return sim_fabric_tell(f, kind, i, ev, host, e);
	case FABRIC_SIM_POWER:
		return take_power(f, i, ev, host);
	case FABRIC_SIM_RETX:
		return fabric_sim_take_retx(f, i, ev, host, e);
	case FABRIC_SIM_ARRIVE:
		return take_arrival(f, i, e);
	default:
		return fabric_sim_take_conn(f, queued, ev, host, e);
	}
}

/* One event a call: the agent's answer to it may cause another that comes
 * before the next in the queue. Events that no host hears of are taken on the
 * way. */
static int sim_fabric_poll(struct fabric *base, sim_ns until,
    struct agent_event ev[], topo_host host[], sim_ns at[], size_t cap,
    size_t *n, struct sim_err *e)
{
	struct fabric_sim *f = (struct fabric_sim *)base;
	struct sim_event queued;
	int rc = 0;
	(void)cap;
	*n = 0;
	f->route.at = SIM_NEVER; /* the truth may have changed */
	while (rc == 0 && sim_evq_pop(f->q, until, &queued)) {
		f->now = queued.t;
		rc = sim_fabric_take(f, &queued, &ev[0], &host[0], e);
	}
	if (rc == 1) {
		at[0] = f->now;
		*n = 1;
	} else if (rc == 0 && until != SIM_NEVER && until > f->now) {
		/* Nothing is left until UNTIL, so the clock may go there. */
		f->now = until;
	}
	return rc < 0 ? rc : 0;
}

static void sim_fabric_close_base(struct fabric *base)
{
	fabric_sim_close((struct fabric_sim *)base);
}

static const struct fabric_ops sim_fabric_ops = {
    .name = "sim",
    .now = sim_fabric_now,
    .submit = sim_fabric_submit,
    .poll = sim_fabric_poll,
    .is_on = sim_fabric_is_on,
    .close = sim_fabric_close_base,
};

/* --- life ----------------------------------------------------------------- */

int fabric_sim_open(struct fabric_sim **out, const struct topo *t,
    const struct fabric_sim_params *p, struct sim_err *e)
{
	struct fabric_sim *f;
	int rc;
	*out = NULL;
	/* Messages that name the link need an address for each. */
	if (p->icmp.source == FABRIC_SIM_ICMP_INGRESS &&
	    t->n_links > TOPO_ADDR_MAX_LINKS)
		return sim_fail(e, SIM_ELIMIT,
		    "%u links are more than have addresses of their own, %u; "
		    "use icmp source: loopback.",
		    t->n_links, TOPO_ADDR_MAX_LINKS);
	if ((rc = SIM_ZALLOC(&f, 1, e)) < 0)
		return rc;
	f->base = (struct fabric){
	    .ops = &sim_fabric_ops,
	    .caps = {.clock_res_ns = 1, .can_probe_ttl = 1, .sees_flows = 1},
	    .n_hosts = t->n_hosts,
	};
	f->topo = t;
	f->params = p;
	if ((rc = SIM_ZALLOC(&f->probe_rng, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->life, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->off, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->boot, t->n_hosts, e)) < 0 ||
	    (rc = fabric_sim_open_connect(f, e)) < 0) {
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
	fabric_sim_free_trace(f);
	fabric_sim_free_connect(f);
	free(f->pending);
	free(f->off);
	free(f->boot);
	free(f);
}

/* As in fabric_agents_renew(): another number of the epoch makes all streams
 * old at once, and where the numbers start again they are cleared. */
static void renew_streams(struct fabric_sim *f)
{
	if (++f->now_living == 0) {
		for (topo_host h = 0; h < f->base.n_hosts; h++) {
			f->life[h] = 0;
			if (f->streams)
				f->streams[h].life = 0;
		}
		f->noise_of = 0;
		f->now_living = 1;
	}
	sim_rng_key(f->retx_key, &f->scene->where, SIM_STREAM_RETX);
}

int fabric_sim_begin(struct fabric_sim *f, const struct scene *scene,
    const struct obs *lossy, struct sim_err *e)
{
	const struct fabric_sim_params *p = f->params;
	int rc;
	f->scene = scene;
	f->net = (struct scene_walk_net){.topo = f->topo,
	    .scene = scene,
	    .flaps = &f->flaps};
	f->probe_net = f->net;
	f->probe_net.lossless = p->lossless_probes != 0;
	f->lossy = lossy;
	f->early = NULL;
	f->losses = (struct fabric_sim_losses){0};
	f->now = 0;
	f->n_pending = f->n_conns = 0;
	f->free_pending = f->free_conn = FABRIC_SIM_NONE;
	/* No key is 0, since each has hops. */
	memset(f->law_key, 0, sizeof(f->law_key));
	renew_streams(f);
	/* A queue's clock never runs backwards, so each epoch has a queue of
	 * its own. */
	sim_evq_close(f->q);
	f->q = NULL;
	if ((rc = sim_evq_open(&f->q, e)) < 0 ||
	    (rc = fabric_sim_icmp_begin(&f->icmp, &p->icmp, f->topo->n_switches,
		 scene->traffic.epoch_ns, e)) < 0 ||
	    (rc = fault_flap_draw(&f->flaps, f->topo, &p->flap, &scene->where,
		 e)) < 0 ||
	    (rc = take_outages(f, e)) < 0)
		return rc;
	return fabric_sim_take_flows(f, e);
}

void fabric_sim_early(struct fabric_sim *f, const uint32_t early[])
{
	f->early = early;
}

void fabric_sim_at_once(struct fabric_sim *f, const uint32_t n[])
{
	f->at_once = n;
}

struct fabric_sim_losses fabric_sim_losses(const struct fabric_sim *f)
{
	return f->losses;
}

void fabric_sim_serve(struct fabric_sim *f, const struct fault_services *s)
{
	f->services = *s;
}

struct fabric *fabric_sim_fabric(struct fabric_sim *f)
{
	return &f->base;
}

struct fault_flaps *fabric_sim_flaps(struct fabric_sim *f)
{
	return &f->flaps;
}

struct fabric_sim_icmp_load fabric_sim_load(const struct fabric_sim *f)
{
	return fabric_sim_icmp_load(&f->icmp);
}
