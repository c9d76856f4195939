/* algos/pingmesh/hole_pairs.c -- which pairs of servers were probed, and late.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/hole_pairs.h"

#include <stdlib.h>

#include "sim/vec.h"

/* As peer[] is filled, before its probes are joined to pairs, an element is of
 * one probe and `decoy` says what became of it. */
enum { ANSWERED, LATE, FAILED };

struct tally {
	uint32_t n, n_late, n_failed;
};

void algo_hole_pairs_close(struct algo_hole_pairs *p)
{
	free(p->first);
	free(p->peer);
	*p = (struct algo_hole_pairs){0};
}

/* The two servers of probe I; returns 0 if the pair is not to be listed. */
static int hole_pair_ends(const struct topo_dc *dc, const struct obs_probes *t,
    size_t i, const uint8_t alive[], uint32_t *low, uint32_t *high)
{
	if (t->level[i] == OBS_LEVEL_INTER_DC)
		return 0;
	const uint32_t s = topo_dc_index(dc, t->src_host[i]);
	const uint32_t d = topo_dc_index(dc, t->dst_host[i]);
	*low = s < d ? s : d;
	*high = s < d ? d : s;
	return alive[s] && alive[d];
}

static unsigned hole_probe_outcome(const struct obs_probes *t, size_t i)
{
	const sim_ns late_ns = t->syn_wait_ns[0];
	if (t->outcome[i] == OBS_TIMED_OUT)
		return FAILED;
	return late_ns > 0 && t->rtt_ns[i] >= late_ns ? LATE : ANSWERED;
}

/* Put the probes in order of the lower server. While this lasts first[s] is
 * where its next one goes; then it is where its last one ended, which is where
 * those of s + 1 begin. */
static void sort_by_low(struct algo_hole_pairs *p, const struct topo_dc *dc,
    const struct obs_probes *t, const uint8_t alive[])
{
	const uint32_t n_hosts = dc->clos.all_hosts;
	uint32_t low, high;
	for (size_t i = 0; i < t->n; i++)
		if (hole_pair_ends(dc, t, i, alive, &low, &high))
			p->first[low + 1]++;
	for (uint32_t s = 0; s < n_hosts; s++)
		p->first[s + 1] += p->first[s];
	for (size_t i = 0; i < t->n; i++)
		if (hole_pair_ends(dc, t, i, alive, &low, &high))
			p->peer[p->first[low]++] =
			    (struct algo_hole_peer){.high = high & 0x3fffffff,
				.decoy = hole_probe_outcome(t, i) & 3};
	for (uint32_t s = n_hosts; s > 0; s--)
		p->first[s] = p->first[s - 1];
	p->first[0] = 0;
}

static enum algo_hole_decoy decoy_of(const struct tally *x, uint32_t least)
{
	if (x->n_late < (uint64_t)least + x->n_failed)
		return ALGO_HOLE_NO_DECOY;
	return x->n_late == x->n ? ALGO_HOLE_DECOY_1 : ALGO_HOLE_DECOY_2;
}

/* Make one element of all probes of a pair, in the same array: there are never
 * more pairs than probes before them. TALLY is of the peers of one server at a
 * time, and zero between two. */
static void join_probes(struct algo_hole_pairs *p, uint32_t n_hosts,
    uint32_t least, struct tally tally[])
{
	size_t n = 0, from = 0;
	for (uint32_t s = 0; s < n_hosts; s++) {
		const size_t to = p->first[s + 1];
		for (size_t i = from; i < to; i++) {
			struct tally *x = &tally[p->peer[i].high];
			x->n++;
			x->n_late += p->peer[i].decoy == LATE;
			x->n_failed += p->peer[i].decoy == FAILED;
		}
		for (size_t i = from; i < to; i++) {
			const uint32_t high = p->peer[i].high;
			struct tally *x = &tally[high];
			if (x->n > 0 && x->n >= least)
				p->peer[n++] =
				    (struct algo_hole_peer){.high = high &
					    0x3fffffff,
					.decoy = decoy_of(x, least) & 3};
			*x = (struct tally){0};
		}
		from = to;
		p->first[s + 1] = n;
	}
}

int algo_hole_pairs_open(struct algo_hole_pairs *p, const struct topo_dc *dc,
    const struct obs_probes *t, const uint8_t alive[], uint32_t least,
    struct sim_err *e)
{
	const uint32_t n_hosts = dc->clos.all_hosts;
	struct tally *tally = NULL;
	int rc;
	*p = (struct algo_hole_pairs){0};
	if ((rc = SIM_ZALLOC(&p->first, (size_t)n_hosts + 1, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->peer, t->n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&tally, n_hosts, e)) < 0) {
		algo_hole_pairs_close(p);
		return rc;
	}
	sort_by_low(p, dc, t, alive);
	join_probes(p, n_hosts, least, tally);
	free(tally);
	return 0;
}
