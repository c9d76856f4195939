/* experiments/rack/kernel.h -- a rack of this machine's kernel, and its samples.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	hosts: the kernel's TCP (reno, ECN)        switch, at each port:
 *	+--------+                                 phantom queue -> line -> link
 *	| sampler|-- cable -- [ one namespace ] --  drops, marks    waits   loss
 *	+--------+
 *
 * A phantom queue (models/netns/phantom.h) drops and marks as a shared buffer
 * would, and a queue of the kernel's at the same rate has packets wait, so that
 * windows meet the round trips that they make. A link may lose packets besides
 * (models/netns/faults.h). Hosts count in buckets (models/netns/sampler.h) what
 * comes to them, and mark what they send again.
 *
 * Time goes in sittings, of 2,000 buckets each, in the first four fifths of which
 * hosts begin to send: rounds of incast, in which `incast` of them send to one at
 * once, each round to the next host; and light traffic, short connections between
 * any two at any time. All is sent to its end. What is left of the buckets is for
 * that, as a machine that has other things to do is late.
 *
 * Where the truth is: a host's link is at fault if it is to lose packets; what
 * the phantom dropped is nobody's fault. Both are counted where they are done,
 * and the kernel's own count of drops by reason can be held against the
 * phantom's. It may be a few short: the program that counts is not run again for
 * a drop that interrupts it.
 */
#ifndef EXPERIMENTS_RACK_KERNEL_H
#define EXPERIMENTS_RACK_KERNEL_H

#include "models/netns/faults.h"
#include "models/netns/phantom.h"
#include "models/obs_samples.h"

/* Fields of a spec's form, in xp_kernel_rack_fields; those above them have none. */
struct xp_kernel_rack_params {
	uint32_t hosts, incast, rounds;
	double for_s;
	uint32_t lossy; /* host whose link loses packets, */
	double loss;    /* with this probability; 0: none does */
	uint64_t seed;

	uint32_t packets, light_packets;
	double light, rto_ms, width_ms;
	uint32_t delay;
	struct netns_phantom_params queue;
};
extern const struct sim_field xp_kernel_rack_fields[];

/* Of a host, all sittings. */
struct xp_kernel_rack_port {
	struct netns_phantom_count queue; /* to it */
	struct netns_link_count link;     /* to it */
};

/* Zeroed is empty. */
struct xp_kernel_rack_seen {
	struct obs_runs runs;
	struct obs_samples samples;
	struct xp_kernel_rack_port *port; /* [hosts] */
	uint32_t n_hosts;
	uint64_t n_flows, n_failed, n_retx; /* by the senders' kernels */
	uint64_t n_raced;
	uint32_t n_late; /* sittings that went on behind their last bucket */
	/* Packets that the kernel dropped at ports, by its own count; and for
	 * reasons that nothing here gives, with that of the most. */
	uint64_t n_at_ports, n_other;
	char other[48];
};
void xp_kernel_rack_free(struct xp_kernel_rack_seen *s);

/* Build a rack, run it, and take it down. It takes root, and the thread to one
 * processor while it runs. Errors SIM_EINVAL (more senders than there are other
 * hosts), SIM_ERANGE, those of the parts, SIM_EUNSUPPORTED among them. */
int xp_kernel_rack_run(const struct xp_kernel_rack_params *p,
    struct xp_kernel_rack_seen *s, struct sim_err *e);

#endif
