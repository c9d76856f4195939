/* tests/models/rack/buffer_test.c -- how ports share a buffer: by what limits say.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Segments are of a byte, so that what is dropped is what is too much, rounded.
 */
#include <math.h>

#include "models/rack/impl.h"
#include "tests/test.h"

enum { PORTS = 6, DRAIN = 1000 };

/* A quadrant of some ports, in which others are idle. */
struct quadrant {
	struct rack r;
	struct rack_port port[PORTS];
	struct rack_group g;
	uint32_t list[PORTS];
};

static void fill(struct quadrant *q, enum rack_policy policy, double shared,
    double alpha, uint32_t run)
{
	struct sim_rng r;
	test_rng(&r, run);
	*q = (struct quadrant){.r = {.p = {.policy = policy,
					 .shared = shared,
					 .alpha = alpha,
					 .segment = 1},
				   .drain = DRAIN,
				   .part = 8,
				   .key = {run, 7}}};
	q->r.port = q->port;
	q->g.port = q->list;
	q->g.n = 1 + sim_rng_below(&r, PORTS);
	for (uint32_t i = 0; i < PORTS; i++) {
		q->port[i].draw_name = i;
		q->port[i].queue = sim_rng_below(&r, 4) * 700;
		q->port[i].arrived =
		    sim_rng_below(&r, 3) * sim_rng_below(&r, 4000);
		/* Others than the first are in use. */
		if (i < q->g.n)
			q->list[i] = PORTS - 1 - i;
	}
}

/* What the queue comes to with all that came, with nothing, and with LIMIT. */
static double wish(const struct rack_port *p)
{
	return fmax(0, (double)p->queue + p->arrived - DRAIN);
}

static double least(const struct rack_port *p)
{
	return fmax(0, (double)p->queue - DRAIN);
}

static double allowed(const struct rack_port *p, double limit)
{
	return fmin(wish(p), fmax(limit, least(p)));
}

static double sum_allowed(const struct quadrant *q, double limit)
{
	double sum = 0;
	for (uint32_t i = 0; i < q->g.n; i++)
		sum += allowed(&q->port[q->list[i]], limit);
	return sum;
}

/* EXCESS bytes of P were dropped, up to one, and no more than came. */
static void assert_dropped(const struct rack_port *p, double excess)
{
	assert_true(p->dropped <= p->arrived);
	/* What loses nothing draws nothing: no other port's numbers move. */
	assert_int_equal(p->n_draws, excess > 0);
	if (excess <= 0)
		assert_int_equal(p->dropped, 0);
	else
		assert_true(p->dropped >= floor(excess) &&
		    p->dropped <= fmin(floor(excess) + 1, p->arrived));
}

static void assert_limit(const struct quadrant *q, double limit)
{
	for (uint32_t i = 0; i < PORTS; i++) {
		const struct rack_port *p = &q->port[i];
		if (i >= PORTS - q->g.n)
			assert_dropped(p, wish(p) - allowed(p, limit));
		else
			assert_int_equal(p->dropped, 0);
	}
}

/* T = alpha (B - what T allows), to a byte and a half; where no queue comes to
 * that nothing is dropped. */
static void the_dynamic_limit_solves_its_equation(void **state)
{
	static const double alphas[] = {0.25, 1, 8};
	unsigned n_met = 0, n_free = 0;
	(void)state;
	for (uint32_t run = 0; run < 600; run++) {
		struct quadrant q;
		const double a = alphas[run % 3], b = 2000 + 10 * run;
		fill(&q, RACK_DYNAMIC, b, a, run);
		rack_buffer_share(&q.r, &q.g);
		double most = 0;
		for (uint32_t i = 0; i < q.g.n; i++)
			most = fmax(most, wish(&q.port[q.list[i]]));
		if (most <= a * (b - sum_allowed(&q, INFINITY))) {
			assert_true(q.g.limit == 0);
			assert_limit(&q, INFINITY);
			n_free++;
			continue;
		}
		const double t = q.g.limit;
		assert_true(t >= 0 && t == floor(t));
		assert_true(t == 0 || a * (b - sum_allowed(&q, t)) >= t);
		assert_true(a * (b - sum_allowed(&q, t + 1.5)) <= t + 1.5);
		assert_limit(&q, t);
		n_met++;
	}
	assert_true(n_met > 100 && n_free > 100);
}

static void the_static_limit_is_an_equal_part(void **state)
{
	unsigned n_met = 0;
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		struct quadrant q;
		fill(&q, RACK_STATIC, 8000, 1, run);
		rack_buffer_share(&q.r, &q.g);
		assert_limit(&q, 1000);
		n_met += q.g.limit == 1000;
		assert_true(q.g.limit == 1000 || q.g.limit == 0);
	}
	assert_true(n_met > 50 && n_met < 200);
}

/* What is too much is taken of each by what came to it, beyond what the line took
 * of that; there is always enough for what was there before. */
static void without_a_limit_all_lose_alike(void **state)
{
	unsigned n_met = 0;
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		struct quadrant q;
		double sum = 0, came = 0;
		const double b = 6000 + 10 * run;
		fill(&q, RACK_COMPLETE, b, 1, run);
		rack_buffer_share(&q.r, &q.g);
		for (uint32_t i = 0; i < q.g.n; i++) {
			const struct rack_port *p = &q.port[q.list[i]];
			sum += wish(p);
			came += wish(p) - least(p);
		}
		if (sum <= b) {
			assert_limit(&q, INFINITY);
			continue;
		}
		n_met++;
		assert_true(q.g.limit == b);
		for (uint32_t i = 0; i < q.g.n; i++) {
			const struct rack_port *p = &q.port[q.list[i]];
			assert_dropped(p,
			    (sum - b) * (wish(p) - least(p)) / came);
		}
	}
	assert_true(n_met > 30);
}

/* Queues that just fit lose nothing, under each policy; one byte more does. */
static void what_just_fits_is_kept(void **state)
{
	(void)state;
	for (uint32_t more = 0; more < 2; more++)
		for (unsigned policy = 0; policy < 3; policy++) {
			struct quadrant q;
			uint32_t n = 0;
			fill(&q, policy, policy == RACK_STATIC ? 8000 : 2000, 1,
			    1);
			q.g.n = 2;
			for (uint32_t i = 0; i < PORTS; i++) {
				q.port[i].queue = 500;
				/* 1000 is what each limit allows then; without
				 * one two of these are all there is. */
				q.port[i].arrived = DRAIN + 500;
			}
			/* By half: T = 2000 - 2 T. */
			if (policy == RACK_DYNAMIC)
				q.r.p.shared = 3000;
			q.port[q.list[1]].arrived += more;
			rack_buffer_share(&q.r, &q.g);
			for (uint32_t i = 0; i < PORTS; i++)
				n += q.port[i].dropped;
			/* A limit is met by what is above it. */
			assert_int_equal(q.g.limit > 0, more);
			/* A dynamic limit is a byte less for two then. */
			assert_in_range(n, more, more ? 3 : 0);
		}
}

/* Of a segment of 100 bytes that is too much in part it is a matter of chance: five
 * standard deviations are passed once in 1.7 million. */
static void parts_of_segments_are_dropped_by_chance(void **state)
{
	enum { N = 4000 };
	double sum = 0;
	struct quadrant q;
	(void)state;
	fill(&q, RACK_STATIC, 8000, 1, 5);
	q.r.p.segment = 100;
	q.g.n = 1;
	struct rack_port *p = &q.port[q.list[0]];
	p->queue = 500;
	p->arrived = 20; /* 2000 bytes: 1500 are left, of which 1000 may be */
	for (unsigned i = 0; i < N; i++) {
		q.r.p.shared = 8 * 1000 + 8 * 30;
		p->dropped = 0;
		rack_buffer_share(&q.r, &q.g);
		assert_in_range(p->dropped, 4, 5);
		sum += p->dropped;
	}
	assert_near(sum / N, 4.7, 5 * sqrt(0.21 / N));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_dynamic_limit_solves_its_equation),
	    cmocka_unit_test(the_static_limit_is_an_equal_part),
	    cmocka_unit_test(without_a_limit_all_lose_alike),
	    cmocka_unit_test(what_just_fits_is_kept),
	    cmocka_unit_test(parts_of_segments_are_dropped_by_chance),
	};
	return cmocka_run_group_tests_name("models/rack/buffer", tests, NULL,
	    NULL);
}
