/* algos/sieve/sieve_model.h -- what a window says of the hazards of links.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. Hazards are -ln(1 - rate of loss). Each link has one, which
 * is the mean of healthy links unless it was accepted as failed; each lossy row
 * has the sum over its links.
 */
#ifndef ALGOS_SIEVE_SIEVE_MODEL_H
#define ALGOS_SIEVE_SIEVE_MODEL_H

#include "algos/sieve/sieve_cells.h"
#include "algos/sieve/sieve_choice.h"
#include "algos/sieve/sieve_halves.h"
#include "algos/sieve/sieve_lanes.h"
#include "algos/sieve/sieve_sets.h"
#include "algos/sieve/sieve_ways.h"
#include "models/obs.h"
#include "models/obs_tallies.h"
#include "topo/topo.h"

#define SIEVE_NO_EXPOSURE UINT32_MAX
/* A way has no less besides a link. */
#define SIEVE_NO_REST 1e-12

/* A row that lost something: of the links that it surely crossed hop[first] is
 * the first. If its path is not known, it crossed n_maybe others of a set. */
struct sieve_lossy {
	uint32_t row, first;
	uint32_t n_lost;
	uint32_t set;   /* or OBS_NO_PATH: its path is known */
	uint32_t n_odd; /* links surely crossed that are not at the level */
	uint16_t n_maybe, cell;
};

struct sieve_model {
	const struct topo *topo;
	const struct obs_tallies *rows;
	/* Hazards, ascending by equal ratios, and rates of loss. */
	double x[SIEVE_GRID], p[SIEVE_GRID], ln_x[SIEVE_GRID];

	/* Of sieve_model_mean(): its least value, 0: any; links count alike. */
	double floor;
	int even;
	double *kept;   /* [links] packets that surely crossed it */
	double *passed; /* [links] and those expected of others with them */
	struct sieve_halves halves;
	size_t cap_kept, cap_passed;

	/* What others say that arrived, and may have crossed a link or not:
	 * -ln of their likelihood with it at x[g], from its row of exposures.
	 * Links that nothing tells apart share one. */
	size_t n_exposures, cap_exposure, cap_exposure_of;
	double *exposure;      /* [n_exposures * SIEVE_GRID] */
	uint32_t *exposure_of; /* [links] a row, or SIEVE_NO_EXPOSURE */

	size_t n_lossy, cap_lossy, cap_hop, cap_off, cap_over;
	struct sieve_lossy *lossy; /* [n_lossy + 1] */
	uint32_t *hop;
	uint32_t *off;  /* [links + 1] lossy rows over link l are */
	uint32_t *over; /* over[off[l]] and so on */

	struct sieve_choice choice;

	double *hazard; /* [links] at present */
	double *sum;    /* [n_lossy] of them over a row's links; of those that
			   it may have crossed as of healthy ones */
	double level;   /* hazard of healthy links */
	size_t cap_hazard, cap_sum;

	/* Rows of no known path: how many; what is kept of them. */
	size_t n_dark, cap_set_kept;
	double *set_kept; /* [sets] packets that arrived */
	struct sieve_sets sets;
	struct sieve_cells cells;
	struct sieve_ways ways;
};
void sieve_model_free(struct sieve_model *m);

/* Whether it is not known which of several paths row I took. */
static inline int sieve_model_is_dark(const struct obs_tallies *t, size_t i)
{
	return t->path[i] == OBS_NO_PATH &&
	    obs_set_size(t->paths, t->set[i]) > 1;
}

/* Read WINDOW's rows. Errors SIM_ENOMEM. Cost O(rows + lengths of paths + links
 * of sets), and of rows of no known path O(classes * cells). */
int sieve_model_read(struct sieve_model *m, const struct obs *window,
    struct sim_err *e);

/* Each link at HAZARD. */
void sieve_model_level(struct sieve_model *m, double hazard);
/* One link, from what it has. */
void sieve_model_set(struct sieve_model *m, topo_link link, double hazard);
/* Sums anew from the hazards, which leaves no rounding behind. */
void sieve_model_add_up(struct sieve_model *m);
/* Lossy row I lost nothing any more, as far as hazards go, since something else
 * took it (SPARED), or again what it did. What such a row of no known path kept
 * then speaks of links that it surely crossed alone. */
void sieve_model_spare(struct sieve_model *m, uint32_t i, int spared);
/* Exposures for the present level, before curves are asked for. */
void sieve_model_settle(struct sieve_model *m);

/* Whether some lossy row is of no known path; and may have crossed a link. */
static inline int sieve_model_has_maybe(const struct sieve_model *m)
{
	return m->n_dark > 0 && m->ways.off[m->sets.n_sets] > 0;
}
static inline int sieve_model_is_maybe(const struct sieve_model *m, topo_link l)
{
	return sieve_model_has_maybe(m) &&
	    m->sets.class_of[l] != SIEVE_NO_CLASS;
}

/* The class of a link of which nothing but sets of paths tells, or
 * SIEVE_NO_CLASS. */
static inline uint32_t sieve_model_class(const struct sieve_model *m,
    topo_link l)
{
	return m->n_dark > 0 && m->off[l] == m->off[l + 1] ? m->sets.class_of[l]
							   : SIEVE_NO_CLASS;
}

/* Whether a lossy row may have crossed a link that is not at the level. */
static inline int sieve_ways_is_touched(const struct sieve_model *m, size_t i)
{
	return m->lossy[i].set != OBS_NO_PATH &&
	    m->ways.n_odd[m->lossy[i].set] > 0;
}

/* ell[g] = ln of the window's likelihood with LINK at x[g] and all others as
 * they are, but for a constant. Cost O(lossy rows over it * SIEVE_GRID). */
void sieve_model_curve(const struct sieve_model *m, topo_link link,
    double ell[SIEVE_GRID]);

/* Take an exposure more, of 0 everywhere, which is the last; read anew each
 * window has none. Errors SIM_ENOMEM. */
int sieve_model_expose(struct sieve_model *m, struct sim_err *e);

static inline const double *sieve_model_exposure(const struct sieve_model *m,
    topo_link l)
{
	return m->exposure_of[l] == SIEVE_NO_EXPOSURE
	    ? NULL
	    : m->exposure + (size_t)m->exposure_of[l] * SIEVE_GRID;
}

/* What packets that arrived add to -ln of the likelihood if the hazard of a link
 * grows from X, for each unit that it grows. Between points of the grid an
 * exposure is a line. */
double sieve_model_slope(const struct sieve_model *m, topo_link l, double x);

/* Healthy links' mean hazard, given those that are failed (FAILED[l] is not 0)
 * and the present ones: expected losses on healthy links by packets on them. With
 * M->even no link counts with more packets than the harmonic mean of all: where
 * packets were sent to suspects, one that is not found would else raise the mean
 * until nothing is. */
double sieve_model_mean(const struct sieve_model *m, const uint8_t failed[]);

#endif
