/* experiments/live/recorder.c -- a host's traffic in short buckets, for good.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/recorder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "experiments/live/daemon.h"
#include "experiments/live/daemon_log.h"
#include "experiments/live/interface.h"
#include "experiments/live/run_clock.h"
#include "experiments/live/seccomp.h"
#include "models/clock.h"
#include "sim/vec.h"

#define SLICE        SIM_SEC /* between looks at the watchdog and the clock */
#define STATUS_EVERY (10 * SIM_SEC)

struct xp_recorder {
	struct xp_recorder_params params;
	struct xp_interface interface;
	struct netns_sampler *sampler;
	struct res_store *store;
	struct algo_schedule schedule;
	struct sim_rng rng;
	struct xp_daemon_log log;
	struct xp_notify notify;
	int status_fd, claim_fd; /* -1: none */
	sim_ns began, status_at; /* by the steady clock */
	struct xp_run_clock now, armed;
	int no_room;
	uint32_t kept; /* widths of runs that were */
#define X(name, doc) uint64_t name;
	XP_RECORDER_COUNTERS(X)
#undef X
	struct obs_samples rows;
	struct obs_bucket bucket[OBS_BUCKETS];
};

#define recorder_say(r, level, ...)                                            \
	xp_daemon_log_say(&(r)->log, XP_DAEMON_##level, clock_wall(),          \
	    __VA_ARGS__)

/* --- status --------------------------------------------------------------- */

static void recorder_put_runs(const struct xp_recorder *r, struct sim_text *t)
{
	const struct algo_schedule *s = &r->schedule;
	const struct netns_sampler_count c = netns_sampler_count(r->sampler);
#define X(name, doc) sim_put(t, "\"" #name "\": %" PRIu64 ", ", r->name);
	XP_RECORDER_COUNTERS(X)
#undef X
	sim_put(t,
	    "\"n_own\": %" PRIu64 ", \"n_sync\": %" PRIu64
	    ", \"n_left_out\": %" PRIu64 ", \"n_dropped\": %" PRIu64
	    ", \"n_retx\": %" PRIu64 ", \"n_unmarked\": %" PRIu64
	    ", \"n_false\": %" PRIu64,
	    s->n_runs, s->n_sync, s->n_left_out, s->n_dropped, c.n_retx,
	    c.n_unmarked, c.n_false);
}

/* One line of JSON; returns its length with the newline. Names are short, so it
 * fits. */
static size_t recorder_put_status(const struct xp_recorder *r,
    char text[XP_DAEMON_TEXT])
{
	struct sim_text t = {.buf = text, .size = XP_DAEMON_TEXT};
	const struct res_store_held h = res_store_held(r->store);
	sim_put(&t, "{\"recorder\": ");
	sim_put_scalar(&t, r->params.store.host.name, 1);
	sim_put(&t, ", \"interface\": ");
	sim_put_scalar(&t, r->params.interface, 1);
	sim_put(&t, ", \"at_s\": %" PRIu64 ", \"uptime_s\": %.1f, ",
	    clock_wall() / SIM_SEC, (double)(clock_now() - r->began) * 1e-9);
	xp_daemon_put_cost(&t);
	sim_put(&t, ", \"runs\": {");
	recorder_put_runs(r, &t);
	sim_put(&t,
	    "}, \"folder\": {\"n_runs\": %" PRIu64 ", \"n_files\": %" PRIu64
	    ", \"n_bytes\": %" PRIu64 ", \"n_files_expired\": %" PRIu64
	    ", \"n_damaged\": %" PRIu64 ", \"n_bytes_cut\": %" PRIu64 "}}\n",
	    h.n_runs, h.n_files, h.n_bytes, h.n_files_expired, h.n_damaged,
	    h.n_bytes_cut);
	return t.n < XP_DAEMON_TEXT ? t.n : XP_DAEMON_TEXT - 1;
}

static void recorder_tell_status(struct xp_recorder *r)
{
	char text[XP_DAEMON_TEXT];
	const size_t n = recorder_put_status(r, text);
	if (r->status_fd >= 0)
		xp_daemon_replace(r->status_fd, text, n);
	r->status_at = clock_now() + STATUS_EVERY;
}

static void recorder_log_status(struct xp_recorder *r)
{
	char text[XP_DAEMON_TEXT];
	const size_t n = recorder_put_status(r, text);
	recorder_say(r, INFO, "%.*s", (int)n - 1, text);
}

/* --- runs ----------------------------------------------------------------- */

/* The sampler's index of the run under way. */
static uint32_t recorder_width(const struct xp_recorder *r, sim_ns width)
{
	uint32_t w = 0;
	while (r->params.sampler.width_ns[w] != width)
		w++;
	return w;
}

/* One line when the first finds no room, and one when there is some again: a
 * disk that stays full must not fill the log as well. */
static void recorder_keep(struct xp_recorder *r, const struct obs_run *run)
{
	struct sim_err e = {0};
	const int rc = res_store_put(r->store, run,
	    netns_sampler_n_cpus(r->sampler), &r->rows, &e);
	r->n_kept += rc == 0;
	r->n_unkept += rc < 0;
	if (rc < 0 && !r->no_room)
		recorder_say(r, WARNING, "runs are not kept: %s", e.msg);
	if (rc == 0 && r->no_room)
		recorder_say(r, INFO,
		    "runs are kept again; %" PRIu64 " were not", r->n_unkept);
	r->no_room = rc < 0;
	if (rc == 0)
		r->kept |= 1u << recorder_width(r, run->width_ns);
}

static int recorder_make_run(struct xp_recorder *r,
    const struct netns_sampler_run *got, struct obs_run *run, struct sim_err *e)
{
	sim_ns start = got->start_ns + r->armed.guessed;
	/* A quiet run began when it was armed, but if runs are to share their
	 * buckets, at one of theirs. */
	if (got->start_ns == 0)
		start = r->armed.tai;
	if (r->params.schedule.start == ALGO_START_ALIGNED)
		start -= start % got->width_ns;
	*run = (struct obs_run){.start_ns = start,
	    .width_ns = got->width_ns,
	    .line_bps = r->params.line_bps,
	    .n_buckets = OBS_BUCKETS,
	    .n_missed = got->n_missed < UINT32_MAX ? (uint32_t)got->n_missed
						   : UINT32_MAX};
	obs_samples_clear(&r->rows);
	return algo_buckets_add_rows(r->bucket, OBS_BUCKETS, 0, &r->rows, e);
}

/* A run without packets is only worth keeping if there was somebody to count
 * them, so that is looked at when it is over, whatever it holds. */
static int recorder_take(struct xp_recorder *r, sim_ns width, int keep,
    struct sim_err *e)
{
	const uint32_t w = recorder_width(r, width);
	struct netns_sampler_run got;
	struct obs_run run;
	int rc = netns_sampler_take(r->sampler, w, r->bucket, &got, e);
	if (rc < 0)
		return rc;
	if (!netns_sampler_holds(r->sampler))
		return sim_fail(e, SIM_EIO,
		    "interface %s has gone, or its program has.",
		    r->params.interface);
	if (!keep)
		return 0;
	if (!xp_run_clock_is_whole(&r->armed, &r->now,
		netns_sampler_started(r->sampler, w), OBS_BUCKETS * width)) {
		r->n_set++;
		return 0;
	}
	if ((rc = recorder_make_run(r, &got, &run, e)) == 0)
		recorder_keep(r, &run);
	return rc;
}

static void recorder_read_clock(struct xp_recorder *r)
{
	const sim_ns guessed = r->now.guessed;
	xp_run_clock_read(&r->now);
	if (r->now.guessed == guessed)
		return;
	recorder_say(r, WARNING,
	    guessed > 0 ? "the kernel says how far TAI is before UTC"
			: "the kernel does not know how far TAI is before UTC: "
			  "it is taken for 37 s");
}

static sim_ns recorder_started(const struct xp_recorder *r)
{
	if (r->schedule.width == 0)
		return SIM_NEVER;
	const sim_ns start = netns_sampler_started(r->sampler,
	    recorder_width(r, r->schedule.width));
	return start > 0 ? xp_run_clock_tai(&r->now, start) : SIM_NEVER;
}

/* --- running -------------------------------------------------------------- */

/* *WAIT: until when nothing is to do, as a time from now on. */
static int recorder_step(struct xp_recorder *r, sim_ns *wait, struct sim_err *e)
{
	recorder_read_clock(r);
	const struct algo_schedule_step s = algo_schedule_next(&r->schedule,
	    r->now.tai, recorder_started(r), &r->rng);
	*wait = 0;
	switch (s.todo) {
	case ALGO_SCHEDULE_ARM:
		r->armed = r->now;
		netns_sampler_arm(r->sampler,
		    1u << recorder_width(r, s.width_ns));
		return 0;
	case ALGO_SCHEDULE_TAKE:
	case ALGO_SCHEDULE_DROP:
		return recorder_take(r, s.width_ns,
		    s.todo == ALGO_SCHEDULE_TAKE, e);
	case ALGO_SCHEDULE_WAIT:
		*wait = s.wake > r->now.tai ? s.wake - r->now.tai : 0;
		break;
	}
	return 0;
}

/* Returns 1 if the daemon is to end. */
static int recorder_heed(struct xp_recorder *r, sim_ns wait)
{
	enum xp_daemon_signal signal = xp_daemon_take_signal(wait);
	while (signal == XP_DAEMON_STATUS) {
		recorder_log_status(r);
		signal = xp_daemon_take_signal(0);
	}
	return signal == XP_DAEMON_END;
}

/* All widths that are sampled at all. */
static uint32_t recorder_widths(const struct algo_schedule_params *p)
{
	return p->widths | (p->sync_every_s > 0 ? 1u << p->sync_width : 0);
}

static int recorder_is_over(const struct xp_recorder *r, sim_ns until)
{
	const uint32_t want = recorder_widths(&r->params.schedule);
	return clock_now() >= until ||
	    (r->params.once && (r->kept & want) == want);
}

static void recorder_end(struct xp_recorder *r)
{
	xp_notify_say(&r->notify, "STOPPING=1");
	recorder_say(r, INFO,
	    "ends: %" PRIu64 " runs kept, %" PRIu64 " found no room, %" PRIu64
	    " dropped, %" PRIu64 " left out",
	    r->n_kept, r->n_unkept, r->n_set + r->schedule.n_dropped,
	    r->schedule.n_left_out);
	recorder_tell_status(r);
}

int xp_recorder_run(struct xp_recorder *r, struct sim_err *e)
{
	const sim_ns until = r->params.for_s > 0
	    ? clock_now() + sim_ns_of(r->params.for_s)
	    : SIM_NEVER;
	sim_ns wait = 0;
	int rc = 0;
	xp_notify_say(&r->notify, "READY=1");
	while (
	    rc == 0 && !recorder_is_over(r, until) && !recorder_heed(r, wait)) {
		rc = recorder_step(r, &wait, e);
		const sim_ns now = clock_now();
		const sim_ns left = until > now ? until - now : 0;
		wait = wait < SLICE ? wait : SLICE;
		wait = wait < left ? wait : left;
		xp_notify_alive(&r->notify, now);
		if (now >= r->status_at)
			recorder_tell_status(r);
	}
	if (rc < 0)
		recorder_say(r, ERR, "fails: %s", e ? e->msg : "");
	recorder_end(r);
	return rc;
}

/* --- opening -------------------------------------------------------------- */

static int recorder_open_files(struct xp_recorder *r, struct sim_err *e)
{
	const struct xp_recorder_params *p = &r->params;
	int rc = xp_daemon_log_open(&r->log, p->log, e);
	return rc < 0 || !p->status
	    ? rc
	    : xp_daemon_file(&r->status_fd, p->status, e);
}

static int recorder_open_interface(struct xp_recorder *r, struct sim_err *e)
{
	struct xp_recorder_params *p = &r->params;
	int rc = xp_interface_find(&r->interface, p->interface, e);
	if (rc < 0)
		return rc;
	if (p->line_bps == 0)
		p->line_bps = r->interface.line_bps;
	if (p->line_bps == 0)
		return sim_fail(e, SIM_EINVAL,
		    "interface %s does not say what its line carries: --line "
		    "does.",
		    p->interface);
	rc =
	    xp_interface_claim(&r->claim_fd, "recorder", r->interface.index, e);
	return rc < 0 ? sim_wrap(e, rc, "%s", p->interface) : 0;
}

static int recorder_open_sampler(struct xp_recorder *r, struct sim_err *e)
{
	struct netns_sampler_params *p = &r->params.sampler;
	for (int w = 0; w < NETNS_SAMPLER_WIDTHS; w++)
		p->width_ns[w] = algo_width_ns[w];
	p->no_link = (uint8_t)r->interface.no_link;
	p->clock = r->params.schedule.start == ALGO_START_ALIGNED
	    ? NETNS_SAMPLER_ALIGNED
	    : NETNS_SAMPLER_FIRST_PACKET;
	const int rc = netns_sampler_open(&r->sampler, p, e);
	return rc < 0 ? rc
		      : netns_sampler_hold(r->sampler, r->interface.index, e);
}

/* A random seed: hosts that start at one time, all of a rack after power is back,
 * are not to sample at the same moments. */
static int recorder_open_schedule(struct xp_recorder *r, struct sim_err *e)
{
	struct sim_seed where = {0};
	if (getrandom(&where.seed, sizeof(where.seed), 0) != sizeof(where.seed))
		return sim_fail(e, SIM_EIO, "there are no random bytes.");
	sim_rng_init(&r->rng, &where, SIM_STREAM_AGENT, 0);
	recorder_read_clock(r);
	return algo_schedule_init(&r->schedule, &r->params.schedule, r->now.tai,
	    &r->rng, e);
}

static int recorder_open_all(struct xp_recorder *r, struct sim_err *e)
{
	const struct xp_recorder_params *p = &r->params;
	struct sim_err none;
	int rc;
	xp_daemon_block_signals();
	xp_notify_open(&r->notify);
	if ((rc = xp_daemon_limit(p->memory_mib, e)) < 0 ||
	    (rc = recorder_open_files(r, e)) < 0 ||
	    (rc = recorder_open_interface(r, e)) < 0 ||
	    (rc = recorder_open_sampler(r, e)) < 0 ||
	    (rc = xp_daemon_folder(p->dir, p->user, e)) < 0 ||
	    /* Rights go as soon as the kernel has the program, and before
	     * anything is read that is not ours. */
	    (rc = xp_daemon_drop(p->user, e)) < 0)
		return rc;
	/* It is one wall of several: where there is none, that is told. It sends
	 * nothing, and asks of eBPF no more than whether its program is there. */
	if (xp_seccomp_begin(XP_SECCOMP_BPF_INFO, &none) < 0)
		recorder_say(r, WARNING, "%s", none.msg);
	if ((rc = res_store_open(&r->store, p->dir, &p->store, e)) < 0)
		return rc;
	return recorder_open_schedule(r, e);
}

static void recorder_say_found(struct xp_recorder *r)
{
	const struct res_store_held h = res_store_held(r->store);
	if (h.n_bytes_cut > 0)
		recorder_say(r, WARNING,
		    "%s: %" PRIu64 " bytes of a run that was not whole are "
		    "cut off",
		    r->params.dir, h.n_bytes_cut);
	if (h.n_damaged > 0)
		recorder_say(r, WARNING,
		    "%s: %" PRIu64 " damaged places are passed by",
		    r->params.dir, h.n_damaged);
}

int xp_recorder_open(struct xp_recorder **out,
    const struct xp_recorder_params *p, struct sim_err *e)
{
	struct xp_recorder *r = NULL;
	*out = NULL;
	int rc = SIM_ZALLOC(&r, 1, e);
	if (rc < 0)
		return rc;
	r->params = *p;
	r->began = clock_now();
	r->status_fd = r->claim_fd = r->log.fd = r->log.old_fd = r->notify.fd =
	    -1;
	if ((rc = recorder_open_all(r, e)) < 0) {
		xp_recorder_close(r);
		return rc;
	}
	recorder_say_found(r);
	*out = r;
	return 0;
}

uint64_t xp_recorder_line_bps(const struct xp_recorder *r)
{
	return r->params.line_bps;
}

void xp_recorder_close(struct xp_recorder *r)
{
	struct sim_err e = {0};
	if (!r)
		return;
	netns_sampler_close(r->sampler);
	if (res_store_close(r->store, &e) < 0)
		recorder_say(r, ERR, "%s", e.msg);
	obs_samples_free(&r->rows);
	xp_daemon_log_close(&r->log);
	xp_notify_close(&r->notify);
	if (r->status_fd >= 0)
		close(r->status_fd);
	if (r->claim_fd >= 0)
		close(r->claim_fd);
	free(r);
}
