/* tests/algos/pingmesh/hole_pairs_test.c -- pairs and decoys of small tables.
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
	const struct obs_probe_source all = obs_probes_whole(&f->probes);
	return algo_hole_pairs_open(p, &f->dc, &all, f->alive, LEAST, e);
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

/* --- a mesh ---------------------------------------------------------------- */

enum { N_TORS = 6, OF_TOR = 2, OF_POD = 6 };

/* The K-th other server under the same ToR, or that of the same index under
 * another ToR, of a circle of them the near ones first. */
static topo_host mesh_peer(const void *arg, unsigned level, topo_host h,
    uint32_t k)
{
	static const uint32_t on[N_TORS - 1] = {1, 5, 2, 4, 3};
	const uint32_t s = h - FIRST, tor = s / OF_TOR, i = s % OF_TOR;
	(void)arg;
	if (level == OBS_MESH_TOR)
		return FIRST + tor * OF_TOR + (k < i ? k : k + 1);
	return FIRST + (tor + on[k]) % N_TORS * OF_TOR + i;
}

struct mesh {
	struct obs_pairs pairs;
	struct obs_pair_list listed;
	uint32_t least;
	uint8_t aside[N_HOSTS];
	/* By a search: whether a pair has enough probes, and what decoy it is. */
	int is_pair[N_HOSTS][N_HOSTS], decoy[N_HOSTS][N_HOSTS];
};

/* With two peers those are the ToRs beside it, with four the ones beside these,
 * too, and with five all. */
static int tors_are_peers(const struct mesh *m, uint32_t a, uint32_t b)
{
	const uint32_t on = (b + N_TORS - a) % N_TORS;
	const uint32_t apart = on < N_TORS - on ? on : N_TORS - on;
	return 2 * apart <= m->pairs.mesh.n_peers[OBS_MESH_DC] + 1;
}

/* A pair of which nothing is listed, or a row of it. */
static void mesh_draw_pair(struct mesh *m, const struct fixture *f,
    struct sim_rng *r, uint32_t a, uint32_t b)
{
	const int same = a / OF_TOR == b / OF_TOR;
	const uint32_t all =
	    m->pairs.mesh.n_probes[same ? OBS_MESH_TOR : OBS_MESH_DC];
	m->decoy[a][b] = ALGO_HOLE_NO_DECOY;
	m->is_pair[a][b] = 0;
	if (!f->alive[a] || !f->alive[b] ||
	    (!same &&
		(a % OF_TOR != b % OF_TOR ||
		    !tors_are_peers(m, a / OF_TOR, b / OF_TOR))))
		return;
	m->is_pair[a][b] = all >= m->least;
	if (sim_rng_below(r, 2))
		return;
	const uint32_t n = 1 + sim_rng_below(r, all),
		       late = sim_rng_below(r, 2) ? n : sim_rng_below(r, n + 1);
	const struct obs_pair row = {.low = FIRST + a,
	    .high = FIRST + b,
	    .n_probes = n,
	    .n_failed = sim_rng_below(r, n - late + 1),
	    .n_late = late};
	assert_ok(obs_pair_list_add(&m->listed, &row, test_err()));
	m->is_pair[a][b] = n >= m->least;
	if (n >= m->least && late >= row.n_failed + m->least)
		m->decoy[a][b] =
		    late == n ? ALGO_HOLE_DECOY_1 : ALGO_HOLE_DECOY_2;
}

static void mesh_draw(struct mesh *m, struct fixture *f, struct sim_rng *r)
{
	static const uint32_t some[] = {2, 4, N_TORS - 1};
	*m = (struct mesh){.least = LEAST};
	m->pairs.mesh = (struct obs_mesh){.peer = mesh_peer,
	    .n_peers = {OF_TOR - 1, some[sim_rng_below(r, 3)]},
	    .n_probes = {1 + sim_rng_below(r, 8), 1 + sim_rng_below(r, 8)}};
	for (uint32_t s = 0; s < N_HOSTS; s++) {
		f->alive[s] = sim_rng_below(r, 6) > 0;
		m->aside[s] = sim_rng_below(r, 5) == 0;
	}
	for (uint32_t a = 0; a < N_HOSTS; a++)
		for (uint32_t b = a + 1; b < N_HOSTS; b++)
			mesh_draw_pair(m, f, r, a, b);
}

/* Pairs of ToRs with pods, and all once; decoys by pairs of ToRs. */
struct told {
	int64_t n[N_TORS][2], once, decoys[N_TORS][N_TORS][2];
};

static void told_hear(void *arg, const struct algo_hole_count *c)
{
	struct told *t = arg;
	const uint32_t low = c->low / OF_TOR, high = c->high / OF_TOR;
	t->once += c->n;
	t->n[low][c->high / OF_POD] += c->n;
	t->n[high][c->low / OF_POD] += low == high ? 0 : c->n;
	for (unsigned i = 0; i < 2; i++)
		t->decoys[low][high][i] += c->n_decoys[i];
}

static void told_hear_many(void *arg, const struct algo_hole_bundle *b)
{
	struct told *t = arg;
	t->n[b->tor][b->pod] += (int64_t)b->n;
	t->once += (int64_t)b->n_once;
}

/* What the search found, told pair by pair. */
static void mesh_search(const struct mesh *m, struct told *t, uint32_t n[])
{
	memset(n, 0, N_HOSTS * sizeof(n[0]));
	*t = (struct told){0};
	for (uint32_t a = 0; a < N_HOSTS; a++)
		for (uint32_t b = a + 1; b < N_HOSTS; b++) {
			const int decoy = m->decoy[a][b];
			n[a] += (uint32_t)m->is_pair[a][b];
			n[b] += (uint32_t)m->is_pair[a][b];
			if (m->aside[a] || m->aside[b])
				continue;
			const struct algo_hole_count c = {a, b,
			    m->is_pair[a][b],
			    {decoy == ALGO_HOLE_DECOY_1,
				decoy != ALGO_HOLE_NO_DECOY}};
			told_hear(t, &c);
		}
}

static void pairs_of_a_mesh_are_those_of_a_search(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		struct fixture f;
		struct mesh m;
		struct algo_hole_pairs p;
		struct told told = {0}, want;
		const struct algo_hole_hearer to = {&told, told_hear,
		    told_hear_many};
		uint32_t n[N_HOSTS], want_n[N_HOSTS];
		struct sim_rng r;
		set_up(&f);
		test_rng(&r, run);
		mesh_draw(&m, &f, &r);
		mesh_search(&m, &want, want_n);
		algo_hole_pairs_of_mesh(&p, &f.dc, &m.pairs, &m.listed, f.alive,
		    m.least);
		algo_hole_pairs_of_servers(&p, N_HOSTS, n);
		algo_hole_pairs_tell(&p, N_HOSTS, m.aside, &to);
		if (memcmp(n, want_n, sizeof(n)) != 0 ||
		    memcmp(&told, &want, sizeof(told)) != 0)
			fail_msg("seed %llu, run %u: %lld pairs, wanted %lld",
			    (unsigned long long)test_seed(), run,
			    (long long)told.once, (long long)want.once);
		obs_pair_list_free(&m.listed);
		obs_probes_free(&f.probes);
	}
}

/* --- losses ---------------------------------------------------------------- */

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
	    cmocka_unit_test(pairs_of_a_mesh_are_those_of_a_search),
	    cmocka_unit_test(losses_make_more_decoys_than_black_holes),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/hole_pairs", tests,
	    NULL, NULL);
}
