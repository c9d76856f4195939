/* tests/experiments/lab/wire_test.c -- a network's thread, and where it may run.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The network is none: what it is asked is counted.
 */
#include "experiments/lab/wire.h"

#include "tests/test.h"

static unsigned n_closed;

static void count_closed(struct xp_wire *w)
{
	(void)w;
	n_closed++;
}

static const struct xp_wire_ops no_ops = {.name = "none",
    .close = count_closed};

static cpu_set_t cpus_now(void)
{
	cpu_set_t c;
	assert_int_equal(sched_getaffinity(0, sizeof(c), &c), 0);
	return c;
}

static int last_of(const cpu_set_t *c)
{
	int last = -1;
	for (int i = 0; i < CPU_SETSIZE; i++)
		last = CPU_ISSET(i, c) ? i : last;
	return last;
}

static void the_last_cpu_is_taken(void **state)
{
	const cpu_set_t all = cpus_now();
	(void)state;
	assert_int_equal(xp_wire_cpu(), last_of(&all));
	/* Of each one alone it is that one, if it is allowed. */
	for (int i = 0; i < CPU_SETSIZE; i++) {
		cpu_set_t one;
		if (!CPU_ISSET(i, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
		assert_int_equal(xp_wire_cpu(), i);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void the_thread_keeps_to_one_cpu_until_it_is_closed(void **state)
{
	const cpu_set_t all = cpus_now();
	const struct topo t = {.n_hosts = 3};
	struct xp_wire *w = calloc(1, sizeof(*w));
	(void)state;
	assert_non_null(w);
	n_closed = 0;
	assert_ok(xp_wire_init(w, &no_ops, &t, test_err()));
	const cpu_set_t one = cpus_now();
	assert_int_equal(CPU_COUNT(&one), 1);
	assert_int_equal(last_of(&one), last_of(&all));
	assert_ptr_equal(w->ops, &no_ops);
	assert_ptr_equal(w->topo, &t);
	for (int i = 0; i < 3; i++)
		assert_int_equal(w->host[i].address, 0);
	xp_wire_close(w);
	assert_int_equal(n_closed, 1);
	const cpu_set_t again = cpus_now();
	assert_true(CPU_EQUAL(&again, &all));
	xp_wire_close(NULL);
	assert_int_equal(n_closed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_last_cpu_is_taken),
	    cmocka_unit_test(the_thread_keeps_to_one_cpu_until_it_is_closed),
	};
	return cmocka_run_group_tests_name("experiments/lab/wire", tests, NULL,
	    NULL);
}
