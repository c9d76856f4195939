/* algos/sieve/sieve_model.h -- what a window says of the hazards of links.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. Hazards are -ln(1 - rate of loss). Each link has one, which
 * is the mean of healthy links unless it was accepted as failed; each lossy row
 * has the sum over its links.
 */
#ifndef ALGOS_SIEVE_SIEVE_MODEL_H
#define ALGOS_SIEVE_SIEVE_MODEL_H

#include "models/obs.h"
#include "models/obs_tallies.h"
#include "topo/topo.h"

enum { SIEVE_GRID = 32 };

#define SIEVE_NO_EXPOSURE UINT32_MAX

/* A row that lost something: of its links hop[first] is the first. */
struct sieve_lossy {
	uint32_t row, first;
	uint32_t n_lost;
};

struct sieve_model {
	const struct topo *topo;
	const struct obs_tallies *rows;
	/* Hazards, ascending by equal ratios, and rates of loss. */
	double x[SIEVE_GRID], p[SIEVE_GRID];

	double *kept;   /* [links] packets that surely crossed it */
	double *passed; /* [links] and those expected of others with them */
	double *sum_on; /* [paths] scratch */
	size_t cap_kept, cap_passed, cap_sum_on;

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

	double *hazard; /* [links] at present */
	double *sum;    /* [n_lossy] of them over a row's links */
	size_t cap_hazard, cap_sum;
};
void sieve_model_free(struct sieve_model *m);

/* Read WINDOW's rows. Errors SIM_EUNSUPPORTED (a row whose path is not known),
 * SIM_ENOMEM. Cost O(rows + lengths of paths). */
int sieve_model_read(struct sieve_model *m, const struct obs *window,
    struct sim_err *e);

/* Each link at HAZARD. */
void sieve_model_level(struct sieve_model *m, double hazard);
/* One link, from what it has. */
void sieve_model_set(struct sieve_model *m, topo_link link, double hazard);
/* Sums anew from the hazards, which leaves no rounding behind. */
void sieve_model_add_up(struct sieve_model *m);

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
 * and the present ones: expected losses on healthy links by packets on them. */
double sieve_model_mean(const struct sieve_model *m, const uint8_t failed[]);

#endif
