/* experiments/live/windows_parts.h -- what the files of windows share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_WINDOWS_PARTS_H
#define EXPERIMENTS_LIVE_WINDOWS_PARTS_H

#include "experiments/live/store_follow.h"
#include "experiments/live/windows.h"
#include "experiments/pingmesh/dsa/replay.h"

enum xp_windows_job {
	XP_WINDOWS_5MIN,
	XP_WINDOWS_10MIN,
	XP_WINDOWS_1HOUR,
	XP_WINDOWS_1DAY,
	XP_WINDOWS_N_JOBS
};
extern const char *const xp_windows_jobs[];
extern const sim_ns xp_windows_length[];

/* What is known of the probes from pod to pod beside their connect times. */
struct xp_windows_pair {
	uint64_t n_failed, n_success_tors, n_drop_tors;
};

struct xp_windows {
	struct xp_windows_params params;
	struct res_recording_info info;
	struct res_sql *db;
	struct xp_follow follow;
	struct xp_dsa_replay replay; /* the jobs, and rows of a window */
	struct xp_dsa_pool pool, pairs;
	sim_ns next[XP_WINDOWS_N_JOBS]; /* begins; SIM_NEVER: nothing came */
	struct xp_dsa_tables of_pairs;  /* what is pooled of pairs */
	struct xp_follow_gets gets;     /* of counters of 5 minutes */
	struct xp_windows_pair *pair;   /* [n_pairs], of all data centres */
	size_t n_pairs, first_pair[RES_RECORDING_MAX_DCS + 1];
};

static inline struct xp_windows_pair *
xp_windows_pair_at(const struct xp_windows *w, uint32_t dc, uint32_t src,
    uint32_t dst)
{
	return &w->pair[w->first_pair[dc] +
	    (size_t)src * w->info.dc[dc].clos.n_pods + dst];
}

/* A window on its way into the database. */
struct xp_live_window {
	enum xp_windows_job job;
	sim_ns from, to, due, now;
	int64_t id;
	const char *state;
	uint64_t n_records, n_late;
	int64_t first_file;
	int is_anew, has_black_holes;
};

/* Find what is in a window and leave it in W->replay.tables, pool and pairs: of
 * probes or counters; of shorter windows. N and its state are filled in. */
int xp_windows_measure(struct xp_windows *w, struct xp_live_window *n,
    struct sim_err *e);
int xp_windows_merge(struct xp_windows *w, struct xp_live_window *n,
    struct sim_err *e);

/* Which windows a longer one is made of. */
#define XP_WINDOWS_PARTS                                                       \
	" window IN (SELECT id FROM window WHERE job = ?1 AND from_ns >= ?2 "  \
	"AND to_ns <= ?3)"
#define XP_WINDOWS_PART_VALUES(n)                                              \
	RES_SQL_TEXT(xp_windows_jobs[(n)->job - 1]), RES_SQL_I64((n)->from),   \
	    RES_SQL_I64((n)->to)

/* A window that is being written. */
struct xp_windows_put {
	struct xp_windows *w;
	const struct xp_live_window *n;
	const struct xp_dsa_tables *t;
	uint64_t n_alerts[RES_RECORDING_MAX_DCS];
	double p99_us[RES_RECORDING_MAX_DCS];
	struct sim_err *e;
};

/* What the tables that levels come from have in common. */
struct xp_windows_level {
	uint32_t dc, id;
	uint8_t kind;
	uint64_t n_success, n_drop;
	double drop_rate, p50_us, p99_us, p999_us;
	const char *verdict;
	int alert_drop, alert_p99;
};

int xp_windows_put_alert(struct xp_windows_put *p, uint32_t dc,
    const char *kind, const char *scope, uint32_t id, const char *name,
    double value, double bound, const char *says);
int xp_windows_put_level(struct xp_windows_put *p,
    const struct xp_windows_level *l);

/* In windows_times.c: counts of connect times of servers and of GETs, of a window's
 * probes; of a longer window they are added up, with servers' levels and rows of table
 * `http` that follow. */
int xp_windows_put_times(struct xp_windows_put *p);

/* In windows_http.c: rows of `http` of a shorter window, and alerts by all that the
 * window has by then. */
int xp_windows_put_http(struct xp_windows_put *p);

/* Write it, in place of what it had if it is made anew. In a transaction. */
int xp_windows_put(struct xp_windows *w, const struct xp_live_window *n,
    struct sim_err *e);

#endif
