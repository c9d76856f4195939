/* tests/experiments/live/seccomp_test.c -- what a daemon may ask of the kernel, and not.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A filter cannot be taken off again, so each is begun in a child.
 */
#include "experiments/live/seccomp.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

enum { NO_FILTER = 77 };

/* How a child ends that does FN once it has the filter that KEEPS some, as of
 * waitpid(). */
static int confined_to(unsigned keeps, int (*fn)(void))
{
	int status = 0;
	fflush(NULL);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(xp_seccomp_begin(keeps, NULL) < 0 ? NO_FILTER : fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* As daemons of the network are. */
static int confined(int (*fn)(void))
{
	return confined_to(XP_SECCOMP_NETWORK, fn);
}

static int nothing(void)
{
	return 0;
}

static void skip_without_filter(void)
{
	const int status = confined(nothing);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTER)
		skip();
	assert_int_equal(status, 0);
}

/* --- killed ----------------------------------------------------------------- */
static int run_a_program(void)
{
	char *const none[] = {NULL};
	return execve("/bin/true", none, none);
}

static int trace(void)
{
	return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int read_another(void)
{
	char to[8];
	struct iovec at = {to, sizeof(to)};
	return (int)process_vm_readv(getppid(), &at, 1, &at, 1, 0);
}

static int mount_something(void)
{
	return mount("none", "/tmp", "tmpfs", 0, NULL);
}

static int change_root(void)
{
	return chroot("/");
}

static int load_a_module(void)
{
	return (int)syscall(SYS_finit_module, -1, "", 0);
}

/* A thread's deed is the process's. */
static void *run_in_thread(void *arg)
{
	return run_a_program() == 0 ? arg : NULL;
}

static int run_from_a_thread(void)
{
	pthread_t t;
	return pthread_create(&t, NULL, run_in_thread, NULL) != 0 ||
	    pthread_join(t, NULL) != 0;
}

/* The 32-bit calls of x86 have numbers of their own, by which a filter that looked
 * at numbers alone would be got around. Kernels without them fault instead, for which
 * the test's own handler, which would go on with further tests, is none of the child. */
static int call_as_another_machine(void)
{
#ifdef __x86_64__
	long rax = 20; /* getpid there */
	signal(SIGSEGV, SIG_DFL);
	__asm__ volatile("int $0x80" : "+a"(rax) : : "memory");
	return 0;
#else
	return raise(SIGSYS);
#endif
}

extern void __asan_init(void) __attribute__((weak));

static void whoever_runs_another_program_or_mounts_is_killed(void **state)
{
	int (*const deed[])(void) = {run_a_program, read_another,
	    mount_something, change_root, load_a_module, run_from_a_thread,
	    trace};
	/* Under a sanitizer, whose leak check traces, the last one is let
	 * through. */
	const size_t n = sizeof(deed) / sizeof(deed[0]) - (__asan_init != NULL);
	(void)state;
	skip_without_filter();
	for (size_t i = 0; i < n; i++) {
		const int status = confined(deed[i]);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			fail_msg("deed %zu ended with %#x", i, status);
	}
	assert_true(WIFSIGNALED(confined(call_as_another_machine)));
}

/* --- refused ---------------------------------------------------------------- */
static uint64_t n_before;

/* Whether a call that returned RC was refused and counted by NAME. */
static int was_refused(long rc, const char *name)
{
	const int why = errno;
	const char *last = NULL;
	const uint64_t n = xp_seccomp_refused(&last);
	const int is_so = rc == -1 && why == EPERM && n == n_before + 1 &&
	    strcmp(last, name) == 0;
	if (!is_so)
		fprintf(stderr, "%s: returns %ld, %s; last %s, count %d\n",
		    name, rc, strerror(why), last, (int)(n - n_before));
	n_before = n;
	return is_so;
}

static long map(int prot)
{
	void *p = mmap(NULL, 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? -1 : 0;
}

static long make_runnable(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? -2 : mprotect(p, 4096, PROT_READ | PROT_EXEC);
}

static int try_sockets(void)
{
	return !(was_refused(socket(AF_PACKET, SOCK_RAW, 0), "socket") &&
	    was_refused(socket(AF_PACKET, SOCK_DGRAM, 0), "socket") &&
	    was_refused(socket(AF_ALG, SOCK_SEQPACKET, 0), "socket") &&
	    was_refused(socket(AF_VSOCK, SOCK_STREAM, 0), "socket") &&
	    was_refused(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP), "socket") &&
	    was_refused(socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, 58),
		"socket"));
}

static int try_rights_but_ebpf(void)
{
	return !(was_refused(unshare(CLONE_NEWUSER), "unshare") &&
	    was_refused(setns(-1, 0), "setns") &&
	    was_refused(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0),
		"clone") &&
	    was_refused(syscall(SYS_setuid, 0), "setuid") &&
	    was_refused(syscall(SYS_setresgid, 0, 0, 0), "setresgid") &&
	    was_refused(syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0),
		"perf_event_open") &&
	    was_refused(syscall(SYS_keyctl, 0, 0, 0, 0, 0), "keyctl") &&
	    was_refused(syscall(SYS_io_uring_setup, 1, NULL),
		"io_uring_setup") &&
	    was_refused(syscall(SYS_clock_settime, CLOCK_REALTIME, NULL),
		"clock_settime") &&
	    was_refused(ioctl(0, TIOCSTI, "x"), "ioctl"));
}

static int try_memory(void)
{
	return !(was_refused(map(PROT_WRITE | PROT_EXEC), "mmap") &&
	    was_refused(make_runnable(), "mprotect") &&
	    map(PROT_READ | PROT_EXEC) == 0 && map(PROT_WRITE) == 0);
}

/* What the kernel has that this program was not told of, as if it had not. */
static int try_the_unknown(void)
{
	const int unknown = 4000;
	return !(syscall(unknown) == -1 && errno == ENOSYS &&
	    syscall(SYS_clone3, NULL, 0) == -1 && errno == ENOSYS &&
	    syscall(SYS_futex_waitv, NULL, 0, 1, NULL, 0) == -1 &&
	    errno != ENOSYS && xp_seccomp_refused(NULL) == 0);
}

static void sockets_rights_and_code_are_refused_and_counted(void **state)
{
	int (*const deed[])(void) = {try_sockets, try_rights_but_ebpf,
	    try_memory, try_the_unknown};
	(void)state;
	skip_without_filter();
	for (size_t i = 0; i < sizeof(deed) / sizeof(deed[0]); i++)
		if (confined(deed[i]) != 0)
			fail_msg("deed %zu", i);
}

/* Who sends nothing has no sockets but those of the same host. */
static int try_any_network(void)
{
	return !(was_refused(socket(AF_INET, SOCK_STREAM, 0), "socket") &&
	    was_refused(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP), "socket") &&
	    was_refused(socket(AF_INET6, SOCK_DGRAM, 0), "socket") &&
	    was_refused(socket(AF_NETLINK, SOCK_RAW, 0), "socket") &&
	    was_refused(socket(AF_PACKET, SOCK_DGRAM, 0), "socket") &&
	    socket(AF_UNIX, SOCK_DGRAM, 0) >= 0);
}

/* What the kernel itself says to a descriptor that is none is its own affair. The
 * commands are those of bpf(2), and some to come. */
static int try_ebpf_but_info(void)
{
	enum { LAST_COMMAND = 48 };
	uint64_t none[16] = {UINT32_MAX};
	syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, none, sizeof(none));
	if (xp_seccomp_refused(NULL) != 0)
		return 1;
	for (int i = 0; i <= LAST_COMMAND; i++)
		if (i != BPF_OBJ_GET_INFO_BY_FD &&
		    !was_refused(syscall(SYS_bpf, i, none, sizeof(none)),
			"bpf"))
			return 1;
	return 0;
}

static int try_ebpf(void)
{
	return !was_refused(syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, NULL, 0),
	    "bpf");
}

static void a_recorder_has_no_network_and_one_question_of_ebpf(void **state)
{
	(void)state;
	skip_without_filter();
	for (unsigned keeps = 0; keeps <= XP_SECCOMP_BPF_INFO;
	     keeps += XP_SECCOMP_BPF_INFO) {
		assert_int_equal(confined_to(keeps, try_any_network), 0);
		assert_int_equal(confined_to(keeps, try_rights_but_ebpf), 0);
		assert_int_equal(confined_to(keeps, try_memory), 0);
	}
	assert_int_equal(confined_to(XP_SECCOMP_BPF_INFO, try_ebpf_but_info),
	    0);
	assert_int_equal(confined_to(XP_SECCOMP_NOTHING, try_ebpf), 0);
	assert_int_equal(confined_to(XP_SECCOMP_NETWORK, try_ebpf), 0);
}

/* --- allowed ---------------------------------------------------------------- */
static void *rest_in_thread(void *arg)
{
	return arg;
}

static int use_threads_and_children(void)
{
	int status = -1;
	pthread_t t;
	if (pthread_create(&t, NULL, rest_in_thread, NULL) != 0 ||
	    pthread_join(t, NULL) != 0)
		return 1;
	const pid_t pid = fork();
	if (pid == 0)
		_exit(7);
	return waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 7;
}

/* As a database with a write-ahead log does: locks, shared maps, syncs. */
static int use_a_database_s_calls(void)
{
	char path[] = "/tmp/culprit_seccomp_XXXXXX", c = 0;
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	const int fd = mkstemp(path);
	int bad = fd < 0 || fcntl(fd, F_SETLK, &lock) < 0 ||
	    ftruncate(fd, 4096) < 0 || pwrite(fd, "x", 1, 0) != 1 ||
	    fdatasync(fd) < 0 || fsync(fd) < 0 || pread(fd, &c, 1, 0) != 1 ||
	    c != 'x' || fchmod(fd, 0600) < 0;
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	bad |= p == MAP_FAILED || munmap(p, 4096) < 0;
	bad |= unlink(path) < 0;
	close(fd);
	return bad;
}

/* Names are looked up by libraries that are only loaded then. */
static int use_the_network_s_calls(void)
{
	struct addrinfo *found = NULL;
	char bytes[16];
	const int v4 = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
		  v6 = socket(AF_INET6, SOCK_DGRAM, 0),
		  here = socket(AF_UNIX, SOCK_STREAM, 0),
		  kernel = socket(AF_NETLINK, SOCK_RAW, 0);
	if (getaddrinfo("localhost", "80", NULL, &found) == 0)
		freeaddrinfo(found);
	/* A machine may be without IPv6, which is no refusal. */
	return v4 < 0 || (v6 < 0 && errno == EPERM) || here < 0 || kernel < 0 ||
	    epoll_create1(0) < 0 || timerfd_create(CLOCK_MONOTONIC, 0) < 0 ||
	    getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes) ||
	    !dlopen("libm.so.6", RTLD_NOW) || xp_seccomp_refused(NULL) != 0;
}

static void what_daemons_do_goes_on(void **state)
{
	(void)state;
	skip_without_filter();
	assert_int_equal(confined(use_threads_and_children), 0);
	assert_int_equal(confined(use_a_database_s_calls), 0);
	assert_int_equal(confined(use_the_network_s_calls), 0);
	assert_int_equal(confined_to(XP_SECCOMP_BPF_INFO,
			     use_a_database_s_calls),
	    0);
	assert_int_equal(confined_to(XP_SECCOMP_NOTHING,
			     use_a_database_s_calls),
	    0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(whoever_runs_another_program_or_mounts_is_killed),
	    cmocka_unit_test(sockets_rights_and_code_are_refused_and_counted),
	    cmocka_unit_test(
		a_recorder_has_no_network_and_one_question_of_ebpf),
	    cmocka_unit_test(what_daemons_do_goes_on),
	};
	return cmocka_run_group_tests_name("live/seccomp", tests, NULL, NULL);
}
