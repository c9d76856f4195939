/* algos/pingmesh/heatmap.h -- P99 between pods or ToRs as a matrix; patterns.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Cell (from, to) is the P99 of the connect times from one unit to another, or
 * NaN without a success: white. Units are ToRs or pods (topo/clos.h; the
 * paper's pods and podsets). A block is the units of one pod: a pod's cross is
 * the rows and columns of its block.
 *
 *	normal         pod down       pod failure      spine failure
 *	G G G G        G W G G        G R G G          G R R R
 *	G G G G        W W W W        R R R R          R G R R
 *	G G G G        G W G G        G R G G          R R G R
 *	G G G G        G W G G        G R G G          R R R G
 *
 * Colours: green below yellow_us, red above red_us, yellow between.
 *
 * The rule, with shares of cells:
 *   1. While the whitest cross is white to at least `fill`, its pod is down,
 *      and the cells of its cross are set aside.
 *   2. Of what is left: the spine has failed if at least `fill` of the cells
 *      outside blocks are red, and at least `fill` of those inside green. There
 *      must be some of both.
 *   3. Else as 1 with red: while the reddest cross is red to at least `fill`,
 *      its pod has failed.
 *   4. Of what is then left, at most `stray` may be red or white; else the
 *      matrix is unclear.
 * Setting crosses aside is what tells any number of bad pods from good ones,
 * whose crosses they all cut. The pattern is the gravest found: spine, pod
 * failure, pod down, unclear, normal.
 *
 * Paper  Pingmesh (SIGCOMM'15), section 6.3, figure 8. DEPARTS: the paper shows
 *        the patterns; this rule and its shares are ours.
 */
#ifndef ALGOS_PINGMESH_HEATMAP_H
#define ALGOS_PINGMESH_HEATMAP_H

#include "algos/vigil/rtt_order.h"
#include "models/obs_probes.h"
#include "sim/err.h"
#include "sim/field.h"
#include "topo/dc.h"

enum algo_heatmap_unit { ALGO_HEATMAP_TOR, ALGO_HEATMAP_POD };

/* How a pod is found to be. */
enum algo_heatmap_pod {
	ALGO_HEATMAP_POD_FINE,
	ALGO_HEATMAP_POD_IS_DOWN,
	ALGO_HEATMAP_POD_HAS_FAILED
};

/* Zeroed is empty. */
struct algo_heatmap {
	uint32_t n_units, n_pods; /* units by pod, as many in each */
	double *p99_us;           /* [n_units * n_units], row = from */
	uint8_t *pod;             /* [n_pods], by algo_heatmap_classify() */

	/* Workings. */
	struct algo_heatmap_cell *cell;   /* as p99_us */
	struct algo_heatmap_block *block; /* [n_pods * n_pods] */
	size_t cap_p99, cap_pod, cap_cell, cap_block;
};

struct algo_heatmap_params {
	double yellow_us, red_us; /* yellow_us <= red_us */
	double fill, stray;
};
extern const struct sim_field algo_heatmap_fields[];

enum algo_heatmap_pattern {
	ALGO_HEATMAP_NORMAL,
	ALGO_HEATMAP_UNCLEAR,
	ALGO_HEATMAP_POD_DOWN,
	ALGO_HEATMAP_POD_FAILURE,
	ALGO_HEATMAP_SPINE_FAILURE,
	ALGO_HEATMAP_N_PATTERNS
};
#define ALGO_HEATMAP_PATTERNS                                                  \
	"normal", "unclear", "pod_down", "pod_failure", "spine_failure"
extern const char *const algo_heatmap_patterns[]; /* NULL-terminated */

/* Room for N_UNITS units in N_PODS pods, all cells NaN, to be filled by hand or
 * by algo_heatmap_measure(). May be called again.
 * Errors SIM_EINVAL (no pod; units that do not fill pods alike), SIM_ENOMEM. */
int algo_heatmap_init(struct algo_heatmap *m, uint32_t n_units, uint32_t n_pods,
    struct sim_err *e);
void algo_heatmap_free(struct algo_heatmap *m);

/* The matrix of the units of DC by the probes in ORDER, of a table that
 * obs_probes_check() has passed for it. P99 is exact, of nearest rank.
 * Errors SIM_ENOMEM. Cost O(probes + units^2); 24 bytes a cell. */
int algo_heatmap_measure(struct algo_heatmap *m,
    const struct algo_rtt_order *order, const struct topo_dc *dc,
    enum algo_heatmap_unit unit, struct sim_err *e);

/* The same for whoever has the probes in parts: begin() instead of init(), count
 * those of each part in any order, set the ranks, and meet them by ascending time: a
 * part is sorted, and none is later than the next. Errors of begin() as above. */
int algo_heatmap_begin(struct algo_heatmap *m, const struct topo_dc *dc,
    enum algo_heatmap_unit unit, struct sim_err *e);
void algo_heatmap_count(struct algo_heatmap *m,
    const struct algo_rtt_order *part, const struct topo_dc *dc);
void algo_heatmap_rank(struct algo_heatmap *m);
void algo_heatmap_meet(struct algo_heatmap *m,
    const struct algo_rtt_order *part, const struct topo_dc *dc);

/* Whether the bounds go together. Errors SIM_EINVAL, red_us below yellow_us. */
int algo_heatmap_check(const struct algo_heatmap_params *p, struct sim_err *e);

/* What the matrix shows, and into M->pod how each pod is.
 * Errors SIM_EINVAL, red_us below yellow_us.
 * Cost   O(units^2), and O(pods^2) for each bad pod. */
int algo_heatmap_classify(struct algo_heatmap *m,
    const struct algo_heatmap_params *p, enum algo_heatmap_pattern *pattern,
    struct sim_err *e);

#endif
