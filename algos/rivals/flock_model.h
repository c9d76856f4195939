/* algos/rivals/flock_model.h -- Flock's likelihood, of what each component adds.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A hypothesis grows by one component at a time. gain[c] is what c would add to
 * the log-likelihood of the window, without its prior. Internal to who searches by it: flock and sherlock.
 */
#ifndef ALGOS_RIVALS_FLOCK_MODEL_H
#define ALGOS_RIVALS_FLOCK_MODEL_H

#include "algos/rivals/flock.h"
#include "algos/rivals/ways.h"
#include "models/obs_tallies.h"

struct flock_model {
	const struct topo *topo;
	struct algo_ways ways;
	const struct obs_tallies *rows;
	uint32_t n_parts; /* components: links, then switches */

	/* Of each row ln of its bracket when all of its paths are hit, and exp
	 * of it; rows that a hit cable or path has settled are dead. */
	double *full, *times;
	uint8_t *dead;
	size_t cap_full, cap_times, cap_dead;

	/* Rows without a path, by set: unknown[set_row[s]] and so on. */
	uint32_t *set_row, *unknown;
	size_t cap_set_row, cap_unknown, n_known;
	uint32_t *known; /* the others */
	size_t cap_known;

	double *sum;  /* [paths] of the known rows that are not dead */
	uint8_t *hit; /* [paths] */
	size_t cap_sum, cap_hit;

	double *gain, *at_first; /* [n_parts]; of the empty hypothesis */
	uint8_t *in;             /* [n_parts] 1: in the hypothesis */
	size_t cap_gain, cap_first, cap_in;
	uint32_t *on; /* [n_parts] scratch: paths of a set still good, all 0 */
	size_t cap_on;
	uint8_t *touched; /* [sets] scratch, all 0 */
	size_t cap_touched;
};
void flock_model_free(struct flock_model *m);

/* *P = ASKED, with those of TELEMETRY where it has 0. Errors SIM_EINVAL (p_bad not
 * above p_good). */
int flock_model_params(const struct algo_flock_params *asked,
    unsigned telemetry, struct algo_flock_params *p, struct sim_err *e);

/* The fields of those parameters that the likelihood and its priors have. */
/* clang-format off */
#define FLOCK_MODEL_FIELDS                                                     \
	{"p_bad", SIM_F_F64, offsetof(struct algo_flock_params, p_bad),        \
	    .min = 0, .max = 0.999, .unit = "1", .def = "0",                   \
	    .doc = "chance to be lost on a failed path; 0: by telemetry"},     \
	{"p_good", SIM_F_F64, offsetof(struct algo_flock_params, p_good),      \
	    .min = 0, .max = 0.999, .unit = "1", .def = "0",                   \
	    .doc = "on another one; 0: by telemetry"},                         \
	{"prior", SIM_F_F64, offsetof(struct algo_flock_params, prior),        \
	    .min = -1e6, .max = 0, .unit = "nats", .def = "0",                 \
	    .doc = "of a failed link; 0: by telemetry"},                       \
	{"switches", SIM_F_BOOL, offsetof(struct algo_flock_params, switches), \
	    .def = "true", .doc = "switches may fail, too"}
/* clang-format on */

/* Of component C to be failed; nats, below 0. */
double flock_model_prior(const struct flock_model *m,
    const struct algo_flock_params *p, uint32_t c);

/* Read WINDOW's rows, with the probabilities of P, and find the gains of the
 * empty hypothesis. Errors SIM_ENOMEM. */
int flock_model_read(struct flock_model *m, const struct obs *window,
    const struct algo_flock_params *p, struct sim_err *e);

/* Begin with the empty hypothesis again. Cost O(rows + paths). */
void flock_model_reset(struct flock_model *m);

/* MOST[c], of [n_parts], is what the rows that are likelier if they were hit add to
 * gain[c] of the empty hypothesis: what is left of gain[c] without it is at most 0.
 * With q_a and q_b of a row's paths hit, both together hit at most q_a + q_b and no
 * fewer than either. A row adds ln(1 + q (times - 1)), which rises or falls in q, and
 * which is concave; so two components together gain no more than
 *
 *	most[a] + most[b] + min(gain[a] - most[a], gain[b] - most[b])
 *
 * The hypothesis is the empty one afterwards. Cost that of reading. */
void flock_model_most(struct flock_model *m, double most[]);

/* Component C joins. Domain !m->in[c]. */
void flock_model_join(struct flock_model *m, uint32_t c);

#endif
