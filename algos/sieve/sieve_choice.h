/* algos/sieve/sieve_choice.h -- what flows say that are seen if they lost.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. Where only flows that lost something are seen (telemetry a2,
 * without int or p), nobody says how many there were, nor what a link did not
 * lose. What is left is the choice: a flow that was seen took one of the equal
 * paths of its ToRs, and is of one of their hosts, which are all alike before. Of
 * a row of s packets, of which r > 0 were lost, on a way of hazard L,
 *
 *	ln L = r ln(1 - exp(-L)) - (s - r) L - ln P,
 *	P = 1 - mean of exp(-s L') over all ways that it may have taken
 *
 * and the mean falls into factors, as hosts and path are chosen each for itself.
 * If a link, which a share q of the ways crosses, goes from y to x, P becomes
 *
 *	P (1 + q / P E (exp(-s (y - m)) - exp(-s (x - m))))
 *
 * E being the mean of exp(-s L') over the ways across it, were it at m, the
 * hazard of healthy links. Links of a group (sieve_groups.h) have q, P and E in
 * common, and rows whose s is in one octave and that all may have met a failed
 * link, or none, are a bin and count by two sums: n of them, and a, that of q E /
 * P. So the exposure of a link is
 *
 *	h(x) = sum over bins of n ln(1 + a / n (exp(-s (y - m)) -
 *	    exp(-s (x - m))))
 *
 * which is exact if rows of a bin are alike, and too much, if anything, else.
 * DEPARTS: E forgets that another link of a way may have failed, too.
 *
 * A row whose path nobody knows made no choice that is told, and is left out.
 *
 * Hosts of a ToR are taken to begin and to end as many flows each. Rows that are
 * seen whatever they lost (probes) count as always, beside.
 */
#ifndef ALGOS_SIEVE_SIEVE_CHOICE_H
#define ALGOS_SIEVE_SIEVE_CHOICE_H

#include <math.h>

#include "algos/sieve/sieve_groups.h"
#include "algos/sieve/sieve_lanes.h"
#include "models/obs_tallies.h"

struct sieve_model;

enum { SIEVE_OCTAVES = 32, SIEVE_NO_GROUP = -1 };

/* Hazards from 6e-5 to .12, each the third of the one after the next: points of
 * the grid that the screen looks at. */
enum { SIEVE_COARSE_FIRST = 12, SIEVE_COARSE_STEP = 2 };

/* A row that is seen because it lost something. */
struct sieve_seen {
	double s;    /* packets */
	double left; /* mean of exp(-s (L' - healthy)) of its ways, */
	double up_left, down_left, path_left; /* by each part of them */
	double met;     /* hazard of the n_met failed links on its own */
	uint32_t lossy; /* its place in the model's list */
	uint32_t spot;
	int32_t up, down; /* groups; SIEVE_NO_GROUP: a switch sent, or got */
	uint16_t law;     /* of the score of the mean */
	uint8_t octave;   /* of s, above the window's lowest */
	uint8_t n_hops, n_met;
	uint8_t touched; /* a way of it may meet what failed */
	uint8_t gone;    /* lost nothing but to bursts */
};

/* A set on which rows were seen: failed links make ways on it worse by
 * more[first] .. more[first + n - 1]. */
struct sieve_spot {
	uint32_t set, first, n;
};
struct sieve_more {
	double hazard, share; /* beyond a healthy one; of ways */
};

/* Zeroed is empty. Arrays are by groups where nothing else is said. */
struct sieve_choice {
	int on; /* the window is such a one */
	struct sieve_groups groups;

	size_t n, cap_seen;
	struct sieve_seen *seen;
	size_t n_spots, cap_spots, cap_spot_of;
	struct sieve_spot *spot;
	uint32_t *spot_of;          /* [sets] */
	double size[SIEVE_OCTAVES]; /* mean s in each */
	unsigned n_bins;            /* 2 * octave + touched: below it */
	double *share;              /* sum of q over rows */
	double *probed;             /* [links] packets that were seen anyhow */
	double start;               /* hazard of healthy links to begin with */
	uint8_t *out;               /* [links] scratch */
	size_t cap_share, cap_probed, cap_out;

	/* Of the last pass. */
	double mean;
	double *lost; /* [SIEVE_OCTAVES * grid] 1 - exp(-size (x - mean)) */
	struct sieve_bin *bin; /* [groups * n_bins] */
	double *coarse;        /* [groups * SIEVE_COARSE] some of exposures */
	double coarse_lost[SIEVE_OCTAVES * SIEVE_COARSE]; /* of lost */
	double *expects;    /* packets that healthy links would lose of rows */
	uint8_t *is_made;   /* bits: coarse is; exposure; expects */
	uint32_t *n_failed; /* links of it */
	size_t n_list, n_more;
	topo_link *failed; /* [n_list] all of them */
	struct sieve_more *more;
	size_t cap_lost, cap_bin, cap_expects, cap_coarse, cap_made,
	    cap_failed_of, cap_failed, cap_more;
};
void sieve_choice_free(struct sieve_choice *c);

/* Whether a window of such telemetry shows lossy flows alone. */
static inline int sieve_choice_needed(unsigned telemetry)
{
	return telemetry & OBS_TELE_A2 &&
	    !(telemetry & (OBS_TELE_INT | OBS_TELE_P));
}

/* Take the rows that M has read, of its window, or none if it is no such one.
 * Errors SIM_ENOMEM. Cost O(lossy rows). */
int sieve_choice_read(struct sieve_model *m, struct sim_err *e);

/* Exposures anew, given the hazards of M, healthy ones at MEAN. Errors SIM_ENOMEM.
 * Cost O(lossy rows * (1 + failed links) + groups). */
int sieve_choice_pass(struct sieve_model *m, double mean, struct sim_err *e);

/* Links' mean hazard, before anything is known to have failed; and given those
 * that failed, by the same likelihood. */
double sieve_choice_start(struct sieve_model *m);
double sieve_choice_mean(const struct sieve_model *m, const uint8_t failed[]);

/* The exposure of a link is made when it is asked for; of a failed one, which the
 * last pass lists, it is its own. */
void sieve_choice_make(const struct sieve_model *m, topo_link l);
void sieve_choice_own(const struct sieve_model *m, topo_link l, double h[]);

/* An upper bound, nearly, of ln of the likelihood ratio of a healthy link, over
 * which N_LOST were lost. */
double sieve_choice_bound(const struct sieve_model *m, topo_link l,
    double n_lost);

/* exp(-x) / (1 - exp(-x) left). */
static inline double sieve_choice_worth(double x, double left)
{
	return 1 / (sieve_expm1(x) + 1 - left);
}

/* What is left of rows of S packets by the failed links of a group of cables, and
 * by those of a set's paths. */
double sieve_choice_left(const struct sieve_model *m, int32_t group, double s);
double sieve_choice_on_path(const struct sieve_choice *c,
    const struct sieve_spot *at, double s);

static inline double sieve_choice_cable(const struct sieve_choice *c,
    int32_t group)
{
	return 1. / c->groups.n_here[group];
}

static inline void sieve_bin_add(struct sieve_bin *b, double a)
{
	b->n++;
	b->a += a;
}

#endif
