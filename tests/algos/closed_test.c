/* tests/algos/closed_test.c -- what is closed is as what was never opened.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * So who closes it once more frees nothing twice, and who opens it again meets
 * nothing of before.
 */
#include "algos/everflow/control.h"
#include "algos/everflow/custom.h"
#include "algos/everflow/debug.h"
#include "algos/everflow/drop_rows.h"
#include "algos/everflow/meter.h"
#include "algos/everflow/ring.h"
#include "algos/everflow/suspect.h"
#include "algos/millisampler/series.h"
#include "algos/pingmesh/blackhole.h"
#include "algos/pingmesh/heatmap.h"
#include "algos/pingmesh/hole_fit.h"
#include "algos/pingmesh/hole_pairs.h"
#include "algos/pingmesh/hop_trace_rank.h"
#include "algos/pingmesh/silent_drop.h"
#include "algos/rivals/flock_model.h"
#include "algos/rivals/lossy.h"
#include "algos/rivals/probe_matrix.h"
#include "algos/rivals/ways.h"
#include "algos/sieve/sieve_bursts.h"
#include "algos/sieve/sieve_cells.h"
#include "algos/sieve/sieve_choice.h"
#include "algos/sieve/sieve_groups.h"
#include "algos/sieve/sieve_halves.h"
#include "algos/sieve/sieve_holes.h"
#include "algos/sieve/sieve_model.h"
#include "algos/sieve/sieve_sets.h"
#include "algos/sieve/sieve_sudden.h"
#include "algos/sieve/sieve_ways.h"
#include "algos/verdict.h"
#include "algos/vigil/milp.h"
#include "algos/vigil/rtt_order.h"
#include "algos/vigil/setcover.h"
#include "algos/vigil/tally.h"
#include "algos/vigil/top.h"
#include "tests/test.h"

/* X(struct, a number of it, how it is closed) */
#define CLOSED(X)                                                              \
	X(algo_control_out, n, algo_control_out_free)                          \
	X(algo_custom_counters, n, algo_custom_free)                           \
	X(algo_debug_out, n_findings, algo_debug_free)                         \
	X(algo_drop_rows, n_rounds, algo_drop_rows_free)                       \
	X(algo_meter, n_links, algo_meter_close)                               \
	X(algo_ring, mask, algo_ring_close)                                    \
	X(algo_suspects, n_slots, algo_suspects_close)                         \
	X(algo_series, n_runs, algo_series_free)                               \
	X(algo_blackhole, min_spells, algo_blackhole_close)                    \
	X(algo_heatmap, n_units, algo_heatmap_free)                            \
	X(algo_hole_fit, n_causes, algo_hole_fit_close)                        \
	X(algo_hole_pairs, least, algo_hole_pairs_close)                       \
	X(algo_hop_trace_work, n_nodes, algo_hop_trace_work_free)              \
	X(algo_silent_drop, n_cells, algo_silent_drop_close)                   \
	X(flock_model, n_parts, flock_model_free)                              \
	X(algo_lossy, n, algo_lossy_free)                                      \
	X(algo_probe_matrix, n_sets, algo_probe_matrix_free)                   \
	X(algo_ways, n_cleared, algo_ways_free)                                \
	X(sieve_bursts, on, sieve_bursts_free)                                 \
	X(sieve_cells, n_used, sieve_cells_free)                               \
	X(sieve_choice, on, sieve_choice_free)                                 \
	X(sieve_groups, n, sieve_groups_free)                                  \
	X(sieve_halves, n_cleared, sieve_halves_free)                          \
	X(sieve_holes, on, sieve_holes_free)                                   \
	X(sieve_model, floor, sieve_model_free)                                \
	X(sieve_sets, n_cleared, sieve_sets_free)                              \
	X(sieve_sudden, known, sieve_sudden_free)                              \
	X(sieve_ways, cap_off, sieve_ways_free)                                \
	X(algo_verdicts, n_links, algo_verdicts_free)                          \
	X(algo_milp, n_rows, algo_milp_free)                                   \
	X(algo_rtt_order, n, algo_rtt_order_free)                              \
	X(algo_setcover, n_rows, algo_setcover_free)                           \
	X(algo_tally, n_links, algo_tally_close)                               \
	X(algo_top, pivot, algo_top_free)

static void assert_zero(const char *name, const void *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((const unsigned char *)x)[i] != 0)
			fail_msg("struct %s has something at byte %zu", name,
			    i);
}

static void what_is_closed_has_nothing_of_before(void **state)
{
	(void)state;
#define X(type, number, close)                                                 \
	{                                                                      \
		struct type *x = calloc(1, sizeof(*x));                        \
		assert_non_null(x);                                            \
		x->number = 1;                                                 \
		close(x);                                                      \
		assert_zero(#type, x, sizeof(*x));                             \
		close(x);                                                      \
		assert_zero(#type, x, sizeof(*x));                             \
		free(x);                                                       \
	}
	CLOSED(X)
#undef X
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_closed_has_nothing_of_before),
	};
	return cmocka_run_group_tests_name("algos (closed)", tests, NULL, NULL);
}
