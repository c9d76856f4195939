/* experiments/pingmesh/collector.h -- uploads in, tables of probes out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	uploads --> once each --> records --> rows by window and data centre
 *
 * An agent uploads a batch again when it got no answer, so a batch may arrive
 * twice, or after one that was sent later. The collector remembers which ones
 * it took (dsa/batch_set.h) and takes each once. What records must be like to
 * become rows is said in dsa/rows.h.
 *
 * A row belongs to the window in which its probe was sent. Rows of windows that
 * were dropped, or that are beyond the last, are counted and left out.
 *
 * Rows are held packed (held.h). Tables are those of models/obs_probes.h, each
 * of what one data centre's hosts sent. Probes to VIPs are in a table of their own, from hosts to addresses,
 * with level OBS_LEVEL_INTER_DC.
 */
#ifndef EXPERIMENTS_PINGMESH_COLLECTOR_H
#define EXPERIMENTS_PINGMESH_COLLECTOR_H

#include "experiments/pingmesh/held.h"
#include "experiments/pingmesh/pingmesh.h"
#include "models/obs_perf.h"
#include "topo/region.h"

/* What came since the collector was opened or cleared. */
#define XP_COLLECT_COUNTS(X)                                                   \
	X(n_batches, "batches taken")                                          \
	X(n_repeated, "batches refused: they came before, or are none")        \
	X(n_records, "records of them")                                        \
	X(n_rows, "rows made")                                                 \
	X(n_vip_rows, "rows made of probes to VIPs")                           \
	X(n_late, "records whose window was dropped, or is after the last")    \
	X(n_failed, "records of probes that their host did not send")          \
	X(n_foreign, "records of or to no host that there is")                 \
	X(n_odd, "records whose time does not go with their outcome")          \
	X(n_lost, "records that agents say they lost")

struct xp_collect_counts {
#define X(name, doc) uint64_t name;
	XP_COLLECT_COUNTS(X)
#undef X
};

struct xp_collector;

/* C keeps T and P. N_KEPT is how many windows are kept at a time: records may
 * come of as many windows from the oldest one on that was not dropped.
 * Errors SIM_ENOMEM. */
int xp_collector_open(struct xp_collector **c, const struct topo *t,
    const struct xp_pingmesh *p, uint32_t n_kept, struct sim_err *e);
void xp_collector_close(struct xp_collector *c);

/* Forget everything. Cost O(hosts + tables). */
void xp_collector_clear(struct xp_collector *c);

/* Take N bytes that were uploaded. Bytes that are no batch are not taken, and
 * count as one that came before. Errors SIM_ENOMEM. Cost O(records). */
int xp_collector_take(struct xp_collector *c, const void *data, size_t n,
    struct sim_err *e);

/* Take what AGENT_COUNTERS brought. Errors SIM_ENOMEM. */
int xp_collector_count(struct xp_collector *c,
    const struct algo_pingmesh_window *w, struct sim_err *e);

/* Drop the windows before FIRST: their rows are gone, and rows of them that
 * come later are not taken. */
void xp_collector_drop(struct xp_collector *c, uint32_t first);

/* The rows so far of the N windows from FIRST on, of data centre DC, or of
 * XP_COLLECT_VIPS. They are unpacked into memory of C's, which is good until the
 * next call of this, or until others are read. Domain: kept windows.
 * Errors SIM_ENOMEM. Cost O(rows), unless the same were asked for last. */
enum { XP_COLLECT_VIPS = TOPO_REGION_MAX_DCS };
int xp_collector_table(struct xp_collector *c, uint32_t dc, uint32_t first,
    uint32_t n, const struct obs_probes **out, struct sim_err *e);

/* The same in pieces of at most XP_COLLECT_PIECE rows, until the next call of this
 * or of xp_collector_table(), or until rows come. */
enum { XP_COLLECT_PIECE = 1 << 13 };
struct obs_probe_source xp_collector_pieces(struct xp_collector *c, uint32_t dc,
    uint32_t first, uint32_t n);

/* The GETs so far of HTTP pings of a window, of all data centres; good until rows
 * come. Domain: a kept window. */
const struct obs_http *xp_collector_http(const struct xp_collector *c,
    uint32_t window);

/* The counters so far of windows that ended by TO, by their end and then by
 * host; in memory of C's, which is good until the next call, and not given
 * again. Errors SIM_ENOMEM. Cost O(n log n) of those that were not given yet. */
int xp_collector_perf(struct xp_collector *c, sim_ns to,
    const struct obs_perf **out, struct sim_err *e);

/* Along quantile, the times so far of the group that P asks for, in
 * microseconds. The caller may sort them. */
double *xp_collector_times(struct xp_collector *c, size_t *n);

struct xp_collect_counts xp_collector_counts(const struct xp_collector *c);

#endif
