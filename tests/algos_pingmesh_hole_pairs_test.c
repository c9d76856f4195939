/* tests/algos_pingmesh_hole_pairs_test.c -- pairs and decoys of small tables.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/hole_pairs.h"

#include <math.h>

#include "tests/test.h"

enum { N_HOSTS = 12, FIRST = 24, LEAST = 3 };

struct fixture {
	struct topo_clos before, clos;
	struct topo_dc dc;
	struct obs_probes probes;
	uint8_t alive[N_HOSTS];
};

/* The second of two data centres: ids are not indices. */
static void set_up(struct fixture *f)
{
	*f = (struct fixture){0};
	f->before = (struct topo_clos){.n_pods = 2,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = 4};
	f->clos = f->before;
	f->clos.n_hosts = 2;
	assert_ok(topo_clos_init(&f->before, test_err()));
	assert_ok(topo_clos_init(&f->clos, test_err()));
	const struct topo_dc first = topo_dc_alone(&f->before);
	f->dc = topo_dc_after(&first, &f->clos);
	assert_int_equal(f->dc.first_host, FIRST);
	f->probes.syn_wait_ns[0] = 3 * SIM_SEC;
	memset(f->alive, 1, sizeof(f->alive));
}

/* A probe between servers S and D: 'x' a time-out, '.' an answer, 'R' a
 * refusal, 'L' a late connect. */
static void add(struct fixture *f, uint32_t s, uint32_t d, char how)
{
	const struct obs_probe p = {.src_host = FIRST + s,
	    .dst_host = FIRST + d,
	    .outcome = how == 'x' ? OBS_TIMED_OUT
		: how == 'R'      ? OBS_REFUSED
				  : OBS_CONNECTED,
	    .rtt_ns = how == 'L' ? 3 * SIM_SEC
		: how == '.'     ? SIM_MS
				 : 0,
	    .level = OBS_LEVEL_DC};
	assert_ok(obs_probes_add(&f->probes, &p, test_err()));
}

static int open_pairs(const struct fixture *f, struct algo_hole_pairs *p,
    struct sim_err *e)
{
	return algo_hole_pairs_open(p, &f->dc, &f->probes, f->alive, LEAST, e);
}

/* What became of the pair: -1 if it is not listed. */
static int decoy_of_pair(const struct algo_hole_pairs *p, uint32_t low,
    uint32_t high)
{
	int found = -1;
	for (size_t i = p->first[low]; i < p->first[low + 1]; i++)
		if (p->peer[i].high == high) {
			assert_int_equal(found, -1);
			found = p->peer[i].decoy;
		}
	return found;
}

static int judge(const char *story)
{
	struct fixture f;
	struct algo_hole_pairs p;
	set_up(&f);
	for (size_t i = 0; story[i]; i++)
		add(&f, i % 2 ? 7 : 2, i % 2 ? 2 : 7, story[i]);
	assert_ok(open_pairs(&f, &p, test_err()));
	const int was = decoy_of_pair(&p, 2, 7);
	assert_int_equal(p.first[N_HOSTS], was >= 0);
	algo_hole_pairs_close(&p);
	obs_probes_free(&f.probes);
	return was;
}

static void decoys_are_late_by_three_more_than_they_fail(void **state)
{
	(void)state;
	assert_int_equal(judge(".."), -1);
	assert_int_equal(judge("..."), ALGO_HOLE_NO_DECOY);
	assert_int_equal(judge("xxxxxx"), ALGO_HOLE_NO_DECOY);
	assert_int_equal(judge("LL.."), ALGO_HOLE_NO_DECOY);
	assert_int_equal(judge("LLL"), ALGO_HOLE_DECOY_1);
	assert_int_equal(judge(".LLL"), ALGO_HOLE_DECOY_2);
	assert_int_equal(judge("LLLR"), ALGO_HOLE_DECOY_2);
	assert_int_equal(judge("xLLL.."), ALGO_HOLE_NO_DECOY);
	assert_int_equal(judge("xLLLL.."), ALGO_HOLE_DECOY_2);
	/* Two failures in a row are one spell, and still two failures. */
	assert_int_equal(judge("xxLLLL"), ALGO_HOLE_NO_DECOY);
}

static void pairs_are_those_of_a_search(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 50; run++) {
		struct fixture f;
		struct algo_hole_pairs p;
		struct sim_rng r;
		unsigned n[N_HOSTS][N_HOSTS] = {0}, n_late[N_HOSTS][N_HOSTS];
		unsigned n_failed[N_HOSTS][N_HOSTS] = {0}, n_pairs = 0;
		memset(n_late, 0, sizeof(n_late));
		set_up(&f);
		test_rng(&r, run);
		f.alive[run % N_HOSTS] = 0;
		for (unsigned i = 0; i < 300; i++) {
			const uint32_t s = sim_rng_below(&r, N_HOSTS);
			const uint32_t d =
			    (s + 1 + sim_rng_below(&r, N_HOSTS - 1)) % N_HOSTS;
			const uint32_t a = s < d ? s : d, b = s < d ? d : s;
			const char how = "x.LLLLR"[sim_rng_below(&r, 7)];
			add(&f, s, d, how);
			if (i % 10 == 0) {
				f.probes.level[i] = OBS_LEVEL_INTER_DC;
				continue;
			}
			n[a][b]++;
			n_late[a][b] += how == 'L';
			n_failed[a][b] += how == 'x';
		}
		assert_ok(open_pairs(&f, &p, test_err()));
		for (uint32_t a = 0; a < N_HOSTS; a++)
			for (uint32_t b = 0; b < N_HOSTS; b++) {
				const int want = !f.alive[a] || !f.alive[b] ||
					n[a][b] < LEAST
				    ? -1
				    : n_late[a][b] < LEAST + n_failed[a][b]
				    ? ALGO_HOLE_NO_DECOY
				    : n_late[a][b] == n[a][b]
				    ? ALGO_HOLE_DECOY_1
				    : ALGO_HOLE_DECOY_2;
				n_pairs += want >= 0;
				if (decoy_of_pair(&p, a, b) != want)
					fail_msg("seed %llu, run %u, %u to %u: "
						 "%d, wanted %d",
					    (unsigned long long)test_seed(),
					    run, a, b, decoy_of_pair(&p, a, b),
					    want);
			}
		assert_int_equal(p.first[N_HOSTS], n_pairs);
		algo_hole_pairs_close(&p);
		/* Where the table does not say when connects are late, none
		 * is. */
		f.probes.syn_wait_ns[0] = 0;
		assert_ok(open_pairs(&f, &p, test_err()));
		for (size_t i = 0; i < p.first[N_HOSTS]; i++)
			assert_int_equal(p.peer[i].decoy, ALGO_HOLE_NO_DECOY);
		algo_hole_pairs_close(&p);
		obs_probes_free(&f.probes);
	}
}

/* That X of N connects fail and Y are late. */
static double chance(int n, int x, int y, double fail, double late)
{
	return exp(lgamma(n + 1) - lgamma(x + 1) - lgamma(y + 1) -
	    lgamma(n - x - y + 1) + x * log(fail) + y * log(late) +
	    (n - x - y) * log1p(-fail - late));
}

/* The header's bound, by sums over all that N connects can do: up to a loss of
 * 0.7 a pair is more likely a decoy than one that seems black-holed; beyond
 * that it need not be. Half of the connects may be on a path without loss. */
static void losses_make_more_decoys_than_black_holes(void **state)
{
	(void)state;
	static const double q[] = {0.05, 0.2, 0.5, 0.7, 0.9};
	for (size_t i = 0; i < 5; i++)
		for (int n = LEAST; n <= 40; n += 7)
			for (double share = 0.5; share <= 1; share += 0.5) {
				const double fail = share * pow(q[i], 3);
				const double late = share * q[i] - fail;
				double hole = 0, decoy = 0;
				for (int x = 0; x <= n; x++)
					for (int y = 0; x + y <= n; y++) {
						const double p =
						    chance(n, x, y, fail, late);
						hole += x >= y + LEAST ? p : 0;
						decoy += y >= x + LEAST ? p : 0;
					}
				if ((hole <= decoy) != (q[i] <= 0.7))
					fail_msg("loss %g, %d probes: %g, %g",
					    q[i], n, hole, decoy);
			}
}

static int open_and_close(void *arg, struct sim_err *e)
{
	struct algo_hole_pairs p;
	int rc = open_pairs(arg, &p, e);
	algo_hole_pairs_close(&p);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	add(&f, 1, 2, '.');
	test_each_alloc_fails(open_and_close, &f);
	obs_probes_free(&f.probes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(decoys_are_late_by_three_more_than_they_fail),
	    cmocka_unit_test(pairs_are_those_of_a_search),
	    cmocka_unit_test(losses_make_more_decoys_than_black_holes),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/hole_pairs", tests,
	    NULL, NULL);
}
