/* experiments/sweep/pool.c -- forked workers that serve cells and may die.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who gets which cells is decided in deal.c, and lane.h tells of the memory that
 * parent and worker share. A socket pair carries nothing but wake-up bytes, and
 * its end tells each side that the other is gone.
 */
#include "experiments/sweep/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/sweep/deal.h"
#include "models/clock.h"
#include "sim/time.h"
#include "sim/vec.h"

#define TELL_NS (20 * SIM_MS) /* wake the parent this often */
#define TICK_NS (100 * SIM_MS)

enum { DEATHS_MAX = 8 };

/* Wake the other side. A full socket is as good: it holds older wake-ups. */
static void pool_wake(int fd)
{
	ssize_t n;
	do {
		n = send(fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
}

/* Swallow wake-ups. Returns 0 when the other side is gone. */
static int woken(int fd, int flags)
{
	char bytes[256];
	ssize_t n;
	do {
		n = recv(fd, bytes, sizeof(bytes), flags);
	} while (n < 0 && errno == EINTR);
	return n > 0 || (n < 0 && errno == EAGAIN);
}

/* --- in the worker ------------------------------------------------------- */

/* Serve slot K. A worker that dies in it leaves begun > done behind, by which
 * the parent knows the cell. */
static int pool_serve(const struct xp_pool_job *job, void *worker,
    struct xp_lane *l, uint32_t k, struct sim_err *e)
{
	double *row = l->row + k * l->row_doubles;
	/* What a trial does not measure is NaN, and the slot
	 * has been used before. */
	for (size_t i = 0; i < l->row_doubles; i++)
		row[i] = __builtin_nan("");
	e->msg[0] = '\0';
	int rc = job->serve(worker, l->slot[k].cell, row, e);
	if (rc < 0 && e->msg[0] == '\0')
		sim_fail(e, rc, "%s.", sim_err_text(rc));
	return rc;
}

static _Noreturn void work(const struct xp_pool_job *job, struct xp_lane *l,
    int fd)
{
	void *worker = NULL;
	/* The end is always _exit(): buffers of stdio and exit handlers are the
	 * parent's, and would be run twice. */
	struct sim_err e = {0};
	int rc = job->open(job->ctx, &worker, &e);
	if (rc < 0) {
		l->head->open_err = e;
		atomic_store(&l->head->open_rc, rc);
		_exit(0);
	}
	uint32_t i, done = 0, told = 0;
	sim_ns now = clock_now(), told_ns = now;
	for (;;) {
		/* Before it sleeps a worker tells what it has done, or both
		 * sides would wait for each other. */
		if (!xp_lane_begin(l, &i)) {
			if (told != done)
				pool_wake(fd);
			told = done;
			if (!woken(fd, 0))
				_exit(0);
			now = told_ns = clock_now();
			continue;
		}
		const sim_ns start = now;
		rc = pool_serve(job, worker, l, i % l->n_slots, &e);
		now = clock_now();
		xp_lane_answer(l, i, rc, &e, now - start);
		done = i + 1;
		/* The end of the socket tells the parent, and cells that were
		 * not begun are given to the next worker. */
		if (job->is_spent && job->is_spent(worker))
			_exit(0);
		/* Half is done: time to ask for more. */
		if (done - told >= xp_lane_left(l, done) ||
		    now - told_ns >= TELL_NS) {
			pool_wake(fd);
			told = done;
			told_ns = now;
		}
	}
}

/* Make the fork a worker. It must not outlive the parent, must not act on
 * signals that are meant for it, and must not hold its files: a lock on a
 * journal lasts as long as anybody has the file open. */
static _Noreturn void become_worker(const struct xp_pool_job *job,
    struct xp_lane *l, int fd, pid_t parent, const sigset_t *mask)
{
	const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	enum { FD = 3 };
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have died before the signal was asked for. */
	if (getppid() != parent)
		_exit(0);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	sigprocmask(SIG_SETMASK, mask, NULL);
	/* The socket gets a fixed number, so that all
	 * above it can be closed. */
	if (fd != FD && dup3(fd, FD, O_CLOEXEC) < 0)
		_exit(1);
	closefrom(FD + 1);
	work(job, l, FD);
}

/* --- in the parent ------------------------------------------------------- */

struct worker {
	pid_t pid; /* 0: none */
	int fd;
	struct xp_hand *hand;
};

struct pool {
	const struct xp_pool_job *job;
	struct xp_deal deal;
	struct worker *worker; /* [deal.n_hands] */
	struct pollfd *pollfd; /* [deal.n_hands] */
	unsigned n_deaths;     /* in a row before they began a cell */
	sim_ns ticked_ns;
};

/* Hand the answers that are ready to the caller. A worker that has spoilt its
 * block is ended, and is buried when its socket says so. */
static int pool_collect(struct pool *p, struct worker *w, struct sim_err *e)
{
	int64_t n = xp_deal_n_ready(w->hand);
	if (n < 0 && w->pid > 0)
		kill(w->pid, SIGKILL);
	while (n-- > 0) {
		const struct xp_answer a = xp_deal_take(&p->deal, w->hand);
		p->n_deaths = 0;
		int rc = p->job->take(p->job->ctx, a.cell, a.status, a.row,
		    a.message, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void describe_death(int status, char *text, size_t cap)
{
	if (status < 0)
		snprintf(text, cap, "the worker ended, it is not known how.");
	else if (WIFSIGNALED(status))
		snprintf(text, cap, "the worker was killed by signal %d (%s).",
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(text, cap, "the worker exited with status %d.",
		    WEXITSTATUS(status));
}

/* Account for a worker that has been reaped: save its answers, report the cell
 * it was in, put the others back. */
static int bury(struct pool *p, struct worker *w, int status, struct sim_err *e)
{
	struct xp_lane_head *head = w->hand->lane.head;
	char death[128] = "the worker spoilt the memory that it shares.";
	uint64_t cell;
	int rc;
	close(w->fd);
	w->pid = 0;
	if ((rc = atomic_load(&head->open_rc)) < 0) {
		head->open_err.msg[sizeof(head->open_err.msg) - 1] = '\0';
		return sim_fail(e, rc, "%s", head->open_err.msg);
	}
	if (xp_deal_n_ready(w->hand) >= 0)
		describe_death(status, death, sizeof(death));
	if ((rc = pool_collect(p, w, e)) < 0)
		return rc;
	/* The cell that killed a worker is not given to another one. */
	if (xp_deal_bury(&p->deal, w->hand, &cell)) {
		p->n_deaths = 0;
		return p->job->take(p->job->ctx, cell, RES_CRASHED, NULL, death,
		    e);
	}
	if (++p->n_deaths < DEATHS_MAX)
		return 0;
	return sim_fail(e, SIM_EDEP,
	    "%d workers in a row died before they began a cell; of the last "
	    "one: %s",
	    DEATHS_MAX, death);
}

/* Reap one of our own children. Returns 0 if it still lives. STATUS is -1 if
 * somebody else took it, as happens where SIGCHLD is ignored. */
static int pool_reap(pid_t pid, int flags, int *status)
{
	pid_t got;
	while ((got = waitpid(pid, status, flags)) < 0 && errno == EINTR)
		continue;
	if (got < 0)
		*status = -1;
	return got != 0;
}

static int pool_spawn(struct pool *p, struct worker *w, struct sim_err *e)
{
	int fd[2], status = 0;
	sigset_t all, mask;
	xp_deal_seat(w->hand);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
		return sim_fail(e, SIM_EIO, "cannot make a socket pair: %s.",
		    strerror(errno));
	/* What the parent has not written yet, a worker must not write too. */
	fflush(NULL);
	/* No handler of the parent may run in the worker. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	const pid_t parent = getpid();
	w->pid = fork();
	if (w->pid == 0)
		become_worker(p->job, &w->hand->lane, fd[1], parent, &mask);
	/* Another call may overwrite errno before it is told. */
	status = errno;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	close(fd[1]);
	if (w->pid > 0) {
		w->fd = fd[0];
		return 0;
	}
	w->pid = 0;
	close(fd[0]);
	return sim_fail(e, SIM_EIO, "cannot start a worker: %s.",
	    strerror(status));
}

/* Ten times a second, look at all workers and call the user's tick. */
static int pool_tick(struct pool *p, struct sim_err *e)
{
	sim_ns now = clock_now();
	if (now - p->ticked_ns < TICK_NS)
		return 0;
	p->ticked_ns = now;
	/* Answers may wait behind a long cell, and a child of a dead worker may
	 * keep its socket open: look at all workers without being told. */
	for (size_t i = 0; i < p->deal.n_hands; i++) {
		struct worker *w = &p->worker[i];
		int status, rc;
		if (w->pid == 0)
			continue;
		if (pool_reap(w->pid, WNOHANG, &status))
			rc = bury(p, w, status, e);
		else
			rc = pool_collect(p, w, e);
		if (rc < 0)
			return rc;
		/* A wake-up is lost where the kernel has no memory for it, and
		 * its worker would sleep on beside its cells. */
		if (w->pid > 0)
			pool_wake(w->fd);
	}
	if (!p->job->tick)
		return 0;
	int rc = p->job->tick(p->job->ctx, e);
	return rc > 0 ? 1 : rc;
}

/* Sleep until a worker has something to tell or the next tick is due. */
static int wait_and_collect(struct pool *p, struct sim_err *e)
{
	const sim_ns passed = clock_now() - p->ticked_ns;
	const sim_ns left = passed < TICK_NS ? TICK_NS - passed : 0;
	for (size_t i = 0; i < p->deal.n_hands; i++) {
		const struct worker *w = &p->worker[i];
		p->pollfd[i].fd = w->pid > 0 ? w->fd : -1;
		p->pollfd[i].events = POLLIN;
		p->pollfd[i].revents = 0;
	}
	if (poll(p->pollfd, p->deal.n_hands,
		(int)((left + SIM_MS - 1) / SIM_MS)) < 0) {
		if (errno == EINTR)
			return 0;
		return sim_fail(e, SIM_EIO, "cannot wait for workers: %s.",
		    strerror(errno));
	}
	for (size_t i = 0; i < p->deal.n_hands; i++) {
		struct worker *w = &p->worker[i];
		int status, rc;
		if (p->pollfd[i].revents == 0)
			continue;
		if (woken(w->fd, MSG_DONTWAIT)) {
			rc = pool_collect(p, w, e);
		} else {
			/* It is dying, or has closed its socket and is of no
			 * use. A signal that comes second changes nothing. */
			kill(w->pid, SIGKILL);
			pool_reap(w->pid, 0, &status);
			rc = bury(p, w, status, e);
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Dead workers are replaced as long as there are cells to give. */
static int pool_run(struct pool *p, struct sim_err *e)
{
	int rc;
	p->ticked_ns = clock_now();
	while (p->deal.n_taken < p->job->n_cells) {
		for (size_t i = 0; i < p->deal.n_hands; i++) {
			struct worker *w = &p->worker[i];
			if (w->pid == 0 && xp_deal_is_left(&p->deal) &&
			    (rc = pool_spawn(p, w, e)) < 0)
				return rc;
			if (w->pid > 0 && xp_deal_feed(&p->deal, w->hand) > 0)
				pool_wake(w->fd);
		}
		if ((rc = wait_and_collect(p, e)) < 0 ||
		    (rc = pool_tick(p, e)) != 0)
			return rc;
	}
	return 0;
}

static int open_pool(struct pool *p, const struct xp_pool_job *job,
    struct sim_err *e)
{
	int rc;
	p->job = job;
	if ((rc = xp_deal_open(&p->deal, job, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->worker, p->deal.n_hands, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->pollfd, p->deal.n_hands, e)) < 0)
		return rc;
	for (size_t i = 0; i < p->deal.n_hands; i++)
		p->worker[i].hand = &p->deal.hand[i];
	return 0;
}

/* End all workers. An idle one holds nothing that could be lost, and a busy one
 * only the cell it is in, so SIGKILL will do. All are killed before the first
 * is waited for, so that they end side by side. */
static void kill_workers(struct pool *p)
{
	int status;
	for (size_t i = 0; p->worker && i < p->deal.n_hands; i++)
		if (p->worker[i].pid > 0)
			kill(p->worker[i].pid, SIGKILL);
	for (size_t i = 0; p->worker && i < p->deal.n_hands; i++) {
		if (p->worker[i].pid == 0)
			continue;
		pool_reap(p->worker[i].pid, 0, &status);
		close(p->worker[i].fd);
		p->worker[i].pid = 0;
	}
}

static void close_pool(struct pool *p)
{
	xp_deal_close(&p->deal);
	free(p->worker);
	free(p->pollfd);
}

int xp_pool_run(const struct xp_pool_job *job, struct sim_err *e)
{
	struct pool p = {0};
	int rc;
	if (job->n_cells == 0)
		return 0;
	if ((rc = open_pool(&p, job, e)) == 0)
		rc = pool_run(&p, e);
	kill_workers(&p);
	/* Stopped early: keep what was finished but not yet told. */
	for (size_t i = 0; rc == 1 && i < p.deal.n_hands; i++) {
		int failed = pool_collect(&p, &p.worker[i], e);
		if (failed < 0)
			rc = failed;
	}
	close_pool(&p);
	return rc;
}
