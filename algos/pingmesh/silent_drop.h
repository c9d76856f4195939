/* algos/pingmesh/silent_drop.h -- which tier drops at random: by pairs of pods.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A switch that loses some packets and tells nobody raises the drop rate of
 * whoever crosses it. Faults of ToRs and T1s stay in their pod and are seen
 * there; a T2 is crossed by all pairs of pods, and by nothing within a pod.
 *
 * A cell is a pair of pods (topo/clos.h; the paper's podsets), or one pod: the
 * probes between its ToRs. Probes under one ToR tell nothing and are left out.
 * A cell suffers when the exact interval of its drop rate
 * (algos/pingmesh/drop_rate.h) is wholly above normal_rate; so a cell with few
 * probes does not.
 *
 *   1. A pod whose own cell suffers is at fault. Its pairs are set aside, as
 *      they suffer for crossing it.
 *   2. SPINE if of the pairs left at least min_share suffer.
 *   3. Else a pod of whose pairs left at least min_share suffer is at fault too
 *      (its T1s' ways up).
 *   4. POD if any pod is at fault, UNCLEAR if pairs suffer for no such reason,
 *      else NONE.
 * With two pods rule 2 cannot tell the spine from ways up to it. Which T2 it is
 * cannot be told by probes of unknown path: the worst pairs, which are listed
 * first, are the ones to trace (algos/pingmesh/hop_trace.h).
 *
 * Paper  Pingmesh (SIGCOMM'15), section 5.2. DEPARTS: the paper describes one
 *        incident and how it was reasoned out; the rule in numbers is ours.
 */
#ifndef ALGOS_PINGMESH_SILENT_DROP_H
#define ALGOS_PINGMESH_SILENT_DROP_H

#include "algos/pingmesh/drop_rate.h"
#include "algos/pingmesh/hop_trace.h"
#include "sim/field.h"

struct algo_silent_drop_params {
	double normal_rate, conf, min_share;
};
extern const struct sim_field algo_silent_drop_fields[];

enum algo_silent_drop_tier {
	ALGO_SILENT_DROP_NONE,
	ALGO_SILENT_DROP_UNCLEAR,
	ALGO_SILENT_DROP_POD,
	ALGO_SILENT_DROP_SPINE
};
#define ALGO_SILENT_DROP_TIERS "none", "unclear", "pod", "spine"

struct algo_silent_drop_cell {
	uint32_t pod, pod2; /* indices in the data centre; pod <= pod2 */
	uint64_t n_success, n_drop;
	double lo, hi;
	uint8_t suffers;
};

struct algo_silent_drop {
	struct algo_silent_drop_params params;
	struct topo_dc dc;
	enum algo_silent_drop_tier tier;
	uint8_t *at_fault; /* [n_pods] */
	size_t n_cells;    /* n_pods * (n_pods + 1) / 2 */
	struct algo_silent_drop_cell
	    *cell; /* by lo, worst first; then by pods */
};

/* Errors SIM_ENOMEM; S is then empty and needs no closing. */
int algo_silent_drop_open(struct algo_silent_drop *s, const struct topo_dc *dc,
    const struct algo_silent_drop_params *params, struct sim_err *e);
void algo_silent_drop_close(struct algo_silent_drop *s);

/* Find the tier by the probes of T, which is read once.
 * Errors SIM_EINVAL (a bad probe; conf outside (0, 1)), SIM_ERANGE as
 *        sim_binomial_interval(); S is then not to be read.
 * Cost   O(probes * rungs + pods^2 * (interval + log pods)), no memory. */
int algo_silent_drop_find(struct algo_silent_drop *s,
    const struct obs_probe_source *t, const struct algo_drop_ladder *ladder,
    struct sim_err *e);

/* The same for whoever has counted: clear all cells, count in each the connects
 * between ToRs of pods FROM and TO, or those of a table that was checked, and
 * judge. Errors as above, but for those of probes. */
void algo_silent_drop_clear(struct algo_silent_drop *s);
void algo_silent_drop_count(struct algo_silent_drop *s, uint32_t from,
    uint32_t to, uint64_t n_success, uint64_t n_drop);
void algo_silent_drop_count_probes(struct algo_silent_drop *s,
    const struct obs_probes *t, const struct algo_drop_ladder *ladder);
int algo_silent_drop_judge(struct algo_silent_drop *s, struct sim_err *e);

/* Whom to trace: of each of the n_cells worst cells that suffer (or, with
 * `any`, that were probed) n_pairs pairs of servers, both ways, each from
 * n_ports ports. */
struct algo_silent_drop_tracing {
	uint32_t n_cells, n_pairs, n_ports;
	uint16_t first_port;
	uint8_t any;
};

/* Fill OUT and return how many. The pairs of a cell go round its pods' ToRs,
 * from random ones on, so that each ToR is begun at from as many servers as
 * n_pairs allows; within a pod the two are of different ToRs. No server sends
 * for two targets: where a ToR has none left, the pair is left out.
 * Domain S was found by algo_silent_drop_find().
 * Shape  out[2 * n_cells * n_pairs].
 * Cost   O(pairs^2), and O(pairs) draws of TIE. */
size_t algo_silent_drop_targets(const struct algo_silent_drop *s,
    const struct algo_silent_drop_tracing *p, struct sim_rng *tie,
    struct algo_hop_trace_target out[]);

#endif
