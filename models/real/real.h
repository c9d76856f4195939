/* models/real/real.h -- a fabric of real sockets: agents on a live network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One thread and one epoll carry out what the agents of some hosts ask for: of
 * hosts that are network namespaces (models/netns/net.h), or of this machine
 * itself. The clock is CLOCK_MONOTONIC since the opening; nothing ever waits
 * but poll().
 *
 *	CONNECT     a new socket, bound to the tuple's source, so a port that is
 *	            in use makes it FAILED; so does one more than max_flights.
 *	            The kernel sends SYNs as it is set to. REFUSED is a reset;
 *	            TIMEOUT any other end, be it that the network says
 *	            "unreachable". It closes by a reset, which leaves nothing
 *	            behind (no TIME_WAIT) at either side.
 *	IPv6        an address of a tuple is IPv4 or a number of the book
 *	            (topo/ip_book.h). Its packets have flow label 0, so that a
 *	            five-tuple has one path also where switches hash labels: the
 *	            kernel's own are random, and another with each SYN that is
 *	            sent again. Switches that hash addresses and label alone
 *	            (Linux: fib_multipath_hash_policy=0) send all probes of a
 *	            pair one way, as they do those of IPv4. PROBE and SEND are of
 *	            IPv4: a host of IPv6 has no raw sockets.
 *	payload     bytes that are known beforehand (see below), and FIN; the
 *	            server sends as many of them back. echo_ns is from the first
 *	            byte sent to the last one back; 0 if they do not come, not
 *	            within echo_s, or are others.
 *	            Plain connects are accepted and closed, and no agent hears
 *	            of them. A payload that has come whole is an
 *	            AGENT_PING_REQUEST.
 *	GET         of an HTTP ping, in place of a payload (http_ping.h); echo_ns
 *	            is from its first byte sent to the last one of the answer's
 *	            head, if that is whole within echo_s and of status 200. Else
 *	            `answer` says what became of it; the connect's outcome stays
 *	            CONNECTED. On the same ports any GET is served: one whose
 *	            head has come whole is an AGENT_PING_REQUEST of no bytes.
 *	PROBE       see icmp_wire.h. It takes CAP_NET_RAW at the opening;
 *	            without, it is SIM_EUNSUPPORTED.
 *	SEND        by the raw sockets of PROBE, to the outermost destination.
 *	            The kernel writes that header's length and checksum, and an
 *	            ID where it is 0.
 *	ORDER       from fabric_real_order().
 *	RETX        from fabric_real_retx(), or for the sockets of
 *	            fabric_real_watch() by looking at them.
 *	SLB_QUERY   fabric_real_slb(); without, there are no VIPs: ok = 0 at
 *	            once.
 *	FETCH,      fabric_real_serve(); without, both fail at once, and
 *	UPLOAD,     counters go nowhere.
 *	COUNTERS
 *
 * rtt_ns is what the kernel measured between SYN and SYN-ACK where no SYN was
 * sent again, which holds no time of this program; else, and for REFUSED, the
 * time from connect() until poll() saw its end.
 *
 * At max_clients the connection that has been served longest is reset for one more:
 * a probe is over in a moment, so who just sits there can't keep others out.
 *
 * What is sent as payload is the same 32 characters over and over. So a server
 * stores nothing, and resets whoever sends neither that nor a GET, or more than
 * 64 KiB. Times of a payload or a GET are of this program's clock: where it drives many hosts at
 * a time, they hold what it does for the others.
 */
#ifndef MODELS_REAL_REAL_H
#define MODELS_REAL_REAL_H

#include "models/fabric.h"
#include "sim/field.h"
#include "topo/ip_book.h"

enum {
	FABRIC_REAL_CLASSES = 8,
	FABRIC_REAL_MAX_PAYLOAD = 65536,
};

struct fabric_real_params {
	uint32_t max_flights; /* connects under way, of all hosts */
	uint32_t max_clients; /* connections served, of all hosts */
	uint32_t per_address; /* of one client with one host; 0: all */
	uint32_t syn_retries; /* TCP_SYNCNT; 0: as the kernel is set */
	double syn_rto_s;     /* the kernel's first wait; it is only told */
	double connect_s;     /* give up after; 0: when the kernel does */
	double echo_s, client_s;
	double watch_ms;   /* between looks at watched sockets */
	uint32_t no_probe; /* open no raw sockets */

	/* Not read from specs: what every host listens on, and the DSCP of its
	 * SYN-ACKs and of a CONNECT of class i. */
	uint32_t n_classes;
	uint16_t port[FABRIC_REAL_CLASSES];
	uint8_t dscp[FABRIC_REAL_CLASSES];
	/* Addresses of IPv6 that hosts and tuples have by number; NULL: none. */
	const struct topo_ip_book *book;
};
extern const struct sim_field fabric_real_fields[];

struct fabric_real_host {
	/* Its own in its namespace: host byte order, or a number of the book. */
	uint32_t address;
	int ns; /* descriptor of the namespace, borrowed until close; -1: that
	           of whoever opens */
};

/* What was done so far. */
#define FABRIC_REAL_COUNTERS(X)                                                \
	X(n_connects, "connects asked for")                                    \
	X(n_connected, "connects that stood")                                  \
	X(n_refused, "connects refused by a reset")                            \
	X(n_timeouts, "connects without an answer")                            \
	X(n_crowded, "connects not tried: max_flights")                        \
	X(n_port_taken, "connects not tried: the port is in use")              \
	X(n_not_tried, "connects not tried: the kernel refused")               \
	X(n_no_echo, "payloads that did not come back")                        \
	X(n_no_answer, "GETs without an answer of status 200")                 \
	X(n_clients, "connections of others accepted")                         \
	X(n_turned_away, "connections of others reset: per_address")           \
	X(n_pushed_out, "connections of others reset: for one more")           \
	X(n_requests, "payloads and GETs of others that came whole")           \
	X(n_answered, "payloads of others sent back, GETs answered")           \
	X(n_garbage, "connections of others reset: neither of them")           \
	X(n_late, "connections of others reset: too slow")                     \
	X(n_rests, "times that no more could be accepted")                     \
	X(n_probes, "probes sent")                                             \
	X(n_sent, "packets sent as they stand")                                \
	X(n_unsent, "probes and packets that the kernel did not take")         \
	X(n_answers, "answers to probes")                                      \
	X(n_strange, "ICMP messages about anything else")                      \
	X(n_retx, "retransmissions told to agents")                            \
	X(n_others_retx, "retransmissions of addresses not served")

struct fabric_real_counters {
#define X(name, doc) uint64_t name;
	FABRIC_REAL_COUNTERS(X)
#undef X
};

struct fabric_real;

/* Listen in every host, with raw sockets if that is allowed; the thread ends in
 * the namespace where it began. HOST and P are copied. The soft limit on
 * descriptors is raised as needed.
 * Errors SIM_EINVAL (no host, an address twice), SIM_ELIMIT (descriptors),
 * SIM_EIO (a port that is in use, a namespace that cannot be entered),
 * SIM_ENOMEM. */
int fabric_real_open(struct fabric_real **f,
    const struct fabric_real_host host[], uint32_t n_hosts,
    const struct fabric_real_params *p, struct sim_err *e);
void fabric_real_close(struct fabric_real *f); /* NULL is fine */

/* What fabric_run() takes. Closing it is fabric_real_close(). */
struct fabric *fabric_real_fabric(struct fabric_real *f);

const struct fabric_real_counters *fabric_real_count(
    const struct fabric_real *f);

/* From now on HOST gets no events, and what is under way for it is lost:
 * timers, connections, answers. Its sockets still listen, so whoever turns a
 * host off cuts its links before. */
void fabric_real_off(struct fabric_real *f, topo_host host);

/* ... until now: the next that it gets is AGENT_START. Nothing if it is on.
 * Errors SIM_ENOMEM. */
int fabric_real_on(struct fabric_real *f, topo_host host, struct sim_err *e);

/* --- controller and collector ----------------------------------------------
 * Whom agents fetch from and upload to: each request is begun by a call and
 * settled by fabric_real_fetched() or fabric_real_uploaded(), within that call
 * or later, once. An error ends the run. */
struct fabric_real_services {
	void *arg;
	int (*fetch)(void *arg, topo_host host, uint64_t token,
	    struct sim_err *e);
	/* DATA is to be read before it returns. */
	int (*upload)(void *arg, topo_host host, uint64_t token,
	    const void *data, size_t n, struct sim_err *e);
	/* The same of AGENT_COUNTERS, which nothing settles. NULL: they go
	 * nowhere. */
	int (*counters)(void *arg, topo_host host, const void *data, size_t n,
	    struct sim_err *e);
	/* The agent has had what came of its fetch. NULL: nobody cares. */
	void (*taken)(void *arg, topo_host host, uint64_t token);
	/* AGENT_SEND: the kernel has taken these bytes. NULL: nobody cares. */
	int (*sent)(void *arg, topo_host host, const void *data, size_t n,
	    struct sim_err *e);
	/* READY is called when FD can be read: a socket, or an epoll of the
	 * service's own sockets and timers. -1: none. */
	int fd;
	int (*ready)(void *arg, struct sim_err *e);
};

/* From now on, until close; once. S is copied. Errors SIM_EIO. */
int fabric_real_serve(struct fabric_real *f,
    const struct fabric_real_services *s, struct sim_err *e);

/* DATA (N = 0: there is no document) is borrowed until taken(). Errors
 * SIM_ENOMEM. */
int fabric_real_fetched(struct fabric_real *f, topo_host host, uint64_t token,
    int ok, const void *data, size_t n, struct sim_err *e);
int fabric_real_uploaded(struct fabric_real *f, topo_host host, uint64_t token,
    int ok, struct sim_err *e);

/* An AGENT_ORDER for HOST, which is to be on. DATA is borrowed until its agent
 * has had it. Errors SIM_ENOMEM. */
int fabric_real_order(struct fabric_real *f, topo_host host, const void *data,
    size_t n, struct sim_err *e);

/* 1 and *DIP if TUPLE is of a VIP; 0: it is not. */
typedef int fabric_real_slb_fn(void *arg, topo_host host,
    const struct topo_tuple *tuple, uint32_t *dip);
void fabric_real_slb(struct fabric_real *f, fabric_real_slb_fn *fn, void *arg);

/* --- retransmissions ---------------------------------------------------- */
struct fabric_real_retx {
	struct topo_tuple tuple; /* the source names the host */
	uint8_t established;
};

/* FD can be read when there are some; READ takes up to CAP of them. */
struct fabric_real_retx_source {
	void *arg;
	int fd;
	int (*read)(void *arg, struct fabric_real_retx out[], size_t cap,
	    size_t *n, struct sim_err *e);
};

/* From now on; once. S is copied. Errors SIM_EIO. */
int fabric_real_retx(struct fabric_real *f,
    const struct fabric_real_retx_source *s, struct sim_err *e);

/* Without a source: look at this connected socket of HOST every watch_ms, and
 * tell of each segment that it has sent again since. It is to be unwatched
 * before it is closed, which takes a last look. Tail loss probes count, as they
 * do in the kernel. Errors SIM_EINVAL (not connected), SIM_ENOMEM. Cost of a
 * look about 1 us a socket. */
int fabric_real_watch(struct fabric_real *f, topo_host host, int fd,
    struct sim_err *e);
int fabric_real_unwatch(struct fabric_real *f, int fd, struct sim_err *e);

#endif
