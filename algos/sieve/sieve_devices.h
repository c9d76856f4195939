/* algos/sieve/sieve_devices.h -- switches as what makes several links fail.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Internal to Sieve. A failed switch is one component of the prior, a share of
 * whose links fail, which is drawn from Beta(3, 1): of M links that packets
 * crossed, given j others that failed, one fails with odds (j + 3) / (M - j). So
 * j failed links on one switch can be likelier as one failure than as j.
 */
#ifndef ALGOS_SIEVE_SIEVE_DEVICES_H
#define ALGOS_SIEVE_SIEVE_DEVICES_H

#include "sim/err.h"
#include "topo/topo.h"

struct sieve_search;

/* Zeroed is empty. */
struct sieve_devices {
	topo_switch *end; /* [2 * links] TOPO_NONE: a host */
	size_t cap_end, cap_at;
	struct sieve_device {
		uint32_t n_links, n_failed; /* crossed by packets; failed */
		int accused;
		double gain; /* ln of odds that it failed */
	} * at;              /* [switches] */
	uint32_t n_accused;
};
void sieve_devices_free(struct sieve_devices *d);

/* None is accused, nothing failed. Errors SIM_ENOMEM. */
int sieve_devices_begin(struct sieve_search *s, struct sim_err *e);

/* The switches of a link count it as failed (SIGN 1) or no more (-1). */
void sieve_devices_count(struct sieve_devices *d, topo_link l, int sign);

/* An accused switch of link L but EXCEPT, the one with most failed links, or
 * TOPO_NONE. */
topo_switch sieve_devices_of(const struct sieve_devices *d, topo_link l,
    topo_switch except);

/* ln of the odds of a link of switch AT, given the others; FAILED: it is one of
 * those that are counted. */
double sieve_devices_odds(const struct sieve_devices *d, topo_switch at,
    int failed);

/* Accuse the switch that raises the odds most, if any does; returns whether one
 * did. Its links that come with it join. */
int sieve_devices_grow(struct sieve_search *s);

/* Spare those that have less than two failed links left, or that are not worth
 * it any more, given others. Returns how many. */
int sieve_devices_spare(struct sieve_search *s);

/* What speaks for an accused switch now: ln of its odds given the links. */
void sieve_devices_weigh(struct sieve_search *s);

/* ln of the Bayes factor of an accused switch: all that its failed links have, and
 * that just these fail. */
double sieve_devices_factor(const struct sieve_search *s, topo_switch at);

#endif
