/* models/scene/latency.h -- round-trip times of flows, and links that are slow.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A packet's round trip takes
 *
 *	2 * hops * hop + queue + the delays of faulty links on its path
 *
 * `hop` being fixed, and `queue` exponential with a mean of its own, drawn anew
 * for each packet, as is what a faulty link adds unless that is constant. A
 * sender smooths what it measures with a gain of 1/8 (RFC 6298), whose noise is
 * that of a mean of 15 samples; so the smoothed time of a flow of n packets has
 * the queue's mean over min(n, 15) draws, which is a gamma variable, and of
 * each faulty link the mean of as many draws of its law. A fault that is active
 * when the flow starts delays all its packets. Only the links from sender to
 * receiver count: the way back is not modelled.
 */
#ifndef MODELS_SCENE_LATENCY_H
#define MODELS_SCENE_LATENCY_H

#include "models/truth.h"
#include "sim/field.h"
#include "sim/rng.h"

#define SCENE_LATENCY_SAMPLES 15

/* As in a spec; all in microseconds. */
struct scene_latency_params {
	double hop_us, queue_us;
	double report_us; /* flows above are reported; 0: no times at all */
};
extern const struct sim_field scene_latency_fields[];

/* What the faults of LINK that are active at T add to one packet, in us. Takes
 * one number from R for each fault whose law is a draw, of which the delay is an
 * increasing function; R = NULL: the mean. Cost O(log faults); needs the
 * faults' order. */
double scene_latency_draw(const struct truth *truth, topo_link link, sim_ns t,
    struct sim_rng *r);

/* The same by the link's first fault, of truth_first_fault(). */
double scene_latency_draw_at(const struct truth *truth, size_t first,
    topo_link link, sim_ns t, struct sim_rng *r);

/* What they add to the smoothed time of a flow of n_pkts: the mean of
 * min(n_pkts, SCENE_LATENCY_SAMPLES) draws. */
double scene_latency_smoothed(const struct truth *truth, topo_link link,
    sim_ns t, uint32_t n_pkts, struct sim_rng *r);

/* A flow's smoothed round-trip time at its end, to the nearest microsecond,
 * delay_us being what the faulty links of its path add. */
uint32_t scene_latency_srtt(const struct scene_latency_params *p,
    struct sim_rng *r, unsigned n_hops, uint32_t n_pkts, double delay_us);

#endif
