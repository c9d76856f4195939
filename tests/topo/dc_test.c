/* tests/topo/dc_test.c -- a data centre's part of a network, against counting.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "topo/dc.h"

#include "tests/test.h"
#include "topo/region.h"

static const struct topo_clos shape = {2, 3, 2, 4, 5, .n_cables = 0};

static void open_region(struct topo *t, uint32_t n_dcs)
{
	struct topo_region_params p;
	assert_ok(sim_field_defaults(topo_region_fields, &p, test_err()));
	p.n_dcs = n_dcs;
	assert_ok(topo_open_region(t, &shape, &p, test_err()));
}

/* topo_dc_at() must agree with the region's own tables. */
static void the_parts_of_a_region_are_where_it_says(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= 4; n++) {
		struct topo t;
		topo_host h = 0;
		topo_switch s = 0;
		open_region(&t, n);
		assert_int_equal(topo_n_dcs(&t), n);
		for (uint32_t d = 0; d < n; d++) {
			const struct topo_dc dc = topo_dc_at(&t, d);
			const struct topo_clos *c = &dc.clos;
			assert_int_equal(dc.id, d);
			assert_int_equal(dc.first_host, h);
			assert_int_equal(dc.first_switch, s);
			for (uint32_t i = 0; i < c->all_hosts; i++, h++) {
				assert_true(topo_dc_has(&dc, h));
				assert_int_equal(topo_dc_index(&dc, h), i);
				assert_int_equal(dc.first_switch +
					topo_dc_tor_index(&dc, h),
				    topo_tor_of(&t, h));
				assert_int_equal(d * c->n_pods +
					topo_dc_pod_index(&dc, h),
				    topo_pod_of(&t, h));
			}
			s += topo_clos_n_switches(c);
		}
		assert_int_equal(h, t.n_hosts);
		topo_close(&t);
	}
}

static void a_clos_is_one_data_centre(void **state)
{
	(void)state;
	struct topo t;
	assert_ok(topo_open_clos(&t, &shape, test_err()));
	assert_int_equal(topo_n_dcs(&t), 1);
	const struct topo_dc dc = topo_dc_at(&t, 0);
	assert_true(dc.id == 0 && dc.first_host == 0 && dc.first_switch == 0);
	assert_memory_equal(&dc.clos, &t.clos, sizeof(t.clos));
	topo_close(&t);
}

/* Neither the host before the first nor the one after the last is of it, also
 * where ids end. */
static void nothing_beside_a_data_centre_is_of_it(void **state)
{
	(void)state;
	struct topo_clos c = shape;
	assert_ok(topo_clos_init(&c, test_err()));
	struct topo_dc dc = topo_dc_alone(&c);
	const uint32_t n = c.all_hosts;
	const topo_host firsts[] = {0, 1, n, UINT32_MAX - n};
	for (size_t i = 0; i < 4; i++) {
		dc.first_host = firsts[i];
		assert_true(topo_dc_has(&dc, firsts[i]));
		assert_true(topo_dc_has(&dc, firsts[i] + n - 1));
		assert_false(topo_dc_has(&dc, firsts[i] + n));
		assert_true(i == 0 || !topo_dc_has(&dc, firsts[i] - 1));
		assert_false(topo_dc_has(&dc, TOPO_NONE));
	}
}

/* Shapes of different sizes, without a network. */
static void data_centres_follow_each_other(void **state)
{
	(void)state;
	struct topo_clos c[3] = {shape, {1, 1, 0, 0, 7, .n_cables = 0},
	    {3, 2, 2, 2, 4, .n_cables = 0}};
	struct topo_dc dc[3];
	for (uint32_t i = 0; i < 3; i++) {
		assert_ok(topo_clos_init(&c[i], test_err()));
		dc[i] = topo_dc_after(i > 0 ? &dc[i - 1] : NULL, &c[i]);
		assert_int_equal(dc[i].id, i);
	}
	assert_int_equal(dc[1].first_host, 30);
	assert_int_equal(dc[2].first_host, 37);
	assert_int_equal(dc[1].first_switch, 6 + 4 + 4);
	assert_int_equal(dc[2].first_switch, 14 + 1);
	assert_int_equal(topo_dcs_n_hosts(dc, 0), 0);
	assert_int_equal(topo_dcs_n_hosts(dc, 1), 30);
	assert_int_equal(topo_dcs_n_hosts(dc, 2), 37);
	assert_int_equal(topo_dcs_n_hosts(dc, 3), 61);
	for (topo_host h = 0; h < 70; h++)
		assert_int_equal(topo_dcs_find(dc, 3, h),
		    (h >= 30) + (h >= 37) + (h >= 61));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_parts_of_a_region_are_where_it_says),
	    cmocka_unit_test(a_clos_is_one_data_centre),
	    cmocka_unit_test(nothing_beside_a_data_centre_is_of_it),
	    cmocka_unit_test(data_centres_follow_each_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
