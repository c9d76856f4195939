/* experiments/rack/truth.c -- what hosts counted, held against what came in.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <math.h>
#include <stdlib.h>

#include "experiments/rack/world.h"
#include "sim/stat.h"
#include "sim/vec.h"

/* Bursts are told by so much, and so much at either end is left out. */
#define RACK_BURST_NS SIM_MS
enum { RACK_ENDS = 20 };

/* One rack, in milliseconds [n] that begin at PHASE. */
struct rack_truth {
	const struct xp_rack_world *w;
	const struct xp_rack *p;
	struct algo_series series;
	sim_ns phase;
	size_t n;
	double *in;    /* [n_servers][n] bytes */
	uint8_t *told; /* [series.n] of a server */
	size_t lost; /* the first row of w->lost that is not of a rack before */
	/* Sums over racks. */
	double is, says, right, bursts, seen, off, ms;
	double queue, n_full;
	struct algo_bursts found;
	double *is_at, *says_at; /* [n] servers in a burst */
};

static double rack_truth_above(const struct rack_truth *x)
{
	return x->p->burst.share * x->p->rack.line_gbps / 8 *
	    (double)RACK_BURST_NS;
}

/* Rows of a rack stand together. A tenth of a millisecond belongs to that in
 * which its middle lies. */
static void rack_truth_fill(struct rack_truth *x, uint32_t rack)
{
	const struct rack_losses *l = &x->w->lost;
	const uint32_t n = x->w->n_servers;
	for (size_t i = 0; i < n * x->n; i++)
		x->in[i] = 0;
	for (; x->lost < l->n && l->host[x->lost] / n == rack; x->lost++) {
		const sim_ns mid = l->start_ns[x->lost] + RACK_TRUTH_NS / 2;
		if (l->buffer[x->lost] > 0) {
			x->queue += (double)l->queue_max[x->lost];
			x->n_full++;
		}
		if (mid < x->phase)
			continue;
		const size_t k = (size_t)((mid - x->phase) / RACK_BURST_NS);
		if (k < x->n)
			x->in[l->host[x->lost] % n * x->n + k] +=
			    (double)l->in[x->lost];
	}
}

/* What the counts of a server say of millisecond K. */
static int rack_truth_says(const struct rack_truth *x, size_t k)
{
	const sim_ns mid = x->phase + k * RACK_BURST_NS + RACK_BURST_NS / 2;
	const struct algo_series *s = &x->series;
	if (mid < s->start_ns)
		return 0;
	const size_t at = (size_t)((mid - s->start_ns) / s->width_ns);
	return at < s->n && x->told[at];
}

/* Without a run nothing is said: TOLD is all 0. */
static void rack_truth_server(struct rack_truth *x, uint32_t server)
{
	const double *in = x->in + server * x->n, above = rack_truth_above(x);
	int in_burst = 0, seen = 0;
	for (size_t k = RACK_ENDS; k + RACK_ENDS < x->n; k++) {
		const int is = in[k] > above, says = rack_truth_says(x, k);
		x->is += is;
		x->says += says;
		x->right += is && says;
		x->is_at[k] += is;
		x->says_at[k] += says;
		if (is && !in_burst) {
			x->bursts++;
			seen = 0;
		}
		if (is && says && !seen) {
			x->seen++;
			seen = 1;
		}
		in_burst = is;
	}
}

/* Which run of the series is HOST's; n_runs: none. */
static size_t rack_truth_run(const struct algo_series *s, uint32_t host)
{
	size_t i = 0;
	while (i < s->n_runs && s->host[i] != host)
		i++;
	return i;
}

static int rack_truth_compare(struct rack_truth *x, uint32_t rack,
    struct sim_err *e)
{
	const uint32_t n = x->w->n_servers;
	int rc;
	if ((rc = SIM_ZALLOC(&x->told, x->series.n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&x->is_at, x->n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&x->says_at, x->n, e)) < 0)
		return rc;
	for (uint32_t i = 0; i < n; i++) {
		const size_t r = rack_truth_run(&x->series, rack * n + i);
		for (size_t k = 0; k < x->series.n; k++)
			x->told[k] = 0;
		if (r < x->series.n_runs)
			algo_burst_mark(&x->series, r, x->p->burst.share,
			    x->told);
		rack_truth_server(x, i);
	}
	for (size_t k = RACK_ENDS; k + RACK_ENDS < x->n; k++) {
		x->off += fabs(x->is_at[k] - x->says_at[k]);
		x->ms++;
	}
	return 0;
}

static void rack_truth_next(struct rack_truth *x)
{
	free(x->in);
	free(x->told);
	free(x->is_at);
	free(x->says_at);
	x->in = x->is_at = x->says_at = NULL;
	x->told = NULL;
}

/* RUN[n_runs] of the rack; without one there is nothing to be held against. */
static int rack_truth_one(struct rack_truth *x, uint32_t rack,
    const uint32_t run[], size_t n_runs, struct sim_err *e)
{
	int rc = 0;
	x->phase = 0;
	if (n_runs > 0)
		rc = algo_series_align(&x->series, &x->w->runs, &x->w->samples,
		    run, n_runs, NULL, e);
	if (rc == 0 && n_runs > 0)
		x->phase = x->series.start_ns % RACK_BURST_NS;
	x->n = (size_t)(sim_ns_of(x->p->length_s) / RACK_BURST_NS);
	x->n -= x->n > 0;
	if (rc == 0)
		rc = SIM_ZALLOC(&x->in, x->w->n_servers * x->n, e);
	if (rc < 0)
		return rc;
	rack_truth_fill(x, rack);
	if (n_runs > 0)
		rc = algo_bursts_find(&x->series, &x->p->burst, &x->found, e);
	if (rc < 0 || n_runs == 0 || x->series.width_ns < RACK_BURST_NS)
		return rc;
	return rack_truth_compare(x, rack, e);
}

static void rack_truth_conns(struct algo_bursts *b,
    struct res_trial_metrics *row)
{
	double sum = 0;
	for (size_t i = 0; i < b->n; i++)
		sum += b->conns[i];
	if (b->n == 0)
		return;
	row->told_conns = sum / (double)b->n;
	/* The table is not read any more, so its column may be sorted alone. */
	sim_sort_finite(b->conns, b->n);
	row->told_conns_low = sim_quantile_sorted(b->conns, b->n, .025);
	row->told_conns_high = sim_quantile_sorted(b->conns, b->n, .975);
}

static void rack_truth_tell(struct rack_truth *x, struct res_trial_metrics *row)
{
	rack_truth_conns(&x->found, row);
	if (x->n_full > 0)
		row->queue_share = x->queue / x->n_full / x->p->rack.shared;
	if (x->ms == 0)
		return;
	row->n_burst_ms = x->is;
	row->n_burst_ms_told = x->says;
	row->n_burst_ms_right = x->right;
	row->n_true_bursts = x->bursts;
	row->n_seen_bursts = x->seen;
	row->true_contention = x->is / x->ms;
	row->told_contention = x->says / x->ms;
	row->contention_off = x->off / x->ms;
}

int xp_rack_truth_score(const struct xp_rack_world *w, const struct xp_rack *p,
    struct res_trial_metrics *row, struct sim_err *e)
{
	struct rack_truth x = {.w = w, .p = p};
	sim_ns width[XP_RACK_N_WIDTHS] = {0};
	uint32_t *run = NULL;
	int rc = 0;
	if (!p->sample.truth)
		return 0;
	rc = SIM_ZALLOC(&run, w->runs.n + 1, e);
	xp_rack_widths(p, width);
	for (uint32_t k = 0; rc == 0 && k < w->n_racks; k++) {
		rc = rack_truth_one(&x, k, run,
		    xp_rack_runs(w, width[0], k, run), e);
		rack_truth_next(&x);
	}
	if (rc == 0)
		rack_truth_tell(&x, row);
	algo_series_free(&x.series);
	algo_bursts_free(&x.found);
	free(run);
	return rc;
}
