/* experiments/epoch/convert.c -- epochs as Flock's text traces, and back.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/epoch/convert.h"

#include "results/epoch.h"

static int convert_flows(struct res_epoch_out *w, const struct obs *o,
    struct sim_err *e)
{
	static const uint32_t no_drops[TOPO_MAX_HOPS];
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < o->flows.n; i++) {
		const struct res_epoch_row row = {
		    .seen = obs_flows_at(&o->flows, i),
		    .in_window = 1,
		    .n_hops = obs_n_hops(o, i),
		    .seen_link = obs_path(o, i),
		    .n_retx = o->flows.n_retx[i],
		    .link = obs_path(o, i),
		    .drops = no_drops,
		    .culprit = {TOPO_NONE, TOPO_NONE, TOPO_NONE, TOPO_NONE},
		};
		rc = res_epoch_add(w, &row, e);
	}
	return rc;
}

int xp_convert_to_epoch(const struct xp_flock *x, const char *path,
    struct sim_err *e)
{
	const struct res_epoch_info info = {.n_flows = x->window.n_flows,
	    .n_packets = x->window.n_packets};
	struct res_epoch_out *w;
	int rc = res_epoch_create(&w, path, &x->topo, &x->truth, e);
	if (rc < 0)
		return rc;
	if ((rc = convert_flows(w, &x->window, e)) < 0 ||
	    (rc = res_epoch_add_tallies(w, &x->rows, e)) < 0) {
		res_epoch_discard(w);
		return rc;
	}
	return res_epoch_finish(w, &info, e);
}

int xp_convert_to_trace(const char *path, int any, const char *edges,
    const char *trace, const char *fails, struct xp_converted *out,
    struct sim_err *e)
{
	struct res_epoch x;
	int rc = res_epoch_open(&x, path, any, e);
	if (rc < 0)
		return rc;
	if (x.info.telemetry == 0)
		rc = sim_fail(e, SIM_EUNSUPPORTED,
		    "%s has no flows as sums of packets (/tallies); those of "
		    "plane telemetry have.",
		    path);
	if (rc == 0 && (rc = res_epoch_window(&x, 0, e)) == 0) {
		const struct xp_flock f = {.topo = x.topo,
		    .rows = x.tallies,
		    .truth = x.truth};
		*out = (struct xp_converted){f.rows.n, x.paths.n,
		    f.topo.n_hosts, f.topo.n_switches};
		if ((!fails ||
			(rc = xp_flock_write_fails(&f, fails, e)) == 0) &&
		    (rc = xp_flock_write(&f, trace, e)) == 0)
			rc = xp_flock_topo_write(&f.topo, edges, e);
	}
	res_epoch_free(&x);
	return rc;
}
