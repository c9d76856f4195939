/* algos/sieve/sieve_holes.h -- switches and links that swallow some flows whole.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. A black hole drops all packets of some headers and none of
 * others. No hazard explains that: it would have to be large for what was
 * swallowed and small for the rest, and where links are all that may fail several
 * are accused beside each other for one hole. So a hole of a switch, or a link, is a
 * component of its own (laws WHOLE and HEADER of sieve_sudden.h), which joins when
 * it has more evidence than any link's failure. Rows that are rather of holes lose
 * nothing any more, as far as hazards go.
 *
 * Where there are bursts (sieve_bursts.h) a link that fails for a while is such a
 * component, too (law SPELL): it loses by one rate, of the flows of that time. Of
 * queues' bursts each has its own.
 *
 * Windows in which no flow of three packets or more was swallowed whole, against
 * odds of exp(11), and that have no bursts, are searched as if there were no such
 * thing.
 */
#ifndef ALGOS_SIEVE_SIEVE_HOLES_H
#define ALGOS_SIEVE_SIEVE_HOLES_H

#include "algos/sieve/sieve_sudden.h"

struct sieve_candidate;

/* A part that may have a hole. */
struct sieve_hole {
	uint32_t part;
	struct sieve_fit fit;
	double evidence, gain; /* in nats; ln of its odds, as found last */
	uint8_t stale, taken;
};

/* Zeroed is empty. */
struct sieve_holes {
	int on;
	size_t n, cap, n_taken; /* candidates; of these, taken */
	struct sieve_hole *hole;
	uint32_t
	    *of; /* [lossy rows] candidate that took it; UINT32_MAX: none */
	size_t cap_of;
};
void sieve_holes_free(struct sieve_holes *h);

/* See whether there may be holes, none of which is taken, and who may have them.
 * If so, *MEAN becomes the mean hazard of healthy links without what was
 * swallowed. Errors SIM_ENOMEM. */
int sieve_holes_begin(struct sieve_search *s, double *mean, struct sim_err *e);

/* Something joined or left: what was found may not hold. */
void sieve_holes_stir(struct sieve_holes *h);

/* The likeliest hole, if it is likelier than not, takes what is rather its own,
 * unless link C, which is the likeliest to have failed (NULL: none is), has more
 * evidence and keeps some without that. Returns whether one did. */
int sieve_holes_take(struct sieve_search *s, const struct sieve_candidate *c);

/* Put the chances of holes into the list of a search whose other chances are
 * known, each given the others; and s->none. */
void sieve_holes_list(struct sieve_search *s);

/* The part of the hole that took lossy row I, or TOPO_NONE. */
uint32_t sieve_holes_of(const struct sieve_search *s, uint32_t i);

#endif
