/* models/obs.c -- what can be observed: growing, emptying, checking a window.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

const char *obs_part_text(unsigned parts)
{
	static const char *const text[] = {
#define X(part, text) text,
	    OBS_PARTS(X)
#undef X
	};
	/* The lowest bit that is set is the first part, as OBS_PARTS lists
	 * them. */
	return text[__builtin_ctz(parts)];
}

void obs_clear(struct obs *o)
{
	obs_flows_clear(&o->flows);
	o->hops.n = 0;
	o->n_flows = 0;
	o->n_packets = 0;
	o->complete = 0;
	/* These are borrowed: whoever attached them owns them. */
	o->probes = (struct obs_probe_source){0};
	o->pairs = NULL;
	o->traces = NULL;
	o->mirror = NULL;
	o->guided = NULL;
	o->runs = NULL;
	o->samples = NULL;
	o->tallies = NULL;
	o->retx_ns = NULL;
}

void obs_free(struct obs *o)
{
	obs_flows_free(&o->flows);
	free(o->hops.off);
	free(o->hops.link);
	*o = (struct obs){0};
}

int obs_add_flow(struct obs *o, const struct obs_flow *flow,
    const topo_link hop[], unsigned n_hops, struct sim_err *e)
{
	struct obs_flows *f = &o->flows;
	struct obs_hops *h = &o->hops;
	/* The array of offsets is one longer than the flows: flow i ends where
	 * flow i + 1 would begin. All three arrays are made large enough before
	 * anything is written, so that an error leaves the window as it was. */
	int rc;
	if ((rc = SIM_RESERVE(&h->off, &h->cap_off, f->n + 2, e)) < 0 ||
	    (rc = SIM_RESERVE(&h->link, &h->cap, h->n + n_hops, e)) < 0 ||
	    (rc = obs_flows_add(f, flow, e)) < 0)
		return rc;
	if (n_hops > 0)
		memcpy(h->link + h->n, hop, n_hops * sizeof(*hop));
	h->off[f->n - 1] = h->n;
	h->n += n_hops;
	h->off[f->n] = h->n;
	return 0;
}

int obs_check_path(const struct obs *o, size_t i, uint32_t n_links,
    struct sim_err *e)
{
	const uint64_t from = o->hops.off[i], to = o->hops.off[i + 1];
	/* Offsets from outside may be anything: to > n is checked with
	 * from <= to, so both are within the array that is read below. */
	if (to < from || to > o->hops.n)
		return sim_fail(e, SIM_EINVAL,
		    "flow %zu: its hops are %" PRIu64 " to %" PRIu64
		    ", which is not an ascending range within the %zu hops.",
		    i, from, to, o->hops.n);
	if (to - from > TOPO_MAX_HOPS)
		return sim_fail(e, SIM_EINVAL,
		    "flow %zu has %" PRIu64 " hops, more than %d.", i,
		    to - from, TOPO_MAX_HOPS);
	for (uint64_t j = from; j < to; j++) {
		topo_link l = o->hops.link[j];
		if (l >= n_links && l != TOPO_NONE)
			return sim_fail(e, SIM_EINVAL,
			    "flow %zu: hop %" PRIu64 " is link %u"
			    ", but there are only %u links.",
			    i, j - from, l, n_links);
	}
	return 0;
}

/* A sender cannot repeat more packets than it offered. Its counter is
 * n_retx + count_off, a number of packets that must not be negative. */
static int check_flow(const struct obs *o, size_t i, uint32_t n_links,
    struct sim_err *e)
{
	const int rc = obs_check_path(o, i, n_links, e);
	if (rc < 0)
		return rc;
	if (o->flows.n_retx[i] > o->flows.n_pkts[i])
		return sim_fail(e, SIM_EINVAL,
		    "flow %zu: %u of %u"
		    " packets were sent again, more than there were.",
		    i, o->flows.n_retx[i], o->flows.n_pkts[i]);
	if (o->flows.count_off[i] < -(int64_t)o->flows.n_retx[i])
		return sim_fail(e, SIM_EINVAL,
		    "flow %zu: count_off %" PRId64
		    " puts its counter of %u packets below 0.",
		    i, o->flows.count_off[i], o->flows.n_retx[i]);
	return 0;
}

int obs_check(const struct obs *o, uint32_t n_links, struct sim_err *e)
{
	const size_t n = o->flows.n;
	int rc;
	/* Without flows there is no array of offsets that could be read. */
	if (n == 0)
		return o->hops.n == 0
		    ? 0
		    : sim_fail(e, SIM_EINVAL, "%zu hops belong to no flow.",
			  o->hops.n);
	if (o->hops.off[0] != 0)
		return sim_fail(e, SIM_EINVAL,
		    "flow 0: its hops begin at %" PRIu64 ", not at 0.",
		    o->hops.off[0]);
	for (size_t i = 0; i < n; i++)
		if ((rc = check_flow(o, i, n_links, e)) < 0)
			return rc;
	/* Each flow begins where the one before it ends, the first at 0 and the
	 * last ends at n: so every hop belongs to exactly one flow. */
	if (o->hops.off[n] != o->hops.n)
		return sim_fail(e, SIM_EINVAL,
		    "flow %zu: its hops end at %" PRIu64
		    ", but there are %zu hops.",
		    n - 1, o->hops.off[n], o->hops.n);
	return 0;
}
