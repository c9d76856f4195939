/* experiments/pingmesh/bulk/sums.h -- a window's probes, as counts of scopes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	rows of late connects --> counts by server, pair of pods, pair of ToRs
 *	(models/connects)          --> what jobs find in them
 *
 * All connects of a scope are due at times that are known, so their number is.
 * Each row takes one off, or many, and says what became of it; what is left
 * connected within one round trip. Of these the times of ranks are drawn
 * (models/connects/order.h), which lie below those of all rows but for connects
 * that a link delayed: these are taken in among them.
 *
 * Counts of all scopes are of the same rows. Times are not: they are right for
 * each scope by itself, and P99 of a pod and of the service in it are drawn
 * apart. No job compares them. DEPARTS: of the agents (see connects.h); and a
 * server's counters of 5 minutes count a connect of one round trip where it was
 * sent.
 */
#ifndef EXPERIMENTS_PINGMESH_BULK_SUMS_H
#define EXPERIMENTS_PINGMESH_BULK_SUMS_H

#include "experiments/pingmesh/pingmesh.h"
#include "models/connects/connects.h"
#include "models/connects/order.h"
#include "topo/dc.h"

struct xp_mesh_sums_cell {
	uint64_t quick[CONNECTS_N_HOPS]; /* connected in one round trip */
	uint64_t n_late; /* connected all the same; also those that a link
			    delayed, however long they took */
	uint64_t n_drop, n_unclear; /* of these */
	uint64_t n_failed;
};

/* A connect that was late, in 12 bytes, as a day has many millions: no ladder is
 * of 1,099 s, nor a network of 2^24 servers (topo/addr.h). */
struct xp_mesh_sums_late {
	uint32_t rtt_low; /* ns */
	uint32_t src : 24, rtt_high : 8;
	uint32_t dst;
};

static inline uint64_t xp_mesh_sums_rtt_ns(const struct xp_mesh_sums_late *l)
{
	return (uint64_t)l->rtt_high << 32 | l->rtt_low;
}

/* What a server counted in 5 minutes, but for what was quick. */
struct xp_mesh_sums_counter {
	uint32_t n_untold, n_failed, n_drop_1, n_drop_2;
	uint32_t n_rows[CONNECTS_N_HOPS]; /* untold, failed or late */
};

/* One of its connects that a link delayed and no more, which ended in PERIOD. */
struct xp_mesh_sums_delayed {
	uint32_t src, period;
	double us;
};

/* So many rows wait for the memory that they are counted in. */
enum { XP_MESH_SUMS_WAITING = 16 };

struct xp_mesh_sums {
	struct topo_clos clos;
	struct algo_drop_ladder ladder;
	struct connects_params connects;

	/* Due in a window: by server under a ToR, by pair of pods, of ToRs. */
	uint32_t (*due_server)[CONNECTS_N_HOPS]; /* [ToRs] */
	struct xp_mesh_sums_cell *due_pods;      /* [pods * pods] */
	sim_ns window_ns, counter_ns;            /* 0: no counters */
	const struct connects *uneven; /* tells what is due; NULL: it is as
					  above in each window */

	/* Since the last clear. */
	uint32_t n_windows;
	struct xp_mesh_sums_cell *server; /* [hosts] who sent */
	struct xp_mesh_sums_cell *pods;   /* [pods * pods] */
	struct xp_mesh_sums_cell
	    *intra_tor; /* [pods] what of these is under a ToR */
	struct xp_mesh_sums_cell *tors; /* [ToRs * ToRs], or NULL */
	uint8_t *is_peer; /* [ToRs * ToRs] ToRs that probe each other */
	struct xp_mesh_sums_cell group[CONNECTS_N_HOPS];
	struct xp_mesh_sums_late *late;
	size_t n_late, cap_late;
	size_t n_slow; /* of these that are not late, but delayed */
	struct connects_row waiting[XP_MESH_SUMS_WAITING]; /* a ring */
	size_t n_taken, n_counted;                         /* rows */

	/* Of the last window. */
	uint32_t n_counters;                  /* periods */
	struct xp_mesh_sums_counter *counter; /* [periods * hosts] */
	struct xp_mesh_sums_delayed *delayed; /* if there are counters; by
						 period, server, time */
	double *delayed_us;                   /* theirs; NULL: there are none */
	size_t n_delayed, cap_delayed;
	sim_ns from_ns;

	struct connects_order order;
};

/* Of one data centre, whose connects are those of P. With TORS pairs of ToRs are
 * counted, with counter_ns > 0 servers' counters. S must be closed also when
 * this fails. Domain: with counters a window is a whole number of counter_ns, and
 * that of intervals of each level. C, which is kept, tells what is due in windows
 * that are of no whole intervals, at a cost of O(pairs) each. Errors SIM_ENOMEM.
 * Cost O(ToRs * peers), memory 56 bytes a server, and a pair of pods or ToRs. */
int xp_mesh_sums_open(struct xp_mesh_sums *s, const struct topo_clos *clos,
    const struct connects *c, const struct connects_params *p,
    const struct algo_drop_ladder *ladder, sim_ns window_ns, sim_ns counter_ns,
    int tors, struct sim_err *e);
void xp_mesh_sums_close(struct xp_mesh_sums *s);

/* Forget all windows. Then, of each window, begin it, take its rows and end it:
 * before its end some rows are not counted yet. */
void xp_mesh_sums_clear(struct xp_mesh_sums *s);
void xp_mesh_sums_begin(struct xp_mesh_sums *s, sim_ns from);
int xp_mesh_sums_take(struct xp_mesh_sums *s, const struct connects_row *r,
    struct sim_err *e);
int xp_mesh_sums_end(struct xp_mesh_sums *s, struct sim_err *e);

static inline uint64_t xp_mesh_sums_n_quick(const struct xp_mesh_sums_cell *c)
{
	return c->quick[0] + c->quick[1] + c->quick[2];
}

static inline uint64_t xp_mesh_sums_n_success(const struct xp_mesh_sums_cell *c)
{
	return xp_mesh_sums_n_quick(c) + c->n_late;
}

void xp_mesh_sums_add(struct xp_mesh_sums_cell *to,
    const struct xp_mesh_sums_cell *c);

/* 1 if the times of RANK and below ask for those of late connects. */
static inline int xp_mesh_sums_asks_late(const struct xp_mesh_sums *s,
    const struct xp_mesh_sums_cell *c, uint64_t rank)
{
	return s->n_slow > 0 || rank > xp_mesh_sums_n_quick(c);
}

/* The times of RANKS, ascending and from 1 to the successes of C, in us. LATE
 * are those of C's late connects, ascending; NULL while no rank asks for them.
 * Errors none. */
void xp_mesh_sums_times(const struct xp_mesh_sums *s,
    const struct xp_mesh_sums_cell *c, const double late_us[],
    const uint64_t rank[], unsigned n_ranks, struct sim_rng *r, double us[]);

#endif
