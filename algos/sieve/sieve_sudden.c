/* algos/sieve/sieve_sudden.c -- rows that lost much at once, and who may have it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_sudden.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/sieve/sieve_search.h"
#include "sim/vec.h"

/* Queues overflow for few of the rows. */
enum { SUDDEN_RHOS = 17, SUDDEN_RHOS_QUEUE = 14 };
static const double SUDDEN_LEAST = 1e-4, SUDDEN_RATIO = 1.75;

void sieve_sudden_free(struct sieve_sudden *x)
{
	free(x->row);
	free(x->found);
	free(x->off);
	free(x->over);
	free(x->share);
	free(x->touched);
	free(x->set);
	free(x->ln);
	*x = (struct sieve_sudden){0};
}

/* --- parts of rows -------------------------------------------------------- */

static void sudden_touch(struct sieve_sudden *x, uint32_t part, double share)
{
	if (x->share[part] == 0)
		x->touched[x->n_touched++] = part;
	x->share[part] = fmin(1, x->share[part] + share);
}

/* A way over a link comes to the switch behind it. */
static void sudden_cross(struct sieve_search *s, topo_link l, double share)
{
	const topo_switch to = s->devices.end[2 * (size_t)l + 1];
	sudden_touch(&s->sudden, l, share);
	if (to != TOPO_NONE)
		sudden_touch(&s->sudden, s->model.topo->n_links + to, share);
}

static void sudden_cross_set(struct sieve_search *s, uint32_t set)
{
	const struct algo_ways *w = &s->model.sets.ways;
	const double n = obs_set_size(w->of, set);
	for (uint32_t k = w->set_off[set]; k < w->set_off[set + 1]; k++)
		sudden_cross(s, w->set_part[k], w->set_count[k] / n);
}

/* The parts of row ROW are touched, but for those of a set, if WAY is 0. */
static void sudden_cross_row(struct sieve_search *s, uint32_t row, int way)
{
	const struct obs_tallies *t = s->model.rows;
	const struct obs_paths *p = t->paths;
	const int dark = sieve_model_is_dark(t, row);
	const uint32_t path =
	    t->path[row] == OBS_NO_PATH ? p->first[t->set[row]] : t->path[row];
	if (t->up[row] != TOPO_NONE)
		sudden_cross(s, t->up[row], 1);
	for (uint32_t k = p->off[path]; !dark && k < p->off[path + 1]; k++)
		sudden_cross(s, p->link[k], 1);
	if (dark && way)
		sudden_cross_set(s, t->set[row]);
	if (t->down[row] != TOPO_NONE)
		sudden_cross(s, t->down[row], 1);
}

static void sudden_forget(struct sieve_sudden *x)
{
	for (size_t k = 0; k < x->n_touched; k++)
		x->share[x->touched[k]] = 0;
	x->n_touched = 0;
}

/* --- counting ------------------------------------------------------------- */

static void sudden_count(struct sieve_sudden *x, double n)
{
	for (size_t k = 0; k < x->n_touched; k++) {
		const double q = x->share[x->touched[k]];
		struct sieve_sudden_over *o = &x->over[x->touched[k]];
		o->flows += n * q;
		o->squares += n * q * q;
	}
	sudden_forget(x);
}

static void sudden_count_probe(struct sieve_sudden *x, double kept)
{
	for (size_t k = 0; k < x->n_touched; k++) {
		const double q = x->share[x->touched[k]];
		x->over[x->touched[k]].probes += q;
		x->over[x->touched[k]].kept += q * kept;
	}
	sudden_forget(x);
}

/* Rows of no known path go by their sets, which have many links. */
static void sudden_count_all(struct sieve_search *s)
{
	struct sieve_sudden *x = &s->sudden;
	const struct obs_tallies *t = s->model.rows;
	const size_t n_sets = t->paths->n_sets;
	memset(x->over, 0, x->n_parts * sizeof(*x->over));
	memset(x->set, 0, n_sets * sizeof(*x->set));
	for (uint32_t i = 0; i < t->n; i++) {
		const int dark = sieve_model_is_dark(t, i);
		if (dark && s->model.choice.on)
			continue;
		if (dark)
			x->set[t->set[i]]++;
		sudden_cross_row(s, i, 0);
		if (t->is_probe[i])
			sudden_count_probe(x, t->n_sent[i] - t->n_lost[i]);
		else
			sudden_count(x, 1);
	}
	for (uint32_t k = 0; k < n_sets; k++)
		if (x->set[k] > 0) {
			sudden_cross_set(s, k);
			sudden_count(x, x->set[k]);
		}
}

static int sudden_find(struct sieve_search *s, struct sim_err *e)
{
	struct sieve_sudden *x = &s->sudden;
	const struct sieve_model *m = &s->model;
	int rc = 0;
	x->n = 0;
	memset(x->off, 0, (x->n_parts + 2) * sizeof(*x->off));
	for (uint32_t i = 0; rc == 0 && i < m->n_lossy; i++) {
		sudden_cross_row(s, m->lossy[i].row, 1);
		rc = SIM_RESERVE(&x->found, &x->cap_found, x->n + x->n_touched,
		    e);
		for (size_t k = 0; rc == 0 && k < x->n_touched; k++) {
			const uint32_t part = x->touched[k];
			x->found[x->n++] =
			    (struct sieve_sudden_row){part, i, x->share[part]};
			x->off[part + 2]++;
		}
		sudden_forget(x);
	}
	return rc;
}

/* Counting sort by part. */
static void sudden_sort(struct sieve_sudden *x)
{
	uint32_t *first = x->off + 1;
	for (size_t p = 0; p < x->n_parts; p++)
		first[p + 1] += first[p];
	for (size_t i = 0; i < x->n; i++)
		x->row[first[x->found[i].part]++] = x->found[i];
}

int sieve_sudden_read(struct sieve_search *s, struct sim_err *e)
{
	struct sieve_sudden *x = &s->sudden;
	const size_t n =
	    (size_t)s->model.topo->n_links + s->model.topo->n_switches;
	int rc;
	if (x->known)
		return 0;
	x->n_parts = n;
	if ((rc = SIM_RESERVE(&x->off, &x->cap_off, n + 2, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->over, &x->cap_over, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->share, &x->cap_share, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->touched, &x->cap_touched, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->set, &x->cap_set,
		 s->model.rows->paths->n_sets, e)) < 0)
		return rc;
	memset(x->share, 0, n * sizeof(*x->share));
	x->n_touched = 0;
	if ((rc = sudden_find(s, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->row, &x->cap_row, x->n, e)) < 0 ||
	    (rc = SIM_RESERVE(&x->ln, &x->cap_ln, x->n, e)) < 0)
		return rc;
	sudden_sort(x);
	sudden_count_all(s);
	x->known = 1;
	return 0;
}

/* --- what a law says ------------------------------------------------------ */

static double sudden_ln_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

double sieve_sudden_plain(const struct sieve_search *s, uint32_t i)
{
	const struct sieve_model *m = &s->model;
	const uint32_t row = m->lossy[i].row;
	const double n = m->rows->n_sent[row], lost = m->rows->n_lost[row],
		     sum = fmax(m->sum[i], SIEVE_NO_REST);
	return (lost < n ? sudden_ln_choose(n, lost) : 0) +
	    (sieve_ways_is_touched(m, i)
		    ? sieve_ways_plain(m, i, lost, n - lost)
		    : lost * log(-expm1(-sum)) - (n - lost) * sum);
}

static double sudden_binomial(double n, double lost, double rate)
{
	return (lost < n ? sudden_ln_choose(n, lost) : 0) + lost * log(rate) +
	    (n - lost) * log1p(-rate);
}

/* ln of P(r | law) / P0; -INFINITY: the law cannot. */
static double sudden_ratio(const struct sieve_search *s, uint32_t i,
    const struct sieve_fit *fit)
{
	const struct obs_tallies *t = s->model.rows;
	const uint32_t row = s->model.lossy[i].row;
	const double n = t->n_sent[row], lost = t->n_lost[row];
	double ln = 0;
	if (fit->law == SIEVE_QUEUE && lost < 2)
		return -INFINITY;
	if (fit->law == SIEVE_QUEUE)
		ln = log(lost < n ? 2 / (lost * (lost + 1)) : 2 / lost);
	else if (fit->law == SIEVE_SPELL)
		ln = sudden_binomial(n, lost, fit->rate) -
		    log(-expm1(n * log1p(-fit->rate)));
	else if (lost < n)
		return -INFINITY;
	return ln - sieve_sudden_plain(s, i);
}

/* Of flows over a part that is a link, or a switch. */
static double sudden_flows(const struct sieve_search *s, uint32_t part)
{
	const struct sieve_model *m = &s->model;
	const struct sieve_choice *c = &m->choice;
	const topo_link n_links = m->topo->n_links;
	double n = s->sudden.over[part].flows;
	if (!c->on)
		return n;
	/* Lossy flows stand for those that lost nothing. */
	for (topo_link l = part < n_links ? part : 0;
	     l < (part < n_links ? part + 1 : n_links); l++)
		for (unsigned b = 0; b < c->n_bins &&
		     (part < n_links ||
			 s->devices.end[2 * (size_t)l + 1] == part - n_links);
		     b++)
			n += c->bin[(size_t)c->groups.of[l] * c->n_bins + b].a;
	return n;
}

/* Packets of a probe row that each are lost with probability RATE besides. */
static double sudden_probe(const struct sieve_search *s,
    const struct sieve_sudden_row *row, double rate)
{
	const struct sieve_model *m = &s->model;
	const double lost = m->lossy[row->lossy].n_lost,
		     sum = fmax(m->sum[row->lossy], SIEVE_NO_REST);
	return row->share * lost * log1p(rate / expm1(sum));
}

static double sudden_row(double share, double rho, double ratio)
{
	const double z = log(share * rho) + ratio;
	return z > 30 ? z : log1p(share * rho * expm1(ratio));
}

/* Rows that FIT cannot explain, of a part: N_FLOWS of flows, all with one share. */
static double sudden_quiet(const struct sieve_search *s, uint32_t part,
    const struct sieve_fit *fit, double n_flows)
{
	const struct sieve_sudden_over *o = &s->sudden.over[part];
	const double share = o->flows > 0 ? o->squares / o->flows : 1,
		     flows =
			 fmax(0, n_flows) / share * log1p(-share * fit->rho);
	return fit->law == SIEVE_WHOLE
	    ? flows + o->probes * log1p(-fit->rho)
	    : flows + o->kept * log1p(-fit->rho * fit->rate);
}

/* At one rho: x->ln[] has what rows say. */
static double sudden_at(const struct sieve_search *s, uint32_t part,
    const struct sieve_fit *fit, double n_flows)
{
	const struct sieve_sudden *x = &s->sudden;
	const struct sieve_model *m = &s->model;
	double ln = sudden_quiet(s, part, fit, n_flows);
	for (uint32_t k = x->off[part]; k < x->off[part + 1]; k++) {
		const struct sieve_sudden_row *row = &x->row[k];
		if (x->ln[k] > 0)
			ln += sudden_row(row->share, fit->rho, x->ln[k]);
		else if (fit->law != SIEVE_WHOLE &&
		    m->rows->is_probe[m->lossy[row->lossy].row])
			ln += sudden_probe(s, row, fit->rho * fit->rate);
	}
	return ln;
}

/* Over all rho, at the rate of FIT, whose rho becomes the likeliest. */
static double sudden_over_rho(const struct sieve_search *s, uint32_t part,
    struct sieve_fit *fit)
{
	const struct sieve_sudden *x = &s->sudden;
	const struct sieve_model *m = &s->model;
	double ln[SUDDEN_RHOS], most = -INFINITY, sum = 0,
				n_flows = sudden_flows(s, part);
	const unsigned n_rhos =
	    fit->law == SIEVE_QUEUE ? SUDDEN_RHOS_QUEUE : SUDDEN_RHOS;
	struct sieve_fit at = {fit->law, SUDDEN_LEAST, fit->rate};
	for (uint32_t k = x->off[part]; k < x->off[part + 1]; k++) {
		const uint32_t i = x->row[k].lossy;
		const int probe = m->rows->is_probe[m->lossy[i].row];
		x->ln[k] = m->lossy[i].n_lost == 0 ||
			(probe && fit->law != SIEVE_WHOLE)
		    ? -INFINITY
		    : sudden_ratio(s, i, fit);
		if (!probe && (x->ln[k] > 0 || m->lossy[i].n_lost == 0))
			n_flows -= x->row[k].share;
	}
	for (unsigned n = 0; n < n_rhos; n++, at.rho *= SUDDEN_RATIO) {
		ln[n] = sudden_at(s, part, &at, n_flows);
		if (ln[n] > most)
			fit->rho = at.rho;
		most = fmax(most, ln[n]);
	}
	for (unsigned n = 0; n < n_rhos; n++)
		sum += exp(ln[n] - most);
	return most + log(sum / n_rhos);
}

double sieve_sudden_evidence(const struct sieve_search *s, uint32_t part,
    enum sieve_law law, struct sieve_fit *likely)
{
	enum { RATES = 10 };
	static const double LEAST = .005, RATIO = 1.758;
	double ln[RATES], most = -INFINITY, sum = 0;
	struct sieve_fit at = {law, 0, law == SIEVE_QUEUE ? .5 : 1};
	*likely = at;
	if (law != SIEVE_SPELL)
		return sudden_over_rho(s, part, likely);
	at.rate = LEAST;
	for (unsigned n = 0; n < RATES; n++, at.rate *= RATIO) {
		ln[n] = sudden_over_rho(s, part, &at);
		if (ln[n] > most)
			*likely = at;
		most = fmax(most, ln[n]);
	}
	for (unsigned n = 0; n < RATES; n++)
		sum += exp(ln[n] - most);
	return most + log(sum / RATES);
}

double sieve_sudden_odds(const struct sieve_search *s,
    const struct sieve_sudden_row *row, const struct sieve_fit *fit)
{
	const struct sieve_model *m = &s->model;
	const int probe = m->rows->is_probe[m->lossy[row->lossy].row];
	if (m->lossy[row->lossy].n_lost == 0)
		return -INFINITY;
	/* What a probe lost is rather the part's where that loses more than
	 * the rest of its way. */
	if (probe && fit->law != SIEVE_WHOLE)
		return log(fit->rho * fit->rate) -
		    log(-expm1(-fmax(m->sum[row->lossy], SIEVE_NO_REST)));
	return log(row->share * fit->rho) + sudden_ratio(s, row->lossy, fit);
}
