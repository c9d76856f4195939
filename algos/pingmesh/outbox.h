/* algos/pingmesh/outbox.h -- results of probes on their way to the collector.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	add --> ring of records --> batch --> taken
 *	          | full: oldest     ^   |
 *	          v                  |   v fails, or takes too long
 *	        overrun              rest, again; discarded after the last try
 *
 * One batch is under way at a time. It is a copy, so that the ring may run over
 * meanwhile without touching it. Times are of the agent's clock.
 */
#ifndef ALGOS_PINGMESH_OUTBOX_H
#define ALGOS_PINGMESH_OUTBOX_H

#include "algos/pingmesh/pingmesh.h"

enum { ALGO_PINGMESH_RECORDS = 16384 }; /* that wait for their batch */

enum algo_pingmesh_phase {
	ALGO_PINGMESH_IDLE,
	ALGO_PINGMESH_SENDING,
	ALGO_PINGMESH_RESTING,
};

struct algo_pingmesh_outbox {
	const struct algo_pingmesh_params *params;
	struct algo_pingmesh_counters *count;
	enum algo_pingmesh_phase phase;
	sim_ns at; /* flush; give up; try again */
	uint32_t tries;
	uint32_t first, n;                /* of the records that wait */
	struct algo_pingmesh_batch batch; /* n = 0: none */
	struct algo_pingmesh_record record[ALGO_PINGMESH_RECORDS];
};

/* An empty one. PARAMS and COUNT are kept; of COUNT, the members of uploads,
 * lost records and stray answers are raised. Cost O(1). */
void algo_pingmesh_outbox_init(struct algo_pingmesh_outbox *o,
    const struct algo_pingmesh_params *params,
    struct algo_pingmesh_counters *count, uint32_t self);

void algo_pingmesh_outbox_add(struct algo_pingmesh_outbox *o, sim_ns now,
    const struct algo_pingmesh_record *r);

/* AGENT_UPLOAD_DONE. That an earlier try of the same batch was taken, though
 * late, counts as well. */
void algo_pingmesh_outbox_done(struct algo_pingmesh_outbox *o, sim_ns now,
    const struct agent_event *ev, struct sim_rng *rng);

/* Do what is due: at most one AGENT_UPLOAD. */
void algo_pingmesh_outbox_due(struct algo_pingmesh_outbox *o, sim_ns now,
    struct sim_rng *rng, struct agent_out *out);

/* Send what waits without waiting for a full batch. A batch that rests after a
 * failure still rests. */
void algo_pingmesh_outbox_hurry(struct algo_pingmesh_outbox *o, sim_ns now);

/* Keep in B whom the records that are held name. */
void algo_pingmesh_outbox_keep(const struct algo_pingmesh_outbox *o,
    struct topo_ip_book *b);

/* When something is due next; SIM_NEVER: not before the next add(). */
sim_ns algo_pingmesh_outbox_next(const struct algo_pingmesh_outbox *o,
    sim_ns now);

#endif
