/* experiments/cmd/jobs_live.c -- culprit jobs --continuous: on a collector's files.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/jobs_live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/cmd/cmd.h"
#include "experiments/live/daemon.h"
#include "experiments/live/daemon_log.h"
#include "experiments/live/seccomp.h"
#include "experiments/live/windows.h"
#include "models/clock.h"
#include "sim/text.h"

/* --- options ---------------------------------------------------------------*/

#define LIVE_AT(member) offsetof(struct cmd_jobs_live, member)

static void jobs_live_take_time(void *to, char *arg, const struct cmd_given *g)
{
	struct sim_err e;
	if (sim_parse_ns(arg, to, &e) < 0 || *(sim_ns *)to < SIM_SEC ||
	    *(sim_ns *)to > 7 * 86400 * SIM_SEC)
		argp_error(g->state, "--%s \"%s\" is no time from 1s to 7d",
		    g->option->name, arg);
}

static void jobs_live_take_short(void *to, char *arg, const struct cmd_given *g)
{
	struct sim_err e;
	if (sim_parse_ns(arg, to, &e) < 0 || *(sim_ns *)to < SIM_US ||
	    *(sim_ns *)to > 60 * SIM_SEC)
		argp_error(g->state, "--%s \"%s\" is no time from 1us to 60s",
		    g->option->name, arg);
}

static void jobs_live_take_share(void *to, char *arg, const struct cmd_given *g)
{
	char *end;
	const double x = strtod(arg, &end);
	if (end == arg || *end || !(x >= 0 && x <= 1))
		argp_error(g->state, "--%s \"%s\" is no share in [0, 1]",
		    g->option->name, arg);
	*(double *)to = x;
}

static void jobs_live_take_date(void *to, char *arg, const struct cmd_given *g)
{
	struct tm tm = {0};
	const char *end = strptime(arg, "%Y-%m-%dT%H:%M:%SZ", &tm);
	const time_t t = end && *end == '\0' ? timegm(&tm) : -1;
	if (t <= 0)
		argp_error(g->state,
		    "--%s \"%s\" is no time as 2026-02-03T10:00:00Z",
		    g->option->name, arg);
	*(sim_ns *)to = (sim_ns)t * SIM_SEC;
}

const struct cmd_option cmd_jobs_live_options[] = {
    {.doc = "On a collector's files, for ever:"},
    {"continuous", 0, NULL,
	"the word is a collector's folder: run the jobs of 5 and 10 minutes, "
	"an hour and a day on it when they are due, into --db",
	.take = cmd_take_flag, .at = LIVE_AT(is_on)},
    {"db", 0, "FILE", "the database (SQLite), made if it is missing",
	.take = cmd_take_file, .at = LIVE_AT(db)},
    {.with = cmd_plan_shape_options, .at = LIVE_AT(plan)},
    {"spec", 0, "SPEC",
	"take the network from a spec instead, and the jobs' parameters from "
	"its section pingmesh",
	.take = cmd_take_file, .at = LIVE_AT(spec)},
    {"service", 0, "NAME=HOSTS;...",
	"whose level is told beside that of the network: web=0-15,32; db=16-31",
	.take = cmd_take_text, .at = LIVE_AT(service)},
    {"timers", 0, "NAME",
	"SYN timers of the servers: linux (default), linux_linear (6.5 and "
	"later), windows",
	.take = cmd_take_ladder, .at = LIVE_AT(ladder), .values = cmd_timers},
    {"grace", 0, "TIME",
	"10 minutes are made so long after their end (10m); 5 minutes after a "
	"fifth of it",
	.take = jobs_live_take_time, .at = LIVE_AT(grace_ns)},
    {"late", 0, "TIME",
	"so long after their end they are made once more, if records came "
	"late, and hours and days for the first time (1h)",
	.take = jobs_live_take_time, .at = LIVE_AT(late_ns)},
    {"poll", 0, "TIME", "look so often for what came (10s)",
	.take = jobs_live_take_time, .at = LIVE_AT(poll_ns)},
    {"max-probes", 0, "N",
	"probes of a window that are held in memory, 70 bytes each (20000000); "
	"nothing is said of a window with more",
	.take = cmd_take_u64, .at = LIVE_AT(max_probes), .min = 1,
	.max = UINT32_MAX},
    {"keep-days", 0, "N", "let windows go after N days (60; 0: never)",
	.take = cmd_take_u32, .at = LIVE_AT(keep.windows), .max = 36500},
    {"keep-servers", 0, "N", "and the levels of servers (7; 0: with windows)",
	.take = cmd_take_u32, .at = LIVE_AT(keep.servers), .max = 36500},
    {"http-failed", 0, "SHARE",
	"alert if more of a scope's GETs than this have no status 200 (0.01)",
	.take = jobs_live_take_share, .at = LIVE_AT(http_failed)},
    {"http-p99", 0, "TIME", "or if their P99 is above this (50ms)",
	.take = jobs_live_take_short, .at = LIVE_AT(http_p99_ns)},
    {"once", 0, NULL, "make what is due now, and end", .take = cmd_take_flag,
	.at = LIVE_AT(once)},
    {"until", 0, "DATE",
	"it is DATE (2026-02-03T10:00:00Z), whatever the clock says: make what "
	"is due, and end",
	.take = jobs_live_take_date, .at = LIVE_AT(until_ns)},
    {0},
};

int cmd_jobs_live_init(struct cmd_jobs_live *a, struct sim_err *e)
{
	*a = (struct cmd_jobs_live){.grace_ns = 600 * SIM_SEC,
	    .late_ns = 3600 * SIM_SEC,
	    .poll_ns = 10 * SIM_SEC,
	    .max_probes = 20000000,
	    .keep = RES_SQL_KEEP,
	    .http_failed = XP_WINDOWS_HTTP_FAILED,
	    .http_p99_ns = XP_WINDOWS_HTTP_P99_US * SIM_US};
	return cmd_plan_init(&a->plan, e);
}

void cmd_jobs_live_check(const struct cmd_jobs_live *a, const char *dir,
    struct argp_state *state)
{
	if (!a->is_on &&
	    (a->db || a->spec || a->service || a->ladder || a->plan.is_set ||
		a->plan.net6.bits > 0 || a->once || a->until_ns))
		argp_error(state,
		    "--db, --set, --dc, --net6, --spec, --service, --timers, "
		    "--once "
		    "and --until are for --continuous");
	if (!a->is_on)
		return;
	if (!dir)
		argp_error(state, "--continuous takes one folder");
	if (!a->db)
		argp_error(state, "--continuous needs --db FILE");
	if (a->late_ns < a->grace_ns)
		argp_error(state, "--late is shorter than --grace");
	if (a->once && a->until_ns)
		argp_error(state, "--once or --until, not both");
	cmd_plan_check(&a->plan, a->spec, state);
}

/* --- a run -----------------------------------------------------------------*/

struct jobs_live {
	const struct cmd_jobs_live *args;
	struct xp_windows *windows;
	struct xp_notify notify;
	const char *dir;
	int64_t n_bytes_damaged; /* that were told of */
	int is_ahead;            /* which was told */
	int is_over;
};

static sim_ns jobs_live_now(const struct cmd_jobs_live *a)
{
	struct timespec t;
	if (a->until_ns)
		return a->until_ns;
	clock_gettime(CLOCK_REALTIME, &t);
	return (sim_ns)t.tv_sec * SIM_SEC + (sim_ns)t.tv_nsec;
}

/* Asked after each window: a long way to catch up is no reason to be deaf. */
static int jobs_live_goes_on(void *arg)
{
	struct jobs_live *l = arg;
	l->is_over |= xp_daemon_take_signal(0) == XP_DAEMON_END;
	xp_notify_alive(&l->notify, clock_now());
	return !l->is_over;
}

static void jobs_live_tell(FILE *out, const char *mark,
    const struct xp_windows_done *d)
{
	fprintf(out,
	    "%s%" PRIu64 " batches, %" PRIu64 " windows made (%" PRIu64
	    " empty, %" PRIu64 " too large), %" PRIu64 " made anew\n",
	    mark, d->n_batches, d->n_windows, d->n_empty, d->n_too_large,
	    d->n_redone);
}

/* What is behind them in their files was not read either: bit rot, or batches of a
 * later version. Told at the start and when there are more. */
static void jobs_live_warn(struct jobs_live *l, const struct xp_windows_done *d)
{
	if (d->n_bytes_damaged != l->n_bytes_damaged)
		fprintf(stderr,
		    "%sculprit: %s: %" PRId64 " bytes are damaged, of a later "
		    "version, or behind such, and were not read.\n",
		    xp_daemon_mark(XP_DAEMON_WARNING), l->dir,
		    d->n_bytes_damaged);
	l->n_bytes_damaged = d->n_bytes_damaged;
}

/* A time server that told all hosts the wrong year has windows made of it, behind
 * which there are none for years: nobody would see why. Told once. */
static void jobs_live_warn_ahead(struct jobs_live *l, sim_ns now)
{
	const sim_ns ahead = xp_windows_ahead(l->windows, now);
	if (ahead > 0 && !l->is_ahead)
		fprintf(stderr,
		    "%sculprit: %s: the next window begins in %.1f days, by "
		    "this machine's clock: set that, if it is behind. If a "
		    "clock was ahead when windows were made, move the database "
		    "away: it is made anew of the files in %s.\n",
		    xp_daemon_mark(XP_DAEMON_WARNING), l->args->db,
		    (double)ahead / (86400 * (double)SIM_SEC), l->dir);
	l->is_ahead = ahead > 0;
}

static int jobs_live_loop(struct jobs_live *l, int quiet, struct sim_err *e)
{
	const struct cmd_jobs_live *a = l->args;
	struct xp_windows_done done;
	char mark[32];
	int rc = 0;
	snprintf(mark, sizeof(mark),
	    "%sculprit: ", xp_daemon_mark(XP_DAEMON_INFO));
	while (!l->is_over) {
		const sim_ns now = jobs_live_now(a);
		rc = xp_windows_step(l->windows, now, &done, jobs_live_goes_on,
		    l, e);
		if (rc < 0)
			break;
		jobs_live_warn(l, &done);
		if (!a->until_ns)
			jobs_live_warn_ahead(l, now);
		if (a->once || a->until_ns) {
			jobs_live_tell(stdout, "", &done);
			break;
		}
		if (done.n_windows + done.n_redone > 0 && !quiet)
			jobs_live_tell(stderr, mark, &done);
		const sim_ns due = xp_windows_due(l->windows);
		const sim_ns wait = due > now && due - now < a->poll_ns
		    ? due - now
		    : a->poll_ns;
		xp_notify_alive(&l->notify, clock_now());
		l->is_over |= xp_daemon_take_signal(wait) == XP_DAEMON_END;
	}
	return rc;
}

static int jobs_live_open(struct jobs_live *l, struct cmd_jobs_live *a,
    const char *dir, struct sim_err *e)
{
	struct xp_windows_params p = {.dir = dir,
	    .db = a->db,
	    .timers = (a->ladder ? a->ladder : &fabric_sim_tcp_linux)->name,
	    .grace_ns = a->grace_ns,
	    .late_ns = a->late_ns,
	    .max_probes = a->max_probes,
	    .keep = a->keep,
	    .max_http_failed = a->http_failed,
	    .max_http_p99_us = (double)a->http_p99_ns / 1e3};
	int rc = 0;
	a->plan.keeps_text = 1;
	if (a->spec)
		rc = cmd_plan_read_spec(&a->plan, a->spec, e);
	if (rc < 0 || (rc = cmd_plan_info(&a->plan, a->ladder, &p.info, e)) < 0)
		return rc;
	p.info.spec = a->plan.text;
	p.info.service = a->service;
	return xp_windows_open(&l->windows, &p, e);
}

/* From here on for ever, on what others sent: without what it has no use for. */
static void jobs_live_settle(const char *dir, const char *db)
{
	struct sim_err none;
	if (xp_seccomp_begin(XP_SECCOMP_NOTHING, &none) < 0)
		fprintf(stderr, "%sculprit: %s\n",
		    xp_daemon_mark(XP_DAEMON_WARNING), none.msg);
	printf("%s -> %s\n", dir, db);
	fflush(stdout);
}

int cmd_jobs_live(struct cmd_jobs_live *a, const char *dir, int quiet)
{
	struct jobs_live l = {.args = a, .dir = dir};
	struct sim_err e = {0};
	int rc = jobs_live_open(&l, a, dir, &e);
	int code = rc < 0 ? cmd_exit_of(rc) : CMD_GOOD;
	if (rc == 0) {
		xp_daemon_block_signals();
		xp_notify_open(&l.notify);
		if (!a->once && !a->until_ns)
			jobs_live_settle(dir, a->db);
		xp_notify_say(&l.notify, "READY=1");
		if ((rc = jobs_live_loop(&l, quiet, &e)) < 0)
			code = CMD_TROUBLE;
		xp_notify_close(&l.notify);
	}
	if (rc < 0)
		cmd_fail(code, &e);
	xp_windows_close(l.windows);
	free(a->plan.text);
	return code;
}
