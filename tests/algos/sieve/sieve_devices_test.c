/* tests/algos/sieve/sieve_devices_test.c -- switches as what makes links fail.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Counts by hand, and odds against the law that they are of: J of M links fail
 * when a share of them does that is drawn from Beta(3, 1).
 */
#include "algos/sieve/sieve_devices.h"

#include "algos/sieve/sieve_search.h"
#include "tests/test.h"
#include "topo/clos.h"

struct devices_rig {
	struct topo t;
	struct sieve_search s;
	struct sieve_devices *d;
	topo_switch tor, t1;
	topo_link link; /* from the T1 to the ToR */
};

/* All links were passed, but those out of the last T2. */
static void devices_open(struct devices_rig *x)
{
	static const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 3,
	    .n_t1 = 2,
	    .n_t2 = 2,
	    .n_hosts = 4};
	*x = (struct devices_rig){.d = NULL};
	assert_ok(topo_open_clos(&x->t, &shape, test_err()));
	x->tor = topo_clos_tor(&x->t.clos, 0, 1);
	x->t1 = topo_clos_t1(&x->t.clos, 0, 0);
	x->link = topo_link_between(&x->t, x->t.n_hosts + x->t1,
	    x->t.n_hosts + x->tor);
	x->s.model.topo = &x->t;
	x->s.model.passed = calloc(x->t.n_links, sizeof(*x->s.model.passed));
	assert_non_null(x->s.model.passed);
	for (topo_link l = 0; l < x->t.n_links; l++) {
		topo_node from, to;
		topo_link_ends(&x->t, l, &from, &to);
		x->s.model.passed[l] =
		    from != x->t.n_hosts + x->t.n_switches - 1;
	}
	x->d = &x->s.devices;
	assert_ok(sieve_devices_begin(&x->s, test_err()));
}

static void devices_close(struct devices_rig *x)
{
	sieve_devices_free(x->d);
	free(x->s.model.passed);
	topo_close(&x->t);
}

/* Each link is of both its switches, each way; cables have one. */
static void a_switch_has_the_links_that_packets_crossed(void **state)
{
	struct devices_rig x;
	(void)state;
	devices_open(&x);
	for (topo_switch k = 0; k < x.t.n_switches; k++) {
		uint32_t n = 0;
		for (topo_link l = 0; l < x.t.n_links; l++) {
			topo_node from, to;
			topo_link_ends(&x.t, l, &from, &to);
			n += x.s.model.passed[l] > 0 &&
			    (from == x.t.n_hosts + k || to == x.t.n_hosts + k);
		}
		assert_int_equal(x.d->at[k].n_links, n);
		assert_int_equal(x.d->at[k].n_failed, 0);
		assert_int_equal(x.d->at[k].accused, 0);
	}
	/* 4 cables and 2 T1s; what the last T2 sends to 4 T1s is not there. */
	assert_int_equal(x.d->at[x.tor].n_links, 12);
	assert_int_equal(x.d->at[x.t.n_switches - 1].n_links, 4);
	/* To begin again is to forget. */
	sieve_devices_count(x.d, x.link, 1);
	x.d->at[x.tor].accused = 1;
	x.d->n_accused = 1;
	assert_ok(sieve_devices_begin(&x.s, test_err()));
	assert_int_equal(x.d->at[x.tor].n_failed, 0);
	assert_int_equal(x.d->at[x.tor].n_links, 12);
	assert_int_equal(x.d->at[x.tor].accused, 0);
	assert_int_equal(x.d->n_accused, 0);
	devices_close(&x);
}

static void failed_links_count_at_both_ends(void **state)
{
	struct devices_rig x;
	(void)state;
	devices_open(&x);
	const topo_link cable = topo_link_of(4, TOPO_UP);
	sieve_devices_count(x.d, x.link, 1);
	sieve_devices_count(x.d, topo_link_reverse(x.link), 1);
	sieve_devices_count(x.d, cable, 1);
	for (topo_switch k = 0; k < x.t.n_switches; k++)
		assert_int_equal(x.d->at[k].n_failed,
		    k == x.tor      ? 3
			: k == x.t1 ? 2
				    : 0);
	sieve_devices_count(x.d, x.link, -1);
	assert_int_equal(x.d->at[x.tor].n_failed, 2);
	assert_int_equal(x.d->at[x.t1].n_failed, 1);
	devices_close(&x);
}

static void a_link_is_of_the_accused_with_most_failed(void **state)
{
	struct devices_rig x;
	(void)state;
	devices_open(&x);
	struct sieve_device *tor = &x.d->at[x.tor], *t1 = &x.d->at[x.t1];
	assert_int_equal(sieve_devices_of(x.d, x.link, TOPO_NONE), TOPO_NONE);
	tor->n_failed = 3;
	t1->n_failed = 4;
	t1->accused = 1;
	x.d->n_accused = 1;
	for (int i = 0; i < 2; i++) {
		const topo_link l = i ? topo_link_reverse(x.link) : x.link;
		assert_int_equal(sieve_devices_of(x.d, l, TOPO_NONE), x.t1);
		assert_int_equal(sieve_devices_of(x.d, l, x.t1), TOPO_NONE);
		assert_int_equal(sieve_devices_of(x.d, l, x.tor), x.t1);
	}
	const topo_link cable = topo_link_of(4, TOPO_UP);
	assert_int_equal(sieve_devices_of(x.d, cable, TOPO_NONE), TOPO_NONE);
	tor->accused = 1;
	x.d->n_accused = 2;
	assert_int_equal(sieve_devices_of(x.d, cable, TOPO_NONE), x.tor);
	for (int i = 0; i < 2; i++) {
		const topo_link l = i ? topo_link_reverse(x.link) : x.link;
		t1->n_failed = 4;
		assert_int_equal(sieve_devices_of(x.d, l, TOPO_NONE), x.t1);
		assert_int_equal(sieve_devices_of(x.d, l, x.t1), x.tor);
		t1->n_failed = 2;
		assert_int_equal(sieve_devices_of(x.d, l, TOPO_NONE), x.tor);
		assert_int_equal(sieve_devices_of(x.d, l, x.tor), x.t1);
	}
	devices_close(&x);
}

/* Of a tie it is the one that the link leaves. */
static void of_two_alike_it_is_the_first(void **state)
{
	struct devices_rig x;
	(void)state;
	devices_open(&x);
	x.d->at[x.tor].accused = x.d->at[x.t1].accused = 1;
	x.d->n_accused = 2;
	assert_int_equal(sieve_devices_of(x.d, x.link, TOPO_NONE), x.t1);
	assert_int_equal(sieve_devices_of(x.d, topo_link_reverse(x.link),
			     TOPO_NONE),
	    x.tor);
	devices_close(&x);
}

/* The chance that just J given ones of M links fail: the mean of p^j (1 - p)^(m -
 * j) over Beta(3, 1), by Simpson's rule. */
static double chance_of(unsigned j, unsigned m)
{
	enum { N = 2000 };
	double sum = 0;
	for (unsigned i = 0; i <= N; i++) {
		const double p = (double)i / N;
		const double w = i == 0 || i == N ? 1 : i % 2 ? 4 : 2;
		sum += w * 3 * p * p * pow(p, j) * pow(1 - p, m - j);
	}
	return sum / (3 * N);
}

static void links_of_a_switch_fail_by_their_law(void **state)
{
	struct devices_rig x;
	(void)state;
	devices_open(&x);
	struct sieve_device *k = &x.d->at[x.tor];
	for (k->n_failed = 0; k->n_failed < 12; k->n_failed++) {
		const double here = chance_of(k->n_failed, 12),
			     more = chance_of(k->n_failed + 1, 12);
		assert_near(sieve_devices_factor(&x.s, x.tor), log(here), 1e-6);
		/* One more; or one of those that are counted. */
		assert_near(sieve_devices_odds(x.d, x.tor, 0), log(more / here),
		    1e-6);
		if (k->n_failed > 0)
			assert_near(sieve_devices_odds(x.d, x.tor, 1),
			    log(here / chance_of(k->n_failed - 1, 12)), 1e-6);
	}
	/* All have failed already: as if one were left. */
	assert_near(sieve_devices_odds(x.d, x.tor, 0), log(15), 1e-12);
	devices_close(&x);
}

/* What its failed links have themselves is in the factor; not what those have
 * that are another accused switch's, nor what did not fail. */
static void the_factor_has_what_its_links_have(void **state)
{
	struct devices_rig x;
	(void)state;
	devices_open(&x);
	uint8_t *failed = calloc(x.t.n_links, 1);
	assert_non_null(failed);
	const topo_link back = topo_link_reverse(x.link);
	struct sieve_candidate list[3] = {{.link = x.link}, {.link = back},
	    {.link = topo_link_of(4, TOPO_UP)}};
	list[0].found.ln_factor = 5;
	list[1].found.ln_factor = 70;
	list[2].found.ln_factor = 900;
	x.s.list = list;
	x.s.n = 3;
	x.s.failed = failed;
	failed[x.link] = failed[list[2].link] = 1;
	sieve_devices_count(x.d, x.link, 1);
	sieve_devices_count(x.d, list[2].link, 1);
	x.d->at[x.tor].accused = 1;
	x.d->n_accused = 1;
	assert_near(sieve_devices_factor(&x.s, x.tor),
	    905 + log(chance_of(2, 12)), 1e-6);
	/* Two more failed at the T1, so the link is rather of that. */
	x.d->at[x.t1].accused = 1;
	x.d->n_accused = 2;
	x.d->at[x.t1].n_failed = 3;
	assert_near(sieve_devices_factor(&x.s, x.tor),
	    900 + log(chance_of(2, 12)), 1e-6);
	free(failed);
	devices_close(&x);
}

static int devices_anew(void *arg, struct sim_err *e)
{
	struct devices_rig *x = arg;
	sieve_devices_free(x->d);
	*x->d = (struct sieve_devices){.n_accused = 0};
	return sieve_devices_begin(&x->s, e);
}

static void running_out_of_memory_is_told(void **state)
{
	struct devices_rig x;
	(void)state;
	devices_open(&x);
	test_each_alloc_fails(devices_anew, &x);
	devices_close(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_switch_has_the_links_that_packets_crossed),
	    cmocka_unit_test(failed_links_count_at_both_ends),
	    cmocka_unit_test(a_link_is_of_the_accused_with_most_failed),
	    cmocka_unit_test(of_two_alike_it_is_the_first),
	    cmocka_unit_test(links_of_a_switch_fail_by_their_law),
	    cmocka_unit_test(the_factor_has_what_its_links_have),
	    cmocka_unit_test(running_out_of_memory_is_told),
	};
	return cmocka_run_group_tests_name("algos/sieve/sieve_devices", tests,
	    NULL, NULL);
}
