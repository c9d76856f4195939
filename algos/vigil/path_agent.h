/* algos/vigil/path_agent.h -- 007's host agent: the paths of losing flows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The agent hears of each retransmission of its host's TCP, and learns the path
 * of the connection:
 *
 *	RETX --> first of this connection in the epoch? a slot? a token?
 *	         |                     destination is a VIP
 *	         v                     v
 *	     max_ttl probes <-- ok -- SLB query   (refused, silent: no trace)
 *	         |
 *	         v  ICMP: hop[ttl] = where it came from
 *	     timeout --> AGENT_REPORT
 *
 * A connection is traced at most once an epoch, and its SLB mapping is asked
 * for once. If there is no token or no slot for it, its next retransmission is
 * another chance. A connection whose handshake failed is not traced, since its
 * probes would be lost as well. Tokens (007's C_t) come at c_t a second; the
 * host saves up one second's worth at most, but always room for one. A query
 * takes a token whatever comes of it.
 *
 * Probes are TCP packets of the connection's own five-tuple (with the DIP),
 * which ECMP sends its way, and carry their TTL in the IP ID:
 *
 *	ip_id = generation (5 bits) | slot (6) | ttl (5)
 *
 * so that late answers to a slot's earlier traces are told apart.
 *
 * The state is of fixed size and remembers PATH_AGENT_CONNS connections an
 * epoch. When they are used up, a new connection takes the place of one that
 * was not traced. If all of them were traced, the new one is not, so that no
 * connection is ever traced twice in an epoch.
 *
 * Paper 007 (NSDI'18) section 4. DEPARTS: TTLs 1 .. max_ttl rather than 0 ..
 * 15: a packet of TTL 0 never leaves.
 */
#ifndef ALGOS_VIGIL_PATH_AGENT_H
#define ALGOS_VIGIL_PATH_AGENT_H

#include "models/agent.h"

enum {
	PATH_AGENT_CONNS = 256,
	PATH_AGENT_SLOTS = 64,    /* traces at a time */
	PATH_AGENT_STATE = 16384, /* bytes at most */
};

struct algo_path_agent_params {
	double c_t;       /* traces a second and host; 0 = no limit */
	uint32_t max_ttl; /* probes of a trace */
	double timeout_s; /* of an SLB query, and of a trace's answers */

	/* Not read from specs: an epoch's length; 0 = it never ends. */
	sim_ns epoch_ns;
};
extern const struct sim_field algo_path_agent_fields[];
extern const struct agent_ops algo_path_agent;

#endif
