/* sim/apart.c -- functions that may crash or hang, called in another process.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/apart.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/vec.h"

enum { DROP = 1 << 12, SOCKET_BYTES = 1 << 20 };

struct sim_apart {
	const char *name;
	pid_t pid, owner; /* no child if PID is 0 */
	int fd;
	size_t left; /* of the last reply, not taken yet */
};

/* Before the bytes of a question, and of an answer: the error stands between. */
struct question {
	sim_apart_fn *fn;
	size_t n;
};
struct answer {
	int rc;
	size_t n;
};

/* --- both ends -------------------------------------------------------------*/

/* All parts in one call, as far as they fit: each call may wake the other end,
 * which then waits for the next. The other end may be gone, which must not end
 * this one. Parts are changed. */
static int send_parts(int fd, struct iovec part[], size_t n)
{
	struct msghdr m = {.msg_iov = part, .msg_iovlen = n};
	while (m.msg_iovlen > 0) {
		if (m.msg_iov->iov_len == 0) {
			m.msg_iov++;
			m.msg_iovlen--;
			continue;
		}
		ssize_t k = sendmsg(fd, &m, MSG_NOSIGNAL);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -1;
		for (struct iovec *v = m.msg_iov; k > 0; v++) {
			const size_t sent =
			    (size_t)k < v->iov_len ? (size_t)k : v->iov_len;
			v->iov_base = (char *)v->iov_base + sent;
			v->iov_len -= sent;
			k -= (ssize_t)sent;
		}
	}
	return 0;
}

static int receive_all(int fd, void *bytes, size_t n)
{
	for (char *at = bytes; n > 0;) {
		const ssize_t k = recv(fd, at, n, MSG_WAITALL);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return -1;
		at += k;
		n -= (size_t)k;
	}
	return 0;
}

void sim_limit_data(uint64_t more_bytes, struct rlimit *had)
{
	const rlim_t page = (rlim_t)sysconf(_SC_PAGESIZE);
	unsigned long long n = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	if (f && fscanf(f, "%*u %*u %*u %*u %*u %llu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	if (getrlimit(RLIMIT_DATA, had) < 0 || n == 0)
		return;
	struct rlimit now = *had;
	if (now.rlim_cur == RLIM_INFINITY ||
	    now.rlim_cur > n * page + more_bytes)
		now.rlim_cur = n * page + more_bytes;
	setrlimit(RLIMIT_DATA, &now);
}

/* --- in the child ----------------------------------------------------------*/

void *sim_apart_room(struct sim_apart_reply *r, size_t n, struct sim_err *e)
{
	size_t need;
	if (__builtin_add_overflow(r->n, n, &need) || need == SIZE_MAX) {
		sim_fail(e, SIM_ENOMEM, "no memory for %zu bytes.", n);
		return NULL;
	}
	/* At least one byte, as NULL is a failure. */
	if (SIM_RESERVE(&r->bytes, &r->cap, need + 1, e) < 0)
		return NULL;
	void *at = r->bytes + r->n;
	r->n = need;
	return at;
}

/* Of the parent these would be its own to handle; it ends the child itself. */
static void apart_signals(void)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE,
	    SIGUSR1, SIGUSR2, 0};
	static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT,
	    SIGALRM, SIGXCPU, 0};
	sigset_t none;
	for (const int *s = ignored; *s; s++)
		signal(*s, SIG_IGN);
	for (const int *s = deadly; *s; s++)
		signal(*s, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* From now on so much time, whatever has passed. The bound counts whole seconds,
 * so within one it stands as it is; *END is the one that was set. */
static void apart_time(unsigned cpu_s, rlim_t *end)
{
	struct rusage used;
	struct rlimit cpu;
	const struct itimerval late = {.it_value.tv_sec = 60 * (time_t)cpu_s};
	if (getrusage(RUSAGE_SELF, &used) == 0) {
		const rlim_t then = (rlim_t)used.ru_utime.tv_sec +
		    (rlim_t)used.ru_stime.tv_sec + 2 + cpu_s;
		if (then != *end && getrlimit(RLIMIT_CPU, &cpu) == 0) {
			cpu.rlim_cur =
			    then < cpu.rlim_max ? then : cpu.rlim_max;
			setrlimit(RLIMIT_CPU, &cpu);
			*end = then;
		}
	}
	setitimer(ITIMER_REAL, &late, NULL);
}

static void apart_begin(pid_t parent, const struct sim_apart_limit *limit)
{
	const struct rlimit none = {0, 0};
	struct rlimit had;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	apart_signals();
	setrlimit(RLIMIT_CORE, &none);
	if (limit->more_bytes > 0)
		sim_limit_data(limit->more_bytes, &had);
}

static int throw_away(int fd, size_t n)
{
	char rest[DROP];
	while (n > 0) {
		const size_t k = n < DROP ? n : DROP;
		if (receive_all(fd, rest, k) < 0)
			return -1;
		n -= k;
	}
	return 0;
}

static int apart_answer(int fd, void *state, const struct question *q)
{
	struct sim_apart_reply reply = {0};
	struct sim_err e = {0};
	void *ask = NULL;
	int rc = sim_zalloc(&ask, q->n, 1, &e);
	if ((rc < 0 ? throw_away(fd, q->n) : receive_all(fd, ask, q->n)) < 0)
		return -1;
	if (rc == 0)
		rc = q->fn(state, ask, q->n, &reply, &e);
	free(ask);
	struct answer a = {.rc = rc, .n = rc < 0 ? 0 : reply.n};
	struct iovec part[] = {{&a, sizeof(a)}, {&e, rc < 0 ? sizeof(e) : 0},
	    {reply.bytes, a.n}};
	const int sent = send_parts(fd, part, 3);
	free(reply.bytes);
	return sent;
}

static _Noreturn void serve(int fd, void *state, unsigned cpu_s)
{
	struct question q;
	rlim_t end = 0;
	int good = 1;
	while (good && receive_all(fd, &q, sizeof(q)) == 0) {
		apart_time(cpu_s, &end);
		good = apart_answer(fd, state, &q) == 0;
		setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	}
	_exit(good ? 0 : 1);
}

/* --- in the parent ---------------------------------------------------------*/

int sim_apart_open(struct sim_apart **out, const char *name, void *state,
    const struct sim_apart_limit *limit, struct sim_err *e)
{
	const pid_t parent = getpid();
	struct sim_apart *a;
	int fd[2], rc = SIM_ZALLOC(&a, 1, e);
	if (rc < 0)
		return rc;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0) {
		rc = sim_fail(e, SIM_EIO, "no socket for %s: %s.", name,
		    strerror(errno));
		free(a);
		return rc;
	}
	for (size_t i = 0; i < 2; i++)
		setsockopt(fd[i], SOL_SOCKET, SO_SNDBUF, &(int){SOCKET_BYTES},
		    sizeof(int));
	*a = (struct sim_apart){.name = name, .owner = parent, .fd = fd[0]};
	if ((a->pid = fork()) == 0) {
		close(fd[0]);
		apart_begin(parent, limit);
		serve(fd[1], state, limit->cpu_s);
	}
	const int why = errno;
	close(fd[1]);
	if (a->pid < 0) {
		a->pid = 0;
		sim_apart_close(a);
		return sim_fail(e, SIM_EIO, "no process for %s: %s.", name,
		    strerror(why));
	}
	*out = a;
	return 0;
}

/* End the child, if it has not ended, and return its status, or -1. A child
 * that is dying already keeps what it dies of. */
static int apart_reap(struct sim_apart *a)
{
	int status = -1;
	kill(a->pid, SIGKILL);
	while (waitpid(a->pid, &status, 0) < 0)
		if (errno != EINTR) {
			status = -1;
			break;
		}
	a->pid = 0;
	return status;
}

/* The child has closed its end, so it is dead or about to be. */
static int apart_died(struct sim_apart *a, struct sim_err *e)
{
	/* Where SIGCHLD is ignored there is no status. */
	const int status = apart_reap(a);
	a->left = 0;
	if (status == -1 || !WIFSIGNALED(status))
		return sim_fail(e, SIM_EDEP, "%s ended unexpectedly.", a->name);
	const int sig = WTERMSIG(status);
	if (sig == SIGXCPU || sig == SIGALRM)
		return sim_fail(e, SIM_EDEP, "%s does not come to an end.",
		    a->name);
	return sim_fail(e, SIM_EDEP, "%s crashed: signal %d (%s).", a->name,
	    sig, strsignal(sig));
}

static int apart_lives(const struct sim_apart *a, struct sim_err *e)
{
	if (a->owner != getpid())
		return sim_fail(e, SIM_EINVAL,
		    "%s is asked by a process that did not begin it.", a->name);
	return a->pid != 0 ? 0 : sim_fail(e, SIM_EDEP, "%s is gone.", a->name);
}

int sim_apart_ask(struct sim_apart *a, sim_apart_fn *fn, const void *ask,
    size_t n, size_t *n_reply, struct sim_err *e)
{
	struct question q = {.fn = fn, .n = n};
	struct iovec part[] = {{&q, sizeof(q)}, {(void *)ask, n}};
	struct answer got;
	struct sim_err said;
	int rc;
	if ((rc = apart_lives(a, e)) < 0)
		return rc;
	if (throw_away(a->fd, a->left) < 0 || send_parts(a->fd, part, 2) < 0 ||
	    receive_all(a->fd, &got, sizeof(got)) < 0 ||
	    (got.rc < 0 && receive_all(a->fd, &said, sizeof(said)) < 0))
		return apart_died(a, e);
	if (got.rc < 0) {
		if (e)
			*e = said;
		return got.rc;
	}
	a->left = got.n;
	if (n_reply)
		*n_reply = got.n;
	return 0;
}

int sim_apart_take(struct sim_apart *a, void *to, size_t n, struct sim_err *e)
{
	if (a->pid == 0)
		return sim_fail(e, SIM_EDEP, "%s is gone.", a->name);
	if (n > a->left)
		return sim_fail(e, SIM_EDEP, "%s gave back too little.",
		    a->name);
	if (receive_all(a->fd, to, n) < 0)
		return apart_died(a, e);
	a->left -= n;
	return 0;
}

void sim_apart_close(struct sim_apart *a)
{
	if (!a)
		return;
	close(a->fd);
	/* A fork has its parent's memory and not its children. */
	if (a->pid != 0 && a->owner == getpid())
		apart_reap(a);
	free(a);
}
