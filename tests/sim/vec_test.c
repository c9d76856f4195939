/* tests/sim/vec_test.c -- arrays grow by half, and never past what can be.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/vec.h"

#include "tests/test.h"

/* From 8, by half, or to what is needed if that is more; never less. */
static void an_array_grows_by_half_or_to_the_need(void **state)
{
	static const struct {
		size_t cap, need, want;
	} step[] = {{0, 1, 8}, {0, 8, 8}, {0, 9, 9}, {8, 8, 8}, {8, 9, 12},
	    {8, 12, 12}, {8, 13, 13}, {100, 7, 100}, {100, 101, 150},
	    {101, 102, 151}, {100, 151, 151}};
	(void)state;
	for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++) {
		size_t cap = step[i].cap;
		uint16_t *a = malloc((cap + 1) * sizeof(*a));
		assert_non_null(a);
		for (size_t k = 0; k < cap; k++)
			a[k] = (uint16_t)k;
		assert_ok(sim_reserve(&a, &cap, step[i].need, sizeof(*a),
		    test_err()));
		assert_int_equal(cap, step[i].want);
		for (size_t k = 0; k < step[i].cap; k++)
			assert_int_equal(a[k], k);
		free(a);
	}
}

static void an_array_that_is_none_yet_is_made(void **state)
{
	uint64_t *a = NULL;
	size_t cap = 0;
	(void)state;
	assert_ok(sim_reserve(&a, &cap, 0, sizeof(*a), test_err()));
	assert_null(a);
	for (size_t need = 1; need < 5000; need *= 3) {
		assert_ok(sim_reserve(&a, &cap, need, sizeof(*a), test_err()));
		assert_non_null(a);
		assert_true(cap >= need);
		for (size_t i = need / 3; i < need; i++)
			a[i] = i;
		for (size_t i = 0; i < need; i++)
			assert_int_equal(a[i], i);
	}
	free(a);
}

/* PTRDIFF_MAX is odd, so no array of 2 bytes each has just so many. */
static void what_no_array_can_hold_is_refused(void **state)
{
	const size_t most = PTRDIFF_MAX;
	static const struct {
		size_t need, size;
	} much[] = {{SIZE_MAX, 1}, {SIZE_MAX / 2 + 1, 1}, {SIZE_MAX, 16},
	    {SIZE_MAX / 16 + 2, 16}, {SIZE_MAX / 4 + 1, 2}};
	(void)state;
	for (size_t i = 0; i < sizeof(much) / sizeof(much[0]); i++) {
		char kept[8], *a = kept;
		size_t cap = 8;
		struct sim_err e = {0};
		char want[128];
		assert_int_equal(sim_reserve(&a, &cap, much[i].need,
				     much[i].size, &e),
		    SIM_ENOMEM);
		snprintf(want, sizeof(want),
		    "no memory for %zu elements of %zu bytes.", much[i].need,
		    much[i].size);
		assert_string_equal(e.msg, want);
		assert_ptr_equal(a, kept);
		assert_int_equal(cap, 8);
	}
	/* So much could be, and nobody has it: realloc() was asked. */
	char *a = NULL;
	size_t cap = 0;
	test_fail_alloc(1);
	assert_int_equal(sim_reserve(&a, &cap, most, 1, NULL), SIM_ENOMEM);
	assert_int_equal(test_fail_alloc(0), 1);
}

static void zeroed_blocks_are_zero_and_none_for_nothing(void **state)
{
	uint32_t *p = (uint32_t[]){1};
	struct sim_err e = {0};
	(void)state;
	assert_ok(SIM_ZALLOC(&p, 0, test_err()));
	assert_null(p);
	assert_ok(SIM_ZALLOC(&p, 1000, test_err()));
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(p[i], 0);
	free(p);
	assert_ok(sim_zalloc(&p, 1, sizeof(*p), test_err()));
	assert_non_null(p);
	free(p);
	/* Who fails with it may free it, whatever was in it. */
	p = (uint32_t[]){1};
	assert_int_equal(SIM_ZALLOC(&p, SIZE_MAX / 2, &e), SIM_ENOMEM);
	assert_non_null(strstr(e.msg, "elements of 4 bytes."));
	assert_null(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_array_grows_by_half_or_to_the_need),
	    cmocka_unit_test(an_array_that_is_none_yet_is_made),
	    cmocka_unit_test(what_no_array_can_hold_is_refused),
	    cmocka_unit_test(zeroed_blocks_are_zero_and_none_for_nothing),
	};
	return cmocka_run_group_tests_name("sim/vec", tests, NULL, NULL);
}
