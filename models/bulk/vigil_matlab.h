/* models/bulk/vigil_matlab.h -- the rules of 007's released simulator.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The curves that 007 published come from a MATLAB program that is not the
 * model its text describes. This bulk data plane keeps the program's rules, so
 * that what each of them does to a curve can be seen:
 *
 *	path      5 links, or 3 within a pod: the link from the last ToR to the
 *	          host is neither in it nor drops anything
 *	loss      all packets of a flow are offered to every hop, also those
 *	          that a hop before has lost
 *	noise     the rate of a good link is drawn anew for every flow and hop,
 *	          which other planes have by `noise: {per: flow}`
 *	draws     whether a hop dropped anything (its flag), and how many it
 *	          dropped (its count), are two independent draws of one law: a
 *	          flow can have failed with a count of 0, or not failed with a
 *	          count of 3
 *	truth     the first hop that dropped is the culprit, but each hop behind
 *	          it, whether it dropped or not, takes its place until one
 *	          with a fault does
 *
 * Votes go by flags: n_retx is 0 for a flow without one, and for one with a
 * flag its count, put into [1, n_pkts]. The count itself is obs_n_counted().
 * The losses hold the counts of the hops as drops, and the culprits.
 *
 * A flow's ends, packets and path are those of the exact plane
 * (models/bulk/bulk.h) for the same scene: what differs between the two is
 * these rules alone.
 *
 * The other habits of the program are parameters elsewhere: places of faults
 * (`pick: matlab` of a fault group), blame (`noise: floor`, `tie: matlab` of an
 * algorithm), and 480 connections a host, which a spec of this plane has unless
 * it sets traffic.conns. DEPARTS: its hot ToR may be the source's own; here
 * nobody sends to its own ToR. Its count of tracerouted flows limits no vote
 * and is left out.
 *
 * Paper  007 (NSDI'18), section 6, and its released code. */
#ifndef MODELS_BULK_VIGIL_MATLAB_H
#define MODELS_BULK_VIGIL_MATLAB_H

#include "models/losses.h"
#include "models/obs.h"
#include "models/scene/scene.h"

/* Connections a host and epoch of the released code: 16 a second. */
#define BULK_VIGIL_MATLAB_CONNS 480

/* 0 for a Clos without round-trip times, else SIM_EUNSUPPORTED. */
int bulk_vigil_matlab_fits(const struct scene *s, struct sim_err *e);

/* Run the epoch into an emptied window that holds the flows with a flag or a
 * count, or, with ALL, every flow. Counts and culprits go to LOST.
 * Errors as bulk_vigil_matlab_fits(), SIM_ENOMEM.
 * Cost O(flows), about 0.1 us each. */
int bulk_vigil_matlab_epoch(const struct scene *s, int all, struct obs *w,
    struct losses *lost, struct sim_err *e);

#endif
