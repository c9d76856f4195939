/* experiments/telemetry/flock_holes.c -- black holes of Flock's traces, written.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/telemetry/flock_text.h"
#include "sim/text.h"
#include "topo/addr.h"

struct fhole_out {
	const struct xp_flock *x;
	struct xp_flock_ids ids;
	struct xp_flock_file *file;
	struct obs_paths paths;
};

static int fhole_put(struct fhole_out *o, const struct xp_flock_hole *h,
    struct sim_err *e)
{
	char line[128], rate[32];
	const int n = snprintf(line, sizeof(line),
	    "Failing_component %u %u %u %s\n", o->ids.id[h->src],
	    o->ids.id[h->dst], o->ids.id[o->x->topo.n_hosts + h->at],
	    sim_format_f64(rate, h->rate));

	return xp_flock_put(o->file, line, (size_t)n, e);
}

/* 1 if a path of SET, or one of its ends, is AT. */
static int fhole_is_on(const struct fhole_out *o, uint32_t set, topo_switch at)
{
	const struct obs_paths *p = &o->paths;
	const topo_node node = o->x->topo.n_hosts + at;
	if (p->from[set] == at || p->to[set] == at)
		return 1;
	for (uint32_t k = p->off[p->first[set]]; k < p->off[p->first[set + 1]];
	     k++) {
		topo_node from, to;
		topo_link_ends(&o->x->topo, p->link[k], &from, &to);
		if (to == node)
			return 1;
	}
	return 0;
}

/* The packets that a rule takes, of one host to another whose way may be by the
 * switch. */
static int fhole_pair(struct fhole_out *o, const struct truth_hole *h,
    topo_host src, topo_host dst, struct sim_err *e)
{
	const struct topo *t = &o->x->topo;
	const struct topo_tuple tuple = {.src_ip = topo_addr_of_host(src),
	    .dst_ip = topo_addr_of_host(dst)};
	const struct xp_flock_hole one = {src, dst, h->at, 1};
	uint32_t set;
	if (src == dst || !blackhole_rule_drops(&h->rule, &tuple))
		return 0;
	const int rc = obs_paths_between(&o->paths, t, topo_tor_of(t, src),
	    topo_tor_of(t, dst), &set, e);
	return rc < 0 || !fhole_is_on(o, set, h->at) ? rc
						     : fhole_put(o, &one, e);
}

static int fhole_rule(struct fhole_out *o, const struct truth_hole *h,
    struct sim_err *e)
{
	const uint32_t n_hosts = o->x->topo.n_hosts;
	int rc = 0;
	for (topo_host src = 0; rc == 0 && src < n_hosts; src++)
		for (topo_host dst = 0; rc == 0 && dst < n_hosts; dst++)
			rc = fhole_pair(o, h, src, dst, e);
	return rc;
}

/* Looked at before there is a file. */
static int fhole_fits(const struct xp_flock *x, struct sim_err *e)
{
	if (x->n_holes + x->truth.n_holes == 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "there are no black holes to be written.");
	for (size_t i = 0; i < x->truth.n_holes; i++)
		if (x->truth.hole[i].rule.type != BLACKHOLE_RULE_PAIR)
			return sim_fail(e, SIM_EUNSUPPORTED,
			    "black hole %zu takes packets by their ports, of "
			    "which a trace's file has none; those of type 1 "
			    "go by hosts alone.",
			    i);
	return 0;
}

int xp_flock_write_fails(const struct xp_flock *x, const char *path,
    struct sim_err *e)
{
	struct fhole_out o = {.x = x};
	int rc;
	if ((rc = fhole_fits(x, e)) == 0 &&
	    (rc = xp_flock_ids_init(&o.ids, &x->topo, e)) == 0)
		rc = xp_flock_open(&o.file, path, 1, e);
	for (size_t i = 0; rc == 0 && i < x->n_holes; i++)
		rc = fhole_put(&o, &x->hole[i], e);
	for (size_t i = 0; rc == 0 && i < x->truth.n_holes; i++)
		rc = fhole_rule(&o, &x->truth.hole[i], e);
	rc = xp_flock_close(o.file, rc, e);
	xp_flock_ids_free(&o.ids);
	obs_paths_free(&o.paths);
	return rc;
}
