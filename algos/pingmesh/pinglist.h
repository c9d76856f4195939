/* algos/pingmesh/pinglist.h -- Pingmesh's pinglists: whom each server probes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Three complete graphs, each pair in both directions:
 *
 *	tor       all servers under one ToR
 *	dc        server i of ToR x and server i of ToR y, for all x != y of a
 *		  data centre; n ToRs make n - 1 peers a server
 *	inter_dc  some servers of each podset of each data centre and those of
 *		  all other data centres
 *
 * and `vip`, addresses of services that every server probes. Pingmesh's words
 * are not ours: its pod is the servers under one ToR; its podset, the pods that
 * share leaf switches (T1), is one pod of topo/clos.h.
 *
 * Nothing is stored for a server: peer k of server s is computed, in O(1), so a
 * plan for any number of servers is one struct of fixed size without heap.
 * Servers are numbered over all data centres in order; server s has the address
 * of host s (topo/addr.h).
 *
 * The cap. A server has at most max_peers peers. What is dropped depends only
 * on the plan, and a pair is kept or dropped in both directions:
 *   1. tor keeps what fits: of the ring of a ToR's servers each keeps the same
 *      offsets +-d, spread evenly (an odd number of them only when the ring is
 *      even: no graph of odd order has odd degree).
 *   2. vip keeps the first that fit in what is left.
 *   3. inter_dc gets what dc leaves of the rest, but at least half: the number
 *      of servers a podset is lowered until that holds for all data centres.
 *   4. dc keeps what fits in what is left, by offsets on the ring of all ToRs;
 *      servers whose index under their ToR is that of an inter_dc server leave
 *      room for that, all others do not.
 *
 * Hard limits, which no parameter can exceed: two probes of one pair are 10 s
 * apart or more, and a payload has 65,536 bytes or fewer. A peer with several
 * entries (classes, payload, HTTP) gets as many times the interval for each, so
 * that an agent which spreads them evenly keeps the limit for the pair.
 *
 * Paper: Pingmesh (SIGCOMM'15), sections 3.3 and 6.2. DEPARTS: the choice of
 * inter_dc servers, the cap's rule, the default intervals and the attributes
 * port, class, payload, interval and ping of an entry are ours; the paper has
 * none. Its agents send TCP and HTTP pings (section 3.4), and it does not say
 * which peer gets which: here a peer gets both, or none by HTTP, the default.
 */
#ifndef ALGOS_PINGMESH_PINGLIST_H
#define ALGOS_PINGMESH_PINGLIST_H

#include <stdint.h>

#include "models/agent.h"
#include "sim/err.h"
#include "sim/field.h"
#include "topo/addr.h"
#include "topo/dc.h"
#include "topo/ip.h"

enum {
	ALGO_PINGLIST_MIN_INTERVAL_S = 10,
	ALGO_PINGLIST_MAX_INTERVAL_S = 86400, /* of one probe of a pair */
	ALGO_PINGLIST_MAX_PAYLOAD = 65536,
	ALGO_PINGLIST_MAX_DCS = 16,
	ALGO_PINGLIST_MAX_VIPS = 64,
	ALGO_PINGLIST_MAX_CLASSES = 8,
	ALGO_PINGLIST_MAX_KINDS = 3 * ALGO_PINGLIST_MAX_CLASSES,
};

enum algo_pinglist_level {
	ALGO_PINGLIST_TOR,
	ALGO_PINGLIST_DC,
	ALGO_PINGLIST_INTER_DC,
	ALGO_PINGLIST_VIP,
	ALGO_PINGLIST_N_LEVELS
};
extern const char *const algo_pinglist_levels[]; /* NULL-terminated */
extern const char *const algo_pinglist_pings[];  /* of enum agent_ping */

struct algo_pinglist_params {
	uint32_t levels; /* set of enum algo_pinglist_level */
	uint32_t max_peers;
	uint32_t min_interval_s; /* of a pair, whatever the level */
	uint32_t tor_interval_s, dc_interval_s, inter_dc_interval_s,
	    vip_interval_s;
	uint32_t inter_dc_servers; /* a podset */
	uint32_t payload_probes, payload_bytes;
	uint32_t http_probes;
	uint32_t vip_port;
	char ports[48];  /* one a QoS class, most urgent first */
	char vips[1024]; /* addresses */
};
extern const struct sim_field algo_pinglist_fields[];

/* Members of a ring that each of them probes. */
struct algo_pinglist_ring {
	uint32_t n;      /* members */
	uint32_t n_kept; /* peers of each; n - 1 when complete */
	/* When not complete: offsets +-d for n_pairs values of d in
	 * [1, half], and n / 2 if `middle`. */
	uint32_t n_pairs, half, middle;
};

struct algo_pinglist_dc {
	struct topo_dc at;
	uint32_t a_podset; /* inter_dc servers */
	uint32_t n_chosen; /* inter_dc servers in all */
	uint32_t n_inter;  /* inter_dc peers of each of them */
	uint32_t n_vips;
	struct algo_pinglist_ring tor;
	struct algo_pinglist_ring dc[2]; /* [1]: beside inter_dc peers */
};

/* Read-only after opening; owns nothing. */
struct algo_pinglist {
	uint64_t version; /* FNV-1a of the parameters and shapes: same input,
			     same version on every replica */
	uint32_t n_servers, n_dcs, n_classes, n_vips;
	uint32_t payload; /* bytes, of the entries that have one */
	uint32_t http;    /* 1: there are entries of AGENT_PING_HTTP */
	uint32_t n_kinds[ALGO_PINGLIST_N_LEVELS];    /* entries a peer */
	uint32_t interval_s[ALGO_PINGLIST_N_LEVELS]; /* of an entry */
	uint16_t port[ALGO_PINGLIST_MAX_CLASSES], vip_port;
	uint32_t vip[ALGO_PINGLIST_MAX_VIPS]; /* ascending */
	struct topo_ip_net net6;              /* zeroed: none */
	struct algo_pinglist_dc dc[ALGO_PINGLIST_MAX_DCS];
};

/* One server's list: a view, good as long as its plan. */
struct algo_pinglist_server {
	const struct algo_pinglist *plan;
	const struct algo_pinglist_dc *dc;
	const struct algo_pinglist_ring *column;
	uint32_t id, tor, index; /* ToR in its data centre, place under it */
	uint32_t n_peers;
	uint32_t end[ALGO_PINGLIST_N_LEVELS]; /* first peer beyond a level */
};

struct algo_pinglist_peer {
	uint32_t address;
	enum algo_pinglist_level level;
};

/* What the list says of one peer. */
struct algo_pinglist_entry {
	uint32_t address, interval_s, payload; /* payload: bytes, 0 = none */
	uint16_t port;
	uint8_t level : 4, ping : 4; /* enum agent_ping; HTTP has no payload */
	uint8_t class;
};

/* Plan for N_DCS data centres; of SHAPE only the five numbers are read. Values
 * of P beyond a hard limit are taken as the limit.
 * Errors SIM_EINVAL (ports or VIPs that are no such list, a VIP that is given
 * twice, is a server's address or no unicast address), SIM_ELIMIT (too many
 * data centres, servers, classes or VIPs) and those of topo_clos_init().
 * Cost   O(n_dcs^2 * inter_dc_servers). */
int algo_pinglist_open(struct algo_pinglist *l,
    const struct algo_pinglist_params *p, const struct topo_clos shape[],
    uint32_t n_dcs, struct sim_err *e);

/* Whether servers can have addresses of NET. Errors SIM_EINVAL: it is none of IPv6,
 * has no room for servers, or is of addresses that others do not reach. */
int algo_pinglist_check_net(const struct topo_ip_net *net, struct sim_err *e);

/* Servers of L also have addresses of NET (topo_ip_of_host()), and lists of such.
 * Errors as check. */
int algo_pinglist_add_net(struct algo_pinglist *l,
    const struct topo_ip_net *net, struct sim_err *e);

/* Errors SIM_ERANGE, ID is no server. Cost O(n_dcs). */
int algo_pinglist_server(struct algo_pinglist_server *s,
    const struct algo_pinglist *l, uint32_t id, struct sim_err *e);

/* Take S's services away: its list is of IPv6, and they are IPv4. */
void algo_pinglist_leave_vips(struct algo_pinglist_server *s);

/* The server that has A, of either family, or TOPO_NONE. */
topo_host algo_pinglist_find(const struct algo_pinglist *l,
    const struct topo_ip *a);

/* Number of entries of a server's list. */
uint32_t algo_pinglist_n_entries(const struct algo_pinglist_server *s);

/* Entry KIND of a peer: by class, and for each class the handshake alone first,
 * then with payload, then by HTTP.
 * Domain kind < n_kinds[peer.level]. */
struct algo_pinglist_entry algo_pinglist_entry(const struct algo_pinglist *l,
    struct algo_pinglist_peer peer, uint32_t kind);

/* Below algo_pinglist_at(): what is not a complete ring. */
uint32_t algo_pinglist_ring_at(const struct algo_pinglist_ring *r,
    uint32_t member, uint32_t k);
uint32_t algo_pinglist_inter_at(const struct algo_pinglist_server *s,
    uint32_t k);

/* Peer K of a server: by level, the tor and dc ones by ascending address.
 * Domain k < n_peers. Cost O(1); O(n_dcs) for inter_dc. */
static inline struct algo_pinglist_peer
algo_pinglist_at(const struct algo_pinglist_server *s, uint32_t k)
{
	const uint32_t under_tor = s->dc->at.clos.n_hosts;
	const uint32_t base = TOPO_ADDR_HOST_BASE + s->dc->at.first_host;
	if (k < s->end[ALGO_PINGLIST_TOR]) {
		const uint32_t i =
		    algo_pinglist_ring_at(&s->dc->tor, s->index, k);
		return (
		    struct algo_pinglist_peer){base + s->tor * under_tor + i,
		    ALGO_PINGLIST_TOR};
	}
	if (k < s->end[ALGO_PINGLIST_DC]) {
		const struct algo_pinglist_ring *r = s->column;
		k -= s->end[ALGO_PINGLIST_TOR];
		const uint32_t y = r->n_kept + 1 == r->n
		    ? k + (k >= s->tor)
		    : algo_pinglist_ring_at(r, s->tor, k);
		return (
		    struct algo_pinglist_peer){base + y * under_tor + s->index,
		    ALGO_PINGLIST_DC};
	}
	if (k < s->end[ALGO_PINGLIST_INTER_DC])
		return (
		    struct algo_pinglist_peer){algo_pinglist_inter_at(s,
						   k -
						       s->end
							   [ALGO_PINGLIST_DC]),
		    ALGO_PINGLIST_INTER_DC};
	return (struct algo_pinglist_peer){s->plan->vip[k -
					       s->end[ALGO_PINGLIST_INTER_DC]],
	    ALGO_PINGLIST_VIP};
}

#endif
