/* experiments/pingmesh/dsa/measure.c -- jobs by time, on probes of any number.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ranks ask for all probes by ascending time, but not for all at once. So probes
 * that come in several tables are counted first, by time as well. Then they are read
 * again and again, each time those of a span that has a sixth of them; these are
 * sorted, and the jobs meet them.
 */
#include <string.h>

#include "experiments/pingmesh/dsa/dsa.h"
#include "sim/vec.h"

/* How many are in a span, unless a sixth of all are more: as many as are sorted
 * the faster way. */
enum { LEAST = ALGO_RTT_SPARE, SPANS = 6 };

/* Times by their first bits: below the first octave one by one, then each octave in
 * as many buckets, whose ends are a thousandth apart. */
enum { SUB_BITS = 10, SUB = 1 << SUB_BITS, BUCKETS = (65 - SUB_BITS) * SUB };

static size_t spread_bucket(sim_ns t)
{
	if (t < SUB)
		return t;
	const unsigned shift = 63 - SUB_BITS - (unsigned)__builtin_clzll(t);
	return (size_t)shift * SUB + (t >> shift);
}

/* The least time of bucket I; of the one behind the last there is none. */
static sim_ns spread_begin(size_t i)
{
	if (i < SUB)
		return i;
	const unsigned shift = (unsigned)(i / SUB - 1);
	return i < BUCKETS ? (sim_ns)(SUB + i % SUB) << shift : SIM_NEVER;
}

static int spread_clear(struct xp_dsa *d, struct sim_err *e)
{
	if (!d->spread)
		return SIM_ZALLOC(&d->spread, BUCKETS, e);
	memset(d->spread, 0, BUCKETS * sizeof(*d->spread));
	return 0;
}

static void spread_add(struct xp_dsa *d)
{
	for (size_t i = 0; i < d->order.n; i++)
		d->spread[spread_bucket(d->order.probe[i].rtt_ns)]++;
}

/* --- counting ------------------------------------------------------------- */

/* Count the probes of a table, which are then in d->order. */
static int measure_count(struct xp_dsa *d, const struct obs_probes *t,
    const struct algo_drop_ladder *ladder, struct sim_err *e)
{
	int rc = obs_probes_check(t, d->dc.first_host, d->dc.clos.all_hosts, e);
	d->order.n = 0;
	if (rc < 0 || (rc = algo_rtt_order_add(&d->order, t, NULL, e)) < 0)
		return rc;
	algo_sla_count(&d->sla, &d->order, ladder);
	algo_heatmap_count(&d->heatmap, &d->order, &d->dc);
	algo_silent_drop_count_probes(&d->silent, t, ladder);
	return 0;
}

static int measure_begin(struct xp_dsa *d, enum algo_heatmap_unit unit,
    struct sim_err *e)
{
	d->order.n = 0;
	algo_sla_clear(&d->sla);
	algo_silent_drop_clear(&d->silent);
	return algo_heatmap_begin(&d->heatmap, &d->dc, unit, e);
}

static int measure_count_all(struct xp_dsa *d, const struct obs_probe_source *t,
    struct sim_err *e)
{
	struct algo_drop_ladder ladder;
	const struct obs_probes *piece;
	size_t at = 0;
	int rc = xp_dsa_ladder(d, t->syn_wait_ns, &ladder, e);
	while (rc >= 0 && (rc = obs_probes_next(t, &at, NULL, &piece, e)) > 0)
		if ((rc = measure_count(d, piece, &ladder, e)) == 0 &&
		    !t->whole)
			spread_add(d);
	return rc;
}

/* --- meeting -------------------------------------------------------------- */

static int measure_meet(struct xp_dsa *d, struct sim_err *e)
{
	const int rc = algo_rtt_order_sort(&d->order, e);
	if (rc < 0)
		return rc;
	algo_sla_meet(&d->sla, &d->order);
	algo_heatmap_meet(&d->heatmap, &d->order, &d->dc);
	return 0;
}

static int measure_meet_span(struct xp_dsa *d, const struct obs_probe_source *t,
    const struct obs_probe_span *only, struct sim_err *e)
{
	const struct obs_probes *piece;
	size_t at = 0;
	int rc = 0;
	d->order.n = 0;
	while (rc >= 0 && (rc = obs_probes_next(t, &at, only, &piece, e)) > 0)
		rc = algo_rtt_order_add(&d->order, piece, only, e);
	return rc < 0 ? rc : measure_meet(d, e);
}

/* The next span ends before the bucket with which it would have more than MOST. */
static int measure_meet_spans(struct xp_dsa *d,
    const struct obs_probe_source *t, struct sim_err *e)
{
	const size_t share = t->n / SPANS, most = share > LEAST ? share : LEAST;
	size_t n = 0, from = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i <= BUCKETS; i++) {
		const uint64_t here = i < BUCKETS ? d->spread[i] : 0;
		if (n > 0 && (i == BUCKETS || n + here > most)) {
			const struct obs_probe_span only = {spread_begin(from),
			    spread_begin(i)};
			rc = measure_meet_span(d, t, &only, e);
			from = i;
			n = 0;
		}
		n += here;
	}
	return rc;
}

int xp_dsa_measure(struct xp_dsa *d, const struct obs_probe_source *t,
    enum algo_heatmap_unit unit, struct sim_err *e)
{
	int rc = measure_begin(d, unit, e);
	if (rc == 0 && !t->whole)
		rc = spread_clear(d, e);
	if (rc < 0 || (rc = measure_count_all(d, t, e)) < 0)
		return rc;
	algo_sla_sum(&d->sla);
	algo_sla_rank(&d->sla);
	algo_heatmap_rank(&d->heatmap);
	/* The probes of one table are in d->order since they were counted. */
	rc = t->whole ? measure_meet(d, e) : measure_meet_spans(d, t, e);
	if (rc < 0)
		return rc;
	algo_sla_judge(&d->sla);
	return algo_silent_drop_judge(&d->silent, e);
}
