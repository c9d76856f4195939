/* tests/models/blackhole_rule_test.c -- switches that drop certain packets.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counts are held to 5 standard deviations of their binomial law (6e-7 each,
 * about 20 of them), tables to chi-square tests at 1e-6.
 */
#include "models/blackhole_rule.h"

#include "tests/rigs/law.h"
#include "tests/test.h"

#define ERRORS 5

enum { PAIR = BLACKHOLE_RULE_PAIR, TUPLE = BLACKHOLE_RULE_TUPLE };

static struct blackhole_rule rule(int type, double share, uint64_t salt)
{
	struct blackhole_rule b;
	assert_ok(blackhole_rule_init(&b, (enum blackhole_rule_type)type, share,
	    salt, test_err()));
	return b;
}

static struct topo_tuple random_tuple(struct sim_rng *r)
{
	return (struct topo_tuple){
	    .src_ip = sim_rng_u32(r),
	    .dst_ip = sim_rng_u32(r),
	    .src_port = (uint16_t)sim_rng_u32(r),
	    .dst_port = (uint16_t)sim_rng_u32(r),
	    .proto = TOPO_PROTO_TCP,
	};
}

static void assert_share(unsigned got, unsigned n, double p)
{
	assert_near(got, n * p, ERRORS * sqrt(n * p * (1 - p)));
}

/* The addresses of a data center are consecutive numbers. A rule must drop as
 * large a share of these as it would of random ones. */
static void the_share_of_dropped_keys_is_that_of_the_rule(void **state)
{
	enum { SIDE = 300, N = SIDE * SIDE };
	static const double shares[] = {1e-3, 0.05, 0.5, 0.98};
	(void)state;
	for (int type = PAIR; type <= TUPLE; type++)
		for (unsigned i = 0; i < 4; i++) {
			const struct blackhole_rule b =
			    rule(type, shares[i], 7 + i);
			unsigned n = 0;
			for (uint32_t k = 0; k < N; k++) {
				const struct topo_tuple t = {.src_ip =
								 0x0a000000 +
					k / SIDE,
				    .dst_ip = 0x0a000000 + k % SIDE,
				    .src_port = 1024,
				    .dst_port = 80,
				    .proto = TOPO_PROTO_TCP};
				n += (unsigned)blackhole_rule_drops(&b, &t);
			}
			assert_share(n, N, shares[i]);
		}
}

static void none_and_all_are_exact(void **state)
{
	struct sim_rng r;
	(void)state;
	test_rng(&r, 1);
	for (int type = PAIR; type <= TUPLE; type++) {
		const struct blackhole_rule none = rule(type, 0, 3);
		const struct blackhole_rule all = rule(type, 1, 3);
		for (int i = 0; i < 10000; i++) {
			const struct topo_tuple t = random_tuple(&r);
			assert_false(blackhole_rule_drops(&none, &t));
			assert_true(blackhole_rule_drops(&all, &t));
		}
	}
}

/* A rule with more corrupt entries has those of one with fewer. */
static void more_entries_drop_what_fewer_do(void **state)
{
	struct sim_rng r;
	(void)state;
	test_rng(&r, 2);
	for (int type = PAIR; type <= TUPLE; type++) {
		const struct blackhole_rule few = rule(type, 0.2, 5);
		const struct blackhole_rule many = rule(type, 0.3, 5);
		for (int i = 0; i < 10000; i++) {
			const struct topo_tuple t = random_tuple(&r);
			assert_true(blackhole_rule_drops(&few, &t) <=
			    blackhole_rule_drops(&many, &t));
		}
	}
}

static void type_1_does_not_look_at_ports(void **state)
{
	const struct blackhole_rule b = rule(PAIR, 0.3, 11);
	struct sim_rng r;
	(void)state;
	test_rng(&r, 3);
	for (int i = 0; i < 1000; i++) {
		struct topo_tuple t = random_tuple(&r);
		const int fate = blackhole_rule_drops(&b, &t);
		for (int k = 0; k < 40; k++) {
			const struct topo_tuple other = random_tuple(&r);
			t.src_port = other.src_port;
			t.dst_port = other.dst_port;
			t.proto = (uint8_t)other.src_port;
			assert_int_equal(blackhole_rule_drops(&b, &t), fate);
		}
	}
}

/* Each pair's count of dropped source ports is binomial: pairs do not differ
 * but by chance. */
static void type_2_drops_some_ports_of_every_pair(void **state)
{
	enum { PORTS = 8, PAIRS = 20000 };
	const double p = 0.3;
	const struct blackhole_rule b = rule(TUPLE, p, 12);
	uint64_t n_with[PORTS + 1] = {0};
	double law[PORTS + 1];
	double term = pow(1 - p, PORTS);
	(void)state;
	for (uint32_t pair = 0; pair < PAIRS; pair++) {
		unsigned n = 0;
		for (uint16_t port = 0; port < PORTS; port++) {
			const struct topo_tuple t = {.src_ip = 1,
			    .dst_ip = pair,
			    .src_port = (uint16_t)(40000 + port),
			    .dst_port = 80,
			    .proto = TOPO_PROTO_TCP};
			n += (unsigned)blackhole_rule_drops(&b, &t);
		}
		n_with[n]++;
	}
	for (unsigned k = 0; k <= PORTS; k++) {
		law[k] = term;
		term *= p / (1 - p) * (PORTS - k) / (k + 1);
	}
	assert_true(law_chi2(n_with, law, PORTS + 1) > 1e-6);
}

/* Two events of chance p that are independent fill a 2 x 2 table by products.
 * Pairs of rules: neighbouring and far salts, types, the way back, and the key
 * that another salt would make equal if salts were only xored in. */
static void rules_and_directions_are_independent(void **state)
{
	const double p = 0.3;
	const double law[] = {(1 - p) * (1 - p), p * (1 - p), p * (1 - p),
	    p * p};
	const struct blackhole_rule a = rule(PAIR, p, 1);
	const struct blackhole_rule others[] = {rule(PAIR, p, 2),
	    rule(PAIR, p, UINT64_C(1) << 63), rule(TUPLE, p, 1), a,
	    rule(PAIR, p, 2)};
	const uint64_t rename = others[4].salt ^ a.salt;
	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		uint64_t table[4] = {0};
		struct sim_rng r;
		test_rng(&r, 10 + i);
		for (int k = 0; k < 50000; k++) {
			struct topo_tuple t = random_tuple(&r);
			struct topo_tuple u = t;
			if (i == 3) {
				u.src_ip = t.dst_ip;
				u.dst_ip = t.src_ip;
			} else if (i == 4) {
				u.src_ip ^= (uint32_t)(rename >> 32);
				u.dst_ip ^= (uint32_t)rename;
			}
			table[2 * blackhole_rule_drops(&a, &t) +
			    blackhole_rule_drops(&others[i], &u)]++;
		}
		assert_true(law_chi2(table, law, 4) > 1e-6);
	}
}

/* Of the packets that a rule drops, each of 4 next hops gets a quarter. */
static void drops_say_nothing_about_the_path(void **state)
{
	const struct blackhole_rule b = rule(TUPLE, 0.3, 0);
	uint64_t hops[4] = {0};
	struct sim_rng r;
	(void)state;
	test_rng(&r, 20);
	for (int i = 0; i < 50000; i++) {
		const struct topo_tuple t = random_tuple(&r);
		if (blackhole_rule_drops(&b, &t))
			hops[topo_ecmp_pick(topo_switch_seed(0, 1),
			    topo_tuple_digest(&t), 4)]++;
	}
	assert_true(law_chi2_uniform(hops, 4) > 1e-6);
}

static void mistakes_are_named(void **state)
{
	struct blackhole_rule b = rule(PAIR, 0.5, 9);
	const struct blackhole_rule before = b;
	struct sim_err e;
	(void)state;
	assert_int_equal(blackhole_rule_init(&b, BLACKHOLE_RULE_PAIR, 1.5, 9,
			     &e),
	    SIM_ERANGE);
	assert_string_equal(e.msg,
	    "share 1.5 of a black hole's entries is not in [0, 1].");
	assert_int_equal(blackhole_rule_init(&b, BLACKHOLE_RULE_TUPLE, -0.1, 9,
			     &e),
	    SIM_ERANGE);
	assert_int_equal(blackhole_rule_init(&b, BLACKHOLE_RULE_TUPLE, NAN, 9,
			     &e),
	    SIM_ERANGE);
	assert_int_equal(blackhole_rule_init(&b, (enum blackhole_rule_type)3,
			     0.5, 9, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "black hole type 3 is neither 1 (address pairs) nor 2 "
	    "(five-tuples).");
	assert_true(b.type == before.type && b.below == before.below &&
	    b.salt == before.salt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_share_of_dropped_keys_is_that_of_the_rule),
	    cmocka_unit_test(none_and_all_are_exact),
	    cmocka_unit_test(more_entries_drop_what_fewer_do),
	    cmocka_unit_test(type_1_does_not_look_at_ports),
	    cmocka_unit_test(type_2_drops_some_ports_of_every_pair),
	    cmocka_unit_test(rules_and_directions_are_independent),
	    cmocka_unit_test(drops_say_nothing_about_the_path),
	    cmocka_unit_test(mistakes_are_named),
	};
	return cmocka_run_group_tests_name("models/blackhole_rule", tests, NULL,
	    NULL);
}
