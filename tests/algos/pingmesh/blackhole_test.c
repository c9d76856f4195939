/* tests/algos/pingmesh/blackhole_test.c -- corrupt entries on a small Clos.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/pingmesh/blackhole.h"

#include <math.h>

#include "sim/time.h"
#include "tests/test.h"
#include "topo/route.h"

/* 2 pods of 4 ToRs of 8 hosts: ToR t has hosts 8 t to 8 t + 7. */
enum { N_HOSTS = 64, N_TORS = 8, A_TOR = 8, TRIES = 3, PORT = 8080 };

/* What is wrong with the network, besides losing a connect now and then. */
struct trouble {
	uint32_t bad_tors;   /* set of ToRs with corrupt entries */
	int type;            /* 1: by addresses, 2: by five-tuple */
	double corrupted;    /* share of entries */
	double lost;         /* of connects, at random */
	uint32_t lossy_tors; /* set of ToRs that lose round trips, */
	double loss;         /* each of a connect's three with this */
	uint64_t dead;       /* set of hosts */
	uint32_t salt;       /* which entries */
	int fresh_ports;     /* what fails is not tried again */
	/* Or pairs listed by the test. */
	int (*drops)(uint32_t src, uint32_t dst, uint16_t port);
};

struct fixture {
	struct topo_clos clos;
	struct algo_blackhole_params params;
	struct obs_probes probes;
	struct algo_blackhole b;
};

static void set_up(struct fixture *f)
{
	*f = (struct fixture){.clos = {.n_pods = 2,
				  .n_tors = 4,
				  .n_t1 = 2,
				  .n_t2 = 2,
				  .n_hosts = A_TOR}};
	assert_ok(topo_clos_init(&f->clos, test_err()));
	assert_ok(
	    sim_field_defaults(algo_blackhole_fields, &f->params, test_err()));
	f->params.rule = ALGO_BLACKHOLE_PAPER;
}

static void tear_down(struct fixture *f)
{
	obs_probes_free(&f->probes);
	algo_blackhole_close(&f->b);
}

static void diagnose(struct fixture *f, uint32_t n_reloaded)
{
	const struct topo_dc dc = topo_dc_alone(&f->clos);
	const struct obs_probe_source all = obs_probes_whole(&f->probes);
	algo_blackhole_close(&f->b);
	assert_ok(algo_blackhole_open(&f->b, &dc, &f->params, test_err()));
	assert_ok(algo_blackhole_diagnose(&f->b, &all, n_reloaded, test_err()));
}

/* --- probing ---------------------------------------------------------------*/
static int is_corrupt(const struct trouble *x, uint32_t tor, uint32_t src,
    uint32_t dst, uint32_t ports)
{
	const uint32_t key =
	    topo_digest_rest(topo_mix32(x->salt + 977 * tor + src), dst,
		x->type == 2 ? ports : 0);
	return x->bad_tors >> tor & 1 && key * 0x1p-32 < x->corrupted;
}

/* Both ways cross the ToRs at both ends. */
static int gets_through(const struct trouble *x, struct sim_rng *r, uint32_t s,
    uint32_t d, uint16_t port)
{
	const uint32_t there = (uint32_t)port << 16 | PORT;
	const uint32_t back = (uint32_t)PORT << 16 | port;
	const uint32_t tor[] = {s / A_TOR, d / A_TOR};
	if ((x->dead >> s | x->dead >> d) & 1)
		return 0;
	if (x->drops && x->drops(s, d, port))
		return 0;
	for (int i = 0; i < 2; i++)
		if (is_corrupt(x, tor[i], s, d, there) ||
		    is_corrupt(x, tor[i], d, s, back))
			return 0;
	return sim_rng_u01(r) >= x->lost;
}

/* A probe; what fails is tried again with the same ports. */
static void probe_once(struct fixture *f, const struct trouble *x,
    struct sim_rng *r, uint32_t s, uint32_t d)
{
	struct obs_probe p = {.sent_ns = f->probes.n,
	    .src_host = s,
	    .dst_host = d,
	    .src_port = (uint16_t)(32768 + sim_rng_below(r, 28000)),
	    .dst_port = PORT,
	    .level = s / A_TOR == d / A_TOR ? OBS_LEVEL_TOR : OBS_LEVEL_DC};
	const double q =
	    (x->lossy_tors >> s / A_TOR | x->lossy_tors >> d / A_TOR) & 1
	    ? x->loss
	    : 0;
	for (int i = 0; i < TRIES; i++) {
		const double u = q > 0 ? sim_rng_u01(r) : 1;
		const int ok =
		    gets_through(x, r, s, d, p.src_port) && u >= q * q * q;
		p.outcome = ok ? OBS_CONNECTED : OBS_TIMED_OUT;
		p.rtt_ns = !ok ? 0 : u < q ? 3 * SIM_SEC : 300 * SIM_US;
		assert_ok(obs_probes_add(&f->probes, &p, test_err()));
		if (ok || x->fresh_ports)
			return;
	}
}

/* Each server probes its neighbours and its like under other ToRs, each from
 * three ports, or from twenty of which none is tried twice. */
static void probe_all(struct fixture *f, const struct trouble *x, uint32_t run)
{
	struct sim_rng r;
	test_rng(&r, run);
	obs_probes_clear(&f->probes);
	for (uint32_t s = 0; s < N_HOSTS; s++)
		for (uint32_t d = 0; d < N_HOSTS; d++)
			if (s != d &&
			    (s / A_TOR == d / A_TOR || s % A_TOR == d % A_TOR))
				for (int i = 0; i < (x->fresh_ports ? 20 : 3);
				     i++)
					probe_once(f, x, &r, s, d);
}

static void assert_actions(const struct fixture *f, const char *want)
{
	static const char letters[] = ".RDE";
	for (uint32_t t = 0; t < N_TORS; t++)
		if (letters[f->b.tor[t].action] != want[t])
			fail_msg("ToR %u: %c of score %g, wanted %c of %s", t,
			    letters[f->b.tor[t].action], f->b.tor[t].score,
			    want[t], want);
}

/* --- pairs -----------------------------------------------------------------*/
static void add(struct fixture *f, uint32_t s, uint32_t d, uint16_t port,
    unsigned n, uint8_t outcome)
{
	const struct obs_probe p = {.rtt_ns = outcome == OBS_CONNECTED,
	    .src_host = s,
	    .dst_host = d,
	    .src_port = port,
	    .outcome = outcome,
	    .level = OBS_LEVEL_DC};
	for (unsigned i = 0; i < n; i++)
		assert_ok(obs_probes_add(&f->probes, &p, test_err()));
}

static void assert_pairs(const struct fixture *f, uint32_t h, uint32_t n_type1,
    uint32_t n_type2)
{
	assert_int_equal(f->b.server[h].n_type1, n_type1);
	assert_int_equal(f->b.server[h].n_type2, n_type2);
}

static void a_pair_that_never_answers_is_type_1_when_both_live(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	add(&f, 0, 8, 1, 2, OBS_TIMED_OUT);
	add(&f, 8, 0, 2, 1, OBS_TIMED_OUT); /* the third, from the other end */
	diagnose(&f, 0);
	assert_pairs(&f, 0, 0, 0); /* both may be dead */
	add(&f, 0, 16, 1, 1, OBS_CONNECTED);
	diagnose(&f, 0);
	assert_pairs(&f, 0, 0, 0); /* host 8 may still be dead */
	add(&f, 24, 8, 1, 1, OBS_REFUSED);
	diagnose(&f, 0);
	assert_pairs(&f, 0, 1, 0);
	assert_pairs(&f, 8, 1, 0);
	assert_pairs(&f, 24, 0, 0);
	add(&f, 8, 0, 3, 1, OBS_REFUSED); /* one answer acquits */
	diagnose(&f, 0);
	assert_pairs(&f, 0, 0, 0);
	tear_down(&f);
}

static void two_failures_or_another_data_centre_prove_nothing(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	add(&f, 0, 16, 1, 1, OBS_CONNECTED);
	add(&f, 8, 16, 1, 1, OBS_CONNECTED);
	add(&f, 0, 8, 1, 2, OBS_TIMED_OUT);
	add(&f, 8, 0, 1, 5, OBS_TIMED_OUT);
	for (size_t i = 4; i < f.probes.n; i++)
		f.probes.level[i] = OBS_LEVEL_INTER_DC;
	diagnose(&f, 0);
	assert_pairs(&f, 0, 0, 0);
	assert_int_equal(f.b.server[0].alive, 1);
	assert_int_equal(f.b.server[24].alive, 0);
	f.probes.level[4] = OBS_LEVEL_DC;
	diagnose(&f, 0);
	assert_pairs(&f, 0, 1, 0);
	tear_down(&f);
}

static void a_tuple_that_never_answers_is_type_2_when_others_do(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	add(&f, 0, 8, 1, 4, OBS_CONNECTED);
	add(&f, 0, 8, 2, 2, OBS_TIMED_OUT);
	add(&f, 8, 0, 2, 2, OBS_TIMED_OUT); /* other way: another tuple */
	add(&f, 0, 8, 3, 2, OBS_TIMED_OUT);
	diagnose(&f, 0);
	assert_pairs(&f, 0, 0, 0);
	add(&f, 0, 8, 2, 1, OBS_TIMED_OUT);
	diagnose(&f, 0);
	assert_pairs(&f, 0, 0, 1);
	assert_pairs(&f, 8, 0, 1);
	add(&f, 0, 8, 3, 1, OBS_TIMED_OUT); /* two tuples are one pair */
	diagnose(&f, 0);
	assert_pairs(&f, 0, 0, 1);
	add(&f, 0, 8, 2, 1, OBS_CONNECTED);
	add(&f, 0, 8, 3, 1, OBS_CONNECTED);
	diagnose(&f, 0);
	assert_pairs(&f, 8, 0, 0);
	tear_down(&f);
}

/* Hosts 0 and 8: 'x' a time-out, '.' an answer, 'L' a late one. The rows are
 * in the order of sending, or against it. */
static uint32_t n_type2(struct fixture *f, const char *story, int backwards)
{
	const size_t n = strlen(story);
	obs_probes_clear(&f->probes);
	for (size_t k = 0; k < n; k++) {
		const size_t i = backwards ? n - 1 - k : k;
		const int odd = (int)i % 2;
		const struct obs_probe p = {.sent_ns = i * SIM_SEC,
		    .rtt_ns = story[i] == 'L' ? 3 * SIM_SEC + SIM_MS
			: story[i] == '.'     ? SIM_MS
					      : 0,
		    .src_host = odd ? 8 : 0,
		    .dst_host = odd ? 0 : 8,
		    .src_port = (uint16_t)(1000 + i * 7919 % 997),
		    .outcome = story[i] == 'x' ? OBS_TIMED_OUT : OBS_CONNECTED,
		    .level = OBS_LEVEL_DC};
		assert_ok(obs_probes_add(&f->probes, &p, test_err()));
	}
	diagnose(f, 0);
	assert_int_equal(f->b.server[0].n_type2, f->b.server[8].n_type2);
	assert_int_equal(f->b.server[0].n_type1, 0);
	return f->b.server[0].n_type2;
}

static void spells_of_time_outs_from_new_ports_are_type_2(void **state)
{
	(void)state;
	struct fixture f;
	set_up(&f);
	f.probes.syn_wait_ns[0] = 3 * SIM_SEC;
	for (int back = 0; back < 2; back++) {
		assert_int_equal(n_type2(&f, "x.x.x", back), 1);
		assert_int_equal(n_type2(&f, ".xx..xxx...x.", back), 1);
		assert_int_equal(n_type2(&f, "..xxxxxxxx..", back), 0);
		assert_int_equal(n_type2(&f, "x.......x...", back), 0);
		assert_int_equal(n_type2(&f, "xxxxxx", back), 0);
		/* Losses make some connects late. */
		assert_int_equal(n_type2(&f, "x.x.L.x", back), 0);
		assert_int_equal(n_type2(&f, "xLx.x.x", back), 1);
	}
	f.params.min_spells = 4;
	assert_int_equal(n_type2(&f, "x.x.x", 0), 0);
	assert_int_equal(n_type2(&f, "x.x.x.x", 0), 1);
	f.params.min_spells = 2; /* below min_failures */
	assert_int_equal(n_type2(&f, "x.x.", 0), 1);
	f.params.min_spells = 0;
	assert_int_equal(n_type2(&f, "x.x.x.x", 0), 0);
	f.params.min_spells = 3;
	f.probes.syn_wait_ns[0] = 0;
	assert_int_equal(n_type2(&f, "x.x.x.x", 0), 0);
	tear_down(&f);
}

/* The header's sum: what losses alone come to if no two spells are one. */
static double by_losses(int n, double q, int m, int min_spells)
{
	const double fail = pow(q, m + 1), late = q - fail;
	double sum = 0;
	for (int y = 0; y <= n; y++)
		for (int x = min_spells + y; x + y <= n; x++)
			sum +=
			    exp(lgamma(n + 1) - lgamma(x + 1) - lgamma(y + 1) -
				lgamma(n - x - y + 1) + x * log(fail) +
				y * log(late) + (n - x - y) * log1p(-q));
	return sum;
}

static void losses_alone_have_few_spells(void **state)
{
	(void)state;
	enum { N = 20, PAIRS = 4000 };
	char story[N + 1] = {0};
	const double q = 0.5, most = by_losses(N, q, 2, 3);
	unsigned n_accused = 0;
	struct fixture f;
	struct sim_rng r;
	set_up(&f);
	test_rng(&r, 77);
	f.probes.syn_wait_ns[0] = 3 * SIM_SEC;
	for (int i = 0; i < PAIRS; i++) {
		for (int k = 0; k < N; k++) {
			const double u = sim_rng_u01(&r);
			story[k] = u < q * q * q ? 'x' : u < q ? 'L' : '.';
		}
		n_accused += n_type2(&f, story, 0);
	}
	/* 25 expected of the sum, fewer as spells merge; five sigma. */
	if (n_accused > PAIRS * most + 5 * sqrt(PAIRS * most) || n_accused < 2)
		fail_msg("seed %llu: %u of %d accused, at most %g expected",
		    (unsigned long long)test_seed(), n_accused, PAIRS,
		    PAIRS * most);
	/* What the header says of any n. */
	for (int n = 3; n <= 400; n += n / 8 + 1) {
		assert_true(by_losses(n, 0.05, 2, 3) < 1e-8);
		assert_true(by_losses(n, 0.2, 2, 3) < 2e-5);
		assert_true(by_losses(n, 0.5, 2, 3) < 1e-2);
	}
	tear_down(&f);
}

/* --- scores and actions ----------------------------------------------------*/
static void a_healthy_network_with_dead_servers_has_no_black_hole(void **state)
{
	(void)state;
	struct fixture f;
	const struct trouble x = {.lost = 0.001,
	    .dead = UINT64_C(0xff00000000010101)}; /* and a whole ToR */
	set_up(&f);
	probe_all(&f, &x, 1);
	diagnose(&f, 0);
	assert_actions(&f, "........");
	assert_true(f.b.tor[1].score == 0);
	assert_int_equal(f.b.tor[1].n_alive, 7);
	assert_true(isnan(f.b.tor[7].score));
	tear_down(&f);
}

/* Under ToR 2 hosts 0 to 3 reach neither host 4 nor host 5. */
static int drops_in_tor_2(uint32_t s, uint32_t d, uint16_t port)
{
	(void)port;
	return s / A_TOR == 2 && d / A_TOR == 2 &&
	    ((s % A_TOR < 4 && d % A_TOR / 2 == 2) ||
		(d % A_TOR < 4 && s % A_TOR / 2 == 2));
}

static void the_score_is_the_share_of_servers_with_the_symptom(void **state)
{
	(void)state;
	struct fixture f;
	const struct trouble x = {.drops = drops_in_tor_2};
	set_up(&f);
	probe_all(&f, &x, 2);
	diagnose(&f, 0);
	assert_true(f.b.tor[2].score == 6 / 8.0);
	assert_actions(&f, "..R.....");
	f.params.threshold = 0.75;
	diagnose(&f, 0);
	assert_actions(&f, "..R.....");
	f.params.threshold = 0.7501;
	diagnose(&f, 0);
	assert_actions(&f, "........");
	f.params.min_pairs = 3; /* only hosts 4 and 5 are in four pairs */
	diagnose(&f, 0);
	assert_true(f.b.tor[2].score == 2 / 8.0);
	tear_down(&f);
}

/* ToRs of pod 0 do not reach each other. */
static int drops_in_pod_0(uint32_t s, uint32_t d, uint16_t port)
{
	(void)port;
	return s / A_TOR != d / A_TOR && s / A_TOR < 4 && d / A_TOR < 4;
}

/* The same, except that ToR 3 reaches and is reached by all. */
static int drops_in_most_of_pod_0(uint32_t s, uint32_t d, uint16_t port)
{
	return drops_in_pod_0(s, d, port) && s / A_TOR != 3 && d / A_TOR != 3;
}

static void a_whole_pod_is_escalated_and_part_of_it_reloaded(void **state)
{
	(void)state;
	struct fixture f;
	struct trouble x = {.drops = drops_in_pod_0};
	set_up(&f);
	probe_all(&f, &x, 3);
	diagnose(&f, 20);
	assert_actions(&f, "EEEE....");
	x.drops = drops_in_most_of_pod_0;
	probe_all(&f, &x, 3);
	diagnose(&f, 0);
	assert_actions(&f, "RRR.....");
	/* The same table in pods of one ToR each, where a whole pod says
	 * nothing of what is above its ToR: they are reloaded. */
	f.clos.n_pods = 8;
	f.clos.n_tors = 1;
	assert_ok(topo_clos_init(&f.clos, test_err()));
	diagnose(&f, 0);
	assert_actions(&f, "RRR.....");
	tear_down(&f);
}

/* ToRs 0, 1 and 5: of the last two 6 servers show it, of the first 8. */
static int drops_in_three_tors(uint32_t s, uint32_t d, uint16_t port)
{
	const uint32_t tor = s / A_TOR;
	if (tor != d / A_TOR)
		return 0;
	if (tor == 0)
		return s % 2 != d % 2;
	return (tor == 1 || tor == 5) &&
	    drops_in_tor_2(s % A_TOR + 2 * A_TOR, d % A_TOR + 2 * A_TOR, port);
}

static void reloads_a_day_are_capped_and_the_worst_come_first(void **state)
{
	(void)state;
	struct fixture f;
	const struct trouble x = {.drops = drops_in_three_tors};
	set_up(&f);
	probe_all(&f, &x, 4);
	diagnose(&f, 17);
	assert_actions(&f, "RR...R..");
	diagnose(&f, 18);
	assert_actions(&f, "RR...D..");
	diagnose(&f, 19);
	assert_actions(&f, "RD...D..");
	diagnose(&f, 20);
	assert_actions(&f, "DD...D..");
	diagnose(&f, 21);
	assert_actions(&f, "DD...D..");
	f.params.max_reloads = 0;
	diagnose(&f, 0);
	assert_actions(&f, "DD...D..");
	tear_down(&f);
}

/* --- precision and recall --------------------------------------------------*/
struct hits {
	unsigned n_found, n_wrong;
};

/* RUNS networks with one bad ToR each. MIN_SPELLS 0: what fails is tried again
 * from the same port. */
static struct hits search(int type, double corrupted, uint32_t min_pairs,
    uint32_t min_spells, unsigned runs)
{
	struct hits n = {0};
	struct fixture f;
	set_up(&f);
	f.params.min_pairs = min_pairs;
	f.params.min_spells = min_spells;
	f.probes.syn_wait_ns[0] = 3 * SIM_SEC;
	for (uint32_t run = 0; run < runs; run++) {
		struct sim_rng r;
		test_rng(&r, 1000 + run);
		const uint32_t bad = sim_rng_below(&r, N_TORS);
		const struct trouble x = {.bad_tors = 1u << bad,
		    .type = type,
		    .corrupted = corrupted,
		    .lost = 0.001,
		    .salt = sim_rng_u32(&r),
		    .fresh_ports = min_spells > 0};
		probe_all(&f, &x, 2000 + run);
		diagnose(&f, 0);
		for (uint32_t t = 0; t < N_TORS; t++) {
			const int found = f.b.tor[t].score >= 0.5;
			n.n_found += found && t == bad;
			n.n_wrong += found && t != bad;
		}
	}
	tear_down(&f);
	return n;
}

/* With two pairs for a symptom a good ToR is never blamed: its servers are in
 * one pair with the bad ToR each. (A second one takes three time-outs in a row
 * by chance: 1e-9.) From 0.3 (type 1: 14 pairs a server, each bad with 0.51) or
 * 0.05 (type 2: six tuples a pair, bad with 0.46) on, every bad ToR is found: a
 * server lacks the symptom with 0.002 at most, and five of eight must. False
 * alarm below 1e-5 each, as where half are found.
 * Of few entries little is seen, and a ToR that drops all is dead. With one
 * pair the good ToRs are blamed too, about two for each bad one. */
static void bad_tors_are_found_by_their_share_of_corrupt_entries(void **state)
{
	(void)state;
	enum { RUNS = 40 };
	static const struct {
		int type;
		double corrupted;
		uint32_t min_pairs;
		unsigned found_lo, found_hi, wrong_lo, wrong_hi;
	} want[] = {{1, 0.005, 2, 0, 2, 0, 0}, {1, 0.05, 2, 5, 35, 0, 0},
	    {1, 0.3, 2, RUNS, RUNS, 0, 0}, {1, 0.5, 2, RUNS, RUNS, 0, 0},
	    {1, 1, 2, 0, 0, 0, 0}, {1, 0.2, 1, RUNS, RUNS, 20, 200},
	    {2, 0.001, 2, 0, 2, 0, 0}, {2, 0.01, 2, 5, 35, 0, 0},
	    {2, 0.05, 2, RUNS, RUNS, 0, 0}, {2, 0.5, 2, RUNS, RUNS, 0, 0},
	    {2, 1, 2, 0, 0, 0, 0}};
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct hits got = search(want[i].type, want[i].corrupted,
		    want[i].min_pairs, 0, RUNS);
		if (got.n_found < want[i].found_lo ||
		    got.n_found > want[i].found_hi ||
		    got.n_wrong < want[i].wrong_lo ||
		    got.n_wrong > want[i].wrong_hi)
			fail_msg("seed %llu, type %d, %g corrupted, %u pairs: "
				 "found %u, blamed %u",
			    (unsigned long long)test_seed(), want[i].type,
			    want[i].corrupted, want[i].min_pairs, got.n_found,
			    got.n_wrong);
	}
}

/* Nearly every bad entry costs time-outs here, none a late connect. At 0.02 a
 * probe fails with 0.04, so a pair of 40 has 3 of them with 0.2 and a server 2
 * such pairs of 14 with 0.8; good ToRs' servers are in one pair with a bad one.
 * At 0.001 there are 3 with 8e-5. False alarm below 1e-5 each. */
static void corrupt_tuples_are_found_from_new_ports_by_spells(void **state)
{
	(void)state;
	enum { RUNS = 20 };
	static const struct {
		double corrupted;
		unsigned found_lo, found_hi;
	} want[] = {{0.001, 0, 0}, {0.02, 15, RUNS}, {0.1, RUNS, RUNS},
	    {0.5, RUNS, RUNS}, {1, 0, 0}};
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct hits got =
		    search(2, want[i].corrupted, 2, 3, RUNS);
		if (got.n_found < want[i].found_lo ||
		    got.n_found > want[i].found_hi || got.n_wrong > 0)
			fail_msg("seed %llu, %g corrupted: found %u, blamed %u",
			    (unsigned long long)test_seed(), want[i].corrupted,
			    got.n_found, got.n_wrong);
	}
}

/* --- by likelihood ---------------------------------------------------------*/

/* Bad ToRs of 8, not all of a pod, are found by the defaults at any share of
 * entries, and no others. From 0.1 on a ToR has 24 of 126 pairs of type 1, and
 * of type 2 far more: evidence of 40 and more on average, with a standard
 * deviation of 9, where 9.3 are enough. Of 120 bad ToRs one is missed with
 * 0.02 at most. At 0.9 and type 1 most of a ToR's servers may seem dead. */
static void many_bad_tors_are_found_by_the_defaults(void **state)
{
	(void)state;
	static const double share[] = {0.003, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9};
	static const uint32_t sets[] = {0x01, 0x90, 0x37, 0x77};
	struct fixture f;
	set_up(&f);
	f.params.rule = ALGO_BLACKHOLE_LIKELIHOOD;
	f.probes.syn_wait_ns[0] = 3 * SIM_SEC;
	for (uint32_t k = 0; k < 7 * 4 * 2 * 3; k++) {
		const struct trouble x = {.bad_tors = sets[k % 4],
		    .type = 1 + (int)(k / 4 % 2),
		    .corrupted = share[k / 8 % 7],
		    .lost = 0.001,
		    .salt = k,
		    .fresh_ports = 1};
		uint32_t guilty = 0;
		probe_all(&f, &x, 3000 + k);
		diagnose(&f, 0);
		for (uint32_t t = 0; t < N_TORS; t++)
			guilty |= (uint32_t)(f.b.tor[t].action ==
				      ALGO_BLACKHOLE_RELOAD)
			    << t;
		if (guilty & ~x.bad_tors ||
		    (x.corrupted >= 0.1 && x.corrupted <= 0.7 &&
			guilty != x.bad_tors))
			fail_msg("seed %llu, type %d, %g of entries: %x found "
				 "of %x",
			    (unsigned long long)test_seed(), x.type,
			    x.corrupted, guilty, x.bad_tors);
	}
	tear_down(&f);
}

/* What the paper's rule makes of the same. */
static void the_papers_rule_mistakes_good_tors_for_many_bad_ones(void **state)
{
	(void)state;
	struct fixture f;
	const struct trouble x = {.bad_tors = 0x31,
	    .type = 1,
	    .corrupted = 0.5,
	    .fresh_ports = 1};
	set_up(&f);
	f.probes.syn_wait_ns[0] = 3 * SIM_SEC;
	probe_all(&f, &x, 5);
	diagnose(&f, 0);
	assert_actions(&f, "EEEEEEEE");
	f.params.rule = ALGO_BLACKHOLE_LIKELIHOOD;
	diagnose(&f, 0);
	assert_actions(&f, "R...RR..");
	diagnose(&f, 18);
	uint32_t n_deferred = 0;
	for (uint32_t t = 0; t < N_TORS; t++)
		n_deferred += f.b.tor[t].action == ALGO_BLACKHOLE_DEFER;
	assert_int_equal(n_deferred, 1);
	tear_down(&f);
}

/* Losses up to 0.6 of round trips make pairs of type 2, of which there are as
 * many decoys and more: 40 runs accuse with 0.04 by the threshold. */
static void a_tor_that_loses_at_random_is_no_black_hole(void **state)
{
	(void)state;
	static const double loss[] = {0.1, 0.3, 0.5, 0.6};
	unsigned n_pairs = 0;
	struct fixture f;
	set_up(&f);
	f.params.rule = ALGO_BLACKHOLE_LIKELIHOOD;
	f.probes.syn_wait_ns[0] = 3 * SIM_SEC;
	for (uint32_t k = 0; k < 40; k++) {
		struct trouble x = {.lossy_tors = 1u << k % 8,
		    .loss = loss[k / 2 % 4],
		    .fresh_ports = 1};
		probe_all(&f, &x, 4000 + k);
		diagnose(&f, 0);
		for (uint32_t h = 0; h < N_HOSTS; h++)
			n_pairs += f.b.server[h].n_type2;
		assert_actions(&f, "........");
		/* It hides no holes of type 1 elsewhere, nor its own. */
		x.bad_tors = 1u << k % 8 | 1u << (k + 3) % 8;
		x.type = 1;
		x.corrupted = 0.2;
		x.salt = k;
		probe_all(&f, &x, 4000 + k);
		diagnose(&f, 0);
		for (uint32_t t = 0; t < N_TORS; t++)
			assert_int_equal(f.b.tor[t].action ==
				ALGO_BLACKHOLE_RELOAD,
			    x.bad_tors >> t & 1);
	}
	assert_true(n_pairs > 0);
	tear_down(&f);
}

/* A table that has each probe twice, and in another order. */
static void more_of_the_same_in_any_order_changes_nothing(void **state)
{
	(void)state;
	struct fixture f, g;
	set_up(&f);
	set_up(&g);
	f.params.rule = g.params.rule = ALGO_BLACKHOLE_LIKELIHOOD;
	f.probes.syn_wait_ns[0] = g.probes.syn_wait_ns[0] = 3 * SIM_SEC;
	for (uint32_t k = 0; k < 12; k++) {
		const struct trouble x = {.bad_tors = 0x92,
		    .type = 1,
		    .corrupted = 0.06 * (2 + k),
		    .dead = UINT64_C(1) << (5 * k),
		    .salt = k,
		    .fresh_ports = 1};
		probe_all(&f, &x, 6000 + k);
		diagnose(&f, 0);
		obs_probes_clear(&g.probes);
		for (size_t i = 0; i < 2 * f.probes.n; i++) {
			const size_t from =
			    (f.probes.n - i % f.probes.n) * 7919 % f.probes.n;
			const struct obs_probe p = {.sent_ns =
							f.probes.sent_ns[from],
			    .rtt_ns = f.probes.rtt_ns[from],
			    .src_host = f.probes.src_host[from],
			    .dst_host = f.probes.dst_host[from],
			    .src_port = f.probes.src_port[from],
			    .dst_port = f.probes.dst_port[from],
			    .outcome = f.probes.outcome[from],
			    .level = f.probes.level[from]};
			assert_ok(obs_probes_add(&g.probes, &p, test_err()));
		}
		diagnose(&g, 0);
		for (uint32_t t = 0; t < N_TORS; t++) {
			assert_int_equal(g.b.tor[t].action, f.b.tor[t].action);
			assert_true(g.b.tor[t].score == f.b.tor[t].score);
		}
		assert_int_equal(f.b.tor[1].action, ALGO_BLACKHOLE_RELOAD);
	}
	tear_down(&f);
	tear_down(&g);
}

/* --- errors ----------------------------------------------------------------*/
static int open_and_diagnose(void *arg, struct sim_err *e)
{
	const struct fixture *f = arg;
	const struct topo_dc dc = topo_dc_alone(&f->clos);
	const struct obs_probe_source all = obs_probes_whole(&f->probes);
	struct algo_blackhole b;
	int rc = algo_blackhole_open(&b, &dc, &f->params, e);
	if (rc == 0)
		rc = algo_blackhole_diagnose(&b, &all, 0, e);
	if (rc == 0 && f->probes.n > 0)
		assert_int_equal(b.server[0].alive, 1);
	algo_blackhole_close(&b);
	return rc;
}

static void without_memory_or_with_a_bad_probe_it_fails(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_err e;
	set_up(&f);
	diagnose(&f, 0); /* an empty table is none */
	assert_true(isnan(f.b.tor[0].score));
	add(&f, 0, 8, 1, 2, OBS_CONNECTED);
	add(&f, 0, 8, 2, 100, OBS_TIMED_OUT);
	test_each_alloc_fails(open_and_diagnose, &f);
	f.params.rule = ALGO_BLACKHOLE_LIKELIHOOD;
	test_each_alloc_fails(open_and_diagnose, &f);
	f.probes.dst_host[1] = N_HOSTS;
	assert_int_equal(open_and_diagnose(&f, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "probe 1"));
	tear_down(&f);
}

static void parameters_of_the_other_rule_are_refused(void **state)
{
	(void)state;
	struct fixture f;
	struct sim_err e;
	set_up(&f);
	f.params.min_pairs = 4;
	assert_ok(open_and_diagnose(&f, test_err()));
	f.params.rule = ALGO_BLACKHOLE_LIKELIHOOD;
	assert_int_equal(open_and_diagnose(&f, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "min_pairs 4"));
	f.params.min_pairs = 2;
	f.params.threshold = 0.25;
	assert_int_equal(open_and_diagnose(&f, &e), SIM_EINVAL);
	f.params.threshold = 0.5;
	f.params.false_alarm = 0.1;
	assert_ok(open_and_diagnose(&f, test_err()));
	f.params.rule = ALGO_BLACKHOLE_PAPER;
	assert_int_equal(open_and_diagnose(&f, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "false_alarm 0.1"));
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		a_pair_that_never_answers_is_type_1_when_both_live),
	    cmocka_unit_test(two_failures_or_another_data_centre_prove_nothing),
	    cmocka_unit_test(
		a_tuple_that_never_answers_is_type_2_when_others_do),
	    cmocka_unit_test(spells_of_time_outs_from_new_ports_are_type_2),
	    cmocka_unit_test(losses_alone_have_few_spells),
	    cmocka_unit_test(
		a_healthy_network_with_dead_servers_has_no_black_hole),
	    cmocka_unit_test(
		the_score_is_the_share_of_servers_with_the_symptom),
	    cmocka_unit_test(a_whole_pod_is_escalated_and_part_of_it_reloaded),
	    cmocka_unit_test(reloads_a_day_are_capped_and_the_worst_come_first),
	    cmocka_unit_test(
		bad_tors_are_found_by_their_share_of_corrupt_entries),
	    cmocka_unit_test(corrupt_tuples_are_found_from_new_ports_by_spells),
	    cmocka_unit_test(many_bad_tors_are_found_by_the_defaults),
	    cmocka_unit_test(
		the_papers_rule_mistakes_good_tors_for_many_bad_ones),
	    cmocka_unit_test(a_tor_that_loses_at_random_is_no_black_hole),
	    cmocka_unit_test(more_of_the_same_in_any_order_changes_nothing),
	    cmocka_unit_test(parameters_of_the_other_rule_are_refused),
	    cmocka_unit_test(without_memory_or_with_a_bad_probe_it_fails),
	};
	return cmocka_run_group_tests_name("algos/pingmesh/blackhole", tests,
	    NULL, NULL);
}
