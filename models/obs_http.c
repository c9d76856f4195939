/* models/obs_http.c -- the table of GETs: checking.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_http.h"

#include <inttypes.h>

#include "models/obs_probes.h"

static int obs_http_check_row(const struct obs_http_row *r, size_t i,
    topo_host first, uint32_t n, struct sim_err *e)
{
	const int from_us = r->src_host >= first && r->src_host - first < n;
	const int to_us = r->dst_host >= first && r->dst_host - first < n;
	if (!from_us || (!to_us && r->level != OBS_LEVEL_INTER_DC) ||
	    r->src_host == r->dst_host)
		return sim_fail(e, SIM_EINVAL,
		    "GET %zu is from host %u to %u, which are not two of the "
		    "%u hosts from %u on.",
		    i, r->src_host, r->dst_host, n, first);
	if (r->level < OBS_LEVEL_TOR || r->level > OBS_LEVEL_INTER_DC)
		return sim_fail(e, SIM_EINVAL,
		    "GET %zu: level %u is not in %d to %d.", i, r->level,
		    OBS_LEVEL_TOR, OBS_LEVEL_INTER_DC);
	if (r->answer == AGENT_ANSWER_NOT_ASKED ||
	    r->answer >= AGENT_N_ANSWERS ||
	    (r->answer_ns > 0) != (r->answer == AGENT_ANSWER_OK))
		return sim_fail(e, SIM_EINVAL,
		    "GET %zu: answer %u does not go with a time of %" PRIu64
		    " ns.",
		    i, r->answer, r->answer_ns);
	return 0;
}

int obs_http_check(const struct obs_http *t, topo_host first_host,
    uint32_t n_hosts, struct sim_err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_http_row r = obs_http_at(t, i);
		const int rc =
		    obs_http_check_row(&r, i, first_host, n_hosts, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}
