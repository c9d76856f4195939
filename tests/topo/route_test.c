/* tests/topo/route_test.c -- ECMP: the hash, its law, and walks over a network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <gsl/gsl_cdf.h>

#include "tests/test.h"
#include "topo/addr.h"
#include "topo/mesh.h"
#include "topo/topo.h"

/* 007's simulation: 8 T1s a pod and 10 T2s give the choices tested below. */
static const struct topo_clos vigil = {.n_pods = 2,
    .n_tors = 20,
    .n_t1 = 8,
    .n_t2 = 10,
    .n_hosts = 40};

/* --- the hash ------------------------------------------------------------- */

/* 32-bit finaliser of MurmurHash3; 1 and 0xffffffff from its author's code. */
static void mix32_gives_the_known_answers(void **state)
{
	(void)state;
	assert_int_equal(topo_mix32(0), 0);
	assert_int_equal(topo_mix32(1), 0x514e28b7);
	assert_int_equal(topo_mix32(UINT32_MAX), 0x81f16f39);
}

/* Each output bit flips in half of 20,000 trials, +- 6 standard errors: false
 * alarm 2e-6 over the 1024 pairs if the bits were coins. */
static void each_input_bit_flips_each_output_bit_half_of_the_time(void **state)
{
	(void)state;
	enum { TRIALS = 20000 };
	struct sim_rng r;
	test_rng(&r, 1);
	for (int in = 0; in < 32; in++) {
		unsigned flips[32] = {0};
		for (int i = 0; i < TRIALS; i++) {
			uint32_t x = sim_rng_u32(&r);
			uint32_t d =
			    topo_mix32(x) ^ topo_mix32(x ^ UINT32_C(1) << in);
			for (int out = 0; out < 32; out++)
				flips[out] += d >> out & 1;
		}
		for (int out = 0; out < 32; out++)
			assert_near((double)flips[out] / TRIALS, 0.5,
			    6 * 0.5 / sqrt(TRIALS));
	}
}

static void every_part_of_a_tuple_changes_the_digest(void **state)
{
	(void)state;
	const struct topo_tuple t = {0x0a000001, 0x0a000102, 40000, 443,
	    TOPO_PROTO_TCP};
	struct topo_tuple v[6] = {t, t, t, t, t, t};
	v[0].src_ip++;
	v[1].dst_ip++;
	v[2].src_port++;
	v[3].dst_port++;
	v[4].proto = 17;
	v[5].src_ip = t.dst_ip;
	v[5].dst_ip = t.src_ip;
	for (int i = 0; i < 6; i++)
		assert_true(topo_tuple_digest(&v[i]) != topo_tuple_digest(&t));
}

static void the_digest_in_two_steps_is_the_digest(void **state)
{
	(void)state;
	struct sim_rng r;
	test_rng(&r, 2);
	for (int i = 0; i < 1000; i++) {
		const struct topo_tuple t = {sim_rng_u32(&r), sim_rng_u32(&r),
		    (uint16_t)sim_rng_u32(&r), (uint16_t)sim_rng_u32(&r),
		    (uint8_t)sim_rng_u32(&r)};
		uint32_t ports = (uint32_t)t.src_port << 16 | t.dst_port;
		assert_int_equal(topo_tuple_digest(&t),
		    topo_digest_rest(topo_digest_src(t.src_ip, t.proto),
			t.dst_ip, ports));
	}
}

/* --- the law of the choices ----------------------------------------------- */

/* A way to choose among n next hops. The naive one xors the switch's number in
 * and multiplies once, as a quick hash would: switches whose numbers differ in
 * few bits then choose nearly alike. */
typedef uint32_t pick_fn(topo_switch s, uint32_t digest, uint32_t n);

static uint32_t pick(topo_switch s, uint32_t digest, uint32_t n)
{
	return topo_ecmp_pick(topo_switch_seed(7, s), digest, n);
}

static uint32_t pick_naively(topo_switch s, uint32_t digest, uint32_t n)
{
	uint32_t x = (digest ^ (7 + s)) * UINT32_C(0x9e3779b1);
	return (uint32_t)((uint64_t)x * n >> 32);
}

/* Digests of the flows of one host pair: only the source port moves, by ones,
 * which is as regular as a real client gets. */
static uint32_t digest_of_port(uint32_t i)
{
	return topo_tuple_digest(&(struct topo_tuple){topo_addr_of_host(3),
	    topo_addr_of_host(1000 + i / 60000), (uint16_t)(i % 60000), 443,
	    TOPO_PROTO_TCP});
}

/* Chi-square p-value of the choices of ToR 0 and the T1 it picks, over all
 * 8 x 10 outcomes: uniform and independent gives a uniform p-value. */
static double p_of_two_choices(pick_fn *choose, int port_by_port)
{
	enum { N1 = 8, N2 = 10, DRAWS = 80000 };
	unsigned count[N1 * N2] = {0};
	struct topo_clos c = vigil;
	struct sim_rng r;
	assert_ok(topo_clos_init(&c, test_err()));
	test_rng(&r, 3);
	for (uint32_t i = 0; i < DRAWS; i++) {
		uint32_t d = port_by_port ? digest_of_port(i) : sim_rng_u32(&r);
		uint32_t t1 = choose(topo_clos_tor(&c, 0, 0), d, N1);
		uint32_t t2 = choose(topo_clos_t1(&c, 0, t1), d, N2);
		count[t1 * N2 + t2]++;
	}
	double chi2 = 0, mean = (double)DRAWS / (N1 * N2);
	for (int i = 0; i < N1 * N2; i++)
		chi2 += (count[i] - mean) * (count[i] - mean) / mean;
	return gsl_cdf_chisq_Q(chi2, N1 * N2 - 1);
}

/* False alarm 1e-6 each. */
static void choices_of_consecutive_switches_are_independent(void **state)
{
	(void)state;
	assert_true(p_of_two_choices(pick, 0) > 1e-6);
	assert_true(p_of_two_choices(pick, 1) > 1e-6);
}

static void a_hash_of_one_multiplication_fails_that_test(void **state)
{
	(void)state;
	assert_true(p_of_two_choices(pick_naively, 0) < 1e-12);
	assert_true(p_of_two_choices(pick_naively, 1) < 1e-12);
}

/* All three choices of a path between pods, 640 outcomes: as the T2's choice
 * depends on the digest too. False alarm 1e-6. */
static void the_three_choices_of_a_path_are_independent(void **state)
{
	(void)state;
	enum { CELLS = 8 * 10 * 8, DRAWS = 128000 };
	unsigned count[CELLS] = {0};
	struct topo t;
	topo_link path[TOPO_MAX_HOPS];
	assert_ok(topo_open_clos(&t, &vigil, test_err()));
	for (uint32_t i = 0; i < DRAWS; i++) {
		assert_int_equal(topo_path(&t, 5, 3, 1000, digest_of_port(i),
				     path),
		    6);
		struct topo_clos_place up = topo_clos_place(&t.clos, path[2]);
		struct topo_clos_place down = topo_clos_place(&t.clos, path[3]);
		assert_int_equal(up.high, down.high);
		count[(up.low % 8 * 10 + up.high) * 8 + down.low % 8]++;
	}
	double chi2 = 0, mean = (double)DRAWS / CELLS;
	for (int i = 0; i < CELLS; i++)
		chi2 += (count[i] - mean) * (count[i] - mean) / mean;
	assert_true(gsl_cdf_chisq_Q(chi2, CELLS - 1) > 1e-6);
	topo_close(&t);
}

/* --- walks ---------------------------------------------------------------- */

/* A path is a chain of links from SRC to DST that meets no node twice. */
static void assert_walk(const struct topo *t, topo_host src, topo_host dst,
    const topo_link path[], unsigned n)
{
	topo_node at = src, seen[TOPO_MAX_HOPS + 1] = {src};
	assert_true(n <= TOPO_MAX_HOPS);
	for (unsigned i = 0; i < n; i++) {
		topo_node from, to;
		assert_true(path[i] < t->n_links);
		topo_link_ends(t, path[i], &from, &to);
		assert_int_equal(from, at);
		for (unsigned j = 0; j <= i; j++)
			assert_int_not_equal(seen[j], to);
		seen[i + 1] = at = to;
	}
	assert_int_equal(at, dst);
}

/* Flows of each link against its path share, as one chi-square a class of
 * links: within a class the links are exclusive outcomes. Returns the least
 * p-value times the number of classes. */
static double p_of_link_counts(const struct topo *t, topo_host src,
    topo_host dst, uint32_t run)
{
	enum { DRAWS = 40000 };
	unsigned *count = calloc(t->n_links, sizeof(*count));
	topo_link path[TOPO_MAX_HOPS];
	struct sim_rng r;
	assert_non_null(count);
	test_rng(&r, run);
	for (int i = 0; i < DRAWS; i++) {
		unsigned n = topo_path(t, 9, src, dst, sim_rng_u32(&r), path);
		if (i < 100)
			assert_walk(t, src, dst, path, n);
		for (unsigned j = 0; j < n; j++)
			count[path[j]]++;
	}
	double chi2[TOPO_N_LINK_CLASSES] = {0}, least = 1;
	double sum[TOPO_N_LINK_CLASSES] = {0};
	int cells[TOPO_N_LINK_CLASSES] = {0};
	for (topo_link l = 0; l < t->n_links; l++) {
		int class = topo_class_of(t, l);
		double want = DRAWS * topo_path_share(t, src, dst, l);
		sum[class] += want / DRAWS;
		if (want == 0)
			assert_int_equal(count[l], 0);
		else
			chi2[class] +=
			    (count[l] - want) * (count[l] - want) / want;
		cells[class] += want > 0;
	}
	for (int class = 0; class < TOPO_N_LINK_CLASSES; class ++) {
		assert_true(cells[class] == 0 || fabs(sum[class] - 1) < 1e-12);
		if (cells[class] > 1)
			least = fmin(least,
			    gsl_cdf_chisq_Q(chi2[class], cells[class] - 1));
	}
	free(count);
	return least * TOPO_N_LINK_CLASSES;
}

/* False alarm 1e-6 a pair, 4e-6 in all. */
static void flows_of_a_clos_spread_by_their_path_shares(void **state)
{
	(void)state;
	struct topo t;
	assert_ok(topo_open_clos(&t, &vigil, test_err()));
	static const topo_host pair[][2] = {{0, 1599}, {700, 3}, {0, 799},
	    {45, 5}};
	for (uint32_t i = 0; i < 4; i++)
		if (p_of_link_counts(&t, pair[i][0], pair[i][1], 10 + i) < 1e-6)
			fail_msg("seed %llu pair %u",
			    (unsigned long long)test_seed(), i);
	topo_close(&t);
}

/* In a fat-tree with three tiers the classes are exclusive as well. False
 * alarm 1e-6 a pair, 3e-6 in all. */
static void flows_of_a_fat_tree_spread_by_their_path_shares(void **state)
{
	(void)state;
	struct topo t;
	struct topo_mesh *m;
	assert_ok(topo_mesh_fat_tree(&m, 8, 0, test_err()));
	assert_ok(topo_open_mesh(&t, m, test_err()));
	static const topo_host pair[][2] = {{0, 127}, {60, 3}, {0, 13}};
	for (uint32_t i = 0; i < 3; i++)
		if (p_of_link_counts(&t, pair[i][0], pair[i][1], 20 + i) < 1e-6)
			fail_msg("seed %llu pair %u",
			    (unsigned long long)test_seed(), i);
	topo_close(&t);
}

static void a_path_has_as_many_links_as_its_ends_are_apart(void **state)
{
	(void)state;
	struct topo t;
	topo_link path[TOPO_MAX_HOPS];
	assert_ok(topo_open_clos(&t, &vigil, test_err()));
	assert_int_equal(topo_path(&t, 1, 8, 8, 5, path), 0);
	assert_int_equal(topo_path(&t, 1, 8, 39, 5, path), 2);
	assert_walk(&t, 8, 39, path, 2);
	assert_int_equal(topo_path(&t, 1, 8, 40, 5, path), 4);
	assert_walk(&t, 8, 40, path, 4);
	assert_int_equal(topo_path(&t, 1, 8, 800, 5, path), 6);
	assert_walk(&t, 8, 800, path, 6);
	topo_close(&t);
}

/* With one pod there is a way over the T2s, but a longer one. */
static void a_single_pod_never_uses_its_t2s(void **state)
{
	(void)state;
	struct topo t;
	topo_link path[TOPO_MAX_HOPS];
	struct topo_clos one = vigil;
	one.n_pods = 1;
	assert_ok(topo_open_clos(&t, &one, test_err()));
	for (uint32_t d = 0; d < 100; d++)
		assert_int_equal(topo_path(&t, 1, 0, 799, d * 0x9e3779b9u,
				     path),
		    4);
	for (uint32_t i = 0; i < topo_clos_class_size(&t.clos, TOPO_T1_T2); i++)
		assert_near(topo_clos_share(&t.clos, TOPO_NONE,
				topo_clos_class_at(&t.clos, TOPO_T1_T2, i)),
		    0, 0);
	topo_close(&t);
}

/* Two seeds agree on a path of 640 with probability 1/640 a digest: more than
 * 20 agreements in 1000 have probability below 1e-14. */
static void another_seed_gives_other_paths(void **state)
{
	(void)state;
	struct topo t;
	topo_link a[TOPO_MAX_HOPS], b[TOPO_MAX_HOPS];
	unsigned same = 0;
	assert_ok(topo_open_clos(&t, &vigil, test_err()));
	for (uint32_t i = 0; i < 1000; i++) {
		topo_path(&t, 1, 3, 1000, digest_of_port(i), a);
		topo_path(&t, 2, 3, 1000, digest_of_port(i), b);
		same += memcmp(a, b, 6 * sizeof(a[0])) == 0;
		topo_path(&t, 1, 3, 1000, digest_of_port(i), b);
		assert_memory_equal(a, b, 6 * sizeof(a[0]));
	}
	assert_true(same <= 20);
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(mix32_gives_the_known_answers),
	    cmocka_unit_test(
		each_input_bit_flips_each_output_bit_half_of_the_time),
	    cmocka_unit_test(every_part_of_a_tuple_changes_the_digest),
	    cmocka_unit_test(the_digest_in_two_steps_is_the_digest),
	    cmocka_unit_test(choices_of_consecutive_switches_are_independent),
	    cmocka_unit_test(a_hash_of_one_multiplication_fails_that_test),
	    cmocka_unit_test(the_three_choices_of_a_path_are_independent),
	    cmocka_unit_test(flows_of_a_clos_spread_by_their_path_shares),
	    cmocka_unit_test(flows_of_a_fat_tree_spread_by_their_path_shares),
	    cmocka_unit_test(a_path_has_as_many_links_as_its_ends_are_apart),
	    cmocka_unit_test(a_single_pod_never_uses_its_t2s),
	    cmocka_unit_test(another_seed_gives_other_paths),
	};
	return cmocka_run_group_tests_name("topo/route", tests, NULL, NULL);
}
