/* tests/sim/apart_test.c -- calls in another process, and what they die of.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/apart.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

static const struct sim_apart_limit limit = {.more_bytes = 64 << 20,
    .cpu_s = 1};

/* How many bytes a call sends or receives at most, if not 0; then each other call
 * is interrupted. */
static size_t at_once;
static unsigned n_calls;

static int is_interrupted(void)
{
	if (!at_once || n_calls++ % 2)
		return 0;
	errno = EINTR;
	return 1;
}

ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
	if (is_interrupted())
		return -1;
	return syscall(SYS_recvfrom, fd, bytes,
	    at_once && n > at_once ? at_once : n, flags, NULL, NULL);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	struct iovec part[4];
	struct msghdr some = *m;
	size_t left = at_once;
	if (is_interrupted())
		return -1;
	for (size_t i = 0; at_once && i < m->msg_iovlen; i++) {
		assert_true(i < 4);
		part[i] = m->msg_iov[i];
		if (part[i].iov_len > left)
			part[i].iov_len = left;
		left -= part[i].iov_len;
		some.msg_iov = part;
	}
	return syscall(SYS_sendmsg, fd, &some, flags);
}

/* As where /proc is not mounted. */
static int is_blind;

FILE *fopen(const char *path, const char *mode)
{
	if (!is_blind)
		return fopen64(path, mode);
	errno = ENOENT;
	return NULL;
}

struct sum {
	uint64_t total;
};

/* Adds what is asked to a sum of its own, and gives back N times the sum. */
static int add(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	struct sum *s = state;
	const uint32_t *add = ask;
	if (n != 2 * sizeof(*add))
		return sim_fail(e, SIM_EINVAL, "%zu bytes.", n);
	s->total += add[0];
	for (uint32_t i = 0; i < add[1]; i++) {
		uint64_t *at = sim_apart_room(to, sizeof(*at), e);
		if (!at)
			return SIM_ENOMEM;
		*at = s->total;
	}
	return 0;
}

static int fails(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	(void)state, (void)ask, (void)n;
	(void)sim_apart_room(to, 10, e);
	return sim_fail(e, SIM_ERANGE, "so it is.");
}

static int fails_silently(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	(void)state, (void)ask, (void)n, (void)to, (void)e;
	return SIM_EPARSE;
}

static int crashes(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	(void)state, (void)n, (void)to, (void)e;
	kill(getpid(), *(const int *)ask);
	return 0;
}

static int loops(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	volatile unsigned i = 0;
	(void)state, (void)ask, (void)n, (void)to, (void)e;
	for (;;)
		i++;
	return 0;
}

static int devours(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	uint64_t *n_mib = state;
	(void)ask, (void)n;
	for (; sim_apart_room(to, 1 << 20, e); ++*n_mib)
		continue;
	return SIM_ENOMEM;
}

static int gives_state(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	uint64_t *at = sim_apart_room(to, sizeof(*at), e);
	(void)ask, (void)n;
	*at = *(uint64_t *)state;
	return 0;
}

/* How the child is held. */
struct held {
	struct rlimit core, cpu;
	struct rusage used;
	struct itimerval late;
	int deadly;
};

static int gives_bounds(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	struct held *h = sim_apart_room(to, sizeof(*h), e);
	(void)state, (void)ask, (void)n;
	*h = (struct held){0};
	getrlimit(RLIMIT_CORE, &h->core);
	getrlimit(RLIMIT_CPU, &h->cpu);
	getrusage(RUSAGE_SELF, &h->used);
	getitimer(ITIMER_REAL, &h->late);
	prctl(PR_GET_PDEATHSIG, &h->deadly);
	return 0;
}

static int ends(void *state, const void *ask, size_t n,
    struct sim_apart_reply *to, struct sim_err *e)
{
	(void)state, (void)n, (void)to, (void)e;
	_exit(*(const int *)ask);
}

static void a_child_keeps_its_state_and_gives_bytes_back(void **state)
{
	struct sum s = {.total = 100};
	struct sim_apart *a;
	uint64_t got[3];
	size_t n;
	(void)state;
	assert_ok(sim_apart_open(&a, "adding", &s, &limit, test_err()));
	assert_ok(sim_apart_ask(a, add, (uint32_t[]){1, 3}, 8, &n, test_err()));
	assert_int_equal(n, 24);
	assert_ok(sim_apart_take(a, got, 8, test_err()));
	assert_int_equal(got[0], 101);
	/* What was not taken is not an answer to the next question. */
	assert_ok(
	    sim_apart_ask(a, add, (uint32_t[]){10, 2}, 8, &n, test_err()));
	assert_ok(sim_apart_take(a, got, n, test_err()));
	assert_int_equal(got[0], 111);
	assert_int_equal(got[1], 111);
	assert_int_equal(sim_apart_take(a, got, 1, NULL), SIM_EDEP);
	/* More than a socket holds, both ways at once. */
	assert_ok(
	    sim_apart_ask(a, add, (uint32_t[]){0, 1 << 20}, 8, &n, test_err()));
	assert_int_equal(n, 8 << 20);
	assert_ok(sim_apart_ask(a, add, (uint32_t[]){0, 0}, 8, &n, NULL));
	assert_int_equal(n, 0);
	sim_apart_close(a);
	assert_int_equal(s.total, 100);
}

static void bytes_arrive_in_any_pieces(void **state)
{
	(void)state;
	static const size_t pieces[] = {1, 7, 8, 15, 16, 17, 24, 100};
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct sum s = {.total = 5};
		struct sim_apart *a;
		struct sim_err e = {0};
		uint64_t got[40];
		size_t n = 0;
		at_once = pieces[i];
		assert_ok(sim_apart_open(&a, "adding", &s, &limit, test_err()));
		for (uint32_t k = 1; k <= 40; k += 13) {
			assert_ok(sim_apart_ask(a, add, (uint32_t[]){k, k}, 8,
			    &n, test_err()));
			assert_int_equal(n, 8 * k);
			assert_ok(sim_apart_take(a, got, n, test_err()));
			s.total += k;
			for (uint32_t j = 0; j < k; j++)
				assert_int_equal(got[j], s.total);
		}
		assert_int_equal(sim_apart_ask(a, fails, NULL, 0, &n, &e),
		    SIM_ERANGE);
		assert_string_equal(e.msg, "so it is.");
		sim_apart_close(a);
		at_once = 0;
	}
}

static void what_a_call_says_is_what_the_caller_gets(void **state)
{
	struct sim_apart *a;
	struct sum s = {0};
	struct sim_err e = {0};
	size_t n;
	(void)state;
	assert_ok(sim_apart_open(&a, "adding", &s, &limit, test_err()));
	assert_int_equal(sim_apart_ask(a, fails, NULL, 0, &n, &e), SIM_ERANGE);
	assert_string_equal(e.msg, "so it is.");
	assert_int_equal(e.code, SIM_ERANGE);
	assert_int_equal(sim_apart_ask(a, fails_silently, NULL, 0, &n, &e),
	    SIM_EPARSE);
	assert_string_equal(e.msg, "");
	assert_int_equal(e.code, 0);
	assert_ok(sim_apart_ask(a, add, (uint32_t[]){1, 1}, 8, &n, test_err()));
	assert_int_equal(n, 8);
	sim_apart_close(a);
}

/* The child is gone then, and all later questions say so. */
static void assert_dies(sim_apart_fn *fn, int ask, const char *why)
{
	struct sim_apart *a;
	struct sim_err e = {0};
	assert_ok(sim_apart_open(&a, "the library", NULL, &limit, test_err()));
	assert_int_equal(sim_apart_ask(a, fn, &ask, sizeof(ask), NULL, &e),
	    SIM_EDEP);
	assert_non_null(strstr(e.msg, "the library"));
	assert_non_null(strstr(e.msg, why));
	assert_int_equal(sim_apart_ask(a, fails, NULL, 0, NULL, &e), SIM_EDEP);
	assert_string_equal(e.msg, "the library is gone.");
	sim_apart_close(a);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* What this process ignores or blocks kills the child. */
static void a_crash_is_an_error(void **state)
{
	sigset_t abort_alone;
	(void)state;
	signal(SIGFPE, SIG_IGN);
	sigemptyset(&abort_alone);
	sigaddset(&abort_alone, SIGABRT);
	sigprocmask(SIG_BLOCK, &abort_alone, NULL);
	assert_dies(crashes, SIGFPE, "crashed: signal 8");
	assert_dies(crashes, SIGABRT, "crashed: signal 6");
	sigprocmask(SIG_UNBLOCK, &abort_alone, NULL);
	signal(SIGFPE, SIG_DFL);
	assert_dies(crashes, SIGBUS, "crashed: signal 7");
	assert_dies(crashes, SIGILL, "crashed: signal 4");
	assert_dies(crashes, SIGSEGV, "crashed: signal 11");
	assert_dies(crashes, SIGABRT, "crashed: signal 6");
	assert_dies(crashes, SIGKILL, "crashed: signal 9");
}

static void a_loop_is_an_error(void **state)
{
	(void)state;
	assert_dies(loops, 0, "does not come to an end");
	assert_dies(crashes, SIGXCPU, "does not come to an end");
	assert_dies(crashes, SIGALRM, "does not come to an end");
}

/* Whatever it says it ends with; and where nobody is told what it died of. */
static void a_child_that_ends_is_an_error(void **state)
{
	(void)state;
	assert_dies(ends, 0, "ended unexpectedly.");
	assert_dies(ends, 1, "ended unexpectedly.");
	signal(SIGCHLD, SIG_IGN);
	assert_dies(crashes, SIGSEGV, "ended unexpectedly.");
	signal(SIGCHLD, SIG_DFL);
}

/* A terminal sends these to all in front of it. */
static void a_child_outlives_what_its_parent_is_told(void **state)
{
	static const int told[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE,
	    SIGUSR1, SIGUSR2};
	struct sim_apart *a;
	(void)state;
	assert_ok(sim_apart_open(&a, "the library", NULL, &limit, test_err()));
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		assert_ok(sim_apart_ask(a, crashes, &told[i], sizeof(told[i]),
		    NULL, test_err()));
	sim_apart_close(a);
}

/* Each question has the time of the first: 2 s more than the limit, in whole
 * seconds; a minute for each by the clock; and the child dies with this. */
static void a_child_is_held_to_its_bounds(void **state)
{
	const struct sim_apart_limit two = {.cpu_s = 2};
	struct sim_apart *a;
	struct held h;
	(void)state;
	assert_ok(sim_apart_open(&a, "the library", NULL, &two, test_err()));
	for (unsigned i = 0; i < 2; i++) {
		assert_ok(
		    sim_apart_ask(a, gives_bounds, NULL, 0, NULL, test_err()));
		assert_ok(sim_apart_take(a, &h, sizeof(h), test_err()));
		assert_int_equal(h.core.rlim_cur, 0);
		assert_int_equal(h.core.rlim_max, 0);
		const rlim_t used = (rlim_t)h.used.ru_utime.tv_sec +
		    (rlim_t)h.used.ru_stime.tv_sec;
		assert_in_range(h.cpu.rlim_cur, used + 3, used + 4);
		assert_in_range(h.late.it_value.tv_sec, 61, 120);
		assert_int_equal(h.deadly, SIGKILL);
	}
	sim_apart_close(a);
}

static void a_child_gets_no_more_memory_than_its_limit(void **state)
{
	struct sim_apart *a;
	uint64_t n_mib = 0;
	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* it ends a process that has no memory */
#endif
	assert_ok(
	    sim_apart_open(&a, "the library", &n_mib, &limit, test_err()));
	assert_int_equal(sim_apart_ask(a, devours, NULL, 0, NULL, NULL),
	    SIM_ENOMEM);
	/* An array of 64 MiB grows by half. */
	assert_ok(sim_apart_ask(a, gives_state, NULL, 0, NULL, test_err()));
	assert_ok(sim_apart_take(a, &n_mib, sizeof(n_mib), test_err()));
	assert_in_range(n_mib, 64 * 5 / 8, 64);
	sim_apart_close(a);
}

static void a_fork_cannot_ask_its_parents_child(void **state)
{
	struct sum s = {0};
	struct sim_apart *a;
	int status;
	(void)state;
	assert_ok(sim_apart_open(&a, "adding", &s, &limit, test_err()));
	const pid_t pid = fork();
	if (pid == 0) {
		const int rc = sim_apart_ask(a, fails, NULL, 0, NULL, NULL);
		sim_apart_close(a);
		_exit(rc == SIM_EINVAL ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_ok(
	    sim_apart_ask(a, add, (uint32_t[]){1, 0}, 8, NULL, test_err()));
	sim_apart_close(a);
}

/* Neither what a socket takes nor a process is left behind. */
static void without_descriptors_there_is_no_child(void **state)
{
	struct sim_apart *a;
	struct sim_err e = {0};
	struct rlimit had;
	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &had), 0);
	const struct rlimit none = {0, had.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	int rc = sim_apart_open(&a, "the library", NULL, &limit, &e);
	test_peak_alloc();
	for (int i = 0; i < 100 && rc == SIM_EIO; i++)
		rc = sim_apart_open(&a, "the library", NULL, &limit, NULL);
	const size_t kept = test_peak_alloc();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &had), 0);
	assert_int_equal(rc, SIM_EIO);
	assert_true(kept < 1000); /* not what a hundred take */
	assert_string_equal(e.msg,
	    "no socket for the library: Too many open files.");
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* All but the child's end, which only it knows of. */
static int adds_once(void *arg, struct sim_err *e)
{
	struct sum *s = arg;
	struct sim_apart *a;
	uint64_t got = 0;
	int rc = sim_apart_open(&a, "adding", s, &limit, e);
	if (rc < 0)
		return rc;
	rc = sim_apart_ask(a, add, (uint32_t[]){1, 1}, 8, NULL, e);
	if (rc == 0)
		rc = sim_apart_take(a, &got, sizeof(got), e);
	sim_apart_close(a);
	assert_int_equal(got, rc == 0 ? 1 : 0);
	return rc;
}

static void each_failed_allocation_is_reported(void **state)
{
	struct sum s = {0};
	(void)state;
	test_each_alloc_fails(adds_once, &s);
}

/* The most is refused before memory is asked for, and what was there stays. */
static void room_that_cannot_be_is_refused(void **state)
{
	struct sim_apart_reply r = {0};
	struct sim_err e = {0};
	char want[64];
	(void)state;
	snprintf(want, sizeof(want), "no memory for %zu bytes.", SIZE_MAX);
	assert_null(sim_apart_room(&r, SIZE_MAX, &e));
	assert_int_equal(e.code, SIM_ENOMEM);
	assert_string_equal(e.msg, want);
	assert_null(sim_apart_room(&r, SIZE_MAX - 1, &e));
	assert_int_equal(r.n, 0);
	assert_non_null(sim_apart_room(&r, 0, test_err()));
	assert_int_equal(r.n, 0);
	char *at = sim_apart_room(&r, 10, test_err());
	assert_non_null(at);
	memcpy(at, "0123456789", 10);
	assert_null(sim_apart_room(&r, SIZE_MAX - 3, &e));
	snprintf(want, sizeof(want), "no memory for %zu bytes.", SIZE_MAX - 3);
	assert_string_equal(e.msg, want);
	assert_int_equal(r.n, 10);
	at = sim_apart_room(&r, 1000, test_err());
	assert_ptr_equal(at, r.bytes + 10);
	assert_memory_equal(r.bytes, "0123456789", 10);
	free(r.bytes);
}

/* Data that this process has, in bytes, as the kernel counts them. */
static uint64_t data_bytes(void)
{
	unsigned long long n = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %*u %*u %*u %*u %llu", &n), 1);
	fclose(f);
	return n * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* From what there is now on, and never more than it was before; the hard limit
 * stays, so that it can be undone. */
static void data_may_grow_by_what_is_left_alone(void **state)
{
	enum { SLACK = 8 << 20 };
	struct rlimit was, had, now;
	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* it has data of its own */
#endif
	assert_int_equal(getrlimit(RLIMIT_DATA, &was), 0);
	sim_limit_data(64 << 20, &had);
	assert_int_equal(getrlimit(RLIMIT_DATA, &now), 0);
	assert_true(had.rlim_cur == was.rlim_cur);
	assert_true(had.rlim_max == was.rlim_max);
	assert_true(now.rlim_max == was.rlim_max);
	const uint64_t want = data_bytes() + (64 << 20);
	assert_in_range(now.rlim_cur, want - SLACK, want + SLACK);
	/* A wider one is none; a narrower one is. */
	const struct rlimit first = now;
	sim_limit_data(UINT64_C(1) << 32, &had);
	assert_int_equal(getrlimit(RLIMIT_DATA, &now), 0);
	assert_true(had.rlim_cur == first.rlim_cur);
	assert_true(now.rlim_cur == first.rlim_cur);
	sim_limit_data(32 << 20, &had);
	assert_int_equal(getrlimit(RLIMIT_DATA, &now), 0);
	assert_in_range(now.rlim_cur, want - (32 << 20) - SLACK,
	    want - (32 << 20) + SLACK);
	assert_int_equal(setrlimit(RLIMIT_DATA, &was), 0);
}

/* No more is taken than is there, and none from a child that is gone. */
/* Who cannot tell what he holds may not be bound to the rest alone. */
static void where_memory_cannot_be_told_no_bound_is_set(void **state)
{
	(void)state;
	struct rlimit before, had, now;
	assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
	memset(&had, 0x5a, sizeof(had));
	is_blind = 1;
	sim_limit_data(UINT64_C(1) << 32, &had);
	is_blind = 0;
	assert_int_equal(getrlimit(RLIMIT_DATA, &now), 0);
	assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
	assert_true(now.rlim_cur == before.rlim_cur);
	assert_true(had.rlim_cur == before.rlim_cur);
	assert_true(had.rlim_max == before.rlim_max);
}

static void what_is_taken_is_what_is_left(void **state)
{
	struct sum s = {0};
	struct sim_apart *a;
	struct sim_err e = {0};
	uint64_t got[2];
	(void)state;
	assert_ok(sim_apart_open(&a, "adding", &s, &limit, test_err()));
	assert_ok(
	    sim_apart_ask(a, add, (uint32_t[]){7, 2}, 8, NULL, test_err()));
	assert_int_equal(sim_apart_take(a, got, 17, &e), SIM_EDEP);
	assert_string_equal(e.msg, "adding gave back too little.");
	assert_ok(sim_apart_take(a, got, 16, test_err()));
	assert_int_equal(got[0] + got[1], 14);
	assert_ok(sim_apart_take(a, got, 0, test_err()));
	assert_int_equal(sim_apart_take(a, got, 1, &e), SIM_EDEP);
	assert_int_equal(sim_apart_ask(a, ends, &(int){0}, sizeof(int), NULL,
			     &e),
	    SIM_EDEP);
	assert_string_equal(e.msg, "adding ended unexpectedly.");
	assert_int_equal(sim_apart_take(a, got, 0, &e), SIM_EDEP);
	assert_string_equal(e.msg, "adding is gone.");
	sim_apart_close(a);
	sim_apart_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_child_keeps_its_state_and_gives_bytes_back),
	    cmocka_unit_test(bytes_arrive_in_any_pieces),
	    cmocka_unit_test(what_a_call_says_is_what_the_caller_gets),
	    cmocka_unit_test(a_crash_is_an_error),
	    cmocka_unit_test(a_loop_is_an_error),
	    cmocka_unit_test(a_child_that_ends_is_an_error),
	    cmocka_unit_test(a_child_outlives_what_its_parent_is_told),
	    cmocka_unit_test(a_child_is_held_to_its_bounds),
	    cmocka_unit_test(a_child_gets_no_more_memory_than_its_limit),
	    cmocka_unit_test(a_fork_cannot_ask_its_parents_child),
	    cmocka_unit_test(without_descriptors_there_is_no_child),
	    cmocka_unit_test(each_failed_allocation_is_reported),
	    cmocka_unit_test(room_that_cannot_be_is_refused),
	    cmocka_unit_test(data_may_grow_by_what_is_left_alone),
	    cmocka_unit_test(where_memory_cannot_be_told_no_bound_is_set),
	    cmocka_unit_test(what_is_taken_is_what_is_left),
	};
	return cmocka_run_group_tests_name("sim/apart", tests, NULL, NULL);
}
