/* tests/algos/millisampler/resent_test.c -- each number that was sent, remembered.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/resent.h"
#include "sim/rng.h"
#include "tests/test.h"

static struct algo_resent_key key_of(uint32_t i)
{
	return (struct algo_resent_key){.src = {0, i},
	    .dst = {0, 7},
	    .ports = 5 << 16 | 80,
	    .version = 4};
}

/* The oracle keeps a byte for each number of a connection's window of 4,096: it
 * was sent or not. Numbers wrap within the test; packets are new ones, or begin
 * anywhere before, with any length. */
static void what_begins_before_what_was_sent_is_sent_again(void **state)
{
	enum { N_FLOWS = 50, N = 40000, SPAN = 1 << 20 };
	struct algo_resent *r;
	struct sim_rng g;
	uint32_t first[N_FLOWS], next[N_FLOWS] = {0};
	(void)state;
	test_rng(&g, 1);
	assert_ok(algo_resent_open(&r, 4 * N_FLOWS * 4, test_err()));
	for (uint32_t i = 0; i < N_FLOWS; i++)
		first[i] = UINT32_MAX - sim_rng_below(&g, SPAN);
	for (unsigned i = 0; i < N; i++) {
		const uint32_t f = sim_rng_below(&g, N_FLOWS);
		const struct algo_resent_key key = key_of(f);
		const uint32_t sent = next[f];
		const int fin = sim_rng_below(&g, 50) == 0;
		uint32_t at = sent, n = sim_rng_below(&g, 3) * 700;
		if (sent > 1 && sim_rng_below(&g, 5) == 0)
			at = 1 + sim_rng_below(&g, sent - 1);
		/* The SYN comes first, and takes a number. */
		const int syn = sent == 0 || sim_rng_below(&g, 1000) == 0;
		if (syn)
			at = n = 0;
		const int again = at < sent && (n > 0 || syn || fin);
		const int got =
		    algo_resent_packet(r, &key, first[f] + at, n, syn, fin);
		if (got != again)
			fail_msg("seed %llu, packet %u: %d",
			    (unsigned long long)test_seed(), i, got);
		const uint32_t end = at + n + (uint32_t)syn + (uint32_t)fin;
		if (end > sent)
			next[f] = end;
	}
	assert_int_equal(algo_resent_n_forgotten(r), 0);
	algo_resent_close(r);
}

/* As sockets do: a SYN with a number of its own begins anew, the same one is sent
 * again; acknowledgements alone take no number; whoever is first seen within a
 * connection has sent nothing so far. */
static void a_new_connection_has_sent_nothing(void **state)
{
	const struct algo_resent_key k = key_of(1), other = key_of(2);
	struct algo_resent *r;
	(void)state;
	assert_ok(algo_resent_open(&r, 4, test_err()));
	assert_false(algo_resent_packet(r, &k, 1000, 0, 1, 0));
	assert_true(algo_resent_packet(r, &k, 1000, 0, 1, 0));
	assert_false(algo_resent_packet(r, &k, 1001, 500, 0, 0));
	assert_false(algo_resent_packet(r, &k, 1000, 0, 0, 0));
	assert_false(algo_resent_packet(r, &k, 1501, 0, 0, 1));
	assert_true(algo_resent_packet(r, &k, 1501, 0, 0, 1));
	/* New bytes behind old ones: a part was sent before. */
	assert_true(algo_resent_packet(r, &k, 1400, 500, 0, 0));
	assert_false(algo_resent_packet(r, &k, 1900, 1, 0, 0));
	assert_false(algo_resent_packet(r, &k, 77, 0, 1, 0));
	assert_false(algo_resent_packet(r, &k, 78, 10, 0, 0));
	assert_false(algo_resent_packet(r, &other, 5, 100, 0, 0));
	assert_true(algo_resent_packet(r, &other, 4, 1, 0, 0));
	assert_false(algo_resent_packet(r, &other, 4, 0, 1, 0));
	algo_resent_close(r);
}

/* Four fit; the fifth takes the place of whoever was silent longest. */
static void who_was_silent_longest_is_forgotten(void **state)
{
	struct algo_resent *r;
	(void)state;
	assert_ok(algo_resent_open(&r, 4, test_err()));
	for (uint32_t i = 1; i <= 4; i++) {
		const struct algo_resent_key k = key_of(i);
		assert_false(algo_resent_packet(r, &k, 100, 10, 0, 0));
	}
	struct algo_resent_key k = key_of(1);
	assert_true(algo_resent_packet(r, &k, 100, 10, 0, 0));
	k = key_of(5);
	assert_false(algo_resent_packet(r, &k, 100, 10, 0, 0));
	assert_int_equal(algo_resent_n_forgotten(r), 1);
	for (uint32_t i = 1; i <= 5; i++)
		if (i != 2) {
			k = key_of(i);
			assert_true(algo_resent_packet(r, &k, 100, 10, 0, 0));
		}
	k = key_of(2);
	assert_false(algo_resent_packet(r, &k, 100, 10, 0, 0));
	algo_resent_close(r);
}

static int open_and_close(void *arg, struct sim_err *e)
{
	struct algo_resent *r = arg; /* no such one */
	const int rc = algo_resent_open(&r, 100, e);
	assert_int_equal(rc == 0, r != NULL);
	algo_resent_close(r);
	return rc;
}

static void without_memory_it_says_so(void **state)
{
	char none;
	(void)state;
	test_each_alloc_fails(open_and_close, &none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_begins_before_what_was_sent_is_sent_again),
	    cmocka_unit_test(a_new_connection_has_sent_nothing),
	    cmocka_unit_test(who_was_silent_longest_is_forgotten),
	    cmocka_unit_test(without_memory_it_says_so),
	};
	return cmocka_run_group_tests_name("algos/millisampler/resent", tests,
	    NULL, NULL);
}
