/* tests/test.c -- seeds, errors and allocation failures for tests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/test.h"

#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/bytes.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

enum { MOST_NOTED = 1 << 14, MOST_FRAMES = 64 };

/* Calls are counted over forks as well, which serve their parent. */
static struct allocations {
	unsigned long n_calls, fail_at;
	int noting;
	uint64_t chain[MOST_NOTED]; /* of calls that led to each, hashed */
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

static uint64_t hash_chain(void)
{
	void *at[MOST_FRAMES];
	const int n = backtrace(at, MOST_FRAMES);
	return sim_fnv(SIM_FNV_START, at, (size_t)n * sizeof(at[0]));
}

static int fails_now(void)
{
	struct allocations *a = counted();
	const unsigned long n =
	    __atomic_add_fetch(&a->n_calls, 1, __ATOMIC_RELAXED);
	if (a->noting && n <= MOST_NOTED)
		a->chain[n - 1] = hash_chain();
	return n == a->fail_at;
}

static void *count_block(void *p)
{
	live += p ? malloc_usable_size(p) : 0;
	peak = live > peak ? live : peak;
	return p;
}

static size_t uncount(void *p)
{
	/* That of the leak sanitizer does not take NULL. */
	const size_t n = p ? malloc_usable_size(p) : 0;
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

/* What chain of calls leads to each allocation of FN, which a fork tells, so
 * that here all is as before the first call. Returns how many are known: none
 * if FN does not work in a fork, or TEST_ALLOCS=all is set. */
static unsigned long note_chains(int (*fn)(void *arg, struct sim_err *e),
    void *arg)
{
	struct allocations *a = counted();
	const char *which = getenv("TEST_ALLOCS");
	int status = -1;
	if (which && strcmp(which, "all") == 0)
		return 0;
	(void)hash_chain(); /* loads what backtrace() needs */
	test_fail_alloc(0);
	a->noting = 1;
	fflush(NULL);
	const pid_t child = fork();
	if (child == 0)
		_exit(fn(arg, &(struct sim_err){0}) != 0);
	if (child > 0)
		waitpid(child, &status, 0);
	a->noting = 0;
	const unsigned long n = test_fail_alloc(0);
	return status != 0 ? 0 : n < MOST_NOTED ? n : MOST_NOTED;
}

/* Did the same calls lead to allocations before and after the N-th? */
static int is_amid_others(unsigned long n, unsigned long n_noted)
{
	const uint64_t *chain = counted()->chain;
	unsigned long before = 0, after = n;
	if (n > n_noted)
		return 0;
	while (before < n - 1 && chain[before] != chain[n - 1])
		before++;
	while (after < n_noted && chain[after] != chain[n - 1])
		after++;
	return before < n - 1 && after < n_noted;
}

/* A bit for each number below 64: a file is open there. */
static uint64_t open_files(void)
{
	uint64_t open = 0;
	for (int fd = 0; fd < 64; fd++)
		open |= (uint64_t)(fcntl(fd, F_GETFD) >= 0) << fd;
	return open;
}

/* What the next call finds where it sets nothing. */
static __attribute__((noinline)) void soil_stack(void)
{
	volatile unsigned char below[1 << 15];
	for (size_t i = 0; i < sizeof(below); i++)
		below[i] = 0xa5;
}

void test_each_alloc_fails(int (*fn)(void *arg, struct sim_err *e), void *arg)
{
	const unsigned long n_noted = note_chains(fn, arg);
	const uint64_t open = open_files();
	for (unsigned long n = 1;; n++) {
		struct sim_err e = {0};
		if (is_amid_others(n, n_noted))
			continue;
		soil_stack();
		test_fail_alloc(n);
		int rc = fn(arg, &e);
		unsigned long seen = test_fail_alloc(0);
		if (open_files() != open)
			fail_msg("allocation %lu failed, and files are open as "
				 "%llx, not as %llx before",
			    n, (unsigned long long)open_files(),
			    (unsigned long long)open);
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
