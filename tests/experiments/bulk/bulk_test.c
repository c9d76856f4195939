/* tests/experiments/bulk/bulk_test.c -- an epoch of flows, whoever draws it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/bulk/bulk.h"
#include "tests/rigs/scenes.h"
#include "tests/test.h"

/* 64 hosts, and as many flows of each as CONNS says. */
static void epoch_open(struct scenes *s, double conns)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 4,
	    .n_t1 = 3,
	    .n_t2 = 2,
	    .n_hosts = 8};
	scenes_open(s, &shape);
	s->params.traffic.conns = scenes_fixed(conns);
	s->params.traffic.packets = scenes_fixed(20);
	scenes_add_class(s, TOPO_TOR_T1, 2, .01, .02);
	scenes_draw(s, 0);
}

static const struct xp_plane *const ran[] = {[XP_BULK_AUTO] = &xp_plane_skip,
    [XP_BULK_EXACT] = &xp_plane_exact,
    [XP_BULK_SKIP] = &xp_plane_skip};

/* Where all flows are asked for, even auto draws each. */
static void a_row_counts_what_its_window_holds(void **state)
{
	struct scenes s;
	(void)state;
	epoch_open(&s, 30);
	for (int by = XP_BULK_AUTO; by <= XP_BULK_SKIP; by++)
		for (int all = 0; all <= (by != XP_BULK_SKIP); all++) {
			struct res_trial_metrics m = {0};
			const struct losses *lost;
			const struct obs *w;
			struct xp_bulk *b;
			assert_ok(xp_bulk_open(&b, (enum xp_bulk_by)by, all,
			    test_err()));
			assert_ok(xp_bulk_epoch(b, &s.scene, &w, &lost, &m,
			    test_err()));
			scenes_assert_sound(&s.topo, w, lost);
			const struct scenes_counts n =
			    scenes_count(w, lost, NULL, NULL);
			assert_true(m.n_flows == 64 * 30 && m.n_faults == 2);
			assert_true(m.n_drops == (double)n.n_drops);
			assert_true(
			    m.n_failed_flows == (double)n.n_failed_flows);
			assert_true(m.n_drops >= 20);
			assert_int_equal(w->complete, all);
			assert_int_equal(w->flows.n,
			    all ? 64 * 30 : n.n_failed_flows);
			assert_ptr_equal(xp_bulk_ran(b),
			    all ? &xp_plane_exact : ran[by]);
			xp_bulk_close(b);
		}
	scenes_close(&s);
}

/* What was told so far: one window of it all, and how many flows at a time. */
struct told {
	struct obs w;
	struct losses lost;
	unsigned n, fails_at;
	size_t flows[4];
};

static int told_hear(void *arg, const struct obs *w, const struct losses *lost,
    struct sim_err *e)
{
	struct told *t = arg;
	if (t->n + 1 == t->fails_at)
		return sim_fail(e, SIM_EIO, "no more.");
	assert_true(t->n < 4);
	t->flows[t->n++] = w->flows.n;
	t->w.n_flows += w->n_flows;
	for (size_t i = 0; i < w->flows.n; i++) {
		const struct obs_flow f = obs_flows_at(&w->flows, i);
		const size_t at = w->hops.off[i];
		const unsigned n = (unsigned)(w->hops.off[i + 1] - at);
		assert_ok(
		    obs_add_flow(&t->w, &f, w->hops.link + at, n, test_err()));
		assert_ok(losses_add_drops(&t->lost, lost->drops + at, n,
		    test_err()));
	}
	return 0;
}

static void told_free(struct told *t)
{
	obs_free(&t->w);
	losses_free(&t->lost);
	*t = (struct told){0};
}

/* 1,024 flows of 64 hosts are one block, one more of each host are two. */
static void all_flows_are_told_block_by_block(void **state)
{
	(void)state;
	for (unsigned extra = 0; extra < 2; extra++) {
		struct res_trial_metrics m;
		struct told t = {0};
		const struct losses *lost;
		const struct obs *w;
		struct xp_bulk *b, *whole;
		struct scenes s;
		int all = 0;
		const struct xp_flow_listener to = {&t, told_hear};
		epoch_open(&s, 1024 + extra);
		assert_ok(xp_bulk_open(&b, XP_BULK_EXACT, 0, test_err()));
		assert_ok(xp_bulk_open(&whole, XP_BULK_EXACT, 1, test_err()));
		assert_ok(
		    xp_bulk_epoch(b, &s.scene, &w, &lost, &m, test_err()));
		assert_ok(
		    xp_bulk_epoch(whole, &s.scene, &w, &lost, &m, test_err()));
		assert_ok(xp_bulk_flows(b, &s.scene, &to, &all, test_err()));
		assert_int_equal(all, 1);
		assert_int_equal(t.n, 1 + extra);
		assert_int_equal(t.flows[0], 65536);
		assert_int_equal(t.flows[1], 64 * extra);
		scenes_assert_same(&t.w, &t.lost, w, lost);
		told_free(&t);
		/* One that has them all tells them as they are. */
		assert_ok(
		    xp_bulk_flows(whole, &s.scene, &to, &all, test_err()));
		assert_int_equal(all, 1);
		assert_int_equal(t.n, 1);
		scenes_assert_same(&t.w, &t.lost, w, lost);
		told_free(&t);
		xp_bulk_close(whole);
		xp_bulk_close(b);
		scenes_close(&s);
	}
}

static void of_skipped_flows_those_are_told_that_lost_something(void **state)
{
	struct res_trial_metrics m;
	struct told t = {0};
	const struct xp_flow_listener to = {&t, told_hear};
	const struct losses *lost;
	const struct obs *w;
	struct xp_bulk *b;
	struct scenes s;
	int all = 1;
	(void)state;
	epoch_open(&s, 30);
	assert_ok(xp_bulk_open(&b, XP_BULK_SKIP, 0, test_err()));
	assert_ok(xp_bulk_epoch(b, &s.scene, &w, &lost, &m, test_err()));
	assert_ok(xp_bulk_flows(b, &s.scene, &to, &all, test_err()));
	assert_int_equal(all, 0);
	scenes_assert_same(&t.w, &t.lost, w, lost);
	assert_true(m.n_failed_flows == (double)t.w.flows.n);
	told_free(&t);
	xp_bulk_close(b);
	scenes_close(&s);
}

static void who_hears_flows_may_end_it(void **state)
{
	struct res_trial_metrics m;
	struct told t = {.fails_at = 2};
	const struct xp_flow_listener to = {&t, told_hear};
	const struct losses *lost;
	const struct obs *w;
	struct xp_bulk *b;
	struct scenes s;
	struct sim_err e;
	int all;
	(void)state;
	epoch_open(&s, 3000);
	assert_ok(xp_bulk_open(&b, XP_BULK_EXACT, 0, test_err()));
	assert_ok(xp_bulk_epoch(b, &s.scene, &w, &lost, &m, test_err()));
	assert_int_equal(xp_bulk_flows(b, &s.scene, &to, &all, &e), SIM_EIO);
	assert_string_equal(e.msg, "no more.");
	assert_int_equal(t.n, 1);
	told_free(&t);
	xp_bulk_close(b);
	scenes_close(&s);
}

/* A window without a listener is nobody's, and one with is the whole run. */
static int hears(void *arg, const struct xp_window *w, struct sim_err *e)
{
	(void)e;
	*(struct xp_window *)arg = *w;
	return 7;
}

static void a_run_has_one_window(void **state)
{
	const struct obs w = {0};
	const struct losses lost = {0};
	struct xp_window got = {0};
	(void)state;
	assert_int_equal(xp_bulk_tell(&(struct xp_listener){&got, hears}, &w,
			     &lost, test_err()),
	    7);
	assert_ptr_equal(got.seen, &w);
	assert_ptr_equal(got.lost, &lost);
	assert_true(got.first_row == 0 && got.n_rows == 1);
	assert_true(got.n_early == 0 && isnan(got.after_s));
	assert_ok(
	    xp_bulk_tell(&(struct xp_listener){0}, &w, &lost, test_err()));
}

/* The released simulator draws all flows once more where its window has not all. */
static void flows_of_the_released_simulator_are_all_told(void **state)
{
	const struct xp_plane *p = &xp_plane_vigil_matlab;
	(void)state;
	for (int whole = 0; whole < 2; whole++) {
		const struct xp_config c = {
		    .needs = whole ? OBS_ALL_FLOWS : OBS_FLOWS};
		struct res_trial_metrics m;
		struct told t = {0}, again = {0};
		struct xp_window got = {0};
		struct scenes s;
		char line[128] = "", want[128];
		void *plane;
		int all = 0;
		epoch_open(&s, 20);
		assert_ok(p->open(&plane, &s.topo, &c, test_err()));
		assert_int_equal(p->run(plane, &s.scene,
				     &(struct xp_listener){&got, hears}, &m,
				     test_err()),
		    7);
		const struct scenes_counts n =
		    scenes_count(got.seen, got.lost, NULL, NULL);
		assert_true(m.n_flows == 64 * 20);
		assert_true(m.n_drops == (double)n.n_drops && n.n_drops > 20);
		assert_true(m.n_failed_flows == (double)n.n_failed_flows);
		/* By a flag or by a count, which are draws of their own. */
		if (whole)
			assert_int_equal(got.seen->flows.n, 64 * 20);
		else
			assert_in_range(got.seen->flows.n, n.n_failed_flows,
			    64 * 20 - 1);
		assert_ok(p->flows(plane, &s.scene,
		    &(struct xp_flow_listener){&t, told_hear}, &all,
		    test_err()));
		assert_true(all == 1 && t.n == 1);
		assert_int_equal(t.flows[0], 64 * 20);
		const struct scenes_counts k =
		    scenes_count(&t.w, &t.lost, NULL, NULL);
		assert_int_equal(k.n_drops, n.n_drops);
		assert_int_equal(k.n_failed_flows, n.n_failed_flows);
		again.fails_at = 1;
		assert_int_equal(p->flows(plane, &s.scene,
				     &(struct xp_flow_listener){&again,
					 told_hear},
				     &all, NULL),
		    SIM_EIO);
		/* The window is still there to be told again. */
		struct xp_window twice = {0};
		assert_int_equal(p->again(plane,
				     &(struct xp_listener){&twice, hears},
				     NULL),
		    7);
		assert_ptr_equal(twice.seen, got.seen);
		FILE *out = fmemopen(line, sizeof(line), "w");
		assert_non_null(out);
		p->print(plane, &m, out);
		assert_int_equal(fclose(out), 0);
		snprintf(want, sizeof(want),
		    "1280 flows, of which %zu lost %zu packets (plane "
		    "vigil_matlab)\n",
		    (size_t)n.n_failed_flows, (size_t)n.n_drops);
		assert_string_equal(line, want);
		p->close(plane);
		told_free(&t);
		scenes_close(&s);
	}
	p->close(NULL);
}

/* Hosts sample what the flows of the epoch were, for who asks for it alone. */
static void hosts_sample_if_they_are_asked_to(void **state)
{
	(void)state;
	for (int asked = 0; asked < 2; asked++) {
		struct xp_config c = {
		    .needs = OBS_FLOWS | (asked ? OBS_SAMPLES : 0)};
		struct res_trial_metrics m;
		struct xp_window got = {0};
		const struct xp_listener to = {&got, hears};
		struct scenes s;
		void *plane;
		while (xp_plane_of(&c) != &xp_plane_exact)
			c.plane++;
		assert_ok(sim_field_defaults(scene_samples_fields,
		    &c.scene.samples, test_err()));
		epoch_open(&s, 30);
		assert_ok(xp_plane_exact.open(&plane, &s.topo, &c, test_err()));
		assert_int_equal(xp_plane_exact.run(plane, &s.scene, &to, &m,
				     NULL),
		    7);
		assert_int_equal(got.seen->runs != NULL, asked);
		assert_int_equal(got.seen->samples != NULL, asked);
		if (asked) {
			assert_true(got.seen->runs->n > 0);
			assert_true(got.seen->samples->n > 0);
		}
		xp_plane_exact.close(plane);
		scenes_close(&s);
	}
}

static void an_epoch_is_told_in_a_line(void **state)
{
	const struct res_trial_metrics m = {.n_flows = 1920,
	    .n_failed_flows = 12,
	    .n_drops = 34};
	char line[128] = "";
	FILE *out = fmemopen(line, sizeof(line), "w");
	(void)state;
	assert_non_null(out);
	xp_bulk_print("exact", &m, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(line,
	    "1920 flows, of which 12 lost 34 packets (plane exact)\n");
}

/* 40 bytes of columns, an offset, and three hops with their drops. */
static void only_windows_with_every_flow_are_weighed(void **state)
{
	const struct topo t = {.n_hosts = 50};
	struct xp_config c = {.needs = OBS_FLOWS};
	(void)state;
	c.scene.traffic.conns = scenes_fixed(7);
	assert_true(xp_bulk_bytes(&t, &c) == 0);
	c.needs |= OBS_ALL_FLOWS;
	assert_true(xp_bulk_bytes(&t, &c) == (40 + 8 + 3 * 8) * 50 * 7);
}

static int epoch_once(void *arg, struct sim_err *e)
{
	struct scenes *s = arg;
	struct res_trial_metrics m;
	struct told t = {0};
	const struct losses *lost;
	const struct obs *w;
	struct xp_bulk *b;
	int all, rc = xp_bulk_open(&b, XP_BULK_EXACT, 0, e);
	if (rc < 0) {
		assert_null(b);
		return rc;
	}
	rc = xp_bulk_epoch(b, &s->scene, &w, &lost, &m, e);
	t.fails_at = 1;
	if (rc == 0)
		rc = xp_bulk_flows(b, &s->scene,
		    &(struct xp_flow_listener){&t, told_hear}, &all, e);
	xp_bulk_close(b);
	return rc == SIM_EIO ? 0 : rc;
}

static void every_allocation_may_fail(void **state)
{
	struct scenes s;
	(void)state;
	xp_bulk_close(NULL);
	epoch_open(&s, 2);
	test_each_alloc_fails(epoch_once, &s);
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_row_counts_what_its_window_holds),
	    cmocka_unit_test(all_flows_are_told_block_by_block),
	    cmocka_unit_test(
		of_skipped_flows_those_are_told_that_lost_something),
	    cmocka_unit_test(who_hears_flows_may_end_it),
	    cmocka_unit_test(a_run_has_one_window),
	    cmocka_unit_test(flows_of_the_released_simulator_are_all_told),
	    cmocka_unit_test(hosts_sample_if_they_are_asked_to),
	    cmocka_unit_test(an_epoch_is_told_in_a_line),
	    cmocka_unit_test(only_windows_with_every_flow_are_weighed),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("experiments/bulk", tests, NULL,
	    NULL);
}
