/* algos/millisampler/buckets.c -- the sampler: packets in, buckets of a run out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/buckets.h"

#include <inttypes.h>
#include <string.h>

#include "algos/millisampler/sketch.h"

#define X(name, text) text,
const char *const algo_start_names[] = {ALGO_STARTS(X) NULL};
#undef X

int algo_buckets_arm(struct algo_buckets *b, sim_ns now, sim_ns width_ns,
    enum algo_start start, struct sim_err *e)
{
	struct obs_index index;
	if (!obs_index_make(&index, width_ns))
		return sim_fail(e, SIM_ERANGE,
		    "buckets can't be %" PRIu64 " ns wide: from %d to %d ns "
		    "they can, if the odd part is at most 1500000.",
		    width_ns, OBS_WIDTH_MIN_NS, OBS_WIDTH_MAX_NS);
	memset(b, 0, sizeof(*b));
	b->index = index;
	b->armed_ns = now;
	b->start = start;
	b->enabled = 1;
	return 0;
}

int algo_buckets_packet(struct algo_buckets *b, sim_ns t,
    const struct obs_seen *p)
{
	if (!b->enabled)
		return 0;
	if (!b->started) {
		b->started = 1;
		b->start_ns = obs_index_start(&b->index, t,
		    b->start == ALGO_START_ALIGNED);
	}
	const int at = obs_index_place(&b->index, t, b->start_ns);
	if (at >= 0)
		obs_bucket_add(&b->bucket[at], p);
	else if (at == OBS_PLACE_OVER)
		b->enabled = 0;
	else
		b->n_missed++;
	return at >= 0;
}

static int bucket_is_quiet(const struct obs_bucket *b)
{
	return b->in_bytes == 0 && b->out_bytes == 0;
}

int algo_buckets_add_rows(const struct obs_bucket bucket[], uint32_t n,
    uint32_t run, struct obs_samples *samples, struct sim_err *e)
{
	size_t n_rows = 0;
	for (uint32_t i = 0; i < n; i++)
		n_rows += !bucket_is_quiet(&bucket[i]);
	int rc = obs_samples_reserve(samples, n_rows, e);
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		const struct obs_bucket *b = &bucket[i];
		if (bucket_is_quiet(b))
			continue;
		rc = obs_samples_add(samples,
		    &(struct obs_sample){
			.run = run,
			.bucket = i,
			.in_bytes = b->in_bytes,
			.out_bytes = b->out_bytes,
			.in_cross = b->in_cross,
			.out_cross = b->out_cross,
			.in_ce = b->in_ce,
			.in_retx = b->in_retx,
			.out_retx = b->out_retx,
			.conns = algo_sketch_conns(&b->conns),
			.sketch_lo = b->conns.lo,
			.sketch_hi = b->conns.hi,
		    },
		    e);
	}
	return rc;
}

/* Buckets that had begun when the run was read. */
static uint32_t buckets_begun(const struct algo_buckets *b, sim_ns start,
    sim_ns now)
{
	const int at = obs_index_place(&b->index, now, start);
	return at >= 0             ? (uint32_t)at + 1
	    : at == OBS_PLACE_OVER ? OBS_BUCKETS
				   : 1;
}

int algo_buckets_take(struct algo_buckets *b, sim_ns now, uint32_t host,
    uint64_t line_bps, struct obs_runs *runs, struct obs_samples *samples,
    struct sim_err *e)
{
	if (b->index.width == 0)
		return 0;
	const sim_ns start = b->started ? b->start_ns : b->armed_ns;
	/* A packet behind the last bucket tells the time as well. */
	const uint32_t n =
	    b->enabled ? buckets_begun(b, start, now) : OBS_BUCKETS;
	const struct obs_run run = {.start_ns = start,
	    .width_ns = b->index.width,
	    .line_bps = line_bps,
	    .host = host,
	    .n_buckets = n,
	    .n_missed = b->n_missed};
	int rc = obs_runs_reserve(runs, 1, e);
	if (rc < 0 ||
	    (rc = algo_buckets_add_rows(b->bucket, n, (uint32_t)runs->n,
		 samples, e)) < 0)
		return rc;
	rc = obs_runs_add(runs, &run, e);
	b->index.width = 0;
	b->enabled = b->started = 0;
	return rc;
}

struct obs_seen algo_buckets_seen(const struct obs_packet *p, int out,
    uint32_t region_net, uint32_t region_mask)
{
	const struct obs_ip *ip = obs_packet_outermost(p);
	const struct topo_tuple t = obs_packet_routed(p);
	const uint32_t here = out ? t.src_ip : t.dst_ip;
	const uint32_t there = out ? t.dst_ip : t.src_ip;
	const uint64_t ports = out
	    ? obs_sketch_ports(t.src_port, t.dst_port, t.proto)
	    : obs_sketch_ports(t.dst_port, t.src_port, t.proto);
	return (struct obs_seen){
	    .bytes = p->n_bytes,
	    .out = (uint8_t)(out != 0),
	    .ce = (ip->tos & OBS_TOS_ECN) == OBS_TOS_CE,
	    .retx = !out && ip->proto == TOPO_PROTO_TCP &&
		(ip->ttl & OBS_TTL_RETX) != 0,
	    .cross = ((there ^ region_net) & region_mask) != 0,
	    .bit = (uint8_t)obs_sketch_bit4(here, there, ports),
	    .has_bit = 1,
	};
}
