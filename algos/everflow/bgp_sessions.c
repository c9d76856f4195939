/* algos/everflow/bgp_sessions.c -- BGP sessions that go down and come again.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>

#include "algos/everflow/debug_rdma.h"
#include "sim/sort.h"
#include "sim/vec.h"

/* A packet of a session: its two addresses, the lower first. */
struct bgp_row {
	uint64_t session;
	sim_ns t;
	uint8_t flags, is_message, is_notification;
};

/* Bytes: headers of Ethernet, IP and TCP without options; a NOTIFICATION
 * without data, the only message of BGP that is so long [RFC 4271, 4.5]. */
enum { HEADERS = 14 + 20 + 20, NOTIFICATION = 21 };

static int bgp_row_of(const struct algo_traces *t, size_t i,
    struct bgp_row *row)
{
	const uint32_t a = t->src_ip[i], b = t->dst_ip[i];
	if (t->proto[i] != TOPO_PROTO_TCP ||
	    (t->src_port[i] != OBS_PORT_BGP && t->dst_port[i] != OBS_PORT_BGP))
		return 0;
	*row = (struct bgp_row){
	    .session = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a,
	    .t = t->t_ns[i],
	    .flags = t->flags[i],
	    .is_message = t->n_bytes[i] > HEADERS + 18,
	    .is_notification = t->n_bytes[i] == HEADERS + NOTIFICATION,
	};
	return 1;
}

/* At one time, what closes comes before what opens. */
static int bgp_by_session(const void *a, const void *b)
{
	const struct bgp_row *x = a, *y = b;
	if (x->session != y->session)
		return SIM_ORDER(x->session, y->session);
	if (x->t != y->t)
		return SIM_ORDER(x->t, y->t);
	return (x->flags & OBS_TCP_SYN) - (y->flags & OBS_TCP_SYN);
}

/* A session as it goes on. One that is first seen in the midst was up. */
struct bgp_life {
	enum { UP, DOWN, OPENING } state;
	uint32_t n_flaps;
	sim_ns closed_at, first, last, closed_ns;
};

/* Only what was up, was closed and is called again counts. Who is refused on
 * opening has not been up. Where messages go on, another connection was closed:
 * when both call at once, one of two is. */
static void bgp_live_on(struct bgp_life *s, const struct bgp_row *row,
    double skew_us)
{
	const int syn = (row->flags & OBS_TCP_SYN) != 0;
	const int ack = (row->flags & OBS_TCP_ACK) != 0;
	const int closes = (row->flags & (OBS_TCP_RST | OBS_TCP_FIN)) != 0 ||
	    row->is_notification;
	const int says = !syn && !closes && row->is_message;
	if (closes && s->state == UP) {
		s->state = DOWN;
		s->closed_at = row->t;
	} else if (syn && !ack && s->state == DOWN) {
		s->state = OPENING;
		if (s->n_flaps++ == 0)
			s->first = s->closed_at;
		s->closed_ns += row->t - s->closed_at;
		s->last = row->t;
	} else if (syn && !ack && s->state == UP) {
		s->state = OPENING;
	} else if (s->state == OPENING && !closes && ((syn && ack) || says)) {
		s->state = UP;
	} else if (s->state == DOWN && says &&
	    (double)(row->t - s->closed_at) > skew_us * 1e3) {
		s->state = UP;
	}
}

static int bgp_tell(const struct algo_debug_in *in, uint64_t session,
    const struct bgp_life *s, struct algo_debug_out *out, struct sim_err *e)
{
	const struct topo *t = in->routing.topo;
	const topo_node a =
	    algo_routing_node(&in->routing, (uint32_t)(session >> 32));
	const topo_node b = algo_routing_node(&in->routing, (uint32_t)session);
	struct algo_finding f = {.cause = ALGO_CAUSE_BGP_FLAP,
	    .score = s->n_flaps,
	    .from_ns = s->first,
	    .to_ns = s->last};
	/* Addresses of which the network knows nothing are no session of it. */
	if (a == TOPO_NONE || b == TOPO_NONE || a == b || a < t->n_hosts ||
	    b < t->n_hosts)
		return 0;
	f.node = a < b ? a : b;
	f.link = topo_link_between(t, f.node, a < b ? b : a);
	if (s->last > s->first)
		f.rate = (double)s->closed_ns / (double)(s->last - s->first);
	f.lo = f.hi = f.rate;
	return algo_debug_find(out, &f, e);
}

/* The rows of one session, from I on. */
static int bgp_judge(const struct algo_debug_rdma_params *p,
    const struct algo_debug_in *in, const struct bgp_row *row, size_t n,
    size_t *i, struct algo_debug_out *out, struct sim_err *e)
{
	struct bgp_life s = {.state = UP};
	const uint64_t session = row[*i].session;
	for (; *i < n && row[*i].session == session; ++*i)
		bgp_live_on(&s, &row[*i], p->skew_us);
	/* One that came back and is down again has gone down twice. */
	const uint32_t n_downs = s.n_flaps + (s.n_flaps > 0 && s.state == DOWN);
	return n_downs >= p->min_flaps ? bgp_tell(in, session, &s, out, e) : 0;
}

int algo_debug_bgp_sessions(const struct algo_debug_rdma_params *p,
    const struct algo_debug_in *in, struct algo_debug_out *out,
    struct sim_err *e)
{
	const struct algo_traces *t = &in->traces->traces;
	struct bgp_row *row = NULL, next;
	size_t n = 0, cap = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n; i++)
		if (bgp_row_of(t, i, &next) &&
		    (rc = SIM_RESERVE(&row, &cap, n + 1, e)) == 0)
			row[n++] = next;
	if (n > 1)
		qsort(row, n, sizeof(row[0]), bgp_by_session);
	for (size_t i = 0; rc == 0 && i < n;)
		rc = bgp_judge(p, in, row, n, &i, out, e);
	free(row);
	return rc;
}
