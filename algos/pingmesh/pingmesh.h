/* algos/pingmesh/pingmesh.h -- what the parts of Pingmesh's agent share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef ALGOS_PINGMESH_PINGMESH_H
#define ALGOS_PINGMESH_PINGMESH_H

#include "algos/pingmesh/pinglist.h"
#include "models/agent.h"
#include "topo/ip_book.h"

enum { ALGO_PINGMESH_ENTRIES = 5120 }; /* of a list */
enum { ALGO_PINGMESH_BATCH = 2048 };   /* records */

/* Which source port is next: algos/pingmesh/pairs.h. */
enum algo_pingmesh_port_order {
	ALGO_PINGMESH_PORTS_PAIR,
	ALGO_PINGMESH_PORTS_LIST
};

struct algo_pingmesh_params {
	uint32_t max_entries;
	uint32_t min_interval_s, max_payload;
	double fetch_interval_s, fetch_retry_s, fetch_timeout_s;
	double probe_timeout_s;
	double syn_rto_s; /* of the host's TCP: the first SYN's repeat */
	uint32_t first_port, last_port;
	uint32_t ports; /* enum algo_pingmesh_port_order */
	uint32_t batch;
	double upload_interval_s, upload_timeout_s, upload_backoff_s;
	uint32_t upload_tries;
	double perf_window_s;

	/* Not read from specs: this server; 0 = topo_addr_of_host(). */
	uint32_t address;
	/* Nor is whom it may probe; NULL: anybody. */
	const struct algo_pinglist_allow *allow;
	/* Where `address` is a number of an address of IPv6: the book that has
	 * it, in which the agent notes its peers (ALGO_PINGMESH_BOOK). */
	struct topo_ip_book *book;
};
extern const struct sim_field algo_pingmesh_agent_fields[];

/* One probe. Times are of the caller's clock. */
struct algo_pingmesh_record {
	sim_ns sent_ns, rtt_ns, echo_ns; /* 0: none */
	uint32_t src_ip, dst_ip;
	uint16_t src_port, dst_port;
	uint32_t payload;
	uint8_t class, level; /* of the list's entry */
	uint8_t outcome;      /* enum agent_outcome */
	uint8_t ping;         /* enum agent_ping, of the list's entry */
	uint8_t answer;       /* enum agent_answer */
	uint8_t zero[3];
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

/* What AGENT_COUNTERS carries: the performance counters of a window. A
 * collector knows it by (src_ip, born_ns, number). */
struct algo_pingmesh_window {
	sim_ns born_ns;          /* when this agent started */
	uint64_t number;         /* from 1; 0: none is over yet */
	sim_ns start_ns, end_ns; /* caller's clock */
	uint64_t n_probes, n_connected, n_unconnected, n_drop_1, n_drop_2;
	sim_ns p50_ns, p99_ns; /* of the handshake */

	/* Of HTTP pings, by what came of their GETs; times of those with status
	 * 200, 0: there is none. Agents from before 0.10.0 do not say: ! has_http. */
	uint64_t n_http_ok, n_http_other, n_http_malformed, n_http_cut,
	    n_http_late;
	sim_ns http_p50_ns, http_p99_ns;

	/* Whose plan it probed by at its end, and when that was issued, which
	 * signed lists alone say; 0: none. Those agents do not say either. */
	uint64_t list_version, list_issued_ns;
	uint32_t src_ip;
	uint32_t has_http;
};

/* Counted since the start. */
#define ALGO_PINGMESH_COUNTERS(X)                                              \
	X(n_probes, "probes sent")                                             \
	X(n_connected, "probes that connected")                                \
	X(n_unconnected, "probes that did not, or had no answer in time")      \
	X(n_drop_1, "connected after one SYN was lost (about 3 s)")            \
	X(n_drop_2, "connected after two were lost (about 9 s)")               \
	X(n_http_ok, "GETs answered by status 200")                            \
	X(n_http_other, "GETs answered by another status")                     \
	X(n_http_malformed, "GETs answered by what is no HTTP")                \
	X(n_http_cut, "GETs whose connection ended before the answer")         \
	X(n_http_late, "GETs not answered in time")                            \
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

#endif
