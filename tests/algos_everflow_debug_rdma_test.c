/* tests/algos_everflow_debug_rdma_test.c -- algos/everflow/debug_rdma: NICs,
 * pauses and BGP, from packets to findings.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is injected must be found, and nothing be said where nothing is broken:
 * by exact intervals over runs of random networks. A new seed would have other
 * counts; that a bound that holds is missed is then less than one in a
 * thousand.
 */
#include "sim/stat.h"
#include "tests/rdma_world.h"
#include "topo/addr.h"

/* A random link of the way of queue pair 0 that is no host's own. */
static topo_link link_on_the_way(struct rdma_world *w)
{
	const struct packet_rdma_pair *p = &w->pair[0];
	const struct topo_tuple tuple = packet_rdma_tuple(p, 0);
	const struct scene *s = scenes_draw(&w->scenes, 0);
	topo_link path[TOPO_MAX_HOPS];
	const unsigned n = topo_path(&w->scenes.topo, s->ecmp_seed, p->from,
	    p->to, topo_tuple_digest(&tuple), path);
	return path[1 + sim_rng_below(&w->r, n - 2)];
}

static void say(const struct rdma_world *w, const char *what, unsigned run)
{
	printf("%s, run %u:\n", what, run);
	for (size_t i = 0; i < w->out.n_findings; i++) {
		const struct algo_finding *f = &w->out.finding[i];
		printf("  %s: node %u link %u rate %g [%g, %g] score %g\n",
		    algo_cause_words[f->cause], f->node, f->link, f->rate,
		    f->lo, f->hi, f->score);
	}
}

/* Fail unless RIGHT of RUNS is at least LEAST by its exact lower bound. */
static void assert_often(const char *what, unsigned right, unsigned runs,
    double least)
{
	double lo, hi;
	assert_ok(
	    sim_binomial_interval(right, runs, 0.95, &lo, &hi, test_err()));
	printf("%s: %u of %u, [%.4f, %.4f]\n", what, right, runs, lo, hi);
	if (lo < least)
		fail_msg("%s: %u of %u, lower bound %g, wanted %g", what, right,
		    runs, lo, least);
}

/* --- nothing is broken ---------------------------------------------------- */

static void run_healthy(const char *what, int congested, unsigned runs,
    unsigned first)
{
	unsigned alarms = 0;
	for (unsigned run = 0; run < runs; run++) {
		struct rdma_world w;
		rdma_open(&w, first + run);
		w.rdma.recovery =
		    run % 2 ? PACKET_RDMA_GO_BACK_0 : PACKET_RDMA_GO_BACK_N;
		w.mirror_loss = pow(10, -2 - (int)(run % 4));
		if (congested) {
			/* Ports are held for nine tenths of the time, and each
			 * pause is taken back; NICs hardly send. */
			w.rdma.paused = 0.9;
			w.pause.busy_per_s = 50;
			w.pause.busy_us = 20000;
			w.pause.off_us = 30 * pow(100, (run % 7) / 6.);
			w.pause.on_us = w.pause.off_us / 9;
		}
		rdma_live(&w);
		rdma_debug(&w);
		if (w.out.n_findings > 0)
			say(&w, what, run);
		alarms += w.out.n_findings > 0;
		rdma_close(&w);
	}
	assert_often(what, runs - alarms, runs, 0.99);
}

static void nothing_is_said_of_a_healthy_network(void **state)
{
	(void)state;
	run_healthy("healthy", 0, 400, 0);
}

static void nothing_is_said_of_a_congested_network(void **state)
{
	(void)state;
	run_healthy("congested", 1, 400, 1000);
}

/* --- what is injected ----------------------------------------------------- */

/* Go back 0: a finding for each sender over the lossy link, whose NAKs are
 * enough, and no other. */
static int is_right_of_nics(const struct rdma_world *w, unsigned *n_covered,
    unsigned *n_rates)
{
	int found = 0;
	for (size_t i = 0; i < w->out.n_findings; i++) {
		const struct algo_finding *f = &w->out.finding[i];
		int crosses = 0;
		for (unsigned k = 0; k < RDMA_PAIRS; k++)
			crosses |= w->pair[k].from == f->node && w->crosses[k];
		if (f->cause != ALGO_CAUSE_NIC_RESTART || !crosses)
			return 0;
		found |= f->node == w->pair[0].from;
		++*n_rates;
		*n_covered += f->lo <= w->loss && w->loss <= f->hi;
		assert_true(f->lo <= f->rate && f->rate <= f->hi);
	}
	return found;
}

static void a_nic_that_goes_back_to_0_is_named(void **state)
{
	unsigned right = 0, n_covered = 0, n_rates = 0;
	(void)state;
	for (unsigned run = 0; run < 250; run++) {
		struct rdma_world w;
		rdma_open(&w, 2000 + run);
		w.rdma.recovery = PACKET_RDMA_GO_BACK_0;
		w.lossy = link_on_the_way(&w);
		rdma_live(&w);
		rdma_debug(&w);
		const int is = is_right_of_nics(&w, &n_covered, &n_rates);
		if (!is)
			say(&w, "go back 0", run);
		right += (unsigned)is;
		rdma_close(&w);
	}
	assert_often("go back 0", right, 250, 0.95);
	assert_often("its rate", n_covered, n_rates, 0.9);
}

static int is_right_of_loss(const struct rdma_world *w, unsigned *n_covered,
    unsigned *n_links)
{
	uint64_t losses = 0;
	for (size_t i = 0; i < w->out.n_findings; i++) {
		const struct algo_finding *f = &w->out.finding[i];
		if (f->cause != ALGO_CAUSE_RDMA_LOSS ||
		    (f->link != TOPO_NONE && f->link != w->lossy))
			return 0;
		*n_links += f->link == w->lossy;
		losses += (uint64_t)f->score;
		*n_covered += f->lo <= w->loss && w->loss <= f->hi;
	}
	return losses > 0;
}

static void loss_is_told_from_nics_that_restart(void **state)
{
	unsigned right = 0, n_covered = 0, n_links = 0, n = 0;
	(void)state;
	for (unsigned run = 0; run < 250; run++) {
		struct rdma_world w;
		rdma_open(&w, 3000 + run);
		w.lossy = link_on_the_way(&w);
		rdma_live(&w);
		rdma_debug(&w);
		const int is = is_right_of_loss(&w, &n_covered, &n_links);
		if (!is)
			say(&w, "go back N", run);
		right += (unsigned)is;
		n += (unsigned)w.out.n_findings;
		rdma_close(&w);
	}
	assert_often("go back N", right, 250, 0.95);
	assert_often("its rate", n_covered, n, 0.88);
	printf("its link: named by %u of %u findings\n", n_links, n);
}

/* An ordinary pause right before or behind the storm may pass for a part of it. */
static void a_pause_storm_is_traced_to_its_nic(void **state)
{
	unsigned right = 0;
	(void)state;
	for (unsigned run = 0; run < 250; run++) {
		struct rdma_world w;
		rdma_open(&w, 4000 + run);
		w.mirror_loss = run % 2 ? 1e-2 : 1e-4;
		w.storm = sim_rng_below(&w.r, w.scenes.topo.n_hosts);
		w.storm_from = sim_rng_below(&w.r, 10000000);
		w.storm_to = w.storm_from + 150 * SIM_MS;
		rdma_live(&w);
		rdma_debug(&w);
		const struct algo_finding *f = w.out.finding;
		const int is = w.out.n_findings == 1 &&
		    f->cause == ALGO_CAUSE_PAUSE_STORM && f->node == w.storm &&
		    f->link == topo_link_of(w.storm, TOPO_UP) && f->score > 2 &&
		    f->rate > 0.99 &&
		    fabs((double)f->from_ns - (double)w.storm_from) < 4e6 &&
		    fabs((double)f->to_ns - (double)w.storm_to) < 4e6;
		if (!is)
			say(&w, "storm", run);
		right += (unsigned)is;
		rdma_close(&w);
	}
	assert_often("storm", right, 250, 0.95);
}

static void a_session_that_flaps_is_named(void **state)
{
	unsigned right = 0;
	(void)state;
	for (unsigned run = 0; run < 250; run++) {
		struct rdma_world w;
		rdma_open(&w, 5000 + run);
		const struct topo_clos *c = &w.scenes.topo.clos;
		w.bgp.way = run % 2;
		w.flapping = 2 *
		    (c->cable_tor +
			sim_rng_below(&w.r, c->n_cables - c->cable_tor));
		rdma_live(&w);
		rdma_debug(&w);
		const struct algo_finding *f = w.out.finding;
		const int is = w.out.n_findings == 1 &&
		    f->cause == ALGO_CAUSE_BGP_FLAP &&
		    f->link / 2 == w.flapping / 2 && f->rate > 0 &&
		    f->rate < 1 && f->score <= w.flaps.n_opens;
		if (!is)
			say(&w, "flap", run);
		right += (unsigned)is;
		rdma_close(&w);
	}
	assert_often("flap", right, 250, 0.95);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_is_said_of_a_healthy_network),
	    cmocka_unit_test(nothing_is_said_of_a_congested_network),
	    cmocka_unit_test(a_nic_that_goes_back_to_0_is_named),
	    cmocka_unit_test(loss_is_told_from_nics_that_restart),
	    cmocka_unit_test(a_pause_storm_is_traced_to_its_nic),
	    cmocka_unit_test(a_session_that_flaps_is_named),
	};
	return cmocka_run_group_tests_name("algos/everflow/debug_rdma", tests,
	    NULL, NULL);
}
