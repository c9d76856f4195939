/* experiments/everflow/copies.h -- captured bytes as copies of known switches.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The source of a carrier (algos/everflow/erspan.h) names the switch. Numbers of
 * its copies are those of GRE: a switch may have several sessions, each with
 * numbers of its own, so they are put together as one that goes on by as much as
 * the session's did, and losses still show as gaps. A switch without numbers has
 * 0. By which link a packet came a capture does not say, unless the index of
 * ERSPAN II is known to be the link, as switches of models/netns/mirror.h have it.
 */
#ifndef EXPERIMENTS_EVERFLOW_COPIES_H
#define EXPERIMENTS_EVERFLOW_COPIES_H

#include "algos/everflow/erspan.h"
#include "algos/everflow/mirror_rule.h"
#include "models/obs_mirror.h"
#include "topo/topo.h"

/* Which switch has an address. */
struct xp_switch_address {
	uint32_t ip;
	topo_switch node;
};

struct xp_copy_session {
	uint32_t last; /* its latest number */
	uint32_t next; /* another session of the switch; TOPO_NONE = none */
	uint16_t id;
};

struct xp_copy_switch {
	uint32_t number, sessions; /* the first one; TOPO_NONE = none */
};

struct xp_copies {
	const struct topo *topo;
	uint16_t vendor;       /* a GRE protocol that is ERSPAN I; 0 = none */
	uint8_t index_is_link; /* of II; may be set once it is open */
	struct xp_switch_address *address; /* by ip; NULL: as topo/addr.h */
	size_t n_addresses, cap_addresses;
	struct algo_mirror_table kinds;
	struct xp_copy_switch *at; /* [n_switches] */
	struct xp_copy_session *session;
	size_t n_sessions, cap_sessions;
	/* Of the capture, the first packet's unless it is set once it is open;
	 * the latest, from there. */
	uint64_t start_ns, last_ns;
	/* By xp_copies_clock(): the wall clock less the steady one, how far it was
	 * set since the start, and the latest time that a copy may have; 0: any. */
	uint64_t offset_ns, set_ns, most_ns;
	/* What it met. */
	uint64_t n_packets, n_copies, n_unknown, n_back;
	uint64_t n_bad_index; /* it is no link into that switch */
	uint64_t n_end[ALGO_N_ERSPAN_ENDS];
	uint32_t unknown_ip; /* the first */
};

/* Errors SIM_ENOMEM; T is borrowed. Free it also then. */
int xp_copies_open(struct xp_copies *c, const struct topo *t, uint16_t vendor,
    struct sim_err *e);
void xp_copies_free(struct xp_copies *c);

/* Take addresses from TEXT, the N bytes of file NAME, instead of those of
 * topo/addr.h: lines SWITCH=ADDRESS, with names as of topo_node_parse(); empty
 * lines and what is behind # do not count.
 * Errors SIM_EINVAL (NAME:LINE: no such line; not a switch; an address twice),
 * SIM_ENOMEM. */
int xp_copies_addresses(struct xp_copies *c, const char *name, const char *text,
    struct sim_err *e);

/* Take N bytes behind a link's header that came at UNIX_NS: a copy is appended
 * to OUT, with the time since the start; what is none is counted. Times
 * that go back are counted and taken as the latest before. Errors SIM_ENOMEM. */
int xp_copies_take(struct xp_copies *c, uint64_t unix_ns, uint16_t ethertype,
    const uint8_t bytes[], size_t n, struct obs_mirror *out, struct sim_err *e);

/* Copies that come from now on are of this moment by both clocks: their times are
 * of the wall clock, which somebody may set, and a time server that is wrong by
 * years; they go on as the steady clock does. To be called before each read.
 * Returns the time since the start. */
sim_ns xp_copies_clock(struct xp_copies *c, sim_ns steady, uint64_t wall);

#endif
