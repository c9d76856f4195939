/* tests/models/truth_test.c -- look-ups in the truth against plain searches.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * No law is tested here, only equality.
 */
#include "models/truth.h"

#include "sim/rng.h"
#include "tests/test.h"
#include "topo/topo.h"

static struct truth_hole hole_at(topo_switch s, double share, uint64_t salt,
    sim_ns from, sim_ns to)
{
	struct truth_hole h = {.at = s, .from_ns = from, .to_ns = to};
	assert_ok(blackhole_rule_init(&h.rule,
	    salt % 2 ? BLACKHOLE_RULE_PAIR : BLACKHOLE_RULE_TUPLE, share, salt,
	    test_err()));
	return h;
}

static void an_empty_truth_swallows_nothing_and_has_no_outage(void **state)
{
	(void)state;
	const struct truth t = {0};
	const struct topo_tuple tuple = {.src_ip = 1, .dst_ip = 2};
	assert_int_equal(truth_first_hole(&t, 0), 0);
	assert_false(truth_swallows(&t, 0, &tuple, 0));
	assert_false(truth_swallows(&t, TOPO_NONE, &tuple, 0));
	assert_null(truth_outage_at(&t, TRUTH_HOST_OFF, 0, 0));
	assert_false(truth_has_host_off(&t));
}

/* The first moment belongs to it and the last does not. */
static void a_hole_takes_packets_in_its_time_only(void **state)
{
	(void)state;
	struct truth t = {0};
	const struct topo_tuple tuple = {.src_ip = 1, .dst_ip = 2};
	const struct truth_hole h = hole_at(7, 1, 1, 10, 20);
	assert_ok(truth_add_hole(&t, &h, test_err()));
	truth_sort(&t);
	static const sim_ns at[] = {0, 9, 10, 19, 20, SIM_NEVER};
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(truth_swallows(&t, 7, &tuple, at[i]),
		    i == 2 || i == 3);
		assert_false(truth_swallows(&t, 6, &tuple, at[i]));
		assert_false(truth_swallows(&t, 8, &tuple, at[i]));
	}
	assert_int_equal(truth_first_hole(&t, 6), 1);
	assert_int_equal(truth_first_hole(&t, 7), 0);
	assert_int_equal(truth_first_hole(&t, 8), 1);
	truth_free(&t);
}

static int swallows_by_search(const struct truth *t, topo_switch s,
    const struct topo_tuple *tuple, sim_ns at)
{
	for (size_t i = 0; i < t->n_holes; i++)
		if (t->hole[i].at == s && t->hole[i].from_ns <= at &&
		    at < t->hole[i].to_ns &&
		    blackhole_rule_drops(&t->hole[i].rule, tuple))
			return 1;
	return 0;
}

static size_t first_by_search(const struct truth *t, topo_switch s)
{
	size_t i = 0;
	while (i < t->n_holes && t->hole[i].at != s)
		i++;
	return i;
}

static void holes_are_found_as_by_a_search_of_all(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		struct truth t = {0};
		struct sim_rng r;
		test_rng(&r, run);
		for (uint32_t n = sim_rng_below(&r, 12); n > 0; n--) {
			const sim_ns from = sim_rng_below(&r, 8);
			const struct truth_hole h =
			    hole_at(sim_rng_below(&r, 6), 0.3, sim_rng_u32(&r),
				from, from + sim_rng_below(&r, 8));
			assert_ok(truth_add_hole(&t, &h, test_err()));
		}
		truth_sort(&t);
		for (size_t i = 1; i < t.n_holes; i++)
			assert_true(t.hole[i - 1].at < t.hole[i].at ||
			    (t.hole[i - 1].at == t.hole[i].at &&
				t.hole[i - 1].from_ns <= t.hole[i].from_ns));
		for (int k = 0; k < 200; k++) {
			const topo_switch s = sim_rng_below(&r, 7);
			const sim_ns at = sim_rng_below(&r, 18);
			const struct topo_tuple tuple = {.src_ip =
							     sim_rng_u32(&r),
			    .dst_ip = sim_rng_u32(&r),
			    .src_port = 80,
			    .proto = TOPO_PROTO_TCP};
			assert_int_equal(truth_swallows(&t, s, &tuple, at),
			    swallows_by_search(&t, s, &tuple, at));
			assert_int_equal(truth_first_hole(&t, s),
			    first_by_search(&t, s));
		}
		truth_free(&t);
	}
}

/* The outage of this kind and id that is active at AT; of several, the one that
 * began first. */
static const struct truth_outage *outage_by_search(const struct truth *t,
    enum truth_outage_kind kind, uint32_t id, sim_ns at)
{
	const struct truth_outage *first = NULL;
	for (size_t i = 0; i < t->n_outages; i++) {
		const struct truth_outage *o = &t->outage[i];
		if (o->kind == kind && o->id == id && o->from_ns <= at &&
		    at < o->to_ns && (!first || o->from_ns < first->from_ns))
			first = o;
	}
	return first;
}

static void outages_are_found_as_by_a_search_of_all(void **state)
{
	(void)state;
	unsigned n_found = 0;
	for (uint32_t run = 0; run < 200; run++) {
		struct truth t = {0};
		struct sim_rng r;
		int any = 0;
		test_rng(&r, 1000 + run);
		for (uint32_t n = sim_rng_below(&r, 20); n > 0; n--) {
			const sim_ns from = sim_rng_below(&r, 8);
			const struct truth_outage o = {.kind = sim_rng_below(&r,
							   TRUTH_N_OUTAGES),
			    .id = sim_rng_below(&r, 3),
			    .from_ns = from,
			    .to_ns = from + sim_rng_below(&r, 8)};
			any |= o.kind <= TRUTH_POD_OFF;
			assert_ok(truth_add_outage(&t, &o, test_err()));
		}
		truth_sort(&t);
		assert_int_equal(truth_has_host_off(&t), any);
		for (unsigned kind = 0; kind < TRUTH_N_OUTAGES; kind++)
			for (uint32_t id = 0; id < 4; id++)
				for (sim_ns at = 0; at < 18; at++) {
					const struct truth_outage *got =
					    truth_outage_at(&t, kind, id, at);
					const struct truth_outage *want =
					    outage_by_search(&t, kind, id, at);
					assert_int_equal(got != NULL,
					    want != NULL);
					if (!want)
						continue;
					assert_int_equal(got->kind, kind);
					assert_int_equal(got->id, id);
					assert_int_equal(got->from_ns,
					    want->from_ns);
					n_found++;
				}
		truth_free(&t);
	}
	assert_true(n_found > 100);
}

static void the_largest_id_is_told_from_the_next_kinds_smallest(void **state)
{
	(void)state;
	struct truth t = {0};
	const struct truth_outage o[] = {
	    {.kind = TRUTH_HOST_OFF, .id = UINT32_MAX, .to_ns = 9},
	    {.kind = TRUTH_POD_OFF, .id = 0, .to_ns = 9},
	};
	for (int i = 1; i >= 0; i--)
		assert_ok(truth_add_outage(&t, &o[i], test_err()));
	truth_sort(&t);
	assert_ptr_equal(truth_outage_at(&t, TRUTH_HOST_OFF, UINT32_MAX, 0),
	    &t.outage[0]);
	assert_ptr_equal(truth_outage_at(&t, TRUTH_POD_OFF, 0, 0),
	    &t.outage[1]);
	assert_null(truth_outage_at(&t, TRUTH_HOST_OFF, 0, 0));
	truth_free(&t);
}

static void clearing_forgets_holes_and_outages(void **state)
{
	(void)state;
	struct truth t = {0};
	const struct topo_tuple tuple = {0};
	const struct truth_hole h = hole_at(0, 1, 1, 0, SIM_NEVER);
	const struct truth_outage o = {.to_ns = SIM_NEVER};
	assert_ok(truth_add_hole(&t, &h, test_err()));
	assert_ok(truth_add_outage(&t, &o, test_err()));
	truth_clear(&t);
	assert_false(truth_swallows(&t, 0, &tuple, 0));
	assert_null(truth_outage_at(&t, 0, 0, 0));
	truth_free(&t);
}

static void people_read_of_each_sort_the_first_fifty(void **state)
{
	static const char head[] =
	    "60 faults\n"
	    "  host0->tor0              link 0        rate 0.25\n"
	    "  tor0->host0              link 1        rate 0, delay 300 us, "
	    "from 1 s to 2.5 s\n";
	static const char tail[] =
	    "  tor12->host24            link 49       "
	    "rate 0.25\n"
	    "  and 10 more\n"
	    "1 black holes\n"
	    "  t1.1                     type 1, 0.125 of its entries\n"
	    "5 outages\n"
	    "  host3                    off, to 4 s\n"
	    "  host41                   off, to 9 s\n"
	    "  pod 1                    off\n"
	    "  controller               sending garbage, from 86400 s\n"
	    "  collector                slow by 5000 us\n";
	static const struct topo_clos shape = {2, 20, 2, 2, 2, .n_cables = 0};
	static const struct truth_outage outages[] = {
	    {TRUTH_COLLECTOR, TRUTH_SLOW, 0, 0, SIM_NEVER, 5000},
	    {TRUTH_CONTROLLER, TRUTH_GARBAGE, 0, 86400 * SIM_SEC, SIM_NEVER, 0},
	    {TRUTH_POD_OFF, TRUTH_DOWN, 1, 0, SIM_NEVER, 0},
	    {TRUTH_HOST_OFF, TRUTH_DOWN, 3, 0, 4 * SIM_SEC, 0},
	    /* Hosts of pod 1, of which the second is off for a shorter time
	     * than its pod. */
	    {TRUTH_HOST_OFF, TRUTH_DOWN, 40, 0, SIM_NEVER, 0},
	    {TRUTH_HOST_OFF, TRUTH_DOWN, 41, 0, 9 * SIM_SEC, 0},
	};
	struct truth t = {0};
	struct topo topo;
	char *text = NULL;
	size_t n;
	(void)state;
	assert_ok(topo_open_clos(&topo, &shape, test_err()));
	for (topo_link l = 0; l < 61; l++) {
		struct truth_fault f = {.link = l,
		    .rate = 0.25,
		    .to_ns = SIM_NEVER,
		    .of_hole = l == 60};
		if (l == 1)
			f = (struct truth_fault){.link = l,
			    .delay_us = 300,
			    .from_ns = SIM_SEC,
			    .to_ns = 2500 * SIM_MS};
		assert_ok(truth_add_fault(&t, &f, test_err()));
	}
	const struct truth_fault cut = {.link = topo_link_of(40, TOPO_DOWN),
	    .rate = 1,
	    .to_ns = SIM_NEVER};
	assert_ok(truth_add_fault(&t, &cut, test_err()));
	const struct truth_hole h = hole_at(41, 0.125, 1, 0, SIM_NEVER);
	assert_ok(truth_add_hole(&t, &h, test_err()));
	for (int i = 0; i < 6; i++)
		assert_ok(truth_add_outage(&t, &outages[i], test_err()));
	truth_sort(&t);
	FILE *out = open_memstream(&text, &n);
	truth_print(&t, &topo, out);
	fclose(out);
	if (strncmp(text, head, strlen(head)) != 0 || n < strlen(tail) ||
	    strcmp(text + n - strlen(tail), tail) != 0)
		fail_msg("prints:\n%s", text);
	free(text);
	truth_free(&t);
	topo_close(&topo);
}

/* Rules of a switch are applied in the order of the truth, those of its time and
 * packets alone: compared with a plain walk through all of them. */
static void choices_are_changed_by_a_switchs_rules(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		struct truth t = {0};
		struct sim_rng r;
		test_rng(&r, 500 + run);
		for (uint32_t i = sim_rng_below(&r, 12); i > 0; i--) {
			struct truth_route x = {.at = sim_rng_below(&r, 5),
			    .from_ns = sim_rng_below(&r, 10),
			    .rule = {.kind =
					 sim_rng_below(&r, ROUTE_RULE_N_KINDS),
				.first_ip = sim_rng_below(&r, 3),
				.last_ip = 3 + sim_rng_below(&r, 3),
				.salt = sim_rng_u32(&r),
				.link = sim_rng_below(&r, 9),
				.n_left = 1 + sim_rng_below(&r, 3),
				.weight = 2,
				.bits = 3}};
			x.to_ns = x.from_ns + sim_rng_below(&r, 10);
			assert_ok(blackhole_rule_init(&x.rule.flows,
			    BLACKHOLE_RULE_TUPLE, sim_rng_u01(&r), i,
			    test_err()));
			assert_ok(truth_add_route(&t, &x, test_err()));
		}
		truth_sort(&t);
		for (int i = 0; i < 200; i++) {
			const topo_switch s = sim_rng_below(&r, 6);
			const sim_ns at = sim_rng_below(&r, 20);
			const struct topo_tuple tuple = {.src_ip =
							     sim_rng_u32(&r),
			    .dst_ip = sim_rng_below(&r, 7)};
			struct route_choice got =
			    route_choice(1, sim_rng_u32(&r), 4);
			struct route_choice want = got;
			truth_choose(&t, s, &tuple, at, &got);
			for (size_t k = 0; k < t.n_routes; k++) {
				const struct truth_route *x = &t.route[k];
				assert_true(
				    k == 0 || t.route[k - 1].at <= x->at);
				if (x->at == s && x->from_ns <= at &&
				    at < x->to_ns &&
				    route_rule_takes(&x->rule, &tuple))
					route_rule_apply(&x->rule, &want);
			}
			assert_memory_equal(&got, &want, sizeof(got));
		}
		truth_free(&t);
	}
}

static int add_both(void *arg, struct sim_err *e)
{
	struct truth t = {0};
	const struct truth_hole *h = arg;
	const struct truth_outage o = {.to_ns = SIM_NEVER};
	const struct truth_route route = {.to_ns = SIM_NEVER};
	const struct burst burst = {.duty = 1, .episode_ns = 1};
	int rc = truth_add_hole(&t, h, e);
	if (rc == 0)
		rc = truth_add_outage(&t, &o, e);
	if (rc == 0)
		rc = truth_add_route(&t, &route, e);
	if (rc == 0)
		rc = truth_add_burst(&t, 3, &burst, 0, 1, e);
	assert_int_equal(t.n_bursts, t.n_faults);
	assert_true(rc < 0 ||
	    (t.n_holes == 1 && t.n_outages == 1 && t.n_routes == 1 &&
		t.n_bursts == 1));
	truth_free(&t);
	return rc;
}

static void each_failing_allocation_is_reported(void **state)
{
	(void)state;
	struct truth_hole h = hole_at(0, 1, 1, 0, SIM_NEVER);
	test_each_alloc_fails(add_both, &h);
}

/* A guess may be any number, also one that was right before faults were added
 * or removed. */
static void faults_are_found_whatever_is_guessed(void **state)
{
	struct truth t = {0};
	struct sim_rng r;
	(void)state;
	assert_int_equal(truth_first_fault(&t, 3, 0), 0);
	assert_int_equal(truth_first_fault(&t, 3, 7), 0);
	for (uint32_t run = 0; run < 200; run++) {
		test_rng(&r, run);
		truth_clear(&t);
		for (uint32_t n = sim_rng_below(&r, 12); n > 0; n--) {
			const struct truth_fault f = {.link =
							  sim_rng_below(&r, 10),
			    .to_ns = SIM_NEVER};
			assert_ok(truth_add_fault(&t, &f, test_err()));
		}
		truth_sort(&t);
		for (topo_link l = 0; l < 12; l++) {
			size_t want = 0;
			while (want < t.n_faults && t.fault[want].link < l)
				want++;
			for (size_t guess = 0; guess < 15; guess++)
				assert_int_equal(truth_first_fault(&t, l,
						     guess),
				    want);
			assert_int_equal(truth_first_fault(&t, l, SIZE_MAX),
			    want);
		}
	}
	truth_free(&t);
}

/* By a search of all links; faults that do nothing come first and last too. */
static void a_link_with_faults_counts_once_if_one_of_them_acts(void **state)
{
	struct truth t = {0};
	struct sim_rng r;
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		size_t want = 0;
		test_rng(&r, run);
		truth_clear(&t);
		for (uint32_t n = sim_rng_below(&r, 12); n > 0; n--) {
			const struct truth_fault f = {.link =
							  sim_rng_below(&r, 5),
			    .rate = 0.1 * sim_rng_below(&r, 2),
			    .to_ns = SIM_NEVER};
			assert_ok(truth_add_fault(&t, &f, test_err()));
		}
		truth_sort(&t);
		for (topo_link l = 0; l < 5; l++)
			want += (size_t)truth_is_faulty(&t, l);
		if (truth_n_faulty(&t) != want)
			fail_msg("seed %llu, run %u: %zu faulty links, not %zu",
			    (unsigned long long)test_seed(), run,
			    truth_n_faulty(&t), want);
	}
	truth_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_empty_truth_swallows_nothing_and_has_no_outage),
	    cmocka_unit_test(a_hole_takes_packets_in_its_time_only),
	    cmocka_unit_test(holes_are_found_as_by_a_search_of_all),
	    cmocka_unit_test(outages_are_found_as_by_a_search_of_all),
	    cmocka_unit_test(
		the_largest_id_is_told_from_the_next_kinds_smallest),
	    cmocka_unit_test(faults_are_found_whatever_is_guessed),
	    cmocka_unit_test(
		a_link_with_faults_counts_once_if_one_of_them_acts),
	    cmocka_unit_test(clearing_forgets_holes_and_outages),
	    cmocka_unit_test(people_read_of_each_sort_the_first_fifty),
	    cmocka_unit_test(choices_are_changed_by_a_switchs_rules),
	    cmocka_unit_test(each_failing_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("models/truth", tests, NULL, NULL);
}
