/* tests/rigs/schedule_sampler.c -- Millisampler's schedule where clocks are set.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Who asks it may be late, early or ask again; the first packet of a run comes at
 * any time, or by a clock that was set since; hosts start again.
 */
#include <math.h>
#include <string.h>

#include "algos/millisampler/schedule.h"
#include "experiments/live/run_clock.h"
#include "tests/rigs/schedule_machines.h"

#define SEEN(X)                                                                \
	X(ARMED, "runs of its own")                                            \
	X(SYNCED, "runs of the rack")                                          \
	X(TAKEN, "runs taken")                                                 \
	X(SHORT, "of these, thrown away as a clock stepped over buckets")      \
	X(QUIET, "of these, without a packet")                                 \
	X(DROPPED, "runs thrown away")                                         \
	X(LEFT_OUT, "runs left out")                                           \
	X(BACK, "clocks set back")                                             \
	X(AHEAD, "clocks set ahead")                                           \
	X(RESTARTS, "starts")

enum {
#define X(name, text) name,
	SEEN(X)
#undef X
};
static const char *const seen[] = {
#define X(name, text) text,
    SEEN(X)
#undef X
	NULL};

enum kind { IN_TIME, LATE, AGAIN, PACKET, SET_AHEAD, SET_BACK, STRANGE, START };
static const struct schedule_kind kinds[] = {
    [IN_TIME] = {"it is asked when it said", 30},
    [LATE] = {"it is asked later", 8},
    [AGAIN] = {"it is asked before that", 8},
    [PACKET] = {"a first packet comes", 16},
    [SET_AHEAD] = {"the clock is set ahead", 2},
    [SET_BACK] = {"the clock is set back", 2},
    [STRANGE] = {"a first packet comes, by another clock", 1},
    [START] = {"the host starts", 1},
    {0},
};

struct sampler {
	struct sim_rng rng;
	struct algo_schedule_params params;
	struct algo_schedule s;
	struct schedule_tally *tally;
	sim_ns now, asked, wake, anew;
	uint64_t n_own, n_runs, n_ended; /* n_own: since `anew` */
	/* The run under way; width 0: none is. */
	struct algo_schedule_step run;
	sim_ns armed, started;
	/* By a clock that is never set; 0: no packet came. */
	sim_ns steady, armed_steady, started_steady;
	int is_strange; /* `started` is of another clock */
	int is_spoilt;  /* the clock went back since it was armed */
};

static sim_ns span_of(sim_ns width)
{
	return OBS_BUCKETS * width;
}

/* The first time of the rack at T or later; SIM_NEVER: it has none. */
static sim_ns rack_from(const struct sampler *w, sim_ns t)
{
	const sim_ns every = sim_ns_of(w->params.sync_every_s);
	const sim_ns at = sim_ns_of(w->params.sync_at_s);
	if (every == 0)
		return SIM_NEVER;
	return t <= at ? at : at + (t - at + every - 1) / every * every;
}

static const char *begin_again(struct sampler *w)
{
	struct algo_schedule_params *p = &w->params;
	sim_field_defaults(algo_schedule_fields, p, NULL);
	p->widths = sim_rng_below(&w->rng, 8);
	p->every_s = 0.1 + 100 * pow(sim_rng_u01(&w->rng), 3);
	p->jitter = sim_rng_below(&w->rng, 3) * 0.5;
	p->sync_width = sim_rng_below(&w->rng, ALGO_N_WIDTHS);
	p->sync_every_s =
	    sim_rng_below(&w->rng, 2) * (1 + sim_rng_below(&w->rng, 200));
	p->sync_at_s = sim_rng_below(&w->rng, 100);
	if (algo_schedule_init(&w->s, p, w->now, &w->rng, NULL) < 0) {
		p->sync_every_s = 0;
		if (algo_schedule_init(&w->s, p, w->now, &w->rng, NULL) < 0)
			return "runs of its own alone always fit";
	}
	w->anew = w->asked = w->wake = w->now;
	w->n_own = w->n_runs = w->n_ended = 0;
	w->run.width_ns = 0;
	w->tally->seen[RESTARTS]++;
	return NULL;
}

static const char *sampler_begin(void *life, const struct sim_seed *where,
    struct schedule_tally *tally)
{
	struct sampler *w = life;
	memset(w, 0, sizeof(*w));
	w->tally = tally;
	w->now = 1000000 * SIM_SEC;
	w->steady = 1000 * SIM_SEC;
	sim_rng_init(&w->rng, where, SIM_STREAM_AGENT, 0);
	return begin_again(w);
}

/* --- what is told to do --------------------------------------------------- */
static const char *on_arm(struct sampler *w, const struct algo_schedule_step *x)
{
	const sim_ns sync = rack_from(w, w->now);
	const sim_ns width = algo_width_ns[w->params.sync_width];
	if (w->run.width_ns > 0)
		return "a run begins only when none is under way";
	w->run = *x;
	w->armed = w->now;
	w->started = SIM_NEVER;
	w->armed_steady = w->steady;
	w->started_steady = 0;
	w->is_strange = 0;
	w->is_spoilt = 0;
	w->n_runs++;
	w->tally->seen[x->sync ? SYNCED : ARMED]++;
	if (x->sync) {
		const sim_ns every = sim_ns_of(w->params.sync_every_s);
		if (every == 0 || x->width_ns != width)
			return "a run of the rack is as it was asked for";
		return (w->now - sim_ns_of(w->params.sync_at_s)) % every >
			ALGO_SYNC_LATE_NS
		    ? "hosts of a rack begin together"
		    : NULL;
	}
	int is_one = 0;
	for (int i = 0; i < ALGO_N_WIDTHS; i++)
		is_one |= w->params.widths >> i & 1 &&
		    algo_width_ns[i] == x->width_ns;
	if (!is_one)
		return "a run has one of the widths";
	if (++w->n_own > 1 + (w->now - w->anew) / sim_ns_of(w->params.every_s))
		return "there is one run of its own in each `every`";
	return sync != SIM_NEVER && sync > w->now &&
		sync - w->now < 2 * span_of(x->width_ns) + x->width_ns
	    ? "no run of its own may take up the rack's time"
	    : NULL;
}

/* The recorder keeps a run that all buckets have passed of, whatever the schedule
 * takes for over by a clock that was set ahead. */
static const char *check_whole(struct sampler *w)
{
	const struct xp_run_clock armed = {.steady = w->armed_steady,
	    .tai = w->armed};
	const struct xp_run_clock now = {.steady = w->steady, .tai = w->now};
	const sim_ns span = span_of(w->run.width_ns);
	const sim_ns passed = w->steady -
	    (w->started_steady ? w->started_steady : w->armed_steady);
	const int is_whole =
	    xp_run_clock_is_whole(&armed, &now, w->started_steady, span);
	w->tally->seen[SHORT] += !is_whole;
	if (is_whole && passed + SIM_MS < span)
		return "no run is kept with buckets that have not passed";
	return !is_whole && passed >= span
	    ? "no run is thrown away that all buckets have passed of"
	    : NULL;
}

static const char *on_end(struct sampler *w, const struct algo_schedule_step *x)
{
	const sim_ns span = span_of(w->run.width_ns);
	if (w->run.width_ns == 0)
		return "a run ends only when one is under way";
	if (x->width_ns != w->run.width_ns || x->sync != w->run.sync ||
	    x->start != w->run.start)
		return "a run ends as the run that began";
	const char *broken =
	    x->todo == ALGO_SCHEDULE_TAKE ? check_whole(w) : NULL;
	if (broken)
		return broken;
	w->run.width_ns = 0;
	w->n_ended++;
	w->tally->seen[x->todo == ALGO_SCHEDULE_TAKE ? TAKEN : DROPPED]++;
	if (x->todo == ALGO_SCHEDULE_DROP)
		return w->is_spoilt ||
			(w->started != SIM_NEVER && w->started > w->now)
		    ? NULL
		    : "a run is thrown away for its clock alone";
	w->tally->seen[QUIET] += w->started == SIM_NEVER;
	if (w->is_spoilt)
		return "no run is kept during which the clock went back";
	return w->now < (w->started == SIM_NEVER ? w->armed : w->started) + span
	    ? "a run has all its buckets"
	    : NULL;
}

static const char *on_wait(struct sampler *w,
    const struct algo_schedule_step *x)
{
	const struct algo_schedule_params *p = &w->params;
	const sim_ns most = sim_ns_of(p->every_s * (1 + p->jitter)) + 1;
	w->wake = x->wake;
	if (x->wake <= w->now)
		return "it is never to be woken in the past";
	if (p->widths > 0 && x->wake - w->now > most)
		return "it is asked again in time for a run of its own";
	return p->sync_every_s > 0 && x->wake > rack_from(w, w->now + 1)
	    ? "it is asked again in time for the rack"
	    : NULL;
}

/* Ask until it says wait. */
static const char *ask(struct sampler *w)
{
	const struct xp_run_clock now = {.steady = w->steady, .tai = w->now};
	w->asked = w->now;
	/* The kernel knows when the first packet came by the steady clock, and
	 * who asks makes of it what it is by the clock as it is set now. */
	if (w->started_steady > 0 && !w->is_strange)
		w->started = xp_run_clock_tai(&now, w->started_steady);
	for (int i = 0; i < 4; i++) {
		const uint64_t left_out = w->s.n_left_out;
		const struct algo_schedule_step x = algo_schedule_next(&w->s,
		    w->now, w->run.width_ns ? w->started : SIM_NEVER, &w->rng);
		const char *broken = x.todo == ALGO_SCHEDULE_WAIT
		    ? on_wait(w, &x)
		    : x.todo == ALGO_SCHEDULE_ARM ? on_arm(w, &x)
						  : on_end(w, &x);
		w->tally->seen[LEFT_OUT] += w->s.n_left_out - left_out;
		if (broken)
			return broken;
		if (w->n_runs != w->n_ended + (w->run.width_ns > 0) ||
		    w->n_runs != w->s.n_runs + w->s.n_sync)
			return "each run is counted, and ends once";
		if (x.todo == ALGO_SCHEDULE_WAIT)
			return NULL;
	}
	return "it comes to rest";
}

/* Time passes, by each clock. */
static void on(struct sampler *w, sim_ns by)
{
	w->now += by;
	w->steady += by;
}

/* --- what happens --------------------------------------------------------- */
static const char *set_back(struct sampler *w, sim_ns by)
{
	if (by == 0 || by >= w->now)
		return NULL;
	w->now -= by;
	w->tally->seen[BACK]++;
	/* What the clock went on since the last look and then back again, nobody
	 * can see; the run is then longer than it looks, and whole. */
	if (w->now < w->asked) {
		w->is_spoilt = 1;
		w->anew = w->now;
		w->n_own = 0;
	}
	return ask(w);
}

static const char *first_packet(struct sampler *w, sim_ns after, sim_ns ahead)
{
	on(w, after);
	if (w->run.width_ns > 0 && w->started == SIM_NEVER) {
		w->started = w->now + ahead;
		w->started_steady = w->steady;
		w->is_strange = ahead > 0;
	}
	return ahead > 0 ? ask(w) : NULL;
}

static const char *sampler_step(void *life, struct schedule_step s)
{
	struct sampler *w = life;
	switch ((enum kind)s.kind) {
	case IN_TIME:
	case LATE:
		if (w->wake == SIM_NEVER)
			return NULL;
		on(w, w->wake > w->now ? w->wake - w->now : 0);
		if (s.kind == LATE)
			on(w, schedule_time(s.x, 300 * SIM_SEC));
		return ask(w);
	case AGAIN:
		on(w, schedule_time(s.x, 100 * SIM_SEC));
		return ask(w);
	case PACKET:
		return first_packet(w, schedule_time(s.x, SIM_SEC), 0);
	case SET_AHEAD:
		w->now += schedule_time(s.x, 1000000 * SIM_SEC);
		w->tally->seen[AHEAD]++;
		return ask(w);
	case SET_BACK:
		return set_back(w, schedule_time(s.x, 10000 * SIM_SEC));
	case STRANGE:
		return first_packet(w, schedule_time(s.x, SIM_SEC),
		    schedule_time(s.y, 1000 * SIM_SEC));
	case START:
		return begin_again(w);
	}
	return NULL;
}

const struct schedule_machine schedule_sampler = {
    .name = "Millisampler's schedule",
    .kind = kinds,
    .seen = seen,
    .n_least = 20,
    .n_most = 200,
    .size = sizeof(struct sampler),
    .begin = sampler_begin,
    .step = sampler_step,
};
