/* tests/models/scene/tcp_test.c -- connections in closed form, and as played.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The oracle plays each packet (tests/rigs/reference.h). 8 cases of a chi-square at
 * level 1e-6 each for outcomes and for links, and 8 of 4.5 standard errors
 * (7e-6): under a random seed one fires in 1 of 14,000 runs. The seeds are
 * fixed.
 */
#include <math.h>

#include "models/scene/loss.h"
#include "models/scene/tcp.h"
#include "tests/rigs/law.h"
#include "tests/rigs/reference.h"
#include "tests/test.h"

enum { DRAWS = 60000 };

static const struct scene_tcp_params all =
    {.resend = 15, .syn = 1, .acks = 1, .fin = 1, .window = 4, .quick = 3};

/* A connection over two links there and three back. */
struct talk_case {
	struct scene_tcp_params p;
	uint32_t n;
	double there[2], back[3];
};

static const struct talk_case cases[] = {
    {{.resend = 1}, 5, {0.1, 0.2}, {0.5, 0.5, 0.5}},
    {{.resend = 3}, 40, {0.03, 0}, {0, 0, 0}},
    {{.resend = 2, .syn = 1}, 3, {0.2, 0.1}, {0, 0.3, 0}},
    {{.resend = 15, .acks = 1, .window = 2, .quick = 9}, 9, {0, 0},
	{0.2, 0, 0.1}},
    {{.resend = 15, .fin = 1}, 4, {0, 0.15}, {0.1, 0, 0.2}},
    {{.resend = 15, .syn = 1, .acks = 1, .fin = 1, .window = 4, .quick = 3}, 11,
	{0.1, 0.2}, {0.1, 0.2, 0.05}},
    {{.resend = 2, .syn = 1, .acks = 1, .fin = 1, .window = 1, .quick = 0}, 2,
	{0.4, 0.4}, {0.1, 0.5, 0.2}},
    {{.resend = 15, .syn = 1, .acks = 1, .fin = 1, .window = 47, .quick = 21},
	100, {0, 0.002}, {0.004, 0, 0}},
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

static void set_ways(const struct talk_case *c, struct scene_tcp_way way[2])
{
	way[0] = (struct scene_tcp_way){.h = 2};
	way[1] = (struct scene_tcp_way){.h = 3};
	memcpy(way[0].hazard, c->there, sizeof(c->there));
	memcpy(way[1].hazard, c->back, sizeof(c->back));
}

/* Outcomes as cells: repeats in all, early ones, those of the FIN, and what the
 * first link lost. */
enum { MANY = 12, FEW = 4, CELLS = MANY * FEW * FEW * MANY, LINKS = 5 };

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

struct tally {
	uint64_t cell[CELLS];
	struct law_mean drops[LINKS], lossy;
};

static void tally_add(struct tally *t, const struct scene_tcp_way way[2],
    const struct scene_tcp_end *end, int lossy)
{
	const uint32_t at = ((least(end->n_retx, MANY - 1) * FEW +
				 least(end->n_early, FEW - 1)) *
				    FEW +
				least(end->n_back, FEW - 1)) *
		MANY +
	    least(way[0].drops[0] + way[0].drops[1], MANY - 1);
	t->cell[at]++;
	for (unsigned i = 0; i < LINKS; i++)
		/* Of the way back all is known only where it is a row. */
		law_add(&t->drops[i],
		    i < 2                 ? way[0].drops[i]
			: end->n_back > 0 ? way[1].drops[i - 2]
					  : 0);
	law_add(&t->lossy, lossy);
}

static void play(const struct talk_case *c, uint32_t run, struct tally *t)
{
	gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(r, test_seed() + run);
	for (unsigned i = 0; i < DRAWS; i++) {
		struct scene_tcp_way way[2];
		struct scene_tcp_end end = {0};
		set_ways(c, way);
		const int lossy =
		    reference_connection(r, &c->p, c->n, way, &end);
		tally_add(t, way, &end, lossy);
	}
	gsl_rng_free(r);
}

static double weight_of_case(const struct talk_case *c)
{
	return scene_tcp_weight(&c->p, c->n, c->there[0] + c->there[1],
	    c->back[0] + c->back[1] + c->back[2]);
}

static void draw(const struct talk_case *c, uint32_t run, struct tally *t)
{
	struct sim_rng r;
	test_rng(&r, run);
	for (unsigned i = 0; i < DRAWS; i++) {
		struct scene_tcp_way way[2];
		struct scene_tcp_end end = {0};
		set_ways(c, way);
		const int lossy = sim_rng_u01(&r) < -expm1(-weight_of_case(c));
		if (lossy)
			scene_tcp_draw(&r, &c->p, c->n, &way[0], &way[1], &end);
		tally_add(t, way, &end, lossy);
	}
}

static void the_law_is_that_of_a_connection_packet_by_packet(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < N_CASES; k++) {
		static struct tally got, want;
		memset(&got, 0, sizeof(got));
		memset(&want, 0, sizeof(want));
		draw(&cases[k], k, &got);
		play(&cases[k], k, &want);
		const double p = law_chi2_equal(got.cell, want.cell, CELLS);
		if (p < 1e-6)
			fail_msg("case %u, seed %ju: p = %g", k,
			    (uintmax_t)test_seed(), p);
		for (unsigned i = 0; i < LINKS; i++) {
			const double d =
			    law_mean(&got.drops[i]) - law_mean(&want.drops[i]);
			const double se = hypot(law_se(&got.drops[i]),
			    law_se(&want.drops[i]));
			if (fabs(d) > 4.5 * se)
				fail_msg("case %u, link %u, seed %ju: %g more "
					 "drops, %.2f standard errors",
				    k, i, (uintmax_t)test_seed(), d, d / se);
		}
		const double z =
		    law_z(&want.lossy, -expm1(-weight_of_case(&cases[k])));
		if (!(fabs(z) < 4.5))
			fail_msg("case %u: the closed form is %.2f standard "
				 "errors off",
			    k, z);
	}
}

/* SYN, ACK, n, RST there; SYN-ACK, an answer after each full window but the
 * last, FIN back. */
static void the_weight_counts_the_packets_that_matter(void **state)
{
	(void)state;
	struct scene_tcp_params p = all;
	assert_float_equal(scene_tcp_weight(&p, 9, 1, 0), 12, 0);
	assert_float_equal(scene_tcp_weight(&p, 9, 0, 1), 4, 0);
	assert_float_equal(scene_tcp_weight(&p, 8, 0, 1), 3, 0);
	assert_float_equal(scene_tcp_weight(&p, 4, 0, 1), 2, 0);
	assert_float_equal(scene_tcp_weight(&p, 1, 2, 1), 10, 0);
	p = (struct scene_tcp_params){.resend = 1, .window = 4};
	assert_float_equal(scene_tcp_weight(&p, 9, 2, INFINITY), 18, 0);
	p.acks = 1;
	p.window = 1;
	for (uint32_t n = 1; n < 200; n++)
		assert_true(
		    scene_tcp_weight(&p, n, 1, 1) <= (n + SCENE_TCP_MORE) * 2);
}

/* A link that loses all: the SYN is tried again, and nothing else is sent. */
static void nothing_gets_over_a_dead_link(void **state)
{
	(void)state;
	struct sim_rng r;
	test_rng(&r, 0);
	for (unsigned i = 0; i < 100; i++) {
		struct scene_tcp_way there = {.h = 2, .hazard = {0, INFINITY}},
				     back = {.h = 1};
		struct scene_tcp_end end;
		scene_tcp_draw(&r, &all, 50, &there, &back, &end);
		assert_int_equal(there.drops[0], 0);
		assert_int_equal(there.drops[1], 16);
		assert_int_equal(end.n_retx, 15);
		assert_int_equal(end.n_early, 15);
		assert_int_equal(end.n_back, 0);
		/* The answers die instead: no packet there is lost. */
		there.hazard[1] = 0;
		back.hazard[0] = INFINITY;
		scene_tcp_draw(&r, &all, 50, &there, &back, &end);
		assert_int_equal(there.drops[1], 0);
		assert_int_equal(end.n_early, 15);
		assert_int_equal(end.n_retx, 15);
		/* Without a handshake the data does, as often. */
		struct scene_tcp_params p = all;
		p.syn = 0;
		there.hazard[1] = INFINITY;
		scene_tcp_draw(&r, &p, 50, &there, &back, &end);
		assert_int_equal(there.drops[1], 50 * 16);
		assert_int_equal(end.n_retx, 50 * 15);
		assert_int_equal(end.n_early, end.n_retx);
		assert_int_equal(end.n_back, 0);
	}
}

static void what_makes_no_sense_is_refused(void **state)
{
	(void)state;
	struct sim_err e;
	struct scene_tcp_params p = {.acks = 1, .window = 47};
	assert_int_equal(scene_tcp_check(&p, 100, &e), SIM_EINVAL);
	assert_non_null(strstr(e.msg, "resend must be at least 1."));
	p.resend = 15;
	assert_ok(scene_tcp_check(&p, 1e8, &e));
	assert_int_equal(scene_tcp_check(&p, 1e9, &e), SIM_ELIMIT);
	p = (struct scene_tcp_params){0};
	assert_ok(scene_tcp_check(&p, 1e9, &e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_law_is_that_of_a_connection_packet_by_packet),
	    cmocka_unit_test(the_weight_counts_the_packets_that_matter),
	    cmocka_unit_test(nothing_gets_over_a_dead_link),
	    cmocka_unit_test(what_makes_no_sense_is_refused),
	};
	return cmocka_run_group_tests_name("models/scene/tcp", tests, NULL,
	    NULL);
}
