/* algos/pingmesh/silent_drop.c -- which tier drops at random: by pairs of pods.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/silent_drop.h"

#include <stdlib.h>
#include <string.h>

#include "sim/sort.h"
#include "sim/stat.h"
#include "sim/vec.h"
#include "topo/addr.h"

const struct sim_field algo_silent_drop_fields[] =
    {{.name = "normal_rate",
	 .type = SIM_F_F64,
	 .offset = offsetof(struct algo_silent_drop_params, normal_rate),
	 .min = 0,
	 .max = 1,
	 .unit = "1",
	 .def = "1e-4",
	 .doc = "drop rate up to which nothing is wrong"},
	{.name = "conf",
	    .type = SIM_F_F64,
	    .offset = offsetof(struct algo_silent_drop_params, conf),
	    .min = 0.5,
	    .max = 0.999999999,
	    .unit = "1",
	    .def = "0.9999",
	    .doc = "confidence of the interval of a cell's drop rate"},
	{.name = "min_share",
	    .type = SIM_F_F64,
	    .offset = offsetof(struct algo_silent_drop_params, min_share),
	    .min = 1e-6,
	    .max = 1,
	    .unit = "1",
	    .def = "0.5",
	    .doc = "share of pairs that must suffer for a common cause"},
	{0}};

void algo_silent_drop_close(struct algo_silent_drop *s)
{
	free(s->at_fault);
	free(s->cell);
	*s = (struct algo_silent_drop){0};
}

int algo_silent_drop_open(struct algo_silent_drop *s, const struct topo_dc *dc,
    const struct algo_silent_drop_params *params, struct sim_err *e)
{
	const size_t n = dc->clos.n_pods;
	int rc;
	*s = (struct algo_silent_drop){.params = *params,
	    .dc = *dc,
	    .n_cells = n * (n + 1) / 2};
	if ((rc = SIM_ZALLOC(&s->at_fault, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&s->cell, s->n_cells, e)) < 0)
		algo_silent_drop_close(s);
	return rc;
}

/* --- counting, while cells stand in the order of their pods ----------------*/
/* The pairs of pods as a lower triangle: until they are sorted, pods a <= b
 * have cell b (b + 1) / 2 + a, by which algo_silent_drop_count() finds it. */
void algo_silent_drop_clear(struct algo_silent_drop *s)
{
	struct algo_silent_drop_cell *c = s->cell;
	for (uint32_t b = 0; b < s->dc.clos.n_pods; b++)
		for (uint32_t a = 0; a <= b; a++)
			*c++ =
			    (struct algo_silent_drop_cell){.pod = a, .pod2 = b};
}

void algo_silent_drop_count(struct algo_silent_drop *s, uint32_t from,
    uint32_t to, uint64_t n_success, uint64_t n_drop)
{
	const size_t low = from < to ? from : to;
	const size_t high = from < to ? to : from;
	struct algo_silent_drop_cell *c = &s->cell[high * (high + 1) / 2 + low];
	c->n_success += n_success;
	c->n_drop += n_drop;
}

void algo_silent_drop_count_probes(struct algo_silent_drop *s,
    const struct obs_probes *t, const struct algo_drop_ladder *ladder)
{
	const uint32_t n_tors = s->dc.clos.n_tors;
	for (size_t i = 0; i < t->n; i++) {
		if (t->outcome[i] != OBS_CONNECTED ||
		    t->level[i] == OBS_LEVEL_INTER_DC)
			continue;
		const uint32_t from = topo_dc_tor_index(&s->dc, t->src_host[i]);
		const uint32_t to = topo_dc_tor_index(&s->dc, t->dst_host[i]);
		/* Under one ToR a probe crosses none of the tiers that are told
		 * apart here. */
		if (from == to)
			continue;
		algo_silent_drop_count(s, from / n_tors, to / n_tors, 1,
		    algo_drop_n_lost(ladder, t->rtt_ns[i]) > 0);
	}
}

static int worst_first(const void *a, const void *b)
{
	const struct algo_silent_drop_cell *p = a, *q = b;
	if (p->lo != q->lo)
		return SIM_ORDER(q->lo, p->lo);
	if (p->pod != q->pod)
		return SIM_ORDER(p->pod, q->pod);
	return SIM_ORDER(p->pod2, q->pod2);
}

/* --- judging ---------------------------------------------------------------*/
/* Pairs of pods, and those of them that suffer. */
struct share {
	size_t n, n_suffer;
};

/* Whether a cause that all these pairs share explains what is seen. */
static int is_common(const struct algo_silent_drop *s, const struct share *of)
{
	return of->n > 0 &&
	    (double)of->n_suffer >= s->params.min_share * (double)of->n;
}

/* Pairs of pods of which neither is at fault; of pod ONLY, or of all
 * (TOPO_NONE). Only a 1 counts as at fault: pods that silent_drop_judge() has
 * just marked 2 do not yet. */
static struct share pairs_left(const struct algo_silent_drop *s, uint32_t only)
{
	struct share n = {0};
	for (size_t i = 0; i < s->n_cells; i++) {
		const struct algo_silent_drop_cell *c = &s->cell[i];
		if (c->pod == c->pod2 || s->at_fault[c->pod] == 1 ||
		    s->at_fault[c->pod2] == 1 ||
		    (only != TOPO_NONE && c->pod != only && c->pod2 != only))
			continue;
		n.n++;
		n.n_suffer += c->suffers;
	}
	return n;
}

/* Section 5.2 reasoned for one incident: drop rates rose for many pairs of
 * podsets and not within them, and only the spine layer is crossed by all those
 * pairs. DEPARTS: the numbered rules of the header put that into figures and
 * add pods. */
static enum algo_silent_drop_tier silent_drop_judge(struct algo_silent_drop *s)
{
	size_t n_faults = 0;
	memset(s->at_fault, 0, s->dc.clos.n_pods);
	for (size_t i = 0; i < s->n_cells; i++)
		if (s->cell[i].pod == s->cell[i].pod2 && s->cell[i].suffers) {
			s->at_fault[s->cell[i].pod] = 1;
			n_faults++;
		}
	/* Rule 2. Pairs of pods at fault are left out: they suffer for a reason
	 * that is known. */
	const struct share all = pairs_left(s, TOPO_NONE);
	if (is_common(s, &all))
		return ALGO_SILENT_DROP_SPINE;
	/* Rule 3. A pod found now is marked 2, which pairs_left() does not see,
	 * so the order of pods does not matter. */
	for (uint32_t p = 0; p < s->dc.clos.n_pods; p++) {
		const struct share own = pairs_left(s, p);
		if (is_common(s, &own)) {
			s->at_fault[p] = 2;
			n_faults++;
		}
	}
	for (uint32_t p = 0; p < s->dc.clos.n_pods; p++)
		s->at_fault[p] = s->at_fault[p] != 0;
	if (n_faults > 0)
		return ALGO_SILENT_DROP_POD;
	return all.n_suffer > 0 ? ALGO_SILENT_DROP_UNCLEAR
				: ALGO_SILENT_DROP_NONE;
}

int algo_silent_drop_judge(struct algo_silent_drop *s, struct sim_err *e)
{
	for (size_t i = 0; i < s->n_cells; i++) {
		struct algo_silent_drop_cell *c = &s->cell[i];
		const int rc = sim_binomial_interval(c->n_drop, c->n_success,
		    s->params.conf, &c->lo, &c->hi, e);
		if (rc < 0)
			return sim_wrap(e, rc, "drop rate of pods %u and %u",
			    c->pod, c->pod2);
		/* The lower end decides: a cell suffers when chance alone would
		 * hardly raise a normal rate so far. */
		c->suffers = c->lo > s->params.normal_rate;
	}
	/* From here on a cell's place no longer follows from its pods. */
	qsort(s->cell, s->n_cells, sizeof(*s->cell), worst_first);
	s->tier = silent_drop_judge(s);
	return 0;
}

int algo_silent_drop_find(struct algo_silent_drop *s,
    const struct obs_probe_source *t, const struct algo_drop_ladder *ladder,
    struct sim_err *e)
{
	const struct obs_probes *piece;
	size_t at = 0;
	int rc;
	algo_silent_drop_clear(s);
	while ((rc = obs_probes_next(t, &at, NULL, &piece, e)) > 0) {
		rc = obs_probes_check(piece, s->dc.first_host,
		    s->dc.clos.all_hosts, e);
		if (rc < 0)
			return rc;
		algo_silent_drop_count_probes(s, piece, ladder);
	}
	return rc < 0 ? rc : algo_silent_drop_judge(s, e);
}

/* --- whom to trace ---------------------------------------------------------*/
/* Few targets are made, so looking through them is as good as a table. */
static int sends(const struct algo_hop_trace_target out[], size_t n,
    topo_host h)
{
	for (size_t i = 0; i < n; i++)
		if (out[i].src == h)
			return 1;
	return 0;
}

/* A server of TOR, random but for those that send already, or TOPO_NONE. */
static topo_host pick_server(const struct algo_silent_drop *s, uint32_t tor,
    const struct algo_hop_trace_target out[], size_t n, struct sim_rng *tie)
{
	const uint32_t n_hosts = s->dc.clos.n_hosts;
	const uint32_t first = sim_rng_below(tie, n_hosts);
	for (uint32_t i = 0; i < n_hosts; i++) {
		const topo_host h =
		    s->dc.first_host + tor * n_hosts + (first + i) % n_hosts;
		if (!sends(out, n, h))
			return h;
	}
	return TOPO_NONE;
}

/* Section 5.2: the pairs that lost most were traced, over many ports. Here they
 * are traced both ways, because a switch is judged by the probes that go beyond
 * it, so a trace says nothing of the switch where it ends. ToRs and servers are
 * random, so that no fault is out of reach by its number. */
static size_t add_cell(const struct algo_silent_drop *s,
    const struct algo_silent_drop_cell *c,
    const struct algo_silent_drop_tracing *p, struct sim_rng *tie,
    struct algo_hop_trace_target out[], size_t n)
{
	const uint32_t n_tors = s->dc.clos.n_tors;
	const uint32_t a = sim_rng_below(tie, n_tors);
	/* Within a pod N_TORS - 1 steps round it, never to where it began. */
	const uint32_t same = c->pod == c->pod2;
	const uint32_t b = sim_rng_below(tie, n_tors - same) + same;
	for (uint32_t i = 0; i < p->n_pairs; i++) {
		const uint32_t low = (a + i) % n_tors;
		const uint32_t high = (same ? low + b : b + i) % n_tors;
		const topo_host h =
		    pick_server(s, c->pod * n_tors + low, out, n, tie);
		const topo_host g =
		    pick_server(s, c->pod2 * n_tors + high, out, n, tie);
		if (h == TOPO_NONE || g == TOPO_NONE)
			continue;
		out[n] = (struct algo_hop_trace_target){.src = h,
		    .dst_ip = topo_addr_of_host(g),
		    .first_port = p->first_port,
		    .n_ports = (uint16_t)p->n_ports};
		out[n + 1] = out[n];
		out[n + 1].src = g;
		out[n + 1].dst_ip = topo_addr_of_host(h);
		n += 2;
	}
	return n;
}

size_t algo_silent_drop_targets(const struct algo_silent_drop *s,
    const struct algo_silent_drop_tracing *p, struct sim_rng *tie,
    struct algo_hop_trace_target out[])
{
	size_t n = 0;
	uint32_t n_cells = 0;
	/* Cells stand worst first. */
	for (size_t i = 0; i < s->n_cells && n_cells < p->n_cells; i++) {
		const struct algo_silent_drop_cell *c = &s->cell[i];
		if (!c->suffers && !(p->any && c->n_success > 0))
			continue;
		n = add_cell(s, c, p, tie, out, n);
		n_cells++;
	}
	return n;
}
