/* models/bulk/bulk.c -- the exact bulk data plane: every flow of an epoch.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/bulk/bulk.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/bulk/sieve.h"
#include "sim/vec.h"
#include "topo/addr.h"

#define INLINE static inline __attribute__((always_inline))

struct bulk {
	const struct bulk_kernel *kernel;
	const struct scene *scene;
	struct bulk_key key;
	struct bulk_clos net;
	struct bulk_sieve sieve;
	struct bulk_block block;
	struct bulk_block more; /* words of the second blocks, if they count */
	uint64_t n_silent;      /* flows whose host was off */
};

/* What the words of a flow's second block mean. The block is drawn only for the
 * few flows that are looked at, and for all if traffic is skewed, for the
 * coin. */
enum { MORE_COIN, MORE_LOW, MORE_START_HIGH, MORE_START_LOW };

int bulk_open(struct bulk **out, const struct bulk_kernel *kernel,
    struct sim_err *e)
{
	struct bulk *b;
	int rc = SIM_ZALLOC(&b, 1, e);
	if (rc < 0)
		return rc;
	b->kernel = kernel ? kernel : *bulk_kernels();
	*out = b;
	return 0;
}

void bulk_close(struct bulk *b)
{
	if (!b)
		return;
	bulk_sieve_free(&b->sieve);
	free(b);
}

static struct bulk_key bulk_exact_key_of(const struct sim_seed *where)
{
	struct bulk_key k = {{0, 0, where->run, where->point}};
	sim_rng_key(k.v, where, SIM_STREAM_FLOW);
	return k;
}

int bulk_begin(struct bulk *b, const struct scene *s, struct sim_err *e)
{
	b->scene = s;
	b->key = bulk_exact_key_of(&s->where);
	b->net = (struct bulk_clos){
	    .c = s->topo->clos,
	    .ecmp_seed = s->ecmp_seed,
	    .none = s->topo->n_links,
	    .pkt_lo = (uint32_t)s->traffic.params.packets.a,
	    .pkt_span = (uint32_t)(s->traffic.params.packets.b -
			    s->traffic.params.packets.a) +
		1,
	};
	/* What TCP sends beside the data can be lost, too. */
	if (scene_tcp_is_on(&s->traffic.params.tcp))
		b->net.pkt_lo += SCENE_TCP_MORE;
	return bulk_sieve_begin(&b->sieve, s, &b->net, b->kernel, e);
}

__extension__ typedef unsigned __int128 u128;

/* All about a flow but its losses, and its u in [0, 1), which says whether it
 * is lossy. Returns the number of hops. What the kernels compute for a block of
 * flows must come out here for one: the same words mean the same. */
static unsigned bulk_exact_flow_of(const struct scene *s,
    const struct bulk_key *key, uint64_t flow, struct obs_flow *out, double *u,
    topo_link path[])
{
	const struct scene_traffic *tr = &s->traffic;
	uint32_t w[4], more[4];
	bulk_words(key, (uint32_t)flow, 0, w);
	bulk_words(key, (uint32_t)flow, 1, more);
	topo_host src = scene_traffic_src(tr, flow);
	topo_host dst = scene_traffic_dst(tr, src, w[0], more[MORE_COIN]);
	uint32_t ports = bulk_ports(w[2]);
	uint64_t start =
	    (uint64_t)more[MORE_START_HIGH] << 32 | more[MORE_START_LOW];
	*out = (struct obs_flow){
	    /* Multiply and shift once more: exact, and below epoch_ns. */
	    .start_ns = (uint64_t)((u128)start * tr->epoch_ns >> 64),
	    .src_host = src,
	    .dst_host = dst,
	    .src_port = (uint16_t)(ports >> 16),
	    .dst_port = (uint16_t)ports,
	    .n_pkts = scene_traffic_packets(tr, w[1]),
	};
	/* 48 bits: the word that the sieve has seen stands above 16 further
	 * ones, so that rounding down to that word cannot turn a lossy flow
	 * into one that the sieve would hold back. */
	*u = ((double)w[3] * 65536 + (more[MORE_LOW] & 0xffff)) * 0x1p-48;
	uint32_t digest =
	    topo_digest_rest(topo_digest_src(topo_addr_of_host(src),
				 TOPO_PROTO_TCP),
		topo_addr_of_host(dst), ports);
	return topo_path(s->topo, s->ecmp_seed, src, dst, digest, path);
}

unsigned bulk_flow(const struct scene *s, uint64_t flow, struct obs_flow *out,
    topo_link path[])
{
	struct bulk_key key = bulk_exact_key_of(&s->where);
	double u;
	return bulk_exact_flow_of(s, &key, flow, out, &u, path);
}

/* The smoothed round-trip time, from the flow's own stream: it does not depend
 * on which flows are asked. */
static uint32_t srtt_of(const struct scene *s, uint64_t flow,
    const struct obs_flow *f, const topo_link path[], unsigned h)
{
	struct sim_rng r;
	double us = scene_congestion_us(&s->congestion, path, h, f->start_ns);
	sim_rng_init(&r, &s->where, SIM_STREAM_LATENCY, (uint32_t)flow);
	for (unsigned i = 0; i < h; i++)
		us += scene_latency_smoothed(&s->truth, path[i], f->start_ns,
		    f->n_pkts, &r);
	return scene_latency_srtt(&s->latency, &r, h, f->n_pkts, us);
}

/* The first switch with a hole that takes the flow gets all that is left of it,
 * and what is behind gets nothing. That is as if the link into the switch lost
 * all. */
static void meet_holes(const struct scene *s, const struct obs_flow *f,
    const topo_link path[], unsigned h, double hazard[])
{
	const struct topo_tuple tuple = {
	    .src_ip = topo_addr_of_host(f->src_host),
	    .dst_ip = topo_addr_of_host(f->dst_host),
	    .src_port = f->src_port,
	    .dst_port = f->dst_port,
	    .proto = TOPO_PROTO_TCP,
	};
	for (unsigned i = 0; i < h; i++)
		if (truth_swallows(&s->truth,
			bulk_switch_behind(s->topo, path[i]), &tuple,
			f->start_ns)) {
			hazard[i] = INFINITY;
			return;
		}
}

/* A flow, or its way back as a flow of no packets. */
struct direction {
	struct obs_flow f;
	topo_link path[TOPO_MAX_HOPS];
	struct scene_tcp_way way;
	struct scene_congested full; /* unused without congestion */
};

/* Hazards of the links of a flow's path when it starts. Returns their sum. Every
 * flow that is looked at comes here, so this must cost no call. */
INLINE double hazards_of(const struct scene *s, uint64_t flow,
    struct direction *d)
{
	/* cppcheck-suppress ctuuninitvar; written member by member */
	const unsigned h = d->way.h;
	double sum = 0, *hazard = d->way.hazard;
	scene_loss_hazards(&s->loss, flow, d->path, h, d->f.start_ns, hazard);
	if (scene_congestion_is_on(&s->congestion))
		scene_congestion_meet(&s->congestion, d->path, h, d->f.start_ns,
		    hazard, &d->full);
	if (s->truth.n_holes > 0)
		meet_holes(s, &d->f, d->path, h, hazard);
	for (unsigned i = 0; i < h; i++)
		sum += hazard[i];
	return sum;
}

INLINE void tell_buffers(const struct scene *s, struct sim_rng *r,
    struct direction *d)
{
	if (scene_congestion_is_on(&s->congestion))
		scene_congestion_tell(r, d->way.drops, d->way.hazard, d->way.h,
		    &d->full);
}

static int add_flow(struct obs *w, struct losses *lost,
    const struct direction *d, struct sim_err *e)
{
	const unsigned h = d->way.h;
	int rc = losses_add_hops(lost, d->way.drops, d->full.drops, h, e);
	if (rc == 0 && (rc = obs_add_flow(w, &d->f, d->path, h, e)) < 0)
		losses_drop_hops(lost, h);
	return rc;
}

/* --- with TCP ------------------------------------------------------------- */

/* The way back of F: its path, but no hazards yet. */
static void turn_flow(const struct scene *s, const struct obs_flow *f,
    struct direction *back)
{
	back->f = (struct obs_flow){.start_ns = f->start_ns,
	    .src_host = f->dst_host,
	    .dst_host = f->src_host,
	    .src_port = f->dst_port,
	    .dst_port = f->src_port};
	const uint32_t digest =
	    topo_digest_rest(topo_digest_src(topo_addr_of_host(f->dst_host),
				 TOPO_PROTO_TCP),
		topo_addr_of_host(f->src_host),
		(uint32_t)f->dst_port << 16 | f->src_port);
	back->way.h = topo_path(s->topo, s->ecmp_seed, f->dst_host, f->src_host,
	    digest, back->path);
}

/* A row of which EARLY were sent again before the connection was established. A
 * flow that sent more packets again than it has gets as many: a window says of
 * none that it sent more again than it sent. */
static int add_direction(struct obs *w, struct losses *lost,
    struct direction *d, uint32_t early, struct sim_err *e)
{
	int rc;
	if (d->f.n_pkts < d->f.n_retx)
		d->f.n_pkts = d->f.n_retx;
	if ((rc = losses_add_early(lost, early, e)) < 0)
		return rc;
	if ((rc = add_flow(w, lost, d, e)) < 0)
		lost->n_early--;
	return rc;
}

/* The rest of bulk_exact_settle() for a flow both ways. SUM is that of the
 * hazards of THERE, whose drops are not set yet. */
static int settle_talk(struct bulk *b, uint64_t flow, int all, double u,
    struct direction *there, double sum, struct obs *w, struct losses *lost,
    struct sim_err *e)
{
	const struct scene *s = b->scene;
	const struct scene_tcp_params *p = &s->traffic.params.tcp;
	const uint32_t n = there->f.n_pkts;
	struct scene_tcp_end end = {0};
	struct direction back;
	int shows = all || there->f.srtt_us > s->latency.report_us, rc = 0;
	turn_flow(s, &there->f, &back);
	const double sum_back = hazards_of(s, flow + SCENE_NOISE_BACK, &back);
	memset(there->way.drops, 0, sizeof(there->way.drops));
	if (u < -expm1(-scene_tcp_weight(p, n, sum, sum_back))) {
		struct sim_rng r;
		sim_rng_init(&r, &s->where, SIM_STREAM_LOSS, (uint32_t)flow);
		scene_tcp_draw(&r, p, n, &there->way, &back.way, &end);
		tell_buffers(s, &r, there);
		tell_buffers(s, &r, &back);
	}
	for (unsigned i = 0; i < there->way.h; i++)
		shows |= there->way.drops[i] > 0;
	there->f.n_retx = end.n_retx;
	back.f.n_retx = end.n_back;
	if (shows || end.n_retx > 0)
		rc = add_direction(w, lost, there, end.n_early, e);
	if (rc == 0 && end.n_back > 0)
		rc = add_direction(w, lost, &back, 0, e);
	return rc;
}

/* --- flows ---------------------------------------------------------------- */

/* What a flow without TCP's repeats lost, given that it lost something. */
INLINE void bulk_exact_lose(const struct scene *s, uint64_t flow,
    struct direction *d)
{
	struct scene_tcp_way *way = &d->way;
	struct sim_rng r;
	sim_rng_init(&r, &s->where, SIM_STREAM_LOSS, (uint32_t)flow);
	scene_loss_marks(&r, d->f.n_pkts, way->hazard, way->h, way->drops);
	scene_loss_drops(&r, d->f.n_pkts, way->drops, way->h, way->drops);
	tell_buffers(s, &r, d);
	for (unsigned i = 0; i < way->h; i++)
		d->f.n_retx += way->drops[i];
}

/* Decide exactly whether the flow is lossy, and append it if it is, if its
 * round trips are slow enough to be reported, or if ALL are asked for. */
static int bulk_exact_settle(struct bulk *b, uint64_t flow, int all,
    struct obs *w, struct losses *lost, struct sim_err *e)
{
	const struct scene *s = b->scene;
	struct direction d;
	double u;
	d.way.h = bulk_exact_flow_of(s, &b->key, flow, &d.f, &u, d.path);
	if (truth_outage_at(&s->truth, TRUTH_HOST_OFF, d.f.src_host,
		d.f.start_ns)) {
		b->n_silent++;
		return 0;
	}
	const double sum = hazards_of(s, flow, &d);
	if (s->latency.report_us > 0)
		d.f.srtt_us = srtt_of(s, flow, &d.f, d.path, d.way.h);
	if (scene_tcp_is_on(&s->traffic.params.tcp))
		return settle_talk(b, flow, all, u, &d, sum, w, lost, e);
	/* Each of n packets passes all links with probability exp(-sum). */
	const int lossy = u < -expm1(-(double)d.f.n_pkts * sum);
	if (!lossy && !all && d.f.srtt_us <= s->latency.report_us)
		return 0;
	memset(d.way.drops, 0, sizeof(d.way.drops));
	if (lossy)
		bulk_exact_lose(s, flow, &d);
	return add_flow(w, lost, &d, e);
}

/* Fill in the source hosts of flows FIRST .. FIRST + n - 1, host by host, since
 * flows are numbered by their source. Entries from n on keep old values:
 * kernels compute them too, for the sake of whole vectors, but index nothing by
 * them. */
static void fill_src(struct bulk_block *b, const struct scene_traffic *tr,
    uint64_t first)
{
	topo_host h = scene_traffic_src(tr, first);
	uint32_t i = 0;
	while (i < b->n) {
		uint64_t end = scene_traffic_first(tr, h + 1) - first;
		uint32_t stop = end < b->n ? (uint32_t)end : b->n;
		while (i < stop)
			b->src[i++] = h;
		h++;
	}
}

/* Skewed traffic needs a coin from each flow's second block. */
static void aim_skewed(struct bulk *b, uint64_t first)
{
	struct bulk_block *k = &b->block, *more = &b->more;
	const struct scene_traffic *tr = &b->scene->traffic;
	const uint32_t n_hosts = b->net.c.n_hosts;
	for (uint32_t i = 0; i < k->n; i++)
		k->own[i] = i > 0 && k->src[i] == k->src[i - 1]
		    ? k->own[i - 1]
		    : tr->place[k->src[i] / n_hosts];
	b->kernel->draw(more, &b->key, (uint32_t)first, 1);
	b->kernel->aim_skewed(k, &b->net, scene_traffic_aim(tr), tr->tor,
	    more->word[MORE_COIN]);
}

static int run_clos_block(struct bulk *b, uint64_t first, uint32_t n,
    struct obs *w, struct losses *lost, struct sim_err *e)
{
	uint32_t candidate[BULK_BLOCK];
	const struct scene_traffic *tr = &b->scene->traffic;
	b->block.n = n;
	fill_src(&b->block, tr, first);
	b->kernel->draw(&b->block, &b->key, (uint32_t)first, 0);
	if (tr->n_hot > 0)
		aim_skewed(b, first);
	else
		b->kernel->aim(&b->block, &b->net);
	b->kernel->path(&b->block, &b->net);
	n = bulk_sieve_pick(&b->sieve, &b->block, candidate);
	for (uint32_t i = 0; i < n; i++) {
		int rc =
		    bulk_exact_settle(b, first + candidate[i], 0, w, lost, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* One flow at a time: for any topology, for windows that hold every flow, and
 * for round-trip times. */
static int run_plain(struct bulk *b, uint64_t first, uint64_t last, int all,
    struct obs *w, struct losses *lost, struct sim_err *e)
{
	for (uint64_t f = first; f < last; f++) {
		int rc = bulk_exact_settle(b, f, all, w, lost, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int bulk_run(struct bulk *b, uint64_t first, uint64_t last, int all,
    struct obs *w, struct losses *lost, struct sim_err *e)
{
	int rc = 0;
	assert(first <= last && last <= b->scene->traffic.n_flows);
	b->n_silent = 0;
	lost->has_buffer = scene_congestion_is_on(&b->scene->congestion);
	/* The kernels know paths of a Clos only, and they are of use only where
	 * most flows can be left out. Holes are not looked for on ways back. */
	if (all || b->scene->latency.report_us > 0 ||
	    !topo_is_clos(b->scene->topo) ||
	    (b->scene->truth.n_holes > 0 &&
		scene_tcp_is_on(&b->scene->traffic.params.tcp))) {
		rc = run_plain(b, first, last, all, w, lost, e);
	} else {
		for (uint64_t f = first; f < last && rc == 0; f += BULK_BLOCK) {
			uint64_t n = last - f;
			if (n > BULK_BLOCK)
				n = BULK_BLOCK;
			rc = run_clos_block(b, f, (uint32_t)n, w, lost, e);
		}
	}
	if (rc == 0)
		w->n_flows += last - first - b->n_silent;
	return rc;
}

int bulk_epoch(struct bulk *b, const struct scene *s, int all, struct obs *w,
    struct losses *lost, struct sim_err *e)
{
	obs_clear(w);
	losses_clear(lost);
	int rc = bulk_begin(b, s, e);
	if (rc == 0)
		rc = bulk_run(b, 0, s->traffic.n_flows, all, w, lost, e);
	w->complete = all != 0;
	return rc;
}
