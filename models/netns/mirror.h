/* models/netns/mirror.h -- switches of namespaces that mirror and decapsulate.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * At every link into a switch of a network (models/netns/net.h), behind its
 * faults (models/netns/faults.h):
 *
 *	faults -> mirror -> outer headers addressed to this switch off -> stack
 *
 * A packet that faults drop is not mirrored by the receiver of that link; one
 * that a delay holds is mirrored when it goes on. Guided probes, which are IP
 * within IP, so go by the switches that they name.
 *
 * Copies are carried
 *
 *	by a ring of this machine's memory: none is lost but when nobody reads
 *	over the network, to the address of a collector: as ERSPAN II, cut to a
 *	length, routed through the network, whose faults and queues they meet
 *
 * By eBPF alone. Close it before the faults, and both before the network.
 */
#ifndef MODELS_NETNS_MIRROR_H
#define MODELS_NETNS_MIRROR_H

#include "models/netns/cost.h"
#include "models/netns/net.h"
#include "models/obs_match.h"
#include "models/obs_mirror.h"
#include "sim/time.h"

/* Zeroed is usual, but for the rows. */
struct netns_mirror_params {
	const struct obs_match_row *row; /* borrowed during the opening */
	size_t n_rows;
	uint32_t ring_bytes; /* of all processors; 0: 16 MiB, 262,144 copies */
	uint32_t collector;  /* address that copies go to; 0: to the ring */
	uint32_t truncate;   /* frames for the collector; 0: 128 bytes */
	uint64_t zero_ns;    /* CLOCK_MONOTONIC of time 0 */
	/* Copies to the ring whose time may be coarse: bits 1 << enum
	 * obs_copy_kind. It is then that of the last clock that was read by the
	 * processor in the same tick of the kernel, so early by up to a tick (4
	 * ms at 250 Hz), and never late. Else it is right to the nanosecond, for
	 * which a clock is read, which costs more than all else of a copy. */
	uint32_t by_tick;
};

/* Of one switch, since the opening. */
struct netns_mirror_count {
	uint64_t n_copies;   /* with those lost at once: */
	uint64_t n_full;     /* the ring was full */
	uint64_t n_failed;   /* no memory, or no route */
	uint64_t n_stripped; /* outer headers taken off */
};

struct netns_mirror;

/* Errors SIM_EUNSUPPORTED (not allowed; built without libbpf), SIM_EINVAL (no
 * row), SIM_ELIMIT (too many), SIM_EDEP, SIM_EIO, SIM_ENOMEM.
 * Cost 0.1 ms a link. */
int netns_mirror_open(struct netns_mirror **m, const struct netns_net *net,
    const struct topo *t, const struct netns_mirror_params *p,
    struct sim_err *e);
void netns_mirror_close(struct netns_mirror *m); /* NULL is fine */

/* Other rows from now on: packets meanwhile meet none. */
int netns_mirror_rules(struct netns_mirror *m, const struct obs_match_row row[],
    size_t n, struct sim_err *e);

/* A descriptor that can be read when there are copies in the ring, and up to CAP
 * > 0 of them, appended to COPIES in the order of their times. *N < CAP: there
 * were no more. Those of one processor are in the order of mirroring over all
 * calls; of several, one that was being written meanwhile comes with the next
 * call. Errors SIM_EIO, SIM_ENOMEM. */
int netns_mirror_fd(const struct netns_mirror *m);
int netns_mirror_read(struct netns_mirror *m, struct obs_mirror *copies,
    size_t cap, size_t *n, struct sim_err *e);

/* Shape count[n_switches]. */
void netns_mirror_count(const struct netns_mirror *m,
    struct netns_mirror_count count[]);

/* What the switch at the end of link L would do with a frame, which is mirrored
 * like one that came. Returns 1 if it is to be thrown away, 0 if not, or
 * SIM_EIO. For tests. */
int netns_mirror_try(struct netns_mirror *m, topo_link l,
    const struct netns_frame *frame, struct sim_err *e);

/* What that costs. Copies are to be read between calls, or the ring fills. */
int netns_mirror_cost(struct netns_mirror *m, topo_link l,
    const struct netns_frame *frame, struct netns_cost *cost,
    struct sim_err *e);

#endif
