/* algos/sieve/sieve_sudden.h -- rows that lost much at once, and who may have it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. Hazards lose packets one by one. What takes much of a row at
 * once is something else: each row over a part, which is a link, or a switch that
 * the row came to, meets it with probability rho, and then loses r of its s packets
 * by a law:
 *
 *	WHOLE   r = s, of probes too: a hole that goes by addresses
 *	HEADER  r = s; of probes, whose packets have ports of their own, each packet
 *	        is lost with probability rho: a hole that goes by five-tuples
 *	SPELL   r >= 1 binomial with a rate that all rows have in common, given that
 *	        something was lost: a link that fails for a while
 *	QUEUE   r >= 2 with probability 2 / (r (r + 1)), r = s with all that is
 *	        left, 2 / s: a queue that overflows
 *
 * so that, q being the share of a row's equal paths that cross the part, and P0 the
 * likelihood of its losses by hazards alone, it has
 *
 *	ln((1 - q rho) + q rho P(r | law) / P0)
 *
 * over health, and rows that the law cannot explain, as those that lost nothing,
 * ln(1 - q rho). rho has even odds in 17 steps from 1e-4 to .77, or to .14 for queues; the rate of a spell in
 * 10 from .5 to 80 %. Packets of probes have times of their own: each is lost with
 * probability rho times the rate of the spell, or half of rho in queues.
 */
#ifndef ALGOS_SIEVE_SIEVE_SUDDEN_H
#define ALGOS_SIEVE_SIEVE_SUDDEN_H

#include <stddef.h>
#include <stdint.h>

#include "sim/err.h"

struct sieve_search;

enum sieve_law { SIEVE_WHOLE, SIEVE_HEADER, SIEVE_SPELL, SIEVE_QUEUE };

/* A law, and what is likeliest by it: rho, and what a probe's packets lose that it
 * meets. */
struct sieve_fit {
	enum sieve_law law;
	double rho, rate;
};

/* A lossy row, by its place in the model's list, that may have crossed a part. */
struct sieve_sudden_row {
	uint32_t part, lossy;
	double share;
};

/* All rows that may have crossed a part, by shares: flows, and of these the
 * squares; probes, and their packets that arrived. */
struct sieve_sudden_over {
	double flows, squares, probes, kept;
};

/* Zeroed is empty. A part is a link, or n_links + a switch. */
struct sieve_sudden {
	int known; /* the window's rows have been gone through */
	size_t n, n_parts, cap_row, cap_found, cap_off, cap_over, cap_share,
	    cap_touched, cap_set, cap_ln;
	struct sieve_sudden_row *row, *found; /* by part; scratch */
	uint32_t *off;                        /* [parts + 2] */
	struct sieve_sudden_over *over;       /* [parts] */
	double *share;     /* scratch: [parts] of a row, else 0 */
	uint32_t *touched; /* scratch: parts of a row */
	size_t n_touched;
	double *set; /* scratch: [sets] rows of no known path */
	double *ln;  /* scratch: by row of a part */
};
void sieve_sudden_free(struct sieve_sudden *x);

/* Go through the window's rows, if that has not been done. Errors SIM_ENOMEM. Cost
 * O(rows * path lengths + links of sets). */
int sieve_sudden_read(struct sieve_search *s, struct sim_err *e);

/* ln of the likelihood of what lossy row I lost, by hazards as they are. */
double sieve_sudden_plain(const struct sieve_search *s, uint32_t i);

/* What PART's rows, of those not spared, have by LAW over hazards alone, in nats,
 * and what is likeliest by it. Cost O(its rows). */
double sieve_sudden_evidence(const struct sieve_search *s, uint32_t part,
    enum sieve_law law, struct sieve_fit *likely);

/* ln of the odds that this row of the list was taken so. */
double sieve_sudden_odds(const struct sieve_search *s,
    const struct sieve_sudden_row *row, const struct sieve_fit *fit);

#endif
