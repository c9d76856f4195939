/* experiments/plug/child.c -- a program that is asked and answers, on pipes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/plug/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/plug/guard.h"
#include "models/clock.h"
#include "sim/apart.h"
#include "sim/text.h"
#include "sim/vec.h"

enum {
	CHILD_READ = 1 << 16,
	CHILD_WORDS = 64,
	CHILD_CLOSES_MS = 100, /* from the end of its answers to its own, and */
	CHILD_DIES_MS = 5000,  /* from where it has no error output either */
};

/* --- in the child ---------------------------------------------------------- */

/* The modules for children lie beside this program's specs where it was built,
 * and in share/ where it was installed. */
static void child_set_path(void)
{
	char exe[2048], path[8192];
	const char *had = getenv("PYTHONPATH");
	const ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	if (n <= 0)
		return;
	exe[n] = '\0';
	*strrchr(exe, '/') = '\0';
	snprintf(path, sizeof(path),
	    "%s%s%s/../share/culprit:%s/../experiments/plug", had ? had : "",
	    had && *had ? ":" : "", exe, exe);
	setenv("PYTHONPATH", path, 1);
}

/* What hashes, threads and languages do by chance is the same in each. */
static void child_set_environment(void)
{
	static const char *const set[][2] = {{"PYTHONHASHSEED", "0"},
	    {"PYTHONDONTWRITEBYTECODE", "1"}, {"OPENBLAS_NUM_THREADS", "1"},
	    {"OMP_NUM_THREADS", "1"}, {"MKL_NUM_THREADS", "1"},
	    {"LC_ALL", "C.UTF-8"}, {"TZ", "UTC"}};
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		setenv(set[i][0], set[i][1], 1);
	child_set_path();
}

static void child_set_limits(void)
{
	const struct rlimit none = {0, 0};
	struct rlimit data;
	setrlimit(RLIMIT_CORE, &none);
	sim_limit_data(PLUG_DATA_BYTES, &data);
	/* Nor may the child lift it. */
	if (getrlimit(RLIMIT_DATA, &data) == 0) {
		data.rlim_max = data.rlim_cur;
		setrlimit(RLIMIT_DATA, &data);
	}
}

static _Noreturn void become_child(plug_child_main *run, void *arg,
    const int fd[3], pid_t parent)
{
	sigset_t none;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	/* All of FD are above 4, so none is overwritten before its turn. */
	if (null < 0 || dup2(null, 0) < 0 || dup2(fd[2], 1) < 0 ||
	    dup2(fd[2], 2) < 0 || dup2(fd[0], 3) < 0 || dup2(fd[1], 4) < 0)
		_exit(127);
	closefrom(5);
	child_set_environment();
	child_set_limits();
	run(arg);
	_exit(127);
}

/* --- starting and ending --------------------------------------------------- */

/* Ends of a pipe above 4, and closed in whatever is started. */
static int child_pipe(int end[2], struct sim_err *e)
{
	int fd[2];
	if (pipe2(fd, O_CLOEXEC) < 0)
		return sim_fail(e, SIM_EIO, "no pipe for a program: %s.",
		    strerror(errno));
	for (size_t i = 0; i < 2; i++) {
		end[i] = fcntl(fd[i], F_DUPFD_CLOEXEC, 5);
		close(fd[i]);
	}
	return end[0] >= 0 && end[1] >= 0
	    ? 0
	    : sim_fail(e, SIM_EIO, "no pipe for a program: %s.",
		  strerror(errno));
}

static size_t child_split(char *text, char *word[CHILD_WORDS])
{
	size_t n = 0;
	for (char *one;
	     n < CHILD_WORDS - 1 && (one = strtok_r(text, " \t\n", &text));)
		word[n++] = one;
	word[n] = NULL;
	return n;
}

static void child_close(int fd[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fd[i] >= 0)
			close(fd[i]);
}

int plug_child_fork(struct plug_child *c, plug_child_main *run, void *arg,
    struct sim_err *e)
{
	/* Read and write ends of: to it, from it, what it prints. */
	int fd[6] = {-1, -1, -1, -1, -1, -1}, rc = 0;
	plug_child_end(c);
	for (size_t i = 0; rc == 0 && i < 3; i++)
		rc = child_pipe(fd + 2 * i, e);
	const pid_t parent = getpid();
	/* What is not written yet is not the child's to write. */
	if (rc == 0)
		fflush(NULL);
	const pid_t pid = rc == 0 ? fork() : -1;
	if (pid == 0)
		become_child(run, arg, (int[]){fd[0], fd[3], fd[5]}, parent);
	if (rc == 0 && pid < 0)
		rc = sim_fail(e, SIM_EIO, "no process for an algorithm: %s.",
		    strerror(errno));
	if (rc < 0) {
		child_close(fd, 6);
		return rc;
	}
	child_close((int[]){fd[0], fd[3], fd[5]}, 3);
	c->pid = pid;
	c->owner = parent;
	c->to = fd[1];
	c->from = fd[2];
	c->said = fd[4];
	c->n_got = c->n_words = 0;
	fcntl(c->to, F_SETFL, O_NONBLOCK);
	fcntl(c->from, F_SETFL, O_NONBLOCK);
	fcntl(c->said, F_SETFL, O_NONBLOCK);
	return 0;
}

struct child_command {
	char *word[CHILD_WORDS];
	const char *folder;
};

static void child_execute(void *arg)
{
	const struct child_command *x = arg;
	if (*x->folder && chdir(x->folder) < 0)
		dprintf(2, "%s: %s", x->folder, strerror(errno));
	else if (execvp(x->word[0], x->word) < 0)
		dprintf(2, "%s: %s", x->word[0], strerror(errno));
}

int plug_child_start(struct plug_child *c, const char *command,
    const char *folder, struct sim_err *e)
{
	struct child_command x = {.folder = folder};
	char *copy;
	int rc = sim_dup(&copy, command, e);
	if (rc < 0)
		return rc;
	rc = child_split(copy, x.word) > 0
	    ? plug_child_fork(c, child_execute, &x, e)
	    : sim_fail(e, SIM_EINVAL, "there is no command.");
	free(copy);
	return rc;
}

int plug_child_lives(struct plug_child *c)
{
	/* A fork has its parent's memory and not its children; the numbers of
	 * these files may be those of others by now. */
	if (c->pid != 0 && c->owner != getpid())
		c->pid = 0;
	return c->pid != 0;
}

/* End it, if need be, and return its status. */
static int child_reap(struct plug_child *c)
{
	int status = -1;
	child_close((int[]){c->to, c->from, c->said}, 3);
	kill(-c->pid, SIGKILL);
	kill(c->pid, SIGKILL);
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	c->pid = 0;
	return status;
}

void plug_child_end(struct plug_child *c)
{
	if (plug_child_lives(c))
		child_reap(c);
}

void plug_child_free(struct plug_child *c)
{
	plug_child_end(c);
	free(c->got);
	*c = (struct plug_child){0};
}

/* --- asking ---------------------------------------------------------------- */

/* Keep the end of what it prints. */
static void child_listen(struct plug_child *c)
{
	enum { HALF = sizeof(c->words) / 2 };
	ssize_t n;
	do {
		if (c->n_words > HALF) {
			memmove(c->words, c->words + c->n_words - HALF, HALF);
			c->n_words = HALF;
		}
		n = read(c->said, c->words + c->n_words,
		    sizeof(c->words) - 1 - c->n_words);
		if (n > 0)
			c->n_words += (size_t)n;
	} while (n > 0);
}

/* The last line it printed. */
static const char *child_last_words(struct plug_child *c)
{
	char *w = c->words;
	while (c->n_words > 0 && (unsigned char)w[c->n_words - 1] <= ' ')
		c->n_words--;
	w[c->n_words] = '\0';
	char *last = memrchr(w, '\n', c->n_words);
	for (char *at = last ? last + 1 : w; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 127)
			*at = ' ';
	return last ? last + 1 : w;
}

/* WHY, and what it printed last. There is no child afterwards. */
static int child_fail(struct plug_child *c, const char *why, struct sim_err *e)
{
	char text[200];
	snprintf(text, sizeof(text), "%s", why);
	if (c->pid)
		child_reap(c);
	const char *words = child_last_words(c);
	return *words
	    ? sim_fail(e, SIM_EDEP, "%s; last words: \"%.400s\".", text, words)
	    : sim_fail(e, SIM_EDEP, "%s.", text);
}

/* Did the last one who held the child's error output let go of it? */
static int child_is_silent(const struct plug_child *c)
{
	struct pollfd said = {.fd = c->said};
	return poll(&said, 1, 0) > 0 && (said.revents & POLLHUP);
}

/* Its answers ended. A child that has died is about to be one that can be
 * waited for, which takes the longer the busier the machine; one that lives on
 * has closed them itself. */
static int child_died(struct plug_child *c, struct sim_err *e)
{
	char why[100];
	int status = 0;
	pid_t got = 0;
	for (unsigned i = 0;
	     i < CHILD_CLOSES_MS || (i < CHILD_DIES_MS && child_is_silent(c));
	     i++) {
		got = waitpid(c->pid, &status, WNOHANG);
		if (got != 0)
			break;
		poll(NULL, 0, 1);
	}
	child_listen(c);
	if (got <= 0) {
		snprintf(why, sizeof(why), "it closed its answers");
	} else {
		child_close((int[]){c->to, c->from, c->said}, 3);
		c->pid = 0;
		if (WIFSIGNALED(status))
			snprintf(why, sizeof(why), "it died of signal %d (%s)",
			    WTERMSIG(status), strsignal(WTERMSIG(status)));
		else
			snprintf(why, sizeof(why), "it ended with status %d",
			    WEXITSTATUS(status));
	}
	return child_fail(c, why, e);
}

/* Returns 1 at the end of its answers. */
static int child_read(struct plug_child *c, struct sim_err *e)
{
	int rc = SIM_RESERVE(&c->got, &c->cap_got, c->n_got + CHILD_READ, e);
	if (rc < 0)
		return rc;
	const ssize_t n = read(c->from, c->got + c->n_got, CHILD_READ);
	if (n > 0)
		c->n_got += (size_t)n;
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* A pipe that nobody reads any more is no reason to die: its answers end too,
 * and that is told. */
static size_t child_write(struct plug_child *c, const void *bytes, size_t n)
{
	sigset_t pipe, was, now;
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &was);
	const ssize_t put = write(c->to, bytes, n);
	const int broken = put < 0 && errno == EPIPE;
	sigpending(&now);
	if (broken && sigismember(&now, SIGPIPE) && !sigismember(&was, SIGPIPE))
		sigtimedwait(&pipe, NULL, &(struct timespec){0});
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return broken ? n : put < 0 ? 0 : (size_t)put;
}

/* Wait until something can be done. Returns 0 when the time is over. */
static int child_wait(struct plug_child *c, int writes, sim_ns deadline,
    short ready[3])
{
	struct pollfd p[3] = {{c->from, POLLIN, 0}, {c->said, POLLIN, 0},
	    {writes ? c->to : -1, POLLOUT, 0}};
	const sim_ns now = clock_now();
	if (now >= deadline)
		return 0;
	const struct timespec left = {.tv_sec =
					  (time_t)((deadline - now) / SIM_SEC),
	    .tv_nsec = (long)((deadline - now) % SIM_SEC)};
	if (ppoll(p, 3, &left, NULL) < 0)
		p[0].revents = p[1].revents = p[2].revents = 0;
	for (size_t i = 0; i < 3; i++)
		ready[i] = p[i].revents;
	return 1;
}

/* One turn: whatever is ready of reading, listening and writing, so that
 * neither side waits for the other to empty a pipe. */
static int child_turn(struct plug_child *c, const unsigned char **bytes,
    size_t *left, sim_ns deadline, struct sim_err *e)
{
	short ready[3];
	int rc = 0;
	if (!child_wait(c, *left > 0, deadline, ready)) {
		child_listen(c);
		return child_fail(c, "no answer within its timeout", e);
	}
	if (ready[1])
		child_listen(c);
	if (ready[2]) {
		const size_t n = child_write(c, *bytes, *left);
		*bytes += n;
		*left -= n;
	}
	if (ready[0] && (rc = child_read(c, e)) > 0)
		return child_died(c, e);
	return rc;
}

int plug_child_ask(struct plug_child *c, const void *bytes, size_t n,
    double timeout_s, plug_size_of *size_of, void *arg, size_t *size,
    struct sim_err *e)
{
	const sim_ns deadline = clock_now() + (sim_ns)(timeout_s * 1e9);
	const unsigned char *at = bytes;
	int rc = 0;
	c->n_got = *size = 0;
	while (rc == 0 && (*size == 0 || c->n_got < *size || n > 0)) {
		rc = child_turn(c, &at, &n, deadline, e);
		if (rc == 0 && *size == 0)
			rc = size_of(arg, c->got, c->n_got, size, e);
	}
	if (rc == 0 && c->n_got > *size)
		rc = sim_fail(e, SIM_EDEP,
		    "garbage: %zu bytes behind its answer.", c->n_got - *size);
	/* Where one message ends and the next begins is not known any more. */
	if (rc < 0)
		plug_child_end(c);
	return rc;
}
