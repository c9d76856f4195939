/* algos/millisampler/schedule.h -- when a host samples, and how finely.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A state machine without clock or sampler: it is told the time and how the run
 * under way stands, and says what to do next.
 *
 *	step(now, state of the sampler)  ->  ARM, TAKE, DROP or WAIT until `wake`
 *
 * Runs of its own begin once in `every`, the widths in turn: at a phase that
 * each host draws, and within that later by up to `jitter` of `every`, so that
 * hosts do not sample together nor one in step with what is periodic. Those of
 * a rack begin together, at multiples of `sync_every` by a clock that all share;
 * a run of one's own that might still be under way then is left out.
 *
 * A run lasts from its first packet for all its buckets, and if no packet comes
 * for as long again, it is over, too: a quiet host has runs. When it is time for
 * a run while one is under way, it is left out and counted. The clock may be set:
 * a run during which it went back is to be thrown away, and all is planned anew.
 *
 * Paper  Millisampler (IMC'22): short periodic runs at 10 ms, 1 ms and 100 us;
 *        SyncMillisampler runs 1 ms on all hosts of a rack. How often is ours.
 */
#ifndef ALGOS_MILLISAMPLER_SCHEDULE_H
#define ALGOS_MILLISAMPLER_SCHEDULE_H

#include "algos/millisampler/buckets.h"
#include "sim/field.h"
#include "sim/rng.h"

/* X(name, text, ns), widest first: the order of turns. */
#define ALGO_WIDTHS(X)                                                         \
	X(10MS, "10ms", 10000000)                                              \
	X(1MS, "1ms", 1000000)                                                 \
	X(100US, "100us", 100000)

enum {
#define X(name, text, ns) ALGO_WIDTH_AT_##name,
	ALGO_WIDTHS(X)
#undef X
	    ALGO_N_WIDTHS
};
extern const char *const algo_width_names[]; /* NULL-terminated */
extern const sim_ns algo_width_ns[ALGO_N_WIDTHS];

struct algo_schedule_params {
	uint32_t widths;     /* a set over algo_width_names */
	uint32_t start;      /* enum algo_start */
	uint32_t sync_width; /* over algo_width_names */
	double every_s, jitter;
	double sync_every_s, sync_at_s;
};
extern const struct sim_field algo_schedule_fields[];

enum algo_schedule_todo {
	ALGO_SCHEDULE_WAIT, /* nothing before `wake` */
	ALGO_SCHEDULE_ARM,  /* zero the sampler, arm it with `width_ns` */
	ALGO_SCHEDULE_TAKE, /* disable it, read its buckets and keep them */
	ALGO_SCHEDULE_DROP, /* disable it, throw the run away */
};

struct algo_schedule_step {
	enum algo_schedule_todo todo;
	uint8_t sync; /* ARM, TAKE: a run of the rack */
	enum algo_start start;
	sim_ns width_ns, wake;
};

/* All of it; needs no freeing. */
struct algo_schedule {
	const struct algo_schedule_params *params;
	sim_ns now, phase, due, due_sync; /* SIM_NEVER: none is */
	uint64_t slot;                    /* number of `due` since phase */
	sim_ns armed, width; /* of the run under way; width 0: none is */
	uint32_t turn;       /* index of the next width */
	uint8_t sync;
	uint64_t n_runs, n_sync, n_left_out, n_dropped;
};

enum {
	ALGO_SYNC_LATE_NS = 100000000
}; /* a rack's run that would begin later
					   is left out */

/* P is kept. RNG draws the host's phase. Errors SIM_EINVAL if a run of one of
 * the widths would never fit between two of the rack. */
int algo_schedule_init(struct algo_schedule *s,
    const struct algo_schedule_params *p, sim_ns now, struct sim_rng *rng,
    struct sim_err *e);

/* What to do at NOW; to be asked again at once unless that is WAIT, and no
 * later than `wake`. STARTED: when the first packet of the run under way came,
 * SIM_NEVER if none did. */
struct algo_schedule_step algo_schedule_next(struct algo_schedule *s,
    sim_ns now, sim_ns started, struct sim_rng *rng);

#endif
