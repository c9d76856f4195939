/* experiments/sweep/memory.h -- what memory a sweep takes at least, and what there is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	parent  12 MiB, and of each cell a status and a place in the list
 *	worker  a number of each link for algorithms that read flows, and what
 *	        the plane holds of a window (xp_plane.bytes)
 *
 * These are lower bounds: what is more than the machine has can't be done, and
 * what is less may still be too much.
 */
#ifndef EXPERIMENTS_SWEEP_MEMORY_H
#define EXPERIMENTS_SWEEP_MEMORY_H

#include "experiments/spec/spec.h"
#include "sim/err.h"

/* In bytes. Zeroed is nothing. */
struct xp_memory {
	double parent, worker; /* of each; all of this are taken at a time */
	unsigned n_workers;
};

/* Of all points of S, the largest one's. Of as many workers as have a cell of the
 * shard. */
void xp_memory_of(struct xp_memory *m, const struct xp_spec *s,
    unsigned n_workers, unsigned shard_n);
double xp_memory_all(const struct xp_memory *m);

/* In bytes; INFINITY where nothing limits. */
struct xp_room {
	double process; /* that a process may map: RLIMIT_AS, RLIMIT_DATA */
	double all;     /* the machine's, or that of the narrowest cgroup */
	double now;     /* what nobody uses now of ALL */
	double swap;    /* the machine's, which is part of ALL */
};

/* What this process has. ROOT is "", or a folder in which files of the kernel are
 * looked for: proc/meminfo, proc/self/cgroup, and of its cgroups of either version
 * sys/fs/cgroup/.../memory.max and the like. What can't be read is no limit. */
void xp_room_read(struct xp_room *r, const char *root);

/* Does M fit into R? Returns 0; 1 if it does not for now, since others have some of
 * it, which is told in E; SIM_ELIMIT if it can't, told likewise with the number of
 * workers that may. */
int xp_memory_fits(const struct xp_memory *m, const struct xp_room *r,
    struct sim_err *e);

/* 3.1 GiB, 12 MiB: into BUF, which is returned. */
const char *xp_memory_text(char buf[32], double bytes);

#endif
