/* tests/models/fault/service_test.c -- what controller and collector answer, when.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/fault/service.h"

#include "tests/test.h"

/* Each mode in its time, that of the other service at another, and up before and
 * after. Only what is slow takes time. */
static void a_service_has_the_mode_of_its_time(void **state)
{
	(void)state;
	struct truth t = {0};
	sim_ns delay = 77;
	assert_int_equal(fault_service_mode(&t, TRUTH_CONTROLLER, 0, &delay),
	    FAULT_SERVICE_UP);
	assert_int_equal(delay, 0);
	for (uint32_t mode = 0; mode < 4; mode++) {
		const struct truth_outage o = {.kind = TRUTH_CONTROLLER,
		    .mode = mode,
		    .from_ns = 100 * mode + 10,
		    .to_ns = 100 * mode + 20,
		    .delay_us = 1.5};
		assert_ok(truth_add_outage(&t, &o, test_err()));
	}
	const struct truth_outage o = {.kind = TRUTH_COLLECTOR,
	    .mode = TRUTH_SLOW,
	    .from_ns = 50,
	    .to_ns = 60,
	    .delay_us = 2};
	assert_ok(truth_add_outage(&t, &o, test_err()));
	truth_sort(&t);
	for (sim_ns at = 0; at < 450; at++) {
		const sim_ns in = at % 100;
		const int out = at < 400 && in >= 10 && in < 20;
		const uint32_t want =
		    out ? (uint32_t)(at / 100) : (uint32_t)FAULT_SERVICE_UP;
		assert_int_equal(fault_service_mode(&t, TRUTH_CONTROLLER, at,
				     &delay),
		    want);
		assert_int_equal(delay, want == TRUTH_SLOW ? 1500 : 0);
		assert_int_equal(fault_service_mode(&t, TRUTH_COLLECTOR, at,
				     &delay),
		    at >= 50 && at < 60 ? (uint32_t)TRUTH_SLOW
					: (uint32_t)FAULT_SERVICE_UP);
		assert_int_equal(delay, at >= 50 && at < 60 ? 2000 : 0);
	}
	truth_free(&t);
}

struct called {
	unsigned n_fetched, n_counted;
};

static int fetch(void *arg, topo_host host, sim_ns at, const void **data,
    size_t *n, struct sim_err *e)
{
	struct called *c = arg;
	c->n_fetched++;
	assert_int_equal(host, 7);
	assert_int_equal(at, 15);
	(void)e;
	*data = "<doc/>";
	*n = 6;
	return 0;
}

static int count(void *arg, topo_host host, sim_ns at, const void *data,
    size_t n, struct sim_err *e)
{
	struct called *c = arg;
	(void)at, (void)data, (void)e;
	c->n_counted++;
	assert_int_equal(host, 7);
	assert_int_equal(n, 3);
	return SIM_ERANGE;
}

static void a_document_is_what_the_mode_makes_of_it(void **state)
{
	(void)state;
	static const struct {
		uint32_t mode;
		const char *data;
		unsigned n_fetched;
	} all[] = {{TRUTH_DOWN, "<doc/>", 1}, {TRUTH_SLOW, "<doc/>", 1},
	    {TRUTH_EMPTY, NULL, 0},
	    {TRUTH_GARBAGE, "<html>It works!</html>\n", 0},
	    {FAULT_SERVICE_UP, "<doc/>", 1}};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (int can = 0; can < 2; can++) {
			struct called c = {0};
			const struct fault_services s = {.arg = &c,
			    .fetch = can ? fetch : NULL};
			const void *data = "before";
			size_t n = 99;
			assert_ok(fault_service_document(&s, all[i].mode, 7, 15,
			    &data, &n, test_err()));
			assert_int_equal(c.n_fetched,
			    can ? all[i].n_fetched : 0);
			const char *want =
			    all[i].n_fetched > 0 && !can ? NULL : all[i].data;
			assert_int_equal(n, want ? strlen(want) : 0);
			if (want)
				assert_memory_equal(data, want, n);
			else
				assert_null(data);
		}
}

/* Counters come to a collector that is not down, and what it says is told. */
static void counters_come_unless_the_collector_is_down(void **state)
{
	(void)state;
	struct called c = {0};
	const struct fault_services s = {.arg = &c, .counters = count},
				    none = {.arg = &c};
	struct truth t = {0};
	for (uint32_t mode = TRUTH_DOWN; mode <= TRUTH_SLOW; mode++) {
		const struct truth_outage o = {.kind = TRUTH_COLLECTOR,
		    .mode = mode,
		    .from_ns = mode == TRUTH_DOWN ? 10 : 20,
		    .to_ns = mode == TRUTH_DOWN ? 15 : 25};
		assert_ok(truth_add_outage(&t, &o, test_err()));
	}
	truth_sort(&t);
	for (sim_ns at = 0; at < 40; at++) {
		const int down = at >= 10 && at < 15;
		c.n_counted = 0;
		assert_int_equal(fault_service_counters(&s, &t, 7, at, "abc", 3,
				     NULL),
		    down ? 0 : SIM_ERANGE);
		assert_int_equal(c.n_counted, !down);
		assert_int_equal(fault_service_counters(&none, &t, 7, at, "abc",
				     3, NULL),
		    0);
	}
	truth_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_service_has_the_mode_of_its_time),
	    cmocka_unit_test(a_document_is_what_the_mode_makes_of_it),
	    cmocka_unit_test(counters_come_unless_the_collector_is_down),
	};
	return cmocka_run_group_tests_name("models/fault/service", tests, NULL,
	    NULL);
}
