/* tests/test.c -- seeds, errors and allocation failures for tests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/test.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static unsigned long n_calls, fail_at;

uint64_t test_seed(void)
{
	const char *text = getenv("TEST_SEED");
	return text ? strtoull(text, NULL, 10) : 20180409;
}

void test_rng(struct sim_rng *r, uint32_t run)
{
	const struct sim_seed where = {.seed = test_seed(), .run = run};
	sim_rng_init(r, &where, SIM_STREAM_TEST, 0);
}

struct sim_err *test_err(void)
{
	static struct sim_err e;
	return &e;
}

static int fails_now(void)
{
	return ++n_calls == fail_at;
}

void *__wrap_malloc(size_t n)
{
	return fails_now() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails_now() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails_now() ? NULL : __real_realloc(p, n);
}

unsigned long test_fail_alloc(unsigned long n)
{
	unsigned long seen = n_calls;
	n_calls = 0;
	fail_at = n;
	return seen;
}

void test_each_alloc_fails(int (*fn)(void *arg, struct sim_err *e), void *arg)
{
	for (unsigned long n = 1;; n++) {
		struct sim_err e = {0};
		test_fail_alloc(n);
		int rc = fn(arg, &e);
		unsigned long seen = test_fail_alloc(0);
		if (seen < n) {
			if (rc < 0)
				fail_msg("fails without a failed allocation: "
					 "%s",
				    e.msg);
			assert_true(n > 1);
			return;
		}
		if (rc != SIM_ENOMEM)
			fail_msg("allocation %lu failed, yet %s: %s", n,
			    sim_err_text(rc), e.msg);
	}
}
