/* tests/experiments/live/contact_test.c -- who is blamed, what names a run's batches.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/contact.h"

#include "experiments/live/ca.h"
#include "experiments/pingmesh/dsa/batch_set.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"
#include "topo/addr.h"

#define BEGIN (1763894400 * SIM_SEC)

/* --- batches -------------------------------------------------------------- */

/* The first batch of an agent that was started when its wall clock said WALL, with
 * something else in it for each I. */
static size_t first_batch(sim_ns wall, uint64_t chance, uint32_t i,
    unsigned char out[ALGO_PINGMESH_WIRE_MAX], struct algo_pingmesh_wire_id *id)
{
	struct algo_pingmesh_batch *b = calloc(1, sizeof(*b));
	struct xp_contact *c = calloc(1, sizeof(*c));
	assert_true(b && c);
	*b = (struct algo_pingmesh_batch){.number = 1,
	    .src_ip = topo_addr_of_host(7),
	    .n = 1,
	    .record[0] = {.sent_ns = 1 + i,
		.rtt_ns = 100 * SIM_US,
		.src_ip = topo_addr_of_host(7),
		.dst_ip = topo_addr_of_host(8),
		.src_port = 40000,
		.dst_port = 8765}};
	xp_contact_begin(c, 0, wall, chance);
	const size_t n = xp_contact_stamp(c, b, 0, wall);
	memcpy(out, c->wire, n);
	assert_ok(algo_pingmesh_wire_check(id, out, n, test_err()));
	free(b);
	free(c);
	return n;
}

/* As with a clock that is set back, or says the same at each boot: without chance
 * the collector would take the second run's batches for the first's, which it has,
 * and let them go. */
static void runs_that_began_at_one_time_are_told_apart_by_chance(void **state)
{
	static unsigned char one[ALGO_PINGMESH_WIRE_MAX],
	    two[ALGO_PINGMESH_WIRE_MAX];
	struct algo_pingmesh_wire_id a, b;
	(void)state;
	const size_t n = first_batch(BEGIN, 1, 0, one, &a);
	assert_int_equal(first_batch(BEGIN, 2, 1, two, &b), n);
	assert_int_equal(a.number, b.number);
	assert_int_not_equal(a.born_ns, b.born_ns);

	struct xp_batch_set set = {.max_runs = 16};
	assert_int_equal(xp_batch_set_take(&set, &a, test_err()), 1);
	assert_int_equal(xp_batch_set_take(&set, &a, test_err()), 0);
	assert_int_equal(xp_batch_set_take(&set, &b, test_err()), 1);
	xp_batch_set_free(&set);
}

/* What is told of a start is at most 17 ms before it, whatever CHANCE is, and never
 * behind it: who orders runs by their starts still does. */
static void starts_that_are_17_ms_apart_keep_their_order(void **state)
{
	static unsigned char bytes[ALGO_PINGMESH_WIRE_MAX];
	const sim_ns apart = (sim_ns)1 << XP_CONTACT_CHANCE;
	struct algo_pingmesh_wire_id a, b;
	(void)state;
	first_batch(BEGIN, 0, 0, bytes, &a);
	assert_int_equal(a.born_ns, BEGIN);
	first_batch(BEGIN + apart, UINT64_MAX, 0, bytes, &b);
	assert_true(b.born_ns > a.born_ns);
	assert_true(b.born_ns <= BEGIN + apart);
	first_batch(BEGIN, UINT64_MAX, 0, bytes, &a);
	assert_true(a.born_ns > BEGIN - apart);
}

/* --- lists ---------------------------------------------------------------- */

/* The next controller is that of URL, whose whole answer of STATUS is TEXT without a
 * signature. */
static enum xp_contact_answer answered(struct xp_contact *c, const char *url,
    long status, const char *text)
{
	unsigned share;
	assert_string_equal(xp_contact_next(c, &share), url);
	assert_int_equal(xp_contact_add(c, text, strlen(text)), strlen(text));
	return xp_contact_came(c, XP_CONTACT_WHOLE, status, BEGIN);
}

/* Of several controllers any may be a forger: an operator has to be told which one,
 * and of what. */
static void who_sent_what_is_not_signed_is_named(void **state)
{
	const struct xp_fetch_params p =
	    {.controllers = "http://127.0.0.2:1,http://127.0.0.3:1,"
			    "http://127.0.0.4:1",
		.address = topo_ip_of_4(topo_addr_of_host(7)),
		.max_bytes = 100,
		.signed_by = test_path("ca/list.pub")};
	struct xp_contact *c = calloc(1, sizeof(*c));
	struct xp_ca *ca;
	unsigned share;
	int is_new;
	enum { N = 3 };
	(void)state;
	assert_non_null(c);
	if (xp_ca_open(&ca, test_path("ca"), &is_new, test_err()) ==
	    SIM_EUNSUPPORTED) {
		free(c);
		skip();
	}
	xp_ca_close(ca);
	assert_ok(xp_contact_open(c, &p, test_err()));
	for (unsigned first = 0; first < N; first++) {
		c->whom.first = first;
		assert_true(xp_contact_ask(c));
		for (unsigned i = 0; i < N; i++) {
			const char *url = c->whom.controller[(first + i) % N];
			assert_int_equal(answered(c, url, i == 0 ? 200 : 404,
					     "<pinglist/>"),
			    XP_CONTACT_REFUSED);
			if (strncmp(c->why, url, strlen(url)) != 0 ||
			    strcmp(c->why + strlen(url),
				i == 0 ? ": list refused: it is not signed"
				       : ": no list refused: it is not signed"))
				fail_msg("of %s: %s", url, c->why);
			assert_int_equal(c->count.n_refused, N * first + i + 1);
		}
		assert_null(xp_contact_next(c, &share));
	}
	assert_int_equal(c->count.n_lists + c->count.n_none + c->had.n, 0);
	assert_false(c->is_lent);
	xp_contact_close(c);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		runs_that_began_at_one_time_are_told_apart_by_chance),
	    cmocka_unit_test(starts_that_are_17_ms_apart_keep_their_order),
	    cmocka_unit_test(who_sent_what_is_not_signed_is_named),
	};
	return cmocka_run_group_tests_name("experiments/live/contact", tests,
	    test_folder_make, test_folder_remove);
}
