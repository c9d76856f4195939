/* experiments/telemetry/flock.h -- flows and networks as Flock's text traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A network is a list of edges, a line each: `A B` a cable between switches,
 * `H->T` host H under its ToR. Switches are below 10000, hosts are not; a file
 * all of whose hosts are below is of an older kind and gets 10000 added.
 *
 * A trace is text in this order:
 *
 *	Failing_link U V X   truth: U->V drops X of its packets; U = V: the
 *	                     switch failed, X is the share of its links
 *	Failing_device_link U V X   truth, of ns-3: U->V failed with its switch
 *	FP N0 .. NK          one of the equal paths from ToR N0 to ToR NK
 *	FID SRC DST HOP1 HOPN BYTES START_MS   a flow; SRC or DST a switch: probes
 *	FPT HOP1 .. HOPN     the path it took
 *	FPRT ..              the way back, which is not used
 *	SS T_MS SENT LOST RANDOM    packets up to then, once or more
 *
 * What is read and written again is the same but for this: BYTES is 1500 a
 * packet, START_MS, T_MS and RANDOM are 0, one snapshot a flow is left, paths of
 * the same ends follow each other, faults are in order of link, those of
 * switches last and without Failing_device_link (Flock's own reader stops there),
 * FPRT is left out. What was written once is written alike for ever.
 *
 * Black holes are in a file of their own, a line each:
 *
 *	Failing_component SRC DST DEVICE PROB   DEVICE drops PROB of the packets
 *	                     from host SRC to host DST
 *
 * Packed by gzip or not. A trace that is cut between two flows can't be told from
 * a whole one.
 * Source  github.com/netarch/FaultLocalization, its format; none of its code.
 */
#ifndef EXPERIMENTS_TELEMETRY_FLOCK_H
#define EXPERIMENTS_TELEMETRY_FLOCK_H

#include "models/obs.h"
#include "models/obs_tallies.h"
#include "models/truth.h"
#include "sim/err.h"
#include "topo/topo.h"

enum {
	XP_FLOCK_FIRST_HOST = 10000,
	XP_FLOCK_HOSTS = 1 << 24,
	XP_FLOCK_BYTES = 1500 /* of a packet */
};

/* The number that files give a node: its name if all nodes are named by fitting
 * numbers, else its own, hosts from 10000 on. */
struct xp_flock_ids {
	uint32_t *id;   /* [nodes] */
	uint32_t *node; /* [n_ids] node + 1 of an id; 0: none */
	size_t cap_id, cap_node, n_ids;
};
/* Errors SIM_ENOMEM, SIM_ELIMIT (10000 switches or more). */
int xp_flock_ids_init(struct xp_flock_ids *x, const struct topo *t,
    struct sim_err *e);
void xp_flock_ids_free(struct xp_flock_ids *x);

/* Hosts are numbered in the order of the file, switches in that of their ids,
 * and tiers are distances from hosts if none is above 2. Errors SIM_EIO,
 * SIM_EPARSE, and those of topo_mesh_open(), each naming the file. */
int xp_flock_topo_read(struct topo *t, const char *path, struct sim_err *e);

/* Errors SIM_EIO, SIM_ELIMIT, SIM_ENOMEM. */
int xp_flock_topo_write(const struct topo *t, const char *path,
    struct sim_err *e);

struct xp_flock_asks {
	unsigned telemetry; /* of enum obs_telemetry: which rows, which paths */
	double until_ms;    /* the last snapshot before this counts; INFINITY */
	/* Not NaN: each flow is one packet, lost if RANDOM is above this. */
	double late_us;
	const char *fails; /* black holes: their file, or NULL */
};

/* A failed switch: the share of its links. */
struct xp_flock_device {
	topo_switch at;
	double share;
};

/* A black hole's packets: those from one host to another at a switch. */
struct xp_flock_hole {
	topo_host src, dst;
	topo_switch at;
	double rate;
};

/* Zeroed is empty. Names a trace gives no loss a place, so the truth is of links
 * and switches alone. A failed switch whose links are not told has all of them as
 * parts, at rate SHARE, as Flock counts them. */
struct xp_flock {
	struct topo topo;
	struct obs_paths paths;
	struct obs_tallies rows;
	struct obs window; /* a flow for each that lost something */
	struct truth truth;
	size_t n_devices, cap_devices, n_holes, cap_holes;
	struct xp_flock_device *device;
	struct xp_flock_hole *hole;
	uint64_t n_lines, n_probes;
	uint64_t n_early; /* flows without a snapshot before until_ms */
	uint64_t n_idle;  /* flows that sent nothing by then */
};

/* Errors SIM_EIO, SIM_EPARSE naming file, line and value, SIM_ENOMEM; X is empty
 * then. Memory: what is kept of flows and paths. */
int xp_flock_read(struct xp_flock *x, const char *edges, const char *trace,
    const struct xp_flock_asks *asks, struct sim_err *e);
void xp_flock_free(struct xp_flock *x);

/* Write what X has, but for black holes. Each row must have its path:
 * SIM_EUNSUPPORTED else. */
int xp_flock_write(const struct xp_flock *x, const char *trace,
    struct sim_err *e);

/* Write X's black holes: those that were read, as they were, and those of its truth
 * as the pairs of hosts that each takes and whose way may be by its switch. Errors
 * SIM_EUNSUPPORTED (there is none, or one goes by ports), SIM_EIO, SIM_ENOMEM. Cost
 * of each of the truth O(hosts^2 + paths). */
int xp_flock_write_fails(const struct xp_flock *x, const char *path,
    struct sim_err *e);

#endif
