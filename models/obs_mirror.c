/* models/obs_mirror.c -- the table of mirrored copies: checking.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/obs_mirror.h"

#include <inttypes.h>

#include "topo/addr.h"

static int obs_copy_check(const struct obs_copy *c, size_t i,
    uint32_t n_switches, uint32_t n_links, struct sim_err *e)
{
	if (c->node >= n_switches)
		return sim_fail(e, SIM_EINVAL,
		    "row %zu is of switch %u, but there are only %u.", i,
		    c->node, n_switches);
	if (c->in_link >= n_links && c->in_link != TOPO_NONE)
		return sim_fail(e, SIM_EINVAL,
		    "row %zu came by link %u, but there are only %u, and "
		    "4294967295 is unknown.",
		    i, c->in_link, n_links);
	if (c->kind >= OBS_N_COPY_KINDS)
		return sim_fail(e, SIM_EINVAL,
		    "row %zu has kind %u, which is not in [0, %d].", i, c->kind,
		    OBS_N_COPY_KINDS - 1);
	if (c->layer > OBS_MAX_OUTER)
		return sim_fail(e, SIM_EINVAL,
		    "row %zu has %u outer headers, which is not in [0, %d].", i,
		    c->layer, OBS_MAX_OUTER);
	if (c->layer == 0 && (c->outer_src != 0 || c->outer_dst != 0)) {
		char src[16], dst[16];
		topo_addr_format(c->outer_src, src);
		topo_addr_format(c->outer_dst, dst);
		return sim_fail(e, SIM_EINVAL,
		    "row %zu has no outer header, yet the outer addresses %s "
		    "and %s.",
		    i, src, dst);
	}
	return 0;
}

int obs_mirror_check(const struct obs_mirror *t, uint32_t n_switches,
    uint32_t n_links, struct sim_err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_copy c = obs_mirror_at(t, i);
		const int rc = obs_copy_check(&c, i, n_switches, n_links, e);
		if (rc < 0)
			return rc;
		if (i > 0 && c.t_ns < t->t_ns[i - 1])
			return sim_fail(e, SIM_EINVAL,
			    "row %zu came at %" PRIu64
			    " ns, before row %zu at %" PRIu64 " ns.",
			    i, c.t_ns, i - 1, t->t_ns[i - 1]);
	}
	return 0;
}
