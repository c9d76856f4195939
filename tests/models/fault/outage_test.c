/* tests/models/fault/outage_test.c -- hosts, pods, services that are off.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chi-squares at level 1e-6, two of them.
 */
#include "models/fault/fault.h"

#include "tests/rigs/law.h"
#include "tests/rigs/scenes.h"
#include "topo/mesh.h"
#include "topo/region.h"

#define LEVEL 1e-6

static const struct topo_clos shape = {3, 4, 3, 5, 2, .n_cables = 0};

static int draw(struct scenes *s, struct truth *truth, uint32_t run,
    struct sim_err *e)
{
	const struct sim_seed where = {.seed = test_seed(), .run = run};
	truth_clear(truth);
	return fault_draw(&s->topo, s->group, s->params.n_groups, &where, truth,
	    e);
}

static struct fault_params *open_group(struct scenes *s, uint32_t kind,
    uint32_t count)
{
	scenes_open(s, &shape);
	struct fault_params *g = scenes_add_group(s);
	g->kind = kind;
	g->count = count;
	return g;
}

/* Outages of distinct hosts, drawn alike, each with both links of its cable at
 * rate 1 in the same time, and nothing else. */
static void a_host_that_is_off_loses_its_cable(void **state)
{
	(void)state;
	struct scenes s;
	struct truth t = {0};
	struct fault_params *g = open_group(&s, FAULT_HOST_OFF, 5);
	uint64_t got[24] = {0};
	g->from_s = 1;
	g->spread_s = 10;
	g->lasts_s = 0.5;
	for (uint32_t run = 0; run < 1000; run++) {
		assert_ok(draw(&s, &t, run, test_err()));
		assert_int_equal(t.n_outages, 5);
		assert_int_equal(t.n_faults, 10);
		assert_int_equal(t.n_switches + t.n_parts + t.n_holes, 0);
		for (size_t i = 0; i < 5; i++) {
			const struct truth_outage *o = &t.outage[i];
			assert_int_equal(o->kind, TRUTH_HOST_OFF);
			assert_true(i == 0 || o[-1].id < o->id);
			assert_true(
			    o->from_ns >= SIM_SEC && o->from_ns < 11 * SIM_SEC);
			assert_int_equal(o->to_ns - o->from_ns, SIM_SEC / 2);
			got[o->id]++;
			for (size_t k = 2 * i; k < 2 * i + 2; k++) {
				const struct truth_fault *f = &t.fault[k];
				assert_int_equal(f->link, 2 * o->id + k % 2);
				assert_true(f->rate == 1);
				assert_int_equal(f->from_ns, o->from_ns);
				assert_int_equal(f->to_ns, o->to_ns);
			}
		}
	}
	assert_true(law_chi2_uniform(got, 24) > LEVEL);
	truth_free(&t);
	scenes_close(&s);
}

static topo_node pod_of_node(const struct topo *t, topo_node n)
{
	const struct topo_clos *c = &t->clos;
	if (n < t->n_hosts)
		return topo_pod_of(t, n);
	n -= t->n_hosts;
	if (n < c->all_tors)
		return n / c->n_tors;
	n -= c->all_tors;
	return n < c->all_t1 ? n / c->n_t1 : TOPO_NONE;
}

/* By the arithmetic of a Clos, which the drawing does not use. */
static void a_pod_that_is_off_loses_all_that_touches_it(void **state)
{
	(void)state;
	struct scenes s;
	struct truth t = {0};
	uint64_t got[3] = {0};
	open_group(&s, FAULT_POD_OFF, 1);
	for (uint32_t run = 0; run < 300; run++) {
		size_t n = 0;
		assert_ok(draw(&s, &t, run, test_err()));
		const uint32_t pod = t.outage[t.n_outages - 1].id;
		got[pod]++;
		assert_int_equal(t.n_outages, 1 + 8);
		for (topo_host h = 0; h < s.topo.n_hosts; h++)
			assert_int_equal(truth_outage_at(&t, TRUTH_HOST_OFF, h,
					     0) != NULL,
			    topo_pod_of(&s.topo, h) == pod);
		assert_non_null(truth_outage_at(&t, TRUTH_POD_OFF, pod, 0));
		for (topo_link l = 0; l < s.topo.n_links; l++) {
			topo_node a, b;
			topo_link_ends(&s.topo, l, &a, &b);
			const int cut = pod_of_node(&s.topo, a) == pod ||
			    pod_of_node(&s.topo, b) == pod;
			assert_int_equal(truth_is_faulty(&t, l), cut);
			n += (size_t)cut;
		}
		assert_int_equal(t.n_faults, n);
		assert_int_equal(t.n_switches, 4 + 3);
		for (topo_switch k = 0; k < s.topo.n_switches; k++)
			assert_int_equal(truth_is_failed_switch(&t, k),
			    pod_of_node(&s.topo, s.topo.n_hosts + k) == pod);
	}
	assert_true(law_chi2_uniform(got, 3) > LEVEL);
	truth_free(&t);
	scenes_close(&s);
}

static void named_hosts_and_pods_are_off(void **state)
{
	(void)state;
	struct scenes s;
	struct truth t = {0};
	struct sim_err e;
	uint32_t at[] = {17, 3};
	struct fault_params *g = open_group(&s, FAULT_HOST_OFF, 9);
	g->at = at;
	g->n_at = 2;
	assert_ok(draw(&s, &t, 0, test_err()));
	assert_int_equal(t.n_outages, 2);
	assert_int_equal(t.outage[0].id, 3);
	assert_int_equal(t.outage[1].id, 17);
	at[0] = 24;
	assert_int_equal(draw(&s, &t, 0, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "fault group 0: host 24 is not in [0, 23].");
	at[0] = 3;
	assert_int_equal(draw(&s, &t, 0, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "fault group 0: host 3 is named twice.");

	g->kind = FAULT_POD_OFF;
	at[0] = 2;
	at[1] = 0;
	assert_ok(draw(&s, &t, 0, test_err()));
	assert_null(truth_outage_at(&t, TRUTH_POD_OFF, 1, 0));
	assert_non_null(truth_outage_at(&t, TRUTH_POD_OFF, 2, 0));
	assert_int_equal(t.n_outages, 2 * (1 + 8));
	at[1] = 3;
	assert_int_equal(draw(&s, &t, 0, &e), SIM_EINVAL);
	assert_string_equal(e.msg, "fault group 0: pod 3 is not in [0, 2].");
	truth_free(&t);
	scenes_close(&s);
}

/* Storms and sessions that flap are outages and nothing else: hosts, and cables
 * between switches, distinct and drawn alike. */
static void storms_and_flaps_break_no_link(void **state)
{
	static const uint32_t kinds[] = {FAULT_STORM, FAULT_BGP_FLAP};
	(void)state;
	for (int flap = 0; flap < 2; flap++) {
		struct scenes s;
		struct truth t = {0};
		struct fault_params *g = open_group(&s, kinds[flap], 3);
		const uint32_t first = flap ? s.topo.n_hosts : 0;
		const uint32_t n =
		    (flap ? s.topo.n_links / 2 : s.topo.n_hosts) - first;
		uint64_t got[128] = {0};
		g->from_s = 1;
		g->lasts_s = 2;
		assert_in_range(n, 3, 128);
		for (uint32_t run = 0; run < 4000; run++) {
			assert_ok(draw(&s, &t, run, test_err()));
			assert_int_equal(t.n_outages, 3);
			assert_int_equal(t.n_faults + t.n_switches, 0);
			for (size_t i = 0; i < 3; i++) {
				const struct truth_outage *o = &t.outage[i];
				assert_int_equal(o->kind,
				    flap ? TRUTH_BGP_FLAP : TRUTH_STORM);
				assert_true(i == 0 || o[-1].id < o->id);
				assert_int_equal(o->from_ns, SIM_SEC);
				assert_int_equal(o->to_ns, 3 * SIM_SEC);
				got[o->id - first]++;
			}
		}
		assert_true(law_chi2_uniform(got, n) > LEVEL);
		truth_free(&t);
		scenes_close(&s);
	}
}

static void named_sessions_flap(void **state)
{
	(void)state;
	struct scenes s;
	struct truth t = {0};
	struct sim_err e;
	struct fault_params *g = open_group(&s, FAULT_BGP_FLAP, 1);
	const uint32_t host = s.topo.n_hosts;
	topo_link links[2] = {2 * (host + 7) + 1, 2 * (host + 3)};
	g->links = links;
	g->n_links = 2;
	assert_ok(draw(&s, &t, 0, test_err()));
	assert_int_equal(t.n_outages, 2);
	assert_int_equal(t.outage[0].id, host + 3);
	assert_int_equal(t.outage[1].id, host + 7);
	links[1] = links[0] ^ 1;
	assert_int_equal(draw(&s, &t, 0, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "fault group 0: links 63 and 62 have one BGP session, which is "
	    "named twice.");
	links[1] = 5;
	assert_int_equal(draw(&s, &t, 0, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "fault group 0: link 5 is a host's, which has no BGP session.");
	links[1] = s.topo.n_links;
	assert_int_equal(draw(&s, &t, 0, &e), SIM_EINVAL);
	g->n_links = 0;
	g->count = 1000;
	assert_int_equal(draw(&s, &t, 0, &e), SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "fault group 0: 1000 BGP sessions are to flap, but there are 81.");
	g->kind = FAULT_STORM;
	assert_int_equal(draw(&s, &t, 0, &e), SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "fault group 0: 1000 hosts are to storm, but there are 24.");
	truth_free(&t);
	g->links = NULL;
	scenes_close(&s);
}

static void more_than_there_are_is_refused(void **state)
{
	(void)state;
	struct scenes s;
	struct truth t = {0};
	struct sim_err e;
	struct fault_params *g = open_group(&s, FAULT_HOST_OFF, 25);
	assert_int_equal(draw(&s, &t, 0, &e), SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "fault group 0: 25 hosts are to be off, but there are 24.");
	g->count = 24;
	assert_ok(draw(&s, &t, 0, test_err()));
	assert_int_equal(t.n_outages, 24);
	g->kind = FAULT_POD_OFF;
	g->count = 4;
	assert_int_equal(draw(&s, &t, 0, &e), SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "fault group 0: 4 pods are to be off, but there are 3.");
	truth_free(&t);
	scenes_close(&s);
}

static void a_graph_without_pods_has_none_to_turn_off(void **state)
{
	(void)state;
	struct scenes s;
	struct topo_mesh *m;
	struct truth t = {0};
	struct sim_err e;
	assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
	scenes_open_mesh(&s, m);
	struct fault_params *g = scenes_add_group(&s);
	g->kind = FAULT_POD_OFF;
	assert_int_equal(draw(&s, &t, 0, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "fault group 0: kind pod_off needs pods; this graph has none.");
	g->kind = FAULT_HOST_OFF;
	assert_ok(draw(&s, &t, 0, test_err()));
	assert_int_equal(t.n_outages, 1);
	truth_free(&t);
	scenes_close(&s);
}

/* By the order of a region's ids, which the drawing does not use. */
static uint32_t pod_in_region(const struct topo *t, topo_node n)
{
	static const uint32_t n_tors = 4, n_t1 = 3, n_pods = 3, dc = 12 + 9 + 5;
	if (n < t->n_hosts)
		return topo_pod_of(t, n);
	const topo_switch s = n - t->n_hosts;
	if (s >= 2 * dc) /* a border */
		return TOPO_NONE;
	const uint32_t first = s / dc * n_pods, in_dc = s % dc;
	if (in_dc < 12)
		return first + in_dc / n_tors;
	return in_dc < 12 + 9 ? first + (in_dc - 12) / n_t1 : TOPO_NONE;
}

static void a_pod_of_a_region_takes_no_other_with_it(void **state)
{
	(void)state;
	struct topo_region_params p;
	struct scenes s;
	struct truth t = {0};
	assert_ok(sim_field_defaults(topo_region_fields, &p, test_err()));
	p.n_dcs = p.n_borders = 2;
	struct fault_params *g = open_group(&s, FAULT_POD_OFF, 1);
	topo_close(&s.topo);
	assert_ok(topo_open_region(&s.topo, &shape, &p, test_err()));
	for (uint32_t pod = 0; pod < 6; pod++) {
		g->at = &pod;
		g->n_at = 1;
		assert_ok(draw(&s, &t, 0, test_err()));
		assert_int_equal(t.n_outages, 1 + 8);
		assert_int_equal(t.n_switches, 4 + 3);
		for (topo_link l = 0; l < s.topo.n_links; l++) {
			topo_node a, b;
			topo_link_ends(&s.topo, l, &a, &b);
			assert_int_equal(truth_is_faulty(&t, l),
			    pod_in_region(&s.topo, a) == pod ||
				pod_in_region(&s.topo, b) == pod);
		}
	}
	truth_free(&t);
	scenes_close(&s);
}

static void services_misbehave_as_told(void **state)
{
	(void)state;
	struct scenes s;
	struct truth t = {0};
	struct sim_err e;
	struct fault_params *g = open_group(&s, FAULT_CONTROLLER, 3);
	g->delay = scenes_uniform(10, 20);
	g->spread_s = 100;
	g->lasts_s = 1;
	for (unsigned mode = TRUTH_DOWN; mode <= TRUTH_GARBAGE; mode++) {
		g->mode = mode;
		assert_ok(draw(&s, &t, mode, test_err()));
		assert_int_equal(t.n_outages, 3);
		assert_int_equal(t.n_faults, 0);
		for (size_t i = 0; i < 3; i++) {
			const struct truth_outage *o = &t.outage[i];
			assert_int_equal(o->kind, TRUTH_CONTROLLER);
			assert_int_equal(o->mode, mode);
			assert_int_equal(o->id, 0);
			assert_int_equal(o->to_ns - o->from_ns, SIM_SEC);
			assert_true(mode == TRUTH_SLOW
				? o->delay_us >= 10 && o->delay_us <= 20
				: o->delay_us == 0);
		}
	}
	assert_false(truth_has_host_off(&t));
	g->kind = FAULT_COLLECTOR;
	for (unsigned mode = TRUTH_EMPTY; mode <= TRUTH_GARBAGE; mode++) {
		g->mode = mode;
		assert_int_equal(draw(&s, &t, 0, &e), SIM_EINVAL);
		assert_string_equal(e.msg,
		    "fault group 0: the collector sends no documents: its mode "
		    "is down or slow.");
	}
	g->mode = TRUTH_SLOW;
	assert_ok(draw(&s, &t, 0, test_err()));
	assert_int_equal(t.outage[0].kind, TRUTH_COLLECTOR);
	truth_free(&t);
	scenes_close(&s);
}

/* More hosts are the same ones and more, at the same times. */
static void what_is_not_changed_stays(void **state)
{
	(void)state;
	struct scenes s;
	struct truth a = {0}, b = {0};
	struct fault_params *g = open_group(&s, FAULT_HOST_OFF, 0);
	g->spread_s = 10;
	for (uint32_t run = 0; run < 30; run++) {
		g->count = 4;
		assert_ok(draw(&s, &a, run, test_err()));
		g->count = 9;
		assert_ok(draw(&s, &b, run, test_err()));
		for (size_t i = 0; i < a.n_outages; i++)
			assert_non_null(truth_outage_at(&b, TRUTH_HOST_OFF,
			    a.outage[i].id, a.outage[i].from_ns));
	}
	truth_free(&a);
	truth_free(&b);
	scenes_close(&s);
}

static int draw_once(void *arg, struct sim_err *e)
{
	struct truth truth = {0};
	int rc = draw(arg, &truth, 1, e);
	truth_free(&truth);
	return rc;
}

static void each_failing_allocation_is_reported(void **state)
{
	(void)state;
	for (unsigned kind = FAULT_HOST_OFF; kind < FAULT_N_KINDS; kind++) {
		struct scenes s;
		open_group(&s, kind, 2);
		test_each_alloc_fails(draw_once, &s);
		scenes_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_host_that_is_off_loses_its_cable),
	    cmocka_unit_test(a_pod_that_is_off_loses_all_that_touches_it),
	    cmocka_unit_test(named_hosts_and_pods_are_off),
	    cmocka_unit_test(storms_and_flaps_break_no_link),
	    cmocka_unit_test(named_sessions_flap),
	    cmocka_unit_test(more_than_there_are_is_refused),
	    cmocka_unit_test(a_graph_without_pods_has_none_to_turn_off),
	    cmocka_unit_test(a_pod_of_a_region_takes_no_other_with_it),
	    cmocka_unit_test(services_misbehave_as_told),
	    cmocka_unit_test(what_is_not_changed_stays),
	    cmocka_unit_test(each_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("models/fault/outage", tests, NULL,
	    NULL);
}
