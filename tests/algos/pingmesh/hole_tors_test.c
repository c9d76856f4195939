/* tests/algos/pingmesh/hole_tors_test.c -- who is guilty of black-holed pairs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/hole_tors.h"

#include <math.h>

#include "sim/vec.h"
#include "tests/test.h"
#include "topo/route.h"

enum { MAX_TORS = 64, MAX_HOSTS = 512 };

/* A network, and what black-holes its pairs: servers of the same index under
 * two ToRs, and all those under one. Shares are of pairs. */
struct world {
	struct topo_clos clos;
	uint32_t salt;
	double tor[MAX_TORS];     /* by ToRs */
	double server[MAX_HOSTS]; /* by servers */
	double t1s[MAX_TORS];     /* by pod, of pairs that leave a ToR */
	double t2s;               /* of pairs between pods */
	double loss, decoys;      /* at random, of type 2; and late pairs */
	int type;                 /* of what ToRs do */
	int no_tor_level;         /* no pairs within ToRs */
	/* Names: of pods, ToRs within their pod, hosts within their ToR. */
	uint32_t (*name)(const struct topo_clos *c, uint32_t host);
};

struct fixture {
	struct world w;
	struct algo_hole_pairs all;
	struct algo_hole_pair *bad;
	size_t n_bad, cap_bad;
	struct algo_hole_tor tor[MAX_TORS];
	double false_alarm;
};

static void set_up(struct fixture *f, uint32_t n_pods, uint32_t n_tors,
    uint32_t n_hosts)
{
	*f = (struct fixture){.false_alarm = 1e-3};
	f->w = (struct world){.type = 1,
	    .clos = {.n_pods = n_pods,
		.n_tors = n_tors,
		.n_t1 = 2,
		.n_t2 = 2,
		.n_hosts = n_hosts}};
	assert_ok(topo_clos_init(&f->w.clos, test_err()));
}

static void tear_down(struct fixture *f)
{
	free(f->bad);
	algo_hole_pairs_close(&f->all);
}

/* 1 with a chance of SHARE, that is the pair's own for each WHAT. */
static int meets(const struct world *w, double share, uint32_t what, uint32_t a,
    uint32_t b)
{
	const uint32_t low = a < b ? a : b, high = a < b ? b : a;
	return topo_digest_rest(topo_mix32(w->salt + 977 * what + low), high,
		   what) *
	    0x1p-32 <
	    share;
}

/* 0: not black-holed; else of type 1 or 2. */
static uint32_t type_of(const struct world *w, uint32_t a, uint32_t b)
{
	const struct topo_clos *c = &w->clos;
	const uint32_t s = a / c->n_hosts, t = b / c->n_hosts;
	const uint32_t p = s / c->n_tors, q = t / c->n_tors;
	if (meets(w, w->tor[s], 1 + s, a, b) ||
	    meets(w, w->tor[t], 1 + t, a, b))
		return (uint32_t)w->type;
	if (meets(w, w->server[a], 1000 + a, a, b) ||
	    meets(w, w->server[b], 1000 + b, a, b) ||
	    (s != t &&
		(meets(w, w->t1s[p], 2000 + p, a, b) ||
		    meets(w, w->t1s[q], 2000 + q, a, b))) ||
	    (p != q && meets(w, w->t2s, 3000, a, b)) ||
	    meets(w, w->loss, 4000, a, b))
		return 2;
	return 0;
}

static void add_pair(struct fixture *f, uint32_t a, uint32_t b)
{
	const struct topo_clos *c = &f->w.clos;
	const uint32_t x = f->w.name ? f->w.name(c, a) : a;
	const uint32_t y = f->w.name ? f->w.name(c, b) : b;
	const uint32_t low = x < y ? x : y, high = x < y ? y : x;
	const uint32_t type = type_of(&f->w, a, b);
	if (type > 0) {
		assert_ok(SIM_RESERVE(&f->bad, &f->cap_bad, f->n_bad + 1,
		    test_err()));
		f->bad[f->n_bad++] = (struct algo_hole_pair){low, high, type};
	}
	/* All pairs, by the lower end, in a slot of its own. */
	f->all.peer[(size_t)low * c->all_hosts + high] =
	    (struct algo_hole_peer){.high = high & 0x3fffffff,
		.decoy = type == 0 && meets(&f->w, f->w.decoys, 5000, a, b)
		    ? ALGO_HOLE_DECOY_2
		    : 0};
}

static void judge(struct fixture *f)
{
	const struct topo_clos *c = &f->w.clos;
	const uint32_t n = c->all_hosts;
	size_t out = 0;
	algo_hole_pairs_close(&f->all);
	f->n_bad = 0;
	assert_ok(SIM_RESERVE(&f->bad, &f->cap_bad, 16, test_err()));
	assert_ok(SIM_ZALLOC(&f->all.first, n + 1, test_err()));
	assert_ok(SIM_ZALLOC(&f->all.peer, (size_t)n * n, test_err()));
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = a + 1; b < n; b++)
			if (a / c->n_hosts == b / c->n_hosts
				? !f->w.no_tor_level
				: a % c->n_hosts == b % c->n_hosts)
				add_pair(f, a, b);
	for (uint32_t a = 0; a < n; a++) {
		for (uint32_t b = 0; b < n; b++)
			if (f->all.peer[(size_t)a * n + b].high > 0)
				f->all.peer[out++] =
				    f->all.peer[(size_t)a * n + b];
		f->all.first[a + 1] = out;
	}
	assert_ok(algo_hole_tors(c, f->bad, f->n_bad, &f->all, f->false_alarm,
	    f->tor, test_err()));
}

static uint32_t n_found(const struct fixture *f, enum algo_hole_finding as)
{
	uint32_t n = 0;
	for (uint32_t t = 0; t < f->w.clos.all_tors; t++)
		n += f->tor[t].finding == as;
	return n;
}

static void assert_found(const struct fixture *f, const char *want)
{
	static const char letters[] = ".^!";
	for (uint32_t t = 0; want[t]; t++)
		if (letters[f->tor[t].finding] != want[t])
			fail_msg("seed %llu, ToR %u: %c, share %g; wanted %s",
			    (unsigned long long)test_seed(), t,
			    letters[f->tor[t].finding], f->tor[t].share, want);
}

/* --- guilty ToRs -----------------------------------------------------------*/

/* With a share of 0.06 a ToR has 16 of 276 pairs. Evidence is then 30 or so
 * with a standard deviation of 7, and 10.4 are enough: one in some hundred such
 * ToRs is missed, and of those with more none. That a good one is found guilty
 * has a chance of 1e-3 a network by the threshold where nothing is wrong;
 * beside guilty ones none was seen in 1,000 networks. */
static void bad_tors_are_found_whatever_their_number_and_no_others(void **state)
{
	(void)state;
	static const uint32_t n_bad[] = {0, 1, 3, 6, 12, 24};
	static const double share[] = {0.002, 0.006, 0.02, 0.06, 0.2, 0.36,
	    0.75, 0.9, 0.99};
	enum { RUNS = 4, N_SHARES = sizeof(share) / sizeof(*share) };
	struct fixture f;
	set_up(&f, 4, 8, 8);
	for (uint32_t k = 0; k < 6 * N_SHARES * RUNS; k++) {
		const uint32_t n = n_bad[k / RUNS % 6];
		const double x = share[k / RUNS / 6];
		struct sim_rng r;
		uint32_t left = n, n_guilty = 0;
		test_rng(&r, k);
		f.w.salt = sim_rng_u32(&r);
		memset(f.w.tor, 0, sizeof(f.w.tor));
		while (left > 0) {
			const uint32_t t = sim_rng_below(&r, 32);
			left -= f.w.tor[t] == 0;
			f.w.tor[t] = x;
		}
		judge(&f);
		for (uint32_t t = 0; t < 32; t++) {
			const int guilty = f.tor[t].finding == ALGO_HOLE_GUILTY;
			n_guilty += guilty;
			if (guilty && f.w.tor[t] == 0)
				fail_msg("seed %llu, %u of share %g: ToR %u",
				    (unsigned long long)test_seed(), n, x, t);
			/* Six sigma of some 276 pairs or, where the other end
			 * may have done it as well, of fewer. */
			if (guilty && n <= 12)
				assert_near(f.tor[t].share, x,
				    6 * sqrt(x * (1 - x) / 100) + 0.01);
		}
		if (x > 0.1 && n <= 12 && n_guilty != n)
			fail_msg("seed %llu: %u of %u with share %g found",
			    (unsigned long long)test_seed(), n_guilty, n, x);
		if (x > 0.05 && n <= 12 && n_guilty + 2 < n)
			fail_msg("seed %llu: %u of %u with share %g found",
			    (unsigned long long)test_seed(), n_guilty, n, x);
	}
	tear_down(&f);
}

/* What only one pair of ToRs has in common is neither's. */
static void of_two_tors_that_share_all_pairs_none_is_guilty(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f, 2, 4, 8);
	judge(&f);
	assert_int_equal(f.n_bad, 0);
	for (uint32_t i = 0; i < 8; i++)
		f.bad[f.n_bad++] = (struct algo_hole_pair){8 + i, 40 + i, 1};
	assert_ok(algo_hole_tors(&f.w.clos, f.bad, f.n_bad, &f.all, 1e-3, f.tor,
	    test_err()));
	assert_found(&f, "........");
	/* Two pairs within one of them decide. */
	f.bad[f.n_bad++] = (struct algo_hole_pair){40, 41, 1};
	f.bad[f.n_bad++] = (struct algo_hole_pair){42, 43, 1};
	assert_ok(algo_hole_tors(&f.w.clos, f.bad, f.n_bad, &f.all, 1e-3, f.tor,
	    test_err()));
	assert_found(&f, ".....!..");
	tear_down(&f);
}

/* --- above them ------------------------------------------------------------*/
static void trouble_above_tors_makes_none_guilty(void **state)
{
	(void)state;
	struct fixture f;
	static const double share[] = {0.3, 0.5, 0.7, 0.9};
	set_up(&f, 4, 4, 8);
	for (uint32_t k = 0; k < 12; k++) {
		f.w.salt = k;
		f.w.t1s[1] = share[k % 4];
		judge(&f);
		assert_found(&f, "....^^^^........");
		f.w.tor[5] = f.w.tor[13] = 0.3;
		judge(&f);
		assert_found(&f, "....^!^^.....!..");
		f.w.t1s[1] = 0;
		f.w.t2s = share[k % 4];
		judge(&f);
		assert_found(&f, "^^^^^!^^^^^^^!^^");
		f.w.tor[5] = f.w.tor[13] = 0;
		judge(&f);
		assert_found(&f, "^^^^^^^^^^^^^^^^");
		f.w.t2s = 0;
		/* Section 5.1: so is a pod all of whose ToRs are bad. */
		for (uint32_t t = 8; t < 12; t++)
			f.w.tor[t] = share[k % 4];
		judge(&f);
		assert_found(&f, "........^^^^....");
		f.w.tor[9] = 0;
		judge(&f);
		assert_found(&f, "........!.!!....");
		memset(f.w.tor, 0, sizeof(f.w.tor));
	}
	tear_down(&f);
}

/* Then nothing tells a pod all of whose ToRs are bad from bad T1s: there is
 * evidence for neither beside the other. */
static void without_pairs_within_tors_a_whole_pod_is_still_above(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f, 4, 4, 8);
	f.w.no_tor_level = 1;
	for (uint32_t t = 8; t < 12; t++)
		f.w.tor[t] = 0.5;
	judge(&f);
	assert_found(&f, "........^^^^....");
	f.w.tor[10] = 0;
	judge(&f);
	assert_found(&f, "........!!.!....");
	tear_down(&f);
}

static void a_pod_of_one_tor_or_a_tor_of_one_server_has_its_say(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f, 8, 1, 8);
	f.w.tor[2] = f.w.tor[5] = 0.3;
	judge(&f);
	assert_found(&f, "..!..!..");
	f.w.no_tor_level = 1;
	f.w.tor[2] = f.w.tor[5] = 0.6;
	judge(&f);
	assert_found(&f, "..!..!..");
	tear_down(&f);
	set_up(&f, 4, 8, 1);
	f.w.tor[2] = f.w.tor[31] = 0.5;
	judge(&f);
	assert_found(&f, "..!............................!");
	tear_down(&f);
}

/* --- innocent causes -------------------------------------------------------*/
static void sick_servers_do_not_make_their_tor_guilty(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f, 4, 8, 8);
	for (uint32_t k = 0; k < 40; k++) {
		struct sim_rng r;
		test_rng(&r, 900 + k);
		f.w.salt = k;
		memset(f.w.server, 0, sizeof(f.w.server));
		/* Up to half of one ToR's, and others anywhere. */
		for (uint32_t i = 0; i < 1 + k % 4; i++)
			f.w.server[40 + i] = 1 - 0.1 * (k % 5);
		for (uint32_t i = 0; i < 10; i++)
			f.w.server[48 + sim_rng_below(&r, 208)] =
			    0.3 + 0.7 * sim_rng_u01(&r);
		judge(&f);
		if (n_found(&f, ALGO_HOLE_INNOCENT) != 32)
			fail_msg("run %u: %u guilty, %u above", k,
			    n_found(&f, ALGO_HOLE_GUILTY),
			    n_found(&f, ALGO_HOLE_ABOVE));
		f.w.tor[30] = 0.2;
		judge(&f);
		assert_int_equal(f.tor[30].finding, ALGO_HOLE_GUILTY);
		assert_int_equal(n_found(&f, ALGO_HOLE_GUILTY), 1);
		f.w.tor[30] = 0;
	}
	/* When most of its servers are sick, it is the ToR. */
	memset(f.w.server, 0, sizeof(f.w.server));
	for (uint32_t i = 0; i < 6; i++)
		f.w.server[40 + i] = 1;
	judge(&f);
	assert_int_equal(f.tor[5].finding, ALGO_HOLE_GUILTY);
	assert_int_equal(n_found(&f, ALGO_HOLE_GUILTY), 1);
	tear_down(&f);
}

static void pairs_of_one_server_accuse_nobody(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f, 2, 4, 8);
	judge(&f);
	for (uint32_t i = 1; i < 4; i++) {
		f.bad[f.n_bad++] = (struct algo_hole_pair){16, 16 + i, 1};
		assert_ok(algo_hole_tors(&f.w.clos, f.bad, f.n_bad, &f.all,
		    1e-3, f.tor, test_err()));
		assert_found(&f, "........");
	}
	f.bad[f.n_bad++] = (struct algo_hole_pair){17, 18, 1};
	assert_ok(algo_hole_tors(&f.w.clos, f.bad, f.n_bad, &f.all, 1e-3, f.tor,
	    test_err()));
	assert_found(&f, "..!.....");
	tear_down(&f);
}

/* Pairs of type 2 by losses alone, half as many as decoys: no more than 1e-3 of
 * networks may accuse. Of 300 that is more than 3 with 3e-4. */
static void pairs_that_losses_explain_accuse_nobody(void **state)
{
	(void)state;
	enum { RUNS = 300 };
	uint32_t n_accused = 0;
	struct fixture f;
	set_up(&f, 4, 4, 8);
	for (uint32_t k = 0; k < RUNS; k++) {
		f.w.salt = k;
		f.w.decoys = 0.002 * (1 + k % 50);
		f.w.loss = f.w.decoys / 2;
		judge(&f);
		n_accused += n_found(&f, ALGO_HOLE_INNOCENT) < 16;
	}
	if (n_accused > 3)
		fail_msg("%u of %d networks accuse", n_accused, RUNS);
	/* Type 1 is no matter of decoys of type 2. */
	f.w.decoys = 0.5;
	f.w.loss = 0;
	f.w.tor[7] = 0.2;
	judge(&f);
	assert_found(&f, ".......!........");
	f.w.type = 2;
	judge(&f);
	assert_found(&f, "................");
	tear_down(&f);
}

/* --- relations -------------------------------------------------------------*/

/* Pods, ToRs in a pod and servers in a ToR backwards. The pairs of one index
 * stay such. */
static uint32_t backwards(const struct topo_clos *c, uint32_t h)
{
	return c->all_hosts - 1 - h;
}

static void other_names_change_nothing(void **state)
{
	(void)state;
	struct fixture f;
	struct algo_hole_tor was[MAX_TORS];
	set_up(&f, 4, 8, 8);
	for (uint32_t k = 0; k < 30; k++) {
		struct sim_rng r;
		test_rng(&r, 700 + k);
		f.w.salt = k;
		memset(f.w.tor, 0, sizeof(f.w.tor));
		memset(f.w.server, 0, sizeof(f.w.server));
		for (uint32_t i = 0; i < 8; i++)
			f.w.tor[sim_rng_below(&r, 32)] = sim_rng_u01(&r) / 2;
		f.w.server[sim_rng_below(&r, 256)] = 1;
		f.w.t1s[k % 4] = k % 3 == 0 ? 0.1 : 0;
		f.w.name = NULL;
		judge(&f);
		memcpy(was, f.tor, sizeof(was));
		f.w.name = backwards;
		judge(&f);
		for (uint32_t t = 0; t < 32; t++) {
			assert_int_equal(f.tor[31 - t].finding, was[t].finding);
			assert_near(f.tor[31 - t].share, was[t].share, 0.02);
		}
		f.w.t1s[k % 4] = 0;
	}
	tear_down(&f);
}

/* One more ToR at the end of each pod; the old ones keep their pairs, as the
 * chance of a pair is by its servers' names in the smaller network. */
static void more_good_tors_change_nothing(void **state)
{
	(void)state;
	static const double share[] = {0.1, 0.3, 0.8};
	for (uint32_t k = 0; k < 9; k++) {
		struct fixture f, g;
		set_up(&f, 4, 6, 8);
		set_up(&g, 4, 7, 8);
		f.w.salt = g.w.salt = k;
		for (uint32_t i = 0; i < 6; i++) {
			const uint32_t t = (5 * i + k) % 24;
			f.w.tor[t] = share[k % 3];
			g.w.tor[t / 6 * 7 + t % 6] = share[k % 3];
		}
		judge(&f);
		judge(&g);
		for (uint32_t t = 0; t < 24; t++)
			assert_int_equal(g.tor[t / 6 * 7 + t % 6].finding,
			    f.tor[t].finding);
		for (uint32_t p = 0; p < 4; p++)
			assert_int_equal(g.tor[p * 7 + 6].finding,
			    ALGO_HOLE_INNOCENT);
		assert_int_equal(n_found(&f, ALGO_HOLE_GUILTY), 6);
		tear_down(&f);
		tear_down(&g);
	}
}

static int judge_again(void *arg, struct sim_err *e)
{
	struct fixture *f = arg;
	return algo_hole_tors(&f->w.clos, f->bad, f->n_bad, &f->all, 1e-3,
	    f->tor, e);
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f, 2, 4, 4);
	f.w.tor[3] = 0.4;
	judge(&f);
	test_each_alloc_fails(judge_again, &f);
	assert_found(&f, "...!....");
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		bad_tors_are_found_whatever_their_number_and_no_others),
	    cmocka_unit_test(of_two_tors_that_share_all_pairs_none_is_guilty),
	    cmocka_unit_test(trouble_above_tors_makes_none_guilty),
	    cmocka_unit_test(
		without_pairs_within_tors_a_whole_pod_is_still_above),
	    cmocka_unit_test(
		a_pod_of_one_tor_or_a_tor_of_one_server_has_its_say),
	    cmocka_unit_test(sick_servers_do_not_make_their_tor_guilty),
	    cmocka_unit_test(pairs_of_one_server_accuse_nobody),
	    cmocka_unit_test(pairs_that_losses_explain_accuse_nobody),
	    cmocka_unit_test(other_names_change_nothing),
	    cmocka_unit_test(more_good_tors_change_nothing),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/hole_tors", tests,
	    NULL, NULL);
}
