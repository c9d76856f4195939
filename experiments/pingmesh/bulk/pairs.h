/* experiments/pingmesh/bulk/pairs.h -- a mesh's probes, summed up by pair.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	rows of late connects --> models/obs_pairs.h --> the black-hole job
 *
 * What that job asks of a pair is known from its rows alone: all others were
 * answered at once, and the order of all is that of two phases and an interval.
 * So its verdict is the one on a table of every probe (every.h), without one.
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_PAIRS_H
#define EXPERIMENTS_PINGMESH_BULK_PAIRS_H

#include "experiments/pingmesh/bulk/pair_rows.h"
#include "models/connects/connects.h"
#include "models/obs_pairs.h"

/* Zeroed is empty. */
struct xp_mesh_pairs {
	struct topo_clos clos;
	struct connects_mesh mesh;
	struct connects_ports ports;
	const struct connects *c;
	sim_ns window_ns, first_wait_ns;
	uint8_t uneven; /* pairs have one probe more or less a window */

	uint32_t next; /* the number of the window to come */
	uint64_t first_slot[CONNECTS_N_LEVELS]; /* of the last: intervals from
						   time 0 on, before it */
	struct xp_pair_rows rows;
	uint8_t *gone;             /* [hosts] off all the while */
	uint64_t *failed, *untold; /* [hosts] of rows with those, not kept */

	/* What was told last, of so many windows. */
	uint32_t n_told;
	uint32_t n_due[CONNECTS_N_LEVELS]; /* the fewest of a pair in these */
	uint8_t any_failed;
	uint64_t *of_host_answered, *of_host_failed; /* [hosts] */
	uint32_t *number[2]; /* of connects that failed; untold */
	size_t n_numbers[2], cap_numbers[2];
	struct obs_pairs pairs;
};

/* Of connects C, which are those of PARAMS and are kept, by windows, of which
 * N_KEPT are held. Senders wait FIRST_WAIT_NS for the first SYN-ACK, 0: nobody
 * tells. P must be closed also when this fails. Errors those of
 * xp_pair_rows_open(). */
int xp_mesh_pairs_open(struct xp_mesh_pairs *p, const struct topo_clos *clos,
    const struct connects *c, const struct connects_params *params,
    sim_ns window_ns, sim_ns first_wait_ns, uint32_t n_kept, struct sim_err *e);
void xp_mesh_pairs_close(struct xp_mesh_pairs *p);

/* Forget all windows. Then, of each window in turn, begin it and take its rows;
 * TRUTH is that of its scene, as far as it is known. Restart: forget all, and
 * begin with that window. Errors SIM_ENOMEM.
 * Memory 8 bytes a row, but none for rows of servers that are off in all of a
 * window and as long after it as a connect takes, where one window is kept. */
void xp_mesh_pairs_clear(struct xp_mesh_pairs *p);
int xp_mesh_pairs_restart(struct xp_mesh_pairs *p, uint32_t window,
    const struct truth *truth, sim_ns give_up_ns, struct sim_err *e);
int xp_mesh_pairs_begin(struct xp_mesh_pairs *p, const struct truth *truth,
    sim_ns give_up_ns, struct sim_err *e);
int xp_mesh_pairs_take(struct xp_mesh_pairs *p, const struct connects_row *r,
    struct sim_err *e);

/* Sum up the last N windows, of which at most those kept count. *OUT is P's, and
 * until the next call; pairs are summed when it is asked for them. Errors
 * SIM_ENOMEM.
 * Cost O(rows + hosts), and as much for each list; where windows are not of whole
 * intervals O(pairs). */
int xp_mesh_pairs_tell(struct xp_mesh_pairs *p, uint32_t n,
    const struct obs_pairs **out, struct sim_err *e);

#endif
