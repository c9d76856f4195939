/* algos/pingmesh_outbox.h -- results of probes on their way to the collector.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	add --> ring of records --> batch --> taken
 *	          | full: oldest     ^   |
 *	          v                  |   v fails, or too long
 *	        overrun              rest, then again; after the last try discarded
 *
 * One batch is under way at a time. It is a copy, so that the ring may run over
 * meanwhile without touching it. Times are of the agent's clock.
 */
#ifndef ALGOS_PINGMESH_OUTBOX_H
#define ALGOS_PINGMESH_OUTBOX_H

#include "models/agent.h"

enum {
	ALGO_PINGMESH_RECORDS = 16384, /* that wait for their batch */
	ALGO_PINGMESH_BATCH = 2048,
};

struct algo_pingmesh_params {
	uint32_t max_entries;
	uint32_t min_interval_s, max_payload;
	double fetch_interval_s, fetch_retry_s, fetch_timeout_s;
	double probe_timeout_s;
	double syn_rto_s; /* of the host's TCP: the first SYN's repeat */
	uint32_t first_port, last_port;
	uint32_t batch;
	double upload_interval_s, upload_timeout_s, upload_backoff_s;
	uint32_t upload_tries;
	double perf_window_s;

	/* Not read from specs: this server; 0 = topo_addr_of_host(). */
	uint32_t address;
};
/* One probe. Times of the caller's clock. */
struct algo_pingmesh_record {
	sim_ns sent_ns, rtt_ns, echo_ns; /* 0: none */
	uint32_t src_ip, dst_ip;
	uint16_t src_port, dst_port;
	uint32_t payload;
	uint8_t class, level; /* of the list's entry */
	uint8_t outcome;      /* enum agent_outcome */
	uint8_t zero[5];
};

/* What AGENT_UPLOAD carries, up to its last record. A batch that is tried again
 * is the same batch: a collector knows it by (src_ip, born_ns, number), and
 * takes it once. */
struct algo_pingmesh_batch {
	sim_ns born_ns;  /* when this agent started */
	uint64_t number; /* from 1 */
	uint64_t n_lost; /* records discarded or overrun before it */
	uint32_t src_ip, n;
	struct algo_pingmesh_record record[ALGO_PINGMESH_BATCH];
};

/* Counted since the start. */
#define ALGO_PINGMESH_COUNTERS(X)                                              \
	X(n_probes, "probes sent")                                             \
	X(n_connected, "probes that connected")                                \
	X(n_unconnected, "probes that did not, or had no answer in time")      \
	X(n_drop_1, "connected after one SYN was lost (about 3 s)")            \
	X(n_drop_2, "connected after two were lost (about 9 s)")               \
	X(n_answered, "requests of others answered")                           \
	X(n_guarded, "probes put off: the pair had one just before")           \
	X(n_crowded, "probes put off: too many under way")                     \
	X(n_fetches, "contacts with the controller begun")                     \
	X(n_contact_failed, "contacts that failed or took too long")           \
	X(n_lists, "lists taken")                                              \
	X(n_same, "lists like the one before")                                 \
	X(n_no_list, "contacts without a list, or an empty one")               \
	X(n_bad_list, "lists refused")                                         \
	X(n_closed, "times that all peers were dropped")                       \
	X(n_uploaded, "records that the collector took")                       \
	X(n_discarded, "records given up after the last try")                  \
	X(n_overrun, "records overrun while they waited")                      \
	X(n_upload_failed, "uploads that failed or took too long")             \
	X(n_jumps, "jumps of the clock")                                       \
	X(n_stalls, "times that the clock stood still")                        \
	X(n_stray, "answers that nobody waited for")

struct algo_pingmesh_counters {
#define X(name, doc) uint64_t name;
	ALGO_PINGMESH_COUNTERS(X)
#undef X
};

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

/* When something is due next; SIM_NEVER: not before the next add(). */
sim_ns algo_pingmesh_outbox_next(const struct algo_pingmesh_outbox *o,
    sim_ns now);

#endif
