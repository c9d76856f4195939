/* tests/topo/ip_book_test.c -- IPv6 in 32 bits, against a plain array.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/test.h"
#include "topo/ip_book.h"

static struct topo_ip ip_at(uint32_t i)
{
	struct topo_ip a = {{0xfd}};
	a.byte[5] = (uint8_t)(i >> 8);
	a.byte[15] = (uint8_t)i;
	return a;
}

static void ipv4_passes_and_0_slash_8_does_not(void **state)
{
	struct topo_ip_book b = {.n = 0};
	const struct topo_ip four = topo_ip_of_4(0x0a000001),
			     low = topo_ip_of_4(0x00ffffff), six = ip_at(1);
	(void)state;
	assert_int_equal(topo_ip_book_note(&b, &four), 0x0a000001);
	assert_int_equal(topo_ip_book_note(&b, &low), 0);
	assert_int_equal(topo_ip_book_note(&b, &six), 0);
	const struct topo_ip back = topo_ip_book_look(NULL, 0x0a000001);
	assert_true(topo_ip_same(&back, &four));
	const struct topo_ip none = topo_ip_book_look(NULL, 1);
	assert_false(topo_ip_is_4(&none));
	topo_ip_book_keep(&b, 1);
	topo_ip_book_sweep(&b);
}

static void a_full_book_says_so_and_goes_on_when_swept(void **state)
{
	struct topo_ip_book b;
	uint32_t number[5];
	(void)state;
	assert_ok(topo_ip_book_open(&b, 4, test_err()));
	for (uint32_t i = 0; i < 5; i++) {
		const struct topo_ip a = ip_at(i);
		number[i] = topo_ip_book_note(&b, &a);
		assert_true(i == 4 || topo_ip_is_number(number[i]));
	}
	assert_int_equal(number[4], 0);
	topo_ip_book_keep(&b, number[2]);
	topo_ip_book_sweep(&b);
	assert_int_equal(b.n, 1);
	const struct topo_ip kept = topo_ip_book_look(&b, number[2]),
			     want = ip_at(2),
			     gone = topo_ip_book_look(&b, number[1]);
	assert_true(topo_ip_same(&kept, &want));
	assert_int_equal(gone.byte[0], 0);
	for (uint32_t i = 4; i < 7; i++) {
		const struct topo_ip a = ip_at(i);
		assert_true(topo_ip_is_number(topo_ip_book_note(&b, &a)));
	}
	topo_ip_book_close(&b);
}

/* One step: note any of 400 addresses, keep what the model keeps, sweep. The model
 * is an array of numbers by address. */
static void numbers_are_one_to_one_through_sweeps(void **state)
{
	enum { ADDRESSES = 400, MOST = 150 };
	struct topo_ip_book b;
	uint32_t number[ADDRESSES] = {0};
	struct sim_rng rng;
	(void)state;
	test_rng(&rng, 0);
	assert_ok(topo_ip_book_open(&b, MOST, test_err()));
	for (unsigned run = 0; run < 20000; run++) {
		const uint32_t i = sim_rng_below(&rng, ADDRESSES);
		const struct topo_ip a = ip_at(i);
		const uint32_t n_before = b.n, got = topo_ip_book_note(&b, &a);
		if (number[i] ? got != number[i]
			      : (got == 0) != (n_before == MOST))
			fail_msg("run %u: %u has number %u", run, i, got);
		number[i] = got;
		for (uint32_t k = 0; got > 0 && k < ADDRESSES; k++)
			if (k != i && number[k] == got)
				fail_msg("run %u: %u and %u", run, i, k);
		const struct topo_ip back = topo_ip_book_look(&b, got);
		assert_true(got == 0 || topo_ip_same(&back, &a));
		if (sim_rng_below(&rng, 100) > 0)
			continue;
		for (uint32_t k = 0; k < ADDRESSES; k++)
			if (sim_rng_below(&rng, 2))
				topo_ip_book_keep(&b, number[k]);
			else
				number[k] = 0;
		topo_ip_book_sweep(&b);
	}
	topo_ip_book_close(&b);
}

static int open_once(void *arg, struct sim_err *e)
{
	struct topo_ip_book *b = arg;
	const int rc = topo_ip_book_open(b, 100, e);
	if (rc < 0)
		assert_true(b->cap == 0 && b->n_slots == 0 && !b->ip);
	topo_ip_book_close(b);
	return rc;
}

/* Then it has no room, as one that is zeroed. */
static void without_memory_a_book_is_empty(void **state)
{
	(void)state;
	struct topo_ip_book b;
	test_each_alloc_fails(open_once, &b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(without_memory_a_book_is_empty),
	    cmocka_unit_test(ipv4_passes_and_0_slash_8_does_not),
	    cmocka_unit_test(a_full_book_says_so_and_goes_on_when_swept),
	    cmocka_unit_test(numbers_are_one_to_one_through_sweeps),
	};
	return cmocka_run_group_tests_name("topo/ip_book", tests, NULL, NULL);
}
