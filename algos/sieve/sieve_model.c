/* algos/sieve/sieve_model.c -- what a window says of the hazards of links.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/vec.h"

/* The least hazard of the grid, and the logarithm of the ratio of neighbours. */
static const double SIEVE_LEAST = 1e-7, SIEVE_STEP = 0.54;

void sieve_model_free(struct sieve_model *m)
{
	sieve_choice_free(&m->choice);
	free(m->kept);
	free(m->passed);
	free(m->exposure);
	free(m->exposure_of);
	sieve_halves_free(&m->halves);
	free(m->lossy);
	free(m->hop);
	free(m->off);
	free(m->over);
	free(m->hazard);
	free(m->sum);
	free(m->set_kept);
	sieve_sets_free(&m->sets);
	sieve_cells_free(&m->cells);
	sieve_ways_free(&m->ways);
	*m = (struct sieve_model){0};
}

/* A row's path, or the first that it may have taken. */
static uint32_t sieve_model_path(const struct obs_tallies *t, size_t i)
{
	return t->path[i] == OBS_NO_PATH ? t->paths->first[t->set[i]]
					 : t->path[i];
}

/* --- reading -------------------------------------------------------------- */

static int sieve_model_room(struct sieve_model *m, struct sim_err *e)
{
	const size_t n_links = m->topo->n_links;
	int rc;
	if ((rc = SIM_RESERVE(&m->kept, &m->cap_kept, n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->passed, &m->cap_passed, n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->exposure_of, &m->cap_exposure_of, n_links,
		 e)) < 0 ||
	    (rc = SIM_RESERVE(&m->hazard, &m->cap_hazard, n_links, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->off, &m->cap_off, n_links + 2, e)) < 0 ||
	    (!m->choice.on &&
		(rc = sieve_halves_begin(&m->halves, m->rows->paths,
		     m->topo->n_switches, e)) < 0))
		return rc;
	memset(m->kept, 0, n_links * sizeof(*m->kept));
	memset(m->exposure_of, 0xff, n_links * sizeof(*m->exposure_of));
	m->n_exposures = 0;
	return 0;
}

static void sieve_model_keep(struct sieve_model *m, uint32_t path, double n)
{
	const struct obs_paths *p = m->rows->paths;
	for (uint32_t k = p->off[path]; k < p->off[path + 1]; k++)
		m->kept[p->link[k]] += n;
}

static int sieve_model_note(struct sieve_model *m, uint32_t row, uint32_t set,
    struct sim_err *e)
{
	const int rc = SIM_RESERVE(&m->lossy, &m->cap_lossy, m->n_lossy + 2, e);
	if (rc == 0)
		m->lossy[m->n_lossy++] = (struct sieve_lossy){.row = row,
		    .n_lost = m->rows->n_lost[row],
		    .set = set};
	return rc;
}

/* Most telemetries have no row of no known path, and pay for none. */
static int sieve_model_room_dark(struct sieve_model *m, struct sim_err *e)
{
	const struct obs_paths *p = m->rows->paths;
	int rc;
	if ((rc = sieve_sets_begin(&m->sets, m->topo, p, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->set_kept, &m->cap_set_kept, p->n_sets, e)) <
		0)
		return rc;
	memset(m->set_kept, 0, p->n_sets * sizeof(*m->set_kept));
	return sieve_cells_begin(m, e);
}

static int sieve_model_take_dark(struct sieve_model *m, uint32_t i,
    struct sim_err *e)
{
	const struct obs_tallies *t = m->rows;
	int rc;
	if (m->n_dark++ == 0 && (rc = sieve_model_room_dark(m, e)) < 0)
		return rc;
	m->sets.used[t->set[i]] = 1;
	m->set_kept[t->set[i]] += t->n_sent[i] - t->n_lost[i];
	if (t->n_lost[i] == 0)
		sieve_cells_take(&m->cells, t->set[i], t->n_sent[i]);
	return 0;
}

/* Where lossy flows alone are seen: they are few beside paths. */
static int sieve_model_rows_seen(struct sieve_model *m, struct sim_err *e)
{
	const struct obs_tallies *t = m->rows;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < t->n; i++) {
		const double kept = t->n_sent[i] - t->n_lost[i];
		if (sieve_model_is_dark(t, i))
			continue;
		sieve_model_keep(m, sieve_model_path(t, i), kept);
		if (t->up[i] != TOPO_NONE)
			m->kept[t->up[i]] += kept;
		if (t->down[i] != TOPO_NONE)
			m->kept[t->down[i]] += kept;
		if (t->n_lost[i] > 0)
			rc = sieve_model_note(m, i, OBS_NO_PATH, e);
	}
	return rc;
}

/* Rows of one sender mostly follow one another, and its sum would have to be in
 * memory before the next may be added. */
static int sieve_model_rows_all(struct sieve_model *m, struct sim_err *e)
{
	const struct obs_tallies *t = m->rows;
	struct sieve_halves *h = &m->halves;
	double of_up = 0;
	topo_link up = TOPO_NONE;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < t->n; i++) {
		const double kept = (int64_t)t->n_sent[i] - t->n_lost[i];
		const struct sieve_halves_set *set = &h->set[t->set[i]];
		const uint32_t path = t->path[i];
		const int dark = path == OBS_NO_PATH && set->n > 1;
		if (dark)
			rc = sieve_model_take_dark(m, i, e);
		else
			sieve_halves_count(h, set,
			    path == OBS_NO_PATH ? 0 : path - set->first, kept);
		if (t->up[i] != up) {
			if (up != TOPO_NONE)
				m->kept[up] += of_up;
			up = t->up[i];
			of_up = 0;
		}
		of_up += kept;
		if (t->down[i] != TOPO_NONE)
			m->kept[t->down[i]] += kept;
		if (t->n_lost[i] > 0 && rc == 0)
			rc = sieve_model_note(m, i,
			    dark ? t->set[i] : OBS_NO_PATH, e);
	}
	if (up != TOPO_NONE)
		m->kept[up] += of_up;
	sieve_halves_end(h, m->kept);
	return rc;
}

static int sieve_model_rows(struct sieve_model *m, struct sim_err *e)
{
	m->n_lossy = m->n_dark = 0;
	return m->choice.on ? sieve_model_rows_seen(m, e)
			    : sieve_model_rows_all(m, e);
}

/* The links that a lossy row surely crossed. */
static int sieve_model_hops(struct sieve_model *m, struct sim_err *e)
{
	const struct obs_tallies *t = m->rows;
	const struct obs_paths *p = t->paths;
	uint32_t n_hops = 0;
	int rc;
	for (size_t i = 0; i < m->n_lossy; i++) {
		struct sieve_lossy *x = &m->lossy[i];
		const int dark = x->set != OBS_NO_PATH;
		const uint32_t path = sieve_model_path(t, x->row);
		const uint32_t *link = dark
		    ? m->sets.sure + m->sets.sure_off[x->set]
		    : p->link + p->off[path];
		const uint32_t n = dark
		    ? m->sets.sure_off[x->set + 1] - m->sets.sure_off[x->set]
		    : obs_path_length(p, path);
		if ((rc = SIM_RESERVE(&m->hop, &m->cap_hop,
			 (size_t)n_hops + n + 2, e)) < 0)
			return rc;
		x->first = n_hops;
		if (t->up[x->row] != TOPO_NONE)
			m->hop[n_hops++] = t->up[x->row];
		for (uint32_t k = 0; k < n; k++)
			m->hop[n_hops++] = link[k];
		if (t->down[x->row] != TOPO_NONE)
			m->hop[n_hops++] = t->down[x->row];
		x->n_maybe =
		    (uint16_t)(dark ? obs_path_length(p, path) - n : 0);
	}
	if (m->n_lossy > 0)
		m->lossy[m->n_lossy].first = n_hops;
	return 0;
}

/* Counting sort of the hops of lossy rows by link. */
static int sieve_model_sort(struct sieve_model *m, struct sim_err *e)
{
	const size_t n_links = m->topo->n_links,
		     n_hops = m->n_lossy ? m->lossy[m->n_lossy].first : 0;
	uint32_t *first = m->off + 1;
	int rc;
	memset(m->off, 0, (n_links + 2) * sizeof(*m->off));
	if ((rc = SIM_RESERVE(&m->over, &m->cap_over, n_hops, e)) < 0 ||
	    (rc = SIM_RESERVE(&m->sum, &m->cap_sum, m->n_lossy, e)) < 0)
		return rc;
	for (size_t k = 0; k < n_hops; k++)
		first[m->hop[k] + 1]++;
	for (size_t l = 0; l < n_links; l++)
		first[l + 1] += first[l];
	/* Where a link begins moves to where it ends, and the next begins. */
	for (uint32_t i = 0; i < m->n_lossy; i++)
		for (uint32_t k = m->lossy[i].first; k < m->lossy[i + 1].first;
		     k++)
			m->over[first[m->hop[k]]++] = i;
	return 0;
}

/* Rows of no known path leave what arrived on links that they surely crossed, and
 * their shares on others. */
static void sieve_model_pass(struct sieve_model *m)
{
	const struct sieve_sets *s = &m->sets;
	const size_t n_links = m->topo->n_links;
	for (uint32_t set = 0; m->n_dark > 0 && set < s->n_sets; set++)
		for (uint32_t k = s->sure_off[set]; k < s->sure_off[set + 1];
		     k++)
			m->kept[s->sure[k]] += m->set_kept[set];
	memcpy(m->passed, m->kept, n_links * sizeof(*m->passed));
	if (m->n_dark == 0)
		return;
	sieve_sets_share(&m->sets, m->set_kept);
	for (topo_link l = 0; l < n_links; l++)
		if (s->class_of[l] != SIEVE_NO_CLASS)
			m->passed[l] += s->share[s->class_of[l]];
}

int sieve_model_read(struct sieve_model *m, const struct obs *window,
    struct sim_err *e)
{
	int rc;
	m->rows = window->tallies;
	m->choice.on = sieve_choice_needed(m->rows->telemetry);
	for (unsigned g = 0; g < SIEVE_GRID; g++) {
		m->x[g] = SIEVE_LEAST * exp(SIEVE_STEP * g);
		m->p[g] = -expm1(-m->x[g]);
		m->ln_x[g] = log(m->x[g]);
	}
	if ((rc = sieve_model_room(m, e)) < 0 ||
	    (rc = sieve_model_rows(m, e)) < 0 ||
	    (m->n_dark > 0 &&
		(rc = sieve_sets_update(&m->sets, m->topo->n_links, e)) < 0) ||
	    (rc = sieve_model_hops(m, e)) < 0 ||
	    (rc = sieve_model_sort(m, e)) < 0 ||
	    (m->n_dark > 0 && (rc = sieve_ways_read(m, e)) < 0) ||
	    (m->n_dark > 0 && (rc = sieve_cells_read(m, e)) < 0))
		return rc;
	sieve_model_pass(m);
	return sieve_choice_read(m, e);
}

int sieve_model_expose(struct sieve_model *m, struct sim_err *e)
{
	const int rc = SIM_RESERVE(&m->exposure, &m->cap_exposure,
	    (m->n_exposures + 1) * SIEVE_GRID, e);
	if (rc < 0)
		return rc;
	memset(m->exposure + m->n_exposures++ * SIEVE_GRID, 0,
	    SIEVE_GRID * sizeof(*m->exposure));
	return 0;
}

double sieve_model_slope(const struct sieve_model *m, topo_link l, double x)
{
	const double *h = sieve_model_exposure(m, l);
	unsigned g = 0;
	if (!h)
		return m->kept[l];
	while (g + 2 < SIEVE_GRID && m->x[g + 1] <= x)
		g++;
	return m->kept[l] + (h[g + 1] - h[g]) / (m->x[g + 1] - m->x[g]);
}

/* --- hazards -------------------------------------------------------------- */

void sieve_model_add_up(struct sieve_model *m)
{
	for (size_t i = 0; i < m->n_lossy; i++) {
		m->sum[i] = 0;
		for (uint32_t k = m->lossy[i].first; k < m->lossy[i + 1].first;
		     k++)
			m->sum[i] += m->hazard[m->hop[k]];
		m->sum[i] += m->lossy[i].n_maybe * m->level;
	}
	if (m->n_dark > 0)
		sieve_ways_count(m);
}

void sieve_model_spare(struct sieve_model *m, uint32_t i, int spared)
{
	struct sieve_lossy *x = &m->lossy[i];
	const int dark = x->set != OBS_NO_PATH;
	if (spared == (x->n_lost == 0))
		return;
	if (dark && spared)
		sieve_cells_turn(m, i, -1);
	x->n_lost = spared ? 0 : m->rows->n_lost[x->row];
	if (dark && !spared)
		sieve_cells_turn(m, i, 1);
	/* What was found for links of a class has the row in it. */
	m->ways.n_changes += (uint64_t)dark;
}

void sieve_model_settle(struct sieve_model *m)
{
	if (m->n_dark > 0)
		sieve_cells_tabulate(m);
}

void sieve_model_level(struct sieve_model *m, double hazard)
{
	for (topo_link l = 0; l < m->topo->n_links; l++)
		m->hazard[l] = hazard;
	m->level = hazard;
	sieve_model_add_up(m);
}

void sieve_model_set(struct sieve_model *m, topo_link link, double hazard)
{
	const double more = hazard - m->hazard[link];
	const int turn = (hazard != m->level) - (m->hazard[link] != m->level);
	m->hazard[link] = hazard;
	if (m->n_dark > 0)
		sieve_ways_change(m, link);
	if (turn && m->n_dark > 0)
		sieve_ways_turn(m, link, turn);
	for (uint32_t k = m->off[link]; k < m->off[link + 1]; k++)
		m->sum[m->over[k]] += more;
}

static double sieve_model_most(const struct sieve_model *m)
{
	double n = 0, sum = 0;
	for (topo_link l = 0; m->even && l < m->topo->n_links; l++)
		if (m->passed[l] > 0) {
			sum += 1 / m->passed[l];
			n++;
		}
	return n > 0 ? n / sum : INFINITY;
}

double sieve_model_mean(const struct sieve_model *m, const uint8_t failed[])
{
	const double most = sieve_model_most(m);
	double lost = 0, on = 0;
	for (size_t i = 0; i < m->n_lossy; i++) {
		double healthy = m->lossy[i].n_maybe * m->level;
		if (sieve_ways_is_touched(m, i)) {
			lost += m->lossy[i].n_lost * sieve_ways_healthy(m, i);
			continue;
		}
		for (uint32_t k = m->lossy[i].first; k < m->lossy[i + 1].first;
		     k++) {
			const topo_link l = m->hop[k];
			if (failed[l])
				continue;
			healthy += m->passed[l] > most
			    ? m->hazard[l] * most / m->passed[l]
			    : m->hazard[l];
		}
		lost += m->lossy[i].n_lost * healthy / m->sum[i];
	}
	for (topo_link l = 0; l < m->topo->n_links; l++)
		if (!failed[l])
			on += sieve_min(m->passed[l], most);
	const double mean = on > 0 ? lost / on : 0;
	return fmin(fmax(mean, fmax(m->floor, 2 * SIEVE_LEAST)),
	    m->x[SIEVE_GRID - 4]);
}
