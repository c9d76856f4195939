/* models/fault/flap.h -- cables that go down for a while; paths then.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * While a cable is down no path crosses it in either direction. A flow keeps
 * its path as long as that is whole; else its path is the one that switches
 * would choose with other hash seeds: those derived from ecmp_seed and k = 1,
 * 2, ... up to the first whole path. So other flows stay where they are, and a
 * flow comes back when the cable does. When none of FAULT_FLAP_TRIES paths is
 * whole the flow keeps its own, and what it sends is lost there.
 *
 * Cables of hosts do not flap: their hosts have no other.
 */
#ifndef MODELS_FAULT_FLAP_H
#define MODELS_FAULT_FLAP_H

#include "sim/err.h"
#include "sim/field.h"
#include "sim/rng.h"
#include "sim/time.h"
#include "topo/topo.h"

enum { FAULT_FLAP_TRIES = 64 };

struct fault_flap_params {
	uint32_t count;
	struct sim_dist start_s, duration_s;
};
extern const struct sim_field fault_flap_fields[];

/* Down while from_ns <= t < to_ns. */
struct fault_flap {
	topo_link link; /* either direction of the cable */
	sim_ns from_ns, to_ns;
};

/* Zeroed is empty. */
struct fault_flaps {
	size_t n, cap;
	struct fault_flap *flap;
};

/* Draw an epoch's flaps into F, whose memory is reused; cables are drawn alike
 * and one may flap twice. Flap i does not depend on how many there are.
 * Errors SIM_EINVAL when no cable joins two switches, SIM_ENOMEM. */
int fault_flap_draw(struct fault_flaps *f, const struct topo *t,
    const struct fault_flap_params *p, const struct sim_seed *where,
    struct sim_err *e);
void fault_flap_free(struct fault_flaps *f);
int fault_flap_add(struct fault_flaps *f, const struct fault_flap *flap,
    struct sim_err *e);

/* Index in PATH of the first link that is down at T, or N_HOPS.
 * Cost O(flaps * hops). */
unsigned fault_flap_down(const struct fault_flaps *f, const topo_link path[],
    unsigned n_hops, sim_ns t);

/* Replace PATH, which the flow with this digest takes while all cables are up,
 * by the path that it takes at time AT. Returns the number of its hops. */
unsigned fault_flap_path(const struct fault_flaps *f, const struct topo *t,
    uint32_t ecmp_seed, topo_host src, topo_host dst, uint32_t digest,
    sim_ns at, topo_link path[], unsigned n_hops);

#endif
