/* algos/pingmesh/agent.h -- Pingmesh's agent: probe the peers, never do harm.
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
 *	- It probes none but whom its own configuration allows, if that says;
 *	  a list that asks for another is a bad one (algos/pingmesh/allow.h).
 *	- It always answers the probes of others, also without a list.
 *	- Its memory is one block of fixed size. What does not fit is dropped,
 *	  oldest first, and counted.
 *
 * The first two are constants; parameters and lists can only be stricter.
 *
 *	controller                       collector
 *	 | FETCH                          ^ UPLOAD (tries, backs off, gives up)
 *	 v                                |
 *	list -> heap by due time -> CONNECT -> in flight -> results -> batch
 *
 * Entries of a list begin at random places of their interval. Each probe has
 * another source port, so that ECMP takes it another way: a pair takes all ports
 * of the range before any comes again (algos/pingmesh/pairs.h).
 *
 * The agent's own clock only goes forward, by at most ALGO_PINGMESH_STEP at a
 * time; it has a timer set for every second, so more means that the caller's
 * clock jumped or that the host slept. A jump, forward or back, counts as no
 * time at all, so it brings no probes closer together. (A smaller jump forward
 * looks like time passing: a host whose clock may be set should tell the time
 * by a monotonic one.) A clock that stands still for ALGO_PINGMESH_STILL steps
 * closes the list.
 *
 * At the end of each perf_window its counters go to the collector, beside the
 * records and ahead of them. They are sent once and never tried again, since
 * they matter only while they are new.
 *
 * Each probe becomes one record and nothing is lost uncounted:
 *
 *	n_probes = n_in_flight + n_held + n_uploaded + n_discarded + n_overrun
 *
 * Its state points into itself, so it must stay where init() made it.
 *
 * Paper: Pingmesh (SIGCOMM'15), sections 3.4 and 4.2. DEPARTS: the paper does
 * not say how often a list is fetched, what a batch is or how often it is
 * tried; those defaults are ours.
 */
#ifndef ALGOS_PINGMESH_AGENT_H
#define ALGOS_PINGMESH_AGENT_H

#include "algos/pingmesh/outbox.h"

enum {
	ALGO_PINGMESH_FLIGHTS = 8192, /* probes under way */
	ALGO_PINGMESH_LOG = 256,
	ALGO_PINGMESH_BURST = 16,        /* probes a step */
	ALGO_PINGMESH_ENTRY_BYTES = 256, /* of XML; more is refused */
	ALGO_PINGMESH_CONTACTS = 3,      /* that may fail */
	ALGO_PINGMESH_STILL = 100000,    /* steps at one time of the clock */
	ALGO_PINGMESH_STATE = 2 << 20,   /* bytes at most */
	/* Addresses of IPv6 that it can know at a time: its own, of two lists,
	 * under way, held. */
	ALGO_PINGMESH_BOOK = 1 + 2 * ALGO_PINGMESH_ENTRIES +
	    ALGO_PINGMESH_FLIGHTS + ALGO_PINGMESH_RECORDS + ALGO_PINGMESH_BATCH,
};
#define ALGO_PINGMESH_STEP (2 * SIM_SEC)

extern const struct agent_ops algo_pingmesh_agent;

struct algo_pingmesh_status {
	uint32_t n_entries, n_in_flight, n_held; /* held: also in the batch */
	uint32_t n_contacts_failed;              /* in a row */
	uint64_t version;                        /* of the list; 0 = none */
	const char *why; /* the last list was refused; "": none was */
	struct algo_pingmesh_counters count;
	struct algo_pingmesh_window window; /* the last that is over */
};
void algo_pingmesh_agent_status(const void *state,
    struct algo_pingmesh_status *out);

/* The host is about to end it: the list is dropped, the controller not asked
 * again, and what is held goes to the collector at the next steps. To be said
 * again every now and then until n_in_flight and n_held are 0, or there is no
 * more time: what is then left is lost. */
void algo_pingmesh_agent_end(void *state);

/* The host's configuration has changed: the list is dropped, as it may ask for what
 * is no longer allowed, and asked for again at once. */
void algo_pingmesh_agent_again(void *state);

/* The local log: the last ALGO_PINGMESH_LOG lines, each with a value and what
 * that counts; "": it has none. */
#define ALGO_PINGMESH_LINES(X)                                                 \
	X(LIST, "list taken", "entries")                                       \
	X(NO_CONTACT, "controller failed", "in a row")                         \
	X(NO_LIST, "no list", "")                                              \
	X(EMPTY, "list without peers", "")                                     \
	X(BAD, "list refused", "bytes")                                        \
	X(CLOSED, "peers dropped", "entries")                                  \
	X(DISCARDED, "batch given up", "records")                              \
	X(OVERRUN, "results overrun", "so far")                                \
	X(JUMP, "clock jumped", "ns forward or back")                          \
	X(STALL, "clock stands still", "")

enum algo_pingmesh_line {
#define X(name, text, of) ALGO_PINGMESH_##name,
	ALGO_PINGMESH_LINES(X)
#undef X
	    ALGO_PINGMESH_N_LINES
};
extern const char *const algo_pingmesh_lines[];
extern const char *const algo_pingmesh_line_of[];

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
