/* models/scene/loss.h -- packets lost independently, link by link.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each packet is lost on each link of its path with that link's rate,
 * independently. Think of every (packet, link) pair as marked with probability
 * `rate`, marks being independent; a packet is lost at its first marked link.
 * With hazard = -log(1 - rate), a flow of n packets has no mark at all with
 * probability exp(-n * sum of hazards), which is what lets an epoch be drawn
 * without touching packets. A retransmitted packet is not offered again,
 * unless the spec says so (tcp.h).
 */
#ifndef MODELS_SCENE_LOSS_H
#define MODELS_SCENE_LOSS_H

#include "models/scene/noise.h"
#include "models/truth.h"
#include "sim/rng.h"
#include "sim/time.h"

struct scene_loss {
	const struct truth *truth; /* sorted faults */
	struct scene_noise noise;
};

/* -log(1 - rate): 0 for 0, infinity for 1. */
double scene_hazard(double rate);

/* Hazard of the faults of LINK that are active at T, into *HAZARD. Returns 1 if
 * there is one, else 0 with *HAZARD = 0. Cost O(log faults). */
int scene_loss_fault(const struct scene_loss *m, topo_link link, sim_ns t,
    double *hazard);

/* The same by the link's first fault, of truth_first_fault(). Cost O(those of
 * the link). */
int scene_loss_fault_at(const struct scene_loss *m, size_t first,
    topo_link link, sim_ns t, double *hazard);

/* Hazard of a link at time T: that of its faults while any is active, else its
 * noise: a fault replaces the noise of its link. Cost O(log faults). */
double scene_loss_hazard(const struct scene_loss *m, topo_link link, sim_ns t);

/* The same of all H hops of PATH, for packets of FLOW, by whose number noise is
 * drawn. Shape path[h], hazard[h]. */
void scene_loss_hazards(const struct scene_loss *m, uint64_t flow,
    const topo_link path[], unsigned h, sim_ns t, double hazard[]);

/* Binomial(n, p) with p = 1 - exp(-hazard), given that it is not 0. Domain N
 * and HAZARD > 0. */
uint32_t scene_loss_some(struct sim_rng *r, uint32_t n, double hazard);

/* The same for who knows already with what probability one packet is marked,
 * RATE = 1 - exp(-hazard), and with what some are, SOME = 1 - exp(-n * hazard). */
uint32_t scene_loss_some_of(struct sim_rng *r, uint32_t n, double hazard,
    double rate, double some);

/* How many of N packets are marked at each of H links, given that at least one
 * mark exists. Shape hazard[h], marks[h]; h <= TOPO_MAX_HOPS; their sum > 0.
 * Exact up to double precision. Cost O(h) plus O(marks). */
void scene_loss_marks(struct sim_rng *r, uint32_t n, const double hazard[],
    unsigned h, uint32_t marks[]);

/* Packets lost at each link, given how many are marked there: a packet that is
 * marked twice is lost once, at the first. DROPS may be MARKS. Cost O(marks),
 * none behind a link that loses everything. */
void scene_loss_drops(struct sim_rng *r, uint32_t n, const uint32_t marks[],
    unsigned h, uint32_t drops[]);

#endif
