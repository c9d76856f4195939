/* tests/models/truth_test.c -- look-ups in the truth against plain searches.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * No law is tested here, only equality.
 */
#include "models/truth.h"

#include "sim/rng.h"
#include "tests/test.h"
#include "topo/addr.h"
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

/* --- parts, marks and order ------------------------------------------------ */

/* Of what a link is a part: the switch that is asked for, if it is one; else that
 * of the smallest id. A switch is listed once. */
static void parts_are_found_as_by_a_search_of_all(void **state)
{
	struct truth t = {0};
	struct sim_rng r;
	(void)state;
	for (uint32_t run = 0; run < 200; run++) {
		uint8_t is_part[6][4] = {{0}}, failed[4] = {0};
		test_rng(&r, 300 + run);
		truth_clear(&t);
		for (uint32_t n = sim_rng_below(&r, 10); n > 0; n--) {
			const topo_link l = sim_rng_below(&r, 6);
			const topo_switch s = sim_rng_below(&r, 4);
			assert_ok(truth_add_part(&t, l, s, test_err()));
			is_part[l][s] = failed[s] = 1;
		}
		truth_sort(&t);
		for (topo_switch s = 0; s < 4; s++) {
			size_t n_listed = 0;
			for (size_t i = 0; i < t.n_switches; i++)
				n_listed += t.failed_switch[i] == s;
			assert_int_equal(n_listed, failed[s]);
			assert_int_equal(truth_is_failed_switch(&t, s),
			    failed[s]);
		}
		for (topo_link l = 0; l < 6; l++)
			for (topo_switch like = 0; like < 5; like++) {
				topo_switch want = 0;
				while (want < 4 && !is_part[l][want])
					want++;
				if (want == 4)
					want = TOPO_NONE;
				if (like < 4 && is_part[l][like])
					want = like;
				assert_int_equal(truth_switch_of(&t, l, like),
				    want);
			}
	}
	truth_free(&t);
}

/* Whatever does nothing, and wherever the link stands among all. */
static void a_link_is_faulty_if_one_of_its_faults_acts(void **state)
{
	struct truth t = {0};
	struct sim_rng r;
	(void)state;
	for (uint32_t run = 0; run < 400; run++) {
		uint8_t acts[9] = {0};
		test_rng(&r, 700 + run);
		truth_clear(&t);
		for (uint32_t n = sim_rng_below(&r, 14); n > 0; n--) {
			const uint32_t what = sim_rng_below(&r, 3);
			const struct truth_fault f = {.link =
							  sim_rng_below(&r, 9),
			    .rate = what == 1 ? 0.5 : 0,
			    .delay_us = what == 2 ? 10 : 0,
			    .to_ns = SIM_NEVER};
			assert_ok(truth_add_fault(&t, &f, test_err()));
			acts[f.link] |= what > 0;
		}
		truth_sort(&t);
		for (topo_link l = 0; l < 9; l++)
			assert_int_equal(truth_is_faulty(&t, l), acts[l]);
		assert_int_equal(truth_is_faulty(&t, 9), 0);
	}
	truth_free(&t);
}

/* A queue of which all episodes have one marks in its time, on its link alone. */
static void a_queue_marks_in_its_time(void **state)
{
	struct truth t = {0};
	const struct truth_fault plain = {.link = 5, .rate = 1, .to_ns = 99};
	/* As deep as it is, some of an episode is above so low a bound. */
	const struct burst b = {.duty = 1,
	    .depth = {SIM_FIXED, 1000, 1000},
	    .episode_ns = 1000,
	    .mark_us = 0.001};
	unsigned n_marked = 0;
	(void)state;
	assert_ok(truth_add_fault(&t, &plain, test_err()));
	assert_ok(truth_add_burst(&t, 5, &b, 10000, 20000, test_err()));
	assert_ok(truth_add_burst(&t, 7, &b, 0, SIM_NEVER, test_err()));
	truth_sort(&t);
	const size_t first = truth_first_fault(&t, 5, 0);
	for (sim_ns at = 0; at < 30000; at += 100) {
		const int is = truth_is_marked(&t, first, 5, at);
		assert_int_equal(is,
		    at >= 10000 && at < 20000 && burst_marks(&t.burst[0], at));
		n_marked += is != 0;
	}
	assert_true(n_marked > 50);
	assert_int_equal(truth_is_marked(&t, truth_first_fault(&t, 6, 0), 6, 5),
	    0);
	assert_int_equal(truth_is_marked(&t, t.n_faults, 9, 5), 0);
	truth_free(&t);
}

/* Added from the last to the first of each order. */
static void each_sort_has_its_order(void **state)
{
	static const struct truth_fault faults[] = {{.link = 1, .from_ns = 2},
	    {.link = 1, .from_ns = 3}, {.link = 2, .from_ns = 0}};
	static const struct truth_route routes[] =
	    {{.at = 1, .from_ns = 9, .rule = {.kind = 1, .link = 9}},
		{.at = 2, .from_ns = 1, .rule = {.kind = 2, .link = 9}},
		{.at = 2, .from_ns = 2, .rule = {.kind = 1, .link = 7}},
		{.at = 2, .from_ns = 2, .rule = {.kind = 1, .link = 8}},
		{.at = 2, .from_ns = 2, .rule = {.kind = 2, .link = 1}}};
	static const struct truth_outage outages[] = {{.kind = 1,
							  .id = 4,
							  .from_ns = 9},
	    {.kind = 2, .id = 3, .from_ns = 1},
	    {.kind = 2, .id = 3, .from_ns = 2}, {.kind = 2, .id = 4}};
	struct truth t = {0};
	(void)state;
	for (size_t i = 3; i-- > 0;)
		assert_ok(truth_add_fault(&t, &faults[i], test_err()));
	for (size_t i = 5; i-- > 0;)
		assert_ok(truth_add_route(&t, &routes[i], test_err()));
	for (size_t i = 4; i-- > 0;)
		assert_ok(truth_add_outage(&t, &outages[i], test_err()));
	assert_ok(truth_add_part(&t, 2, 0, test_err()));
	assert_ok(truth_add_part(&t, 1, 9, test_err()));
	assert_ok(truth_add_part(&t, 1, 8, test_err()));
	truth_sort(&t);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(t.fault[i].link, faults[i].link);
		assert_int_equal(t.fault[i].from_ns, faults[i].from_ns);
	}
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(t.route[i].at, routes[i].at);
		assert_int_equal(t.route[i].from_ns, routes[i].from_ns);
		assert_int_equal(t.route[i].rule.kind, routes[i].rule.kind);
		assert_int_equal(t.route[i].rule.link, routes[i].rule.link);
	}
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(t.outage[i].id, outages[i].id);
		assert_int_equal(t.outage[i].from_ns, outages[i].from_ns);
	}
	assert_int_equal(t.part[0].of, 8);
	assert_int_equal(t.part[1].of, 9);
	assert_int_equal(t.part[2].link, 2);
	truth_clear(&t);
	assert_int_equal(t.n_faults + t.n_routes + t.n_outages + t.n_parts +
		t.n_switches + t.n_holes + t.n_bursts,
	    0);
	truth_free(&t);
	assert_null(t.fault);
}

static void a_rate_has_its_hazard(void **state)
{
	static const double rate[] = {0, 1e-9, 0.5, 1};
	struct truth t = {0};
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		const struct truth_fault f = {.rate = rate[i], .hazard = 77};
		assert_ok(truth_add_fault(&t, &f, test_err()));
	}
	assert_true(t.fault[0].hazard == 0);
	assert_near(t.fault[1].hazard, 1e-9, 1e-17);
	assert_near(t.fault[2].hazard, log(2), 1e-15);
	assert_true(isinf(t.fault[3].hazard));
	truth_free(&t);
}

/* --- what people read ------------------------------------------------------ */

static void assert_printed(const struct truth *t, const struct topo *topo,
    const char *want)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	truth_print(t, topo, out);
	fclose(out);
	assert_string_equal(text, want);
	free(text);
}

static void people_read_how_switches_choose(void **state)
{
	static const struct topo_clos shape = {2, 2, 2, 2, 2, .n_cables = 0};
	struct truth t = {0};
	struct topo topo;
	(void)state;
	assert_ok(topo_open_clos(&topo, &shape, test_err()));
	const uint32_t h = topo_addr_of_host(0);
	struct truth_route routes[] = {
	    {.at = 0,
		.to_ns = SIM_NEVER,
		.rule = {.kind = ROUTE_RULE_LINK,
		    .first_ip = h + 2,
		    .last_ip = h + 3,
		    .link = 16}},
	    {.at = 0,
		.from_ns = SIM_SEC,
		.to_ns = 2 * SIM_SEC,
		.rule = {.kind = ROUTE_RULE_NARROW,
		    .last_ip = UINT32_MAX,
		    .n_left = 3}},
	    {.at = 1,
		.to_ns = 3 * SIM_SEC,
		.rule = {.kind = ROUTE_RULE_WEIGHTS,
		    .first_ip = h + 7,
		    .last_ip = h + 8,
		    .weight = 2.5}},
	    {.at = 4,
		.from_ns = SIM_SEC / 2,
		.to_ns = SIM_NEVER,
		.rule = {.kind = ROUTE_RULE_SEED,
		    .last_ip = UINT32_MAX,
		    .salt = 0xab}},
	    {.at = 9,
		.to_ns = SIM_NEVER,
		.rule = {.kind = ROUTE_RULE_BITS,
		    .first_ip = 1,
		    .last_ip = UINT32_MAX,
		    .bits = 4}},
	};
	for (size_t i = 0; i < 5; i++) {
		routes[i].rule.flows.below =
		    i == 1 ? UINT64_C(1) << 30 : UINT64_C(1) << 32;
		assert_ok(truth_add_route(&t, &routes[i], test_err()));
	}
	truth_sort(&t);
	assert_printed(&t, &topo,
	    "0 faults\n"
	    "5 wrong routes\n"
	    "  tor0                     packets to host2..3 go by tor0->t1.0\n"
	    "  tor0                     all packets, 0.25 of the flows, have 3 "
	    "next hops at most, from 1 s to 2 s\n"
	    "  tor1                     packets to 10.0.0.8..10.0.0.9 prefer "
	    "one next hop 2.5 to 1, to 3 s\n"
	    "  t1.0                     all packets are hashed with seed 0xab, "
	    "from 0.5 s\n"
	    "  t2.1                     packets to 0.0.0.1..255.255.255.255 "
	    "are "
	    "hashed to 4 bits\n");
	truth_free(&t);
	topo_close(&topo);
}

/* A host whose cable is cut is off, and told so once; hosts of pods, too. */
static void people_read_each_thing_once(void **state)
{
	static const struct topo_clos shape = {2, 2, 2, 2, 2, .n_cables = 0};
	static const struct truth_outage outages[] = {{TRUTH_HOST_OFF,
							  TRUTH_DOWN, 1, 5,
							  SIM_NEVER, 0},
	    {TRUTH_HOST_OFF, TRUTH_DOWN, 7, 5, SIM_NEVER, 0},
	    {TRUTH_MUX_LOOP, TRUTH_DOWN, 2, 0, SIM_NEVER, 0},
	    {TRUTH_STORM, TRUTH_DOWN, 3, 0, SIM_NEVER, 0},
	    {TRUTH_BGP_FLAP, TRUTH_DOWN, 8, 0, SIM_SEC, 0},
	    {TRUTH_CONTROLLER, TRUTH_EMPTY, 0, 0, SIM_NEVER, 0},
	    {TRUTH_COLLECTOR, TRUTH_DOWN, 0, 0, SIM_NEVER, 0}};
	struct truth t = {0};
	struct topo topo;
	(void)state;
	assert_ok(topo_open_clos(&topo, &shape, test_err()));
	const struct truth_fault faults[] =
	    {/* Told with the host; told as it is not the same time; told as it
	     * does not lose all; and a link of no host. */
		{.link = 2, .rate = 1, .from_ns = 5, .to_ns = SIM_NEVER},
		{.link = 3, .rate = 1, .from_ns = 4, .to_ns = SIM_NEVER},
		{.link = 14, .rate = 0.5, .from_ns = 5, .to_ns = SIM_NEVER},
		{.link = 16, .rate = 1, .from_ns = 5, .to_ns = SIM_NEVER}};
	for (size_t i = 0; i < 4; i++)
		assert_ok(truth_add_fault(&t, &faults[i], test_err()));
	const struct burst b = {.duty = 0.25,
	    .depth = {SIM_UNIFORM, 200, 800},
	    .episode_ns = SIM_SEC / 10};
	assert_ok(truth_add_burst(&t, 18, &b, 0, SIM_NEVER, test_err()));
	for (size_t i = 0; i < 7; i++)
		assert_ok(truth_add_outage(&t, &outages[i], test_err()));
	truth_sort(&t);
	char want[1024];
	snprintf(want, sizeof(want),
	    "4 faults\n"
	    "  tor0->host1              link 3        rate 1, from 4e-09 s\n"
	    "  host7->tor3              link 14       rate 0.5, from 5e-09 s\n"
	    "  tor0->t1.0               link 16       rate 1, from 5e-09 s\n"
	    "  tor0->t1.1               link 18       rate 0, delay %.4g us on "
	    "average: queues up to 800 us, in 0.25 of episodes of 0.1 s\n"
	    "7 outages\n"
	    "  host1                    off, from 5e-09 s\n"
	    "  host7                    off, from 5e-09 s\n"
	    "  controller               without documents\n"
	    "  collector                down\n"
	    "  host2                    sends back what muxes send\n"
	    "  host3                    pauses its ToR without end\n"
	    "  tor0->t1.0               its BGP session flaps, to 1 s\n",
	    burst_mean_us(&b));
	assert_printed(&t, &topo, want);
	truth_free(&t);
	topo_close(&topo);
}

/* Fifty are all; of one more it is told that there is. */
static void people_read_fifty_of_holes_routes_and_outages(void **state)
{
	static const struct topo_clos shape = {2, 20, 2, 2, 2, .n_cables = 0};
	struct topo topo;
	(void)state;
	assert_ok(topo_open_clos(&topo, &shape, test_err()));
	for (unsigned n = 50; n <= 51; n++) {
		struct truth t = {0};
		char *text = NULL;
		size_t size, n_lines = 0, n_rests = 0;
		for (unsigned i = 0; i < n; i++) {
			const struct truth_hole h =
			    hole_at(i % 40, 0.5, i, 0, SIM_NEVER);
			const struct truth_route r = {.at = i % 40,
			    .to_ns = SIM_NEVER,
			    .rule.last_ip = UINT32_MAX};
			const struct truth_outage o = {.kind = TRUTH_HOST_OFF,
			    .id = i,
			    .to_ns = SIM_NEVER};
			assert_ok(truth_add_hole(&t, &h, test_err()));
			assert_ok(truth_add_route(&t, &r, test_err()));
			assert_ok(truth_add_outage(&t, &o, test_err()));
		}
		truth_sort(&t);
		FILE *out = open_memstream(&text, &size);
		truth_print(&t, &topo, out);
		fclose(out);
		for (const char *p = text; (p = strchr(p, '\n')); p++)
			n_lines++;
		for (const char *p = text; (p = strstr(p, "\n  and 1 more\n"));
		     p++)
			n_rests++;
		assert_int_equal(n_rests, n == 51 ? 3 : 0);
		assert_int_equal(n_lines, 1 + 3 * 51 + n_rests);
		free(text);
		truth_free(&t);
	}
	topo_close(&topo);
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
	    cmocka_unit_test(parts_are_found_as_by_a_search_of_all),
	    cmocka_unit_test(a_link_is_faulty_if_one_of_its_faults_acts),
	    cmocka_unit_test(a_queue_marks_in_its_time),
	    cmocka_unit_test(each_sort_has_its_order),
	    cmocka_unit_test(a_rate_has_its_hazard),
	    cmocka_unit_test(people_read_how_switches_choose),
	    cmocka_unit_test(people_read_each_thing_once),
	    cmocka_unit_test(people_read_fifty_of_holes_routes_and_outages),
	};
	return cmocka_run_group_tests_name("models/truth", tests, NULL, NULL);
}
