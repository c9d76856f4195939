/* tests/algos/millisampler/loss_cause_test.c -- by hand, by an oracle, by law.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/loss_cause.h"
#include "tests/rigs/sampled.h"
#include "tests/rigs/windows.h"
#include "tests/test.h"

enum { LINE = SAMPLED_LINE };

static struct algo_loss_cause_params defaults(void)
{
	struct algo_loss_cause_params p;
	assert_ok(sim_field_defaults(algo_loss_cause_fields, &p, test_err()));
	return p;
}

static struct algo_loss_cause cause_of(const struct sampled *s,
    const struct algo_loss_cause_params *p)
{
	struct algo_loss_causes c = {0};
	assert_ok(algo_loss_causes_find(&s->runs, &s->samples, 100, p, &c,
	    test_err()));
	assert_int_equal(c.n, 1);
	const struct algo_loss_cause first = algo_loss_causes_at(&c, 0);
	algo_loss_causes_free(&c);
	return first;
}

/* Ten buckets: a burst of one with marks, 700 packets, of which 3 are sent
 * again in the next, beside 7 new ones; so hot are 2 of 10. */
static void both_likelihoods_are_those_by_hand(void **state)
{
	struct sampled s = {0};
	struct algo_loss_cause_params p = defaults();
	(void)state;
	p.rto_ms = 0;
	sampled_run(&s, 9, 10);
	sampled_row(&s,
	    (struct obs_sample){.bucket = 4,
		.in_bytes = 700 * 1500,
		.in_ce = 600 * 1500});
	sampled_row(&s,
	    (struct obs_sample){.bucket = 5,
		.in_bytes = 10 * 1500 - 900, /* the last is short */
		.in_retx = 3 * 1514});
	const struct algo_loss_cause c = cause_of(&s, &p);
	assert_int_equal(c.host, 9);
	assert_near(c.n_retx, 3, 0);
	assert_near(c.n_pkts, 700 + 700 + 10, 0);
	assert_near(c.n_buckets, 10, 0);
	assert_near(c.n_hot, 2, 0);
	assert_near(c.rate, 3 / 1410., 1e-15);
	const double ways = 700. * 699 * 698 / 6;
	assert_near(c.log_link,
	    log(ways) + 3 * log(3 / 1410.) + 1407 * log(1407 / 1410.), 1e-9);
	assert_near(c.log_buffer, 2 * log(.5) + log(.05 * .95 * .95), 1e-12);
	assert_int_equal(c.cause, ALGO_LOSS_BUFFER);
	/* Without marks nothing is hot, and one loss in ten buckets is rare. */
	s.samples.in_ce[0] = 0;
	const struct algo_loss_cause d = cause_of(&s, &p);
	assert_near(d.n_hot, 0, 0);
	assert_near(d.log_buffer,
	    log(2e-4) + 9 * log(1 - 2e-4) + log(.05 * .95 * .95), 1e-12);
	assert_near(d.log_link, c.log_link, 0);
	assert_int_equal(d.cause, ALGO_LOSS_LINK);
	sampled_free(&s);
}

static void hosts_that_lost_nothing_have_no_cause(void **state)
{
	struct sampled s = {0};
	const struct algo_loss_cause_params p = defaults();
	(void)state;
	sampled_run(&s, 3, 100);
	struct algo_loss_cause c = cause_of(&s, &p);
	assert_int_equal(c.cause, ALGO_LOSS_NONE);
	assert_near(c.log_link, 0, 0);
	sampled_row(&s, (struct obs_sample){.bucket = 7, .in_bytes = LINE});
	c = cause_of(&s, &p);
	assert_int_equal(c.cause, ALGO_LOSS_NONE);
	assert_near(c.log_link, 0, 0);
	assert_near(c.log_buffer, 0, 0);
	/* A link that loses all it carries. */
	s.samples.in_retx[0] = LINE;
	c = cause_of(&s, &p);
	assert_true(isfinite(c.log_link) && isfinite(c.log_buffer));
	sampled_free(&s);
}

/* --- the oracle: bucket by bucket, with the laws written out --------------- */
static double at(const struct sampled *s, const uint32_t column[],
    int64_t bucket)
{
	for (size_t i = 0; i < s->samples.n; i++)
		if (s->samples.bucket[i] == bucket)
			return column[i];
	return 0;
}

static int full_burst_has(const struct sampled *s, int64_t k, double share)
{
	double all = 0, ce = 0;
	int64_t from = k, to = k;
	if (at(s, s->samples.in_bytes, k) <= LINE / 2.)
		return 0;
	while (at(s, s->samples.in_bytes, from - 1) > LINE / 2.)
		from--;
	while (at(s, s->samples.in_bytes, to + 1) > LINE / 2.)
		to++;
	for (; from <= to; from++) {
		all += at(s, s->samples.in_bytes, from);
		ce += at(s, s->samples.in_ce, from);
	}
	return ce >= share * all;
}

static double binomial(double n, double k, double p)
{
	double x = 1;
	for (double i = 0; i < k; i++)
		x *= p * (n - i) / (k - i);
	return log(x) + (n > k ? (n - k) * log(1 - p) : 0);
}

/* Of 40 buckets, those that are not hot: a link that loses RATE, or late packets of
 * a buffer; *BETTER is the rate that the link's share in each comes to. */
static double mixed(const double k[], const double n[], const int hot[],
    const struct algo_loss_cause_params *p, double rate, double *better)
{
	double sum = 0, by_k = 0, by_n = 0;
	for (int m = 0; m < 40; m++) {
		if (hot[m])
			continue;
		const double link =
		    (1 - p->cold) * exp(binomial(n[m], k[m], rate));
		const double buffer = k[m] > 0
		    ? p->cold * (1 - p->geometric) * pow(p->geometric, k[m] - 1)
		    : 0;
		sum += log(link + buffer);
		by_k += k[m] * link / (link + buffer);
		by_n += n[m] * link / (link + buffer);
	}
	*better = by_n > 0 ? by_k / by_n : 0;
	return sum;
}

static void check_by_oracle(const struct sampled *s,
    const struct algo_loss_cause_params *p, uint32_t run)
{
	double k[40], n[40], sum_k = 0, sum_n = 0, n_hot = 0, hit = 0;
	double late = 0;
	int hot[40];
	for (int m = 0; m < 40; m++) {
		const double again = at(s, s->samples.in_retx, m) - p->least;
		k[m] = again > 0 && again < 1500 ? 1
		    : again > 0                  ? floor((again + 750) / 1500)
						 : 0;
		n[m] = ceil(at(s, s->samples.in_bytes, m) / 1500);
		if (m > 0)
			n[m] = fmax(n[m],
			    ceil(at(s, s->samples.in_bytes, m - 1) / 1500));
		sum_k += k[m];
		sum_n += n[m];
		hot[m] = full_burst_has(s, m, p->ce_share) ||
		    full_burst_has(s, m - 1, p->ce_share);
		for (int d = (int)p->rto_ms; p->rto_ms + p->rto_to_ms > 0 &&
		     d <= fmax(p->rto_ms, p->rto_to_ms) + 1;
		     d++)
			hot[m] |= full_burst_has(s, m - d, p->ce_share);
		n_hot += hot[m];
		hit += hot[m] && k[m] > 0;
		late += !hot[m] && k[m] > 0;
	}
	double link = 0, buffer = 0, both = 0, cold_k = 0, cold_n = 0;
	double good_link = 0, full_hot = 0, rate, better;
	for (int m = 0; m < 40; m++) {
		cold_k += hot[m] ? 0 : k[m];
		cold_n += hot[m] ? 0 : n[m];
	}
	for (int m = 0; m < 40; m++) {
		const double q =
		    hot[m] ? hit / n_hot : fmin(p->cold, late / (40 - n_hot));
		const double all_p = sum_n > 0 ? sum_k / sum_n : 0;
		const double cold_p = cold_n > 0 ? cold_k / cold_n : 0;
		link += binomial(n[m], k[m], all_p);
		good_link += binomial(n[m], k[m], fmin(all_p, p->healthy));
		const double full = k[m] > 0
		    ? log(q * (1 - p->geometric) * pow(p->geometric, k[m] - 1))
		    : log(1 - q);
		buffer += full;
		both += hot[m] ? full : binomial(n[m], k[m], cold_p);
		full_hot += hot[m] ? full : 0;
	}
	double none = buffer;
	if (p->healthy > 0) {
		rate = cold_n > 0 ? cold_k / cold_n : 0;
		for (int i = 0; i < 300; i++, rate = better)
			both = full_hot + mixed(k, n, hot, p, rate, &better);
		none = fmax(none, good_link);
		none = fmax(none,
		    full_hot +
			mixed(k, n, hot, p, fmin(rate, p->healthy), &better));
	}
	const struct algo_loss_cause c = cause_of(s, p);
	if (!(fabs(c.log_link - link) <= 1e-9 * fabs(link) + 1e-9 &&
		fabs(c.log_both - both) <= 1e-6 * fabs(both) + 1e-9 &&
		fabs(c.log_buffer - buffer) <= 1e-9 * fabs(buffer) + 1e-9))
		fail_msg("seed %llu run %u: link %.12g not %.12g, buffer "
			 "%.12g not %.12g",
		    (unsigned long long)test_seed(), run, c.log_link, link,
		    c.log_buffer, buffer);
	assert_int_equal(c.cause,
	    sum_k == 0 ? ALGO_LOSS_NONE
		: fmax(link, both - p->both) - none > p->margin
		? ALGO_LOSS_LINK
		: ALGO_LOSS_BUFFER);
}

static void random_tables_are_judged_as_by_the_oracle(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 2000; run++) {
		struct sampled s = {0};
		struct algo_loss_cause_params p = defaults();
		struct sim_rng r;
		test_rng(&r, run);
		p.rto_ms = sim_rng_below(&r, 8);
		if (run % 3 == 1)
			p.rto_to_ms = sim_rng_below(&r, 20);
		if (run % 3 == 2)
			p.least = sim_rng_below(&r, 2000);
		if (run % 3 == 2)
			p.healthy = 1e-4 * sim_rng_below(&r, 1000);
		sampled_run(&s, 0, 40);
		for (uint32_t k = 0; k < 40; k++) {
			const uint32_t in = 1 + sim_rng_below(&r, 2 * LINE);
			if (sim_rng_below(&r, 2))
				sampled_row(&s,
				    (struct obs_sample){.bucket = k,
					.in_bytes = in,
					.in_ce = sim_rng_below(&r, in + 1),
					.in_retx = sim_rng_below(&r, 5)
					    ? 0
					    : sim_rng_below(&r,
						  in < 30000 ? in : 30000)});
		}
		check_by_oracle(&s, &p, run);
		sampled_free(&s);
	}
}

/* Two runs of a host are one host; runs of another width are not looked at. */
static void runs_of_a_host_count_together(void **state)
{
	const struct algo_loss_cause_params p = defaults();
	struct sampled one = {0}, two = {0};
	(void)state;
	for (uint32_t half = 0; half < 2; half++)
		for (uint32_t k = 0; k < 50; k++) {
			if (k == 0)
				sampled_run(&two, 5, 60);
			if (k + half == 0)
				sampled_run(&one, 5, 120);
			const struct obs_sample row = {
			    .bucket = k,
			    .in_bytes = 1500 * (10 + k * 12),
			    .in_ce = 1500 * (half * k),
			    .in_retx = k % 9 == 0 ? 1500 : 0,
			};
			struct obs_sample later = row;
			later.bucket += 60 * half;
			sampled_row(&one, later);
			sampled_row(&two, row);
		}
	const struct algo_loss_cause a = cause_of(&one, &p);
	const struct algo_loss_cause b = cause_of(&two, &p);
	assert_near(a.log_link, b.log_link, 1e-9);
	assert_near(a.log_buffer, b.log_buffer, 1e-9);
	assert_near(a.n_hot, b.n_hot, 0);
	two.runs.width_ns[1] = 10000000;
	const struct algo_loss_cause c = cause_of(&two, &p);
	assert_near(c.n_buckets, 60, 0);
	sampled_free(&one);
	sampled_free(&two);
}

/* --- drawn ----------------------------------------------------------------- */
/* Of N hosts drawn by LAW: how many lost, and how many links are accused. */
struct tally {
	uint32_t lost, accused;
};

static struct tally judge_drawn(const struct sampled_law *law, uint32_t n,
    uint32_t run)
{
	const struct algo_loss_cause_params p = defaults();
	struct algo_loss_causes c = {0};
	struct sampled s = {0};
	struct tally t = {0};
	struct sim_rng r;
	test_rng(&r, run);
	for (uint32_t h = 0; h < n; h++)
		sampled_draw(&s, h, law, &r);
	assert_ok(
	    algo_loss_causes_find(&s.runs, &s.samples, n, &p, &c, test_err()));
	assert_int_equal(c.n, n);
	for (size_t i = 0; i < n; i++) {
		t.lost += c.cause[i] != ALGO_LOSS_NONE;
		t.accused += c.cause[i] == ALGO_LOSS_LINK;
	}
	algo_loss_causes_free(&c);
	sampled_free(&s);
	return t;
}

/* Shares accused were measured over 1,000 hosts of other seeds: `share` of those
 * that lost something, and bounds here are five deviations of 200 hosts away and
 * one host more, so this fails by chance in fewer than one of 10^5 seeds. */
static void full_buffers_are_told_from_bad_links(void **state)
{
	static const struct {
		struct sampled_law law;
		double share;
	} row[] = {
	    /* Full buffers alone, with few and with many bursts; and with an RTO
	     * that the diagnoser does not know. */
	    {{.rate = .003, .full = .1, .rto_ms = 5}, .008},
	    {{.rate = .01, .full = .1, .rto_ms = 5}, .001},
	    {{.rate = .1, .full = .1, .rto_ms = 5}, 0},
	    {{.rate = .003, .full = .1, .rto_ms = 200}, .034},
	    {{.rate = .1, .full = .1, .rto_ms = 200}, 0},
	    /* Bad links alone. */
	    {{.rate = .01, .loss = 1e-5, .rto_ms = 5}, .990},
	    {{.rate = .01, .loss = 1e-4, .rto_ms = 5}, 1},
	    {{.rate = .1, .loss = 1e-2, .rto_ms = 5}, 1},
	    /* Both. */
	    {{.rate = .01, .full = .1, .loss = 1e-4, .rto_ms = 5}, .843},
	    {{.rate = .1, .full = .1, .loss = 1e-4, .rto_ms = 5}, .561},
	    {{.rate = .1, .full = .1, .loss = 1e-3, .rto_ms = 5}, 1},
	    {{.rate = .01, .full = .1, .loss = 1e-3, .rto_ms = 200}, .411},
	};
	(void)state;
	for (uint32_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct sampled_law law = row[i].law;
		law.marked = .8;
		const struct tally t = judge_drawn(&law, 200, i);
		const double share = row[i].share, n = t.lost;
		const double off = fabs(t.accused - share * n);
		if (off > 1 + 5 * sqrt(n * share * (1 - share)))
			fail_msg("seed %llu, law %u: %u of %u accused, not %g",
			    (unsigned long long)test_seed(), i, t.accused,
			    t.lost, share * n);
	}
}

/* Ten runs of a host, 20,000 buckets, are judged together: that nothing was lost
 * in so many which are not hot tells nothing against its buffer. Of 300 hosts of
 * other seeds none was accused, so at 95 % fewer than 1 % are, and of 100 more
 * than 6 once in 10^4. RTO_MS is one that the diagnoser knows, or not. */
static void many_buckets_of_innocents(uint32_t rto_ms)
{
	enum { N_HOSTS = 100, N_RUNS = 10, N_ACCUSED = 6 };
	const struct sampled_law law = {.rate = .01,
	    .marked = .8,
	    .full = .1,
	    .rto_ms = rto_ms};
	const struct algo_loss_cause_params p = defaults();
	struct algo_loss_causes c = {0};
	struct sampled s = {0};
	struct sim_rng r;
	uint32_t lost = 0, accused = 0;
	test_rng(&r, 400 + rto_ms);
	for (uint32_t h = 0; h < N_HOSTS; h++)
		for (uint32_t i = 0; i < N_RUNS; i++)
			sampled_draw(&s, h, &law, &r);
	assert_ok(algo_loss_causes_find(&s.runs, &s.samples, N_HOSTS, &p, &c,
	    test_err()));
	for (size_t i = 0; i < c.n; i++) {
		assert_near(c.n_buckets[i], 20000, 0);
		lost += c.cause[i] != ALGO_LOSS_NONE;
		accused += c.cause[i] == ALGO_LOSS_LINK;
	}
	print_message("seed %llu, RTO %u ms: %u hosts lost something, %u are "
		      "accused\n",
	    (unsigned long long)test_seed(), rto_ms, lost, accused);
	assert_int_equal(lost, N_HOSTS);
	assert_in_range(accused, 0, N_ACCUSED);
	algo_loss_causes_free(&c);
	sampled_free(&s);
}

static void many_buckets_of_innocents_accuse_nobody(void **state)
{
	(void)state;
	many_buckets_of_innocents(5);
	many_buckets_of_innocents(200);
}

/* --- as a diagnoser -------------------------------------------------------- */
static void open_net(struct topo *t)
{
	const struct topo_clos shape = {.n_pods = 1,
	    .n_tors = 2,
	    .n_t1 = 2,
	    .n_t2 = 0,
	    .n_hosts = 5};
	assert_ok(topo_open_clos(t, &shape, test_err()));
}

static void links_are_accused_and_flows_blamed(void **state)
{
	struct sampled s = {0};
	struct algo_verdicts v = {0};
	struct topo t = {0};
	struct sim_rng r;
	void *work;
	(void)state;
	open_net(&t);
	test_rng(&r, 77);
	/* Not in the order of hosts. */
	sampled_draw(&s, 8, &(struct sampled_law){.rate = .01, .loss = .01},
	    &r);
	sampled_draw(&s, 2,
	    &(struct sampled_law){.rate = .05, .marked = .8, .full = .3}, &r);
	sampled_draw(&s, 4, &(struct sampled_law){.rate = .02}, &r);
	sampled_draw(&s, 3, &(struct sampled_law){.rate = .01, .loss = 1e-3},
	    &r);
	struct obs w = sampled_window(&s);
	const topo_link down8 = topo_link_of(8, TOPO_DOWN);
	const topo_link down3 = topo_link_of(3, TOPO_DOWN);
	WINDOW_ADD(&w, 1, topo_link_of(0, TOPO_UP), down8);
	WINDOW_ADD(&w, 1, topo_link_of(0, TOPO_UP), topo_link_of(2, TOPO_DOWN));
	WINDOW_ADD(&w, 0, topo_link_of(0, TOPO_UP), down3);
	assert_ok(algo_open(&algo_loss_cause_ops, &work, &t, NULL, test_err()));
	assert_ok(algo_loss_cause_ops.diagnose(work, &w, NULL, &v, test_err()));
	assert_int_equal(v.kind, ALGO_KIND_LINK);
	assert_int_equal(v.n_flagged, 2);
	assert_int_equal(v.link[0], down8);
	assert_int_equal(v.link[1], down3);
	assert_true(v.score[0] > v.score[1] && v.score[1] > 2);
	assert_int_equal(v.n, 3);
	assert_int_equal(v.link[2], topo_link_of(2, TOPO_DOWN));
	assert_true(v.score[2] >= 0 && v.score[2] < 3);
	assert_int_equal(v.blame[0], down8);
	assert_int_equal(v.blame[1], TOPO_NONE);
	assert_int_equal(v.blame[2], TOPO_NONE);
	/* A run of a host that is not there. */
	struct sim_err e = {0};
	s.runs.host[0] = t.n_hosts;
	assert_int_equal(algo_loss_cause_ops.diagnose(work, &w, NULL, &v, &e),
	    SIM_EINVAL);
	assert_string_equal(e.msg,
	    "run 0 is of host 10, but there are only 10 hosts.");
	algo_close(&algo_loss_cause_ops, work);
	algo_verdicts_free(&v);
	obs_free(&w);
	sampled_free(&s);
	topo_close(&t);
}

static void each_allocation_may_fail(void **state)
{
	struct sampled s = {0};
	struct sampled_given g = {.ops = &algo_loss_cause_ops};
	(void)state;
	open_net(&g.t);
	for (uint32_t h = 0; h < 2; h++) {
		sampled_run(&s, h, 10);
		sampled_row(&s,
		    (struct obs_sample){.in_bytes = 3000, .in_retx = 1500});
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
	    cmocka_unit_test(hosts_that_lost_nothing_have_no_cause),
	    cmocka_unit_test(random_tables_are_judged_as_by_the_oracle),
	    cmocka_unit_test(runs_of_a_host_count_together),
	    cmocka_unit_test(full_buffers_are_told_from_bad_links),
	    cmocka_unit_test(many_buckets_of_innocents_accuse_nobody),
	    cmocka_unit_test(links_are_accused_and_flows_blamed),
	    cmocka_unit_test(each_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/millisampler/loss_cause",
	    tests, NULL, NULL);
}
