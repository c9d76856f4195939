/* experiments/everflow/intake.h -- copies that switches of the kernel make.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	ring  switches --> memory of this machine ----------------> copies
 *	gre   switches --> ERSPAN II over the network --> a host:
 *	                   a socket for each analyzer, which share
 *	                   by the innermost packet ----------------> copies
 *
 * Over the network copies meet the faults and queues of links, as in a data
 * centre, and come with the time of their arrival; by the ring none is lost or
 * late. What is done with copies is the same.
 */
#ifndef EXPERIMENTS_EVERFLOW_INTAKE_H
#define EXPERIMENTS_EVERFLOW_INTAKE_H

#include "algos/everflow/mirror_rule.h"
#include "experiments/lab/wire.h"
#include "models/obs_mirror.h"

struct xp_intake_params {
	topo_host at; /* the analyzers' host; TOPO_NONE: copies go by the ring
		       */
	uint32_t n;   /* analyzers there, at least 1 */
	const struct algo_mirror_table *table; /* borrowed */
};

struct xp_intake;

/* Have the switches of WIRE, which is borrowed, mirror from now on, which is time
 * 0. Errors SIM_ERANGE (no such host), those of netns_mirror_open() and
 * xp_ether_open(). */
int xp_intake_open(struct xp_intake **x, struct xp_wire *wire,
    const struct xp_intake_params *p, struct sim_err *e);
void xp_intake_close(struct xp_intake *x); /* NULL is fine */

/* The I-th descriptor that can be read when there are copies; -1: no more. */
int xp_intake_fd(const struct xp_intake *x, uint32_t i);

/* Append all copies that there are to COPIES, in the order of time. Errors
 * SIM_EIO, SIM_ENOMEM. */
int xp_intake_read(struct xp_intake *x, struct obs_mirror *copies,
    struct sim_err *e);

/* Which analyzer's socket each copy came by, in the order of reading; NULL: by
 * the ring. */
const uint8_t *xp_intake_who(const struct xp_intake *x);

/* Of the switches, shape count[n_switches]; copies that came and found no room.
 */
void xp_intake_count(const struct xp_intake *x,
    struct netns_mirror_count count[]);
uint64_t xp_intake_lost(struct xp_intake *x);

#endif
