/* models/bulk/bulk.h -- the exact bulk data plane: every flow of an epoch.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Between two changes of network state the losses of a flow are memoryless, so
 * a flow of n packets loses something with probability 1 - exp(-n * sum of
 * hazards), and only the few that do are looked at closely. Each flow is a
 * function of (seed, point, run, epoch, flow): any one can be repeated alone,
 * in any order, in blocks of any size, by any number of workers, on any CPU,
 * with the same bits.
 *
 *	draw  ->  destination, packets, ports, u         SIMD, 256 flows a block
 *	path  ->  ECMP by the switches' own hash         SIMD
 *	test  ->  u / n < sum of rounded-up hazards      few pass
 *	exact ->  u < 1 - exp(-n * sum), 48 random bits; who dropped how many
 *
 * With noise per flow the sum is of rates drawn for the flow, which nothing but
 * its own number names; the sieve then has the greatest that may be drawn.
 *
 * A flow that a black hole on its path takes when it starts loses all that gets
 * so far on the link into that switch. Flows of a host that is off then do not
 * run and are not counted; those to one are lost on its cable. Flows go from
 * source to destination only; the way back is modelled where the spec asks for
 * TCP (traffic.tcp, models/scene/tcp.h). Then the test is of both paths, a flow
 * sends again what was lost, and a FIN that was sent again makes the way back a
 * row of its own, behind that of its flow, of as many packets as were sent
 * again.
 *
 * With congestion the bound of a hot rack's ports is that of their fullest, so
 * that about all flows through them are looked at; whether the port was full is
 * asked for the time at which the flow starts (models/scene/congestion.h). Of
 * what each hop dropped, the losses then hold what a buffer did.
 *
 * A fault that starts or ends inside the epoch holds for flows that start
 * while it is active: a flow's packets are taken to pass at once.
 */
#ifndef MODELS_BULK_BULK_H
#define MODELS_BULK_BULK_H

#include "models/bulk/kernel.h"
#include "models/losses.h"
#include "models/obs.h"
#include "models/scene/scene.h"

struct bulk;

/* KERNEL NULL: the best this CPU has. */
int bulk_open(struct bulk **b, const struct bulk_kernel *kernel,
    struct sim_err *e);
void bulk_close(struct bulk *b);

/* Take a scene: hazards of all links. B keeps S until the next scene; S must
 * not change meanwhile. Cost O(links). Errors SIM_ENOMEM. */
int bulk_begin(struct bulk *b, const struct scene *s, struct sim_err *e);

/* Run flows FIRST .. LAST - 1. Append the lossy ones, and those with a smoothed
 * RTT above latency.report_over (or, with ALL, every one), to W and their drops
 * to LOST; with TCP also what of n_retx was early. Runs that tile an interval append what one run over it does. Adds to
 * w->n_flows those that ran. Errors SIM_ENOMEM.
 * Cost O(flows), about 10 ns each. */
int bulk_run(struct bulk *b, uint64_t first, uint64_t last, int all,
    struct obs *w, struct losses *lost, struct sim_err *e);

/* begin and run over all flows of a scene, into an emptied window. */
int bulk_epoch(struct bulk *b, const struct scene *s, int all, struct obs *w,
    struct losses *lost, struct sim_err *e);

/* One flow alone, by plain code: its record without losses, and its path.
 * Returns the number of hops. Shape path[TOPO_MAX_HOPS]. */
unsigned bulk_flow(const struct scene *s, uint64_t flow, struct obs_flow *out,
    topo_link path[]);

#endif
