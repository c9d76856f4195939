/* models/netns/phantom.h -- phantom queues at a switch's ports, by eBPF.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Kernels need not have a queue that marks, and none shares a buffer among its
 * interfaces. So a program at the egress of each port reckons the queues that a
 * switch with such a buffer and such lines would have, drops what would not have
 * fitted and marks (ECN) what would have waited long; law and arithmetic are
 * models/bpf/phantom_law.h. What it drops is nobody's fault, and is counted apart
 * from faults (models/netns/faults.h), which are at the other end of the cable.
 *
 * A packet that cannot be marked, as it has no ECN, passes. A large packet that
 * the host or the card cuts later (GSO) counts with the headers of all its
 * segments, and is dropped or passes as one.
 *
 * Phantom queues delay nothing: who wants packets to wait gives the interface a
 * queue of the same rate besides.
 *
 * DEPARTS: RED switches drop what can't be marked.
 */
#ifndef MODELS_NETNS_PHANTOM_H
#define MODELS_NETNS_PHANTOM_H

#include "models/netns/cost.h"
#include "sim/err.h"
#include "sim/field.h"

/* As in a spec. */
struct netns_phantom_params {
	double line_mbps; /* whole */
	double shared;    /* bytes of the buffer */
	double alpha;
	double ecn; /* bytes; what finds longer queues is marked */
};
extern const struct sim_field netns_phantom_fields[];

/* Which interfaces are ports: 0 to n_ports - 1 have the indices first, first +
 * step, ... */
struct netns_phantom_ports {
	uint32_t n_ports, first, step;
	int given; /* the clock is netns_phantom_now(): of tests */
};

struct netns_phantom;
struct phantom_law;

/* The law of P in whole numbers; alpha to the nearest 1/256. Errors SIM_ERANGE. */
int netns_phantom_law(struct phantom_law *law,
    const struct netns_phantom_params *p, uint32_t n_ports, struct sim_err *e);

/* Errors that of netns_phantom_law(), SIM_EUNSUPPORTED (not allowed; built
 * without libbpf), SIM_EDEP (refused by the verifier), SIM_EIO, SIM_ENOMEM. */
int netns_phantom_open(struct netns_phantom **ph,
    const struct netns_phantom_params *p,
    const struct netns_phantom_ports *ports, struct sim_err *e);
void netns_phantom_close(struct netns_phantom *ph); /* NULL is fine */

/* To a port, in whose namespace the thread is; detach before closing. Errors
 * SIM_EIO. */
int netns_phantom_attach(struct netns_phantom *ph, uint32_t port,
    struct sim_err *e);
void netns_phantom_detach(const struct netns_phantom *ph, uint32_t port);

/* Of a port, since the opening. */
struct netns_phantom_count {
	uint64_t packets, bytes; /* that came, dropped ones too */
	uint64_t n_dropped, dropped_bytes;
	uint64_t n_marked;
	uint64_t n_deaf;  /* should have been marked, but have no ECN */
	uint64_t longest; /* bytes */
};
struct netns_phantom_count netns_phantom_count(const struct netns_phantom *ph,
    uint32_t port);

/* Packets that waited for another processor so long that they passed instead, and
 * are in no other count. What queues say of all others is exact. */
uint64_t netns_phantom_raced(const struct netns_phantom *ph);

/* --- of tests ------------------------------------------------------------- */

void netns_phantom_now(struct netns_phantom *ph, uint64_t now_ns);

/* The lock is held, or given back, as by another processor. */
void netns_phantom_hold(struct netns_phantom *ph, int held);

/* What comes of a frame at a port, in whose namespace the thread is: *DROPPED, and
 * AFTER, unless NULL, the frame as it left. *UNITS: the queue behind it, in
 * PHANTOM_UNITS of a byte. Errors SIM_EIO. */
int netns_phantom_try(struct netns_phantom *ph, uint32_t port,
    const struct netns_frame *frame, uint32_t gso_segs, void *after,
    int *dropped, uint64_t *units, struct netns_cost *cost, struct sim_err *e);

#endif
