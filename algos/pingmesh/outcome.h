/* algos/pingmesh/outcome.h -- what became of a probe, as record and counters.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A handshake's outcome stands whatever a server answers to the GET behind it, so
 * that no wrong answer is taken for a packet lost. Each probe is one connect, and
 * counts as one in a drop rate, be it by TCP or HTTP.
 */
#ifndef ALGOS_PINGMESH_OUTCOME_H
#define ALGOS_PINGMESH_OUTCOME_H

#include "algos/pingmesh/pingmesh.h"

/* Put what EV, an AGENT_CONNECT_DONE, says into R and COUNT. RTO: the host's TCP
 * repeats its first SYN after. 0, and nothing is put, if no fabric can say so of
 * the probe: an outcome or answer that there is not, of a GET that was not asked
 * for, or nothing of one that was. */
int algo_pingmesh_outcome(struct algo_pingmesh_record *r,
    struct algo_pingmesh_counters *count, sim_ns rto,
    const struct agent_event *ev);

#endif
