/* models/sim/connect.c -- TCP connects in simulated time, payloads and GETs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	SYN --(lost)-- SYN --(both ways whole)-- ANSWERED -- REQUEST -- ECHO
 *	    \-- SYNACK ..: the server's timer            \-- WAITED
 *
 * Each step is an event at its own time, so it meets the faults of then. A
 * connect whose first SYN is answered, which nearly all are, is one event. The
 * first attempt that gets through settles the connect. Events that were queued
 * for what it would have done otherwise stay in the queue: when their time
 * comes they find that the connect is settled, or that its row serves another
 * one by then, and do nothing. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "models/http_ping.h"
#include "models/sim/impl.h"
#include "sim/vec.h"
#include "topo/addr.h"

enum step {
	SYN = FABRIC_SIM_CONN, /* the client's timer: another SYN, or the end */
	SYNACK,                /* the server's timer */
	ANSWERED,              /* at the client */
	REQUEST,               /* payload, at the server */
	ECHO,                  /* at the client */
	WAITED,                /* in vain for it */
};

struct fabric_sim_conn {
	struct topo_tuple tuple;
	topo_host client, server; /* server TOPO_NONE: nobody */
	uint64_t token;
	sim_ns begun, rtt_ns;
	sim_ns back;        /* half of the echo's round trip */
	uint32_t boot;      /* of the client */
	uint32_t peer_boot; /* of the server, once it knows; else NONE */
	uint32_t turn;      /* how often the row was used */
	uint32_t n_bytes, next_free; /* n_bytes: payload, or of a GET */
	uint8_t ping, class, n_syns, n_synacks, outcome;
	uint8_t settled; /* what and when ANSWERED will tell */
	uint8_t lost_by; /* 1 << enum scene_walk_loss, with congestion */
	uint8_t asked;   /* the server's agent, which has not answered */
};

/* --- rows ----------------------------------------------------------------- */

/* Rows are used again, the one freed last first. TURN survives, so that events
 * and answers of an earlier connect in the row are told from those of the
 * present one. */
static int new_conn(struct fabric_sim *f, uint32_t *out, struct sim_err *e)
{
	if (f->free_conn != FABRIC_SIM_NONE) {
		*out = f->free_conn;
		f->free_conn = f->conn[*out].next_free;
		return 0;
	}
	int rc = SIM_RESERVE(&f->conn, &f->cap_conns, f->n_conns + 1, e);
	if (rc < 0)
		return rc;
	*out = (uint32_t)f->n_conns++;
	f->conn[*out].turn = 0;
	return 0;
}

static void free_conn(struct fabric_sim *f, uint32_t i)
{
	f->conn[i].turn++;
	f->conn[i].next_free = f->free_conn;
	f->free_conn = i;
}

/* What an event must match when its time comes: the turn of the row, and for
 * the server's timer also the boot of the server that set it. */
static uintptr_t name_of(const struct fabric_sim_conn *c)
{
	return (uintptr_t)((uint64_t)c->peer_boot << 32 | c->turn);
}
static_assert(sizeof(uintptr_t) >= 8, "a name fits in an event");

static int sim_connect_put(struct fabric_sim *f, uint32_t i, enum step step,
    sim_ns at, struct sim_err *e)
{
	const struct sim_event ev = {.t = at,
	    .arg = (void *)name_of(&f->conn[i]),
	    .aux = (uint64_t)step << 32 | i};
	return sim_evq_put(f->q, &ev, e);
}

/* --- ways ----------------------------------------------------------------- */

/* One way of a connect, at a moment. */
struct connect_way {
	struct topo_tuple tuple;
	struct scene_walk_way meets;
	topo_link path[TOPO_MAX_HOPS];
};

/* What a packet from SRC to DST meets that leaves now. A VIP may lead a host to
 * itself: then by way of its ToR. The delays of both ways come from the stream
 * of CLIENT, to whom the connect belongs. */
static void way_of(struct fabric_sim *f, topo_host client, topo_host src,
    topo_host dst, struct connect_way *w)
{
	unsigned n_hops = 0;
	if (src == dst) {
		w->path[n_hops++] = topo_link_of(src, TOPO_UP);
		w->path[n_hops++] = topo_link_of(src, TOPO_DOWN);
	} else {
		n_hops = fabric_sim_path(f, &w->tuple, src, dst, w->path);
	}
	scene_walk_whole(&f->net, &w->tuple, w->path, n_hops, f->now,
	    &f->streams[client].delay, &w->meets);
}

static void way_there(struct fabric_sim *f, const struct fabric_sim_conn *c,
    struct connect_way *w)
{
	w->tuple = c->tuple;
	way_of(f, c->client, c->client, c->server, w);
}

static void way_back(struct fabric_sim *f, const struct fabric_sim_conn *c,
    struct connect_way *w)
{
	w->tuple = (struct topo_tuple){c->tuple.dst_ip, c->tuple.src_ip,
	    c->tuple.dst_port, c->tuple.src_port, c->tuple.proto};
	way_of(f, c->client, c->server, c->client, w);
}

static double connect_hazard(const struct connect_way *w)
{
	return scene_walk_way_hazard(&w->meets);
}

static sim_ns connect_delay(const struct connect_way *w)
{
	return w->meets.delay + w->meets.ports.wait;
}

/* A packet that leaves AT is lost on W by U, having met BEFORE. Which of the
 * connect's losses are of full buffers, and of nothing but noise, is counted as
 * they come: most connects lose nothing. */
static void connect_lost(struct fabric_sim *f, struct fabric_sim_conn *c,
    const struct connect_way *w, sim_ns at, double before, double u)
{
	static const unsigned noise = 1u << SCENE_WALK_BY_NOISE,
			      port = 1u << SCENE_WALK_BY_PORT;
	struct fabric_sim_losses *n = &f->losses;
	if (!scene_congestion_is_on(&f->scene->congestion))
		return;
	const unsigned by = 1u << scene_walk_lost_by(&f->net, &w->tuple,
				w->path, w->meets.n_hops, at, before, u);
	n->n_buffer_drops += by == port;
	n->n_buffer_flows += by == port && !(c->lost_by & port);
	n->n_noise_flows -= c->lost_by == noise;
	c->lost_by |= (uint8_t)by;
	n->n_noise_flows += c->lost_by == noise;
}

/* --- round trips ---------------------------------------------------------- */

/* The law of round trips of a class over N_HOPS links with a payload, from a
 * cache, since few combinations occur and each takes logarithms to set up. Two
 * that meet in one entry replace each other. Setting up cannot fail: hops are
 * those of a path, payloads are checked when they are submitted, and loads are
 * cut to the greatest. */
static const struct fabric_sim_rtt *law_of(struct fabric_sim *f,
    unsigned n_hops, unsigned class, uint32_t payload)
{
	const uint64_t key = (uint64_t)payload << 16 | class << 8 | n_hops;
	const size_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 56;
	static_assert(FABRIC_SIM_LAWS == 1 << 8, "8 bits are an index");
	if (f->law_key[i] == key)
		return &f->law[i];
	const struct fabric_sim_connect_params *p = &f->params->connect;
	const struct fabric_sim_rtt_profile *profile =
	    &fabric_sim_rtt_profiles[p->profile];
	const double load =
	    (p->load < 0 ? profile->load : p->load) + class * p->class_load;
	const int rc = fabric_sim_rtt_init(&f->law[i], profile, n_hops, payload,
	    fmin(load, FABRIC_SIM_RTT_MAX_LOAD), NULL);
	assert(rc == 0);
	(void)rc;
	f->law_key[i] = key;
	return &f->law[i];
}

static sim_ns draw_rtt(struct fabric_sim *f, const struct fabric_sim_conn *c,
    unsigned n_hops, uint32_t payload)
{
	return fabric_sim_rtt_draw(law_of(f, n_hops, c->class, payload),
	    &f->streams[c->client].rtt);
}

/* --- the handshake -------------------------------------------------------- */

/* Settle the connect: an answer comes at AT, unless the client has given up by
 * then. Port 0 refuses, by a reset. */
static int sim_connect_settle(struct fabric_sim *f, uint32_t i, sim_ns at,
    struct sim_err *e)
{
	struct fabric_sim_conn *c = &f->conn[i];
	const sim_ns end = c->begun + f->give_up;
	c->settled = 1;
	c->outcome = c->tuple.dst_port == 0 ? AGENT_REFUSED : AGENT_CONNECTED;
	c->rtt_ns = at - c->begun;
	if (at > end) {
		c->outcome = AGENT_TIMEOUT;
		at = end;
	}
	return sim_connect_put(f, i, ANSWERED, at, e);
}

/* A SYN has arrived, but its answer is lost. If it is the first that this boot
 * of the server sees, the server's timer begins; a server that was off
 * meanwhile knows nothing of earlier ones. The SYN arrives after its delays and
 * half of what the round trip takes at least, 500 being half a microsecond in
 * ns. */
static int sim_connect_meet(struct fabric_sim *f, uint32_t i,
    const struct connect_way *there, struct sim_err *e)
{
	struct fabric_sim_conn *c = &f->conn[i];
	if (c->peer_boot == f->boot[c->server])
		return 0;
	c->peer_boot = f->boot[c->server];
	c->n_synacks = 0;
	if (!f->params->connect.synack_timer || c->tuple.dst_port == 0)
		return 0;
	const struct fabric_sim_rtt *law =
	    law_of(f, there->meets.n_hops, c->class, 0);
	const sim_ns came =
	    f->now + connect_delay(there) + (sim_ns)(law->fixed_us * 500);
	return sim_connect_put(f, i, SYNACK,
	    came + fabric_sim_tcp_linux_synack.wait_ns[0], e);
}

/* Send a SYN and follow it and its answer at once; if either is lost, the
 * client's timer will send another. One number U stands for both ways. It is
 * drawn whatever the attempt meets, so that a fault moves no losses of connects
 * that do not meet it. */
static int send_syn(struct fabric_sim *f, uint32_t i, struct sim_err *e)
{
	struct fabric_sim_conn *c = &f->conn[i];
	const double u = sim_rng_u01(&f->streams[c->client].connect);
	const sim_ns next = f->now + f->ladder->wait_ns[c->n_syns++];
	struct connect_way there, back;
	int rc = 0;
	way_there(f, c, &there);
	const double out = connect_hazard(&there);
	/* Lost on the way there if U says so by its hazard alone, and on the
	 * way back if only by both: the two have the same law as two draws. */
	if (scene_walk_is_lost(u, out)) {
		connect_lost(f, c, &there, f->now, 0, u);
	} else if (!f->off[c->server]) {
		way_back(f, c, &back);
		if (!scene_walk_is_lost(u, out + connect_hazard(&back))) {
			c->peer_boot = f->boot[c->server];
			return sim_connect_settle(f, i,
			    f->now + connect_delay(&there) +
				connect_delay(&back) +
				draw_rtt(f, c, there.meets.n_hops, 0),
			    e);
		}
		connect_lost(f, c, &back, f->now, out, u);
		rc = sim_connect_meet(f, i, &there, e);
	}
	return rc < 0 ? rc : sim_connect_put(f, i, SYN, next, e);
}

/* The server's timer has run out: it sends its SYN-ACK again, at most as often
 * as Linux does. */
static int send_synack(struct fabric_sim *f, uint32_t i, struct sim_err *e)
{
	const struct fabric_sim_tcp_ladder *ladder =
	    &fabric_sim_tcp_linux_synack;
	struct fabric_sim_conn *c = &f->conn[i];
	const double u = sim_rng_u01(&f->streams[c->client].connect);
	struct connect_way back;
	way_back(f, c, &back);
	if (scene_walk_is_lost(u, connect_hazard(&back))) {
		connect_lost(f, c, &back, f->now, 0, u);
		return ++c->n_synacks == ladder->n_retries
		    ? 0
		    : sim_connect_put(f, i, SYNACK,
			  f->now + ladder->wait_ns[c->n_synacks], e);
	}
	return sim_connect_settle(f, i,
	    f->now + connect_delay(&back) +
		draw_rtt(f, c, back.meets.n_hops, 0) / 2,
	    e);
}

/* --- payload -------------------------------------------------------------- */

/* Payloads go in segments of an Ethernet MTU less headers. A payload that lost
 * one is sent again after a timer that doubles: 0.3, 0.9 and 2.1 s after the
 * first time. The client waits for the echo no longer than 5 s. */
enum { SEGMENT = 1460 };
#define RTO       (300 * SIM_MS) /* doubled each time */
#define N_RTOS    3
#define ECHO_WAIT (5 * SIM_SEC)

/* U says of N packets that one is lost: the number that says so of one alone. */
static double connect_one_of(double u, uint32_t n)
{
	return -expm1(log1p(-u) / n);
}

/* How much longer N_BYTES take on W because segments are lost, or SIM_NEVER if
 * all repeats are lost too. One lost segment is enough: hazards of n segments
 * add up. An echo of no bytes is a segment as well. Links stay as they are when
 * it is first sent, but a full port is so for milliseconds: what is sent again
 * meets the ports of that time, which W has in the end. */
static sim_ns resend(struct fabric_sim *f, struct fabric_sim_conn *c,
    uint32_t n_bytes, struct connect_way *w)
{
	struct sim_rng *r = &f->streams[c->client].connect;
	const uint32_t n = n_bytes == 0 ? 1 : (n_bytes - 1) / SEGMENT + 1;
	sim_ns late = 0;
	for (unsigned k = 0;; k++) {
		const double u = sim_rng_u01(r);
		if (!scene_walk_is_lost(u, n * connect_hazard(w)))
			return late;
		connect_lost(f, c, w, f->now + late, 0, connect_one_of(u, n));
		if (k == N_RTOS)
			return SIM_NEVER;
		late += RTO << k;
		w->meets.ports = scene_walk_ports(&f->net, w->path,
		    w->meets.n_hops, f->now + late);
	}
}

/* The connect stands: send the payload. Its round trip is drawn now and cut in
 * halves, one for each way; the client's patience is an event of its own. */
static int send_payload(struct fabric_sim *f, uint32_t i, struct sim_err *e)
{
	struct fabric_sim_conn *c = &f->conn[i];
	struct connect_way there;
	way_there(f, c, &there);
	const sim_ns late = resend(f, c, c->n_bytes, &there);
	const int rc = sim_connect_put(f, i, WAITED, f->now + ECHO_WAIT, e);
	if (rc < 0 || late == SIM_NEVER)
		return rc;
	const sim_ns rtt = draw_rtt(f, c, there.meets.n_hops, c->n_bytes);
	c->back = rtt - rtt / 2;
	return sim_connect_put(f, i, REQUEST,
	    f->now + late + rtt / 2 + connect_delay(&there), e);
}

/* The payload arrives. The agent there hears of it only if the host has not
 * been off since it took the SYN: a rebooted host knows no connection. */
static int sim_connect_ask(struct fabric_sim *f, uint32_t i,
    struct agent_event *ev, topo_host *host)
{
	struct fabric_sim_conn *c = &f->conn[i];
	if (c->peer_boot != f->boot[c->server])
		return 0;
	c->asked = 1;
	*host = c->server;
	*ev = (struct agent_event){.kind = AGENT_PING_REQUEST,
	    .token = (uint64_t)c->turn << 32 | i,
	    .n = c->ping == AGENT_PING_HTTP ? 0 : c->n_bytes};
	return 1;
}

int fabric_sim_answer(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	const uint32_t i = (uint32_t)a->token;
	if (i >= f->n_conns)
		return 0;
	struct fabric_sim_conn *c = &f->conn[i];
	/* A token names row and turn. An answer may be late, doubled, or of
	 * another host: then it goes nowhere. */
	if (c->turn != a->token >> 32 || c->server != host || !c->asked)
		return 0;
	c->asked = 0;
	struct connect_way back;
	way_back(f, c, &back);
	const sim_ns late = resend(f, c,
	    c->ping == AGENT_PING_HTTP ? HTTP_PING_ANSWER_BYTES : a->n_bytes,
	    &back);
	return late == SIM_NEVER
	    ? 0
	    : sim_connect_put(f, i, ECHO,
		  f->now + late + c->back + connect_delay(&back), e);
}

/* --- from submit() and poll() --------------------------------------------- */

/* The host that serves TUPLE, or TOPO_NONE. VIP v stands for the hosts of one
 * ToR; a hash of the five-tuple picks one, by a seed that no switch has, so
 * that the choice says nothing about the path. */
static topo_host sim_connect_server_of(const struct fabric_sim *f,
    const struct topo_tuple *t)
{
	if (!topo_addr_is_vip(t->dst_ip))
		return topo_addr_to_host(t->dst_ip, f->topo->n_hosts);
	const uint32_t tor = (t->dst_ip - TOPO_ADDR_VIP_BASE) % f->n_tors;
	const uint32_t n = f->first[tor + 1] - f->first[tor];
	const uint32_t seed = topo_switch_seed(f->scene->ecmp_seed, TOPO_NONE);
	return f->by_tor[f->first[tor] +
	    topo_ecmp_pick(seed, topo_tuple_digest(t), n)];
}

/* Make ready what connects need and other actions do not: the sender's streams,
 * and once an epoch the noise of all links, which no repair changes. */
static int sim_connect_prepare(struct fabric_sim *f, topo_host host,
    struct sim_err *e)
{
	const uint32_t n = f->topo->n_links;
	struct fabric_sim_streams *s;
	int rc;
	if ((rc = fabric_sim_streams(f, host, &s, e)) < 0 ||
	    f->noise_of == f->now_living)
		return rc;
	if ((!f->noise && (rc = SIM_ZALLOC(&f->noise, n, e)) < 0) ||
	    (!f->fault_at && (rc = SIM_ZALLOC(&f->fault_at, n, e)) < 0))
		return rc;
	scene_noise_rates(&f->scene->loss.noise, 0, n, f->noise);
	for (topo_link l = 0; l < n; l++)
		f->noise[l] = scene_hazard(f->noise[l]);
	f->net.noise = f->noise;
	f->net.fault_at = f->fault_at;
	f->noise_of = f->now_living;
	return 0;
}

int fabric_sim_connect(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e)
{
	uint32_t i;
	if (a->n_bytes > FABRIC_SIM_RTT_MAX_PAYLOAD)
		return sim_fail(e, SIM_ERANGE,
		    "a payload of %u bytes is not in [0, %u].", a->n_bytes,
		    FABRIC_SIM_RTT_MAX_PAYLOAD);
	int rc = sim_connect_prepare(f, host, e);
	if (rc < 0 || (rc = new_conn(f, &i, e)) < 0)
		return rc;
	f->conn[i] = (struct fabric_sim_conn){
	    .tuple = a->tuple,
	    .client = host,
	    .server = sim_connect_server_of(f, &a->tuple),
	    .token = a->token,
	    .begun = f->now,
	    .boot = f->boot[host],
	    .peer_boot = FABRIC_SIM_NONE,
	    .turn = f->conn[i].turn,
	    .n_bytes =
		a->ping == AGENT_PING_HTTP ? HTTP_PING_ASK_BYTES : a->n_bytes,
	    .ping = a->ping,
	    .class = a->class,
	};
	/* An address that is no host's never answers, so no SYN is followed:
	 * the connect times out when the client gives up. */
	rc = f->conn[i].server == TOPO_NONE
	    ? sim_connect_settle(f, i, SIM_NEVER, e)
	    : send_syn(f, i, e);
	if (rc < 0)
		free_conn(f, i);
	return rc;
}

/* Tell the client's agent the outcome, and free the row. A connect that timed
 * out has no round trip. */
static int sim_connect_done(struct fabric_sim *f, uint32_t i,
    enum agent_outcome outcome, sim_ns echo_ns, struct agent_event *ev,
    topo_host *host)
{
	const struct fabric_sim_conn *c = &f->conn[i];
	const int asked =
	    c->ping == AGENT_PING_HTTP && outcome == AGENT_CONNECTED;
	*host = c->client;
	*ev = (struct agent_event){.kind = AGENT_CONNECT_DONE,
	    .outcome = (uint8_t)outcome,
	    .answer = !asked  ? AGENT_ANSWER_NOT_ASKED
		: echo_ns > 0 ? AGENT_ANSWER_OK
			      : AGENT_ANSWER_LATE,
	    .token = c->token,
	    .rtt_ns = outcome == AGENT_TIMEOUT ? 0 : c->rtt_ns,
	    .echo_ns = echo_ns};
	free_conn(f, i);
	return 1;
}

int fabric_sim_take_conn(struct fabric_sim *f, const struct sim_event *queued,
    struct agent_event *ev, topo_host *host, struct sim_err *e)
{
	const uint64_t name = (uintptr_t)queued->arg;
	const uint32_t i = (uint32_t)queued->aux;
	const struct fabric_sim_conn *c = &f->conn[i];
	/* The row serves another connect by now. */
	if (c->turn != (uint32_t)name)
		return 0;
	/* The client was off since: nobody is there to be told. */
	if (c->boot != f->boot[c->client]) {
		free_conn(f, i);
		return 0;
	}
	switch ((enum step)(queued->aux >> 32)) {
	case SYN:
		if (c->settled)
			return 0;
		return c->n_syns > f->n_retries
		    ? sim_connect_done(f, i, AGENT_TIMEOUT, 0, ev, host)
		    : send_syn(f, i, e);
	case SYNACK:
		return c->settled || name >> 32 != f->boot[c->server]
		    ? 0
		    : send_synack(f, i, e);
	case ANSWERED:
		return c->outcome == AGENT_CONNECTED && c->n_bytes > 0
		    ? send_payload(f, i, e)
		    : sim_connect_done(f, i, c->outcome, 0, ev, host);
	case REQUEST:
		return sim_connect_ask(f, i, ev, host);
	case ECHO:
		return sim_connect_done(f, i, AGENT_CONNECTED,
		    f->now - (c->begun + c->rtt_ns), ev, host);
	/* Whichever of ECHO and WAITED comes first frees the row, and the other
	 * finds another turn. */
	case WAITED:
		return sim_connect_done(f, i, AGENT_CONNECTED, 0, ev, host);
	}
	return 0;
}

/* --- life ----------------------------------------------------------------- */

/* List hosts by ToR, with a counting sort. ToRs without hosts are left out, so
 * that VIP numbers count only those that can serve one. */
static int index_tors(struct fabric_sim *f, struct sim_err *e)
{
	const struct topo *t = f->topo;
	uint32_t *end;
	int rc;
	if ((rc = SIM_ZALLOC(&f->by_tor, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&f->first, t->n_switches + (size_t)1, e)) < 0 ||
	    (rc = SIM_ZALLOC(&end, t->n_switches + (size_t)1, e)) < 0)
		return rc;
	for (topo_host h = 0; h < t->n_hosts; h++)
		end[topo_tor_of(t, h)]++;
	for (uint32_t s = 0, sum = 0; s < t->n_switches; s++) {
		const uint32_t n = end[s];
		if (n == 0)
			continue;
		f->first[f->n_tors++] = end[s] = sum;
		sum += n;
	}
	f->first[f->n_tors] = t->n_hosts;
	for (topo_host h = 0; h < t->n_hosts; h++)
		f->by_tor[end[topo_tor_of(t, h)]++] = h;
	free(end);
	return 0;
}

int fabric_sim_open_connect(struct fabric_sim *f, struct sim_err *e)
{
	static const struct fabric_sim_tcp_ladder *const ladders[] =
	    {&fabric_sim_tcp_windows, &fabric_sim_tcp_linux,
		&fabric_sim_tcp_linux_linear};
	const struct fabric_sim_connect_params *p = &f->params->connect;
	const struct fabric_sim_tcp_ladder *ladder = f->ladder =
	    ladders[p->timers];
	sim_ns *rto = f->base.caps.syn_rto_ns;
	if (p->retries > ladder->n_retries)
		return sim_fail(e, SIM_ERANGE,
		    "%u retries are not in [0, %u], those of %s timers.",
		    p->retries, ladder->n_retries, ladder->name);
	f->n_retries = p->retries ? p->retries : ladder->n_retries;
	/* The client gives up when the wait after its last SYN is over. Agents
	 * see the waits between SYNs as a property of the fabric: drop rates
	 * are read from them. */
	for (unsigned k = 0; k <= f->n_retries; k++) {
		f->give_up += ladder->wait_ns[k];
		if (k < f->n_retries && k < FABRIC_MAX_WAITS)
			rto[k] = ladder->wait_ns[k];
	}
	return index_tors(f, e);
}

void fabric_sim_free_connect(struct fabric_sim *f)
{
	free(f->conn);
	free(f->noise);
	free(f->fault_at);
	free(f->by_tor);
	free(f->first);
	free(f->streams);
}
