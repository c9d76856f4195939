/* algos/millisampler/loss_filter.c -- flows whose losses full buffers explain.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/loss_filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/millisampler/bursts.h"
#include "sim/sort.h"
#include "sim/vec.h"

const char *const algo_loss_bys[] = {"flow", "host", NULL};

/* Flows that a rack is taken to have had beside those that are sampled. */
#define LOSS_FILTER_MORE 2.0

int algo_loss_filter_open(struct algo_loss_filter *f, const struct topo *t,
    const struct algo_loss_filter_params *p, struct sim_err *e)
{
	int rc;
	f->topo = t;
	if ((rc = sim_field_defaults(algo_loss_cause_fields, &f->cause, e)) <
		0 ||
	    (rc = SIM_ZALLOC(&f->first, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->host, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->of_rack, t->n_switches, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->rack, t->n_switches, e)) < 0)
		return rc;
	f->cause.rto_ms = p->rto_ms;
	f->cause.margin = p->margin;
	return 0;
}

void algo_loss_filter_free(struct algo_loss_filter *f)
{
	algo_loss_causes_free(&f->causes);
	free(f->aside);
	free(f->seen);
	free(f->next);
	free(f->first);
	free(f->host);
	free(f->rack);
	free(f->of_rack);
}

/* --- by host -------------------------------------------------------------- */

static int filter_by_host(struct algo_loss_filter *f, const struct obs *w,
    const struct algo_samples_in *in, struct sim_err *e)
{
	const struct topo *t = f->topo;
	const struct algo_loss_causes *c = &f->causes;
	algo_loss_causes_clear(&f->causes);
	const int rc = algo_loss_causes_find(in->runs, in->samples, t->n_hosts,
	    &f->cause, &f->causes, e);
	if (rc < 0)
		return rc;
	/* `first` is free for use: whether a host's losses are a buffer's. */
	memset(f->first, 0, t->n_hosts * sizeof(f->first[0]));
	for (size_t i = 0; i < c->n; i++)
		f->first[c->host[i]] = c->cause[i] == ALGO_LOSS_BUFFER;
	for (size_t i = 0; i < w->flows.n; i++)
		f->aside[i] = w->flows.dst_host[i] < t->n_hosts &&
		    f->first[w->flows.dst_host[i]];
	return 0;
}

/* --- by flow -------------------------------------------------------------- */

static struct algo_loss_counts *filter_rack(struct algo_loss_filter *f,
    uint32_t h)
{
	return &f->rack[topo_tor_of(f->topo, h)];
}

/* Lists of the flows that sent again, by the hosts that they go to. */
static void filter_list(struct algo_loss_filter *f, const struct obs *w)
{
	const uint32_t n_hosts = f->topo->n_hosts;
	memset(f->first, 0, n_hosts * sizeof(f->first[0]));
	for (size_t i = w->flows.n; i-- > 0;) {
		const uint32_t h = w->flows.dst_host[i];
		f->seen[i] = ALGO_LOSS_UNSEEN;
		if (h >= n_hosts || w->flows.n_retx[i] == 0)
			continue;
		f->next[i] = f->first[h];
		f->first[h] = (uint32_t)i + 1;
	}
}

static void filter_widen(uint8_t hot[], size_t n)
{
	uint8_t before = 0;
	for (size_t k = 0; k < n; k++) {
		const uint8_t here = hot[k];
		hot[k] = before || here || (k + 1 < n && hot[k + 1]);
		before = here;
	}
}

/* Before the series begins nothing came, so nothing was hot. */
static void filter_see(struct algo_loss_filter *f, const struct obs *w,
    const struct obs_run *u, const struct algo_series *s, const uint8_t hot[])
{
	for (uint32_t i = f->first[u->host]; i > 0; i = f->next[i - 1]) {
		const uint64_t t = w->retx_ns[i - 1];
		if (t < u->start_ns ||
		    t - u->start_ns >= u->width_ns * u->n_buckets)
			continue;
		const uint64_t k =
		    t < s->start_ns ? s->n : (t - s->start_ns) / s->width_ns;
		f->seen[i - 1] =
		    k < s->n && hot[k] ? ALGO_LOSS_HOT : ALGO_LOSS_COLD;
	}
}

static void filter_add(struct algo_loss_filter *f, const struct obs_run *u,
    const struct algo_series *s, const uint8_t hot[])
{
	const double *bytes = algo_series_at(s, 0, ALGO_SERIES_IN);
	struct algo_loss_counts *host = &f->host[u->host],
				*rack = filter_rack(f, u->host);
	host->buckets += u->n_buckets;
	for (size_t k = 0; k < s->n; k++) {
		rack->bytes += bytes[k];
		rack->hot_bytes += hot[k] ? bytes[k] : 0;
		host->hot_buckets += hot[k];
	}
}

static int filter_look(struct algo_loss_filter *f, const struct obs *w,
    const struct algo_samples_in *in, struct sim_err *e)
{
	const sim_ns width = sim_ns_of(f->cause.width_ms * 1e-3 + 5e-10);
	struct algo_series s = {0};
	uint8_t *burst = NULL; /* [2][buckets]: in a burst; hot */
	size_t cap = 0;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < in->runs->n; i++) {
		const struct obs_run u = obs_runs_at(in->runs, i);
		if (u.width_ns != width)
			continue;
		if ((rc = algo_series_align(&s, in->runs, in->samples, &i, 1,
			 NULL, e)) < 0 ||
		    (rc = SIM_RESERVE(&burst, &cap, 2 * s.n, e)) < 0)
			break;
		algo_burst_mark(&s, 0, f->cause.share, burst);
		algo_loss_mark_hot(&s, 0, &f->cause, burst, burst + s.n);
		filter_widen(burst + s.n, s.n);
		filter_see(f, w, &u, &s, burst + s.n);
		filter_add(f, &u, &s, burst + s.n);
	}
	algo_series_free(&s);
	free(burst);
	return rc;
}

static double filter_ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

/* Q of flows of which a share Z is hot, B of those by chance. */
static double filter_share(double z, double b)
{
	return b < 1 ? fmax(0, (z - b) / (1 - b)) : 0;
}

static int filter_order(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return SIM_ORDER(x, y);
}

/* Of racks that were sampled, the lower one of two in the middle. */
static double filter_median(struct algo_loss_filter *f)
{
	size_t n = 0;
	for (uint32_t r = 0; r < f->topo->n_switches; r++)
		if (f->rack[r].bytes > 0)
			f->of_rack[n++] =
			    f->rack[r].hot_bytes / f->rack[r].bytes;
	if (n == 0)
		return 0;
	qsort(f->of_rack, n, sizeof(f->of_rack[0]), filter_order);
	return f->of_rack[(n - 1) / 2];
}

/* B of the flows to a host. */
static double filter_chance(const struct algo_loss_filter *f, uint32_t h)
{
	const struct algo_loss_counts *c = &f->host[h];
	return f->busy +
	    (1 - f->busy) * filter_ratio(c->hot_buckets, c->buckets);
}

/* Count what was seen, by host and rack. Returns that of all. */
static struct algo_loss_counts filter_count(struct algo_loss_filter *f,
    const struct obs *w)
{
	struct algo_loss_counts all = {0};
	for (size_t i = 0; i < w->flows.n; i++) {
		if (f->seen[i] == ALGO_LOSS_UNSEEN)
			continue;
		const uint32_t h = w->flows.dst_host[i];
		struct algo_loss_counts *const to[] = {&f->host[h],
		    filter_rack(f, h), &all};
		for (unsigned k = 0; k < 3; k++) {
			to[k]->n_seen++;
			to[k]->n_hot += f->seen[i] == ALGO_LOSS_HOT;
			to[k]->chance += filter_chance(f, h);
		}
	}
	return all;
}

/* By what others show: a hot flow must not be a witness against itself. */
static int filter_hot_is_aside(const struct algo_loss_counts *r,
    const struct algo_loss_counts *all, double b)
{
	const double more = LOSS_FILTER_MORE, n = r->n_seen - 1 + more;
	const double z = filter_ratio(all->n_hot - 1, all->n_seen - 1);
	const double mean = filter_ratio(all->chance, all->n_seen);
	const double q = filter_share((r->n_hot - 1 + more * z) / n,
	    (r->chance - b + more * mean) / n);
	return q > (1 - q) * b;
}

static int filter_unseen_is_aside(const struct algo_loss_counts *h,
    const struct algo_loss_counts *r, double b)
{
	const double z = r->n_hot / (r->n_seen + LOSS_FILTER_MORE);
	return filter_share((h->n_hot + z) / (h->n_seen + 1), b) > 0.5;
}

/* f->aside has what hosts tell, which counts for flows that were not seen. */
static void filter_judge(struct algo_loss_filter *f, const struct obs *w)
{
	f->busy = filter_median(f);
	const struct algo_loss_counts all = filter_count(f, w);
	for (size_t i = 0; i < w->flows.n; i++) {
		const uint32_t h = w->flows.dst_host[i];
		if (w->flows.n_retx[i] == 0 || h >= f->topo->n_hosts)
			continue;
		const struct algo_loss_counts *r = filter_rack(f, h);
		const double b = filter_chance(f, h);
		if (f->seen[i] == ALGO_LOSS_UNSEEN)
			f->aside[i] |=
			    filter_unseen_is_aside(&f->host[h], r, b);
		else
			f->aside[i] = f->seen[i] == ALGO_LOSS_HOT &&
			    filter_hot_is_aside(r, &all, b);
	}
}

static int filter_by_flow(struct algo_loss_filter *f, const struct obs *w,
    const struct algo_samples_in *in, struct sim_err *e)
{
	const struct topo *t = f->topo;
	int rc;
	if ((rc = filter_by_host(f, w, in, e)) < 0 ||
	    (rc = SIM_RESERVE(&f->seen, &f->cap_seen, w->flows.n, e)) < 0 ||
	    (rc = SIM_RESERVE(&f->next, &f->cap_next, w->flows.n, e)) < 0)
		return rc;
	memset(f->host, 0, t->n_hosts * sizeof(f->host[0]));
	memset(f->rack, 0, t->n_switches * sizeof(f->rack[0]));
	filter_list(f, w);
	if ((rc = filter_look(f, w, in, e)) == 0)
		filter_judge(f, w);
	return rc;
}

int algo_loss_filter_find(struct algo_loss_filter *f,
    const struct algo_loss_filter_params *p, const struct obs *w,
    const struct algo_samples_in *in, struct sim_err *e)
{
	const int rc = SIM_RESERVE(&f->aside, &f->cap_aside, w->flows.n, e);
	if (rc < 0)
		return rc;
	return p->by == ALGO_LOSS_BY_FLOW && w->retx_ns
	    ? filter_by_flow(f, w, in, e)
	    : filter_by_host(f, w, in, e);
}
