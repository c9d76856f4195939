/* algos/rivals/flock_model.c -- Flock's likelihood, of what each component adds.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/flock_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

void flock_model_free(struct flock_model *m)
{
	algo_ways_free(&m->ways);
	free(m->full);
	free(m->times);
	free(m->dead);
	free(m->set_row);
	free(m->unknown);
	free(m->known);
	free(m->sum);
	free(m->hit);
	free(m->gain);
	free(m->at_first);
	free(m->in);
	free(m->on);
	free(m->touched);
	*m = (struct flock_model){0};
}

/* --- parameters ----------------------------------------------------------- */

/* Rows decide and not the name of a telemetry: a window without probes is not of
 * A1, whatever was asked for. */
static struct algo_flock_params flock_defaults(unsigned telemetry)
{
	if (telemetry & OBS_TELE_INT)
		return (struct algo_flock_params){.003, .0002, -15, 0, 0, 0};
	if (telemetry & OBS_TELE_P && telemetry & OBS_TELE_A2)
		return (struct algo_flock_params){.002, .0003, -15, 0, 0, 0};
	if (telemetry & OBS_TELE_P)
		return (struct algo_flock_params){.006, .0003, -5, 0, 0, 0};
	if (telemetry & OBS_TELE_A2)
		return (struct algo_flock_params){.007, .0003, -35, 0, 0, 0};
	return (struct algo_flock_params){.0005, .000175, -4, 0, 0, 0};
}

int flock_model_params(const struct algo_flock_params *asked,
    unsigned telemetry, struct algo_flock_params *p, struct sim_err *e)
{
	const struct algo_flock_params d = flock_defaults(telemetry);
	*p = *asked;
	if (p->p_bad == 0)
		p->p_bad = d.p_bad;
	if (p->p_good == 0)
		p->p_good = d.p_good;
	if (p->prior == 0)
		p->prior = d.prior;
	return p->p_bad > p->p_good
	    ? 0
	    : sim_fail(e, SIM_EINVAL,
		  "p_bad %g must be above p_good %g: failed paths lose more.",
		  p->p_bad, p->p_good);
}

double flock_model_prior(const struct flock_model *m,
    const struct algo_flock_params *p, uint32_t c)
{
	return c < m->topo->n_links ? p->prior : 5 * p->prior;
}

/* --- rows without a path, set by set -------------------------------------- */

/* Above this exp() would overflow, or 1 be lost beside it. */
#define FLOCK_HUGE 600.0

/* ln of a row's bracket with a share Q of its paths hit. */
static double flock_row(const struct flock_model *m, uint32_t i, double q)
{
	if (q >= 1)
		return m->full[i];
	if (m->full[i] > FLOCK_HUGE)
		return log(q) + m->full[i];
	return log1p(q * (m->times[i] - 1));
}

/* The same of all rows of a set that are alive, for B of its paths. Factors are
 * multiplied up and a logarithm is taken only where the product may leave what
 * a double holds: each is at least 1 - q, and those of lossy rows are few. */
static double flock_set(const struct flock_model *m, uint32_t set, uint32_t b)
{
	const uint32_t w = obs_set_size(m->ways.of, set);
	const double q = (double)b / w;
	double sum = 0, product = 1;
	if (b == 0)
		return 0;
	for (uint32_t k = m->set_row[set]; k < m->set_row[set + 1]; k++) {
		const uint32_t i = m->unknown[k];
		if (m->dead[i])
			continue;
		if (b == w || fabs(m->full[i]) > 100) {
			sum += flock_row(m, i, q);
			continue;
		}
		product *= 1 + q * (m->times[i] - 1);
		if (product < 1e-200 || product > 1e200) {
			sum += log(product);
			product = 1;
		}
	}
	return sum + log(product);
}

/* Add, times SIGN, what the rows of a set, B of whose paths are hit, have in
 * each component's gain. Few numbers of paths occur, so each is done once. */
static void flock_set_parts(struct flock_model *m, uint32_t set, uint32_t b,
    double sign)
{
	enum { KNOWN = 16 };
	const struct algo_ways *w = &m->ways;
	const double before = flock_set(m, set, b);
	uint32_t n[KNOWN];
	double value[KNOWN];
	unsigned n_known = 0;
	for (uint32_t k = w->set_off[set]; k < w->set_off[set + 1]; k++) {
		const uint32_t c = w->set_part[k];
		const uint32_t more = b == 0 ? w->set_count[k] : m->on[c];
		unsigned i = 0;
		if (more == 0)
			continue;
		while (i < n_known && n[i] != more)
			i++;
		if (i == KNOWN)
			i = n_known = 0;
		if (i == n_known) {
			n[n_known] = more;
			value[n_known++] = flock_set(m, set, b + more) - before;
		}
		m->gain[c] += sign * value[i];
	}
}

static void flock_cables_add(struct flock_model *m, uint32_t i, double value)
{
	if (m->rows->up[i] != TOPO_NONE)
		m->gain[m->rows->up[i]] += value;
	if (m->rows->down[i] != TOPO_NONE)
		m->gain[m->rows->down[i]] += value;
}

/* The same of the cables of its hosts, which hit all paths. */
static void flock_set_cables(struct flock_model *m, uint32_t set, uint32_t b,
    double sign)
{
	const double q = (double)b / obs_set_size(m->ways.of, set);
	for (uint32_t k = m->set_row[set]; k < m->set_row[set + 1]; k++) {
		const uint32_t i = m->unknown[k];
		if (m->dead[i])
			continue;
		flock_cables_add(m, i,
		    sign * (m->full[i] - (b ? flock_row(m, i, q) : 0)));
	}
}

/* Count the paths of a set that are still good, by component, into m->on;
 * returns how many are hit. Taken back by flock_set_forget(). */
static uint32_t flock_set_count(struct flock_model *m, uint32_t set)
{
	const struct obs_paths *p = m->ways.of;
	uint32_t b = 0;
	for (uint32_t i = p->first[set]; i < p->first[set + 1]; i++)
		b += m->hit[i];
	for (uint32_t i = p->first[set]; b > 0 && i < p->first[set + 1]; i++)
		for (uint32_t k = m->ways.off[i];
		     !m->hit[i] && k < m->ways.off[i + 1]; k++)
			m->on[m->ways.part[k]]++;
	return b;
}

static void flock_set_forget(struct flock_model *m, uint32_t set)
{
	const struct algo_ways *w = &m->ways;
	for (uint32_t k = w->set_off[set]; k < w->set_off[set + 1]; k++)
		m->on[w->set_part[k]] = 0;
}

static void flock_set_add(struct flock_model *m, uint32_t set, double sign)
{
	if (m->set_row[set] == m->set_row[set + 1])
		return;
	const uint32_t b = flock_set_count(m, set);
	flock_set_parts(m, set, b, sign);
	flock_set_cables(m, set, b, sign);
	if (b > 0)
		flock_set_forget(m, set);
}

/* --- rows with a path ----------------------------------------------------- */

static void flock_path_add(struct flock_model *m, uint32_t path, double value)
{
	for (uint32_t k = m->ways.off[path]; k < m->ways.off[path + 1]; k++)
		m->gain[m->ways.part[k]] += value;
}

/* Rows over C, or over a path that it hits, say nothing of others any more. */
static void flock_known_join(struct flock_model *m, uint32_t c)
{
	const struct obs_tallies *t = m->rows;
	for (size_t k = 0; k < m->n_known; k++) {
		const uint32_t i = m->known[k];
		if (m->dead[i] ||
		    (t->up[i] != c && t->down[i] != c && !m->hit[t->path[i]]))
			continue;
		m->dead[i] = 1;
		flock_cables_add(m, i, -m->full[i]);
		if (!m->hit[t->path[i]]) {
			flock_path_add(m, t->path[i], -m->full[i]);
			m->sum[t->path[i]] -= m->full[i];
		}
	}
}

/* --- reading a window ----------------------------------------------------- */

static int flock_room(struct flock_model *m, struct sim_err *e)
{
	const size_t n = m->rows->n, n_paths = m->ways.n,
		     n_sets = m->ways.of->n_sets, n_parts = m->n_parts,
		     had_on = m->cap_on, had_touched = m->cap_touched;
	int rc;
	if ((rc = SIM_RESERVE(&m->full, &m->cap_full, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->times, &m->cap_times, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->dead, &m->cap_dead, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->known, &m->cap_known, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->unknown, &m->cap_unknown, n, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->set_row, &m->cap_set_row, n_sets + 2, e)) <
		0 ||
	    (rc = SIM_RESERVE(&m->sum, &m->cap_sum, n_paths, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->hit, &m->cap_hit, n_paths, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->gain, &m->cap_gain, n_parts, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->at_first, &m->cap_first, n_parts, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->in, &m->cap_in, n_parts, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->on, &m->cap_on, n_parts, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->touched, &m->cap_touched, n_sets, e)) < 0)
		return rc;
	for (size_t i = had_on; i < m->cap_on; i++)
		m->on[i] = 0;
	for (size_t i = had_touched; i < m->cap_touched; i++)
		m->touched[i] = 0;
	return 0;
}

/* Counting sort of the rows without a path by their set. */
static void flock_sort(struct flock_model *m)
{
	const struct obs_tallies *t = m->rows;
	const size_t n_sets = m->ways.of->n_sets;
	uint32_t *first = m->set_row + 1;
	memset(m->set_row, 0, (n_sets + 2) * sizeof(*m->set_row));
	m->n_known = 0;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->path[i] == OBS_NO_PATH)
			first[t->set[i] + 1]++;
		else
			m->known[m->n_known++] = i;
	for (size_t s = 0; s < n_sets; s++)
		first[s + 1] += first[s];
	/* Where a set begins moves to where it ends, which is where the next
	 * one begins. */
	for (uint32_t i = 0; i < t->n; i++)
		if (t->path[i] == OBS_NO_PATH)
			m->unknown[first[t->set[i]]++] = i;
}

static void flock_weigh(struct flock_model *m,
    const struct algo_flock_params *p)
{
	const double lost = log(p->p_bad / p->p_good),
		     kept = log1p(-p->p_bad) - log1p(-p->p_good);
	const struct obs_tallies *t = m->rows;
	for (size_t i = 0; i < t->n; i++)
		m->full[i] =
		    t->n_lost[i] * lost + (t->n_sent[i] - t->n_lost[i]) * kept;
	for (uint32_t k = 0; k < t->n - m->n_known; k++)
		m->times[m->unknown[k]] =
		    exp(fmin(m->full[m->unknown[k]], FLOCK_HUGE));
}

static void flock_sum(struct flock_model *m)
{
	memset(m->sum, 0, m->ways.n * sizeof(*m->sum));
	for (size_t k = 0; k < m->n_known; k++)
		if (!m->dead[m->known[k]])
			m->sum[m->rows->path[m->known[k]]] +=
			    m->full[m->known[k]];
}

static void flock_begin(struct flock_model *m)
{
	memset(m->dead, 0, m->rows->n);
	memset(m->hit, 0, m->ways.n);
	memset(m->in, 0, m->n_parts);
	flock_sum(m);
}

/* Of the rows that are alive, in the empty hypothesis. */
static void flock_gains(struct flock_model *m)
{
	memset(m->gain, 0, m->n_parts * sizeof(*m->gain));
	for (uint32_t i = 0; i < m->ways.n; i++)
		if (m->sum[i] != 0)
			flock_path_add(m, i, m->sum[i]);
	for (size_t k = 0; k < m->n_known; k++)
		if (!m->dead[m->known[k]])
			flock_cables_add(m, m->known[k], m->full[m->known[k]]);
	for (uint32_t s = 0; s < m->ways.n_sets; s++)
		flock_set_add(m, s, 1);
}

int flock_model_read(struct flock_model *m, const struct obs *window,
    const struct algo_flock_params *p, struct sim_err *e)
{
	int rc;
	m->rows = window->tallies;
	m->n_parts = m->topo->n_links + m->topo->n_switches;
	int unknown = 0;
	for (size_t i = 0; i < m->rows->n; i++)
		unknown |= m->rows->path[i] == OBS_NO_PATH;
	if ((rc = algo_ways_update(&m->ways, m->topo, m->rows->paths,
		 (int)p->switches, unknown, e)) < 0 ||
	    (rc = flock_room(m, e)) < 0)
		return rc;
	flock_sort(m);
	flock_weigh(m, p);
	flock_begin(m);
	flock_gains(m);
	memcpy(m->at_first, m->gain, m->n_parts * sizeof(*m->gain));
	return 0;
}

void flock_model_reset(struct flock_model *m)
{
	flock_begin(m);
	memcpy(m->gain, m->at_first, m->n_parts * sizeof(*m->gain));
}

void flock_model_most(struct flock_model *m, double most[])
{
	flock_begin(m);
	for (size_t i = 0; i < m->rows->n; i++)
		m->dead[i] = m->full[i] <= 0;
	flock_sum(m);
	flock_gains(m);
	memcpy(most, m->gain, m->n_parts * sizeof(*m->gain));
	flock_model_reset(m);
}

/* --- a component joins ---------------------------------------------------- */

static int flock_crosses(const struct flock_model *m, uint32_t path, uint32_t c)
{
	for (uint32_t k = m->ways.off[path]; k < m->ways.off[path + 1]; k++)
		if (m->ways.part[k] == c)
			return 1;
	return 0;
}

/* Mark the sets with a row that C may change: by a path of theirs, or by the
 * cable of a host. */
static void flock_touch(struct flock_model *m, uint32_t c)
{
	const struct algo_ways *w = &m->ways;
	const struct obs_tallies *t = m->rows;
	for (uint32_t s = 0; s < w->n_sets; s++)
		for (uint32_t k = w->set_off[s];
		     !m->touched[s] && k < w->set_off[s + 1]; k++)
			m->touched[s] = w->set_part[k] == c;
	for (size_t k = 0; k < t->n - m->n_known; k++) {
		const uint32_t i = m->unknown[k];
		if (t->up[i] == c || t->down[i] == c)
			m->touched[t->set[i]] = 1;
	}
}

static void flock_touched_add(struct flock_model *m, double sign)
{
	for (uint32_t s = 0; s < m->ways.n_sets; s++)
		if (m->touched[s])
			flock_set_add(m, s, sign);
}

static void flock_kill(struct flock_model *m, uint32_t c)
{
	const struct obs_tallies *t = m->rows;
	for (size_t k = 0; k < t->n - m->n_known; k++) {
		const uint32_t i = m->unknown[k];
		m->dead[i] |= t->up[i] == c || t->down[i] == c;
	}
}

void flock_model_join(struct flock_model *m, uint32_t c)
{
	if (m->ways.n_sets > 0) {
		flock_touch(m, c);
		flock_touched_add(m, -1);
	}
	for (uint32_t i = 0; i < m->ways.n; i++)
		if (!m->hit[i] && flock_crosses(m, i, c)) {
			m->hit[i] = 1;
			flock_path_add(m, i, -m->sum[i]);
			m->sum[i] = 0;
		}
	flock_known_join(m, c);
	flock_kill(m, c);
	m->in[c] = 1;
	if (m->ways.n_sets > 0) {
		flock_touched_add(m, 1);
		memset(m->touched, 0, m->ways.n_sets);
	}
}
