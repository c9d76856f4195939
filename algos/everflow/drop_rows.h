/* algos/everflow/drop_rows.h -- what traces and probes say of losses, by link.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two kinds of probe tell of the directed link L from S to N:
 *
 *	round    by S, N and back (or on to any other): on L it is within a
 *	         header to N, so its way is certain whatever switches hash; all
 *	         of one prober's have one pair of addresses there
 *	plain    by S, then on to a host: on L it is as the packets of its tuple
 *	         are, if S sends them there
 *
 * A mirror that is lost makes no loss: a probe counts as lost on L only if S saw
 * it and nobody behind S did. With a share m of mirrors lost, and a share q of
 * the probes that N saw which nobody saw behind N, a healthy link shows about
 * m q of that; so m and q are measured, and their upper ends taken.
 */
#ifndef ALGOS_EVERFLOW_DROP_ROWS_H
#define ALGOS_EVERFLOW_DROP_ROWS_H

#include "algos/everflow/hole_pattern.h"
#include "algos/everflow/sighting.h"

struct algo_drop_count {
	uint32_t n_kept, n_lost;
	uint32_t n_first, n_first_only; /* seen by N; by N and nobody behind */
};

/* What a trace is worth as an example: whether its destination is a host, so that
 * probes of its tuple go as it went, and whether it was sent again. */
enum algo_drop_worth {
	ALGO_DROP_NONE,
	ALGO_DROP_SUSPECT,
	ALGO_DROP_TO_HOST,
	ALGO_DROP_SURE,
	ALGO_DROP_SURE_TO_HOST
};

struct algo_drop_link {
	uint32_t n_suspect, n_confirmed; /* traces; a confirmed one is both */
	uint32_t n_maybe; /* sent again, and lost on one of several links */
	uint32_t example; /* such a trace, or UINT32_MAX */
	enum algo_drop_worth worth; /* of it */
	sim_ns from_ns, to_ns;      /* of those */
	struct algo_drop_count round;
};

/* Plain probes of one tuple. */
struct algo_drop_tuple {
	topo_link link; /* that they met behind S; TOPO_NONE: unknown */
	topo_switch at; /* S */
	struct topo_tuple tuple;
	struct algo_drop_count count;
};

/* Rounds by one prober. */
struct algo_drop_round {
	topo_link link;
	topo_host host;
	struct algo_drop_count count;
};

struct algo_drop_rows {
	struct algo_drop_link *link; /* [n_links] */
	struct algo_drop_round *round;
	size_t n_rounds, cap_rounds;
	struct algo_drop_tuple *tuple;
	size_t n_tuples, cap_tuples;
	uint64_t n_confirmed;    /* of all links */
	uint32_t n_switch_links; /* links between two switches */
	double mirror_loss;      /* m, upper end; 1 if nothing is known */
};

/* Errors SIM_ENOMEM. Free also what failed. Cost O(traces + probes * rounds),
 * where rounds are of one link and prober each. */
int algo_drop_rows_make(struct algo_drop_rows *d,
    const struct algo_debug_in *in, struct sim_err *e);
void algo_drop_rows_free(struct algo_drop_rows *d);

/* The greatest share that a healthy link shows as lost: noise_rate + m q. */
double algo_drop_healthy(const struct algo_drop_rows *d,
    const struct algo_drop_count *c, double noise_rate);

/* Evidence against "each is lost with P0 at most": the mean likelihood ratio of
 * ten higher rates, one each factor of two or more up to 1. Whatever is healthy
 * has 1/x or more of it with probability x at most, however often one looks
 * meanwhile (Ville's inequality). */
double algo_drop_evidence(uint64_t n_lost, uint64_t n, double p0);

#endif
