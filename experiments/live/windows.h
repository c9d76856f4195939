/* experiments/live/windows.h -- Pingmesh's jobs, window after window, for ever.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	collector's files --> 5min  counters                    --.
 *	                  --> 10min drop_rate sla heat map         > database
 *	                        '--> 1hour, 1day  merged of counts --'
 *	                  --> 1hour black holes
 *
 * Windows begin at whole multiples of their length since 1970 (UTC). Each is made
 * once, in one transaction, when it is due:
 *
 *	5min          its end, and a fifth of the grace
 *	10min         its end, and the grace
 *	1hour, 1day   its end, and the time for late records; and a record from
 *		      behind its end has come, or a day has gone by
 *
 * The paper has 20 minutes from a probe to its alert; so the grace is 10 minutes.
 * Records that come after a window of 5 or 10 minutes was made wait: when the time
 * for late records is over it is made once more, and is `redone`. What comes
 * later still is set aside, and counted. Longer windows are made only then, so
 * never again. A window is not replaced by one of fewer records, as when a file
 * that it was made of is gone.
 *
 * After a stop all windows that are due are made in order. Those in which nothing
 * came are there, and `empty`, up to a day after the last record: beyond that a
 * collector has ended, or a clock is wrong, and nothing is made until more comes.
 *
 * Longer windows add up counts: those of drop rates as they are, those of connect
 * times in the buckets of experiments/pingmesh/dsa/pool.h. So they are what
 * `culprit jobs` pools of a recording of the same time. Black holes take the
 * probes themselves, of an hour; of a day there are those of its hours.
 *
 * Paper  Pingmesh (SIGCOMM'15), section 3.5: jobs of 10 minutes, 1 hour and 1
 *        day, whose results go into a database; counters of 5 minutes. DEPARTS:
 *        black holes are looked for each hour and not each day, which would take
 *        a day's probes in memory.
 */
#ifndef EXPERIMENTS_LIVE_WINDOWS_H
#define EXPERIMENTS_LIVE_WINDOWS_H

#include "results/recording.h"
#include "results/sql/sql.h"

struct xp_windows;

struct xp_windows_params {
	const char *dir, *db;
	/* Data centres, waits, service and spec count; kept. */
	struct res_recording_info info;
	const char *timers;       /* what the waits are called */
	sim_ns grace_ns, late_ns; /* grace_ns <= late_ns */
	uint64_t max_probes;      /* of a window, in memory */
	struct res_sql_keep keep;

	/* Above which a scope alerts by its GETs: the share without a status
	 * 200, and P99. Scopes with fewer than min_probes are not judged. */
	double max_http_failed, max_http_p99_us;
};
/* Ours, as the paper tells none: ten times what it has of connects. */
#define XP_WINDOWS_HTTP_FAILED 0.01
#define XP_WINDOWS_HTTP_P99_US 50000

/* What a step did. */
struct xp_windows_done {
	uint64_t n_batches, n_windows, n_redone, n_too_large, n_empty;
	int64_t n_bytes_damaged; /* of files, since the database was begun */
};

/* Open the database and the folder. P is borrowed. Errors SIM_EMISMATCH (the
 * database is of another network or timers, or of services that are not the first
 * of these), those of res_sql_open(), of reading SPEC and services, SIM_EIO,
 * SIM_ENOMEM. */
int xp_windows_open(struct xp_windows **w, const struct xp_windows_params *p,
    struct sim_err *e);
void xp_windows_close(struct xp_windows *w);

/* It is NOW, since 1970: read what came, and make what is due. TELL, unless NULL,
 * is asked after each window whether to go on (0: no). Errors those of the
 * database, which has what was made before, of reading, of jobs; SIM_ENOMEM. */
int xp_windows_step(struct xp_windows *w, sim_ns now,
    struct xp_windows_done *done, int (*tell)(void *arg), void *arg,
    struct sim_err *e);

/* When the next window is due; SIM_NEVER: nobody knows yet. */
sim_ns xp_windows_due(const struct xp_windows *w);

/* How far a job is ahead of NOW, if that is more than a day, which right clocks never
 * make it: one is behind now, or was ahead when windows were made; else 0. */
sim_ns xp_windows_ahead(const struct xp_windows *w, sim_ns now);

#endif
