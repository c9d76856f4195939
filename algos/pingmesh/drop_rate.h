/* algos/pingmesh/drop_rate.h -- Pingmesh's drop rate, read from connect times.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A connect that lost its first k SYNs takes as long as the waits before SYN
 * 2 .. k + 1 together, and a round trip. Those sums are the rungs of a ladder:
 *
 *	waits 3 s, 6 s         rungs 3 s, 9 s          Windows, the paper's
 *	waits 1 s, 2 s, 4 s    rungs 1 s, 3 s, 7 s     Linux with 3 retries
 *
 * A SYN-ACK lost looks the same: it is the round trip that is counted, so the
 * rate is about the sum of those of both ways.
 *
 *	rate = successes on any rung / all successes
 *
 * - Each success counts as ONE drop at most, also on the second rung (9 s): the
 *   losses of one connection are not independent. Once its first SYN was lost
 *   the next is far more likely to be, so counting both would weigh one
 *   trouble twice.
 * - Failed connects are in neither number: a dead server cannot be told from a
 *   dead path. So what drops everything (a black hole) is not seen here at all;
 *   algos/pingmesh/blackhole.h looks for it.
 *
 * If each round trip is lost with probability q, independently, a success is on
 * a rung with probability q (1 - q^m) / (1 - q^(m + 1)) for m waits, which is
 * below q by about q^(m + 1), and with the paper's two waits
 * q (1 - q^2) / (1 - q^3). Successes are then independent trials and the
 * interval is exact for that number; losses that come in bursts make it too
 * narrow.
 *
 * The ladder is a property of the probing hosts (fabric_caps.syn_rto_ns), hence
 * a parameter. A wrong one does not fail: it misreads.
 *
 * Paper  Pingmesh (SIGCOMM'15), section 4.2. DEPARTS: the interval, the
 *        tolerance and ladders of any length are ours.
 */
#ifndef ALGOS_PINGMESH_DROP_RATE_H
#define ALGOS_PINGMESH_DROP_RATE_H

#include "models/obs_probes.h"
#include "sim/err.h"
#include "sim/time.h"
#include "topo/dc.h"

enum { ALGO_DROP_MAX_WAITS = 8 };

struct algo_drop_ladder {
	unsigned n_rungs;
	sim_ns rung_ns[ALGO_DROP_MAX_WAITS]; /* ascending */
	sim_ns tolerance_ns;
};

/* The ladder of the N_WAITS waits before SYN 2, 3, ... A connect within
 * TOLERANCE of a rung is on it.
 * Errors SIM_EINVAL (no wait; a wait of 2 * TOLERANCE or less, with which rungs
 * would overlap; rungs beyond the clock), SIM_ELIMIT (too many waits). */
int algo_drop_ladder_init(struct algo_drop_ladder *l, const sim_ns wait_ns[],
    unsigned n_waits, sim_ns tolerance_ns, struct sim_err *e);

/* SYNs lost before a connect that took RTT; -1 when it took longer than any
 * round trip below the first rung and yet is on none. Cost O(rungs). */
int algo_drop_n_lost(const struct algo_drop_ladder *l, sim_ns rtt_ns);

/* Which probes: by their ends in the Clos. A pod is one of topo/clos.h, the
 * paper's podset. Probes of level OBS_LEVEL_INTER_DC are INTER_DC whatever
 * their ends; ALL are all of these. */
enum algo_drop_group {
	ALGO_DROP_ALL,
	ALGO_DROP_INTRA_TOR,
	ALGO_DROP_INTRA_POD, /* between ToRs of one pod */
	ALGO_DROP_INTER_POD,
	ALGO_DROP_INTER_DC,
	ALGO_DROP_N_GROUPS
};
extern const char *const algo_drop_groups[]; /* NULL-terminated */

/* The group of a probe that a host of DC sent. */
static inline enum algo_drop_group algo_drop_group_of(const struct topo_dc *dc,
    topo_host src, topo_host dst, enum obs_level level)
{
	if (level == OBS_LEVEL_INTER_DC)
		return ALGO_DROP_INTER_DC;
	if (topo_dc_tor_index(dc, src) == topo_dc_tor_index(dc, dst))
		return ALGO_DROP_INTRA_TOR;
	return topo_dc_pod_index(dc, src) == topo_dc_pod_index(dc, dst)
	    ? ALGO_DROP_INTRA_POD
	    : ALGO_DROP_INTER_POD;
}

struct algo_drop_rate {
	uint64_t n_success;
	uint64_t n_drop;    /* successes on a rung */
	uint64_t n_unclear; /* successes above round trips and on no rung; not
			       drops */
	uint64_t n_failed;  /* timed out or refused; in no rate */
	double rate;        /* NaN without successes */
	double lo, hi;      /* exact interval; [0, 1] without successes */
};

/* Drop rates of a table of DC by group, with intervals at confidence CONF.
 * Shape  out[ALGO_DROP_N_GROUPS], overwritten.
 * Errors SIM_EINVAL (a probe's hosts, outcome, level or time; CONF outside
 *        (0, 1)), SIM_ERANGE as sim_binomial_interval().
 * Cost   O(probes * rungs), no memory. */
int algo_drop_rate(const struct obs_probes *t, const struct topo_dc *dc,
    const struct algo_drop_ladder *ladder, double conf,
    struct algo_drop_rate out[], struct sim_err *e);

/* The same for whoever has counted: OUT has the counts, and gets the rest. */
int algo_drop_rate_judge(struct algo_drop_rate out[], double conf,
    struct sim_err *e);

#endif
