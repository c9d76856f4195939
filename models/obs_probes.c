/* models/obs_probes.c -- the table of probes: checking.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_probes.h"

#include <inttypes.h>

static int obs_probes_check_hosts(const struct obs_probe *p, size_t i,
    topo_host first, uint32_t n, struct sim_err *e)
{
	/* A table of one data centre has probes to others, whose peers have ids
	 * outside its own range. Unsigned differences below would wrap for ids
	 * under FIRST, so that is asked first. */
	const int from_us = p->src_host >= first && p->src_host - first < n;
	const int to_us = p->dst_host >= first && p->dst_host - first < n;
	if (!from_us || (!to_us && p->level != OBS_LEVEL_INTER_DC))
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu is from host %u to %u"
		    ", but there are only %u hosts from %u on.",
		    i, p->src_host, p->dst_host, n, first);
	if (p->src_host == p->dst_host)
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu is from host %u to itself.", i, p->src_host);
	return 0;
}

/* Times are checked where the outcome settles them; a refused probe may have
 * one or not. */
static int check_probe(const struct obs_probe *p, size_t i, struct sim_err *e)
{
	if (p->outcome >= OBS_N_OUTCOMES)
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu: outcome %u is not in 0 to %d.", i, p->outcome,
		    OBS_N_OUTCOMES - 1);
	if (p->level < OBS_LEVEL_TOR || p->level > OBS_LEVEL_INTER_DC)
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu: level %u is not in %d to %d.", i, p->level,
		    OBS_LEVEL_TOR, OBS_LEVEL_INTER_DC);
	if (p->payload_bytes > OBS_MAX_PAYLOAD)
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu: a payload of %u bytes, more than %d.", i,
		    p->payload_bytes, OBS_MAX_PAYLOAD);
	if (p->outcome == OBS_CONNECTED && p->rtt_ns == 0)
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu connected, yet in no time.", i);
	if (p->outcome == OBS_TIMED_OUT && p->rtt_ns > 0)
		return sim_fail(e, SIM_EINVAL,
		    "probe %zu timed out, yet has a round-trip time of %" PRIu64
		    " ns.",
		    i, p->rtt_ns);
	return 0;
}

int obs_probes_check(const struct obs_probes *t, topo_host first_host,
    uint32_t n_hosts, struct sim_err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_probe p = obs_probes_at(t, i);
		int rc = obs_probes_check_hosts(&p, i, first_host, n_hosts, e);
		if (rc < 0 || (rc = check_probe(&p, i, e)) < 0)
			return rc;
	}
	return 0;
}
