/* tests/algos/millisampler/rack_test.c -- diagnosers on racks that are played.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * RACK_RUNS=20 in the environment plays as many racks a line, and prints the
 * tables of algos/millisampler/README.md.
 */
#include <gsl/gsl_randist.h>

#include "algos/millisampler/bursts.h"
#include "algos/millisampler/loss_cause.h"
#include "algos/millisampler/loss_out.h"
#include "algos/millisampler/nic_stall.h"
#include "algos/millisampler/sync_burst.h"
#include "tests/rigs/rack_bursts.h"
#include "tests/test.h"

enum { SERVERS = 92 };

static struct rack_bursts traffic(int is_job)
{
	struct rack_bursts b = {.is_job = is_job, .ms = 2000};
	assert_ok(sim_field_defaults(rack_fields, &b.p, test_err()));
	assert_int_equal(b.p.n_servers, SERVERS);
	return b;
}

static uint32_t n_runs(void)
{
	const char *n = getenv("RACK_RUNS");
	return n ? (uint32_t)atoi(n) : 1;
}

static struct algo_series side_by_side(const struct sampled *s,
    const int64_t error_ns[])
{
	struct algo_series a = {0};
	uint32_t run[SERVERS];
	for (uint32_t i = 0; i < SERVERS; i++)
		run[i] = i;
	assert_ok(algo_series_align(&a, &s->runs, &s->samples, run, SERVERS,
	    error_ns, test_err()));
	return a;
}

/* --- loss_cause ------------------------------------------------------------ */
struct tally {
	uint32_t n_bad, named;  /* hosts with a bad link */
	uint32_t lost, accused; /* others that lost something */
};

static void tally_up(const struct rack_bursts *b, uint32_t run, struct tally *t)
{
	struct algo_loss_cause_params p;
	struct algo_loss_causes c = {0};
	struct sampled s = {0};
	rack_bursts_sample(&s, b, run);
	assert_ok(sim_field_defaults(algo_loss_cause_fields, &p, test_err()));
	assert_ok(algo_loss_causes_find(&s.runs, &s.samples, SERVERS, &p, &c,
	    test_err()));
	for (size_t i = 0; i < c.n; i++) {
		const int link = c.cause[i] == ALGO_LOSS_LINK;
		if (b->loss > 0 && rack_bursts_is_bad(c.host[i])) {
			t->n_bad++;
			t->named += link;
		} else {
			t->lost += c.n_retx[i] > 0;
			t->accused += link;
		}
	}
	algo_loss_causes_free(&c);
	sampled_free(&s);
}

static const struct {
	const char *name;
	double alpha, rto_ms;
	int is_job;
} racks[] = {
    {"typical", 1, 5, 0},
    {"job", 1, 5, 1},
    {"alpha 1/4", .25, 5, 0},
    {"RTO 200 ms", 1, 200, 0},
};

/* Twelve bad links a rack and line, of which, over 20 racks each, 83 of 100 or
 * more were named where they lose 1e-4 or more, and with alpha 1/4 61 or more:
 * fewer than half, or than an eighth, are one of some 1,000 seeds for all lines
 * together. Of 5,071 innocents 3 were accused. */
static void bad_links_are_told_from_full_buffers(void **state)
{
	static const double loss[] = {0, 1e-5, 1e-4, 1e-3, 1e-2};
	uint32_t accused = 0, lost = 0;
	(void)state;
	for (uint32_t i = 0; i < 20; i++) {
		struct rack_bursts b = traffic(racks[i / 5].is_job);
		struct tally t = {0};
		b.p.alpha = racks[i / 5].alpha;
		b.p.rto_ms = racks[i / 5].rto_ms;
		b.loss = loss[i % 5];
		for (uint32_t run = 0; run < n_runs(); run++)
			tally_up(&b, 100 * i + run, &t);
		if (getenv("RACK_RUNS"))
			print_message("%-10s %-5g named %3u of %3u, accused "
				      "%u of %u\n",
			    racks[i / 5].name, b.loss, t.named, t.n_bad,
			    t.accused, t.lost);
		accused += t.accused;
		lost += t.lost;
		if (b.loss >= 1e-4)
			assert_true(
			    (b.p.alpha < 1 ? 8 : 2) * t.named >= t.n_bad);
	}
	assert_true(lost >= 50 * n_runs());
	assert_true(accused <= 1 + n_runs() / 4);
}

static void tally_up_out(const struct rack_bursts *b, uint32_t run,
    struct tally *t)
{
	struct algo_loss_cause_params p;
	struct algo_loss_ends x = {0};
	struct sampled s = {0};
	rack_bursts_sample(&s, b, run);
	assert_ok(sim_field_defaults(algo_loss_cause_fields, &p, test_err()));
	assert_ok(algo_loss_out_find(&s.runs, &s.samples, SERVERS, &p, &x,
	    test_err()));
	for (uint32_t h = 0; h < SERVERS; h++)
		t->n_bad += (uint32_t)rack_bursts_is_bad(h);
	for (size_t i = 0; i < x.n; i++) {
		/* Nothing else loses what a server sends. */
		assert_true(rack_bursts_is_bad(x.host[i]));
		t->lost++;
		t->named += x.accused[i];
	}
	algo_loss_ends_free(&x);
	sampled_free(&s);
}

/* Of 240 links of 20 racks 159, 237 and 180 were named where 1e-4, 1e-3 and 1e-2
 * are lost: fewer than a quarter of 12 are one of more than 1,000 seeds. */
static void bad_links_from_servers_are_named(void **state)
{
	static const double loss[] = {1e-5, 1e-4, 1e-3, 1e-2};
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct rack_bursts b = traffic(0);
		struct tally t = {0};
		b.loss = loss[i];
		b.loss_out = 1;
		for (uint32_t run = 0; run < n_runs(); run++)
			tally_up_out(&b, 3000 + 100 * i + run, &t);
		if (getenv("RACK_RUNS"))
			print_message("from servers %-5g named %3u of %3u, "
				      "lost anything %u\n",
			    b.loss, t.named, t.n_bad, t.lost);
		if (b.loss >= 1e-4)
			assert_true(4 * t.named >= t.n_bad);
	}
}

/* --- nic_stall ------------------------------------------------------------- */
/* What a NIC has to hold to be found in 100 us: 1.05 times what the line
 * carries in them. */
enum { STALL_HOST = 5, STALL_LEAST = 1562500 / 10 * 105 / 100 };

static uint32_t stalls_seen(const struct rack_bursts *b, uint32_t run)
{
	struct algo_nic_stall_params p;
	struct algo_nic_stalls f = {0};
	struct sampled s = {0};
	rack_bursts_sample(&s, b, run);
	assert_ok(sim_field_defaults(algo_nic_stall_fields, &p, test_err()));
	assert_ok(
	    algo_nic_stalls_find(&s.runs, &s.samples, &p, &f, test_err()));
	const uint32_t n = (uint32_t)f.n;
	for (uint32_t i = 0; i < n; i++)
		assert_true(b->stall_ms > 0 && f.host[i] == STALL_HOST);
	algo_nic_stalls_free(&f);
	sampled_free(&s);
	return n;
}

/* Some time within a burst of the server, all alike: in a bucket of 100 us of
 * which the three before and behind it are full. 0 if there is none. */
static double burst_to_stall(const struct rack_bursts *b, uint32_t run)
{
	enum { N = 5000 };
	double in[N] = {0}, at = 0;
	struct sampled s = {0};
	struct sim_rng rng;
	uint32_t n = 0;
	test_rng(&rng, 60000 + run);
	rack_bursts_sample(&s, b, run);
	for (size_t i = 0; i < s.samples.n; i++)
		if (s.runs.host[s.samples.run[i]] == STALL_HOST)
			in[s.samples.bucket[i]] = s.samples.in_bytes[i];
	for (uint32_t k = 3; k + 3 < b->ms * b->fine; k++) {
		int busy = 1;
		for (uint32_t j = k - 3; j <= k + 3; j++)
			busy &= in[j] > 0.95 * SAMPLED_LINE / b->fine;
		if (busy && sim_rng_below(&rng, ++n) == 0)
			at = (k + sim_rng_u01(&rng)) / b->fine;
	}
	sampled_free(&s);
	return at;
}

/* A wire carries no more than it does, whatever the traffic, so not one of
 * 9,200 servers is accused, of which each counts for 200 ms: fewer than 3.3e-4
 * are wrong at 95 %. */
static void no_nic_of_a_hundred_quiet_racks_is_accused(void **state)
{
	uint32_t n = 0;
	(void)state;
	for (uint32_t run = 0; run < 100; run++) {
		struct rack_bursts b = traffic(run % 2);
		b.ms = 200;
		b.fine = 10;
		n += stalls_seen(&b, 4300 + run);
	}
	if (getenv("RACK_RUNS"))
		print_message("stalls: %u in 100 quiet runs of 92\n", n);
	assert_int_equal(n, 0);
}

/* Those that hold more than the line carries in a bucket are all found; of all
 * within bursts 34 of 40 were, so that fewer than six of ten are in one of 10^5
 * seeds. */
static void stalls_within_bursts_are_found(void **state)
{
	uint32_t n = 0, n_found = 0, n_held = 0, n_held_found = 0;
	(void)state;
	for (uint32_t run = 0; n < 40; run++) {
		struct rack_bursts b = traffic(run % 2);
		b.ms = 200;
		b.fine = 10;
		b.stall_at = burst_to_stall(&b, 4400 + run);
		if (b.stall_at == 0)
			continue;
		b.stall_ms = 5;
		const int found = stalls_seen(&b, 4400 + run) > 0;
		const int much = rack_bursts_held(&b, 4400 + run) > STALL_LEAST;
		n++;
		n_found += found;
		n_held += much;
		n_held_found += found && much;
	}
	if (getenv("RACK_RUNS"))
		print_message("stalls of 5 ms within bursts, at 100 us: %u of "
			      "%u; of those that held %d bytes: %u of %u\n",
		    n_found, n, STALL_LEAST, n_held_found, n_held);
	assert_true(n_held >= 10);
	assert_int_equal(n_held_found, n_held);
	assert_true(10 * n_found >= 6 * n);
}

/* --- sync_burst ------------------------------------------------------------ */
/* z of racks without a job is near normal: above 6 is one of 10^9. That of jobs is
 * above 50 in all of these; their period is drawn between 30 and 40 ms each
 * time, so that a job need not show one: by 11 seeds 3 of 44 have none, and so have
 * all 4 once in 40,000 seeds. */
static void jobs_are_told_from_servers_alone(void **state)
{
	struct algo_sync_burst_params p;
	unsigned n_periods = 0;
	(void)state;
	assert_ok(sim_field_defaults(algo_sync_burst_fields, &p, test_err()));
	for (uint32_t run = 0; run < 8; run++) {
		const struct rack_bursts b = traffic(run % 2);
		struct algo_sync_burst j;
		struct sampled s = {0};
		rack_bursts_sample(&s, &b, 5000 + run);
		struct algo_series a = side_by_side(&s, NULL);
		assert_ok(algo_sync_burst_of(&a, &p, &j, NULL, test_err()));
		assert_true(b.is_job ? j.z > 50 : j.z < 6);
		assert_true(j.period_ms == 0 ||
		    (b.is_job && fabs(j.period_ms - 35) <= 5));
		n_periods += j.period_ms > 0;
		algo_series_free(&a);
		sampled_free(&s);
	}
	assert_in_range(n_periods, 1, 4);
}

/* --- what alignment costs -------------------------------------------------- */
struct cost {
	double kept, is, found, right, contention, same, off, n;
};

/* Burst buckets of A, whose runs started apart and whose clocks are wrong, held
 * against those of TRUTH. */
static void cost_add(struct cost *c, const struct algo_series *truth,
    const struct algo_series *a)
{
	const int64_t apart = (int64_t)(a->start_ns - truth->start_ns);
	const int64_t late = llrint(1e-6 * (double)apart);
	uint8_t x[2100], y[2100];
	uint32_t at_x[2100], at_y[2100];
	assert_ok(algo_contention_count(truth, .5, at_x, test_err()));
	assert_ok(algo_contention_count(a, .5, at_y, test_err()));
	for (size_t i = 0; i < SERVERS; i++) {
		algo_burst_mark(truth, i, .5, x);
		algo_burst_mark(a, i, .5, y);
		for (size_t k = 20; k < 1980; k++) {
			c->is += x[k];
			c->kept += x[k] && y[k - (size_t)late];
			c->found += y[k - (size_t)late];
		}
	}
	for (size_t k = 20; k < 1980; k++) {
		c->same += at_x[k];
		c->contention += at_y[k - (size_t)late];
		c->off += abs((int)at_x[k] - (int)at_y[k - (size_t)late]);
		c->n++;
	}
}

/* Averages over 92 servers and 2,000 buckets. */
static void means_bear_wrong_clocks_and_instants_do_not(void **state)
{
	static const double sd_ms[] = {0, .3, 1, 2};
	double before = 0, kept = 1.1;
	(void)state;
	for (int i = 0; i < 8; i++) {
		struct rack_bursts b = traffic(i / 4);
		struct cost c = {0};
		for (uint32_t run = 0; run < n_runs(); run++) {
			struct sampled s = {0}, t = {0};
			int64_t error[SERVERS];
			struct sim_rng r;
			test_rng(&r, 7000 + run);
			for (int h = 0; h < SERVERS; h++)
				error[h] = (int64_t)(1e6 *
				    gsl_ran_gaussian(&r.gsl, sd_ms[i % 4]));
			b.apart = 1;
			rack_bursts_sample(&s, &b, 6000 + run);
			struct algo_series y = side_by_side(&s, error);
			/* The truth, on buckets of the same phase. */
			b.apart = 0;
			b.phase = (uint32_t)(y.start_ns % SIM_MS / 25000);
			rack_bursts_sample(&t, &b, 6000 + run);
			struct algo_series x = side_by_side(&t, NULL);
			cost_add(&c, &x, &y);
			algo_series_free(&x);
			algo_series_free(&y);
			sampled_free(&s);
			sampled_free(&t);
		}
		if (getenv("RACK_RUNS"))
			print_message("%-7s sd %.1f: kept %.2f, found and true "
				      "%.2f, "
				      "contention %.2f %+.1f %%, off by %.2f\n",
			    i / 4 ? "job" : "typical", sd_ms[i % 4],
			    c.kept / c.is, c.kept / c.found, c.same / c.n,
			    100 * (c.contention / c.same - 1), c.off / c.n);
		assert_near(c.contention / c.same, 1, .12);
		assert_true(c.off > before && c.kept / c.is < kept);
		before = i % 4 == 3 ? 0 : c.off;
		kept = i % 4 == 3 ? 1.1 : c.kept / c.is;
		if (i % 4 == 0)
			assert_true(c.kept / c.is > .85);
		if (i % 4 == 3)
			assert_true(c.kept / c.is < .8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(bad_links_are_told_from_full_buffers),
	    cmocka_unit_test(bad_links_from_servers_are_named),
	    cmocka_unit_test(no_nic_of_a_hundred_quiet_racks_is_accused),
	    cmocka_unit_test(stalls_within_bursts_are_found),
	    cmocka_unit_test(jobs_are_told_from_servers_alone),
	    cmocka_unit_test(means_bear_wrong_clocks_and_instants_do_not),
	};
	return cmocka_run_group_tests_name("algos/millisampler on racks", tests,
	    NULL, NULL);
}
