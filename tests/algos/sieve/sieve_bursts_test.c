/* tests/algos/sieve/sieve_bursts_test.c -- Sieve where queues lose at once.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/sieve/sieve_bursts.h"

#include "algos/sieve/sieve.h"
#include "algos/sieve/sieve_search.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

static const unsigned bursts_kinds[] = {OBS_TELE_INT, OBS_TELE_A2,
    OBS_TELE_A2 | OBS_TELE_P, OBS_TELE_P};

/* Flows into the first ToR meet a burst with probability RHO each, which takes 3
 * to 20 packets. */
static void bursts_add(struct telemetry_rig *x, struct sim_rng *r, double rho)
{
	struct obs_tallies *t = &x->t.rows;
	for (size_t i = 0; i < t->n; i++) {
		if (t->paths->to[t->set[i]] != topo_tor_of(&x->topo, 0) ||
		    sim_rng_u01(r) >= rho)
			continue;
		t->n_lost[i] += 3 + sim_rng_below(r, 18);
		if (t->n_lost[i] > t->n_sent[i])
			t->n_lost[i] = t->n_sent[i];
	}
}

static void bursts_open(struct telemetry_rig *x, uint32_t run, double rho,
    unsigned n_bad)
{
	struct sim_rng r;
	telemetry_rig_open(x, 4, run % 3 ? 5e-5 : 1e-6, OBS_TELE_INT, run);
	test_rng(&r, run);
	telemetry_rig_fail_any(x, &r, n_bad, 0.01);
	telemetry_rig_draw(x);
	bursts_add(x, &r, rho);
	telemetry_rig_see(x, bursts_kinds[run % 4]);
}

/* Whether bursts show; *N_FAILED links failed, were there none. */
static int bursts_shown(const struct telemetry_rig *x, size_t *n_failed)
{
	struct sieve_search s = {.thin = 1};
	s.model.topo = &x->topo;
	assert_ok(sieve_model_read(&s.model, &x->w, test_err()));
	assert_ok(sieve_search_run(&s, test_err()));
	const int shown = sieve_bursts_show(&s);
	*n_failed = s.n_failed;
	sieve_search_free(&s);
	return shown;
}

/* Of 120 windows without bursts, of which two of three have failed links, none
 * seems to have any: were it 2 %, this would be red but for one time in 11. With
 * bursts at least two of three do. */
static void bursts_show_where_there_are_some(void **state)
{
	(void)state;
	unsigned n = 0;
	for (uint32_t run = 0; run < 150; run++) {
		struct telemetry_rig x;
		const int has = run >= 120;
		bursts_open(&x, run, has ? 0.03 : 0, run / 4 % 3);
		size_t n_failed;
		const int shown = bursts_shown(&x, &n_failed);
		if (shown && !has)
			fail_msg("run %u: bursts where there are none", run);
		n += shown && has;
		telemetry_rig_close(&x);
	}
	if (n < 20)
		fail_msg("bursts in %u windows of 30", n);
}

/* Queues of all hosts of a ToR are nobody's failure: of 40 windows with bursts and
 * nothing else at most half as many accuse as would if bursts were not thought of;
 * and a failed link beside is found in half of 40, at least. Seen: 8, 27. */
static void bursts_are_no_failures(void **state)
{
	unsigned n_accused = 0, n_found = 0, n_plain = 0;
	(void)state;
	for (uint32_t run = 0; run < 80; run++) {
		struct telemetry_rig x;
		struct algo_verdicts out = {0};
		bursts_open(&x, run, 0.03, run >= 40);
		size_t n_failed;
		bursts_shown(&x, &n_failed);
		telemetry_rig_ask(&x, &algo_sieve, &out);
		n_accused += run < 40 && out.n_flagged > 0;
		n_plain += run < 40 && n_failed > 0;
		for (size_t i = 0; run >= 40 && i < out.n_flagged; i++)
			n_found += out.link[i] == x.scene.truth.fault[0].link;
		algo_verdicts_free(&out);
		telemetry_rig_close(&x);
	}
	if (2 * n_accused > n_plain || n_found < 20)
		fail_msg("%u of 40 accuse, of %u without bursts; %u of 40 "
			 "found",
		    n_accused, n_plain, n_found);
}

/* A link that ends at the first ToR, or the ToR's hosts' cables. */
static int bursts_are_at(const struct topo *t, topo_link l)
{
	topo_node from, to;
	topo_link_ends(t, l, &from, &to);
	return to == t->n_hosts + topo_tor_of(t, 0) ||
	    (to < t->n_hosts && topo_tor_of(t, to) == topo_tor_of(t, 0));
}

/* Of 40 windows with such queues and no failure so many tell of a link that it is
 * full and do not accuse it; of links told three of four are at that
 * ToR. Seen: 36; 80 of 94. */
static void full_links_are_told_as_such(void **state)
{
	unsigned n_windows = 0, n_told = 0, n_right = 0;
	(void)state;
	for (uint32_t run = 0; run < 40; run++) {
		struct telemetry_rig x;
		struct algo_verdicts out = {0};
		unsigned n = 0;
		bursts_open(&x, run, 0.03, 0);
		telemetry_rig_ask(&x, &algo_sieve, &out);
		for (size_t i = out.n_flagged; i < out.n; i++)
			if (out.way[i] == ALGO_WAY_BURSTS) {
				n++;
				n_right += (unsigned)bursts_are_at(&x.topo,
				    out.link[i]);
			}
		n_told += n;
		n_windows += n > 0;
		algo_verdicts_free(&out);
		telemetry_rig_close(&x);
	}
	print_message("          %u of 40 tell, %u of %u right\n", n_windows,
	    n_right, n_told);
	assert_true(n_windows >= 24 && 4 * n_right >= 3 * n_told);
}

/* SPOIL makes one link lose and returns it. In how many of N windows, half of them
 * of int and half of OTHER, is it accused? */
static unsigned found_of(uint32_t n,
    topo_link (*spoil)(struct telemetry_rig *x, struct sim_rng *r),
    unsigned other)
{
	unsigned n_found = 0;
	for (uint32_t run = 0; run < n; run++) {
		struct telemetry_rig x;
		struct algo_verdicts out = {0};
		struct sim_rng r;
		telemetry_rig_open(&x, 4, 5e-5, OBS_TELE_INT, run);
		telemetry_rig_draw(&x);
		test_rng(&r, run);
		const topo_link bad = spoil(&x, &r);
		telemetry_rig_see(&x, run % 2 ? OBS_TELE_INT : other);
		telemetry_rig_ask(&x, &algo_sieve, &out);
		for (size_t i = 0; i < out.n_flagged; i++)
			n_found += out.link[i] == bad;
		algo_verdicts_free(&out);
		telemetry_rig_close(&x);
	}
	print_message("          %u of %u found\n", n_found, n);
	return n_found;
}

/* A link swallows each eighth of its flows. */
static topo_link swallow(struct telemetry_rig *x, struct sim_rng *r)
{
	struct obs_tallies *t = &x->t.rows;
	const topo_link hole =
	    topo_link_of((topo_host)sim_rng_below(r, x->topo.n_hosts),
		TOPO_DOWN);
	for (size_t i = 0; i < t->n; i++)
		if (t->down[i] == hole && sim_rng_below(r, 8) == 0)
			t->n_lost[i] = t->n_sent[i];
	return hole;
}

/* Seen: 20; 1, if bursts alone are asked of. */
static void a_black_hole_is_no_burst(void **state)
{
	(void)state;
	assert_in_range(found_of(20, swallow, OBS_TELE_INT), 15, 20);
}

/* A link between switches loses 10 % of one of ten flows' packets, and nothing of
 * others'. */
static topo_link fail_for_a_while(struct telemetry_rig *x, struct sim_rng *r)
{
	struct obs_tallies *t = &x->t.rows;
	const struct obs_paths *p = t->paths;
	const topo_link bad = 2 * x->topo.n_hosts +
	    sim_rng_below(r, x->topo.n_links - 2 * x->topo.n_hosts);
	for (size_t i = 0; i < t->n; i++) {
		int over = 0;
		for (uint32_t k = p->off[t->path[i]];
		     k < p->off[t->path[i] + 1]; k++)
			over |= p->link[k] == bad;
		for (uint32_t k = 0; over && i % 10 == 3 && k < t->n_sent[i];
		     k++)
			t->n_lost[i] += t->n_lost[i] < t->n_sent[i] &&
			    sim_rng_below(r, 10) == 0;
	}
	return bad;
}

/* By 24 seeds of 20 windows 435 of 480 find it, so that fewer than 44 of 60 do once in
 * 40,000 seeds; a half do if that is no law of its own. */
static void a_link_that_fails_for_a_while_is_no_burst(void **state)
{
	(void)state;
	assert_in_range(found_of(60, fail_for_a_while,
			    OBS_TELE_A2 | OBS_TELE_P),
	    44, 60);
}

static void memory_that_ends_is_told(void **state)
{
	(void)state;
	for (uint32_t run = 124; run < 128; run++) {
		struct telemetry_rig x;
		size_t n_failed;
		bursts_open(&x, run, 0.05, 1);
		assert_true(bursts_shown(&x, &n_failed));
		telemetry_rig_no_memory(&x, &algo_sieve);
		telemetry_rig_close(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bursts_show_where_there_are_some),
	    cmocka_unit_test(bursts_are_no_failures),
	    cmocka_unit_test(full_links_are_told_as_such),
	    cmocka_unit_test(a_black_hole_is_no_burst),
	    cmocka_unit_test(a_link_that_fails_for_a_while_is_no_burst),
	    cmocka_unit_test(memory_that_ends_is_told),
	};
	return cmocka_run_group_tests_name("algos/sieve/sieve_bursts", tests,
	    NULL, NULL);
}
