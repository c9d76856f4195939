/* algos/pingmesh/heatmap.c -- P99 between pods or ToRs as a matrix; patterns.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/heatmap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

/* Figure 8's colours. White is no data: nobody there answered. */
enum colour { WHITE, GREEN, YELLOW, RED, N_COLOURS };

struct algo_heatmap_cell {
	uint64_t n_left;  /* successes not yet met on the walk */
	uint64_t n_after; /* of them those beyond the P99's rank */
};

/* The cells between two pods, which is all that the rule looks at. */
struct algo_heatmap_block {
	uint64_t n[N_COLOURS];
};

const char *const algo_heatmap_patterns[] = {ALGO_HEATMAP_PATTERNS, NULL};

const struct sim_field algo_heatmap_fields[] =
    {{.name = "yellow_us",
	 .type = SIM_F_F64,
	 .offset = offsetof(struct algo_heatmap_params, yellow_us),
	 .min = 0,
	 .max = 1e9,
	 .unit = "us",
	 .def = "4000",
	 .doc = "P99 from which a cell is no longer green"},
	{.name = "red_us",
	    .type = SIM_F_F64,
	    .offset = offsetof(struct algo_heatmap_params, red_us),
	    .min = 0,
	    .max = 1e9,
	    .unit = "us",
	    .def = "5000",
	    .doc = "P99 above which a cell is red"},
	{.name = "fill",
	    .type = SIM_F_F64,
	    .offset = offsetof(struct algo_heatmap_params, fill),
	    .min = 0.5,
	    .max = 1,
	    .unit = "1",
	    .def = "0.8",
	    .doc = "share of its cells that makes a shape"},
	{.name = "stray",
	    .type = SIM_F_F64,
	    .offset = offsetof(struct algo_heatmap_params, stray),
	    .min = 0,
	    .max = 1,
	    .unit = "1",
	    .def = "0.1",
	    .doc = "share of red or white cells that means nothing"},
	{0}};

void algo_heatmap_free(struct algo_heatmap *m)
{
	free(m->p99_us);
	free(m->pod);
	free(m->cell);
	free(m->block);
	*m = (struct algo_heatmap){0};
}

int algo_heatmap_init(struct algo_heatmap *m, uint32_t n_units, uint32_t n_pods,
    struct sim_err *e)
{
	const size_t n_cells = (size_t)n_units * n_units;
	int rc;
	m->n_units = m->n_pods = 0;
	if (n_pods == 0 || n_units == 0 || n_units % n_pods != 0)
		return sim_fail(e, SIM_EINVAL,
		    "a heat map of %u units in %u pods: each pod must have"
		    " as many, and one at least.",
		    n_units, n_pods);
	if ((rc = SIM_RESERVE(&m->p99_us, &m->cap_p99, n_cells, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->cell, &m->cap_cell, n_cells, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->pod, &m->cap_pod, n_pods, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->block, &m->cap_block, (size_t)n_pods * n_pods,
		 e)) < 0)
		return rc;
	for (size_t i = 0; i < n_cells; i++)
		m->p99_us[i] = NAN;
	memset(m->pod, ALGO_HEATMAP_POD_FINE, n_pods);
	m->n_units = n_units;
	m->n_pods = n_pods;
	return 0;
}

/* --- measuring -------------------------------------------------------------*/
int algo_heatmap_begin(struct algo_heatmap *m, const struct topo_dc *dc,
    enum algo_heatmap_unit unit, struct sim_err *e)
{
	const struct topo_clos *shape = &dc->clos;
	const int by_pod = unit == ALGO_HEATMAP_POD;
	const uint32_t n_units = by_pod ? shape->n_pods : shape->all_tors;
	const int rc = algo_heatmap_init(m, n_units, shape->n_pods, e);
	if (rc == 0)
		memset(m->cell, 0,
		    (size_t)n_units * n_units * sizeof(*m->cell));
	return rc;
}

/* Cells are told apart by division alone: hosts are numbered by ToR, and ToRs by
 * pod. */
static size_t heatmap_cell_of(const struct algo_heatmap *m,
    const struct topo_dc *dc, const struct algo_rtt_probe *p,
    uint32_t hosts_a_unit)
{
	return (size_t)(topo_dc_index(dc, p->src_host) / hosts_a_unit) *
	    m->n_units +
	    topo_dc_index(dc, p->dst_host) / hosts_a_unit;
}

void algo_heatmap_count(struct algo_heatmap *m,
    const struct algo_rtt_order *part, const struct topo_dc *dc)
{
	const uint32_t hosts_a_unit = dc->clos.all_hosts / m->n_units;
	for (size_t i = 0; i < part->n; i++)
		m->cell[heatmap_cell_of(m, dc, &part->probe[i], hosts_a_unit)]
		    .n_left++;
}

void algo_heatmap_rank(struct algo_heatmap *m)
{
	for (size_t i = 0; i < (size_t)m->n_units * m->n_units; i++) {
		struct algo_heatmap_cell *c = &m->cell[i];
		c->n_after = c->n_left - algo_rtt_rank(c->n_left, 99);
	}
}

/* A cell's P99 is the time at which as many of its probes are left as lie beyond
 * its rank. */
void algo_heatmap_meet(struct algo_heatmap *m,
    const struct algo_rtt_order *part, const struct topo_dc *dc)
{
	const uint32_t hosts_a_unit = dc->clos.all_hosts / m->n_units;
	for (size_t i = 0; i < part->n; i++) {
		const struct algo_rtt_probe *p = &part->probe[i];
		const size_t at = heatmap_cell_of(m, dc, p, hosts_a_unit);
		if (--m->cell[at].n_left == m->cell[at].n_after)
			m->p99_us[at] = (double)p->rtt_ns / 1e3;
	}
}

int algo_heatmap_measure(struct algo_heatmap *m,
    const struct algo_rtt_order *order, const struct topo_dc *dc,
    enum algo_heatmap_unit unit, struct sim_err *e)
{
	const int rc = algo_heatmap_begin(m, dc, unit, e);
	if (rc < 0)
		return rc;
	algo_heatmap_count(m, order, dc);
	algo_heatmap_rank(m);
	algo_heatmap_meet(m, order, dc);
	return 0;
}

/* --- classifying -----------------------------------------------------------*/
/* Section 6.3: green below 4 ms, yellow up to 5 ms, red above. */
static enum colour colour_of(const struct algo_heatmap_params *p, double p99_us)
{
	if (isnan(p99_us))
		return WHITE;
	if (p99_us > p->red_us)
		return RED;
	return p99_us < p->yellow_us ? GREEN : YELLOW;
}

/* The rule looks at pods only, so a map of ToRs is first counted by pairs of
 * pods. All blocks have as many cells, which makes shares comparable. */
static void count_blocks(struct algo_heatmap *m,
    const struct algo_heatmap_params *p)
{
	const uint32_t a_pod = m->n_units / m->n_pods;
	memset(m->block, 0, (size_t)m->n_pods * m->n_pods * sizeof(*m->block));
	for (uint32_t i = 0; i < m->n_units; i++)
		for (uint32_t j = 0; j < m->n_units; j++) {
			const double x = m->p99_us[(size_t)i * m->n_units + j];
			const size_t at =
			    (size_t)(i / a_pod) * m->n_pods + j / a_pod;
			m->block[at].n[colour_of(p, x)]++;
		}
}

static void heatmap_add(struct algo_heatmap_block *sum,
    const struct algo_heatmap_block *b)
{
	for (int c = 0; c < N_COLOURS; c++)
		sum->n[c] += b->n[c];
}

/* Cells of a block, or of a sum of blocks. */
static uint64_t size(const struct algo_heatmap_block *b)
{
	return b->n[WHITE] + b->n[GREEN] + b->n[YELLOW] + b->n[RED];
}

/* Share of a colour; 0 of nothing. */
static double heatmap_share(const struct algo_heatmap_block *b, enum colour c)
{
	const uint64_t n = size(b);
	return n ? (double)b->n[c] / (double)n : 0;
}

/* A pod's cross, that is its rows and columns, but for what is set aside. Where
 * rows and columns meet is the pod's own block, which counts once. */
static struct algo_heatmap_block heatmap_cross(const struct algo_heatmap *m,
    uint32_t pod)
{
	struct algo_heatmap_block sum = {{0}};
	for (uint32_t q = 0; q < m->n_pods; q++) {
		if (m->pod[q] != ALGO_HEATMAP_POD_FINE)
			continue;
		heatmap_add(&sum, &m->block[(size_t)pod * m->n_pods + q]);
		if (q != pod)
			heatmap_add(&sum,
			    &m->block[(size_t)q * m->n_pods + pod]);
	}
	return sum;
}

/* Rules 1 and 3: set aside the fullest crosses of a colour, one at a time. The
 * crosses of two bad pods cut those of every good pod, but once the fullest is
 * out of the way the good ones lose its colour. Of equally full ones the first
 * goes. Returns how many. */
static uint32_t heatmap_set_aside(struct algo_heatmap *m, enum colour c,
    double fill, enum algo_heatmap_pod as)
{
	for (uint32_t n = 0;; n++) {
		uint32_t best = m->n_pods;
		double most = fill;
		for (uint32_t q = 0; q < m->n_pods; q++) {
			if (m->pod[q] != ALGO_HEATMAP_POD_FINE)
				continue;
			const struct algo_heatmap_block sum =
			    heatmap_cross(m, q);
			const double s = heatmap_share(&sum, c);
			if (best == m->n_pods ? s >= most : s > most) {
				best = q;
				most = s;
			}
		}
		if (best == m->n_pods)
			return n;
		m->pod[best] = (uint8_t)as;
	}
}

/* What is not set aside, within blocks and outside. */
static void add_rest(const struct algo_heatmap *m,
    struct algo_heatmap_block *inside, struct algo_heatmap_block *outside)
{
	*inside = *outside = (struct algo_heatmap_block){{0}};
	/* Blocks on the diagonal are inside pods and do not cross the spine. */
	for (uint32_t a = 0; a < m->n_pods; a++)
		for (uint32_t b = 0; b < m->n_pods; b++)
			if (m->pod[a] == ALGO_HEATMAP_POD_FINE &&
			    m->pod[b] == ALGO_HEATMAP_POD_FINE)
				heatmap_add(a == b ? inside : outside,
				    &m->block[(size_t)a * m->n_pods + b]);
}

int algo_heatmap_check(const struct algo_heatmap_params *p, struct sim_err *e)
{
	if (p->yellow_us <= p->red_us)
		return 0;
	return sim_fail(e, SIM_EINVAL, "red_us of %g is below yellow_us of %g.",
	    p->red_us, p->yellow_us);
}

int algo_heatmap_classify(struct algo_heatmap *m,
    const struct algo_heatmap_params *p, enum algo_heatmap_pattern *pattern,
    struct sim_err *e)
{
	struct algo_heatmap_block inside, outside;
	const int rc = algo_heatmap_check(p, e);
	if (rc < 0)
		return rc;
	/* Nothing is set aside yet: what an earlier call found is forgotten. */
	memset(m->pod, ALGO_HEATMAP_POD_FINE, m->n_pods);
	count_blocks(m, p);
	/* White first: a pod without power leaves white cells in every other
	 * pod's cross, which must not spoil the shares of red. */
	const uint32_t n_down =
	    heatmap_set_aside(m, WHITE, p->fill, ALGO_HEATMAP_POD_IS_DOWN);
	add_rest(m, &inside, &outside);
	/* Figure 8 (d): red with green squares on the diagonal. Asked before
	 * rule 3, to which a failed spine would look like failure of every
	 * pod. */
	if (size(&outside) > 0 && heatmap_share(&outside, RED) >= p->fill &&
	    heatmap_share(&inside, GREEN) >= p->fill) {
		*pattern = ALGO_HEATMAP_SPINE_FAILURE;
		return 0;
	}
	const uint32_t n_failed =
	    heatmap_set_aside(m, RED, p->fill, ALGO_HEATMAP_POD_HAS_FAILED);
	add_rest(m, &inside, &outside);
	heatmap_add(&outside, &inside);
	/* The gravest pattern names the matrix; m->pod[] says all that was
	 * found. */
	if (n_failed > 0)
		*pattern = ALGO_HEATMAP_POD_FAILURE;
	else if (n_down > 0)
		*pattern = ALGO_HEATMAP_POD_DOWN;
	else
		*pattern = heatmap_share(&outside, RED) +
			    heatmap_share(&outside, WHITE) >
			p->stray
		    ? ALGO_HEATMAP_UNCLEAR
		    : ALGO_HEATMAP_NORMAL;
	return 0;
}
