/* results/epoch_tallies.c -- flows as sums and their paths, of an epoch's file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>

#include "results/epoch.h"
#include "results/epoch_parts.h"

/* What the tables say, before it is put together. */
struct epoch_ways {
	struct res_epoch_sets set;
	struct res_epoch_paths path;
	struct res_epoch_path_links link;
	size_t at_path, at_link; /* how many were taken */
};

static int epoch_get_way(struct res_epoch *x, struct epoch_ways *w,
    struct sim_err *e)
{
	const size_t i = w->at_path++;
	const uint32_t n = w->path.n_links[i];
	if (n > TOPO_MAX_HOPS - 2)
		return sim_fail(e, SIM_EPARSE,
		    "paths: row %zu has %u links between switches; there may "
		    "be %d.",
		    i, n, TOPO_MAX_HOPS - 2);
	if (n > w->link.n - w->at_link)
		return sim_fail(e, SIM_EMISMATCH,
		    "paths: row %zu has links %zu to %zu of path_links, which "
		    "has %zu.",
		    i, w->at_link, w->at_link + n, w->link.n);
	const topo_link *link = n ? w->link.link + w->at_link : NULL;
	w->at_link += n;
	return obs_paths_add(&x->paths, link, n, e);
}

static int epoch_get_set(struct res_epoch *x, struct epoch_ways *w, size_t i,
    struct sim_err *e)
{
	const struct res_epoch_set s = res_epoch_sets_at(&w->set, i);
	if (s.from_switch >= x->topo.n_switches ||
	    s.to_switch >= x->topo.n_switches)
		return sim_fail(e, SIM_EPARSE,
		    "sets: row %zu is from switch %u to switch %u, but there "
		    "are only %u.",
		    i, s.from_switch, s.to_switch, x->topo.n_switches);
	if (obs_paths_find(&x->paths, s.from_switch, s.to_switch) !=
	    OBS_NO_PATH)
		return sim_fail(e, SIM_EPARSE,
		    "sets: row %zu is the second from switch %u to switch %u.",
		    i, s.from_switch, s.to_switch);
	if (s.n_paths == 0 || s.n_paths > w->path.n - w->at_path)
		return sim_fail(e, SIM_EMISMATCH,
		    "sets: row %zu has %u paths, of %zu that are left; it has "
		    "one at least.",
		    i, s.n_paths, w->path.n - w->at_path);
	int rc = obs_paths_open(&x->paths, s.from_switch, s.to_switch, e);
	for (uint32_t k = 0; rc == 0 && k < s.n_paths; k++)
		rc = epoch_get_way(x, w, e);
	return rc;
}

static int epoch_get_ways(struct res_epoch *x, struct epoch_ways *w,
    struct sim_err *e)
{
	struct res_epoch_reader *r = x->reader;
	int rc;
	if ((rc = res_epoch_rows(r, RES_EPOCH_SETS, res_epoch_sets_kind(),
		 &w->set, e)) < 0 ||
	    (rc = res_epoch_rows(r, RES_EPOCH_PATHS, res_epoch_paths_kind(),
		 &w->path, e)) < 0 ||
	    (rc = res_epoch_rows(r, RES_EPOCH_PATH_LINKS,
		 res_epoch_path_links_kind(), &w->link, e)) < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < w->set.n; i++)
		rc = epoch_get_set(x, w, i, e);
	if (rc == 0 && (w->at_path < w->path.n || w->at_link < w->link.n))
		rc = sim_fail(e, SIM_EMISMATCH,
		    "paths: %zu of %zu are of a set, and %zu of %zu links of a "
		    "path.",
		    w->at_path, w->path.n, w->at_link, w->link.n);
	return rc;
}

int res_epoch_get_tallies(struct res_epoch *x, struct sim_err *e)
{
	struct res_epoch_reader *r = x->reader;
	struct epoch_ways w = {0};
	int rc =
	    res_h5_in_has(r->file, res_epoch_tables[RES_EPOCH_TALLIES].name, e);
	if (rc < 0)
		return rc;
	if (rc == 0)
		return x->info.telemetry == 0
		    ? 0
		    : sim_fail(e, SIM_EMISMATCH,
			  "attribute telemetry needs /tallies.");
	if (x->info.telemetry == 0 ||
	    x->info.telemetry >= 1u << OBS_N_TELEMETRIES)
		return sim_fail(e, SIM_EPARSE,
		    "attribute telemetry is %" PRIu32
		    ", which is not in [1, %u].",
		    x->info.telemetry, (1u << OBS_N_TELEMETRIES) - 1);
	obs_paths_clear(&x->paths);
	obs_tallies_clear(&x->tallies);
	if ((rc = epoch_get_ways(x, &w, e)) == 0 &&
	    (rc = res_epoch_rows(r, RES_EPOCH_TALLIES, obs_tallies_kind(),
		 &x->tallies, e)) == 0) {
		x->tallies.paths = &x->paths;
		x->tallies.telemetry = x->info.telemetry;
		x->window.tallies = &x->tallies;
		if ((rc = obs_paths_check(&x->paths, x->topo.n_links, e)) < 0 ||
		    (rc = obs_tallies_check(&x->tallies, x->topo.n_links,
			 x->window.flows.n, e)) < 0)
			rc = sim_wrap(e, SIM_EPARSE, "tallies");
	}
	res_epoch_sets_free(&w.set);
	res_epoch_paths_free(&w.path);
	res_epoch_path_links_free(&w.link);
	return rc;
}
