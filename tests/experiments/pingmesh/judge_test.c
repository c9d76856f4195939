/* tests/experiments/pingmesh/judge_test.c -- tallies by hand, and what is right.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/judge.h"

#include "tests/rigs/pingmesh.h"

enum { N = 3000 };

struct judged {
	struct pingmesh m;
	struct topo_dc dc;
	struct xp_dsa_services services;
	struct xp_dsa dsa;
	struct xp_judge judge;
	struct xp_true_loss loss;
	struct obs_probes probes;
};

/* With SERVICE, hosts 0 to 2 and 6 are one. */
static void judged_open(struct judged *x, int service, int cost)
{
	*x = (struct judged){.dc = {.id = 0}};
	pingmesh_open(&x->m, &pingmesh_tiny, "sla: {min_probes: 10}");
	x->dc = topo_dc_at(&x->m.s.topo, 0);
	if (service)
		strcpy(x->m.p.service, "0-2,6");
	x->m.p.cost.on = (uint32_t)cost;
	assert_ok(xp_dsa_services_read(&x->services, service ? "web=0-2,6" : "",
	    PINGMESH_HOSTS, test_err()));
	assert_ok(xp_dsa_open(&x->dsa, &x->dc, &x->services, &x->m.p.dsa,
	    test_err()));
	assert_ok(xp_judge_open(&x->judge, &x->m.p, &x->dsa, test_err()));
	scenes_add_class(&x->m.s, TOPO_TOR_T1, 2, 0.01, 0.1);
	assert_ok(xp_true_loss_begin(&x->loss, scenes_draw(&x->m.s, 1), 0,
	    test_err()));
}

static void judged_close(struct judged *x)
{
	xp_true_loss_free(&x->loss);
	obs_probes_free(&x->probes);
	xp_dsa_close(&x->dsa);
	xp_dsa_services_free(&x->services);
	pingmesh_close(&x->m);
}

/* Probes of all kinds: to oneself under a ToR, in a pod, between pods, to a host
 * that is of no data centre of ours; of times without loss, on each rung, and on
 * none. */
static void judged_draw(struct judged *x)
{
	struct sim_rng r;
	test_rng(&r, 0);
	for (int i = 0; i < N; i++) {
		const int far = sim_rng_below(&r, 8) == 0;
		const int is_lost = sim_rng_below(&r, 5) == 0;
		static const uint64_t ms[] = {1, 2, 1000, 1001, 500, 3001, 7002,
		    2500};
		struct obs_probe p = {.sent_ns = (sim_ns)i * SIM_MS,
		    .src_host = sim_rng_below(&r, PINGMESH_HOSTS),
		    .dst_host = sim_rng_below(&r, PINGMESH_HOSTS),
		    .src_port = (uint16_t)(1024 + i),
		    .dst_port = 80,
		    .level = OBS_LEVEL_DC};
		p.outcome = is_lost ? 1 + sim_rng_below(&r, 2) : OBS_CONNECTED;
		p.rtt_ns = is_lost ? 0 : ms[sim_rng_below(&r, 8)] * SIM_MS;
		if (p.outcome != OBS_REFUSED && p.outcome != OBS_CONNECTED)
			p.outcome = OBS_TIMED_OUT;
		if (far) {
			p.level = OBS_LEVEL_INTER_DC;
			if (sim_rng_below(&r, 2)) {
				p.dst_host = PINGMESH_HOSTS + 1;
				p.outcome = OBS_TIMED_OUT;
			}
		}
		assert_ok(obs_probes_add(&x->probes, &p, test_err()));
	}
}

static void assert_tally(const struct xp_tally *a, const struct xp_tally *b)
{
	assert_int_equal(a->n_probes, b->n_probes);
	assert_int_equal(a->n_connected, b->n_connected);
	assert_int_equal(a->n_unconnected, b->n_unconnected);
	assert_int_equal(a->n_drop, b->n_drop);
	assert_int_equal(a->n_unclear, b->n_unclear);
	assert_int_equal(a->n_crossed, b->n_crossed);
	assert_near(a->q, b->q, 1e-9);
}

/* One probe after the other, by words of the headers. */
static void count_one(const struct judged *x, size_t i, int cost,
    struct xp_true_loss *loss, struct xp_tally *t)
{
	const struct obs_probes *p = &x->probes;
	const uint32_t a = p->src_host[i], b = p->dst_host[i];
	t->n_probes++;
	if (cost)
		t->n_crossed += b >= PINGMESH_HOSTS || a / 4 != b / 4 ? 5
		    : a / 2 == b / 2                                  ? 1
								      : 3;
	if (p->outcome[i] != OBS_CONNECTED) {
		t->n_unconnected++;
		return;
	}
	const int lost = algo_drop_n_lost(&x->judge.ladder, p->rtt_ns[i]);
	t->n_connected++;
	t->n_drop += lost > 0;
	t->n_unclear += lost < 0;
	t->q += xp_true_loss_of(loss, p, i);
}

static enum algo_drop_group group_of(const struct obs_probes *p, size_t i)
{
	const uint32_t a = p->src_host[i], b = p->dst_host[i];
	return p->level[i] == OBS_LEVEL_INTER_DC ? ALGO_DROP_INTER_DC
	    : a / 2 == b / 2                     ? ALGO_DROP_INTRA_TOR
	    : a / 4 == b / 4                     ? ALGO_DROP_INTRA_POD
						 : ALGO_DROP_INTER_POD;
}

static void tallies_are_those_by_hand(void **state)
{
	(void)state;
	for (int service = 0; service < 2; service++)
		for (int cost = 0; cost < 2; cost++) {
			static const struct xp_tallies none;
			struct xp_tallies want = none, got = none, sum = none;
			struct judged x;
			judged_open(&x, service, cost);
			judged_draw(&x);
			assert_int_equal(x.judge.has_service, service);
			xp_judge_tally(&x.judge, &x.probes, &x.loss, &got);
			for (size_t i = 0; i < N; i++) {
				const enum algo_drop_group g =
				    group_of(&x.probes, i);
				const uint32_t h = x.probes.src_host[i];
				count_one(&x, i, cost, &x.loss, &want.group[g]);
				count_one(&x, i, cost, &x.loss,
				    &want.group[ALGO_DROP_ALL]);
				if (g != ALGO_DROP_INTER_DC &&
				    (!service || h <= 2 || h == 6))
					count_one(&x, i, cost, &x.loss,
					    &want.scope);
			}
			for (int g = 0; g < ALGO_DROP_N_GROUPS; g++) {
				assert_tally(&got.group[g], &want.group[g]);
				assert_true(got.group[g].n_drop > 0);
				assert_true(got.group[g].n_unclear > 0);
			}
			assert_tally(&got.scope, &want.scope);
			/* Twice is twice as many. */
			xp_tallies_add(&sum, &got);
			assert_tally(&sum.scope, &got.scope);
			xp_judge_tally(&x.judge, &x.probes, &x.loss, &got);
			xp_tallies_add(&sum, &want);
			for (int g = 0; g < ALGO_DROP_N_GROUPS; g++)
				assert_tally(&sum.group[g], &got.group[g]);
			assert_tally(&sum.scope, &got.scope);
			judged_close(&x);
		}
}

static void metrics_are_those_of_the_tally(void **state)
{
	const struct xp_tally t = {.n_probes = 9,
				  .n_connected = 4,
				  .n_unconnected = 5,
				  .n_drop = 2,
				  .n_unclear = 1,
				  .q = 0.5},
			      none = {.n_probes = 3, .n_unconnected = 3},
			      one = {.n_connected = 1, .q = .25};
	struct res_trial_metrics m = {.n_probes = 7};
	(void)state;
	xp_tally_fill(&t, &m);
	assert_true(m.n_probes == 9 && m.n_connected == 4);
	assert_true(m.n_unconnected == 5 && m.n_drop == 2);
	assert_true(m.n_unclear == 1 && m.true_drop_rate == 0.125);
	xp_tally_fill(&one, &m);
	assert_true(m.true_drop_rate == .25);
	xp_tally_fill(&none, &m);
	assert_true(m.n_probes == 3 && m.n_unconnected == 3);
	assert_true(isnan(m.true_drop_rate));
}

/* A pattern is right if it is the one expected in trouble, and normal in calm;
 * while things change, or where nothing is expected, it is not judged. */
static void patterns_are_right_by_what_is_expected(void **state)
{
	static const enum xp_trouble troubles[] = {XP_CALM, XP_TROUBLE,
	    XP_CHANGE};
	(void)state;
	for (uint32_t expect = 0; expect <= 2; expect++)
		for (unsigned k = 0; k < 3; k++)
			for (unsigned got = 0; got < 3; got++)
				for (unsigned tier = 0; tier < 3; tier++) {
					const uint32_t of_tier =
					    expect ? 3 - expect : 0;
					struct xp_pingmesh p = {.expect =
								    expect,
					    .expect_tier = of_tier};
					struct res_trial_metrics m =
					    {.pattern_right = 9,
						.n_pattern = 9,
						.tier_right = 9,
						.n_tier = 9};
					xp_judge_patterns(&p,
					    (enum algo_heatmap_pattern)got,
					    (enum algo_silent_drop_tier)tier,
					    troubles[k], &m);
					assert_true(m.pattern == got);
					assert_true(m.tier == tier);
					const int judged = expect > 0 && k < 2;
					assert_true(
					    m.n_pattern == (judged ? 1 : 9));
					assert_true(
					    m.n_tier == (judged ? 1 : 9));
					const int calm = k == 0;
					assert_true(m.pattern_right ==
					    (!judged ? 9
						     : got ==
							(calm ? 0
							      : expect - 1)));
					assert_true(m.tier_right ==
					    (!judged ? 9
						     : tier ==
							(calm ? 0
							      : of_tier - 1)));
				}
}

/* Level, pattern and tier of a run are those of each job by itself. */
static void a_run_has_what_its_jobs_say(void **state)
{
	(void)state;
	for (int service = 0; service < 2; service++) {
		struct res_trial_metrics m = {.verdict = NAN,
					     .alert_drop = NAN,
					     .alert_p99 = NAN},
					 level = m;
		enum algo_heatmap_pattern pattern;
		struct judged x;
		judged_open(&x, service, 0);
		x.m.p.expect = 1;
		for (uint32_t i = 0; i < 400; i++) {
			const struct obs_probe p = {.sent_ns = i * SIM_MS,
			    /* Of a service's some lost a SYN, which is an
			     * alert of either kind. */
			    .rtt_ns = (1 + i % 7) * 100 * SIM_US +
				(service && i % 5 == 0 ? 3 * SIM_SEC : 0),
			    .src_host = i % 8,
			    .dst_host = (i + 1 + i / 8 % 7) % 8,
			    .src_port = (uint16_t)(1024 + i),
			    .dst_port = 80,
			    .level = OBS_LEVEL_DC};
			assert_ok(obs_probes_add(&x.probes, &p, test_err()));
		}
		xp_pingmesh_waits(&x.m.p, x.probes.syn_wait_ns);
		const struct obs_probe_source all = obs_probes_whole(&x.probes);
		assert_ok(
		    xp_judge_run(&x.judge, &all, XP_CALM, &m, test_err()));
		assert_ok(xp_dsa_order(&x.dsa, &x.probes, test_err()));
		assert_ok(xp_dsa_sla(&x.dsa, &x.probes, test_err()));
		xp_judge_level(&x.dsa, service, &level);
		const struct algo_sla_scope *s = algo_sla_at(&x.dsa.sla,
		    service ? ALGO_SLA_SERVICE : ALGO_SLA_DC, 0);
		assert_true(level.p50_us == s->p50_us && s->p50_us > 0);
		assert_true(level.p99_us == s->p99_us);
		assert_true(m.p50_us == level.p50_us);
		assert_true(m.p99_us == level.p99_us);
		assert_true(
		    m.alert_drop == ((s->alerts & ALGO_SLA_ALERT_DROP) != 0));
		assert_true(
		    m.alert_p99 == ((s->alerts & ALGO_SLA_ALERT_P99) != 0));
		assert_int_equal(!isnan(m.verdict), service);
		assert_true(m.alert_drop == service);
		assert_true(m.alert_p99 == service);
		assert_true(level.alert_drop == service);
		assert_true(level.alert_p99 == service);
		assert_ok(
		    xp_dsa_heatmap(&x.dsa, x.m.p.unit, &pattern, test_err()));
		assert_true(m.pattern == pattern);
		assert_true(m.pattern_right == (pattern == 0));
		assert_true(m.n_pattern == 1);
		judged_close(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tallies_are_those_by_hand),
	    cmocka_unit_test(metrics_are_those_of_the_tally),
	    cmocka_unit_test(patterns_are_right_by_what_is_expected),
	    cmocka_unit_test(a_run_has_what_its_jobs_say),
	};
	return cmocka_run_group_tests_name("experiments/pingmesh/judge", tests,
	    NULL, NULL);
}
