/* experiments/plug/guard.c -- a call into code that may crash or never return.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A handler is told by no argument whom it works for, and there are no globals
 * here. But it runs on a stack of its own, as one that has run out of stack
 * could not run on that, and is told where this stack lies: the guard stands at
 * its lower end.
 */
#include "experiments/plug/guard.h"

#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "sim/apart.h"

enum {
	GUARD_STACK = 1 << 16,
	GUARD_LAST_S = 600, /* for what is left to do after a crash */
	GUARD_SIGNALS = 6,
};

static const int guard_signals[GUARD_SIGNALS] = {SIGSEGV, SIGBUS, SIGFPE,
    SIGILL, SIGABRT, SIGALRM};

struct plug_guard {
	const struct plug_guard *self; /* what handlers know it by */
	unsigned n_users;
	volatile sig_atomic_t inside;
	sigjmp_buf back;
	long peak_kib; /* when it was opened */
	struct rlimit had_data;
	stack_t had_stack;
	struct sigaction had[GUARD_SIGNALS];
};

_Static_assert(sizeof(struct plug_guard) < GUARD_STACK / 4,
    "most of the block is stack");

static void guard_catch(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *was = context;
	struct plug_guard *g = was->uc_stack.ss_sp;
	(void)info;
	if (!(was->uc_stack.ss_flags & SS_DISABLE) && g && g->self == g &&
	    g->inside) {
		g->inside = 0;
		siglongjmp(g->back, sig);
	}
	/* Not of a call: as if nobody had asked to be told. */
	signal(sig, SIG_DFL);
	raise(sig);
}

static long guard_peak_kib(void)
{
	struct rusage use;
	return getrusage(RUSAGE_SELF, &use) == 0 ? use.ru_maxrss : 0;
}

/* The one of this process, or NULL. */
static struct plug_guard *guard_find(void)
{
	struct sigaction is;
	stack_t stack;
	if (sigaction(SIGSEGV, NULL, &is) < 0 ||
	    is.sa_sigaction != guard_catch || sigaltstack(NULL, &stack) < 0)
		return NULL;
	return stack.ss_sp;
}

/* exit() runs this first, as it was asked for last. It is left in the middle: what
 * else it would have run is still there when the process does end. */
static void guard_exit(void)
{
	struct plug_guard *g = guard_find();
	if (!g || g->self != g || !g->inside)
		return;
	g->inside = 0;
	atexit(guard_exit);
	siglongjmp(g->back, PLUG_GUARD_EXIT);
}

static int guard_make(struct plug_guard **out, struct sim_err *e)
{
	struct plug_guard *g = mmap(NULL, GUARD_STACK, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction how = {.sa_sigaction = guard_catch,
	    .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
	const stack_t stack = {.ss_sp = g, .ss_size = GUARD_STACK};
	if (g == MAP_FAILED)
		return sim_fail(e, SIM_ENOMEM, "no memory for a stack.");
	g->self = g;
	g->peak_kib = guard_peak_kib();
	if (sigaltstack(&stack, &g->had_stack) < 0) {
		const int why = errno;
		munmap(g, GUARD_STACK);
		return sim_fail(e, SIM_EIO, "no stack for signals: %s.",
		    strerror(why));
	}
	sigemptyset(&how.sa_mask);
	for (size_t i = 0; i < GUARD_SIGNALS; i++)
		sigaction(guard_signals[i], &how, &g->had[i]);
	sim_limit_data(PLUG_DATA_BYTES, &g->had_data);
	/* Where there is no room for them, exit() costs the whole cell. */
	(void)atexit(guard_exit);
	(void)at_quick_exit(guard_exit);
	*out = g;
	return 0;
}

int plug_guard_open(struct plug_guard **g, struct sim_err *e)
{
	*g = guard_find();
	const int rc = *g ? 0 : guard_make(g, e);
	if (rc == 0)
		(*g)->n_users++;
	return rc;
}

void plug_guard_close(struct plug_guard *g)
{
	if (!g || --g->n_users > 0)
		return;
	setrlimit(RLIMIT_DATA, &g->had_data);
	for (size_t i = 0; i < GUARD_SIGNALS; i++)
		sigaction(guard_signals[i], &g->had[i], NULL);
	sigaltstack(&g->had_stack, NULL);
	munmap(g, GUARD_STACK);
}

static void guard_alarm(double s)
{
	const struct itimerval t = {
	    .it_value = {.tv_sec = (time_t)s,
		.tv_usec = (suseconds_t)((s - (double)(time_t)s) * 1e6)}};
	setitimer(ITIMER_REAL, &t, NULL);
}

/* Whoever loads, or is called, may set these for all of the process. */
static void guard_restore(void)
{
	fesetenv(FE_DFL_ENV);
	if (strcmp(setlocale(LC_ALL, NULL), "C") != 0)
		setlocale(LC_ALL, "C");
}

int plug_guard_call(struct plug_guard *g, double timeout_s,
    void (*fn)(void *arg), void *arg)
{
	/* The mask is not kept, which would cost a call of the system: handlers
	 * block nothing. */
	const int sig = sigsetjmp(g->back, 0);
	if (sig == 0) {
		guard_alarm(timeout_s);
		g->inside = 1;
		fn(arg);
		g->inside = 0;
		guard_alarm(0);
	} else {
		/* It may have held a lock that we need. What ends then by this
		 * alarm is told by whoever waits for the process. */
		guard_alarm(GUARD_LAST_S);
	}
	guard_restore();
	return sig;
}

size_t plug_guard_growth(const struct plug_guard *g)
{
	const long now = guard_peak_kib();
	return now > g->peak_kib ? (size_t)(now - g->peak_kib) * 1024 : 0;
}
