/* tests/results/score_test.c -- verdicts against the truth, metric by metric.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/score.h"

#include "models/obs_tallies.h"
#include "results/calibration.h"
#include "tests/test.h"

struct trial {
	struct obs w;
	struct truth t;
	struct losses lost;
	struct algo_verdicts v;
	struct res_algo_metrics got;
};

static void done(struct trial *x)
{
	obs_free(&x->w);
	truth_free(&x->t);
	losses_free(&x->lost);
	algo_verdicts_free(&x->v);
}

static void add_flow(struct trial *x, unsigned n, const topo_link path[],
    const uint32_t drops[], uint32_t n_retx)
{
	const struct obs_flow f = {.n_pkts = 100, .n_retx = n_retx};
	assert_ok(obs_add_flow(&x->w, &f, path, n, test_err()));
	assert_ok(losses_add_drops(&x->lost, drops, n, test_err()));
	x->w.n_flows = x->w.flows.n;
}

static void add_fault(struct trial *x, topo_link link, double rate)
{
	const struct truth_fault f = {.link = link,
	    .rate = rate,
	    .from_ns = x->t.n_faults,
	    .to_ns = SIM_NEVER};
	assert_ok(truth_add_fault(&x->t, &f, test_err()));
	truth_sort(&x->t);
}

static void add_verdict(struct trial *x, topo_link link, double score)
{
	assert_ok(algo_verdicts_add(&x->v, link, score, test_err()));
}

static void blame(struct trial *x, const topo_link links[])
{
	assert_ok(algo_verdicts_reserve_flows(&x->v, x->w.flows.n, test_err()));
	memcpy(x->v.blame, links, x->w.flows.n * sizeof(links[0]));
}

/* As one answer, and as one behind another to the same window. */
static int score_all(void *arg, struct sim_err *e)
{
	struct trial *x = arg;
	struct res_scorer s = {0};
	struct res_algo_metrics again;
	int rc = res_score_algo(&x->w, &x->t, &x->lost, &x->v, &x->got, e);
	if (rc == 0)
		rc = res_scorer_begin(&s, &x->w, &x->t, &x->lost, e);
	for (int i = 0; rc == 0 && i < 2; i++)
		rc = res_scorer_answer(&s, &x->v, &again, e);
	res_scorer_free(&s);
	if (rc == 0)
		assert_memory_equal(&x->got, &again, sizeof(again));
	return rc;
}

static void score(struct trial *x)
{
	assert_ok(score_all(x, test_err()));
}

static const topo_link path[4] = {0, 2, 4, 6};

#define DROPS(...) ((const uint32_t[4]){__VA_ARGS__})

/* --- one metric at a time -------------------------------------------------*/

/* A plane that tells culprits itself: no drops and yet failed, many drops and
 * yet not failed, and a culprit that dropped less. */
static void a_culprit_that_is_told_goes_before_the_drops(void **state)
{
	(void)state;
	struct trial x = {0};
	struct res_trial_metrics m;
	struct sim_err e;
	add_flow(&x, 4, path, DROPS(0, 0, 0, 0), 1);
	add_flow(&x, 4, path, DROPS(0, 3, 0, 0), 0);
	add_flow(&x, 4, path, DROPS(7, 0, 1, 0), 8);
	add_fault(&x, 4, 0.1);
	const topo_link culprit[] = {6, TOPO_NONE, 4};
	for (int i = 0; i < 3; i++)
		assert_ok(losses_add_culprit(&x.lost, culprit[i], test_err()));
	blame(&x, (const topo_link[]){6, TOPO_NONE, 4});
	score(&x);
	assert_true(x.got.flows_all == 2 && x.got.hits_all == 2);
	assert_true(x.got.flows_fault == 1 && x.got.hits_fault == 1);
	assert_true(x.got.flows_released == 2 && x.got.hits_released == 2);
	blame(&x, (const topo_link[]){TOPO_NONE, TOPO_NONE, 0});
	score(&x);
	assert_true(x.got.hits_all == 0);
	assert_true(x.got.flows_released == 1 && x.got.hits_released == 0);
	res_score_trial(&x.w, &x.t, &x.lost, &m);
	assert_true(m.n_failed_flows == 2);
	assert_true(m.n_fault_flows == 1);
	assert_true(m.n_drops == 11);
	x.lost.n_culprits = 2;
	assert_int_equal(res_score_algo(&x.w, &x.t, &x.lost, &x.v, &x.got, &e),
	    SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "the truth has culprits of 2 flows, the window has 3.");
	done(&x);
}

enum { ALL_LINKS = 100 };

/* Switch 7 failed with links 2 and 4, link 6 by itself. */
static void add_both(struct trial *x)
{
	add_flow(x, 4, path, DROPS(0, 4, 0, 0), 4); /* by switch 7 */
	add_flow(x, 4, path, DROPS(0, 0, 2, 0), 3); /* by switch 7 */
	add_flow(x, 4, path, DROPS(0, 0, 0, 5), 5); /* by link 6 */
	add_fault(x, 2, 0.1);
	add_fault(x, 4, 0.2);
	add_fault(x, 6, 0.3);
	assert_ok(truth_add_part(&x->t, 2, 7, test_err()));
	assert_ok(truth_add_part(&x->t, 4, 7, test_err()));
	truth_sort(&x->t);
	x->v.kind = ALGO_KIND_BOTH;
	x->v.n_links = ALL_LINKS;
	x->v.flags = 1;
}

/* Switch 7 and link 6 are accused rightly, switch 6 wrongly; link 7 is blamed
 * where switch 7 was meant. */
static void verdicts_of_both_are_scored_by_what_each_is(void **state)
{
	(void)state;
	struct trial x = {0};
	add_both(&x);
	add_verdict(&x, ALL_LINKS + 7, 5);
	add_verdict(&x, 6, 4);
	add_verdict(&x, ALL_LINKS + 6, 3);
	add_verdict(&x, 2, 2);
	x.v.n_flagged = 3;
	blame(&x, (const topo_link[]){ALL_LINKS + 7, 7, 6});
	score(&x);
	assert_near(x.got.n_flagged, 3, 0);
	assert_near(x.got.n_flagged_true, 2, 0);
	assert_near(x.got.n_links_true, 4, 0);
	assert_near(x.got.n_found, 2, 0);
	assert_near(x.got.n_to_find, 2, 0);
	assert_near(x.got.hits_all, 2, 0);
	assert_near(x.got.flows_all, 3, 0);
	assert_near(x.got.worst_rank, 2, 0); /* link 6, behind the switch */
	assert_near(x.got.n_top_true, 3, 0); /* of the first 4, one is none */
	done(&x);
}

static void scoring_reports_missing_memory(void **state)
{
	(void)state;
	struct trial x = {0};
	add_both(&x);
	x.v.kind = ALGO_KIND_LINK;
	for (topo_link l = 0; l < 9; l++)
		add_verdict(&x, l, 9 - l);
	blame(&x, (const topo_link[]){2, 4, 6});
	test_each_alloc_fails(score_all, &x);
	done(&x);
}

static void a_failed_switch_is_found_by_its_links_in_part(void **state)
{
	(void)state;
	static const struct {
		topo_link accused[3];
		size_t n;
		double found;
		int is_exact; /* all that failed and nothing else */
	} cases[] = {{{0}, 0, 0, 0}, {{2}, 1, .5, 0}, {{2, 4}, 2, 1, 0},
	    {{2, 4, 6}, 3, 2, 1}, {{6, 7}, 2, 1, 0},
	    {{ALL_LINKS + 7, 2}, 2, 1, 0}, {{2, ALL_LINKS + 7}, 2, 1, 0},
	    {{ALL_LINKS + 2}, 1, 0, 0}, {{ALL_LINKS + 7, 6}, 2, 2, 1},
	    {{ALL_LINKS + 7, 6, 2}, 3, 2, 1}, {{ALL_LINKS + 7, 6, 0}, 3, 2, 0},
	    {{ALL_LINKS + 7, 6, ALL_LINKS + 2}, 3, 2, 0}, {{6}, 1, 1, 0},
	    {{6, 2}, 2, 1.5, 0}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trial x = {0};
		add_both(&x);
		for (size_t k = 0; k < cases[i].n; k++)
			add_verdict(&x, cases[i].accused[k], 1);
		x.v.n_flagged = cases[i].n;
		score(&x);
		assert_near(x.got.n_found, cases[i].found, 1e-12);
		assert_near(x.got.n_to_find, 2, 0);
		assert_int_equal(res_score_is_exact(&x.t, &x.v),
		    cases[i].is_exact);
		/* Who only ranks accuses nobody. */
		x.v.flags = 0;
		assert_int_equal(res_score_is_exact(&x.t, &x.v), 0);
		done(&x);
	}
}

/* Switch 7 failed with links 2 and 4, switch 3 with link 9; link 6 failed for
 * itself and link 0 not at all. */
static void verdicts_of_switches_are_scored_by_switches(void **state)
{
	(void)state;
	struct trial x = {0};
	add_flow(&x, 4, path, DROPS(0, 4, 0, 0), 4); /* by switch 7 */
	add_flow(&x, 4, path, DROPS(0, 0, 2, 1), 3); /* by switch 7 */
	add_flow(&x, 4, path, DROPS(0, 0, 0, 5), 5); /* by a link alone */
	add_flow(&x, 4, path, DROPS(1, 0, 0, 0), 1); /* noise */
	add_fault(&x, 2, 0.1);
	add_fault(&x, 4, 0.1);
	add_fault(&x, 6, 0.9);
	add_fault(&x, 9, 0.15);
	assert_ok(truth_add_part(&x.t, 4, 7, test_err()));
	assert_ok(truth_add_part(&x.t, 9, 3, test_err()));
	assert_ok(truth_add_part(&x.t, 2, 7, test_err()));
	truth_sort(&x.t);
	assert_int_equal(x.t.n_switches, 2);
	x.v.kind = ALGO_KIND_SWITCH;
	x.v.flags = 1;
	add_verdict(&x, 7, 5);
	add_verdict(&x, 2, 4); /* a link that failed has this id; no switch */
	add_verdict(&x, 3, 1);
	x.v.n_flagged = 2;
	blame(&x, (const topo_link[]){7, 3, 7, TOPO_NONE});
	score(&x);
	assert_true(x.got.n_flagged == 2 && x.got.n_flagged_true == 1);
	assert_true(x.got.n_links_true == 2);
	assert_true(x.got.n_top == 2 && x.got.n_top_true == 1);
	assert_true(x.got.n_worst == 1 && x.got.worst_rank == 1 &&
	    x.got.worst_first == 1);
	assert_true(x.got.flows_all == 4 && x.got.hits_all == 1);
	assert_true(x.got.flows_kept == 3 && x.got.hits_kept == 1);
	assert_true(x.got.flows_fault == 2 && x.got.hits_fault == 1);
	/* The worst is the one whose links' rates have the greatest sum. */
	x.t.fault[3].rate = 0.25;
	score(&x);
	assert_true(x.got.worst_rank == 3 && x.got.worst_first == 0);
	/* The same ids as links. */
	x.v.kind = ALGO_KIND_LINK;
	score(&x);
	assert_true(x.got.n_links_true == 4 && x.got.n_flagged_true == 1);
	assert_true(x.got.hits_fault == 0 && x.got.flows_fault == 3);
	done(&x);
}

static void the_epoch_counts_flows_packets_and_faulty_links(void **state)
{
	(void)state;
	struct trial x = {0};
	struct res_trial_metrics m;
	add_flow(&x, 4, path, DROPS(0, 0, 0, 0), 0);
	add_flow(&x, 4, path, DROPS(1, 0, 2, 0), 3);
	add_flow(&x, 4, path, DROPS(0, 5, 0, 0), 5);
	add_fault(&x, 4, 0.1);
	add_fault(&x, 4, 0.2); /* two spans, one link */
	add_fault(&x, 9, 0.3);
	add_fault(&x, 2, 0); /* no fault at all */
	x.w.n_flows = 1000;
	res_score_trial(&x.w, &x.t, &x.lost, &m);
	assert_true(m.n_flows == 1000);
	assert_true(m.n_failed_flows == 2);
	assert_true(m.n_drops == 8);
	assert_true(m.n_faults == 2);
	assert_true(m.n_fault_flows == 1);
	done(&x);
}

/* Flow 0 lost to the fault and to a buffer, 1 to the buffer of the faulty link
 * alone, 2 to noise alone, 3 more to another buffer than to the fault. */
static void a_full_buffer_is_no_fault(void **state)
{
	(void)state;
	static const uint32_t buffer[] = {0, 2, 0, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0,
	    0, 0, 6};
	struct trial x = {0};
	struct res_trial_metrics m;
	struct sim_err e;
	add_flow(&x, 4, path, DROPS(0, 7, 0, 1), 8);
	add_flow(&x, 4, path, DROPS(0, 5, 0, 0), 5);
	add_flow(&x, 4, path, DROPS(1, 0, 0, 0), 1);
	add_flow(&x, 4, path, DROPS(0, 4, 0, 6), 10);
	add_fault(&x, 2, 0.1);
	blame(&x, (const topo_link[]){2, 2, 0, 2});
	score(&x);
	assert_true(x.got.flows_fault == 3 - 1 && x.got.hits_fault == 2);
	res_score_trial(&x.w, &x.t, &x.lost, &m);
	assert_true(m.n_fault_flows == 3);
	assert_true(isnan(m.n_buffer_drops) && isnan(m.n_buffer_flows) &&
	    isnan(m.n_noise_flows));
	x.lost.has_buffer = 1;
	assert_int_equal(res_score_algo(&x.w, &x.t, &x.lost, &x.v, &x.got, &e),
	    SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, "drops of buffers for 0 hops"));
	x.lost.n_drops = 0;
	for (size_t i = 0; i < 16; i += 4) {
		const uint32_t *d = x.lost.drops + i;
		const uint32_t drops[4] = {d[0], d[1], d[2], d[3]};
		assert_ok(
		    losses_add_hops(&x.lost, drops, buffer + i, 4, test_err()));
	}
	score(&x);
	/* By each definition: of flow 0 the fault, of 1 a healthy link; of
	 * flow 3 the buffer dropped most, and the fault was the last. */
	assert_true(x.got.flows_all == 4 && x.got.hits_all == 3);
	assert_true(x.got.flows_fault == 1 && x.got.hits_fault == 1);
	assert_true(x.got.flows_released == 4 && x.got.hits_released == 4);
	res_score_trial(&x.w, &x.t, &x.lost, &m);
	assert_true(m.n_drops == 24 && m.n_buffer_drops == 14);
	assert_true(m.n_failed_flows == 4 && m.n_buffer_flows == 3);
	assert_true(m.n_fault_flows == 2 && m.n_noise_flows == 1);
	done(&x);
}

static void an_empty_epoch_scores_zero(void **state)
{
	(void)state;
	struct trial x = {0};
	struct res_trial_metrics m;
	res_score_trial(&x.w, &x.t, &x.lost, &m);
	assert_true(m.n_failed_flows == 0 && m.n_faults == 0);
	score(&x);
	assert_true(x.got.flows_all == 0 && x.got.n_top == 0);
	assert_true(x.got.n_worst == 0 && isnan(x.got.worst_rank));
}

static void the_culprit_dropped_most_and_the_first_of_these(void **state)
{
	(void)state;
	struct trial x = {0};
	add_flow(&x, 4, path, DROPS(1, 2, 2, 0), 5);
	add_flow(&x, 4, path, DROPS(1, 2, 2, 0), 5);
	add_flow(&x, 4, path, DROPS(1, 2, 3, 0), 6);
	blame(&x, (const topo_link[]){2, 4, 4});
	score(&x);
	assert_true(x.got.hits_all == 2 && x.got.flows_all == 3);
	done(&x);
}

static void flows_without_a_retransmission_do_not_count(void **state)
{
	(void)state;
	struct trial x = {0};
	add_flow(&x, 4, path, DROPS(0, 1, 0, 0), 0);
	add_flow(&x, 4, path, DROPS(0, 1, 0, 0), 1);
	blame(&x, (const topo_link[]){2, 2});
	score(&x);
	assert_true(x.got.flows_all == 1 && x.got.hits_all == 1);
	done(&x);
}

static void a_flow_whose_drops_nobody_knows_is_a_miss(void **state)
{
	(void)state;
	struct trial x = {0};
	const topo_link unknown[4] = {0, TOPO_NONE, 4, 6};
	add_flow(&x, 4, path, DROPS(0, 0, 0, 0), 1);
	add_flow(&x, 4, unknown, DROPS(0, 1, 0, 0), 1);
	blame(&x, (const topo_link[]){2, TOPO_NONE});
	score(&x);
	assert_true(x.got.flows_all == 2 && x.got.hits_all == 0);
	assert_true(x.got.flows_kept == 1 && x.got.hits_kept == 0);
	assert_true(x.got.flows_released == 1 && x.got.hits_released == 0);
	done(&x);
}

static void flows_set_aside_miss_in_all_but_not_in_kept(void **state)
{
	(void)state;
	struct trial x = {0};
	for (int i = 0; i < 3; i++)
		add_flow(&x, 4, path, DROPS(0, 1, 0, 0), 1);
	blame(&x, (const topo_link[]){2, TOPO_NONE, 6});
	score(&x);
	assert_true(x.got.hits_all == 1 && x.got.flows_all == 3);
	assert_true(x.got.hits_kept == 1 && x.got.flows_kept == 2);
	done(&x);
}

static void hits_fault_counts_culprits_with_a_fault_alone(void **state)
{
	(void)state;
	struct trial x = {0};
	add_fault(&x, 4, 0.01);
	add_flow(&x, 4, path, DROPS(0, 0, 3, 0), 3); /* hit */
	add_flow(&x, 4, path, DROPS(0, 0, 3, 0), 3); /* set aside */
	add_flow(&x, 4, path, DROPS(0, 4, 3, 0), 7); /* culprit is noise */
	blame(&x, (const topo_link[]){4, TOPO_NONE, 2});
	score(&x);
	assert_true(x.got.hits_fault == 1 && x.got.flows_fault == 2);
	assert_true(x.got.hits_all == 2 && x.got.flows_all == 3);
	done(&x);
}

static void the_released_rule_takes_the_last_faulty_else_the_last(void **state)
{
	(void)state;
	struct trial x = {0};
	add_fault(&x, 2, 0.01);
	add_fault(&x, 4, 0.01);
	/* Most at 0; released culprit 4, the last faulty that dropped. */
	add_flow(&x, 4, path, DROPS(9, 1, 1, 1), 12);
	/* No fault dropped: the last, 6. */
	add_flow(&x, 4, path, DROPS(9, 0, 0, 1), 10);
	/* Set aside with a faulty culprit: counts and misses. */
	add_flow(&x, 4, path, DROPS(0, 1, 0, 0), 1);
	/* Set aside without: does not count. */
	add_flow(&x, 4, path, DROPS(0, 0, 0, 1), 1);
	/* Kept and wrong. */
	add_flow(&x, 4, path, DROPS(0, 0, 0, 1), 1);
	blame(&x, (const topo_link[]){4, 6, TOPO_NONE, TOPO_NONE, 0});
	score(&x);
	assert_true(x.got.hits_released == 2 && x.got.flows_released == 4);
	assert_true(x.got.hits_all == 0 && x.got.flows_all == 5);
	/* Incorrect are those of the four that are no hits. Of 95 flows more
	 * that lost nothing all are correct. */
	assert_true(x.got.hits_spared == 3);
	assert_true(x.got.hits_printed == 3 && x.got.flows_printed == 5);
	x.w.n_flows = 100;
	score(&x);
	assert_true(x.got.hits_spared == 3);
	assert_true(x.got.hits_printed == 98 && x.got.flows_printed == 100);
	/* Where no flows run it has nothing to print. */
	x.w.n_flows = 0;
	score(&x);
	assert_true(isnan(x.got.hits_spared) && isnan(x.got.hits_printed) &&
	    isnan(x.got.flows_printed));
	done(&x);
}

static void one_that_blames_nobody_has_no_accuracy(void **state)
{
	(void)state;
	struct trial x = {0};
	add_fault(&x, 2, 0.01);
	add_flow(&x, 4, path, DROPS(0, 1, 0, 0), 1);
	add_verdict(&x, 2, 1);
	score(&x);
	assert_true(isnan(x.got.hits_all) && isnan(x.got.flows_all));
	assert_true(isnan(x.got.hits_kept) && isnan(x.got.flows_kept));
	assert_true(isnan(x.got.hits_fault) && isnan(x.got.flows_fault));
	assert_true(isnan(x.got.hits_released));
	assert_true(isnan(x.got.flows_released));
	assert_true(isnan(x.got.hits_spared) && isnan(x.got.hits_printed) &&
	    isnan(x.got.flows_printed));
	assert_true(x.got.n_top_true == 1);
	done(&x);
}

static void one_that_only_ranks_has_no_flags(void **state)
{
	(void)state;
	struct trial x = {0};
	add_fault(&x, 2, 0.01);
	add_verdict(&x, 2, 1);
	score(&x);
	assert_true(isnan(x.got.n_flagged) && isnan(x.got.n_flagged_true));
	assert_true(isnan(x.got.n_links_true));
	x.v.flags = 1; /* accuses, but nobody this time */
	score(&x);
	assert_true(x.got.n_flagged == 0 && x.got.n_flagged_true == 0);
	assert_true(x.got.n_links_true == 1);
	done(&x);
}

static void flags_are_held_against_links_that_have_a_fault(void **state)
{
	(void)state;
	struct trial x = {0};
	add_fault(&x, 2, 0.01);
	add_fault(&x, 2, 0.02);
	add_fault(&x, 4, 0.01);
	add_fault(&x, 6, 0);
	x.v.flags = 1;
	add_verdict(&x, 2, 9);
	add_verdict(&x, 6, 8);
	add_verdict(&x, 1, 7);
	add_verdict(&x, 4, 6);
	x.v.n_flagged = 3;
	score(&x);
	assert_true(x.got.n_flagged == 3 && x.got.n_flagged_true == 1);
	assert_true(x.got.n_links_true == 2);
	done(&x);
}

/* k = 2, whatever is flagged: 2 and 4 share the first score, of which 2 has a
 * fault; 6, which has one too, is behind them. */
static void equals_share_the_places_of_the_top_k(void **state)
{
	(void)state;
	struct trial x = {0};
	add_fault(&x, 2, 0.01);
	add_fault(&x, 6, 0.01);
	x.v.flags = 1;
	add_verdict(&x, 6, 0.5);
	x.v.n_flagged = 1;
	add_verdict(&x, 4, 3);
	add_verdict(&x, 2, 3);
	add_verdict(&x, 0, 1);
	score(&x);
	assert_true(x.got.n_top == 2 && x.got.n_top_true == 1);
	/* One place is left for three, of which one has a fault. */
	x.v.score[0] = x.v.score[2] = x.v.score[3] = 1;
	score(&x);
	assert_true(x.got.n_top_true == 2. / 3);
	/* All equal: two places for four, two of which have a fault. */
	x.v.score[1] = 1;
	score(&x);
	assert_true(x.got.n_top_true == 1);
	/* Fewer are listed than there are places. */
	x.v.n = 1;
	score(&x);
	assert_true(x.got.n_top_true == 1);
	done(&x);
}

static void the_worst_link_has_its_competition_rank(void **state)
{
	(void)state;
	struct trial x = {0};
	add_fault(&x, 2, 0.5);
	add_fault(&x, 4, 0.1);
	add_fault(&x, 4, 0.7); /* its later span makes 4 the worst */
	add_verdict(&x, 2, 3);
	add_verdict(&x, 6, 3);
	add_verdict(&x, 4, 2);
	score(&x);
	assert_true(x.got.n_worst == 1 && x.got.worst_rank == 3);
	assert_true(x.got.worst_first == 0);
	assert_true(x.got.lead == 2 - 3); /* 6 has no fault, 2 has one */
	x.v.score[2] = 3.5;
	score(&x);
	assert_true(x.got.lead == 0.5);
	x.v.score[2] = 3;
	score(&x);
	assert_true(x.got.worst_rank == 1 && x.got.worst_first == 1);
	done(&x);
}

static void an_empty_answer_does_not_rank_the_worst_link_first(void **state)
{
	(void)state;
	struct trial x = {0};
	add_fault(&x, 2, 0.5);
	score(&x);
	assert_true(x.got.n_worst == 1 && x.got.worst_first == 0);
	done(&x);
}

static void only_programs_have_a_value_a_bound_and_a_status(void **state)
{
	(void)state;
	struct trial x = {0};
	score(&x);
	assert_true(isnan(x.got.value) && isnan(x.got.bound));
	assert_true(isnan(x.got.value_status));
	assert_true(x.got.n_programs == 0 && x.got.n_proved == 0);
	x.v.solution = (struct algo_solution){1, ALGO_OPTIMAL, 7, 7};
	score(&x);
	assert_true(x.got.value == 7 && x.got.bound == 7);
	assert_true(x.got.value_status == 0);
	assert_true(x.got.n_programs == 1 && x.got.n_proved == 1);
	x.v.solution = (struct algo_solution){1, ALGO_FEASIBLE, 9, 7};
	score(&x);
	assert_true(x.got.value == 9 && x.got.bound == 7);
	assert_true(x.got.value_status == 1);
	assert_true(x.got.n_programs == 1 && x.got.n_proved == 0);
	x.v.solution = (struct algo_solution){1, ALGO_NONE, NAN, 2};
	score(&x);
	assert_true(isnan(x.got.value) && x.got.bound == 2);
	assert_true(x.got.value_status == 2);
	assert_true(x.got.n_programs == 1 && x.got.n_proved == 0);
}

static void what_does_not_fit_the_window_is_refused(void **state)
{
	(void)state;
	struct sim_err e;
	struct trial x = {0};
	add_flow(&x, 4, path, DROPS(0, 1, 0, 0), 1);
	assert_ok(algo_verdicts_reserve_flows(&x.v, 2, test_err()));
	assert_int_equal(res_score_algo(&x.w, &x.t, &x.lost, &x.v, &x.got, &e),
	    SIM_EMISMATCH);
	assert_non_null(strstr(e.msg, "blame for 2 flows"));
	x.v.n_flows = 1;
	x.lost.n_drops = 3;
	assert_int_equal(res_score_algo(&x.w, &x.t, &x.lost, &x.v, &x.got, &e),
	    SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "the truth has drops for 3 hops, the window has 4.");
	x.lost.n_drops = 4;
	x.lost.n_buffer = 4;
	assert_int_equal(res_score_algo(&x.w, &x.t, &x.lost, &x.v, &x.got, &e),
	    SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "the truth has drops of buffers for 4 hops and drops for 4.");
	x.lost.n_buffer = 3;
	x.lost.has_buffer = 1;
	assert_int_equal(res_score_algo(&x.w, &x.t, &x.lost, &x.v, &x.got, &e),
	    SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "the truth has drops of buffers for 3 hops and drops for 4.");
	x.lost.n_buffer = x.lost.has_buffer = 0;
	x.lost.n_path = 3;
	assert_int_equal(res_score_algo(&x.w, &x.t, &x.lost, &x.v, &x.got, &e),
	    SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "the truth has links for 3 hops and drops for 4.");
	x.lost.n_path = 0;
	x.lost.n_culprits = 2;
	assert_int_equal(res_score_algo(&x.w, &x.t, &x.lost, &x.v, &x.got, &e),
	    SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "the truth has culprits of 2 flows, the window has 1.");
	x.lost.n_culprits = 0;
	assert_ok(
	    res_score_algo(&x.w, &x.t, &x.lost, &x.v, &x.got, test_err()));
	done(&x);
}

/* --- brute force ----------------------------------------------------------*/

#define N_LINKS 10

/* The definitions of schema.h over tables indexed by link. */
struct oracle {
	double rate[N_LINKS]; /* the largest; 0 = no fault */
	size_t k;
};

/* A place of the top k is held by one of those with its score, by each with
 * the same chance. */
static double top_by_place(const struct oracle *o,
    const struct algo_verdicts *v)
{
	double sum = 0;
	for (size_t place = 0; place < o->k && place < v->n; place++) {
		size_t n = 0, n_faulty = 0;
		for (size_t i = 0; i < v->n; i++) {
			size_t above = 0, same = 0;
			for (size_t j = 0; j < v->n; j++) {
				above += v->score[j] > v->score[i];
				same += v->score[j] == v->score[i];
			}
			if (above > place || above + same <= place)
				continue;
			n++;
			n_faulty += o->rate[v->link[i]] > 0;
		}
		sum += (double)n_faulty / (double)n;
	}
	return sum;
}

/* The sum over all orders of V that descend, and how many there are. */
struct orders {
	const struct trial *x;
	size_t n_listed, n_orders, n_found;
	size_t at[N_LINKS];
};

static void count_orders(struct orders *o)
{
	const struct algo_verdicts *v = &o->x->v;
	const size_t k = truth_n_faulty(&o->x->t), n = o->n_listed;
	if (n == v->n) {
		o->n_orders++;
		for (size_t i = 0; i < n && i < k; i++)
			o->n_found +=
			    truth_is_faulty(&o->x->t, v->link[o->at[i]]);
		return;
	}
	for (size_t i = 0; i < v->n; i++) {
		size_t j = 0;
		while (j < n && o->at[j] != i)
			j++;
		if (j < n || (n > 0 && v->score[o->at[n - 1]] < v->score[i]))
			continue;
		o->at[n] = i;
		o->n_listed = n + 1;
		count_orders(o);
		o->n_listed = n;
	}
}

static void oracle_flow(const struct oracle *o, struct trial *x, size_t i,
    struct res_algo_metrics *m)
{
	uint32_t max = 0;
	topo_link most = TOPO_NONE, last = TOPO_NONE, faulty = TOPO_NONE;
	for (uint64_t h = x->w.hops.off[i]; h < x->w.hops.off[i + 1]; h++)
		if (x->lost.drops[h] > max)
			max = x->lost.drops[h];
	for (uint64_t h = x->w.hops.off[i + 1]; h-- > x->w.hops.off[i];) {
		topo_link l = x->w.hops.link[h];
		if (x->lost.drops[h] == 0)
			continue;
		if (last == TOPO_NONE)
			last = l;
		if (faulty == TOPO_NONE && o->rate[l] > 0)
			faulty = l;
		if (x->lost.drops[h] == max)
			most = l;
	}
	topo_link released = faulty != TOPO_NONE ? faulty : last;
	topo_link b = x->v.blame[i];
	int counts = b != TOPO_NONE || faulty != TOPO_NONE;
	int most_faulty = most != TOPO_NONE && o->rate[most] > 0;
	m->flows_all += 1;
	m->hits_all += b != TOPO_NONE && b == most;
	m->flows_kept += b != TOPO_NONE;
	m->hits_kept += b != TOPO_NONE && b == most;
	m->flows_fault += most_faulty;
	m->hits_fault += most_faulty && b == most;
	m->flows_released += counts;
	m->hits_released += counts && b != TOPO_NONE && b == released;
	/* As the release's drivers do it: what was dropped by noise and is set
	 * aside was not dropped, and correct is what is equal. */
	if (b == TOPO_NONE && faulty == TOPO_NONE)
		released = TOPO_NONE;
	m->hits_printed += b == released;
	m->hits_spared += b == released;
}

static void oracle_links(const struct oracle *o, struct trial *x,
    struct res_algo_metrics *m)
{
	const struct algo_verdicts *v = &x->v;
	topo_link worst = TOPO_NONE;
	double worst_score = 0, rank = 1;
	int listed = 0;
	m->n_flagged = (double)v->n_flagged;
	m->n_links_true = m->n_top = (double)o->k;
	for (size_t i = 0; i < v->n_flagged; i++)
		m->n_flagged_true += o->rate[v->link[i]] > 0;
	/* No switch fails here. */
	m->n_found = m->n_flagged_true;
	m->n_to_find = m->n_links_true;
	m->n_unanswered = NAN;
	/* These windows have no sums of packets, and scores are votes. */
	m->f = NAN;
	for (unsigned b = 0; b < RES_N_CHANCE_BINS; b++)
		for (unsigned k = 0; k < 3; k++)
			res_chance_sums(m, b)[k] = NAN;
	m->n_top_true = top_by_place(o, v);
	for (topo_link l = 0; l < N_LINKS; l++)
		if (o->rate[l] > 0 &&
		    (worst == TOPO_NONE || o->rate[l] > o->rate[worst]))
			worst = l;
	m->value = m->bound = m->value_status = NAN;
	m->n_worst = worst != TOPO_NONE;
	m->worst_rank = m->last_rank = m->lead = NAN;
	if (worst == TOPO_NONE)
		return;
	for (size_t i = 0; i < v->n; i++)
		if (v->link[i] == worst) {
			worst_score = v->score[i];
			listed = 1;
		}
	for (size_t i = 0; i < v->n; i++)
		rank += v->score[i] > worst_score;
	m->worst_rank = rank;
	m->worst_first = listed && rank == 1;
	/* The greatest of the ranks of all links with a fault, one by one. */
	m->last_rank = 0;
	for (topo_link l = 0; l < N_LINKS; l++) {
		double score = 0, at = 1;
		for (size_t i = 0; i < v->n; i++)
			if (v->link[i] == l)
				score = v->score[i];
		for (size_t i = 0; i < v->n; i++)
			at += v->score[i] > score;
		if (o->rate[l] > 0)
			m->last_rank = fmax(m->last_rank, at);
	}
	double best_good = 0;
	for (size_t i = 0; i < v->n; i++)
		if (o->rate[v->link[i]] == 0)
			best_good = fmax(best_good, v->score[i]);
	m->lead = worst_score - best_good;
}

/* --- chances and F -------------------------------------------------------- */

/* Links 2 and 4 and switch 7 failed together, link 6 by itself. */
static void chances_are_counted_by_what_they_state(void **state)
{
	(void)state;
	struct trial x = {0};
	add_both(&x);
	add_verdict(&x, 2, 1);
	add_verdict(&x, 3, 0.99);
	add_verdict(&x, ALL_LINKS + 7, 0.97);
	add_verdict(&x, 4, 0.9);
	add_verdict(&x, ALL_LINKS + 4, 0.1);
	add_verdict(&x, 6, 0.0625);
	add_verdict(&x, 8, 0.01);
	add_verdict(&x, 9, 0.009); /* too unlikely to count */
	score(&x);
	for (unsigned b = 0; b < RES_N_CHANCE_BINS; b++)
		assert_true(isnan(*res_chance_sums(&x.got, b)));
	x.v.chances = 1;
	score(&x);
	static const struct res_chance_bin want[RES_N_CHANCE_BINS] =
	    {{2, 0.0725, 1}, {1, 0.1, 0}, {0, 0, 0}, {2, 1.87, 2},
		{2, 1.99, 1}};
	for (unsigned b = 0; b < RES_N_CHANCE_BINS; b++) {
		const double *got = res_chance_sums(&x.got, b);
		assert_near(got[0], want[b].n, 0);
		assert_near(got[1], want[b].stated, 1e-12);
		assert_near(got[2], want[b].n_true, 0);
	}
	done(&x);
}

/* Switch 7 and link 6 are to be found; one of both is, among two accused. */
static void f_is_of_windows_with_sums_of_packets(void **state)
{
	(void)state;
	const struct obs_tallies sums = {0};
	struct trial x = {0};
	add_both(&x);
	add_verdict(&x, 6, 4);
	add_verdict(&x, 9, 3);
	x.v.n_flagged = 2;
	score(&x);
	assert_true(isnan(x.got.f));
	x.w.tallies = &sums;
	score(&x);
	assert_near(x.got.f, 0.5, 1e-15);
	x.v.n_flagged = 1;
	score(&x);
	assert_near(x.got.f, 2 / 3., 1e-15);
	x.v.n_flagged = 0;
	score(&x);
	assert_near(x.got.f, 0, 0);
	x.v.flags = 0;
	score(&x);
	assert_true(isnan(x.got.f));
	x.v.flags = 1;
	truth_free(&x.t);
	score(&x);
	assert_true(isnan(x.got.f));
	x.w.tallies = NULL;
	done(&x);
}

static void random_trial(struct trial *x, struct sim_rng *r)
{
	unsigned n_flows = sim_rng_below(r, 12), n_faults = sim_rng_below(r, 6);
	unsigned first = sim_rng_below(r, N_LINKS);
	*x = (struct trial){0};
	for (unsigned i = 0; i < n_faults; i++)
		add_fault(x, sim_rng_below(r, N_LINKS),
		    sim_rng_below(r, 4) * 0.25);
	for (unsigned i = 0; i < n_flows; i++) {
		unsigned n = 1 + sim_rng_below(r, 5);
		topo_link hop[8], from = sim_rng_below(r, N_LINKS);
		uint32_t drops[8];
		for (unsigned j = 0; j < n; j++) {
			hop[j] = (from + 3 * j) % N_LINKS;
			drops[j] = sim_rng_below(r, 3);
		}
		add_flow(x, n, hop, drops, sim_rng_below(r, 4));
	}
	unsigned n = sim_rng_below(r, N_LINKS + 1);
	for (unsigned i = 0; i < n; i++)
		add_verdict(x, (first + 7 * i) % N_LINKS,
		    1 + sim_rng_below(r, 4));
	x->v.n_flagged = n ? sim_rng_below(r, n + 1) : 0;
	x->v.flags = 1;
	assert_ok(algo_verdicts_reserve_flows(&x->v, n_flows, test_err()));
	for (unsigned i = 0; i < n_flows; i++)
		if (sim_rng_below(r, 4))
			x->v.blame[i] = sim_rng_below(r, N_LINKS);
	x->w.n_flows += sim_rng_below(r, 3); /* lost nothing, not seen */
}

static void every_metric_agrees_with_brute_force(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 3000; run++) {
		struct sim_rng r;
		struct trial x;
		struct oracle o = {0};
		struct res_algo_metrics want = {.detect_s = NAN,
		    .right_share = NAN};
		test_rng(&r, run);
		random_trial(&x, &r);
		for (size_t i = 0; i < x.t.n_faults; i++) {
			double *rate = &o.rate[x.t.fault[i].link];
			*rate = fmax(*rate, x.t.fault[i].rate);
		}
		for (topo_link l = 0; l < N_LINKS; l++)
			o.k += o.rate[l] > 0;
		want.flows_printed = (double)x.w.n_flows;
		if (x.w.n_flows == 0)
			want.flows_printed = want.hits_printed =
			    want.hits_spared = NAN;
		want.hits_printed += (double)(x.w.n_flows - x.w.flows.n);
		for (size_t i = 0; i < x.w.flows.n; i++)
			want.hits_printed += x.w.flows.n_retx[i] == 0;
		for (size_t i = 0; i < x.w.flows.n; i++)
			if (x.w.flows.n_retx[i] > 0)
				oracle_flow(&o, &x, i, &want);
		oracle_links(&o, &x, &want);
		score(&x);
#define X(name, ...)                                                           \
	if (fabs(want.name - x.got.name) > 1e-14 * fabs(want.name) ||          \
	    isnan(want.name) != isnan(x.got.name))                             \
		fail_msg("seed %llu run %u: %s = %g, wanted %g",               \
		    (unsigned long long)test_seed(), run, #name, x.got.name,   \
		    want.name);
		RES_ALGO_METRICS(X)
#undef X
		done(&x);
	}
}

/* An order that descends is any that puts equals in any order: the mean over
 * all of them, counted. */
static void the_top_k_is_the_mean_over_all_orders_of_equals(void **state)
{
	size_t n_parts = 0;
	(void)state;
	for (uint32_t run = 0; run < 3000; run++) {
		struct sim_rng r;
		struct trial x;
		test_rng(&r, run);
		random_trial(&x, &r);
		/* 7! orders at most. */
		x.v.n = x.v.n > 7 ? 7 : x.v.n;
		x.v.n_flagged = x.v.n_flagged > x.v.n ? x.v.n : x.v.n_flagged;
		struct orders o = {.x = &x};
		count_orders(&o);
		score(&x);
		const double want = (double)o.n_found / (double)o.n_orders;
		n_parts += want != floor(want);
		if (fabs(x.got.n_top_true - want) > 1e-14 * want)
			fail_msg("seed %llu run %u: %.17g, wanted %.17g",
			    (unsigned long long)test_seed(), run,
			    x.got.n_top_true, want);
		done(&x);
	}
	assert_true(n_parts > 300);
}

static void verdict_swap(struct algo_verdicts *v, size_t i, size_t j)
{
	const topo_link link = v->link[i];
	const double s = v->score[i];
	v->link[i] = v->link[j];
	v->score[i] = v->score[j];
	v->link[j] = link;
	v->score[j] = s;
}

/* Flagged ones among themselves, and the others. */
static void the_order_of_a_list_is_nothing_to_any_metric(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 2000; run++) {
		struct res_algo_metrics was;
		struct sim_rng r;
		struct trial x;
		test_rng(&r, run);
		random_trial(&x, &r);
		score(&x);
		was = x.got;
		const size_t n = x.v.n, flagged = x.v.n_flagged;
		for (size_t i = 1; i < flagged; i++)
			verdict_swap(&x.v, i,
			    sim_rng_below(&r, (uint32_t)i + 1));
		for (size_t i = 1; i < n - flagged; i++)
			verdict_swap(&x.v, flagged + i,
			    flagged + sim_rng_below(&r, (uint32_t)i + 1));
		score(&x);
		if (memcmp(&was, &x.got, sizeof(was)) != 0)
			fail_msg("seed %llu run %u: %g of the top k, then %g",
			    (unsigned long long)test_seed(), run,
			    was.n_top_true, x.got.n_top_true);
		done(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_culprit_that_is_told_goes_before_the_drops),
	    cmocka_unit_test(verdicts_of_switches_are_scored_by_switches),
	    cmocka_unit_test(verdicts_of_both_are_scored_by_what_each_is),
	    cmocka_unit_test(scoring_reports_missing_memory),
	    cmocka_unit_test(a_failed_switch_is_found_by_its_links_in_part),
	    cmocka_unit_test(the_epoch_counts_flows_packets_and_faulty_links),
	    cmocka_unit_test(a_full_buffer_is_no_fault),
	    cmocka_unit_test(an_empty_epoch_scores_zero),
	    cmocka_unit_test(the_culprit_dropped_most_and_the_first_of_these),
	    cmocka_unit_test(flows_without_a_retransmission_do_not_count),
	    cmocka_unit_test(a_flow_whose_drops_nobody_knows_is_a_miss),
	    cmocka_unit_test(flows_set_aside_miss_in_all_but_not_in_kept),
	    cmocka_unit_test(hits_fault_counts_culprits_with_a_fault_alone),
	    cmocka_unit_test(
		the_released_rule_takes_the_last_faulty_else_the_last),
	    cmocka_unit_test(one_that_blames_nobody_has_no_accuracy),
	    cmocka_unit_test(one_that_only_ranks_has_no_flags),
	    cmocka_unit_test(flags_are_held_against_links_that_have_a_fault),
	    cmocka_unit_test(equals_share_the_places_of_the_top_k),
	    cmocka_unit_test(the_worst_link_has_its_competition_rank),
	    cmocka_unit_test(
		an_empty_answer_does_not_rank_the_worst_link_first),
	    cmocka_unit_test(only_programs_have_a_value_a_bound_and_a_status),
	    cmocka_unit_test(what_does_not_fit_the_window_is_refused),
	    cmocka_unit_test(chances_are_counted_by_what_they_state),
	    cmocka_unit_test(f_is_of_windows_with_sums_of_packets),
	    cmocka_unit_test(every_metric_agrees_with_brute_force),
	    cmocka_unit_test(the_top_k_is_the_mean_over_all_orders_of_equals),
	    cmocka_unit_test(the_order_of_a_list_is_nothing_to_any_metric),
	};
	return cmocka_run_group_tests_name("results/score", tests, NULL, NULL);
}
