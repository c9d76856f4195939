/* tests/algos/everflow/hole_pattern_test.c -- patterns of black holes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/hole_pattern.h"

#include "tests/test.h"

enum { N = 64 };

static struct topo_tuple draw(struct sim_rng *r)
{
	return (struct topo_tuple){0x0a000000 | sim_rng_below(r, 4096),
	    0x0a000000 | sim_rng_below(r, 4096),
	    (uint16_t)sim_rng_below(r, 65536), (uint16_t)sim_rng_below(r, 1024),
	    TOPO_PROTO_TCP};
}

static int matches(const struct topo_tuple *v, const struct topo_tuple *m,
    const struct topo_tuple *t)
{
	return (t->src_ip & m->src_ip) == v->src_ip &&
	    (t->dst_ip & m->dst_ip) == v->dst_ip &&
	    (t->src_port & m->src_port) == v->src_port &&
	    (t->dst_port & m->dst_port) == v->dst_port;
}

/* A hole that takes what has certain bits is told, and by no more bits. */
static void a_pattern_covers_all_lost_and_no_kept(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 500; run++) {
		struct algo_hole_tuple t[N];
		struct topo_tuple v, m;
		struct sim_rng r;
		int n_lost = 0;
		test_rng(&r, run);
		const uint32_t bits =
		    1u << sim_rng_below(&r, 12) | 1u << sim_rng_below(&r, 12);
		const uint32_t want = sim_rng_u32(&r) & bits;
		for (int i = 0; i < N; i++) {
			t[i] = (struct algo_hole_tuple){.tuple = draw(&r)};
			t[i].is_lost = (t[i].tuple.dst_ip & bits) == want;
			n_lost += t[i].is_lost;
		}
		if (n_lost == 0 || n_lost == N)
			continue;
		if (!algo_hole_pattern(t, N, 0, &v, &m))
			fail_msg("run %u: no pattern", run);
		for (int i = 0; i < N; i++)
			if (matches(&v, &m, &t[i].tuple) != t[i].is_lost)
				fail_msg("run %u: tuple %d", run, i);
		/* Any bit less would cover a kept one: it is minimal. */
		for (int b = 0; b < 32; b++) {
			struct topo_tuple less = m, w = v;
			int extra = 0;
			if (!(m.dst_ip >> b & 1))
				continue;
			less.dst_ip &= ~(UINT32_C(1) << b);
			w.dst_ip &= less.dst_ip;
			for (int i = 0; i < N; i++)
				extra += !t[i].is_lost &&
				    matches(&w, &less, &t[i].tuple);
			if (extra == 0)
				fail_msg("run %u: bit %d is idle", run, b);
		}
	}
}

/* Half of all tuples at random have nothing in common but by chance: 32 of 64
 * agree in one of 56 bits with 2^-31 each. */
static void a_hash_has_no_pattern(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		struct algo_hole_tuple t[N];
		struct topo_tuple v, m;
		struct sim_rng r;
		test_rng(&r, run);
		for (int i = 0; i < N; i++) {
			t[i] = (struct algo_hole_tuple){.tuple = draw(&r)};
			t[i].is_lost = sim_rng_below(&r, 2);
		}
		assert_int_equal(algo_hole_pattern(t, N, 0, &v, &m), 0);
		assert_int_equal(m.src_ip | m.dst_ip | v.src_ip, 0);
		assert_false(algo_hole_is_by_address(t, N));
	}
}

static void nothing_or_everything_lost_is_no_pattern(void **state)
{
	struct algo_hole_tuple t[4] = {{.tuple = {1, 2, 3, 4, 6}}};
	struct topo_tuple v, m;
	(void)state;
	assert_int_equal(algo_hole_pattern(t, 0, 0, &v, &m), 0);
	assert_int_equal(algo_hole_pattern(t, 4, 0, &v, &m), 0);
	for (int i = 0; i < 4; i++)
		t[i].is_lost = 1;
	assert_int_equal(algo_hole_pattern(t, 4, 0, &v, &m), 0);
}

/* 16 pairs of ports of a pair with one fate; or with 16. */
static void types_differ_by_what_ports_do(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 500; run++) {
		struct algo_hole_tuple t[N];
		struct topo_tuple v, m;
		struct sim_rng r;
		test_rng(&r, run);
		for (int i = 0; i < N; i++) {
			t[i] = (struct algo_hole_tuple){.tuple = draw(&r)};
			t[i].is_lost = sim_rng_below(&r, 2);
			if (i < 16 && i > 0) {
				t[i].tuple.src_ip = t[0].tuple.src_ip;
				t[i].tuple.dst_ip = t[0].tuple.dst_ip;
			}
			if (i < 16)
				t[i].is_lost = 1;
		}
		assert_true(algo_hole_is_by_address(t, N));
		assert_true(algo_hole_is_told(t, N));
		t[1 + sim_rng_below(&r, 15)].is_lost = 0;
		assert_false(algo_hole_is_by_address(t, N));
		assert_true(algo_hole_is_told(t, N));
		/* One pair alone is a pattern of its addresses. */
		for (int i = 0; i < N; i++)
			t[i].is_lost = i < 16;
		assert_true(algo_hole_pattern(t, N, 1, &v, &m));
		assert_int_equal(m.src_port | m.dst_port, 0);
		assert_true(matches(&v, &m, &t[0].tuple));
	}
}

/* Three pairs of ports, all lost, are too few; a fourth says it either way. */
static void few_ports_tell_nothing(void **state)
{
	struct algo_hole_tuple t[5] = {{.tuple = {1, 2, 3, 4, 6}, .is_lost = 1},
	    {.tuple = {1, 2, 5, 4, 6}, .is_lost = 1},
	    {.tuple = {1, 2, 3, 6, 6}, .is_lost = 1},
	    {.tuple = {9, 2, 3, 4, 6}}};
	(void)state;
	assert_false(algo_hole_is_told(t, 4));
	assert_false(algo_hole_is_by_address(t, 4));
	t[4] = (struct algo_hole_tuple){.tuple = {1, 2, 7, 7, 6}};
	assert_true(algo_hole_is_told(t, 5));
	assert_false(algo_hole_is_by_address(t, 5));
	t[4].is_lost = 1;
	assert_true(algo_hole_is_told(t, 5));
	assert_true(algo_hole_is_by_address(t, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_pattern_covers_all_lost_and_no_kept),
	    cmocka_unit_test(a_hash_has_no_pattern),
	    cmocka_unit_test(nothing_or_everything_lost_is_no_pattern),
	    cmocka_unit_test(types_differ_by_what_ports_do),
	    cmocka_unit_test(few_ports_tell_nothing),
	};
	return cmocka_run_group_tests_name("algos/everflow/hole_pattern", tests,
	    NULL, NULL);
}
