/* experiments/sweep/pool.c -- forked workers that serve cells and may die.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Parent and worker share one block of memory, a ring of slots:
 *
 *	   taken       done      begun        given
 *	-----+-----------+---------+------------+-----
 *	     | answered, | in      | the worker | free
 *	     | not taken | service | will serve |
 *	-----+-----------+---------+------------+-----
 *
 * Slot i of the sequence lies at i % n_slots. The parent moves `given` (up:
 * more work; down: work taken back for an idle worker) and `taken`; the worker
 * moves `begun` and `done`. As begun and given are raced for, they share one
 * word. Answers stay where the worker wrote them, so a death loses none, and
 * begun > done tells which cell it died in. A socket pair carries nothing but
 * wake-up bytes, and its end tells each side that the other is gone.
 */
#include "experiments/sweep/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/clock.h"
#include "sim/time.h"
#include "sim/vec.h"

#define AHEAD_NS (50 * SIM_MS) /* work given to a worker in advance */
#define TELL_NS  (20 * SIM_MS) /* wake the parent this often */
#define TICK_NS  (100 * SIM_MS)

/* RING_BYTES bounds what the rows of one worker take: with long rows
 * there are fewer slots. */
enum {
	RING_BYTES = 1 << 20, /* of rows, a worker */
	SLOTS_MIN = 4,
	SLOTS_MAX = 1024,
	DEATHS_MAX = 8,
	CACHE_LINE = 64,
};

struct slot {
	uint64_t cell, spent_ns;
	uint32_t failed, has_message;
};

/* A message lies in shared memory too, so it has a fixed size. */
struct message {
	char text[sizeof(((struct sim_err *)0)->msg)];
};

/* Head of the shared block; the ring follows. */
struct shared {
	_Atomic uint64_t claim; /* begun << 32 | given */
	_Atomic uint32_t done;
	_Atomic int open_rc;
	struct sim_err open_err;
};

/* One worker's block: what both sides see. */
struct lane {
	struct shared *shared;
	uint32_t n_slots;
	size_t row_doubles;
	struct slot *slot;       /* [n_slots] */
	double *row;             /* [n_slots][row_doubles] */
	struct message *message; /* [n_slots]; pages unused until a failure */
};

static uint32_t begun_of(uint64_t claim)
{
	return (uint32_t)(claim >> 32);
}

static uint32_t given_of(uint64_t claim)
{
	return (uint32_t)claim;
}

static uint64_t claim_of(uint32_t begun, uint32_t given)
{
	return (uint64_t)begun << 32 | given;
}

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

/* Take the next cell, or find that there is none. The parent may take cells
 * back meanwhile, so begun and given are changed together or not at all. */
static int pool_begin(struct lane *l, uint32_t *index)
{
	uint64_t was = atomic_load(&l->shared->claim);
	do {
		*index = begun_of(was);
		if (*index == given_of(was))
			return 0;
	} while (!atomic_compare_exchange_weak(&l->shared->claim, &was,
	    claim_of(*index + 1, given_of(was))));
	return 1;
}

/* Serve slot K. A worker that dies in it leaves begun > done behind, by which
 * the parent knows the cell. */
static void pool_serve(const struct xp_pool_job *job, void *worker,
    struct lane *l, uint32_t k)
{
	struct sim_err e;
	double *row = l->row + k * l->row_doubles;
	/* What a trial does not measure is NaN, and the slot
	 * has been used before. */
	for (size_t i = 0; i < l->row_doubles; i++)
		row[i] = __builtin_nan("");
	e.msg[0] = '\0';
	int rc = job->serve(worker, l->slot[k].cell, row, &e);
	l->slot[k].failed = rc < 0;
	if (rc < 0 && e.msg[0] == '\0')
		sim_fail(&e, rc, "%s.", sim_err_text(rc));
	l->slot[k].has_message = rc != 0;
	if (rc != 0)
		memcpy(l->message[k].text, e.msg, sizeof(e.msg));
}

static _Noreturn void work(const struct xp_pool_job *job, struct lane *l,
    int fd)
{
	void *worker = NULL;
	/* The end is always _exit(): buffers of stdio and exit handlers are the
	 * parent's, and would be run twice. */
	struct sim_err e = {0};
	int rc = job->open(job->ctx, &worker, &e);
	if (rc < 0) {
		l->shared->open_err = e;
		atomic_store(&l->shared->open_rc, rc);
		_exit(0);
	}
	uint32_t i, done = 0, told = 0;
	sim_ns now = clock_now(), told_ns = now;
	for (;;) {
		/* Before it sleeps a worker tells what it has done, or both
		 * sides would wait for each other. */
		if (!pool_begin(l, &i)) {
			if (told != done)
				pool_wake(fd);
			told = done;
			if (!woken(fd, 0))
				_exit(0);
			now = told_ns = clock_now();
			continue;
		}
		const uint32_t k = i % l->n_slots;
		const sim_ns start = now;
		pool_serve(job, worker, l, k);
		now = clock_now();
		l->slot[k].spent_ns = now - start;
		/* Row and slot are complete before `done` says so: an atomic
		 * store is not moved before them. */
		atomic_store(&l->shared->done, done = i + 1);
		/* The end of the socket tells the parent, and cells that were
		 * not begun are given to the next worker. */
		if (job->is_spent && job->is_spent(worker))
			_exit(0);
		/* Half is done: time to ask for more. */
		uint32_t given = given_of(atomic_load(&l->shared->claim));
		if (done - told >= given - done || now - told_ns >= TELL_NS) {
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
    struct lane *l, int fd, pid_t parent, const sigset_t *mask)
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
	struct lane lane;
	uint32_t given, taken;
	/* [n_slots], ours, so that a worker gone wild cannot mix up cells. */
	uint64_t *cell;
};

struct pool {
	const struct xp_pool_job *job;
	size_t n_workers;
	struct worker *worker;
	struct pollfd *pollfd; /* [n_workers] */
	uint32_t n_slots;
	void *map;
	size_t map_bytes;

	/* Cells to give: those that came back, then from NEXT on. */
	uint64_t *back; /* [n_workers * n_slots] */
	size_t n_back, next;

	size_t n_taken;
	unsigned n_deaths; /* in a row before they began a cell */
	sim_ns cell_ns;    /* moving average; 0: none served yet */
	sim_ns ticked_ns;
};

static int have_cells(const struct pool *p)
{
	return p->n_back > 0 || p->next < p->job->n_cells;
}

static uint64_t next_cell(struct pool *p)
{
	return p->n_back > 0 ? p->back[--p->n_back] : p->job->cell[p->next++];
}

/* Does the next cell belong to CELL, that was given last? */
static int goes_with(const struct pool *p, uint64_t cell)
{
	const struct xp_pool_job *job = p->job;
	return job->together && have_cells(p) &&
	    job->together(job->ctx, cell,
		p->n_back > 0 ? p->back[p->n_back - 1] : job->cell[p->next]);
}

/* How many cells to keep in a worker's hands: those of AHEAD_NS, so that one
 * which meets long cells does not sit on many of them while others are idle;
 * but at least two, the one that it serves and one to go on with while we
 * sleep. */
static uint32_t depth(const struct pool *p)
{
	sim_ns n = p->cell_ns > 0 ? AHEAD_NS / p->cell_ns : 0;
	if (n < 2)
		n = 2;
	return n < p->n_slots ? (uint32_t)n : p->n_slots;
}

/* Take back half of what the most loaded worker has not begun, for an idle one.
 * At the end of a sweep that keeps all of them busy. */
static void pool_take_back(struct pool *p)
{
	struct worker *from = NULL;
	uint32_t most = 0;
	for (size_t i = 0; i < p->n_workers; i++) {
		struct worker *w = &p->worker[i];
		uint64_t claim = atomic_load(&w->lane.shared->claim);
		uint32_t n = w->given - begun_of(claim);
		/* A single cell stays: its worker is just waking up. */
		if (w->given - w->taken >= 2 && n > most && n <= p->n_slots) {
			most = n;
			from = w;
		}
	}
	if (!from)
		return;
	uint32_t n;
	/* The worker may begin cells while this is worked out, so it is tried
	 * until nothing has changed in between. */
	uint64_t was = atomic_load(&from->lane.shared->claim);
	do {
		n = from->given - begun_of(was);
		if (n == 0 || n > p->n_slots)
			return;
		n = (n + 1) / 2;
	} while (!atomic_compare_exchange_weak(&from->lane.shared->claim, &was,
	    claim_of(begun_of(was), from->given - n)));
	while (n-- > 0)
		p->back[p->n_back++] = from->cell[--from->given % p->n_slots];
}

/* Fill up a worker's slots. Nothing happens before half of its work is gone, so
 * that a wake-up pays for many cells. */
static void pool_feed(struct pool *p, struct worker *w)
{
	const uint32_t want = depth(p), have = w->given - w->taken;
	uint32_t n = 0;
	uint64_t cell = 0;
	if (have * 2 > want)
		return;
	if (have == 0 && !have_cells(p))
		pool_take_back(p);
	for (; have_cells(p) && have + n < p->n_slots &&
	     (have + n < want || (n > 0 && goes_with(p, cell)));
	     n++) {
		uint32_t k = w->given++ % p->n_slots;
		/* The parent keeps a copy of the number where the
		 * worker can't reach it. */
		cell = w->cell[k] = w->lane.slot[k].cell = next_cell(p);
	}
	if (n == 0)
		return;
	/* Only now may the worker see the cells. The lower half of the word is
	 * `given`, which may be added to as only the parent raises it. */
	atomic_fetch_add(&w->lane.shared->claim, n);
	pool_wake(w->fd);
}

/* Hand the answers that are ready to the caller. */
static int pool_collect(struct pool *p, struct worker *w, struct sim_err *e)
{
	/* A worker that went wild may have written anything, so what it says is
	 * bounded by what it was given, and its texts are ended here. */
	uint32_t done = atomic_load(&w->lane.shared->done);
	if (done - w->taken > w->given - w->taken)
		done = w->given; /* the worker spoiled its own block */
	while (w->taken != done) {
		const uint32_t k = w->taken++ % p->n_slots;
		const struct slot *s = &w->lane.slot[k];
		char *text = w->lane.message[k].text;
		const char *message = NULL;
		if (s->has_message) {
			text[sizeof(w->lane.message[k].text) - 1] = '\0';
			message = text;
		}
		p->n_taken++;
		p->n_deaths = 0;
		if (p->cell_ns == 0)
			p->cell_ns = s->spent_ns + 1;
		/* The latest cell counts for an eighth of the average, by which
		 * depth() tells how far ahead to go. */
		else
			p->cell_ns += s->spent_ns / 8 - p->cell_ns / 8;
		int rc = p->job->take(p->job->ctx, w->cell[k],
		    s->failed ? RES_FAILED : RES_DONE,
		    w->lane.row + k * w->lane.row_doubles, message, e);
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
	struct shared *s = w->lane.shared;
	char death[128];
	int rc;
	close(w->fd);
	w->pid = 0;
	if ((rc = atomic_load(&s->open_rc)) < 0) {
		s->open_err.msg[sizeof(s->open_err.msg) - 1] = '\0';
		return sim_fail(e, rc, "%s", s->open_err.msg);
	}
	if ((rc = pool_collect(p, w, e)) < 0)
		return rc;
	describe_death(status, death, sizeof(death));
	/* A cell was begun and not answered: it is the one that killed the
	 * worker, and is not given to another one. */
	if (begun_of(atomic_load(&s->claim)) > w->taken &&
	    w->given != w->taken) {
		const uint32_t k = w->taken++ % p->n_slots;
		p->n_taken++;
		p->n_deaths = 0;
		rc = p->job->take(p->job->ctx, w->cell[k], RES_CRASHED, NULL,
		    death, e);
	} else if (++p->n_deaths >= DEATHS_MAX) {
		rc = sim_fail(e, SIM_EDEP,
		    "%d workers in a row died before they began a cell; of the "
		    "last one: %s",
		    DEATHS_MAX, death);
	}
	/* Cells that were not begun are as good as new. */
	while (w->given != w->taken)
		p->back[p->n_back++] = w->cell[--w->given % p->n_slots];
	return rc;
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
	/* All counters begin at zero with the worker. */
	memset(w->lane.shared, 0, sizeof(*w->lane.shared));
	w->given = w->taken = 0;
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
		become_worker(p->job, &w->lane, fd[1], parent, &mask);
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
	for (size_t i = 0; i < p->n_workers; i++) {
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
	for (size_t i = 0; i < p->n_workers; i++) {
		const struct worker *w = &p->worker[i];
		p->pollfd[i].fd = w->pid > 0 ? w->fd : -1;
		p->pollfd[i].events = POLLIN;
		p->pollfd[i].revents = 0;
	}
	if (poll(p->pollfd, p->n_workers, (int)((left + SIM_MS - 1) / SIM_MS)) <
	    0) {
		if (errno == EINTR)
			return 0;
		return sim_fail(e, SIM_EIO, "cannot wait for workers: %s.",
		    strerror(errno));
	}
	for (size_t i = 0; i < p->n_workers; i++) {
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
	while (p->n_taken < p->job->n_cells) {
		for (size_t i = 0; i < p->n_workers; i++) {
			struct worker *w = &p->worker[i];
			if (w->pid == 0 && have_cells(p) &&
			    (rc = pool_spawn(p, w, e)) < 0)
				return rc;
			if (w->pid > 0)
				pool_feed(p, w);
		}
		if ((rc = wait_and_collect(p, e)) < 0 ||
		    (rc = pool_tick(p, e)) != 0)
			return rc;
	}
	return 0;
}

/* Bytes of one worker's block, a multiple of CACHE_LINE; 0: too many. Fills
 * the offsets of the row and message arrays. */
static size_t lay_out(const struct pool *p, size_t *row_at, size_t *message_at)
{
	const size_t n = p->n_slots;
	size_t bytes;
	/* Whole cache lines for each worker, so that no two
	 * write to the same one. */
	*row_at = sizeof(struct shared) + n * sizeof(struct slot);
	*row_at = (*row_at + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	if (__builtin_mul_overflow(n * sizeof(double), p->job->row_doubles,
		&bytes) ||
	    __builtin_add_overflow(bytes, *row_at, message_at) ||
	    __builtin_add_overflow(*message_at,
		n * sizeof(struct message) + CACHE_LINE, &bytes))
		return 0;
	return bytes / CACHE_LINE * CACHE_LINE;
}

static int open_lanes(struct pool *p, struct sim_err *e)
{
	size_t row_at, message_at;
	size_t stride = lay_out(p, &row_at, &message_at);
	if (stride == 0 ||
	    __builtin_mul_overflow(stride, p->n_workers, &p->map_bytes))
		return sim_fail(e, SIM_ENOMEM,
		    "no memory for %zu workers with rows of %zu numbers.",
		    p->n_workers, p->job->row_doubles);
	p->map = mmap(NULL, p->map_bytes, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->map == MAP_FAILED) {
		p->map = NULL;
		return sim_fail(e, SIM_ENOMEM,
		    "no memory for %zu bytes shared with workers.",
		    p->map_bytes);
	}
	for (size_t i = 0; i < p->n_workers; i++) {
		char *at = (char *)p->map + i * stride;
		p->worker[i].lane = (struct lane){
		    .shared = (void *)at,
		    .n_slots = p->n_slots,
		    .row_doubles = p->job->row_doubles,
		    .slot = (void *)(at + sizeof(struct shared)),
		    .row = (void *)(at + row_at),
		    .message = (void *)(at + message_at),
		};
	}
	return 0;
}

static int open_pool(struct pool *p, const struct xp_pool_job *job,
    struct sim_err *e)
{
	uint64_t *cell;
	int rc;
	if (job->n_workers == 0)
		return sim_fail(e, SIM_ERANGE, "0 workers is not in [1, %u].",
		    UINT32_MAX);
	p->job = job;
	p->n_workers = job->n_workers;
	/* More workers than cells would only be forked. */
	if (p->n_workers > job->n_cells)
		p->n_workers = job->n_cells;
	/* The most slots, a power of two, whose rows fit into RING_BYTES. As
	 * slots are counted modulo their number, that must divide 2^32. */
	p->n_slots = SLOTS_MAX;
	while (p->n_slots > SLOTS_MIN &&
	    job->row_doubles > RING_BYTES / sizeof(double) / p->n_slots)
		p->n_slots /= 2;
	const size_t n = p->n_workers * p->n_slots;
	if ((rc = SIM_ZALLOC(&p->worker, p->n_workers, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->pollfd, p->n_workers, e)) < 0 ||
	    (rc = SIM_ZALLOC(&p->back, n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&cell, n, e)) < 0)
		return rc;
	for (size_t i = 0; i < p->n_workers; i++)
		p->worker[i].cell = cell + i * p->n_slots;
	return open_lanes(p, e);
}

/* End all workers. An idle one holds nothing that could be lost, and a busy one
 * only the cell it is in, so SIGKILL will do. All are killed before the first
 * is waited for, so that they end side by side. */
static void kill_workers(struct pool *p)
{
	int status;
	for (size_t i = 0; p->worker && i < p->n_workers; i++)
		if (p->worker[i].pid > 0)
			kill(p->worker[i].pid, SIGKILL);
	for (size_t i = 0; p->worker && i < p->n_workers; i++) {
		if (p->worker[i].pid == 0)
			continue;
		pool_reap(p->worker[i].pid, 0, &status);
		close(p->worker[i].fd);
		p->worker[i].pid = 0;
	}
}

static void close_pool(struct pool *p)
{
	if (p->map)
		munmap(p->map, p->map_bytes);
	if (p->worker && p->n_workers > 0)
		free(p->worker[0].cell);
	free(p->worker);
	free(p->pollfd);
	free(p->back);
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
	for (size_t i = 0; rc == 1 && i < p.n_workers; i++) {
		int failed = pool_collect(&p, &p.worker[i], e);
		if (failed < 0)
			rc = failed;
	}
	close_pool(&p);
	return rc;
}
