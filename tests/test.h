/* tests/test.h -- what every test file includes: cmocka and small helpers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A test file tests one source file and holds its own main():
 *
 *	int main(void)
 *	{
 *		const struct CMUnitTest tests[] = {
 *			cmocka_unit_test(equal_times_pop_in_order_of_insertion),
 *		};
 *		return cmocka_run_group_tests_name("sim/evq", tests, NULL, NULL);
 *	}
 *
 * Random tests draw from test_seed() and print it with the run on failure:
 * TEST_SEED=n in the environment replaces it. State the false-alarm rate of
 * every statistical bound.
 */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/err.h"
#include "sim/rng.h"

/* The seed of this process's random tests. */
uint64_t test_seed(void);

/* A stream for run RUN of a random test. */
void test_rng(struct sim_rng *r, uint32_t run);

/* Fail with the message when a call that must succeed did not. Success is 0, and
 * nothing else: a caller may hand on what it got. */
#define assert_ok(call)                                                        \
	do {                                                                   \
		struct sim_err *e_ = test_err();                               \
		int rc_ = (call);                                              \
		if (rc_ != 0)                                                  \
			fail_msg("%s: %s (%s)", #call, e_->msg,                \
			    sim_err_text(rc_));                                \
	} while (0)

/* The error object that assert_ok() prints: pass test_err() as `e`. */
struct sim_err *test_err(void);

#define assert_near(got, want, tol)                                            \
	do {                                                                   \
		double got_ = (got), want_ = (want), tol_ = (tol);             \
		if (!(fabs(got_ - want_) <= tol_))                             \
			fail_msg("%s = %.17g, wanted %.17g +- %g", #got, got_, \
			    want_, tol_);                                      \
	} while (0)

/* Allocation failure (test programs are linked with --wrap): the N-th call
 * from now on of malloc, calloc or realloc in our code fails, N from 1; 0 =
 * none. Returns how many calls were seen since the last test_fail_alloc(). */
unsigned long test_fail_alloc(unsigned long n);

/* Run FN(arg) again and again, each time failing another allocation, until it
 * succeeds. FN must return SIM_ENOMEM whenever one failed and 0 otherwise, and
 * must free what it made. Asserts that, that the same files are open behind each as
 * before, and that at least one allocation was made.
 *
 * Of allocations that the same chain of calls leads to, as in a loop, the first
 * and the last fail: the others differ from these in how much there is to clean
 * up alone. With TEST_ALLOCS=all in the environment each of them fails, which
 * `make faults` does. */
void test_each_alloc_fails(int (*fn)(void *arg, struct sim_err *e), void *arg);

/* The most bytes that blocks of our code took at a time since the last call, or
 * since the begin; what is held now counts as nothing from now on. */
size_t test_peak_alloc(void);

#endif
