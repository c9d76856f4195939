/* tests/algos/millisampler/loss_out_test.c -- by hand, and by networks drawn.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/loss_out.h"

#include <gsl/gsl_randist.h>

#include "tests/rigs/sampled.h"
#include "tests/test.h"

enum { N_HOSTS = 12, N_MS = 1000 };

static struct algo_loss_cause_params defaults(void)
{
	struct algo_loss_cause_params p;
	assert_ok(sim_field_defaults(algo_loss_cause_fields, &p, test_err()));
	return p;
}

/* Four buckets of 100, 100, 40 and 0 packets, in the first and third of which 1
 * and 2 were sent again. */
static void both_likelihoods_are_those_by_hand(void **state)
{
	const struct algo_loss_cause_params p = defaults();
	struct algo_loss_ends x = {0};
	struct sampled s = {0};
	(void)state;
	sampled_run(&s, 3, 10);
	sampled_row(&s,
	    (struct obs_sample){.bucket = 2,
		.out_bytes = 100 * 1500,
		.out_retx = 1500});
	sampled_row(&s,
	    (struct obs_sample){.bucket = 3, .out_bytes = 100 * 1500 - 400});
	sampled_row(&s,
	    (struct obs_sample){.bucket = 4,
		.out_bytes = 40 * 1500,
		.out_retx = 2 * 1500 - 1});
	sampled_row(&s, (struct obs_sample){.bucket = 5, .in_bytes = 1500});
	assert_ok(
	    algo_loss_out_find(&s.runs, &s.samples, 10, &p, &x, test_err()));
	assert_int_equal(x.n, 1);
	assert_int_equal(x.host[0], 3);
	assert_int_equal(x.out[0], 1);
	assert_near(x.n_retx[0], 3, 0);
	assert_near(x.n_pkts[0], 300, 0);
	const double link =
	    log(100) + log(100 * 99 / 2.) + 3 * log(.01) + 297 * log(.99);
	const double other =
	    2 * log(2 / 3.) + log(1 / 3.) + 2 * log(.05) + log(.95);
	assert_near(x.ahead[0], link - other, 1e-9);
	assert_int_equal(x.accused[0], link - other > 2);
	/* A run of another width does not count. */
	s.runs.width_ns[0] = 100000;
	algo_loss_ends_clear(&x);
	assert_ok(
	    algo_loss_out_find(&s.runs, &s.samples, 10, &p, &x, test_err()));
	assert_int_equal(x.n, 0);
	algo_loss_ends_free(&x);
	sampled_free(&s);
}

/* What hosts count of packets between them. */
struct net {
	uint32_t in[N_HOSTS][N_MS], out[N_HOSTS][N_MS];
	uint32_t in_again[N_HOSTS][N_MS], out_again[N_HOSTS][N_MS];
};

/* A link that loses; or the queue to a host, which is full in one of 20 of the
 * milliseconds in which something comes, and then drops 1 to 40 packets. */
struct lossy {
	uint32_t host;
	int out;
	double rate;
	int is_buffer;
};

static uint32_t lossy_draw(const struct lossy *l, uint32_t n, struct sim_rng *r)
{
	if (!l->is_buffer)
		return gsl_ran_binomial(&r->gsl, l->rate, n);
	return sim_rng_below(r, 20) == 0 ? 1 + sim_rng_below(r, 40) : 0;
}

/* Each millisecond some hosts send, each to one host of a few; what a bad link on
 * the way loses is sent again in the same. */
static void net_draw(struct net *n, const struct lossy bad[], uint32_t n_bad,
    struct sim_rng *r)
{
	memset(n, 0, sizeof(*n));
	for (uint32_t ms = 0; ms < N_MS; ms++)
		for (uint32_t h = 0; h < N_HOSTS; h++) {
			const uint32_t to =
			    (h + 1 + sim_rng_below(r, 5)) % N_HOSTS;
			const uint32_t k = 100 + sim_rng_below(r, 300);
			uint32_t again = 0;
			if (sim_rng_below(r, 3) > 0)
				continue;
			for (uint32_t i = 0; i < n_bad; i++)
				if (bad[i].host == (bad[i].out ? h : to))
					again += lossy_draw(&bad[i], k, r);
			n->out[h][ms] += k + again;
			n->in[to][ms] += k + again;
			n->out_again[h][ms] += again;
			n->in_again[to][ms] += again;
		}
}

/* Only of hosts below SAMPLED. */
static void net_sample(const struct net *n, uint32_t sampled, struct sampled *s)
{
	for (uint32_t h = 0; h < sampled; h++) {
		sampled_run(s, h, N_MS);
		for (uint32_t ms = 0; ms < N_MS; ms++)
			if (n->in[h][ms] + n->out[h][ms] > 0)
				sampled_row(s,
				    (struct obs_sample){.bucket = ms,
					.in_bytes = 1500 * n->in[h][ms],
					.out_bytes = 1500 * n->out[h][ms],
					.in_retx = 1500 * n->in_again[h][ms],
					.out_retx =
					    1500 * n->out_again[h][ms]});
	}
}

static void net_topo(struct topo *t)
{
	const struct topo_clos shape = {.n_pods = 1,
	    .n_tors = 2,
	    .n_t1 = 2,
	    .n_t2 = 0,
	    .n_hosts = N_HOSTS / 2};
	assert_ok(topo_open_clos(t, &shape, test_err()));
}

static void diagnose(const struct sampled *s, const struct topo *t,
    struct algo_verdicts *v)
{
	const struct obs w = sampled_window(s);
	void *work;
	assert_ok(algo_open(&algo_loss_cause_ops, &work, t, NULL, test_err()));
	assert_ok(algo_loss_cause_ops.diagnose(work, &w, NULL, v, test_err()));
	algo_close(&algo_loss_cause_ops, work);
}

static int is_accused(const struct algo_verdicts *v, const struct lossy *bad)
{
	for (size_t i = 0; i < v->n_flagged; i++)
		if (v->link[i] ==
		    topo_link_of(bad->host, bad->out ? TOPO_UP : TOPO_DOWN))
			return 1;
	return 0;
}

struct told {
	uint32_t n_bad, named, wrong;
};

static struct told net_told(uint32_t n_bad, uint32_t sampled, uint32_t salt)
{
	struct told told = {0};
	struct topo t = {0};
	static struct net n;
	net_topo(&t);
	for (uint32_t run = 0; run < 40; run++) {
		struct lossy bad[2];
		struct sampled s = {0};
		struct algo_verdicts v = {0};
		struct sim_rng r;
		test_rng(&r, salt + run);
		for (uint32_t i = 0; i < n_bad; i++)
			bad[i] = (struct lossy){sim_rng_below(&r, N_HOSTS),
			    (run + i) % 2, 1e-3 * (1 + sim_rng_below(&r, 9)),
			    0};
		net_draw(&n, bad, n_bad, &r);
		net_sample(&n, sampled, &s);
		diagnose(&s, &t, &v);
		uint32_t named = 0;
		for (uint32_t i = 0; i < n_bad; i++) {
			const int seen = bad[i].host < sampled;
			named += seen && is_accused(&v, &bad[i]);
			told.n_bad += (uint32_t)seen;
		}
		told.named += named;
		told.wrong += (uint32_t)v.n_flagged - named;
		algo_verdicts_free(&v);
		sampled_free(&s);
	}
	topo_close(&t);
	return told;
}

/* Each end sees what the other's link loses. All of 40 links, one bad at a time,
 * were named, and of 80, two at a time, one out and one in; nobody else was. One
 * of ten missed, or of twenty wrong, is one of more than 10^6 seeds at .98. */
static void of_two_ends_the_nearer_one_is_accused(void **state)
{
	(void)state;
	for (uint32_t n_bad = 1; n_bad <= 2; n_bad++) {
		const struct told t = net_told(n_bad, N_HOSTS, 100 * n_bad);
		if (10 * t.named < 9 * t.n_bad || 20 * t.wrong > t.n_bad)
			fail_msg("seed %llu, %u bad: named %u of %u, wrongly "
				 "%u",
			    (unsigned long long)test_seed(), n_bad, t.named,
			    t.n_bad, t.wrong);
	}
}

/* A full buffer at the other end is no link of the sender's. */
static void full_buffers_elsewhere_accuse_no_sender(void **state)
{
	struct topo t = {0};
	static struct net n;
	uint32_t accused = 0, lost = 0;
	(void)state;
	net_topo(&t);
	for (uint32_t run = 0; run < 40; run++) {
		struct lossy bad[3];
		struct sampled s = {0};
		struct algo_verdicts v = {0};
		struct sim_rng r;
		test_rng(&r, 700 + run);
		for (uint32_t i = 0; i < 3; i++)
			bad[i] = (struct lossy){.host = 4 * i, .is_buffer = 1};
		net_draw(&n, bad, 3, &r);
		net_sample(&n, N_HOSTS, &s);
		diagnose(&s, &t, &v);
		for (topo_host h = 0; h < N_HOSTS; h++) {
			const struct lossy up = {.host = h, .out = 1};
			accused += (uint32_t)is_accused(&v, &up);
		}
		for (size_t i = 0; i < v.n; i++)
			lost += v.link[i] % 2 == TOPO_UP;
		algo_verdicts_free(&v);
		sampled_free(&s);
	}
	assert_true(lost > 300);
	assert_int_equal(accused, 0);
	topo_close(&t);
}

/* --- two ends that saw the same ------------------------------------------- */

enum { LOST_BY, HEARD_BY, OTHER, N_PAIRED };

/* In a bucket of HOST's run N packets were sent again, in direction OUT. */
static void paired_row(struct sampled *s, uint32_t bucket, int out, uint32_t n)
{
	sampled_row(s,
	    (struct obs_sample){.bucket = bucket,
		.in_retx = out ? 0 : n * 1500,
		.out_retx = out ? n * 1500 : 0});
}

/* Whether the end of host LOST_BY, and of host OTHER, which has lost something else
 * at another time, counts as seen by the other end as well. */
static void paired_match(const struct sampled *s, int out, int *lost_by,
    int *other)
{
	const struct algo_loss_cause_params p = defaults();
	struct algo_loss_ends ends = {0};
	for (uint32_t h = LOST_BY; h <= OTHER; h += OTHER)
		assert_ok(algo_loss_ends_add(&ends,
		    &(struct algo_loss_end){.host = h,
			.out = (uint8_t)out,
			.accused = 1},
		    test_err()));
	assert_ok(algo_loss_ends_match(&s->runs, &s->samples, N_PAIRED, &p,
	    &ends, test_err()));
	*lost_by = ends.other[0];
	*other = ends.other[1];
	algo_loss_ends_free(&ends);
}

/* Host LOST_BY has N packets in each of ten buckets; host HEARD_BY M in as many as
 * SAME of them, SHIFT buckets away, and MORE in another one; host OTHER two at a
 * time of its own. */
struct paired {
	int out, shift;
	uint32_t n, m, same, more;
};

static void assert_paired(const struct paired *x, int want)
{
	struct sampled s = {0};
	int lost_by, other;
	sampled_run(&s, LOST_BY, 1000);
	for (uint32_t i = 0; i < 10; i++)
		paired_row(&s, 90 * i + 10, x->out, x->n);
	sampled_run(&s, HEARD_BY, 1000);
	for (uint32_t i = 0; i < x->same; i++)
		paired_row(&s, (uint32_t)(90 * (int)i + 10 + x->shift), !x->out,
		    x->m);
	paired_row(&s, 970, !x->out, x->more);
	sampled_run(&s, OTHER, 1000);
	paired_row(&s, 300, x->out, 2);
	paired_row(&s, 330, !x->out, 900);
	paired_match(&s, x->out, &lost_by, &other);
	if (lost_by != want)
		fail_msg("out %d, shift %d, %u of %u packets: %d", x->out,
		    x->shift, x->same, x->n, lost_by);
	assert_int_equal(other, 0);
	sampled_free(&s);
}

/* A bucket to each side is the same one. Chance is three times the share of the
 * other's buckets that have any, 3 * 7 / 1000 for six; more than a half beyond
 * that must be seen by an end that saw more in all. */
static void what_both_ends_see_is_matched_by_time(void **state)
{
	(void)state;
	for (int out = 0; out < 2; out++) {
		for (int shift = -3; shift <= 3; shift++)
			assert_paired(&(struct paired){out, shift, 1, 1, 10, 1},
			    shift >= -1 && shift <= 1);
		for (uint32_t same = 0; same <= 10; same++)
			assert_paired(&(struct paired){out, 0, 1, 1, same, 11},
			    same > 5);
		/* It saw no more in all. */
		assert_paired(&(struct paired){out, 0, 2, 1, 10, 10}, 0);
		assert_paired(&(struct paired){out, 0, 2, 2, 10, 1}, 1);
		/* Much at one time is not as much at others. */
		assert_paired(&(struct paired){out, 0, 1, 100, 1, 1}, 0);
		assert_paired(&(struct paired){out, 0, 10, 1, 10, 900}, 0);
		assert_paired(&(struct paired){out, 0, 10, 100, 10, 1}, 1);
	}
}

/* Where something is in each third bucket all may be chance; and time begins with
 * bucket 0, before which nothing is. */
static void chance_and_the_begin_of_time_are_borne(void **state)
{
	(void)state;
	for (uint32_t every = 2; every <= 8; every++) {
		struct sampled s = {0};
		int lost_by, other;
		sampled_run(&s, LOST_BY, 960);
		paired_row(&s, 0, 1, 1);
		sampled_run(&s, HEARD_BY, 960);
		for (uint32_t i = 0; i < 960; i += every)
			paired_row(&s, i, 0, 1);
		s.runs.start_ns[0] = s.runs.start_ns[1] = 0;
		paired_match(&s, 1, &lost_by, &other);
		assert_int_equal(lost_by, every > 3);
		assert_int_equal(other, 0);
		sampled_free(&s);
	}
}

/* Then the sender's is all that is known. */
static void without_the_other_ends_nothing_is_taken_back(void **state)
{
	static struct net n;
	struct topo t = {0};
	struct sampled s = {0};
	struct algo_verdicts v = {0};
	const struct lossy bad = {.host = 1, .out = 1, .rate = 5e-3};
	struct sim_rng r;
	(void)state;
	net_topo(&t);
	test_rng(&r, 900);
	net_draw(&n, &bad, 1, &r);
	memset(n.in_again, 0, sizeof(n.in_again));
	net_sample(&n, 2, &s);
	diagnose(&s, &t, &v);
	assert_int_equal(v.n, 1);
	assert_int_equal(v.n_flagged, 1);
	assert_int_equal(v.link[0], topo_link_of(1, TOPO_UP));
	algo_verdicts_free(&v);
	sampled_free(&s);
	topo_close(&t);
}

static void each_allocation_may_fail(void **state)
{
	struct sampled s = {0};
	struct sampled_given g = {.ops = &algo_loss_cause_ops};
	(void)state;
	net_topo(&g.t);
	for (uint32_t h = 0; h < 2; h++) {
		sampled_run(&s, h, 400);
		for (uint32_t k = 0; k < 400; k += 40)
			sampled_row(&s,
			    (struct obs_sample){.bucket = k,
				.in_bytes = 90000,
				.in_retx = 1500,
				.out_bytes = 90000,
				.out_retx = 1500});
	}
	g.w = sampled_window(&s);
	test_each_alloc_fails(sampled_diagnose, &g);
	sampled_free(&s);
	topo_close(&g.t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(both_likelihoods_are_those_by_hand),
	    cmocka_unit_test(of_two_ends_the_nearer_one_is_accused),
	    cmocka_unit_test(full_buffers_elsewhere_accuse_no_sender),
	    cmocka_unit_test(what_both_ends_see_is_matched_by_time),
	    cmocka_unit_test(chance_and_the_begin_of_time_are_borne),
	    cmocka_unit_test(without_the_other_ends_nothing_is_taken_back),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/millisampler/loss_out", tests,
	    NULL, NULL);
}
