/* tests/rigs/schedule_agent.c -- an agent in a schedule: its clock, timers and memory.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/schedule_agent.h"

#include <string.h>

enum { BEYOND = 64, MARK = 0xa5 };

size_t schedule_agent_room(const struct agent_ops *ops)
{
	return ops->state_size + BEYOND;
}

void schedule_agent_begin(struct schedule_agent *a, unsigned char *state,
    const struct sim_seed *where)
{
	a->state = state;
	a->broken = NULL;
	memset(state + a->ops->state_size, MARK, BEYOND);
	sim_rng_init(&a->rng, where, SIM_STREAM_AGENT, 0);
	schedule_agent_restart(a);
}

void schedule_agent_restart(struct schedule_agent *a)
{
	a->n_due = a->n_timers = 0;
	schedule_must(a, a->ops->init(a->state, 0, a->params, NULL) == 0,
	    "parameters within their ranges are taken");
	schedule_agent_step(a, &(struct agent_event){.kind = AGENT_START});
}

static void put_due(struct schedule_agent *a, const struct schedule_due *x)
{
	schedule_must(a, a->n_due < SCHEDULE_DUE,
	    "what an agent waits for is bounded");
	if (!a->broken)
		a->due[a->n_due++] = *x;
}

void schedule_agent_post(struct schedule_agent *a, sim_ns by,
    const struct agent_event *ev)
{
	put_due(a, &(struct schedule_due){.at = a->t + by, .ev = *ev});
}

static void set_timer(struct schedule_agent *a, const struct agent_action *x)
{
	schedule_must(a, x->at_ns >= a->t + a->skew,
	    "no timer is set for a time that is past");
	put_due(a,
	    &(struct schedule_due){.at = a->by_clock ? x->at_ns
						     : x->at_ns - a->skew,
		.by_clock = a->by_clock,
		.ev = {.kind = AGENT_TIMER, .token = x->token}});
	a->n_timers++;
}

void schedule_agent_step(struct schedule_agent *a, const struct agent_event *ev)
{
	const unsigned char *beyond = a->state + a->ops->state_size;
	a->out.n = 0;
	schedule_must(a,
	    a->ops->step(a->state, a->t + a->skew, ev, &a->rng, &a->out,
		NULL) == 0,
	    "a step succeeds, whatever happens");
	for (int i = 0; i < BEYOND; i++)
		schedule_must(a, beyond[i] == MARK,
		    "an agent keeps to its memory");
	for (size_t i = 0; i < a->out.n; i++)
		if (a->out.action[i].kind == AGENT_SET_TIMER)
			set_timer(a, &a->out.action[i]);
	a->took(a->world, ev);
}

/* When event I comes, of t: at once if the clock was set beyond it. */
static sim_ns time_of(const struct schedule_agent *a, size_t i)
{
	const sim_ns at = a->due[i].at;
	if (!a->due[i].by_clock)
		return at;
	return at > a->t + a->skew ? at - a->skew : a->t;
}

/* The first event that is due by UNTIL comes: of several, that which was put
 * first. Returns 0 if there is none. */
static int come(struct schedule_agent *a, sim_ns until, int is_late)
{
	size_t first = a->n_due;
	sim_ns at = until + 1;
	for (size_t i = 0; i < a->n_due; i++)
		if (time_of(a, i) < at)
			at = time_of(a, first = i);
	if (first == a->n_due)
		return 0;
	const struct agent_event ev = a->due[first].ev;
	a->n_due--;
	a->n_timers -= ev.kind == AGENT_TIMER;
	memmove(&a->due[first], &a->due[first + 1],
	    (a->n_due - first) * sizeof(a->due[0]));
	if (!is_late && at > a->t)
		a->t = at;
	schedule_agent_step(a, &ev);
	return 1;
}

void schedule_agent_pass(struct schedule_agent *a, sim_ns by)
{
	const sim_ns until = a->t + by;
	while (!a->broken && come(a, until, 0))
		;
	a->t = until;
}

/* Those that are set meanwhile are not waited for. */
void schedule_agent_hang(struct schedule_agent *a, sim_ns by)
{
	a->t += by;
	for (size_t n = a->n_due; n > 0 && !a->broken; n--)
		if (!come(a, a->t, 1))
			break;
}
