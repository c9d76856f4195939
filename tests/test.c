/* tests/test.c -- seeds, errors and allocation failures for tests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/test.h"

#include <malloc.h>
#include <sys/mman.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

/* Calls are counted over forks as well, which serve their parent. */
static struct allocations {
	unsigned long n_calls, fail_at;
} * allocations;

/* Bytes that our code holds, and the most since test_peak_alloc(). A block that
 * a library made and we free makes it too low by its size. */
static size_t live, peak;

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

static struct allocations *counted(void)
{
	if (!allocations)
		allocations = mmap(NULL, sizeof(*allocations),
		    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (allocations == MAP_FAILED)
		abort();
	return allocations;
}

static int fails_now(void)
{
	struct allocations *a = counted();
	const unsigned long n =
	    __atomic_add_fetch(&a->n_calls, 1, __ATOMIC_RELAXED);
	return n == a->fail_at;
}

static void *count_block(void *p)
{
	live += malloc_usable_size(p);
	peak = live > peak ? live : peak;
	return p;
}

static size_t uncount(void *p)
{
	const size_t n = malloc_usable_size(p);
	live -= n < live ? n : live;
	return n;
}

void *__wrap_malloc(size_t n)
{
	return fails_now() ? NULL : count_block(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails_now() ? NULL : count_block(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
	if (fails_now())
		return NULL;
	const size_t old = uncount(p);
	void *new = __real_realloc(p, n);
	if (!new)
		live += old;
	return count_block(new);
}

void __wrap_free(void *p)
{
	uncount(p);
	__real_free(p);
}

size_t test_peak_alloc(void)
{
	const size_t most = peak;
	peak = live = 0;
	return most;
}

unsigned long test_fail_alloc(unsigned long n)
{
	struct allocations *a = counted();
	const unsigned long seen = a->n_calls;
	a->n_calls = 0;
	a->fail_at = n;
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
