/* models/fault/flap.c -- cables that go down for a while; paths then.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/fault/flap.h"

#include <stdlib.h>
#include <string.h>

#include "models/dist.h"
#include "sim/vec.h"

const struct sim_field fault_flap_fields[] = {
    {"count", SIM_F_U32, offsetof(struct fault_flap_params, count), .max = 1e6,
	.unit = "flaps", .def = "0",
	.doc = "times that a cable between switches goes down in an epoch"},
    {"start", SIM_F_DIST, offsetof(struct fault_flap_params, start_s), .min = 0,
	.max = 1e6, .unit = "s", .def = "{uniform: [0, 30]}",
	.doc = "when it goes down, since the epoch began", .when = "count!=0"},
    {"duration", SIM_F_DIST, offsetof(struct fault_flap_params, duration_s),
	.min = 0, .max = 1e6, .unit = "s", .def = "{log_uniform: [0.1, 10]}",
	.doc = "for how long", .when = "count!=0"},
    {0},
};

int fault_flap_add(struct fault_flaps *f, const struct fault_flap *flap,
    struct sim_err *e)
{
	int rc = SIM_RESERVE(&f->flap, &f->cap, f->n + 1, e);
	if (rc < 0)
		return rc;
	f->flap[f->n++] = *flap;
	return 0;
}

int fault_flap_draw(struct fault_flaps *f, const struct topo *t,
    const struct fault_flap_params *p, const struct sim_seed *where,
    struct sim_err *e)
{
	/* Hosts' cables have the first numbers, and do not flap: cables between
	 * switches come after them. */
	const uint32_t n_cables = t->n_links / 2 - t->n_hosts;
	int rc = 0;
	f->n = 0;
	if (p->count > 0 && n_cables == 0)
		return sim_fail(e, SIM_EINVAL,
		    "%u flaps are asked for, but no cable joins two switches.",
		    p->count);
	for (uint32_t i = 0; rc == 0 && i < p->count; i++) {
		/* Each flap has a stream of its own: more flaps leave the first
		 * ones where they are. */
		struct sim_rng r;
		sim_rng_init(&r, where, SIM_STREAM_FLAP, i);
		const uint32_t cable = sim_rng_below(&r, n_cables);
		const double from = dist_at(&p->start_s, sim_rng_u01(&r));
		const double len = dist_at(&p->duration_s, sim_rng_u01(&r));
		const struct fault_flap flap = {
		    .link = topo_link_of(t->n_hosts + cable, TOPO_UP),
		    .from_ns = (sim_ns)(from * 1e9),
		    .to_ns = (sim_ns)((from + len) * 1e9),
		};
		rc = fault_flap_add(f, &flap, e);
	}
	return rc;
}

void fault_flap_free(struct fault_flaps *f)
{
	free(f->flap);
	*f = (struct fault_flaps){0};
}

static int is_down(const struct fault_flaps *f, topo_link l, sim_ns t)
{
	for (size_t i = 0; i < f->n; i++)
		/* The two directions of a cable have the ids 2c and 2c + 1, and
		 * go down together. */
		if (f->flap[i].link / 2 == l / 2 && f->flap[i].from_ns <= t &&
		    t < f->flap[i].to_ns)
			return 1;
	return 0;
}

unsigned fault_flap_down(const struct fault_flaps *f, const topo_link path[],
    unsigned n_hops, sim_ns t)
{
	/* Most scenes have no flaps, and every packet asks. */
	unsigned i = 0;
	if (f->n == 0)
		return n_hops;
	while (i < n_hops && !is_down(f, path[i], t))
		i++;
	return i;
}

unsigned fault_flap_path(const struct fault_flaps *f, const struct topo *t,
    uint32_t ecmp_seed, topo_host src, topo_host dst, uint32_t digest,
    sim_ns at, topo_link path[], unsigned n_hops)
{
	topo_link other[TOPO_MAX_HOPS];
	if (fault_flap_down(f, path, n_hops, at) == n_hops)
		return n_hops;
	/* A stand-in for routes that converge: the k-th try is the path for
	 * another seed of the switches' hashes. It depends on the tuple and on
	 * k alone, so a flow keeps its detour as long as the same cables are
	 * down. */
	for (uint32_t k = 1; k < FAULT_FLAP_TRIES; k++) {
		const uint32_t seed =
		    topo_mix32(ecmp_seed ^ k * UINT32_C(0x85ebca77));
		const unsigned n = topo_path(t, seed, src, dst, digest, other);
		if (fault_flap_down(f, other, n, at) < n)
			continue;
		memcpy(path, other, n * sizeof(path[0]));
		return n;
	}
	return n_hops;
}
