/* algos/everflow/suspect.h -- suspected drops wait for what later packets tell.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A suspect is of one of three grades in the end:
 *
 *  confirmed  the same tuple and sequence number came again, or the mark of what
 *             is sent again with them: whoever sent it had no answer
 *  refuted    the other side acknowledged it; or, of a SYN, the connection went
 *             on: so it arrived, and a mirror was lost
 *  suspect    neither within confirm_ms of its first copy
 *
 * What came first decides: an answer to what was sent again proves nothing of
 * the first. So if what is sent again is seldom mirrored, a drop may be refuted;
 * a rule for its mark (OBS_COPY_RETX) mends that, and SYNs and FINs are always
 * mirrored. Only what consumes sequence numbers can be told: a SYN, a FIN, a
 * payload, a RoCE packet (confirmed only). Anything else does not wait, nor do
 * guided probes, which nobody answers and whose sender wants to know.
 *
 * DEPARTS: ours. The paper takes each trace for itself.
 */
#ifndef ALGOS_EVERFLOW_SUSPECT_H
#define ALGOS_EVERFLOW_SUSPECT_H

#include "algos/everflow/trace.h"
#include "sim/time.h"

/* A whole frame without a payload is no longer: Ethernet with a VLAN tag, IP,
 * TCP with all options that fit. */
enum { ALGO_SUSPECT_BARE_BYTES = 14 + 4 + 20 + 60 };

/* Copies of a trace that waits; one with more does not. */
enum { ALGO_SUSPECT_MAX_HOPS = 24 };

struct algo_suspect;

/* Zeroed is closed. */
struct algo_suspects {
	struct algo_suspect *slot;
	uint32_t *head; /* [n_slots] the newest by connection */
	uint32_t n_slots, first, end;
	uint32_t n_waiting;
	sim_ns confirm;
};

/* Room for N at once, rounded up to a power of two. Errors SIM_ENOMEM; close also then. */
int algo_suspects_open(struct algo_suspects *s, uint32_t n, sim_ns confirm,
    struct sim_err *e);
void algo_suspects_close(struct algo_suspects *s);

/* Can something that comes later tell what became of T? */
int algo_suspect_waits(const struct algo_trace *t);

/* T ended: which waiting ones does it confirm or refute? They go to SINK with
 * CONFIRMED or REFUTED for SUSPECT, and n_lost one more if refuted. Traces come
 * in the order of their first copies. Errors those of SINK. Cost O(1 + those
 * that wait of its connection). */
int algo_suspects_see(struct algo_suspects *s, const struct algo_trace *t,
    const struct algo_trace_sink *sink, struct sim_err *e);

/* Let T wait. If there is no room the oldest ends with the mark EARLY.
 * Domain n_hops <= ALGO_SUSPECT_MAX_HOPS. */
int algo_suspects_add(struct algo_suspects *s, const struct algo_trace *t,
    const struct algo_hop hop[], const struct algo_trace_sink *sink,
    struct sim_err *e);

/* No trace with a first copy before NOW comes any more: end what waited long
 * enough. SIM_NEVER: all. */
int algo_suspects_expire(struct algo_suspects *s, sim_ns now,
    const struct algo_trace_sink *sink, struct sim_err *e);

#endif
