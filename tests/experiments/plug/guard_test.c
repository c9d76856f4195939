/* tests/experiments/plug/guard_test.c -- calls into code that may crash.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/guard.h"

#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

static void count(void *arg)
{
	++*(int *)arg;
}

static void die_of(void *arg)
{
	raise(*(int *)arg);
}

static int deeper(uint32_t n)
{
	volatile char here[4096];
	here[n % 4096] = 0;
	return n == 0 ? 0 : deeper(n - 1) + here[n % 4096];
}

static void run_out_of_stack(void *arg)
{
	*(int *)arg = deeper(UINT32_MAX);
}

static void loop(void *arg)
{
	for (volatile int *i = arg;; ++*i)
		continue;
}

static struct plug_guard *a_guard(void)
{
	struct plug_guard *g;
	assert_int_equal(plug_guard_open(&g, test_err()), 0);
	return g;
}

static void test_a_call_that_returns_is_a_call(void **state)
{
	struct plug_guard *g = a_guard();
	int n = 0;
	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(plug_guard_call(g, 1, count, &n), 0);
	assert_int_equal(n, 100);
	plug_guard_close(g);
}

/* Again and again, and by all guards of a process, which are one. */
static void test_a_crash_comes_back_as_its_signal(void **state)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	struct plug_guard *g = a_guard(), *other = a_guard();
	int n = 0;
	(void)state;
	for (size_t i = 0; i < 10; i++) {
		int sig = signals[i % 5];
		assert_int_equal(plug_guard_call(i % 2 ? g : other, 5, die_of,
				     &sig),
		    sig);
		assert_int_equal(plug_guard_call(g, 5, count, &n), 0);
	}
	assert_int_equal(plug_guard_call(g, 5, run_out_of_stack, &n), SIGSEGV);
	assert_int_equal(plug_guard_call(g, .05, loop, &n), SIGALRM);
	plug_guard_close(g);
	assert_int_equal(plug_guard_call(other, .05, loop, &n), SIGALRM);
	plug_guard_close(other);
}

/* What is not of a call ends the process as ever, during and after. */
static void test_other_crashes_are_not_caught(void **state)
{
	(void)state;
	for (int closed = 0; closed < 2; closed++) {
		int status;
		const pid_t child = fork();
		if (child == 0) {
			const struct rlimit none = {0, 0};
			struct plug_guard *g;
			int n = 0;
			/* That of whoever runs tests. */
			signal(SIGSEGV, SIG_DFL);
			g = a_guard();
			setrlimit(RLIMIT_CORE, &none);
			plug_guard_call(g, 1, count, &n);
			if (closed)
				plug_guard_close(g);
			raise(SIGSEGV);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGSEGV);
	}
}

/* As the constructor does of a library that was linked with -ffast-math. */
static void set_fast(void *arg)
{
#if defined(__x86_64__)
	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
	fesetround(FE_UPWARD);
	setlocale(LC_ALL, "C.UTF-8");
	if (*(int *)arg)
		raise(SIGSEGV);
}

static void test_numbers_and_locale_are_set_back(void **state)
{
	struct plug_guard *g = a_guard();
	volatile double tiny = 1e-310;
	(void)state;
	for (int crashes = 0; crashes < 2; crashes++) {
		assert_int_equal(plug_guard_call(g, 1, set_fast, &crashes),
		    crashes ? SIGSEGV : 0);
		assert_true(tiny / 2 > 0);
		assert_int_equal(fegetround(), FE_TONEAREST);
		assert_string_equal(setlocale(LC_ALL, NULL), "C");
	}
	plug_guard_close(g);
}

static void grow(void *arg)
{
	const size_t n = 64 << 20;
	memset(arg, 1, n);
}

static void test_growth_is_told(void **state)
{
	char *block = malloc(64 << 20);
	struct plug_guard *g = a_guard();
	(void)state;
	/* Memory of before the guard is not of it. */
	assert_true(plug_guard_growth(g) < 32 << 20);
	plug_guard_call(g, 5, grow, block);
	assert_true(plug_guard_growth(g) > 32 << 20);
	plug_guard_close(g);
	free(block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_call_that_returns_is_a_call),
	    cmocka_unit_test(test_a_crash_comes_back_as_its_signal),
	    cmocka_unit_test(test_other_crashes_are_not_caught),
	    cmocka_unit_test(test_numbers_and_locale_are_set_back),
	    cmocka_unit_test(test_growth_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
