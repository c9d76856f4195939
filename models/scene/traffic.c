/* models/scene/traffic.c -- who talks to whom, how often and how much.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/scene/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "models/dist.h"
#include "sim/vec.h"

static const char *const dst_names[] = {"uniform", "skewed", NULL};

const struct sim_field scene_traffic_fields[] = {
    {"conns", SIM_F_DIST, offsetof(struct scene_traffic_params, conns),
	.min = 0, .max = 1e6, .whole = 1, .unit = "connections", .def = "60",
	.doc = "connections a host opens in an epoch"},
    {"packets", SIM_F_DIST, offsetof(struct scene_traffic_params, packets),
	.min = 1, .max = 1e9, .whole = 1, .unit = "packets",
	.def = "{uniform: [1, 100]}", .doc = "packets of a connection"},
    {"dst", SIM_F_ENUM, offsetof(struct scene_traffic_params, dst),
	.names = dst_names, .def = "uniform",
	.doc = "all other ToRs alike, or some hot ToRs more"},
    {"n_hot", SIM_F_U32, offsetof(struct scene_traffic_params, n_hot), .min = 1,
	.max = 1e6, .unit = "ToRs", .def = "1",
	.doc = "hot ToRs, drawn per run (skewed)", .when = "dst=skewed"},
    {"hot_share", SIM_F_F64, offsetof(struct scene_traffic_params, hot_share),
	.min = 0, .max = 1, .unit = "1", .def = "0.5",
	.doc = "share of flows that go to hot ToRs (skewed)",
	.when = "dst=skewed"},
    {"epoch", SIM_F_F64, offsetof(struct scene_traffic_params, epoch_s),
	.min = 1e-3, .max = 1e6, .unit = "s", .def = "30",
	.doc = "length of an epoch"},
    {0},
};

const struct sim_part scene_traffic_parts[] = {
    {"", scene_traffic_fields, .offset = 0},
    {"tcp", scene_tcp_fields,
	.offset = offsetof(struct scene_traffic_params, tcp)},
    {0},
};

/* List the hosts of a mesh by ToR, with a counting sort. In a Clos they are
 * numbered by ToR anyway, so neither list is needed. */
static int list_hosts(struct scene_traffic *tr, struct sim_err *e)
{
	const struct topo *t = tr->topo;
	int rc;
	if ((rc = SIM_ZALLOC(&tr->host_off, t->n_switches + 2u, e)) < 0 ||
	    (rc = SIM_ZALLOC(&tr->hosts, t->n_hosts, e)) < 0)
		return rc;
	uint32_t *off = tr->host_off + 1; /* off[s] ends as the end of s */
	for (topo_host h = 0; h < t->n_hosts; h++)
		off[topo_tor_of(t, h) + 1]++;
	for (topo_switch s = 0; s < t->n_switches; s++)
		off[s + 1] += off[s];
	for (topo_host h = 0; h < t->n_hosts; h++)
		tr->hosts[off[topo_tor_of(t, h)]++] = h;
	return 0;
}

uint32_t scene_traffic_n_hosts(const struct scene_traffic *tr, topo_switch s)
{
	return tr->hosts ? tr->host_off[s + 1] - tr->host_off[s]
			 : tr->topo->clos.n_hosts;
}

/* List the switches that have hosts, and make room for the index of each. */
static int scene_traffic_list_tors(struct scene_traffic *tr, struct sim_err *e)
{
	const struct topo *t = tr->topo;
	int rc;
	if ((rc = SIM_ZALLOC(&tr->tor, t->n_switches, e)) < 0 ||
	    (rc = SIM_ZALLOC(&tr->place, t->n_switches, e)) < 0)
		return rc;
	tr->n_tors = 0;
	for (topo_switch s = 0; s < t->n_switches; s++)
		if (topo_is_clos(t) ? s < t->clos.all_tors
				    : scene_traffic_n_hosts(tr, s) > 0)
			tr->tor[tr->n_tors++] = s;
	return 0;
}

/* The hot ToRs are drawn by the first n_hot steps of a Fisher-Yates shuffle:
 * they then stand first. place[] is the list's inverse. */
static void draw_hot(struct scene_traffic *tr, struct sim_rng *r)
{
	for (uint32_t i = 0; i < tr->n_hot; i++) {
		uint32_t j = i + sim_rng_below(r, tr->n_tors - i);
		topo_switch swap = tr->tor[i];
		tr->tor[i] = tr->tor[j];
		tr->tor[j] = swap;
	}
	for (uint32_t i = 0; i < tr->n_tors; i++)
		tr->place[tr->tor[i]] = i;
}

static void forget_tors(struct scene_traffic *tr)
{
	free(tr->tor);
	free(tr->place);
	free(tr->host_off);
	free(tr->hosts);
	tr->tor = tr->place = tr->host_off = tr->hosts = NULL;
}

static int draw_tors(struct scene_traffic *tr, struct sim_rng *r,
    struct sim_err *e)
{
	/* A Clos with uniform traffic needs no lists: its ToRs have the ids
	 * from 0 on. */
	const int skewed = tr->params.dst == SCENE_DST_SKEWED;
	const int clos = topo_is_clos(tr->topo);
	int rc;
	forget_tors(tr);
	tr->n_hot = 0;
	tr->n_tors = clos ? tr->topo->clos.all_tors : 0;
	if (!clos && (rc = list_hosts(tr, e)) < 0)
		return rc;
	if ((skewed || !clos) && (rc = scene_traffic_list_tors(tr, e)) < 0)
		return rc;
	if (tr->n_tors < 2)
		return sim_fail(e, SIM_EINVAL,
		    "traffic needs hosts under at least 2 ToRs; there is 1.");
	if (skewed) {
		/* Some ToR must not be hot, or there is nobody to send the
		 * other share to. */
		if (tr->params.n_hot >= tr->n_tors)
			return sim_fail(e, SIM_EINVAL,
			    "n_hot %u is not below the number of ToRs, %u.",
			    tr->params.n_hot, tr->n_tors);
		tr->n_hot = tr->params.n_hot;
	}
	if (tr->tor)
		draw_hot(tr, r);
	return 0;
}

static int draw_conns(struct scene_traffic *tr, struct sim_rng *r,
    struct sim_err *e)
{
	const uint32_t n = tr->topo->n_hosts;
	const struct sim_dist *d = &tr->params.conns;
	int rc;
	/* With equally many connections a host, sources are found by division,
	 * and no array of a word a host is needed; `first` being NULL says
	 * so. */
	if (d->kind == SIM_FIXED) {
		free(tr->first);
		tr->first = NULL;
		tr->cap_first = 0;
		tr->conns = (uint32_t)d->a;
		tr->n_flows = (uint64_t)n * tr->conns;
	} else {
		rc = SIM_RESERVE(&tr->first, &tr->cap_first, n + 1ul, e);
		if (rc < 0)
			return rc;
		uint64_t sum = 0;
		for (topo_host h = 0; h < n; h++) {
			tr->first[h] = sum;
			sum += dist_whole(d, r);
		}
		tr->n_flows = tr->first[n] = sum;
	}
	/* Counters of random numbers have 32 bits for the flow. */
	if (tr->n_flows > UINT32_MAX)
		return sim_fail(e, SIM_ELIMIT,
		    "%llu flows in an epoch; at most 4294967295 are possible.",
		    (unsigned long long)tr->n_flows);
	return 0;
}

int scene_traffic_draw(struct scene_traffic *tr, const struct topo *topo,
    const struct scene_traffic_params *params, const struct sim_seed *where,
    struct sim_err *e)
{
	struct sim_rng r;
	int rc;
	if (params->conns.kind == SIM_LOG_UNIFORM ||
	    params->packets.kind == SIM_LOG_UNIFORM)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "conns and packets are a number or {uniform: [a, b]}.");
	if ((rc = scene_tcp_check(&params->tcp, params->packets.b, e)) < 0)
		return rc;
	tr->topo = topo;
	tr->params = *params;
	tr->epoch_ns = (sim_ns)(params->epoch_s * (double)SIM_SEC);
	sim_rng_init(&r, where, SIM_STREAM_TRAFFIC, 0);
	if ((rc = draw_tors(tr, &r, e)) < 0)
		return rc;
	/* Another stream, so that the number of hot ToRs does not change how
	 * many connections hosts open. */
	sim_rng_init(&r, where, SIM_STREAM_TRAFFIC, 1);
	return draw_conns(tr, &r, e);
}

void scene_traffic_free(struct scene_traffic *tr)
{
	forget_tors(tr);
	free(tr->first);
	*tr = (struct scene_traffic){0};
}

topo_host scene_traffic_src(const struct scene_traffic *tr, uint64_t flow)
{
	if (!tr->first)
		return (topo_host)(flow / tr->conns);
	/* The last host whose first flow is not after this one. */
	uint32_t lo = 0, hi = tr->topo->n_hosts - 1;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo + 1) / 2;
		if (tr->first[mid] <= flow)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

topo_host scene_traffic_host(const struct scene_traffic *tr, topo_switch tor,
    uint32_t word)
{
	const uint64_t rank =
	    (uint64_t)word * scene_traffic_n_hosts(tr, tor) >> 32;
	return tr->hosts ? tr->hosts[tr->host_off[tor] + rank]
			 : tor * tr->topo->clos.n_hosts + (uint32_t)rank;
}

topo_host scene_traffic_dst(const struct scene_traffic *tr, topo_host src,
    uint32_t word, uint32_t coin)
{
	const topo_switch own_tor = topo_tor_of(tr->topo, src);
	const uint32_t own = tr->place ? tr->place[own_tor] : own_tor;
	uint32_t rest;
	const uint32_t place =
	    scene_aim_place(scene_traffic_aim(tr), own, word, coin, &rest);
	return scene_traffic_host(tr, tr->tor ? tr->tor[place] : place, rest);
}
