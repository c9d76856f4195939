/* algos/millisampler/schedule.c -- when a host samples, and how finely.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/millisampler/schedule.h"

#include <stddef.h>

#define X(name, text, ns) text,
const char *const algo_width_names[] = {ALGO_WIDTHS(X) NULL};
#undef X
#define X(name, text, ns) ns,
const sim_ns algo_width_ns[ALGO_N_WIDTHS] = {ALGO_WIDTHS(X)};
#undef X

#define AT(member) offsetof(struct algo_schedule_params, member)
const struct sim_field algo_schedule_fields[] = {
    {"widths", SIM_F_SET, AT(widths), .names = algo_width_names,
	.def = "[10ms, 1ms, 100us]",
	.doc = "of buckets in a host's own runs, in turn"},
    {"every", SIM_F_F64, AT(every_s), .min = 0.1, .max = 86400, .unit = "s",
	.def = "60", .doc = "from one of a host's own runs to the next"},
    {"jitter", SIM_F_F64, AT(jitter), .min = 0, .max = 1, .unit = "1",
	.def = "0.5", .doc = "share of `every` by which a run may be later"},
    {"start", SIM_F_ENUM, AT(start), .names = algo_start_names,
	.def = "first_packet",
	.doc = "where a run begins: at its first packet, or at the multiple of "
	       "its width before that"},
    {"sync_every", SIM_F_F64, AT(sync_every_s), .min = 0, .max = 86400,
	.unit = "s", .def = "0",
	.doc = "from one run of all hosts of a rack to the next; 0: none"},
    {"sync_at", SIM_F_F64, AT(sync_at_s), .min = 0, .max = 86400, .unit = "s",
	.def = "0", .doc = "behind multiples of sync_every"},
    {"sync_width", SIM_F_ENUM, AT(sync_width), .names = algo_width_names,
	.def = "1ms", .doc = "of buckets in a run of all hosts"},
    {0},
};

static sim_ns schedule_span(sim_ns width)
{
	return OBS_BUCKETS * width;
}

/* The longest that a run takes: its first packet may come when it has waited for
 * as long as it then lasts. */
static sim_ns schedule_at_most(sim_ns width)
{
	return 2 * schedule_span(width) + width;
}

/* The first time of the rack behind NOW. */
static void schedule_plan_sync(struct algo_schedule *s)
{
	const sim_ns every = sim_ns_of(s->params->sync_every_s);
	const sim_ns at = sim_ns_of(s->params->sync_at_s);
	s->due_sync = SIM_NEVER;
	if (every > 0)
		s->due_sync =
		    s->now < at ? at : at + ((s->now - at) / every + 1) * every;
}

static void schedule_plan_own(struct algo_schedule *s, struct sim_rng *rng)
{
	const struct algo_schedule_params *p = s->params;
	const sim_ns every = sim_ns_of(p->every_s);
	s->due = SIM_NEVER;
	if (p->widths == 0)
		return;
	s->due = s->phase + s->slot * every +
	    sim_ns_of(sim_rng_u01(rng) * p->jitter * p->every_s);
}

/* The next slot; those that are past by now, as when the host slept, are left
 * out together. */
static void schedule_skip_own(struct algo_schedule *s, struct sim_rng *rng)
{
	const sim_ns every = sim_ns_of(s->params->every_s);
	const uint64_t past =
	    s->now > s->phase ? (s->now - s->phase) / every : 0;
	s->n_left_out += past > s->slot ? past - s->slot : 0;
	s->slot = past > s->slot ? past + 1 : s->slot + 1;
	schedule_plan_own(s, rng);
}

static void schedule_plan_anew(struct algo_schedule *s, struct sim_rng *rng)
{
	s->phase = s->now + sim_ns_of(sim_rng_u01(rng) * s->params->every_s);
	s->slot = 0;
	schedule_plan_own(s, rng);
	schedule_plan_sync(s);
}

int algo_schedule_init(struct algo_schedule *s,
    const struct algo_schedule_params *p, sim_ns now, struct sim_rng *rng,
    struct sim_err *e)
{
	const sim_ns every = sim_ns_of(p->sync_every_s);
	const sim_ns rack = schedule_at_most(algo_width_ns[p->sync_width]);
	for (uint32_t i = 0; every > 0 && i < ALGO_N_WIDTHS; i++) {
		const sim_ns own =
		    p->widths >> i & 1 ? schedule_at_most(algo_width_ns[i]) : 0;
		if (own + rack > every)
			return sim_fail(e, SIM_EINVAL,
			    "sync_every %g s leaves no time for a run of %s "
			    "beside one of the rack: they may take %.1f s.",
			    p->sync_every_s, algo_width_names[i],
			    1e-9 * (double)(own + rack));
	}
	*s = (struct algo_schedule){.params = p,
	    .now = now,
	    .turn = ALGO_N_WIDTHS - 1};
	schedule_plan_anew(s, rng);
	return 0;
}

/* --- one step -------------------------------------------------------------- */
static struct algo_schedule_step schedule_wait(const struct algo_schedule *s,
    sim_ns end)
{
	sim_ns wake = s->due < s->due_sync ? s->due : s->due_sync;
	return (struct algo_schedule_step){.todo = ALGO_SCHEDULE_WAIT,
	    .wake = end < wake ? end : wake};
}

static struct algo_schedule_step schedule_arm(struct algo_schedule *s,
    uint32_t width, int sync)
{
	s->armed = s->now;
	s->width = algo_width_ns[width];
	s->sync = (uint8_t)sync;
	s->n_runs += !sync;
	s->n_sync += sync != 0;
	return (struct algo_schedule_step){.todo = ALGO_SCHEDULE_ARM,
	    .sync = s->sync,
	    .start = s->params->start,
	    .width_ns = s->width,
	    .wake = s->now};
}

static struct algo_schedule_step schedule_end(struct algo_schedule *s,
    enum algo_schedule_todo todo)
{
	const struct algo_schedule_step step = {.todo = todo,
	    .sync = s->sync,
	    .start = s->params->start,
	    .width_ns = s->width,
	    .wake = s->now};
	s->n_dropped += todo == ALGO_SCHEDULE_DROP;
	s->width = 0;
	return step;
}

/* What is due while a run is under way is left out. */
static void schedule_leave_out(struct algo_schedule *s, struct sim_rng *rng)
{
	if (s->due <= s->now) {
		s->n_left_out++;
		schedule_skip_own(s, rng);
	}
	if (s->due_sync <= s->now) {
		s->n_left_out++;
		schedule_plan_sync(s);
	}
}

static struct algo_schedule_step schedule_running(struct algo_schedule *s,
    sim_ns started, struct sim_rng *rng)
{
	/* A start that is still to come is no clock that we know. */
	if (started != SIM_NEVER && started > s->now)
		return schedule_end(s, ALGO_SCHEDULE_DROP);
	const sim_ns end = started == SIM_NEVER
	    ? s->armed + schedule_span(s->width)
	    : started + schedule_span(s->width) + s->width;
	if (s->now >= end)
		return schedule_end(s, ALGO_SCHEDULE_TAKE);
	schedule_leave_out(s, rng);
	return schedule_wait(s, end);
}

/* The next of the widths that are asked for. */
static uint32_t schedule_next_width(struct algo_schedule *s)
{
	do
		s->turn = (s->turn + 1) % ALGO_N_WIDTHS;
	while (!(s->params->widths >> s->turn & 1));
	return s->turn;
}

static struct algo_schedule_step schedule_idle(struct algo_schedule *s,
    struct sim_rng *rng)
{
	if (s->due_sync <= s->now) {
		const int late = s->now - s->due_sync > ALGO_SYNC_LATE_NS;
		s->n_left_out += late != 0;
		schedule_plan_sync(s);
		if (!late)
			return schedule_arm(s, s->params->sync_width, 1);
	}
	if (s->due <= s->now) {
		const uint32_t width = schedule_next_width(s);
		schedule_skip_own(s, rng);
		if (s->due_sync - s->now >=
		    schedule_at_most(algo_width_ns[width]))
			return schedule_arm(s, width, 0);
		s->n_left_out++;
	}
	return schedule_wait(s, SIM_NEVER);
}

struct algo_schedule_step algo_schedule_next(struct algo_schedule *s,
    sim_ns now, sim_ns started, struct sim_rng *rng)
{
	const int back = now < s->now;
	s->now = now;
	if (back) {
		schedule_plan_anew(s, rng);
		if (s->width > 0)
			return schedule_end(s, ALGO_SCHEDULE_DROP);
	}
	return s->width > 0 ? schedule_running(s, started, rng)
			    : schedule_idle(s, rng);
}
