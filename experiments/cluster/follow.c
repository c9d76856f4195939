/* experiments/cluster/follow.c -- run a plan's shards until all are there.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cluster/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiments/cluster/shards.h"
#include "experiments/sweep/progress.h"
#include "models/clock.h"
#include "results/file.h"
#include "results/h5.h"
#include "sim/text.h"
#include "sim/vec.h"

/* How often signals and children are looked at. */
#define FOLLOW_TICK (100 * SIM_MS)
/* How often it is told that an engine does not answer. */
#define FOLLOW_NAG (60 * SIM_SEC)

struct follow {
	const struct xp_cluster_follow *f;
	struct xp_followed *to;
	struct xp_shards shards;
	uint32_t *tries; /* [n_shards], without having got further */
	uint64_t *had; /* [n_shards]: cells tried when it was last looked at */
	uint8_t *pick; /* [n_shards]: of this round */
	struct xp_progress display;
	pid_t child; /* submit.sh or merge.sh, and its group; 0: none */
	sim_ns nagged_ns;
	sim_ns
	    silent_ns; /* since when the engine has not answered; 0: it does */
	char why[64];  /* what jobs wait for, as told last */
};

static int follow_stopped(const struct follow *w)
{
	return w->f->stop && *w->f->stop;
}

/* Nothing is to be started any more. */
static int follow_is_over(const struct follow *w)
{
	return follow_stopped(w) || w->to->unanswered;
}

static void follow_say(struct follow *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void follow_say(struct follow *w, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	xp_progress_wipe(&w->display);
	if (w->f->say)
		w->f->say(w->f->arg, line);
}

/* "3, 5-8": the shards of this round. */
static void put_picked(const struct follow *w, struct sim_text *t)
{
	const uint32_t n = w->f->plan->n_shards;
	const char *mark = "";
	for (uint32_t i = 0; i < n; i++) {
		uint32_t last = i;
		if (!w->pick[i])
			continue;
		while (last + 1 < n && w->pick[last + 1])
			last++;
		sim_put(t, "%s%" PRIu32, mark, i + 1);
		if (last > i)
			sim_put(t, "-%" PRIu32, last + 1);
		mark = ", ";
		i = last;
	}
}

/* --- scripts -------------------------------------------------------------- */

static _Noreturn void follow_become(const char *folder, const char *log,
    const char *const argv[])
{
	setpgid(0, 0);
	if (chdir(folder) < 0)
		_exit(127);
	const int out = open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
	const int none = open("/dev/null", O_RDONLY);
	if (out < 0 || none < 0 || dup2(none, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(out, 2) < 0)
		_exit(127);
	execv("/bin/sh", (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* In a group of its own, so that a signal from the terminal reaches it through
 * us alone, and all that it starts with it. */
static int follow_start(struct follow *w, const char *log,
    const char *const argv[], struct sim_err *e)
{
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0)
		follow_become(w->f->folder, log, argv);
	if (pid < 0)
		return sim_fail(e, SIM_EIO, "cannot start %s: %s.", argv[1],
		    strerror(errno));
	setpgid(pid, pid);
	w->child = pid;
	return 0;
}

static void follow_sleep(sim_ns ns)
{
	const struct timespec t = {.tv_sec = (time_t)(ns / SIM_SEC),
	    .tv_nsec = (long)(ns % SIM_SEC)};
	nanosleep(&t, NULL);
}

/* Is it still there? *STATUS is its exit status once it is not. */
static int child_is_there(struct follow *w, int *status)
{
	int got;
	if (w->child == 0 || waitpid(w->child, &got, WNOHANG) == 0)
		return w->child != 0;
	*status = WIFEXITED(got) ? WEXITSTATUS(got) : 128 + WTERMSIG(got);
	w->child = 0;
	return 0;
}

static int run_submit(struct follow *w, struct sim_err *e)
{
	const uint32_t n = w->f->plan->n_shards;
	const char **argv;
	char(*number)[16];
	size_t k = 0, n_all = 0;
	int rc = SIM_ZALLOC(&argv, n + 3, e);
	if (rc == 0 && (rc = SIM_ZALLOC(&number, n, e)) == 0) {
		argv[k++] = "sh";
		argv[k++] = "./submit.sh";
		for (uint32_t i = 0; i < n; i++)
			n_all += w->pick[i];
		/* All are meant when none is named. */
		for (uint32_t i = 0; i < n && n_all < n; i++)
			if (w->pick[i]) {
				snprintf(number[i], sizeof(number[i]),
				    "%" PRIu32, i + 1);
				argv[k++] = number[i];
			}
		rc = follow_start(w, "submit.log", argv, e);
		free(number);
	}
	free(argv);
	return rc;
}

/* --- waiting -------------------------------------------------------------- */

/* Not knowing is no reason to start anything: what runs goes on without us. But who
 * never answers is not there, which somebody has to be told. */
static void nag(struct follow *w, const struct sim_err *why)
{
	const sim_ns now = clock_now();
	if (w->silent_ns == 0)
		w->silent_ns = now;
	w->to->unanswered = now - w->silent_ns >= w->f->patience_ns;
	if (w->to->unanswered)
		follow_say(w, "%s No answer for %.3g s.", why->msg,
		    (double)(now - w->silent_ns) * 1e-9);
	else if (w->nagged_ns == 0 || now - w->nagged_ns >= FOLLOW_NAG) {
		w->nagged_ns = now;
		follow_say(w, "%s Asking again.", why->msg);
	}
}

static void show(struct follow *w)
{
	struct res_progress p = xp_shards_about(&w->shards);
	p.n_cells = w->to->cells.n_cells;
	xp_progress_update(&w->display, &p, clock_now());
	if (strcmp(w->why, w->shards.queue.why) != 0) {
		strcpy(w->why, w->shards.queue.why);
		if (*w->why)
			follow_say(w, "jobs wait: %s", w->why);
	}
}

/* Whether anybody may be at work on a shard. */
static int is_busy(struct follow *w, int *status)
{
	struct sim_err why = {0};
	const int there = child_is_there(w, status);
	if (xp_shards_ask(&w->shards, &why) < 0) {
		nag(w, &why);
		return !w->to->unanswered;
	}
	w->silent_ns = 0;
	show(w);
	return there || xp_shards_n_busy(&w->shards) > 0;
}

/* Wait for POLL, but no longer than the child lives, or until a signal. */
static void follow_pause(struct follow *w, sim_ns ns, int *status)
{
	const sim_ns until = clock_now() + ns;
	const int had_child = w->child != 0;
	while (clock_now() < until && !follow_stopped(w)) {
		follow_sleep(FOLLOW_TICK);
		if (had_child && !child_is_there(w, status))
			return;
	}
}

/* What this machine runs for us is to end, and what it has is to be kept. Jobs
 * elsewhere go on. */
static void end_children(struct follow *w)
{
	int status;
	if (w->child == 0)
		return;
	kill(-w->child, SIGTERM);
	while (child_is_there(w, &status))
		follow_sleep(FOLLOW_TICK);
	if (xp_engines[w->f->plan->engine]->ask)
		return;
	for (int i = 0; i < 600; i++) {
		if (xp_shards_ask(&w->shards, NULL) < 0 ||
		    xp_shards_n_busy(&w->shards) == 0)
			return;
		follow_sleep(FOLLOW_TICK);
	}
}

/* Until nobody is at work. Returns the exit status of the script, 0 without. */
static int wait_for_all(struct follow *w)
{
	int status = 0;
	while (!follow_stopped(w) && is_busy(w, &status))
		follow_pause(w, w->f->poll_ns, &status);
	if (follow_is_over(w))
		end_children(w);
	return status;
}

/* --- rounds --------------------------------------------------------------- */

static uint64_t tried_cells(const struct res_shard_state *s)
{
	return s->cells.n_done + s->cells.n_failed + s->cells.n_crashed;
}

/* Choose what is started next. A shard that got further has all its tries again:
 * jobs that a limit of time ends may come in any number. */
static uint32_t pick_shards(struct follow *w)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < w->f->plan->n_shards; i++) {
		const struct res_shard_state *s = &w->shards.state[i];
		if (tried_cells(s) > w->had[i])
			w->tries[i] = 0;
		w->had[i] = tried_cells(s);
		w->pick[i] =
		    (!s->there || s->cells.n_done < s->cells.n_cells) &&
		    w->tries[i] <= w->f->retry;
		n += w->pick[i];
	}
	return n;
}

/* What a log ends with, as far as it is one line. */
static void say_end_of(struct follow *w, const char *name)
{
	char path[4400];
	void *bytes;
	size_t n;
	snprintf(path, sizeof(path), "%s/%s", w->f->folder, name);
	if (res_file_read(path, &bytes, &n, NULL) < 0)
		return;
	char *text = bytes;
	while (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	const char *line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	if (*line)
		follow_say(w, "%s: %.600s", path, line);
	free(bytes);
}

static int submit_round(struct follow *w, struct sim_err *e)
{
	char list[256];
	struct sim_text t = {list, sizeof(list), 0};
	put_picked(w, &t);
	for (uint32_t i = 0; i < w->f->plan->n_shards; i++)
		w->tries[i] += w->pick[i];
	if (w->to->n_rounds++ > 0) {
		int status;
		follow_say(w, "again, as they are not done: shards %s", list);
		follow_pause(w, w->f->wait_ns, &status);
		if (follow_stopped(w))
			return 0;
	}
	int rc = run_submit(w, e);
	const int status = rc < 0 ? 0 : wait_for_all(w);
	/* 3 is that of a merge that says what is missing, as we do. */
	if (status != 0 && status != 3 && !follow_is_over(w)) {
		follow_say(w, "submit.sh failed (exit %d)", status);
		say_end_of(w, "submit.log");
	}
	return rc;
}

static int run_rounds(struct follow *w, struct sim_err *e)
{
	int rc = 0;
	/* What was started before, and may still be at work. */
	wait_for_all(w);
	while (rc == 0 && !follow_is_over(w)) {
		rc = xp_shards_read(&w->shards, w->f->whole, e);
		if (rc < 0 || pick_shards(w) == 0)
			break;
		rc = submit_round(w, e);
	}
	return rc;
}

/* --- the whole ------------------------------------------------------------ */

int xp_follow_is_whole(const char *out, const struct res_cube *whole,
    struct res_progress *p, struct sim_err *e)
{
	struct res_cube c = {0};
	struct sim_err why = {0};
	struct res_progress got = {0};
	int is = 0, rc = res_h5_read_beside(&c, out, out, &why);
	if (rc == 0 && (rc = res_cube_same_sweep(&c, whole, &why)) == 0) {
		got = res_cube_progress(&c);
		is = c.shard_n == 1 && !c.partial && !c.until &&
		    got.n_done + got.n_failed + got.n_crashed == got.n_cells;
	}
	res_cube_free(&c);
	if (p)
		*p = got;
	return rc < 0
	    ? sim_fail(e, SIM_EMISMATCH,
		  "%s holds no results of this sweep: %s", out, why.msg)
	    : is;
}

/* The merge behind the jobs has mostly done it. */
static int merge_all(struct follow *w, struct sim_err *e)
{
	const char *const argv[] = {"sh", "./merge.sh", NULL};
	const char *out = w->f->plan->output;
	struct res_progress *p = &w->to->cells;
	struct res_progress got;
	int status = 0;
	if (xp_follow_is_whole(out, w->f->whole, &got, NULL) == 1 &&
	    got.n_done == p->n_done) {
		w->to->is_merged = 1;
		return 0;
	}
	int rc = follow_start(w, "merge.log", argv, e);
	while (rc == 0 && child_is_there(w, &status))
		follow_sleep(FOLLOW_TICK);
	if (rc == 0)
		w->to->is_merged =
		    xp_follow_is_whole(out, w->f->whole, NULL, NULL) == 1;
	if (rc == 0 && !w->to->is_merged)
		say_end_of(w, "merge.log");
	return rc;
}

/* What is left, and why as far as its log says so. */
static void follow_sum_up(struct follow *w)
{
	enum { NAMED = 5 };
	struct xp_followed *to = w->to;
	to->cells.n_done = to->cells.n_failed = to->cells.n_crashed = 0;
	for (uint32_t i = 0; i < w->f->plan->n_shards; i++) {
		const struct res_progress *p = &w->shards.state[i].cells;
		char log[32];
		to->cells.n_done += p->n_done;
		to->cells.n_failed += p->n_failed;
		to->cells.n_crashed += p->n_crashed;
		if (xp_shard_is_settled(&w->shards, i) || follow_is_over(w))
			continue;
		snprintf(log, sizeof(log), "%" PRIu32 ".log", i + 1);
		if (to->n_left++ < NAMED)
			say_end_of(w, log);
	}
}

/* One `submit` at a time. Children inherit it, so that what outlives a killed
 * one keeps others away as well. */
static int lock_folder(const struct xp_cluster_follow *f, int *fd,
    struct sim_err *e)
{
	char path[4400];
	snprintf(path, sizeof(path), "%s/lock", f->folder);
	*fd = open(path, O_RDWR | O_CREAT, 0666);
	if (*fd < 0)
		return res_file_failed("open", path, e);
	if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	const int rc = errno == EWOULDBLOCK
	    ? sim_fail(e, SIM_EIO,
		  "another `culprit submit`, or what one started, is at work "
		  "in %s.",
		  f->folder)
	    : res_file_failed("lock", path, e);
	close(*fd);
	*fd = -1;
	return rc;
}

static int follow_open(struct follow *w, struct sim_err *e)
{
	const uint32_t n = w->f->plan->n_shards;
	int rc = xp_shards_init(&w->shards, w->f->plan, w->f->folder, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&w->tries, n, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&w->had, n, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&w->pick, n, e);
	if (rc == 0)
		rc = xp_shards_read(&w->shards, w->f->whole, e);
	return rc;
}

static int follow_all(struct follow *w, struct sim_err *e)
{
	struct xp_followed *to = w->to;
	struct res_progress p;
	to->cells.n_cells = res_cube_cells(w->f->whole);
	p = xp_shards_about(&w->shards);
	p.n_cells = to->cells.n_cells;
	xp_progress_start(&w->display, w->f->progress, w->f->plan->figure, NULL,
	    &p, clock_now());
	int rc = run_rounds(w, e);
	to->stopped = follow_stopped(w);
	follow_sum_up(w);
	p = to->cells;
	xp_progress_end(&w->display, &p, clock_now());
	if (rc == 0 && !to->stopped && !to->unanswered && to->n_left == 0)
		rc = merge_all(w, e);
	return rc;
}

int xp_follow(const struct xp_cluster_follow *f, struct xp_followed *to,
    struct sim_err *e)
{
	struct follow w = {.f = f, .to = to};
	int fd;
	*to = (struct xp_followed){0};
	int rc = lock_folder(f, &fd, e);
	if (rc < 0)
		return rc;
	if ((rc = follow_open(&w, e)) == 0)
		rc = follow_all(&w, e);
	xp_shards_free(&w.shards);
	free(w.tries);
	free(w.had);
	free(w.pick);
	close(fd);
	return rc;
}
