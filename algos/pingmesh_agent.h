/* algos/pingmesh_agent.h -- Pingmesh's agent: probe the peers, never do harm.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It runs on every server, so what it must not do comes first:
 *
 *	- Two probes of one pair (this server, one address) are 10 s apart or
 *	  more, whatever the list says, also across lists and restarts.
 *	- No payload is above 64 KiB.
 *	- It fails closed. Three contacts with the controller that fail in a
 *	  row, or one that brings no list, an empty or a bad one: all peers are
 *	  dropped and nothing is probed until a list comes.
 *	- It answers requests always.
 *	- Its memory is one block of fixed size. What does not fit is dropped,
 *	  oldest first, and counted.
 *
 * The first two are constants; parameters and lists can only be stricter.
 *
 *	 controller                        collector
 *	  | FETCH                             ^ UPLOAD (tries, backs off, gives up)
 *	  v                                   |
 *	list --> heap by due time --> CONNECT --> in flight --> results --> batch
 *
 * Entries of a list begin at random places of their interval. Each probe has
 * the next source port of the range, so that ECMP takes it another way.
 *
 * The agent's own clock only goes forward, by at most ALGO_PINGMESH_STEP at a
 * time; it has a timer set for every second, so more means that the caller's
 * clock jumped or that the host slept. Neither direction can then bring probes
 * closer together: the jump counts as no time at all. A clock that stands still
 * for ALGO_PINGMESH_STILL steps closes the list.
 *
 * Each probe becomes one record and nothing is lost uncounted:
 *
 *	n_probes = n_in_flight + n_held + n_uploaded + n_discarded + n_overrun
 *
 * Paper: Pingmesh (SIGCOMM'15), sections 3.4 and 4.2. DEPARTS: the paper does
 * not say how often a list is fetched, what a batch is or how often it is
 * tried; those defaults are ours.
 */
#ifndef ALGOS_PINGMESH_AGENT_H
#define ALGOS_PINGMESH_AGENT_H

#include "algos/pinglist.h"
#include "algos/pingmesh_perf.h"
#include "models/agent.h"

enum {
	ALGO_PINGMESH_ENTRIES = 5120,  /* of a list */
	ALGO_PINGMESH_FLIGHTS = 8192,  /* probes under way */
	ALGO_PINGMESH_RECORDS = 16384, /* that wait for their batch */
	ALGO_PINGMESH_BATCH = 2048,
	ALGO_PINGMESH_LOG = 256,
	ALGO_PINGMESH_BURST = 16,        /* probes a step */
	ALGO_PINGMESH_ENTRY_BYTES = 256, /* of XML; more is refused */
	ALGO_PINGMESH_CONTACTS = 3,      /* that may fail */
	ALGO_PINGMESH_STILL = 100000,    /* steps at one time of the clock */
	ALGO_PINGMESH_STATE = 2 << 20,   /* bytes at most */
};
#define ALGO_PINGMESH_STEP (2 * SIM_SEC)

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
extern const struct sim_field algo_pingmesh_agent_fields[];
extern const struct agent_ops algo_pingmesh_agent;

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

/* Of the last whole window, for the path of performance counters. */
struct algo_pingmesh_window {
	sim_ns start_ns; /* caller's clock; 0 and all zero: none is over yet */
	uint64_t n_probes, n_connected, n_unconnected, n_drop_1, n_drop_2;
	sim_ns p50_ns, p99_ns; /* of the handshake */
};

struct algo_pingmesh_status {
	uint32_t n_entries, n_in_flight, n_held; /* held: also in the batch */
	uint32_t n_contacts_failed;              /* in a row */
	uint64_t version;                        /* of the list; 0 = none */
	struct algo_pingmesh_counters count;
	struct algo_pingmesh_window window;
};
void algo_pingmesh_agent_status(const void *state,
    struct algo_pingmesh_status *out);

/* The local log: the last ALGO_PINGMESH_LOG lines. */
#define ALGO_PINGMESH_LINES(X)                                                 \
	X(LIST, "list taken")              /* entries */                       \
	X(NO_CONTACT, "controller failed") /* in a row */                      \
	X(NO_LIST, "no list")                                                  \
	X(EMPTY, "list without peers")                                         \
	X(BAD, "list refused")         /* its bytes */                         \
	X(CLOSED, "peers dropped")     /* entries */                           \
	X(DISCARDED, "batch given up") /* records */                           \
	X(OVERRUN, "results overrun")  /* all so far, a power of 2 */          \
	X(JUMP, "clock jumped")        /* ns, forward or back */               \
	X(STALL, "clock stands still")

enum algo_pingmesh_line {
#define X(name, text) ALGO_PINGMESH_##name,
	ALGO_PINGMESH_LINES(X)
#undef X
	    ALGO_PINGMESH_N_LINES
};
extern const char *const algo_pingmesh_lines[];

struct algo_pingmesh_log {
	sim_ns at_ns; /* caller's clock */
	enum algo_pingmesh_line line;
	uint64_t value;
};

/* Copy the lines that are kept, oldest first; returns their number. *N_GONE:
 * those written over before them. */
uint32_t algo_pingmesh_agent_log(const void *state,
    struct algo_pingmesh_log out[ALGO_PINGMESH_LOG], uint64_t *n_gone);

#endif
