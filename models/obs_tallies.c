/* models/obs_tallies.c -- the table of packets by flow and paths: checking.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_tallies.h"

static int tally_check_cable(const char *name, uint32_t link, size_t i,
    uint32_t n_links, struct sim_err *e)
{
	if (link < n_links || link == TOPO_NONE)
		return 0;
	return sim_fail(e, SIM_EINVAL,
	    "row %zu: %s is link %u, but there are only %u.", i, name, link,
	    n_links);
}

static int tally_check_way(const struct obs_paths *p, const struct obs_tally *r,
    size_t i, struct sim_err *e)
{
	if (r->set >= p->n_sets)
		return sim_fail(e, SIM_EINVAL,
		    "row %zu is of set %u, but there are only %zu.", i, r->set,
		    p->n_sets);
	if (r->path != OBS_NO_PATH &&
	    (r->path < p->first[r->set] || r->path >= p->first[r->set + 1]))
		return sim_fail(e, SIM_EINVAL,
		    "row %zu took path %u, but its set %u has %u to %u.", i,
		    r->path, r->set, p->first[r->set],
		    p->first[r->set + 1] - 1);
	return 0;
}

static int tally_check_counts(const struct obs_tally *r, size_t i,
    size_t n_flows, struct sim_err *e)
{
	if (r->n_sent == 0 || r->n_lost > r->n_sent)
		return sim_fail(e, SIM_EINVAL,
		    "row %zu: %u of %u packets were lost; a flow sends one at "
		    "least and loses no more than it sends.",
		    i, r->n_lost, r->n_sent);
	if (r->flow != UINT32_MAX && r->flow >= n_flows)
		return sim_fail(e, SIM_EINVAL,
		    "row %zu is of flow %u, but there are only %zu.", i,
		    r->flow, n_flows);
	return 0;
}

int obs_tallies_check(const struct obs_tallies *t, uint32_t n_links,
    size_t n_flows, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		const struct obs_tally r = obs_tallies_at(t, i);
		if ((rc = tally_check_cable("up", r.up, i, n_links, e)) == 0 &&
		    (rc = tally_check_cable("down", r.down, i, n_links, e)) ==
			0 &&
		    (rc = tally_check_way(t->paths, &r, i, e)) == 0)
			rc = tally_check_counts(&r, i, n_flows, e);
	}
	return rc;
}
