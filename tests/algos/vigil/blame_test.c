/* tests/algos/vigil/blame_test.c -- each rule for ties and for noise, by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/blame.h"

#include "algos/vigil/cover.h"
#include "algos/vigil/program.h"
#include "algos/vigil/vote.h"
#include "tests/rigs/windows.h"
#include "tests/test.h"

struct fixture {
	struct obs w;
	struct algo_tally t;
	struct algo_verdicts v;
};

static void tally(struct fixture *f)
{
	assert_ok(algo_tally_open(&f->t, 20, test_err()));
	assert_ok(algo_tally_count(&f->t, &f->w, test_err()));
}

static void fixture_free(struct fixture *f)
{
	algo_tally_close(&f->t);
	algo_verdicts_free(&f->v);
	obs_free(&f->w);
}

static void by_votes(struct fixture *f, struct algo_blame how,
    struct sim_rng *r)
{
	algo_verdicts_clear(&f->v);
	assert_ok(
	    algo_blame_by_votes(&how, &f->t, &f->w, r, &f->v, test_err()));
	assert_int_equal(f->v.n_flows, f->w.flows.n);
}

/* 9 and 4 have two votes of 1/3 each; the others one. */
static void two_flows_that_share_two_links(struct fixture *f)
{
	WINDOW_ADD(&f->w, 1, 9, 4, 7);
	WINDOW_ADD(&f->w, 1, 2, 9, 4);
	tally(f);
}

static void the_hop_with_the_most_votes_is_blamed(void **state)
{
	(void)state;
	struct fixture f = {0};
	WINDOW_ADD(&f.w, 1, 1, 5, 3);
	WINDOW_ADD(&f.w, 1, 1, 6, 3, 8);
	WINDOW_ADD(&f.w, 0, 1, 5, 3);
	WINDOW_ADD(&f.w, 1, TOPO_NONE, 3, TOPO_NONE);
	WINDOW_ADD(&f.w, 1, TOPO_NONE);
	tally(&f);
	by_votes(&f, (struct algo_blame){0}, NULL);
	const topo_link want[] = {3, 3, TOPO_NONE, 3, TOPO_NONE};
	assert_memory_equal(f.v.blame, want, sizeof(want));
	fixture_free(&f);
}

static void ties_go_to_the_lowest_link_or_to_the_first_hop(void **state)
{
	(void)state;
	struct fixture f = {0};
	two_flows_that_share_two_links(&f);
	by_votes(&f, (struct algo_blame){.tie = ALGO_TIE_LOWEST}, NULL);
	assert_int_equal(f.v.blame[0], 4);
	assert_int_equal(f.v.blame[1], 4);
	by_votes(&f, (struct algo_blame){.tie = ALGO_TIE_FIRST}, NULL);
	assert_int_equal(f.v.blame[0], 9);
	assert_int_equal(f.v.blame[1], 9);
	fixture_free(&f);
}

/* 2 * 2000 fair draws; |heads - 2000| > 5 standard deviations (158) has
 * probability 6e-7 at a random seed. */
static void random_ties_choose_each_tied_link_alike_and_no_other(void **state)
{
	(void)state;
	struct fixture f = {0};
	struct sim_rng r, again;
	unsigned n_lowest = 0;
	two_flows_that_share_two_links(&f);
	test_rng(&r, 1);
	for (int i = 0; i < 2000; i++) {
		by_votes(&f, (struct algo_blame){.tie = ALGO_TIE_RANDOM}, &r);
		for (int j = 0; j < 2; j++) {
			assert_true(f.v.blame[j] == 4 || f.v.blame[j] == 9);
			n_lowest += f.v.blame[j] == 4;
		}
	}
	assert_in_range(n_lowest, 2000 - 158, 2000 + 158);

	/* One draw a tied flow and none elsewhere. */
	test_rng(&r, 2);
	test_rng(&again, 2);
	by_votes(&f, (struct algo_blame){.tie = ALGO_TIE_RANDOM}, &r);
	sim_rng_below(&again, 2);
	sim_rng_below(&again, 2);
	WINDOW_ADD(&f.w, 1, 4);
	assert_ok(algo_tally_count(&f.t, &f.w, test_err()));
	by_votes(&f, (struct algo_blame){.tie = ALGO_TIE_RANDOM}, &r);
	assert_int_equal(sim_rng_u32(&r), sim_rng_u32(&again));
	fixture_free(&f);
}

static void a_flow_alone_on_its_links_is_noise_by_own_vote(void **state)
{
	(void)state;
	const struct algo_blame own = {.noise = ALGO_NOISE_OWN_VOTE};
	struct fixture f = {0};
	WINDOW_ADD(&f.w, 1, 1, 2); /* shares 2 with the next */
	WINDOW_ADD(&f.w, 1, 2, 3, 4, 5, 6);
	WINDOW_ADD(&f.w, 1, 10, 11); /* alone, with 1/2 a vote on each */
	WINDOW_ADD(&f.w, 5, 12);     /* alone, with a whole vote */
	tally(&f);
	by_votes(&f, own, NULL);
	const topo_link want[] = {2, 2, TOPO_NONE, TOPO_NONE};
	assert_memory_equal(f.v.blame, want, sizeof(want));
	by_votes(&f, (struct algo_blame){.noise = ALGO_NOISE_NONE}, NULL);
	assert_int_equal(f.v.blame[2], 10);
	assert_int_equal(f.v.blame[3], 12);
	fixture_free(&f);
}

static void up_to_the_floor_is_noise_and_above_it_is_not(void **state)
{
	(void)state;
	struct algo_blame floor = {.noise = ALGO_NOISE_FLOOR,
	    .noise_floor = 0.2};
	struct fixture f = {0};
	WINDOW_ADD(&f.w, 1, 1, 2, 3, 4, 5); /* exactly 0.2 */
	WINDOW_ADD(&f.w, 1, 6, 7, 8, 9);    /* alone, but 0.25 */
	tally(&f);
	by_votes(&f, floor, NULL);
	assert_int_equal(f.v.blame[0], TOPO_NONE);
	assert_int_equal(f.v.blame[1], 6);
	floor.noise_floor = 0.25;
	by_votes(&f, floor, NULL);
	assert_int_equal(f.v.blame[1], TOPO_NONE);
	floor.noise_floor = 0.1999;
	by_votes(&f, floor, NULL);
	assert_int_equal(f.v.blame[0], 1);
	fixture_free(&f);
}

static void by_flags_only_flagged_links_are_blamed(void **state)
{
	(void)state;
	struct fixture f = {0};
	WINDOW_ADD(&f.w, 1, 1, 2, 3);
	WINDOW_ADD(&f.w, 1, 3, 4, 2);
	WINDOW_ADD(&f.w, 1, 1, 5, 6);
	WINDOW_ADD(&f.w, 1, 9, 8);
	WINDOW_ADD(&f.w, 1, TOPO_NONE, 8, 7);
	WINDOW_ADD(&f.w, 0, 1);
	tally(&f);
	/* Votes: 1, 2 and 3 have 2/3; 8 has 1; 9 has 1/2. */
	f.t.flagged[1] = f.t.flagged[3] = f.t.flagged[9] = 1;
	assert_ok(algo_blame_by_flags(ALGO_TIE_LOWEST, &f.t, &f.w, NULL, &f.v,
	    test_err()));
	const topo_link lowest[] = {1, 3, 1, 9, TOPO_NONE, TOPO_NONE};
	assert_memory_equal(f.v.blame, lowest, sizeof(lowest));

	f.t.flagged[2] = f.t.flagged[8] = 1;
	assert_ok(algo_blame_by_flags(ALGO_TIE_FIRST, &f.t, &f.w, NULL, &f.v,
	    test_err()));
	const topo_link first[] = {1, 3, 1, 8, 8, TOPO_NONE};
	assert_memory_equal(f.v.blame, first, sizeof(first));

	unsigned seen[4] = {0};
	struct sim_rng r;
	test_rng(&r, 3);
	for (int i = 0; i < 200; i++) {
		assert_ok(algo_blame_by_flags(ALGO_TIE_RANDOM, &f.t, &f.w, &r,
		    &f.v, test_err()));
		assert_in_range(f.v.blame[0], 1, 3);
		assert_int_equal(f.v.blame[2], 1);
		seen[f.v.blame[0]]++;
	}
	/* Never drawn in 200 draws of 3: probability 2e-35 at a random seed. */
	assert_true(seen[1] && seen[2] && seen[3]);
	fixture_free(&f);
}

/* One flow from pod 1 to pod 0 and one within pod 1, all hops tied. */
static void matlabs_ties_go_to_the_link_made_first(void **state)
{
	(void)state;
	struct fixture f = {0};
	struct topo t;
	struct sim_err e;
	const struct topo_clos shape = {2, 2, 2, 2, 2, .n_cables = 0};
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	const topo_link up = topo_clos_link_tor(&t.clos, 3, 1, TOPO_UP);
	const topo_link down = topo_clos_link_tor(&t.clos, 0, 0, TOPO_DOWN);
	WINDOW_ADD(&f.w, 1, topo_clos_link_host(7, TOPO_UP), up,
	    topo_clos_link_t1(&t.clos, 3, 1, TOPO_UP),
	    topo_clos_link_t1(&t.clos, 0, 1, TOPO_DOWN), down);
	WINDOW_ADD(&f.w, 1, topo_clos_link_host(5, TOPO_UP),
	    topo_clos_link_tor(&t.clos, 2, 1, TOPO_UP),
	    topo_clos_link_tor(&t.clos, 3, 1, TOPO_DOWN));
	assert_ok(algo_blame_tally(&f.t, ALGO_TIE_MATLAB, ALGO_KIND_LINK, &t,
	    test_err()));
	assert_ok(algo_tally_count(&f.t, &f.w, test_err()));
	by_votes(&f, (struct algo_blame){.tie = ALGO_TIE_MATLAB}, NULL);
	assert_int_equal(f.v.blame[0], down);
	assert_int_equal(f.v.blame[1],
	    topo_clos_link_tor(&t.clos, 2, 1, TOPO_UP));
	by_votes(&f, (struct algo_blame){.tie = ALGO_TIE_LOWEST}, NULL);
	assert_int_equal(f.v.blame[0], topo_clos_link_host(7, TOPO_UP));

	t.mesh = (struct topo_mesh *)&t; /* any: only looked at for NULL */
	algo_tally_close(&f.t);
	assert_int_equal(algo_blame_tally(&f.t, ALGO_TIE_MATLAB, ALGO_KIND_LINK,
			     &t, &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "tie matlab needs a Clos; this topology is a graph.");
	algo_tally_close(&f.t);
	assert_int_equal(algo_blame_tally(&f.t, ALGO_TIE_MATLAB,
			     ALGO_KIND_SWITCH, &t, &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "tie matlab is an order of links, and votes are on switches.");
	algo_tally_close(&f.t);
	assert_ok(algo_blame_tally(&f.t, ALGO_TIE_FIRST, ALGO_KIND_SWITCH, &t,
	    test_err()));
	t.mesh = NULL;
	topo_close(&t);
	fixture_free(&f);
}

/* The flows that an algorithm leaves without blame, of windows in which links
 * are many enough that some flows share none with another. */
static void assert_sets_aside_as_votes_do(const struct algo_ops *rival,
    const void *params)
{
	for (unsigned i = 0; i < 20; i++) {
		struct obs w = {0};
		struct algo_verdicts vote = {0}, v = {0};
		struct sim_rng r;
		unsigned n_aside = 0, n_blamed = 0;
		test_rng(&r, 40 + i);
		window_random(&w, 120, 60, &r);
		assert_ok(window_diagnose(&algo_vote, NULL, 120, &w, NULL,
		    &vote, test_err()));
		assert_ok(window_diagnose(rival, params, 120, &w, NULL, &v,
		    test_err()));
		for (size_t f = 0; f < w.flows.n; f++) {
			if ((v.blame[f] == TOPO_NONE) !=
			    (vote.blame[f] == TOPO_NONE))
				fail_msg("%s: window %u, flow %zu", rival->name,
				    i, f);
			n_aside +=
			    w.flows.n_retx[f] > 0 && v.blame[f] == TOPO_NONE;
			n_blamed += v.blame[f] != TOPO_NONE;
		}
		assert_true(n_aside > 0 && n_blamed > 0);
		algo_verdicts_free(&vote);
		algo_verdicts_free(&v);
		obs_free(&w);
	}
}

static void rivals_set_the_same_flows_aside_as_votes(void **state)
{
	const struct algo_blame own = {.noise = ALGO_NOISE_OWN_VOTE};
	const struct algo_cover_params cover = {.blame = own};
	const struct algo_program_params program = {.pivot_limit = 2000,
	    .time_limit = 10,
	    .blame = own};
	(void)state;
	assert_sets_aside_as_votes_do(&algo_cover, &cover);
	assert_sets_aside_as_votes_do(&algo_binary, &program);
	assert_sets_aside_as_votes_do(&algo_integer, &program);
}

/* --- host links in ties --------------------------------------------------- */

/* Whom one flow is blamed on, written down again from the definition: of the
 * known hops with the most votes the first in a list of all links, that of
 * rule FABRIC having those of hosts at its end. */
static topo_link oracle(const struct obs *w, size_t flow, uint32_t n_links,
    uint32_t n_host_links, int fabric)
{
	uint64_t votes[64] = {0}, most = 0;
	topo_link blamed = TOPO_NONE;
	for (size_t f = 0; f < w->flows.n; f++) {
		unsigned known = 0;
		for (unsigned i = 0; i < obs_n_hops(w, f); i++)
			known += obs_path(w, f)[i] != TOPO_NONE;
		for (unsigned i = 0; i < obs_n_hops(w, f); i++)
			if (w->flows.n_retx[f] > 0 &&
			    obs_path(w, f)[i] != TOPO_NONE)
				votes[obs_path(w, f)[i]] += 720720 / known;
	}
	for (uint32_t i = 0; w->flows.n_retx[flow] > 0 && i < n_links; i++) {
		const topo_link l = fabric ? (i + n_host_links) % n_links : i;
		for (unsigned k = 0; k < obs_n_hops(w, flow); k++)
			if (obs_path(w, flow)[k] == l && votes[l] > most) {
				most = votes[l];
				blamed = l;
			}
	}
	return blamed;
}

/* On random windows, few and many flows, from no host to nothing but hosts. */
static void fabric_ties_go_to_links_between_switches(void **state)
{
	(void)state;
	enum { N_LINKS = 20, RUNS = 3000 };
	unsigned n_other = 0;
	for (uint32_t run = 0; run < RUNS; run++) {
		struct topo t = {.n_links = N_LINKS, .n_hosts = 1 + run % 10};
		struct fixture f = {0};
		struct sim_rng r;
		test_rng(&r, run);
		window_random(&f.w, N_LINKS, 1 + run % 7, &r);
		assert_ok(algo_blame_tally(&f.t, ALGO_TIE_FABRIC,
		    ALGO_KIND_LINK, &t, test_err()));
		assert_ok(algo_tally_count(&f.t, &f.w, test_err()));
		for (int fabric = 0; fabric < 2; fabric++) {
			by_votes(&f,
			    (struct algo_blame){.tie = fabric
				    ? ALGO_TIE_FABRIC
				    : ALGO_TIE_LOWEST},
			    NULL);
			for (size_t i = 0; i < f.w.flows.n; i++) {
				const topo_link want = oracle(&f.w, i, N_LINKS,
				    2 * t.n_hosts, fabric);
				if (f.v.blame[i] != want)
					fail_msg("run %u, flow %zu: %u, not %u",
					    run, i, f.v.blame[i], want);
				n_other += fabric &&
				    want !=
					oracle(&f.w, i, N_LINKS, 2 * t.n_hosts,
					    0);
			}
		}
		fixture_free(&f);
	}
	assert_true(n_other > RUNS / 10); /* the rules do differ */
}

/* A lone drop between two hosts of a Clos, by the flow that lost it. */
static void a_lone_drop_is_a_hosts_or_the_fabrics(void **state)
{
	(void)state;
	const struct topo_clos shape = {2, 2, 2, 2, 2, .n_cables = 0};
	struct fixture f = {0};
	struct topo t;
	struct sim_err e;
	topo_link path[TOPO_MAX_HOPS];
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	assert_int_equal(topo_path(&t, 1, 7, 0, 5, path), 6);
	WINDOW_ADD(&f.w, 1, path[0], path[1], path[2], path[3], path[4],
	    path[5]);
	assert_ok(algo_blame_tally(&f.t, ALGO_TIE_FABRIC, ALGO_KIND_LINK, &t,
	    test_err()));
	assert_ok(algo_tally_count(&f.t, &f.w, test_err()));
	by_votes(&f, (struct algo_blame){.tie = ALGO_TIE_FABRIC}, NULL);
	assert_int_not_equal(topo_class_of(&t, f.v.blame[0]), TOPO_HOST_TOR);
	assert_int_not_equal(topo_class_of(&t, f.v.blame[0]), TOPO_TOR_HOST);
	by_votes(&f, (struct algo_blame){.tie = ALGO_TIE_LOWEST}, NULL);
	assert_int_equal(topo_class_of(&t, f.v.blame[0]), TOPO_TOR_HOST);
	algo_tally_close(&f.t);
	assert_int_equal(algo_blame_tally(&f.t, ALGO_TIE_FABRIC,
			     ALGO_KIND_SWITCH, &t, &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "tie fabric is an order of links, and votes are on switches.");
	algo_tally_close(&f.t);

	/* A tally that no rule was named for knows of no hosts. */
	assert_ok(algo_tally_open(&f.t, t.n_links, test_err()));
	assert_ok(algo_tally_count(&f.t, &f.w, test_err()));
	assert_int_equal(algo_blame_by_flags(ALGO_TIE_FABRIC, &f.t, &f.w, NULL,
			     &f.v, &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg, "this algorithm has no tie rule fabric.");
	topo_close(&t);
	fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_hop_with_the_most_votes_is_blamed),
	    cmocka_unit_test(ties_go_to_the_lowest_link_or_to_the_first_hop),
	    cmocka_unit_test(
		random_ties_choose_each_tied_link_alike_and_no_other),
	    cmocka_unit_test(a_flow_alone_on_its_links_is_noise_by_own_vote),
	    cmocka_unit_test(up_to_the_floor_is_noise_and_above_it_is_not),
	    cmocka_unit_test(by_flags_only_flagged_links_are_blamed),
	    cmocka_unit_test(rivals_set_the_same_flows_aside_as_votes),
	    cmocka_unit_test(matlabs_ties_go_to_the_link_made_first),
	    cmocka_unit_test(fabric_ties_go_to_links_between_switches),
	    cmocka_unit_test(a_lone_drop_is_a_hosts_or_the_fabrics),
	};
	return cmocka_run_group_tests_name("algos/vigil/blame", tests, NULL,
	    NULL);
}
