/* algos/blackhole.h -- ToRs that drop some pairs or five-tuples, always.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Corrupt entries of a switch's tables make black holes: of type 1, certain
 * (source, destination) addresses never get through; of type 2, certain
 * five-tuples do not, while others of the same pair do. Counters show neither.
 *
 * A pair is two servers of the data centre, whoever probed: a connect needs
 * both ways. It is black-holed
 *   type 1  when at least min_failures of its probes timed out, none was
 *	     answered, and each of the two did exchange one with someone
 *	     else: so neither server is dead
 *   type 2  when it was answered, yet one five-tuple timed out at least
 *	     min_failures times and never was
 * A refusal is an answer. One answer acquits, so a table must not begin before
 * the fault; and type 2 needs a prober that repeats a five-tuple that failed. A
 * path that merely loses each connect with probability f is taken for a black
 * hole with f^min_failures.
 *
 * A server is alive when a probe of its, or to it, was answered. It shows the
 * symptom when it is alive and in at least min_pairs black-holed pairs. The
 * default is 2, because a pair has two ends: servers elsewhere have one peer
 * under each ToR (Pingmesh pairs those of the same index), so with one bad ToR
 * they are in one such pair at most, but those under it in many.
 *
 * A ToR's score is the share of its live servers that show the symptom. From
 * `threshold` on it is a candidate. If all ToRs of a pod are, the trouble is
 * above them: escalate to those who look after T1 and T2. Else reload the
 * candidates, highest score first (then lowest id), up to max_reloads a day;
 * the rest is deferred. A pod of one ToR is reloaded.
 *
 * What drops nearly everything leaves no server alive and is not a black hole
 * but a dead ToR, which a heat map shows (algos/heatmap.h).
 *
 * Paper  Pingmesh (SIGCOMM'15), section 5.1. DEPARTS: the paper states neither
 *        the symptom nor the threshold; both are ours. Its pod is our ToR, its
 *        podset our pod.
 */
#ifndef ALGOS_BLACKHOLE_H
#define ALGOS_BLACKHOLE_H

#include "models/obs_probes.h"
#include "sim/err.h"
#include "sim/field.h"
#include "topo/clos.h"

struct algo_blackhole_params {
	uint32_t min_failures, min_pairs;
	double threshold;
	uint32_t max_reloads;
};
extern const struct sim_field algo_blackhole_fields[];

enum algo_blackhole_action {
	ALGO_BLACKHOLE_NONE,
	ALGO_BLACKHOLE_RELOAD,
	ALGO_BLACKHOLE_DEFER,
	ALGO_BLACKHOLE_ESCALATE
};

struct algo_blackhole_server {
	uint32_t n_type1, n_type2; /* black-holed pairs that it is in */
	uint64_t n_failed;         /* time-outs that it is in */
	uint8_t alive;
};

struct algo_blackhole_tor {
	uint32_t n_alive, n_symptom; /* servers */
	double score;                /* NaN without a live server */
	enum algo_blackhole_action action;
};

struct algo_blackhole {
	struct algo_blackhole_params params;
	struct topo_clos shape;
	struct algo_blackhole_server *server; /* [hosts] */
	struct algo_blackhole_tor *tor;       /* [ToRs] */

	/* Workings. */
	struct algo_blackhole_probe *probe;
	size_t n, cap;
};

/* Errors SIM_ENOMEM; B is then empty and needs no closing. */
int algo_blackhole_open(struct algo_blackhole *b, const struct topo_clos *shape,
    const struct algo_blackhole_params *params, struct sim_err *e);
void algo_blackhole_close(struct algo_blackhole *b);

/* Judge servers and ToRs by the probes of T within the data centre, when
 * N_RELOADED ToRs were reloaded today.
 * Errors SIM_EINVAL (a bad probe), SIM_ENOMEM; B is then not to be read.
 * Cost   O(probes + hosts + ToRs * max_reloads), and for the n probes between
 *        servers with min_failures time-outs O(n log n) and 24 bytes each. */
int algo_blackhole_diagnose(struct algo_blackhole *b,
    const struct obs_probes *t, uint32_t n_reloaded, struct sim_err *e);

#endif
