/* models/sim/impl.h -- what the files of the simulated fabric share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	sim.c      the queue, timers, hosts on and off, life
 *	trace.c    flows that lost, probes by TTL, VIP queries
 *	connect.c  connects and payloads
 *	service.c  controller and collector
 *
 * Nobody else includes this.
 */
#ifndef MODELS_SIM_IMPL_H
#define MODELS_SIM_IMPL_H

#include "models/scene/walk.h"
#include "models/sim/rtt_profile.h"
#include "models/sim/sim.h"
#include "models/sim/tcp_connect.h"
#include "sim/evq.h"

/* What a queued event is; its low half is an index. */
enum fabric_sim_kind {
	FABRIC_SIM_TELL,    /* pending: told as it is */
	FABRIC_SIM_FETCHED, /* pending: the document comes */
	FABRIC_SIM_POWER,   /* host: maybe it goes off or on */
	FABRIC_SIM_RETX,    /* flow */
	FABRIC_SIM_ARRIVE,  /* pending: a probe is where its TTL ends */
	FABRIC_SIM_CONN,    /* this and those after it: step of a connection */
};

/* An event for a host that will come, or what may cause one. */
struct fabric_sim_pending {
	struct agent_event ev;
	topo_host host;
	uint32_t boot; /* of the host: when it reboots, this is lost */
	union {
		topo_switch at; /* ARRIVE */
		uint32_t mode;  /* FETCHED: see fault_service_mode() */
		uint32_t next_free;
	};
	sim_ns back; /* ARRIVE: from the switch to the host; never: lost */
};

struct fabric_sim_flow;
struct fabric_sim_conn;

/* The route of the last probe. Agents send the probes of one trace at the same
 * time, so the next probe mostly has the same. */
struct fabric_sim_route {
	struct topo_tuple tuple;
	sim_ns at;
	unsigned n_hops;
	topo_link path[TOPO_MAX_HOPS], reverse[TOPO_MAX_HOPS];
	double there[TOPO_MAX_HOPS + 1]; /* hazard of the first links, */
	double back[TOPO_MAX_HOPS + 1];  /* and of their reverse */
	uint8_t is_slow; /* either of them may take time of their own */
};

/* A host's streams but that of its probes, set up when first used. */
struct fabric_sim_streams {
	uint32_t life; /* == now_living: of this epoch */
	struct sim_rng rtt, connect, delay, service;
};

enum { FABRIC_SIM_LAWS = 256 }; /* a power of two */

struct fabric_sim {
	struct fabric base;
	const struct topo *topo;
	const struct fabric_sim_params *params;
	const struct scene *scene;
	const struct obs *lossy; /* or NULL */
	struct sim_evq *q;
	sim_ns now;

	struct fabric_sim_pending *pending;
	size_t n_pending, cap_pending;
	uint32_t free_pending;

	uint8_t *off;   /* [n_hosts] */
	uint32_t *boot; /* [n_hosts] how often it went off */
	uint32_t now_living;

	/* trace.c */
	struct fabric_sim_flow *flow;
	size_t n_flows, cap_flows;
	const uint32_t *early;   /* [lossy rows], or NULL: not told */
	const uint32_t *at_once; /* likewise */
	/* Flows by tuple, both of them: 1 + index, 0 = none. A power of two. */
	uint32_t *slot;
	size_t n_slots, cap_slots;
	struct fabric_sim_icmp icmp;
	struct fault_flaps flaps;
	struct scene_walk_net probe_net; /* of probes and their answers */
	struct fabric_sim_route route;
	struct sim_rng *probe_rng; /* [n_hosts] */
	uint32_t *life; /* [n_hosts] == now_living: its rng is of this epoch */
	uint32_t retx_key[2];

	/* connect.c */
	struct fabric_sim_conn *conn;
	size_t n_conns, cap_conns;
	uint32_t free_conn;
	struct fabric_sim_streams *streams; /* [n_hosts], or NULL: not yet */
	struct scene_walk_net net;          /* of connects */
	double *noise;     /* [n_links] hazards, or NULL: not yet */
	uint32_t noise_of; /* == now_living: of this epoch */
	size_t *fault_at;  /* [n_links] where faults were found last, or NULL */
	topo_host *by_tor; /* [n_hosts] hosts, those of a ToR together */
	uint32_t *first;   /* [n_tors + 1] of each ToR in by_tor */
	uint32_t n_tors;
	const struct fabric_sim_tcp_ladder *ladder;
	unsigned n_retries;
	sim_ns give_up; /* sum of the waits */
	struct fabric_sim_losses losses;
	struct fabric_sim_rtt law[FABRIC_SIM_LAWS];
	uint64_t law_key[FABRIC_SIM_LAWS]; /* 0: none */

	struct fault_services services;
};

enum { FABRIC_SIM_NONE = UINT32_MAX };

/* --- sim.c ----------------------------------------------------------- */

/* Queue a copy of P for its host's present boot. Errors SIM_ENOMEM. */
int fabric_sim_put(struct fabric_sim *f, struct fabric_sim_pending *p,
    enum fabric_sim_kind kind, sim_ns at, struct sim_err *e);

/* The host's streams of this epoch. Errors SIM_ENOMEM. */
int fabric_sim_streams(struct fabric_sim *f, topo_host h,
    struct fabric_sim_streams **out, struct sim_err *e);

/* --- trace.c --------------------------------------------------------- */

int fabric_sim_take_flows(struct fabric_sim *f, struct sim_err *e);
void fabric_sim_free_trace(struct fabric_sim *f);

/* The path that TUPLE takes now. Returns the number of hops. */
unsigned fabric_sim_path(const struct fabric_sim *f,
    const struct topo_tuple *tuple, topo_host src, topo_host dst,
    topo_link path[]);

int fabric_sim_probe(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e);
int fabric_sim_ask_slb(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e);

/* A flow notices its next loss. Returns 1 if a host is to be told, with EV and
 * HOST set. */
int fabric_sim_take_retx(struct fabric_sim *f, uint32_t index,
    struct agent_event *ev, topo_host *host, struct sim_err *e);

/* --- connect.c ------------------------------------------------------- */

int fabric_sim_open_connect(struct fabric_sim *f, struct sim_err *e);
void fabric_sim_free_connect(struct fabric_sim *f);
int fabric_sim_connect(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e);
int fabric_sim_answer(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e);
int fabric_sim_take_conn(struct fabric_sim *f, const struct sim_event *queued,
    struct agent_event *ev, topo_host *host, struct sim_err *e);

/* --- service.c ------------------------------------------------------- */

int fabric_sim_fetch(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e);
int fabric_sim_upload(struct fabric_sim *f, topo_host host,
    const struct agent_action *a, struct sim_err *e);
int fabric_sim_take_fetched(struct fabric_sim *f,
    const struct fabric_sim_pending *p, struct agent_event *ev,
    struct sim_err *e);

#endif
