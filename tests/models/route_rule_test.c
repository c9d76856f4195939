/* tests/models/route_rule_test.c -- rules of bad next hops: whom they take, and
 * what they make of a choice.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Chi-squares at level 1e-6, 24 of them.
 */
#include "models/route_rule.h"

#include "tests/rigs/law.h"
#include "tests/test.h"

#define LEVEL 1e-6

enum { N_FLOWS = 20000 };

static struct route_rule rule_of(enum route_rule_kind kind, double flows)
{
	struct route_rule r = {.kind = kind, .last_ip = UINT32_MAX};
	assert_ok(blackhole_rule_init(&r.flows, BLACKHOLE_RULE_TUPLE, flows, 5,
	    test_err()));
	return r;
}

static struct topo_tuple tuple_at(uint32_t i)
{
	return (struct topo_tuple){.src_ip = i / 7,
	    .dst_ip = 1000 + i % 7,
	    .src_port = (uint16_t)i,
	    .dst_port = 80,
	    .proto = TOPO_PROTO_TCP};
}

static void packets_are_of_the_range_and_the_share(void **state)
{
	(void)state;
	struct route_rule r = rule_of(ROUTE_RULE_LINK, 0.25);
	uint64_t n[2] = {0};
	static const double want[] = {0.75, 0.25};
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		const struct topo_tuple t = tuple_at(i);
		n[route_rule_takes(&r, &t)]++;
		/* The same flow has the same fate. */
		assert_int_equal(route_rule_takes(&r, &t),
		    route_rule_takes(&r, &t));
	}
	assert_true(law_chi2(n, want, 2) > LEVEL);
	r = rule_of(ROUTE_RULE_LINK, 1);
	r.first_ip = 1002;
	r.last_ip = 1004;
	for (uint32_t i = 0; i < 7; i++) {
		const struct topo_tuple t = tuple_at(i);
		assert_int_equal(route_rule_takes(&r, &t), i >= 2 && i <= 4);
	}
}

/* How often each of N next hops is chosen, R having been applied. */
static void count(const struct route_rule *r, uint32_t n, uint64_t got[])
{
	memset(got, 0, n * sizeof(got[0]));
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		const struct topo_tuple t = tuple_at(i);
		struct route_choice c =
		    route_choice(77, topo_tuple_digest(&t), n);
		const uint32_t plain = topo_ecmp_pick(c.seed, c.digest, n);
		assert_int_equal(route_choice_pick(&c), plain);
		if (r)
			route_rule_apply(r, &c);
		const uint32_t pick = route_choice_pick(&c);
		assert_true(pick < n);
		got[pick]++;
	}
}

static void a_narrow_set_is_even_among_what_is_left(void **state)
{
	(void)state;
	struct route_rule r = rule_of(ROUTE_RULE_NARROW, 1);
	for (uint32_t n = 1; n <= 8; n++)
		for (r.n_left = 1; r.n_left <= n; r.n_left += 2) {
			uint64_t got[8];
			double want[8] = {0};
			r.salt = 3 * n + 6;
			count(&r, n, got);
			for (uint32_t i = 0; i < r.n_left; i++)
				want[(r.n_left < n ? r.salt % n + i : i) % n] =
				    1;
			assert_true(law_chi2(got, want, n) > LEVEL);
		}
	/* More than there are is no less. */
	uint64_t got[4];
	r.n_left = 9;
	count(&r, 4, got);
	assert_true(law_chi2_uniform(got, 4) > LEVEL);
}

/* Most over mean is w n / (n - 1 + w). */
static void a_weight_is_that_of_one_next_hop(void **state)
{
	(void)state;
	struct route_rule r = rule_of(ROUTE_RULE_WEIGHTS, 1);
	for (uint32_t n = 1; n <= 8; n += 7)
		for (r.weight = 0.25; r.weight <= 16; r.weight *= 8) {
			uint64_t got[8];
			double want[8];
			r.salt = 13;
			for (uint32_t i = 0; i < n; i++)
				want[i] = i == r.salt % n ? r.weight : 1;
			count(&r, n, got);
			assert_true(law_chi2(got, want, n) > LEVEL);
		}
}

/* Of 2^b sorts of flows each goes one way, and all hops are used if the sorts
 * are many. */
static void few_bits_make_few_sorts(void **state)
{
	(void)state;
	struct route_rule r = rule_of(ROUTE_RULE_BITS, 1);
	for (r.bits = 0; r.bits <= 3; r.bits++) {
		uint64_t got[64];
		unsigned n_used = 0;
		count(&r, 64, got);
		for (unsigned i = 0; i < 64; i++)
			n_used += got[i] > 0;
		assert_true(n_used >= 1 && n_used <= 1u << r.bits);
	}
	r.bits = 31;
	uint64_t got[8];
	count(&r, 8, got);
	assert_true(law_chi2_uniform(got, 8) > LEVEL);
}

/* Two switches of one seed: whoever the first sent to its half sends on into
 * the same half of its own next hops. */
static void one_seed_for_all_polarises(void **state)
{
	(void)state;
	const struct route_rule r = {.kind = ROUTE_RULE_SEED, .salt = 99};
	uint64_t healthy[4] = {0};
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		const struct topo_tuple t = tuple_at(i);
		const uint32_t digest = topo_tuple_digest(&t);
		struct route_choice a = route_choice(1, digest, 2);
		struct route_choice b = route_choice(2, digest, 4);
		if (route_choice_pick(&a) == 0)
			healthy[route_choice_pick(&b)]++;
		route_rule_apply(&r, &a);
		route_rule_apply(&r, &b);
		assert_int_equal(route_choice_pick(&b) / 2,
		    route_choice_pick(&a));
	}
	assert_true(law_chi2_uniform(healthy, 4) > LEVEL);
}

static void the_first_wrong_route_counts(void **state)
{
	(void)state;
	struct route_choice c = route_choice(1, 2, 3);
	struct route_rule r = {.kind = ROUTE_RULE_LINK, .link = 8};
	route_rule_apply(&r, &c);
	r.link = 9;
	route_rule_apply(&r, &c);
	assert_int_equal(c.link, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(packets_are_of_the_range_and_the_share),
	    cmocka_unit_test(a_narrow_set_is_even_among_what_is_left),
	    cmocka_unit_test(a_weight_is_that_of_one_next_hop),
	    cmocka_unit_test(few_bits_make_few_sorts),
	    cmocka_unit_test(one_seed_for_all_polarises),
	    cmocka_unit_test(the_first_wrong_route_counts),
	};
	return cmocka_run_group_tests_name("models/route_rule", tests, NULL,
	    NULL);
}
