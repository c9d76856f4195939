/* experiments/live/store_follow.h -- a collector's files, followed while they grow.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	batches-20260203-0001.cpmb  [chunk][chunk][chunk][ch|  <- read so far
 *	                             10:00  10:07  10:12  10:15
 *
 * How far files were read, and in which piece of them records of which time
 * stand, is in the database (`store`, `chunk`, `agent` of results/sql/schema.sql).
 * So no record is held in memory until its window is due: then its pieces are read
 * again, a few for a window, as batches come about in the order of their time.
 * Whoever was killed goes on from the database. A batch that is in the files
 * twice counts once in a window.
 *
 * Files that are taken away, by the collector or by hand, are forgotten; one that
 * has become shorter than it was is read anew.
 */
#ifndef EXPERIMENTS_LIVE_STORE_FOLLOW_H
#define EXPERIMENTS_LIVE_STORE_FOLLOW_H

#include "algos/pingmesh/wire.h"
#include "models/obs_http.h"
#include "models/obs_perf.h"
#include "models/obs_probes.h"
#include "results/sql/sql.h"
#include "topo/dc.h"

struct xp_follow_agent;

/* Zeroed is empty. */
struct xp_follow {
	struct res_sql *db;
	const char *dir;
	const struct topo_dc *dc; /* [n_dcs], borrowed */
	uint32_t n_dcs;
	struct topo_ip_net net6; /* of servers; zeroed: they have IPv4 */

	/* Windows before these are made, and what comes of them is late: those
	 * of counters and of probes. After LATE_NS they are not made again. */
	sim_ns made[2], length[2], late_ns;
	const char *job[2]; /* what `window` calls them */

	/* Workings. */
	int dir_fd;
	uint32_t n_hosts;
	struct xp_follow_agent *agent; /* [n_hosts] */
	unsigned char *bytes;          /* [ALGO_PINGMESH_WIRE_MAX] */
	struct algo_pingmesh_batch *batch;
	struct follow_late {
		sim_ns from;
		uint64_t n;
	} * late[2];
	size_t n_late[2], cap_late[2];
};

/* Members above the workings are set. Errors SIM_EIO (no such folder),
 * SIM_ENOMEM, those of DB. */
int xp_follow_open(struct xp_follow *f, struct sim_err *e);
void xp_follow_close(struct xp_follow *f);

/* Read what was added to the files, in transactions, and note it; *N_NEW batches.
 * It is NOW. After an error F is to be closed, and what was committed stays.
 * Errors SIM_EIO, SIM_ENOMEM, those of DB. Cost O(bytes that are new). */
int xp_follow_read(struct xp_follow *f, sim_ns now, uint64_t *n_new,
    struct sim_err *e);

/* What servers counted of GETs in 5 minutes, of those that say it. */
struct xp_follow_gets {
	size_t n, cap;
	struct xp_follow_get {
		uint32_t host;
		uint64_t n_of[AGENT_N_ANSWERS]; /* by enum agent_answer */
		sim_ns p50_ns, p99_ns;
	} * row;
};

/* What is read of a window: rows of the hosts of all data centres, added. */
struct xp_follow_rows {
	struct obs_probes *probes;   /* sent in [from, to); NULL: none */
	struct obs_perf *counters;   /* of windows ended in (from, to]; NULL */
	struct obs_http *http;       /* GETs of these probes; NULL: none */
	struct xp_follow_gets *gets; /* of the windows of `counters` */
	uint64_t most;               /* rows */
	int64_t first_file;          /* that something came of; -1: none */
};

/* Errors SIM_ELIMIT (more than MOST rows), SIM_EIO, SIM_ENOMEM, those of DB. Cost
 * O(bytes of the chunks that touch the window). */
int xp_follow_window(struct xp_follow *f, sim_ns from, sim_ns to,
    struct xp_follow_rows *rows, struct sim_err *e);

#endif
