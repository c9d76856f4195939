/* models/connects/connects.h -- connects of a mesh in bulk: only those that are late.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every server connects to each of its peers again and again, at a fixed time
 * after the last one. Between two changes of the network such connects are
 * independent, and of all those that take one round trip only their number
 * matters. So what is drawn is the rest alone, a row each:
 *
 *	- those that lost a SYN or its answer, with what became of the later
 *	  ones: late by a rung of the ladder, or failed
 *	- those that lost nothing and yet took late_ns or more: hosts that stall
 *	- those that lost nothing and crossed a link that delays, however long they
 *	  took
 *	- probes of a pair that a black hole of type 1 drops, and of servers that
 *	  are off: as one row for all of them, while nothing changes
 *	- connects that were never made, or never told of, as the sender was off
 *
 * How they are found. A connect loses its first SYN or the answer to it if any
 * link of its two ways marks it; marks are independent. Each source (a link that
 * is worse than most, that delays, or that leads into a switch with a hole of type
 * 2, by who of the two connects) looks at a share of all connects that may cross it, by
 * geometric jumps over them, however many those are: at as many as cross it and are
 * marked there. No two look at the same connect, so what they look at is so many
 * disjoint events, each of the right chance. The way is then drawn given that it
 * crosses the link, and the mark is kept if no source that comes before has marked
 * the same connect, which has a probability that the way tells. All links that are
 * about as good as most, and stalls, share what is left. So a connect has one row at
 * most, with its way both there and back by their law given that it was marked, and
 * later SYNs take that same way, as those of one five-tuple do. Each is judged by
 * the state of the network at its own time. Where a server's links or switches mark
 * so much that shares of its connects may add up to more than all of them, they are
 * made one by one.
 *
 * The law is that of models/sim/connect.c but for this:
 * - The five-tuple of each connect is a new one: paths and corrupt entries are
 *   drawn, not hashed. So one may be answered, or slow, on a port for which the
 *   truth has a corrupt entry, and as many others fail instead. A pair comes to a
 *   source port again after as many connects as there are ports; then this is
 *   wrong, as its probes would contradict each other, unless ports.again is set.
 *   With that each five-tuple has the fate that rules of type 2 give it, and
 *   paths must not matter: no link may be worse than noise, and only ToRs may
 *   have such rules.
 * - Pairs connect from time 0 on, each at a phase of its own. Agents fetch a list
 *   first, and are put off at times.
 * - A server that goes off loses the rows that are under way, but not connects
 *   of one round trip, nor records that wait to be uploaded.
 *
 * Cost O(rows + faults + links + servers) a segment of time between two changes of
 * the network, where the rows of a server with bad links are at least an eighth of
 * its connects or so; of servers that are off, O(servers that are off * peers).
 * Memory 16 to 32 bytes for each connect that a source looks at in a segment.
 *
 * Paper  Pingmesh (SIGCOMM'15), sections 3.3 and 4.2. DEPARTS: all of it is
 *        ours.
 */
#ifndef MODELS_CONNECTS_CONNECTS_H
#define MODELS_CONNECTS_CONNECTS_H

#include "models/scene/scene.h"
#include "models/sim/rtt_profile.h"
#include "models/sim/tcp_connect.h"

/* Lists of peers, and links one way between two servers: 2, 4 or 6. */
enum connects_level { CONNECTS_TOR, CONNECTS_DC, CONNECTS_N_LEVELS };
enum connects_hops {
	CONNECTS_INTRA_TOR,
	CONNECTS_INTRA_POD,
	CONNECTS_INTER_POD,
	CONNECTS_N_HOPS
};

/* Who connects to whom: all servers to n_peers[] others, of level TOR under the
 * same ToR, of level DC under another one, and each the other. PEER gives the
 * K-th of a level. A server connects to a peer each every_ns[]. */
struct connects_mesh {
	const void *arg;
	topo_host (*peer)(const void *arg, enum connects_level level,
	    topo_host h, uint32_t k);
	uint32_t n_peers[CONNECTS_N_LEVELS];
	sim_ns every_ns[CONNECTS_N_LEVELS];
};

/* The source port of a server's next connect. A pair takes the N from `first` on
 * in turn; with of_list one count goes over them for all peers of the server,
 * all of which have one interval then, so that a pair sees n / gcd(n, peers).
 * AGAIN: pairs come to their ports again. */
struct connects_ports {
	uint32_t n;
	uint16_t first, dst;
	uint8_t of_list, again;
};

struct connects_params {
	struct connects_mesh mesh;
	struct connects_ports ports; /* n may be 0 without `again` */
	const struct fabric_sim_tcp_ladder *ladder;
	unsigned n_retries; /* at most the ladder's */
	sim_ns give_up_ns;  /* after so long; 0: after the ladder's last wait */
	sim_ns late_ns;     /* no more than the ladder's first wait */
	struct fabric_sim_rtt law[CONNECTS_N_HOPS];
};

enum connects_outcome {
	CONNECTS_CONNECTED,
	CONNECTS_TIMED_OUT,
	CONNECTS_UNTOLD /* not made, or the sender went off meanwhile */
};

/* N connects from SRC to DST, the first of which was sent at sent_ns; n > 1 only
 * where each failed or is untold. */
struct connects_row {
	sim_ns sent_ns, rtt_ns; /* 0: none */
	topo_host src, dst;
	uint32_t n;
	uint8_t outcome; /* enum connects_outcome */
	uint8_t hops;    /* enum connects_hops */
	uint8_t n_lost;  /* SYNs, or answers to them */
};

/* Who takes rows, in no order; errors end the window. SEGMENT, if any, is told
 * of each part of a window in which nothing changes, before its rows: the hazard
 * of each link, and which hosts are off. Shape hazard[links], off[hosts]. */
struct connects_taker {
	void *arg;
	int (*take)(void *arg, const struct connects_row *row,
	    struct sim_err *e);
	void (*segment)(void *arg, sim_ns from, sim_ns to,
	    const double hazard[], const uint8_t off[]);
};

struct connects;

/* C keeps T, a Clos, and what the mesh points at. Errors SIM_ENOMEM. */
int connects_open(struct connects **c, const struct topo *t,
    const struct connects_params *p, struct sim_err *e);
void connects_close(struct connects *c);

/* 0 if C's law is that of scene S, else SIM_EUNSUPPORTED and what it has that is
 * not here: noise by flow, congestion, routes, holes of type 1 above ToRs, two of
 * type 2 at one switch. Then connects are to be made one by one. */
int connects_fits(const struct topo *t, const struct scene *s,
    struct sim_err *e);

/* Likewise of ports that pairs come to again: no faulty links, and no hole of
 * type 2 above ToRs, as what they drop is known by its path. */
int connects_fits_again(const struct topo *t, const struct scene *s,
    struct sim_err *e);

/* The scene from now on, which is kept. Its truth may be changed between windows
 * as long as it is sorted. Errors those of connects_fits() and, with ports.again,
 * of connects_fits_again(); SIM_ENOMEM. */
int connects_begin(struct connects *c, const struct scene *s,
    struct sim_err *e);

/* All rows of connects sent in [from, to). NUMBER names the stream of random
 * numbers, so any window can be had again alone. Errors SIM_ENOMEM, those of
 * the taker. */
int connects_window(struct connects *c, sim_ns from, sim_ns to, uint32_t number,
    const struct connects_taker *taker, struct sim_err *e);

/* How many connects from SRC to DST, of that level, are due in [from, to).
 * Cost O(1). */
uint32_t connects_due(const struct connects *c, enum connects_level level,
    topo_host src, topo_host dst, sim_ns from, sim_ns to);

/* When the first is due, from 0 on. */
sim_ns connects_phase(const struct connects *c, enum connects_level level,
    topo_host src, topo_host dst);

/* The ports of a pair: its connect K has the (at + K * step) % n-th of the range.
 * Cost O(1), with ports.of_list O(peers). */
struct connects_turn {
	uint32_t at, step;
};
struct connects_turn connects_turn_of(const struct connects *c,
    enum connects_level level, topo_host src, topo_host dst);

static inline uint16_t connects_port(const struct connects_ports *p,
    const struct connects_turn *t, uint64_t k)
{
	return (uint16_t)(p->first + (t->at + k * t->step) % p->n);
}

static inline enum connects_hops connects_hops_of(const struct topo_clos *c,
    topo_host a, topo_host b)
{
	const uint32_t s = a / c->n_hosts, d = b / c->n_hosts;
	return s == d                        ? CONNECTS_INTRA_TOR
	    : s / c->n_tors == d / c->n_tors ? CONNECTS_INTRA_POD
					     : CONNECTS_INTER_POD;
}

/* The level of whose list the peer is. */
static inline enum connects_level connects_level_of(enum connects_hops hops)
{
	return hops == CONNECTS_INTRA_TOR ? CONNECTS_TOR : CONNECTS_DC;
}

#endif
