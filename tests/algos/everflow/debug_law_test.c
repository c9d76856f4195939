/* tests/algos/everflow/debug_law_test.c -- how often what is healthy is accused.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each rule of a debugger is tried on counts and times that were drawn by the
 * law of a healthy network, so often that its stated rate of false alarms shows.
 * A test fails with less than 1e-6 by chance under a new seed.
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

#include "algos/everflow/drop_judge.h"
#include "algos/everflow/ecmp_groups.h"
#include "algos/everflow/guided.h"
#include "algos/everflow/link_times.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"

/* K of N is more than a rate of P explains, but for a chance of 1e-6. */
static void assert_at_most(const char *what, unsigned k, unsigned n, double p)
{
	print_message("%s: %u of %u, stated %g\n", what, k, n, p);
	if (k > 0 && gsl_cdf_binomial_Q(k - 1, p, n) < 1e-6)
		fail_msg("%s: %u of %u, but %g is stated", what, k, n, p);
}

/* Looked at after each probe, as a debugger may look at any time. */
static void evidence_of_losses_is_rarely_great_ever(void **state)
{
	enum { RUNS = 4000, PROBES = 3000 };
	static const double rates[] = {1e-4, 1e-3, 1e-2};
	(void)state;
	for (int c = 0; c < 3; c++) {
		unsigned crossed = 0;
		for (uint32_t run = 0; run < RUNS; run++) {
			struct sim_rng r;
			uint64_t lost = 0;
			int great = 0;
			test_rng(&r, 10 * run + (uint32_t)c);
			/* It grows at losses only. */
			for (uint64_t n = 1; n <= PROBES; n++) {
				if (sim_rng_u01(&r) >= rates[c])
					continue;
				lost++;
				great |=
				    algo_drop_evidence(lost, n, rates[c]) >= 50;
			}
			crossed += (unsigned)great;
		}
		assert_at_most("evidence of 50", crossed, RUNS, 0.02);
	}
	/* And what is lossy shows soon: 5 % of 300, and 0.2 % of 3000. */
	assert_true(algo_drop_evidence(15, 300, 1e-4) > 1e20);
	assert_true(algo_drop_evidence(6, 3000, 1e-4) > 500);
	assert_true(algo_drop_evidence(0, 3000, 1e-4) < 1);
	assert_true(algo_drop_evidence(300, 300, 1e-4) > 1e300);
	assert_true(algo_drop_evidence(3, 2, 1e-4) == 0);
}

/* The chance of a skew is one: below p it is with p, at the ends that are used,
 * and never much more often. */
static void a_skew_has_the_chance_that_it_says(void **state)
{
	enum { RUNS = 200000 };
	static const struct {
		uint32_t n;
		unsigned flows;
	} cases[] = {{2, 20}, {4, 40}, {4, 400}, {8, 80}, {16, 5000}};
	(void)state;
	for (int c = 0; c < 5; c++) {
		unsigned below[3] = {0};
		struct sim_rng r;
		const uint32_t n = cases[c].n;
		test_rng(&r, (uint32_t)c);
		for (uint32_t run = 0; run < RUNS; run++) {
			double p[16], count[16];
			unsigned k[16];
			for (uint32_t i = 0; i < n; i++)
				p[i] = 1;
			gsl_ran_multinomial(&r.gsl, n, cases[c].flows, p, k);
			for (uint32_t i = 0; i < n; i++)
				count[i] = k[i];
			const struct algo_skew s = algo_skew_of(count, n);
			below[0] += s.chance < 1e-2;
			below[1] += s.chance < 1e-3;
			below[2] += s.chance < 1e-4;
		}
		/* Counts are whole, so of 20 flows at two next hops few levels
		 * can be met: a third more is allowed for that. */
		assert_at_most("skew 1e-2", below[0], RUNS, 1.35e-2);
		assert_at_most("skew 1e-3", below[1], RUNS, 1.6e-3);
		assert_at_most("skew 1e-4", below[2], RUNS, 2.5e-4);
	}
}

/* --- times of links ------------------------------------------------------- */
enum { CABLES = 12, ROUNDS = 200 };

/* Times of T1-T2 cables: exponential with jitter, the last one later by what the
 * case says. */
static void draw_rounds(struct sim_rng *r, const struct topo *t,
    struct algo_round round[], double late, double share)
{
	for (uint32_t c = 0; c < CABLES; c++)
		for (int i = 0; i < ROUNDS; i++) {
			struct algo_round *x = &round[c * ROUNDS + i];
			const int slow =
			    c == CABLES - 1 && sim_rng_u01(r) < share;
			*x = (struct algo_round){.cable = t->clos.cable_t1 + c,
			    .us = 10 + gsl_ran_exponential(&r->gsl, 20) +
				gsl_ran_laplace(&r->gsl, 10) +
				(slow ? late : 0),
			    .back_us = NAN,
			    .sent_ns = (sim_ns)i};
		}
}

static int round_order(const void *a, const void *b)
{
	const struct algo_round *x = a, *y = b;
	if (x->cable != y->cable)
		return x->cable < y->cable ? -1 : 1;
	return x->us < y->us ? -1 : x->us > y->us;
}

static size_t judge_rounds(struct sim_rng *r, const struct topo *t, double late,
    double share, double excess, struct algo_slow_cable *first)
{
	static struct algo_round round[CABLES * ROUNDS];
	const struct algo_rounds all = {round, CABLES * ROUNDS};
	struct algo_slow_cable *slow;
	size_t n;
	draw_rounds(r, t, round, late, share);
	qsort(round, CABLES * ROUNDS, sizeof(round[0]), round_order);
	assert_ok(
	    algo_slow_cables(&all, t, excess, 0.01, &slow, &n, test_err()));
	if (n > 0)
		*first = slow[0];
	free(slow);
	return n;
}

static void open_clos(struct topo *t)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 2,
	    .n_t1 = 3,
	    .n_t2 = 4,
	    .n_hosts = 2};
	assert_ok(topo_open_clos(t, &shape, test_err()));
}

/* All rounds of a cable take as long, one of them longer than its peers': which of
 * its links it is nothing tells. */
static void a_constant_delay_has_no_direction(void **state)
{
	static struct algo_round round[CABLES * ROUNDS];
	const struct algo_rounds all = {round, CABLES * ROUNDS};
	struct algo_slow_cable *slow;
	struct topo t;
	size_t n;
	(void)state;
	open_clos(&t);
	for (uint32_t i = 0; i < CABLES * ROUNDS; i++) {
		const uint32_t c = i / ROUNDS;
		round[i] = (struct algo_round){.cable = t.clos.cable_t1 + c,
		    .us = c == 2 ? 90 : 10,
		    .back_us = c == 2 ? 85 : 5,
		    .down = i % 2,
		    .sent_ns = i};
	}
	assert_ok(algo_slow_cables(&all, &t, 1, 0.01, &slow, &n, test_err()));
	assert_int_equal(n, 1);
	assert_int_equal(slow[0].cable, t.clos.cable_t1 + 2);
	assert_int_equal(slow[0].link, TOPO_NONE);
	free(slow);
	topo_close(&t);
}

/* Both of a cable's links vary by one law, and it is later than its peers: what is beyond
 * two standard errors is that with a chance of 4.6 %, of a normal sum. That of products of
 * exponential times is not quite one, of 200 rounds: 5.0 % by 24 seeds. */
static void links_alike_have_no_direction(void **state)
{
	enum { RUNS = 1500 };
	static struct algo_round round[CABLES * ROUNDS];
	const struct algo_rounds all = {round, CABLES * ROUNDS};
	unsigned told = 0;
	struct topo t;
	(void)state;
	open_clos(&t);
	for (uint32_t run = 0; run < RUNS; run++) {
		struct algo_slow_cable *slow;
		struct sim_rng r;
		size_t n;
		test_rng(&r, run);
		draw_rounds(&r, &t, round, 0, 0);
		for (uint32_t i = 0; i < CABLES * ROUNDS; i++) {
			struct algo_round *x = &round[i];
			const double up = gsl_ran_exponential(&r.gsl, 10),
				     down = gsl_ran_exponential(&r.gsl, 10);
			x->down = i % 2;
			x->us = up + down + (i / ROUNDS == 2 ? 200 : 0);
			x->back_us = i % 2 ? up : down;
			x->back_us += i / ROUNDS == 2 ? 100 : 0;
		}
		qsort(round, CABLES * ROUNDS, sizeof(round[0]), round_order);
		assert_ok(algo_slow_cables(&all, &t, 20, 0.01, &slow, &n,
		    test_err()));
		assert_int_equal(n, 1);
		assert_int_equal(slow[0].cable, t.clos.cable_t1 + 2);
		told += slow[0].link != TOPO_NONE;
		free(slow);
	}
	print_message("          %u of %u have a direction\n", told, RUNS);
	assert_at_most("a direction", told, RUNS, 0.055);
	topo_close(&t);
}

/* Without any least effect, so that the tests alone are tried. */
static void healthy_cables_are_slow_with_the_stated_chance(void **state)
{
	enum { RUNS = 1500 };
	struct topo t = {0};
	unsigned alarms = 0;
	(void)state;
	open_clos(&t);
	for (uint32_t run = 0; run < RUNS; run++) {
		struct algo_slow_cable s;
		struct sim_rng r;
		test_rng(&r, run);
		alarms += judge_rounds(&r, &t, 0, 0, 0, &s) > 0;
	}
	assert_at_most("healthy cables", alarms, RUNS, 0.01);
	topo_close(&t);
}

static void slow_cables_are_told_by_level_tail_or_spread(void **state)
{
	static const struct {
		double late, share;
		int intermittent;
	} cases[] = {{50, 1, 0}, {400, 0.1, 1}, {200, 0.3, 1}, {100, 1, 0}};
	struct topo t = {0};
	(void)state;
	open_clos(&t);
	for (int c = 0; c < 4; c++) {
		unsigned right = 0;
		for (uint32_t run = 0; run < 200; run++) {
			struct algo_slow_cable s = {.n = 0};
			struct sim_rng r;
			test_rng(&r, 5000 + run);
			const size_t n = judge_rounds(&r, &t, cases[c].late,
			    cases[c].share, 20, &s);
			right += n == 1 &&
			    s.cable == t.clos.cable_t1 + CABLES - 1 &&
			    s.intermittent == cases[c].intermittent &&
			    s.link == TOPO_NONE;
		}
		print_message("%g us, %g of time: %u of 200\n", cases[c].late,
		    cases[c].share, right);
		assert_true(right >= 190);
	}
	topo_close(&t);
}

/* --- mirrors that are lost ------------------------------------------------ */
/* Rounds by a link of which mirrors lose M and the link P; first copies of S,
 * then of N, then of S again. */
static void draw_probes(struct sim_rng *r, const struct topo *t,
    struct algo_trace_store *store, struct obs_guided *sent, double m, double p,
    uint32_t n)
{
	const topo_switch a = topo_clos_t1(&t->clos, 0, 0),
			  b = topo_clos_t2(&t->clos, 0);
	for (uint32_t i = 0; i < n; i++) {
		const struct algo_guided g = {.order = 9,
		    .number = i,
		    .tuple = {topo_addr_of_host(0), 0, 1, 2, TOPO_PROTO_TCP},
		    .n_via = 3,
		    .via = {a, b, a}};
		const struct obs_guided_probe row =
		    algo_guided_row(&g, 0, i * SIM_MS);
		struct algo_trace x = {.src_ip = row.src_ip,
		    .dst_ip = row.dst_ip,
		    .src_port = row.src_port,
		    .dst_port = row.dst_port,
		    .seq = 9,
		    .ack = i,
		    .proto = TOPO_PROTO_TCP,
		    .marks = ALGO_TRACE_DEBUG};
		struct algo_hop hop[3];
		const int lost = sim_rng_u01(r) < p;
		unsigned missing = 0;
		assert_ok(obs_guided_add(sent, &row, test_err()));
		for (unsigned k = 0; k < (lost ? 1u : 3u); k++) {
			if (sim_rng_u01(r) < m) {
				missing++;
				continue;
			}
			/* What a later copy shows to be missing. */
			x.n_lost = (uint16_t)(x.n_lost + missing);
			missing = 0;
			hop[x.n_hops++] = (struct algo_hop){.t_ns = 1 + k,
			    .node = g.via[k],
			    .in_link = TOPO_NONE,
			    .layer = (uint8_t)(2 - k)};
		}
		if (x.n_hops > 0)
			assert_ok(
			    algo_trace_store_add(store, &x, hop, test_err()));
	}
}

static int accuses(double m, double p, uint32_t run, double *rate)
{
	struct topo t = {0};
	struct algo_trace_store store = {0};
	struct obs_guided sent = {0};
	struct algo_drop_judge j;
	struct sim_rng r;
	test_rng(&r, run);
	open_clos(&t);
	draw_probes(&r, &t, &store, &sent, m, p, 2000);
	const struct algo_debug_in in = {.routing = {&t, 1, 1},
	    .traces = &store,
	    .sent = &sent,
	    .now = SIM_NEVER};
	assert_ok(algo_drop_judge_make(&j, &in, 1e-5, 0.01, test_err()));
	const topo_link l =
	    topo_link_between(&t, t.n_hosts + topo_clos_t1(&t.clos, 0, 0),
		t.n_hosts + topo_clos_t2(&t.clos, 0));
	const struct algo_drop_judged *x = algo_drop_judged_of(&j, l);
	const int n = (int)j.n;
	*rate = x ? x->rate : -1;
	algo_drop_judge_free(&j);
	algo_trace_store_free(&store);
	obs_guided_free(&sent);
	topo_close(&t);
	return n;
}

static void lost_mirrors_are_no_drops(void **state)
{
	enum { RUNS = 400 };
	static const double m[] = {1e-5, 1e-3, 1e-2, 5e-2, 0.2};
	(void)state;
	for (int c = 0; c < 5; c++) {
		unsigned alarms = 0, found = 0;
		for (uint32_t run = 0; run < RUNS; run++) {
			double rate;
			alarms += accuses(m[c], 1e-6, run, &rate) > 0;
			found += run < 100 && accuses(m[c], 0.05, run, &rate) &&
			    fabs(rate - 0.05) < 0.025;
		}
		assert_at_most("lost mirrors", alarms, RUNS, 0.01);
		print_message("  and 5 %% of losses are found in %u of 100\n",
		    found);
		assert_true(m[c] > 0.1 || found >= 97);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(evidence_of_losses_is_rarely_great_ever),
	    cmocka_unit_test(a_skew_has_the_chance_that_it_says),
	    cmocka_unit_test(healthy_cables_are_slow_with_the_stated_chance),
	    cmocka_unit_test(slow_cables_are_told_by_level_tail_or_spread),
	    cmocka_unit_test(a_constant_delay_has_no_direction),
	    cmocka_unit_test(links_alike_have_no_direction),
	    cmocka_unit_test(lost_mirrors_are_no_drops),
	};
	return cmocka_run_group_tests_name("algos/everflow/debug (law)", tests,
	    NULL, NULL);
}
