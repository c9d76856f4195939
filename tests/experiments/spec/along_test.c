/* tests/experiments/spec/along_test.c -- axes that one trial is read along.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/spec/along.h"

#include "algos/pingmesh/drop_rate.h"
#include "algos/pingmesh/heatmap.h"
#include "experiments/pingmesh/along.h"
#include "experiments/spec/plane.h"
#include "tests/test.h"

/* 3 pods of 4 ToRs. */
static const struct topo_clos shape = {.n_pods = 3, .n_tors = 4};

static struct xp_pingmesh section_of(uint32_t along)
{
	return (struct xp_pingmesh){.duration_s = 3600,
	    .window_s = 600,
	    .along = along,
	    .unit = ALGO_HEATMAP_TOR,
	    .n_tails = 15};
}

static int init(struct xp_along_axes *a, const struct xp_pingmesh *p,
    struct sim_err *e)
{
	*a = (struct xp_along_axes){.n_points = 1};
	int rc = xp_pingmesh_axes(a, &shape, p, e);
	if (rc < 0)
		xp_along_free(a);
	return rc;
}

static const struct res_coord *only(const struct xp_along_axes *a, size_t axis)
{
	assert_int_equal(a->axis[axis].n_coords, 1);
	return &a->axis[axis].coord[0];
}

static void a_trial_is_one_row_unless_its_plane_says_more(void **state)
{
	struct xp_config c = {0};
	struct xp_pingmesh none = section_of(XP_ALONG_NONE);
	struct xp_along_axes a;
	(void)state;
	for (; xp_planes[c.plane]; c.plane++) {
		if (xp_plane_of(&c)->axes)
			continue;
		assert_ok(xp_along_init(&a, &c, test_err()));
		assert_int_equal(a.n, 0);
		assert_int_equal(a.n_points, 1);
		xp_along_free(&a);
	}
	assert_ok(init(&a, &none, test_err()));
	assert_int_equal(a.n, 0);
	assert_int_equal(a.n_points, 1);
	xp_along_free(&a);
}

static void windows_are_named_by_their_end(void **state)
{
	struct xp_pingmesh c = section_of(XP_ALONG_WINDOW);
	struct xp_along_axes a;
	(void)state;
	assert_ok(init(&a, &c, test_err()));
	assert_int_equal(a.n, 1);
	assert_int_equal(a.n_points, 6);
	assert_string_equal(only(&a, 0)->name, "window_s");
	assert_string_equal(only(&a, 0)->unit, "s");
	for (size_t i = 0; i < 6; i++)
		assert_true(only(&a, 0)->number[i] == 600.0 * (double)(i + 1));
	xp_along_free(&a);
}

/* 0.3 / 0.1 is below 3, and 0.6 / 0.2 as well. */
static void a_window_is_not_lost_to_rounding(void **state)
{
	(void)state;
	for (unsigned n = 1; n < 200; n++) {
		struct xp_pingmesh c = section_of(XP_ALONG_WINDOW);
		struct xp_along_axes a;
		c.window_s = 0.1;
		c.duration_s = n / 10.0;
		assert_ok(init(&a, &c, test_err()));
		assert_int_equal(a.n_points, n);
		xp_along_free(&a);
		c.duration_s += 0.05;
		assert_ok(init(&a, &c, test_err()));
		assert_int_equal(a.n_points, n);
		xp_along_free(&a);
	}
}

static void tails_fall_by_a_decade_in_three_steps(void **state)
{
	static const double want[] = {0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005};
	struct xp_pingmesh c = section_of(XP_ALONG_QUANTILE);
	struct xp_along_axes a;
	(void)state;
	assert_ok(init(&a, &c, test_err()));
	assert_int_equal(a.n_points, 15);
	assert_string_equal(only(&a, 0)->name, "tail");
	for (size_t i = 0; i < 7; i++)
		assert_true(only(&a, 0)->number[i] == want[i]);
	for (uint32_t i = 0; i < 15; i++)
		assert_true(only(&a, 0)->number[i] == xp_pingmesh_tail(i));
	assert_near(xp_pingmesh_tail(14), 1e-5, 1e-18);
	xp_along_free(&a);
}

static void groups_are_those_of_the_drop_rate(void **state)
{
	struct xp_pingmesh c = section_of(XP_ALONG_GROUP);
	struct xp_along_axes a;
	(void)state;
	assert_ok(init(&a, &c, test_err()));
	assert_int_equal(a.n_points, ALGO_DROP_N_GROUPS);
	assert_string_equal(only(&a, 0)->name, "group");
	assert_null(only(&a, 0)->number);
	for (size_t i = 0; i < ALGO_DROP_N_GROUPS; i++)
		assert_string_equal(only(&a, 0)->text[i], algo_drop_groups[i]);
	xp_along_free(&a);
}

static void pairs_are_two_axes_of_tors_or_pods(void **state)
{
	static const uint32_t n[] =
	    {[ALGO_HEATMAP_TOR] = 12, [ALGO_HEATMAP_POD] = 3};
	(void)state;
	for (uint32_t unit = 0; unit < 2; unit++) {
		struct xp_pingmesh c = section_of(XP_ALONG_PAIR);
		struct xp_along_axes a;
		c.unit = unit;
		assert_ok(init(&a, &c, test_err()));
		assert_int_equal(a.n, 2);
		assert_int_equal(a.n_points, n[unit] * n[unit]);
		assert_string_equal(only(&a, 0)->name, "from");
		assert_string_equal(only(&a, 1)->name, "to");
		for (size_t k = 0; k < 2; k++)
			for (size_t i = 0; i < n[unit]; i++)
				assert_true(
				    only(&a, k)->number[i] == (double)i);
		xp_along_free(&a);
	}
}

/* Each change, against the same without it: 1 where the axes stay. */
static void only_what_makes_the_axes_tells_them_apart(void **state)
{
	struct xp_pingmesh c[] = {section_of(XP_ALONG_WINDOW),
	    section_of(XP_ALONG_WINDOW), section_of(XP_ALONG_WINDOW),
	    section_of(XP_ALONG_WINDOW), section_of(XP_ALONG_QUANTILE),
	    section_of(XP_ALONG_NONE)};
	static const int same[] = {1, 1, 0, 0, 0, 0};
	(void)state;
	c[1].n_tails = 3;
	c[2].window_s = 300;
	c[3].window_s = 300; /* as many, but others */
	c[3].duration_s = 1800;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct xp_along_axes a, b;
		assert_ok(init(&a, &c[0], test_err()));
		assert_ok(init(&b, &c[i], test_err()));
		assert_int_equal(xp_along_same(&a, &b), same[i]);
		assert_int_equal(xp_along_same(&b, &a), same[i]);
		xp_along_free(&a);
		xp_along_free(&b);
	}
}

static void nothing_to_read_along_is_a_mistake(void **state)
{
	struct xp_pingmesh c = section_of(XP_ALONG_WINDOW);
	struct xp_along_axes a;
	struct sim_err e;
	(void)state;
	c.duration_s = 599;
	assert_int_equal(init(&a, &c, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "axis window_s has no place to read a trial along.");
	assert_int_equal(a.n, 0);
	c = section_of(XP_ALONG_QUANTILE);
	c.n_tails = 0;
	assert_int_equal(init(&a, &c, &e), SIM_EINVAL);
}

static int init_one(void *config, struct sim_err *e)
{
	struct xp_along_axes a;
	int rc = init(&a, config, e);
	if (rc == 0)
		xp_along_free(&a);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	(void)state;
	for (uint32_t along = XP_ALONG_WINDOW; along <= XP_ALONG_PAIR;
	     along++) {
		struct xp_pingmesh c = section_of(along);
		test_each_alloc_fails(init_one, &c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_trial_is_one_row_unless_its_plane_says_more),
	    cmocka_unit_test(windows_are_named_by_their_end),
	    cmocka_unit_test(a_window_is_not_lost_to_rounding),
	    cmocka_unit_test(tails_fall_by_a_decade_in_three_steps),
	    cmocka_unit_test(groups_are_those_of_the_drop_rate),
	    cmocka_unit_test(pairs_are_two_axes_of_tors_or_pods),
	    cmocka_unit_test(only_what_makes_the_axes_tells_them_apart),
	    cmocka_unit_test(nothing_to_read_along_is_a_mistake),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("experiments/spec/along", tests,
	    NULL, NULL);
}
