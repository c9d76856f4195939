/* experiments/arena/score.h -- what sweeps of the arena come to.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Scores are by algorithm, telemetry and family; and of all families together, as
 * the mean of theirs, each counting alike. All are ratios of two sums over runs
 * with intervals between runs (sim/ratio.h): one entry a run, of all points of a
 * family's sweep, since these share their random numbers.
 *
 * F is the mean, over windows with a fault, of 2 P R / (P + R) of that window,
 * where P is 1 if nothing is accused and F is 0 if nothing is found. DEPARTS:
 * Flock (CoNEXT'23) takes F of mean precision and mean recall, which no run alone
 * has, so that runs could not be paired. Precision and recall are pooled.
 *
 * Who does not answer has found nothing: F, recall, exact and blame of such a window
 * are 0, in means of a family, of all families and in ranks. It accuses nobody
 * either, but such a quiet window does not count as one without an alarm. How many
 * windows were answered is a score of its own.
 *
 * Until when an answer is right is told in halves of a window (right_share of
 * results/schema.h), a window being 30 s; who never is right, or does not answer, has
 * the whole of it.
 *
 * Chances that an algorithm states are held against what failed, in all windows,
 * quiet ones too (results/calibration.h); of all families together their components
 * are pooled, since what one family states too high another may too low.
 */
#ifndef EXPERIMENTS_ARENA_SCORE_H
#define EXPERIMENTS_ARENA_SCORE_H

#include <stdio.h>

#include "experiments/arena/suite.h"
#include "results/calibration.h"
#include "results/cube.h"
#include "sim/ratio.h"

/* X(name, meaning); costs are metrics of trials of that name */
#define XP_ARENA_SCORES(X)                                                     \
	X(f, "F of a window with a fault, mean")                               \
	X(precision, "accused that failed / accused")                          \
	X(recall, "failed that are accused / failed")                          \
	X(exact, "windows with a fault told exactly / these")                  \
	X(alarms, "windows without a fault with an accusation / these")        \
	X(blame, "flows hurt by a fault, blamed on it / these")                \
	X(right_s, "time until the answer is right, of windows with a fault")  \
	X(answered, "windows answered / windows asked about")
#define XP_ARENA_COSTS(X)                                                      \
	X(host_bytes_s)                                                        \
	X(host_packets_s)                                                      \
	X(switch_bytes_s)                                                      \
	X(switch_packets_s)                                                    \
	X(switch_entries)                                                      \
	X(collector_bytes_s)                                                   \
	X(collector_packets_s)

enum {
#define X(name, ...) XP_ARENA_##name,
	XP_ARENA_SCORES(X) XP_ARENA_COSTS(X)
#undef X
	    XP_ARENA_N_SCORES
};
extern const char *const xp_arena_scores[]; /* [XP_ARENA_N_SCORES] */

struct xp_arena_entry {
	size_t family; /* of xp_arena_families[]; beyond them: all */
	size_t telemetry;
	char algorithm[64];
	size_t n_runs;
	double windows; /* of all families: with a fault, of the family that has
			   fewest a run */
	double *num, *den; /* [XP_ARENA_N_SCORES][n_runs] */
	struct res_chance_bin (*chance)[RES_N_CHANCE_BINS]; /* [n_runs] */
};

/* Zeroed is empty. */
struct xp_arena_standing {
	size_t n, cap;
	struct xp_arena_entry *entry;
	size_t n_of_all; /* the first so many are of all families */
};

/* Add the sweep of that family and telemetry. Errors SIM_ENOMEM. */
int xp_arena_add(struct xp_arena_standing *s, size_t family, size_t telemetry,
    const struct res_cube *c, struct sim_err *e);

/* Once all were added: put entries of all families before the others. Runs of
 * which a family lacks a window count without it. Errors SIM_ENOMEM. */
int xp_arena_sum(struct xp_arena_standing *s, struct sim_err *e);
void xp_arena_free(struct xp_arena_standing *s);

/* With its interval of 95 %, in [0, 1] if it is a share; NaN: there is none. */
struct sim_ratio xp_arena_score(const struct xp_arena_entry *x, unsigned score);

/* Windows without a fault in which something is accused, of a day's windows of 30 s
 * each, of X's family or, of all families, of those that have such: with its exact
 * binomial interval of 95 %. NaN: there are none. Errors SIM_ENOMEM. */
#define XP_ARENA_WINDOW_S      30.
#define XP_ARENA_WINDOWS_A_DAY 2880
int xp_arena_alarms_a_day(const struct xp_arena_standing *s,
    const struct xp_arena_entry *x, struct sim_ratio *out, struct sim_err *e);

/* The error of X's stated chances; NaN if it states none. Errors SIM_ENOMEM. */
int xp_arena_calibration(const struct xp_arena_entry *x,
    struct res_calibration *out, struct sim_err *e);

/* Of C's window ROW, which is done: whether ALGO did not answer; and how many there
 * were to find, which is 0 or more. */
int xp_arena_unanswered(const struct res_cube *c, size_t row, size_t algo);
double xp_arena_to_find(const struct res_cube *c, size_t row);

/* The F of A less that of B, paired by run, with its interval of 95 %. */
struct sim_ratio xp_arena_difference(const struct xp_arena_entry *a,
    const struct xp_arena_entry *b);

/* Of entries of all families the one of greatest F; and, of those whose F is shown
 * (at 95 %, paired by run) to be at most XP_ARENA_MARGIN less, the one whose hosts
 * send fewest bytes for it. NULL if none has an F. */
#define XP_ARENA_MARGIN 0.05
const struct xp_arena_entry *xp_arena_best(const struct xp_arena_standing *s);
const struct xp_arena_entry *xp_arena_thriftiest(
    const struct xp_arena_standing *s);

/* Is there no entry of all families with no less F, and fewer bytes of a host? Of
 * equals the first is the one. */
int xp_arena_in_front(const struct xp_arena_standing *s,
    const struct xp_arena_entry *x);

/* Beyond the last one it is "all". */
const char *xp_arena_family_name(size_t family);

/* Tidy CSV: family, telemetry, algorithm, score, value, lo, hi, runs; alarms_a_day,
 * ece and ece_if_right are of the scores. Errors SIM_ENOMEM. */
int xp_arena_print_scores(const struct xp_arena_standing *s, FILE *out,
    struct sim_err *e);

/* CSV of all pairs of entries of all families: telemetry and algorithm of both,
 * difference of F, lo, hi. */
void xp_arena_print_pairs(const struct xp_arena_standing *s, FILE *out);

/* Who left windows of all families unanswered, a line each with how many, and of
 * which families: for people. */
void xp_arena_print_gaps(const struct xp_arena_standing *s, FILE *out);

/* A table for gnuplot of entries of all families, in_front being 1 or 0; and one
 * of F by algorithm at telemetry, and family, NaN where none was answered. */
void xp_arena_print_front(const struct xp_arena_standing *s, FILE *out);
void xp_arena_print_map(const struct xp_arena_standing *s, FILE *out);

#endif
