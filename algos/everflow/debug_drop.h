/* algos/everflow/debug_drop.h -- drops: transient, random or a black hole.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Of each link that traces are suspected to have been lost on, those with most
 * that were sent again first, it asks for probes (drop_rows.h): n_tuple plain
 * ones of such a trace's tuple, n_each of n_others other tuples, a quarter of
 * which differ in ports only, and up to n_random rounds, in chunks. Of a link that
 * was asked for too early, the tuple of a trace that was sent again is probed when
 * there is one; and of a hole that is seen by too few ports, others of the
 * addresses it takes. What they say is judged at each step:
 *
 *	RANDOM        the evidence (algo_drop_evidence()) of rounds, or of plain
 *	              probes of tuples that are not lost whole, is above links /
 *	              alpha, LINKS being those with probes; or traces alone accuse
 *	              the link, and a probe was lost
 *	BLACK_HOLE    some tuple lost all of n >= 10 probes, which at the rate of
 *	              all the others, by its upper end, has a chance below alpha /
 *	              (links * tuples). By addresses or five-tuple: see
 *	              hole_pattern.h. The node is the switch that the link leads
 *	              to, unless a probe of that tuple entered it otherwise. The
 *	              rounds of one prober are as one tuple. Nothing is said until
 *	              ports were tried
 *	TRANSIENT     traces accuse the link, and none of all probes was lost
 *
 * Traces alone accuse a link if it has c drops that were sent again, where
 * others have l on average, and a Poisson variable of mean 3 l has c or more
 * with a chance below alpha / links of the network. A suspected drop that was not
 * sent again accuses nobody: the mirror may be lost.
 *
 * So what is healthy is accused with a chance of alpha at most for probes and
 * again for traces, if its losses are below noise_rate and its traffic differs by
 * less than three times. Of a random loss the second probes, by another neighbour
 * into the switch and by another link out of the one before, tell whose fault it
 * is: `node`, or TOPO_NONE if the link's alone.
 *
 * Paper  Everflow (SIGCOMM'15). DEPARTS: it leaves open how often
 *        probes are sent and when a share counts as "all" or "none".
 */
#ifndef ALGOS_EVERFLOW_DEBUG_DROP_H
#define ALGOS_EVERFLOW_DEBUG_DROP_H

#include "algos/everflow/debug.h"

/* As in a spec. */
struct algo_debug_drop_params {
	uint32_t n_tuple, n_others, n_each; /* plain probes, tuples, each */
	uint32_t n_random, chunk;           /* rounds */
	uint32_t n_links;                   /* probed at once */
	double interval_ms;                 /* of an order's probes */
	double give_up_s; /* probes that were ordered earlier won't come */
	double noise_rate, alpha;
};
extern const struct sim_field algo_debug_drop_fields[];
extern const struct algo_debugger algo_debug_drop;

#endif
