/* algos/vigil/switch_view.h -- a window as if its paths were lists of switches.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Links fail, but so do whole switches. What counts votes on the hops of a path
 * counts them on switches when it is given this view of a window: the same
 * flows, each hop being a switch that the flow crosses.
 *
 *	path   host3->tor1   tor1->t1.0   (not known)   t1.2->tor4
 *	view   tor1 t1.0 t1.2 tor4
 *
 * The switches of a path are the ends of its known links, in order and each
 * once where two links meet; hosts are left out.
 *
 * Paper  007 (NSDI'18): votes on switches where devices fail.
 */
#ifndef ALGOS_VIGIL_SWITCH_VIEW_H
#define ALGOS_VIGIL_SWITCH_VIEW_H

#include "algos/verdict.h"
#include "models/obs.h"
#include "topo/topo.h"

/* The entry for a member M of type uint32_t (enum algo_kind) in a struct type
 * S: what votes are on. */
#define ALGO_ON_FIELD(s, m)                                                    \
	{                                                                      \
		.name = "on", .type = SIM_F_ENUM, .offset = offsetof(s, m),    \
		.names = algo_kind_names, .unit = "1", .def = "link",          \
		.doc = "what has votes: links or the switches crossed"         \
	}

/* Zeroed is empty. */
struct algo_switch_view {
	struct obs w; /* flows borrowed, hops owned: read only */
};
void algo_switch_view_free(struct algo_switch_view *v);

/* Make V->w the view of W, which is borrowed as long as it is read. A flow
 * without a retransmission has no hops there.
 * Errors SIM_EINVAL (a link that does not exist, a path that is too long or not
 * within the table, more than TOPO_MAX_HOPS switches on it), SIM_ENOMEM.
 * Cost O(flows + hops of failed flows). */
int algo_switch_view_make(struct algo_switch_view *v, const struct topo *t,
    const struct obs *w, struct sim_err *e);

/* For votes on switches: OUT is about switches, and *W becomes its view. Errors
 * those of algo_switch_view_make(). */
int algo_switch_view_on(struct algo_switch_view *v, enum algo_kind on,
    const struct topo *t, const struct obs **w, struct algo_verdicts *out,
    struct sim_err *e);

#endif
