/* experiments/rack/score.c -- metrics of racks, as hosts saw them and as it was.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/rack/score.h"
#include "sim/sort.h"

#include <math.h>
#include <stdlib.h>

#include "sim/vec.h"

/* --- what was seen of each rack --------------------------------------------*/

struct rack_seen {
	uint32_t rack;
	struct algo_contention contention;
	size_t first, n; /* of the bursts of all racks */
};

/* Numbers to be put in order. */
struct rack_list {
	double *x;
	size_t n, cap;
};

struct rack_score {
	const struct xp_rack_world *w;
	const struct xp_rack *p;
	struct algo_series series; /* of the rack at hand */
	struct algo_bursts bursts;
	struct rack_seen *seen; /* [n_racks] */
	uint32_t n_seen;
	/* Of connections within bursts [1] and outside [0]. */
	double conns[2], n_conns[2];
	struct rack_list conn[2]; /* along quantiles */
	double *time; /* along time: [n_rows] of the first rack; NaN: none */
	size_t n_rows;
};

static void rack_score_free(struct rack_score *s)
{
	algo_series_free(&s->series);
	algo_bursts_free(&s->bursts);
	free(s->seen);
	free(s->conn[0].x);
	free(s->conn[1].x);
	free(s->time);
}

static int rack_score_open(struct rack_score *s, struct sim_err *e)
{
	int rc = SIM_ZALLOC(&s->seen, s->w->n_racks + 1, e);
	if (rc < 0 || s->p->along != XP_RACK_ALONG_TIME)
		return rc;
	rc = SIM_ZALLOC(&s->time, s->n_rows, e);
	for (size_t i = 0; rc == 0 && i < s->n_rows; i++)
		s->time[i] = NAN;
	return rc;
}

static int rack_list_add(struct rack_list *l, double x, struct sim_err *e)
{
	const int rc = SIM_RESERVE(&l->x, &l->cap, l->n + 1, e);
	if (rc == 0)
		l->x[l->n++] = x;
	return rc;
}

/* Of the series at hand: connections of each bucket of each host, in a burst or
 * not. */
static int rack_score_conns(struct rack_score *s, struct sim_err *e)
{
	const struct algo_series *a = &s->series;
	const int keep = s->p->along == XP_RACK_ALONG_QUANTILE;
	const size_t n = a->n_known < a->n ? a->n_known : a->n;
	uint8_t *in = NULL;
	int rc = SIM_ZALLOC(&in, a->n + 1, e);
	for (size_t i = 0; rc == 0 && i < a->n_runs; i++) {
		const double *v = algo_series_at(a, i, ALGO_SERIES_CONNS);
		algo_burst_mark(a, i, s->p->burst.share, in);
		for (size_t k = 0; rc == 0 && k < n; k++) {
			s->conns[in[k]] += v[k];
			s->n_conns[in[k]]++;
			if (keep)
				rc = rack_list_add(&s->conn[in[k]], v[k], e);
		}
	}
	free(in);
	return rc;
}

static int rack_score_time(struct rack_score *s, struct sim_err *e)
{
	const struct algo_series *a = &s->series;
	uint32_t *count = NULL;
	int rc = SIM_ZALLOC(&count, a->n + 1, e);
	if (rc == 0)
		rc = algo_contention_count(a, s->p->burst.share, count, e);
	for (size_t k = 0; rc == 0 && k < a->n_known && k < a->n; k++) {
		const uint64_t row =
		    (a->start_ns + k * a->width_ns) / a->width_ns;
		if (row < s->n_rows)
			s->time[row] = count[k];
	}
	free(count);
	return rc;
}

static int rack_score_add(struct rack_score *s, uint32_t k,
    const uint32_t run[], size_t n, struct sim_err *e)
{
	struct rack_seen *r = &s->seen[s->n_seen++];
	int rc = 0;
	r->rack = k;
	r->first = s->bursts.n;
	if (n == 0)
		return 0;
	if ((rc = algo_series_align(&s->series, &s->w->runs, &s->w->samples,
		 run, n, NULL, e)) < 0 ||
	    (rc = algo_bursts_find(&s->series, &s->p->burst, &s->bursts, e)) <
		0 ||
	    (rc = algo_contention_of(&s->series, s->p->burst.share,
		 &r->contention, e)) < 0 ||
	    (rc = rack_score_conns(s, e)) < 0)
		return rc;
	r->n = s->bursts.n - r->first;
	return s->time && k == 0 ? rack_score_time(s, e) : 0;
}

/* --- rows ------------------------------------------------------------------*/

/* Of N racks that were seen, whose bursts follow each other. */
static void rack_row_of(const struct rack_score *s, const struct rack_seen *r,
    uint32_t n, struct res_trial_metrics *row)
{
	const struct algo_bursts *b = &s->bursts;
	double met = 0, mean = 0, p10 = 0, p90 = 0;
	row->n_racks = n;
	row->n_bursts = row->n_lossy_bursts = row->n_met_bursts = 0;
	row->n_swings = row->n_job_servers = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct algo_contention *c = &r[i].contention;
		struct rack_params rack = s->p->rack;
		rack.n_servers = s->w->n_servers;
		row->n_job_servers +=
		    rack_traffic_jobs(&rack, &s->p->traffic, r[i].rack);
		row->n_swings += c->p90 > 3 * c->p10;
		mean += c->mean;
		p10 += c->p10;
		p90 += c->p90;
		for (size_t k = r[i].first; k < r[i].first + r[i].n; k++) {
			row->n_lossy_bursts += b->lossy[k];
			row->n_met_bursts += b->contention_max[k] > 1;
			met += b->contention_max[k];
		}
		row->n_bursts += (double)r[i].n;
	}
	row->burst_rate =
	    row->n_bursts / ((double)n * s->w->n_servers * s->p->length_s);
	row->contention_mean = mean / n;
	row->contention_p10 = p10 / n;
	row->contention_p90 = p90 / n;
	if (row->n_bursts > 0)
		row->burst_contention = met / row->n_bursts;
}

static int rack_row_world(const struct rack_score *s,
    struct res_trial_metrics *row, struct sim_err *e)
{
	const struct xp_rack_world *w = s->w;
	const double server_s =
	    (double)w->n_racks * w->n_servers * s->p->length_s;
	rack_row_of(s, s->seen, s->n_seen, row);
	row->goodput = (double)w->totals.arrived / server_s;
	row->buffer_bytes = (double)w->buffer;
	if (w->totals.offered > 0)
		row->buffer_loss =
		    (double)w->totals.buffer / (double)w->totals.offered;
	row->link_bytes = (double)(w->link_in + w->link_out);
	row->n_timeouts = (double)w->totals.n_rto;
	row->dispersion_1ms = w->dispersion[0] / w->n_racks;
	row->dispersion_10ms = w->dispersion[1] / w->n_racks;
	row->dispersion_100ms = w->dispersion[2] / w->n_racks;
	if (s->n_conns[1] > 0)
		row->burst_conns = s->conns[1] / s->n_conns[1];
	if (s->n_conns[0] > 0)
		row->quiet_conns = s->conns[0] / s->n_conns[0];
	const int rc = xp_rack_truth_score(w, s->p, row, e);
	return rc < 0 ? rc : xp_rack_ports_score(w, s->p, row, e);
}

/* --- along quantiles -------------------------------------------------------*/

static int rack_ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Of nearest rank; NaN of nothing. */
static double rack_list_at(const struct rack_list *l, double q)
{
	const size_t rank = (size_t)ceil(q * (double)l->n - 1e-9);
	return l->n > 0 ? l->x[rank > 0 ? rank - 1 : 0] : NAN;
}

enum { RACK_LENGTHS, RACK_VOLUMES, RACK_SERVERS, RACK_N_OWN };

/* Lengths and volumes of bursts, and how many a second each server had. */
static int rack_list_bursts(const struct rack_score *s,
    struct rack_list own[RACK_N_OWN], struct sim_err *e)
{
	const struct algo_bursts *b = &s->bursts;
	const size_t n_hosts = (size_t)s->w->n_racks * s->w->n_servers;
	const double ms = (double)s->series.width_ns / 1e6;
	int rc = 0;
	for (size_t h = 0; rc == 0 && h < n_hosts; h++)
		rc = rack_list_add(&own[RACK_SERVERS], 0, e);
	for (size_t i = 0; rc == 0 && i < b->n; i++) {
		own[RACK_SERVERS].x[b->host[i]] += 1 / s->p->length_s;
		rc = rack_list_add(&own[RACK_LENGTHS], b->n_buckets[i] * ms, e);
		if (rc == 0)
			rc = rack_list_add(&own[RACK_VOLUMES], b->in_bytes[i],
			    e);
	}
	return rc;
}

static void rack_list_sort(struct rack_list *l)
{
	if (l->n > 0)
		qsort(l->x, l->n, sizeof(l->x[0]), rack_ascending);
}

static int rack_row_quantiles(struct rack_score *s,
    struct res_trial_metrics row[], struct sim_err *e)
{
	struct rack_list own[RACK_N_OWN] = {{0}};
	const int rc = rack_list_bursts(s, own, e);
	for (unsigned i = 0; i < RACK_N_OWN; i++)
		rack_list_sort(&own[i]);
	rack_list_sort(&s->conn[0]);
	rack_list_sort(&s->conn[1]);
	for (size_t i = 0; rc == 0 && i < s->n_rows; i++) {
		const double q = xp_rack_quantile(i);
		row[i].burst_ms = rack_list_at(&own[RACK_LENGTHS], q);
		row[i].burst_bytes = rack_list_at(&own[RACK_VOLUMES], q);
		row[i].server_burst_rate = rack_list_at(&own[RACK_SERVERS], q);
		row[i].conns_inside = rack_list_at(&s->conn[1], q);
		row[i].conns_outside = rack_list_at(&s->conn[0], q);
	}
	for (unsigned i = 0; i < RACK_N_OWN; i++)
		free(own[i].x);
	return rc;
}

/* --- along the others ------------------------------------------------------*/

static void rack_row_sizes(const struct rack_score *s,
    struct res_trial_metrics row[])
{
	const struct algo_bursts *b = &s->bursts;
	const double ms = (double)s->series.width_ns / 1e6;
	for (size_t i = 0; i < s->n_rows; i++)
		row[i].n_long_bursts = row[i].n_lossy_long =
		    row[i].n_wide_bursts = row[i].n_lossy_wide = 0;
	for (size_t i = 0; i < b->n; i++) {
		struct res_trial_metrics
		    *is_long = &row[xp_rack_size_row(b->n_buckets[i] * ms)],
		    *is_wide = &row[xp_rack_size_row(b->conns[i])];
		is_long->n_long_bursts++;
		is_long->n_lossy_long += b->lossy[i];
		is_wide->n_wide_bursts++;
		is_wide->n_lossy_wide += b->lossy[i];
	}
}

static int rack_by_contention(const void *a, const void *b)
{
	const struct rack_seen *x = a, *y = b;
	const double p = x->contention.mean, q = y->contention.mean;
	if (p != q)
		return SIM_ORDER(p, q);
	return (x->rack > y->rack) - (x->rack < y->rack);
}

static void rack_row_racks(struct rack_score *s, struct res_trial_metrics row[])
{
	qsort(s->seen, s->n_seen, sizeof(s->seen[0]), rack_by_contention);
	for (size_t i = 0; i < s->n_rows && i < s->n_seen; i++)
		rack_row_of(s, &s->seen[i], 1, &row[i]);
}

static void rack_row_time(const struct rack_score *s,
    struct res_trial_metrics row[])
{
	for (size_t i = 0; i < s->n_rows; i++) {
		rack_row_of(s, s->seen, 1, &row[i]);
		row[i].contention = s->time[i];
	}
}

static int rack_score_rows(struct rack_score *s, struct res_trial_metrics row[],
    struct sim_err *e)
{
	const enum xp_rack_along along = (enum xp_rack_along)s->p->along;
	const int of_one =
	    along == XP_RACK_ALONG_RACK || along == XP_RACK_ALONG_TIME;
	const int rc = of_one ? 0 : rack_row_world(s, &row[0], e);
	if (rc < 0)
		return rc;
	for (size_t i = 1; !of_one && i < s->n_rows; i++)
		row[i] = row[0];
	switch (along) {
	case XP_RACK_ALONG_NONE:
		break;
	case XP_RACK_ALONG_QUANTILE:
		return rack_row_quantiles(s, row, e);
	case XP_RACK_ALONG_SIZE:
		rack_row_sizes(s, row);
		break;
	case XP_RACK_ALONG_RACK:
		rack_row_racks(s, row);
		break;
	case XP_RACK_ALONG_TIME:
		rack_row_time(s, row);
		break;
	}
	return 0;
}

int xp_rack_score(const struct xp_rack_world *w, const struct xp_rack *p,
    const struct scene *scene, size_t n_rows, struct res_trial_metrics row[],
    struct sim_err *e)
{
	struct rack_score s = {.w = w, .p = p, .n_rows = n_rows};
	sim_ns width[XP_RACK_N_WIDTHS] = {0};
	uint32_t *run = NULL;
	int rc = SIM_ZALLOC(&run, w->runs.n + 1, e);
	xp_rack_widths(p, width);
	if (rc == 0)
		rc = rack_score_open(&s, e);
	for (uint32_t k = 0; rc == 0 && k < w->n_racks; k++)
		rc = rack_score_add(&s, k, run,
		    xp_rack_runs(w, width[0], k, run), e);
	if (rc == 0)
		rc = rack_score_rows(&s, row, e);
	for (size_t i = 0; i < n_rows; i++)
		row[i].n_faults = (double)truth_n_faulty(&scene->truth);
	free(run);
	rack_score_free(&s);
	return rc;
}
