/* experiments/bulk/bulk.h -- an epoch of flows in bulk, as planes share it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_BULK_BULK_H
#define EXPERIMENTS_BULK_BULK_H

#include "experiments/spec/plane.h"

/* What runs the epoch: AUTO is SKIP where it fits the scene and nobody needs
 * the flows that lost nothing, else EXACT. */
enum xp_bulk_by { XP_BULK_AUTO, XP_BULK_EXACT, XP_BULK_SKIP };

/* AUTO, or EXACT where C's spec gains by it: for who leaves the choice to us. */
enum xp_bulk_by xp_bulk_chosen(const struct xp_config *c);

/* As weigh() of planes that do. */
int xp_bulk_weigh(const struct topo *t, struct xp_config *c, struct sim_err *e);

/* As bytes() of planes that do: the window with every flow, if that is asked
 * for. */
double xp_bulk_bytes(const struct topo *t, const struct xp_config *c);

/* As end() of planes of an epoch. */
struct xp_end xp_bulk_end(const struct xp_config *c);

struct xp_bulk;

/* With ALL windows hold every flow, not only those that lost something. Memory
 * is kept for the largest epoch so far. Errors SIM_ENOMEM. */
int xp_bulk_open(struct xp_bulk **b, enum xp_bulk_by by, int all,
    struct sim_err *e);
void xp_bulk_close(struct xp_bulk *b); /* NULL is fine */

/* Run an epoch of SCENE and fill the metrics of RES_FLOW_METRICS. *W and *LOST
 * are B's until the next one: flows that lost something, or with ALL every
 * flow. Errors those of the models. */
int xp_bulk_epoch(struct xp_bulk *b, const struct scene *scene,
    const struct obs **w, const struct losses **lost,
    struct res_trial_metrics *m, struct sim_err *e);

/* What a plane's flows() is to do: all flows if the exact plane ran the last
 * epoch, which SCENE was; else those that lost something. Errors those of the
 * models and of TO. Memory of a block of flows. */
int xp_bulk_flows(struct xp_bulk *b, const struct scene *scene,
    const struct xp_flow_listener *to, int *all, struct sim_err *e);

/* The plane that ran the last epoch: exact or skip. */
const struct xp_plane *xp_bulk_ran(const struct xp_bulk *b);

/* Print one line for people: what came of an epoch that plane PLANE ran. */
void xp_bulk_print(const char *plane, const struct res_trial_metrics *m,
    FILE *out);

/* Tell the listener, if any, of the only window of a run. Returns what it
 * does. */
int xp_bulk_tell(const struct xp_listener *to, const struct obs *w,
    const struct losses *lost, struct sim_err *e);

/* A plane that is asked for by name must be able to run every scene of its
 * spec. Draw one of C's scenes on T, and add to Y why FITS refuses it, if it
 * does. Returns only SIM_ENOMEM. */
int xp_bulk_check_fits(struct sim_yaml *y, const struct topo *t,
    const struct xp_config *c,
    int (*fits)(const struct scene *s, struct sim_err *e), struct sim_err *e);

#endif
