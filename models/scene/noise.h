/* models/scene/noise.h -- small drop rates of links without a fault.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A rate is a function of a name, of a link or of a flow and a hop, and of the
 * epoch's: nothing is stored, and one can be had without drawing the others.
 *
 * Some classes of links may be noisier than others: with `times` each rate r of
 * theirs is min(1, times r) in place of r, drawn by the same numbers. So with
 * rates uniform on (0, b) theirs are uniform on (0, times b), and those of all
 * others stay where they are.
 */
#ifndef MODELS_SCENE_NOISE_H
#define MODELS_SCENE_NOISE_H

#include "sim/field.h"
#include "sim/rng.h"
#include "topo/topo.h"

/* What has a rate of its own.
 *
 *	link   each link, for the epoch: flows that share a noisy link share its
 *	       noise, as they would a faint fault
 *	flow   each flow on each of its hops, as 007's released code has it
 *	       (Device.m): no link is noisier than another. A hop loses
 *	       something of n packets with probability E[1 - (1 - r)^n], r by
 *	       the law of rates, whatever other flows lose
 *
 * One flow alone has the same law with both. A packet that is no flow's, such as
 * a probe, is with `flow` lost at the mean rate on each hop, which is what a
 * new rate for each packet comes to. */
enum scene_noise_per { SCENE_NOISE_PER_LINK, SCENE_NOISE_PER_FLOW };

/* As in a spec. The default is 007's: uniform on (0, 1e-6) (NSDI'18 §6). The
 * paper does not say what has a rate of its own. */
struct scene_noise_params {
	struct sim_dist rate; /* per packet and directed link */
	double scale;         /* times this, for sweeps; at most 1 in all */
	uint32_t per;         /* enum scene_noise_per */
	double times;         /* of `classes`; at most 1 in all */
	uint32_t classes;     /* bits of topo_link_class; 0: none */
};
extern const struct sim_field scene_noise_fields[];

struct scene_noise {
	struct sim_dist rate;
	uint32_t key[2], run, point;
	enum scene_noise_per per;
	const struct topo *topo; /* NULL: all classes alike */
	double times;
	uint32_t classes;
};

/* TOPO is read only with `times`, and kept. */
void scene_noise_init(struct scene_noise *n,
    const struct scene_noise_params *params, const struct topo *topo,
    const struct sim_seed *where);

/* 1 if links of CLASS are among CLASSES, where FABRIC, as of faults, is all links
 * between switches. */
int scene_noise_has(uint32_t classes, enum topo_link_class class);

/* The greatest rate that any link or flow may have. */
double scene_noise_most(const struct scene_noise *n);

/* Drop rate of one link, in [rate.a, rate.b] or `times` that, for a packet alone: per link its
 * own, per flow the mean. Cost one Philox block. */
double scene_noise_rate(const struct scene_noise *n, topo_link link);

/* Rates of links FIRST .. FIRST + N - 1; equal to the single ones. */
void scene_noise_rates(const struct scene_noise *n, topo_link first,
    size_t n_links, double rate[]);

/* Rates that all packets of FLOW meet on its N_HOPS hops, over PATH. FLOW is
 * below 2^32, or the flow that comes back of one: SCENE_NOISE_BACK more.
 * Shape path[n_hops], rate[n_hops]. Cost a Philox block a link, or for four
 * hops. */
#define SCENE_NOISE_BACK (UINT64_C(1) << 32)
void scene_noise_of_flow(const struct scene_noise *n, uint64_t flow,
    const topo_link path[], unsigned n_hops, double rate[]);

/* The greatest rates that any flow may meet on links 0 .. N_LINKS - 1. */
void scene_noise_bounds(const struct scene_noise *n, size_t n_links,
    double rate[]);

#endif
