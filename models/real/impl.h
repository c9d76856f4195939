/* models/real/impl.h -- what the parts of the real fabric share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	real/connect.c  CONNECT: the client's side
 *	real/serve.c    the server's side, ANSWER
 *	real/conn.c     the table of both, and their deadlines
 *	real/probe.c    PROBE and ICMP, SEND
 *	real/retx.c     RETX by a source or by looking at sockets
 *	real/host.c     hosts: namespaces, sockets, what the kernel is set to
 *	real/timer.c    a heap
 *	real.c          the rest: one epoll, one queue of events for agents
 */
#ifndef MODELS_REAL_IMPL_H
#define MODELS_REAL_IMPL_H

#include <sys/socket.h>

#include "models/http_ping.h"
#include "models/real/real.h"
#include "models/real/timer.h"

enum {
	REAL_NONE = UINT32_MAX,
	REAL_STOCK = 16, /* sockets opened at a time in a namespace */
	REAL_SPARE_FDS = 16,
	REAL_PLACE_BITS = 15,
};

/* What an epoll event is about. It carries the kind, a turn (see real/conn.c)
 * and an index. */
enum real_kind {
	REAL_CONN,     /* index into conn[], turn */
	REAL_LISTENER, /* host, and in the place of a turn which of its own */
	REAL_ICMP,     /* host */
	REAL_RETX,
	REAL_SERVICE,
};
enum { REAL_TURNS = 1 << 24 };

struct real_host {
	uint32_t address;
	int ns; /* -1: home */
	int listener[FABRIC_REAL_CLASSES];
	int raw, icmp; /* -1: none */
	int stock[REAL_STOCK];
	unsigned n_stock;
	uint8_t off; /* until its AGENT_START is given */
};

/* What a connection is waiting for. All of one state wait equally long, so the
 * order in which they entered it is that of their deadlines. */
enum real_state {
	REAL_CONNECTING,
	REAL_ECHOING, /* client: payload there and back, or GET and answer */
	REAL_SERVED,  /* server: from accept to reset */
	REAL_N_STATES,
	REAL_FREE = REAL_N_STATES
};

struct real_conn {
	int fd;
	uint8_t state;
	uint8_t asked;  /* server: 1: the agent is; 2: it has answered */
	uint8_t ping;   /* enum agent_ping; server: HTTP once a GET began */
	uint8_t answer; /* client: enum agent_answer, of an HTTP ping */
	uint16_t from;  /* server: index into n_from[] */
	struct http_ping_head head; /* of the GET, or of its answer */
	topo_host host;
	uint32_t turn;
	uint32_t polled;        /* events; REAL_NONE: not yet */
	uint32_t n_bytes;       /* of the payload; server: come so far */
	uint32_t n_out, n_back; /* sent, and come back, so far */
	uint64_t token;         /* client: the agent's */
	sim_ns since, rtt_ns, due;
	uint32_t prev, next;
};

struct real_line {
	uint32_t head, tail;
};

struct real_event {
	struct agent_event ev;
	topo_host host;
	sim_ns at;
};

struct real_watch {
	int fd;
	topo_host host;
	uint32_t n_retx;
	struct topo_tuple tuple;
};

/* An event of the batch that agents have now whose document was lent by a
 * service and is to be given back. */
struct real_given {
	topo_host host;
	uint64_t token;
};

struct fabric_real {
	struct fabric base;
	struct fabric_real_params params;
	struct fabric_real_counters count;
	uint64_t opened; /* CLOCK_MONOTONIC, ns */
	int epoll, home; /* home: namespace, -1 if never left */
	struct real_host *host;
	uint32_t *by_address; /* hosts, ascending */
	struct real_timers timers;

	/* Events for agents, [head, n). */
	struct real_event *queue;
	size_t head, n, cap;
	struct real_given given[32];
	size_t n_given;

	struct real_conn *conn; /* [max_flights + max_clients] */
	uint32_t n_used, free, n_flights, n_clients;
	/* Connections served of each place, by a hash that nobody can aim at:
	 * two of one index count as one place. */
	uint32_t n_from[1 << REAL_PLACE_BITS];
	uint64_t place_secret;
	struct real_line line[REAL_N_STATES];
	sim_ns wait_ns[REAL_N_STATES]; /* SIM_NEVER: no deadline */
	sim_ns rest_until;             /* SIM_NEVER: listeners are open */

	struct real_watch *watch;
	size_t n_watched, cap_watched;
	sim_ns watch_at; /* SIM_NEVER: none */

	uint32_t key[2]; /* of probes */
	struct fabric_real_services services;
	struct fabric_real_retx_source retx;
	fabric_real_slb_fn *slb;
	void *slb_arg;

	char payload[FABRIC_REAL_MAX_PAYLOAD];
	char in[FABRIC_REAL_MAX_PAYLOAD + 1]; /* whatever came */
};

/* --- real.c ------------------------------------------------------------- */
sim_ns real_now(const struct fabric_real *f);

/* An event for an agent, of now; to be filled in before the next. NULL, with
 * the error: SIM_ENOMEM. */
struct agent_event *real_tell(struct fabric_real *f, topo_host host,
    enum agent_event_kind kind, uint64_t token, struct sim_err *e);

/* Have epoll tell of FD. Errors SIM_EIO. */
int real_poll_fd(struct fabric_real *f, int fd, uint32_t events,
    enum real_kind kind, uint32_t turn, uint32_t index, struct sim_err *e);
int real_repoll_fd(struct fabric_real *f, int fd, uint32_t events,
    enum real_kind kind, uint32_t turn, uint32_t index, struct sim_err *e);

/* --- real/host.c -------------------------------------------------------- */
int real_host_open(struct fabric_real *f, topo_host h, struct sim_err *e);
void real_host_close(struct real_host *h);

/* The socket's address of IP, 32 bits of a tuple, and PORT; returns its length. */
socklen_t real_host_at(const struct fabric_real *f, uint32_t ip, uint16_t port,
    struct sockaddr_storage *out);

/* Packets of FD have DSCP, and of IPv6 no flow label. 0, or -1 and errno. */
int real_host_mark(int fd, uint32_t ip, uint8_t dscp);

/* A new TCP socket in a host's namespace, of its family, or -1 and errno. */
int real_host_socket(struct fabric_real *f, topo_host h);

/* The host with this address, or TOPO_NONE. */
topo_host real_host_of(const struct fabric_real *f, uint32_t address);
int real_host_index(struct fabric_real *f, struct sim_err *e);

/* caps.syn_rto_ns as the namespace of the calling thread is set. */
void real_host_read_rto(struct fabric_real *f);

/* --- real/conn.c -------------------------------------------------------- */
/* A connection of FD, or NULL if the table is full. */
struct real_conn *real_conn_open(struct fabric_real *f, int fd,
    enum real_state state, topo_host host);
/* Close its socket, by a reset, and forget it. */
void real_conn_close(struct fabric_real *f, struct real_conn *c);
void real_conn_enter(struct fabric_real *f, struct real_conn *c,
    enum real_state state);
/* From now on, have epoll tell of EVENTS. */
int real_conn_poll(struct fabric_real *f, struct real_conn *c, uint32_t events,
    struct sim_err *e);
/* The connection of a token or an epoll event, or NULL if that is gone. */
struct real_conn *real_conn_of(struct fabric_real *f, uint32_t turn,
    uint32_t index);
uint64_t real_conn_token(const struct fabric_real *f,
    const struct real_conn *c);
/* When the first deadline is; do what is due. */
sim_ns real_conn_next(const struct fabric_real *f);
int real_conn_due(struct fabric_real *f, struct sim_err *e);

/* Send N bytes at TEXT, of which n_out are out, with FLAGS of send(). 1: all is
 * out; 0: not yet; -1: the connection is broken. */
int real_conn_send(struct real_conn *c, const char *text, size_t n, int flags);

/* Read what there is: payload, which must go on at *N; or, of an HTTP ping, the
 * head of a GET (server) or of an answer (client). A server takes it for a GET if
 * it begins like one. 2: the head is whole; 1: the other side has no more to
 * send; 0: not yet; -1: broken; -2: neither payload nor HTTP. */
int real_conn_read(struct fabric_real *f, struct real_conn *c, uint32_t *n);

/* --- real/connect.c, real/serve.c, real/probe.c, real/retx.c ------------ */
int real_connect(struct fabric_real *f, topo_host host,
    const struct agent_action *a, struct sim_err *e);
int real_connect_event(struct fabric_real *f, struct real_conn *c,
    uint32_t events, struct sim_err *e);
int real_connect_late(struct fabric_real *f, struct real_conn *c,
    struct sim_err *e);

int real_serve_accept(struct fabric_real *f, topo_host host, unsigned i,
    struct sim_err *e);
int real_serve_event(struct fabric_real *f, struct real_conn *c,
    uint32_t events, struct sim_err *e);
int real_serve_answer(struct fabric_real *f, topo_host host,
    const struct agent_action *a, struct sim_err *e);
int real_serve_resume(struct fabric_real *f, struct sim_err *e);

int real_probe(struct fabric_real *f, topo_host host,
    const struct agent_action *a, struct sim_err *e);
int real_send(struct fabric_real *f, topo_host host,
    const struct agent_action *a, struct sim_err *e);
int real_probe_read(struct fabric_real *f, topo_host host, struct sim_err *e);

int real_retx_read(struct fabric_real *f, struct sim_err *e);
int real_retx_look(struct fabric_real *f, struct sim_err *e);

#endif
