/* models/telemetry/sets.c -- equal paths between racks, and of probes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/telemetry/sets.h"

#include <string.h>

/* Paths of a network that are worth having all. */
enum { TELEMETRY_SETS_ALL = 1 << 20 };

void telemetry_sets_forget(const struct telemetry_sets *x)
{
	obs_paths_clear(x->paths);
	*x->has_all = 0;
}

static int telemetry_rack_begins(const struct topo *topo, topo_host h)
{
	return h == 0 || topo_tor_of(topo, h) != topo_tor_of(topo, h - 1);
}

int telemetry_sets_all(const struct telemetry_sets *x, struct sim_err *e)
{
	const struct topo *topo = x->topo;
	int rc = 0;
	uint32_t set;
	if (*x->has_all)
		return 0;
	obs_paths_clear(x->paths);
	for (topo_host a = 0; rc == 0 && !*x->too_many && a < topo->n_hosts;
	     a++) {
		if (!telemetry_rack_begins(topo, a))
			continue;
		for (topo_host b = 0; rc == 0 && b < topo->n_hosts; b++)
			if (telemetry_rack_begins(topo, b))
				rc = obs_paths_between(x->paths, topo,
				    topo_tor_of(topo, a), topo_tor_of(topo, b),
				    &set, e);
		*x->too_many = x->paths->n > TELEMETRY_SETS_ALL;
	}
	*x->has_all = rc == 0 && !*x->too_many;
	if (*x->too_many)
		obs_paths_clear(x->paths);
	return rc;
}

uint32_t telemetry_sets_find(const struct obs_paths *p, uint32_t set,
    const topo_link link[], unsigned n)
{
	for (uint32_t i = p->first[set]; i < p->first[set + 1]; i++)
		if (obs_path_length(p, i) == n &&
		    (n == 0 ||
			memcmp(p->link + p->off[i], link, n * sizeof(*link)) ==
			    0))
			return i;
	return OBS_NO_PATH;
}

/* --- there and back ---------------------------------------------------------- */

/* Add the K-th way of set UP of the legs, followed by the K-th of DOWN. */
static int telemetry_add_trip(const struct telemetry_sets *x, uint32_t up,
    uint32_t down, uint32_t k, struct sim_err *e)
{
	const struct obs_paths *legs = x->legs;
	const uint32_t a = legs->first[up] + k % obs_set_size(legs, up),
		       b = legs->first[down] + k % obs_set_size(legs, down);
	const unsigned n = obs_path_length(legs, a),
		       m = obs_path_length(legs, b);
	topo_link way[TOPO_MAX_HOPS];
	if (n + m + 2 > TOPO_MAX_HOPS)
		return sim_fail(e, SIM_ELIMIT,
		    "a probe that comes back crosses %u links, but ways have "
		    "%d at most.",
		    n + m + 2, TOPO_MAX_HOPS);
	/* Of legs that are all without links there is no table of these. */
	for (unsigned i = 0; i < n; i++)
		way[i] = legs->link[legs->off[a] + i];
	for (unsigned i = 0; i < m; i++)
		way[n + i] = legs->link[legs->off[b] + i];
	return obs_paths_add(x->paths, way, n + m, e);
}

int telemetry_sets_trips(const struct telemetry_sets *x, topo_switch tor,
    topo_switch s, uint32_t *set, struct sim_err *e)
{
	uint32_t up, down;
	int rc;
	*set = obs_paths_find(x->paths, tor, s);
	if (*set != OBS_NO_PATH)
		return 0;
	if ((rc = obs_paths_between(x->legs, x->topo, tor, s, &up, e)) < 0 ||
	    (rc = obs_paths_between(x->legs, x->topo, s, tor, &down, e)) < 0 ||
	    (rc = obs_paths_open(x->paths, tor, s, e)) < 0)
		return rc;
	*set = (uint32_t)x->paths->n_sets - 1;
	const uint32_t n_up = obs_set_size(x->legs, up),
		       n_down = obs_set_size(x->legs, down);
	for (uint32_t k = 0; rc == 0 && (k < n_up || k < n_down); k++)
		rc = telemetry_add_trip(x, up, down, k, e);
	/* Half a set must not be found later. */
	if (rc < 0)
		telemetry_sets_forget(x);
	return rc;
}
