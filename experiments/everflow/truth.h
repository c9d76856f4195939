/* experiments/everflow/truth.h -- what became of packets, what is to be named.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Neither analyzers nor debuggers see any of it: traces and findings are held
 * against it.
 */
#ifndef EXPERIMENTS_EVERFLOW_TRUTH_H
#define EXPERIMENTS_EVERFLOW_TRUTH_H

#include "experiments/everflow/everflow.h"
#include "models/packet/walk.h"
#include "models/scene/scene.h"

/* --- packets -------------------------------------------------------------- */

struct xp_fate {
	uint64_t key;
	sim_ns sent;
	uint32_t before; /* another of its chain, 1 + index; 0: none */
	uint8_t lost, looped;
};

/* Of each packet that was made. Zeroed is empty. */
struct xp_fates {
	struct xp_fate *fate;
	size_t n, cap;
	uint32_t *head; /* [cap_head], a power of two: 1 + index of a chain */
	size_t cap_head;
};
void xp_fates_clear(struct xp_fates *f);
void xp_fates_free(struct xp_fates *f);

/* Note what became of P, sent at SENT. Errors SIM_ENOMEM, SIM_ELIMIT. */
int xp_fates_add(struct xp_fates *f, const struct obs_packet *p, sim_ns sent,
    int lost, int looped, struct sim_err *e);

/* Of the packets that a trace may be of, the one sent last before its first
 * copy; NULL if there is none. */
const struct xp_fate *xp_fates_of(const struct xp_fates *f,
    const struct algo_trace *t);

/* --- findings ------------------------------------------------------------- */

/* What debugger WHICH, enum xp_everflow_debugger, is to name in SCENE, with what
 * P makes of it: 1 if there is something. */
int xp_everflow_due(const struct scene *s, const struct xp_everflow *p,
    unsigned which);

/* What a finding is worth. NEITHER: a drop that was over when it was looked for,
 * of which nothing is claimed. */
enum xp_worth { XP_WORTH_WRONG, XP_WORTH_RIGHT, XP_WORTH_NEITHER };

/* *SINCE is when the fault began that it names. A finding that names a link may
 * name it in either direction where the evidence is a round trip. */
enum xp_worth xp_everflow_worth(const struct scene *s,
    const struct xp_everflow *p, const struct algo_finding *f, sim_ns *since);

/* Whether a finding that is right names the right cause, too: of uneven
 * spreading the place alone is what counts, and of black holes that they are. */
int xp_everflow_is_cause(const struct scene *s, const struct algo_finding *f);

#endif
