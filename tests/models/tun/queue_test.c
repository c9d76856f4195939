/* tests/models/tun/queue_test.c -- packets leave in the order of their times.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/tun/queue.h"
#include "tests/test.h"

enum { MAX = 300, BYTES = 40 };

struct held {
	sim_ns at;
	uint64_t turn;
	uint32_t name;
	int is_in;
};

/* The packet that is due first, found by looking at all of them. */
static size_t first_of(const struct held h[], size_t n)
{
	size_t best = n;
	for (size_t i = 0; i < n; i++)
		if (h[i].is_in &&
		    (best == n || h[i].at < h[best].at ||
			(h[i].at == h[best].at && h[i].turn < h[best].turn)))
			best = i;
	return best;
}

static void fill(const struct tun_queue *q, uint32_t slot, uint32_t name)
{
	for (unsigned i = 0; i < BYTES / sizeof(name); i++)
		memcpy(tun_queue_bytes(q, slot) + i * sizeof(name), &name,
		    sizeof(name));
}

static void check(const struct tun_queue *q, uint32_t slot, uint32_t name)
{
	for (unsigned i = 0; i < BYTES / sizeof(name); i++)
		assert_memory_equal(tun_queue_bytes(q, slot) + i * sizeof(name),
		    &name, sizeof(name));
}

/* Few different times, so that many are equal; names are never used twice. */
static void order_and_bytes_are_those_of_a_list(void **state)
{
	static struct held held[MAX];
	(void)state;
	for (uint32_t run = 0; run < 20; run++) {
		struct tun_queue q;
		struct sim_rng r;
		uint32_t n_in = 0;
		test_rng(&r, run);
		memset(held, 0, sizeof(held));
		tun_queue_open(&q, BYTES, MAX);
		for (uint32_t name = 1; name < 5000; name++) {
			uint32_t slot = TOPO_NONE;
			if (sim_rng_below(&r, 100) < 55) {
				assert_ok(
				    tun_queue_take(&q, &slot, test_err()));
				assert_int_equal(slot == TOPO_NONE,
				    n_in == MAX);
			}
			if (slot != TOPO_NONE) {
				assert_true(slot < MAX && !held[slot].is_in);
				held[slot] =
				    (struct held){sim_rng_below(&r, 50), name,
					name, 1};
				fill(&q, slot, name);
				tun_queue_put(&q, slot, held[slot].at);
				n_in++;
			} else if (n_in > 0) {
				const size_t want = first_of(held, MAX);
				assert_true(
				    tun_queue_next(&q) == held[want].at);
				slot = tun_queue_pop(&q);
				assert_int_equal(slot, want);
				check(&q, slot, held[slot].name);
				held[slot].is_in = 0;
				tun_queue_give(&q, slot);
				n_in--;
			}
			if (n_in == 0)
				assert_true(tun_queue_next(&q) == SIM_NEVER);
		}
		tun_queue_close(&q);
	}
}

static int take_all(void *arg, struct sim_err *e)
{
	struct tun_queue q;
	int rc = 0;
	(void)arg;
	tun_queue_open(&q, BYTES, MAX);
	for (unsigned i = 0; rc == 0 && i < MAX; i++) {
		uint32_t slot;
		if ((rc = tun_queue_take(&q, &slot, e)) == 0)
			tun_queue_put(&q, slot, i);
	}
	tun_queue_close(&q);
	return rc;
}

static void each_allocation_may_fail(void **state)
{
	(void)state;
	test_each_alloc_fails(take_all, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(order_and_bytes_are_those_of_a_list),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("models/tun/queue", tests, NULL,
	    NULL);
}
