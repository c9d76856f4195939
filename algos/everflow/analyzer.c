/* algos/everflow/analyzer.c -- copies in, finished traces and counters out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What comes out must not depend on how copies are cut into batches. So traces
 * end, and counters are put out, as the time of copies says, whenever that is
 * looked at; and suspects are graded by times of traces alone.
 */
#include "algos/everflow/analyzer.h"

#include <stdlib.h>

#include "algos/everflow/check.h"
#include "algos/everflow/ring.h"
#include "algos/everflow/suspect.h"
#include "algos/everflow/meter.h"
#include "sim/vec.h"

static const char *const key_names[] = {"digest", "paper", NULL};

const struct sim_field algo_analyzer_fields[] =
    {{"key", SIM_F_ENUM, offsetof(struct algo_analyzer_params, key),
	 .names = key_names, .def = "digest",
	 .doc = "copies of one packet: tuple, IP ID and digest, or the first "
		"two (paper)"},
	{"t_ms", SIM_F_F64, offsetof(struct algo_analyzer_params, t_ms),
	    .def = "1000", .min = 0.001, .max = 60000, .unit = "ms",
	    .doc = "a trace is complete after this long without a copy"},
	{"confirm_ms", SIM_F_F64,
	    offsetof(struct algo_analyzer_params, confirm_ms), .def = "4000",
	    .min = 0, .max = 600000, .unit = "ms",
	    .doc = "a suspected drop waits this long for what confirms or "
		   "refutes it"},
	{"counters_s", SIM_F_F64,
	    offsetof(struct algo_analyzer_params, counters_s), .def = "10",
	    .min = 0.001, .max = 86400, .unit = "s",
	    .doc = "counters are put out this often"},
	{"max_traces", SIM_F_U32,
	    offsetof(struct algo_analyzer_params, max_traces), .def = "65536",
	    .min = 64, .max = 1 << 26, .unit = "traces",
	    .doc = "under way at once; 144 bytes each are taken"},
	{"store_all", SIM_F_BOOL,
	    offsetof(struct algo_analyzer_params, store_all), .def = "false",
	    .doc = "keep every trace, not only odd ones"},
	{0}};

struct algo_analyzer {
	struct algo_ring ring;
	struct algo_check check;
	struct algo_suspects suspects;
	struct algo_meter meter;
	struct algo_custom_counters *custom; /* the caller's, or NULL */
	struct algo_analyzer_counts count;
	sim_ns now, span, tick; /* tick: when counters are put out next */
	uint32_t index, store_all;
	struct algo_hop hop[ALGO_RING_MAX_COPIES];
};

/* --- open and close --------------------------------------------------------*/
/* A suspect takes 1.1 KB, and few traces are. */
static uint32_t suspects_for(uint32_t max_traces)
{
	return max_traces / 64 > 4096 ? max_traces / 64 : 4096;
}

static int analyzer_check(const struct algo_analyzer_params *p,
    struct sim_err *e)
{
	if (p->key > ALGO_KEY_PAPER)
		return sim_fail(e, SIM_EINVAL, "key %u is not in [0, 1].",
		    p->key);
	for (const struct sim_field *f = algo_analyzer_fields; f->name; f++) {
		const void *at = (const char *)p + f->offset;
		const double x = f->type == SIM_F_F64 ? *(const double *)at
		    : f->type == SIM_F_U32            ? *(const uint32_t *)at
						      : f->min;
		if (!(x >= f->min && x <= f->max))
			return sim_fail(e, SIM_EINVAL,
			    "%s %g is not in [%g, %g] %s.", f->name, x, f->min,
			    f->max, f->unit);
	}
	return 0;
}

int algo_analyzer_open(struct algo_analyzer **out,
    const struct algo_routing *routing, const struct algo_analyzer_params *p,
    uint32_t index, struct sim_err *e)
{
	*out = NULL;
	struct algo_analyzer *a;
	int rc = analyzer_check(p, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&a, 1, e);
	if (rc < 0)
		return rc;
	a->index = index;
	a->store_all = p->store_all;
	a->span = sim_ns_of(p->counters_s);
	rc = algo_check_open(&a->check, routing, e);
	if (rc == 0)
		rc = algo_meter_open(&a->meter, routing->topo, index, e);
	if (rc == 0)
		rc = algo_ring_open(&a->ring, p->max_traces, p->key,
		    sim_ns_of(p->t_ms * 1e-3), e);
	if (rc == 0)
		rc = algo_suspects_open(&a->suspects,
		    suspects_for(p->max_traces),
		    sim_ns_of(p->confirm_ms * 1e-3), e);
	if (rc < 0)
		algo_analyzer_close(a);
	else
		*out = a;
	return rc;
}

void algo_analyzer_close(struct algo_analyzer *a)
{
	if (!a)
		return;
	algo_ring_close(&a->ring);
	algo_check_close(&a->check);
	algo_suspects_close(&a->suspects);
	algo_meter_close(&a->meter);
	free(a);
}

void algo_analyzer_count(struct algo_analyzer *a,
    struct algo_custom_counters *c)
{
	a->custom = c;
}

const struct algo_analyzer_counts *algo_analyzer_counted(
    const struct algo_analyzer *a)
{
	return &a->count;
}

/* --- traces that ended -----------------------------------------------------*/
/* Where traces and rows go. */
struct outlet {
	struct algo_analyzer *a;
	const struct algo_trace_sink *sink;
	struct algo_counters *counters;
};

static int outlet_store(struct outlet *o, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	struct algo_analyzer_counts *n = &o->a->count;
	n->n_suspect += (t->marks & ALGO_TRACE_SUSPECT) != 0;
	n->n_confirmed += (t->marks & ALGO_TRACE_CONFIRMED) != 0;
	n->n_refuted += (t->marks & ALGO_TRACE_REFUTED) != 0;
	n->n_stored++;
	return o->sink->take(o->sink->arg, t, hop, e);
}

/* A suspect that waited. */
static int outlet_graded(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	return outlet_store(arg, t, hop, e);
}

/* Special protocols, by their packets: which rule took one first says little. A
 * BGP session is opened and closed by SYN, FIN and RST, which other rules take,
 * and a NAK may be sampled. */
static int is_special(const struct algo_trace *t)
{
	const int is_bgp = t->proto == TOPO_PROTO_TCP &&
	    (t->src_port == OBS_PORT_BGP || t->dst_port == OBS_PORT_BGP);
	const int is_nak = t->proto == OBS_PROTO_UDP &&
	    t->dst_port == OBS_PORT_ROCE &&
	    obs_roce_is_nak(t->bth_opcode, t->aeth);
	return is_bgp || is_nak || t->kind == OBS_COPY_PFC ||
	    t->kind == OBS_COPY_BGP || t->kind == OBS_COPY_NAK;
}

/* Loops, drops, the debug bit, special protocols. */
static int is_kept(const struct algo_trace *t)
{
	return t->marks &
	    (ALGO_TRACE_LOOP | ALGO_TRACE_SUSPECT | ALGO_TRACE_DEBUG) ||
	    is_special(t);
}

static void trace_counted(struct algo_analyzer *a, const struct algo_trace *t)
{
	a->count.n_traces++;
	a->count.n_same += t->n_same;
	a->count.n_lost += t->n_lost;
	a->count.n_loops += (t->marks & ALGO_TRACE_LOOP) != 0;
}

/* Check and count what was taken. Copies of most traces are looked at where they
 * are; a->hop is filled for others, and for whoever asks for it. */
static int trace_judged(struct outlet *o, struct algo_trace *t,
    struct sim_err *e)
{
	struct algo_analyzer *a = o->a;
	struct algo_record_bare bare;
	const int is_bare = algo_ring_bare(&a->ring, &bare);
	int rc = 0;
	if (is_bare) {
		algo_check_bare(&a->check, t, &bare.first, &bare.last);
		algo_meter_bare(&a->meter, t, bare.in_link);
	}
	if (!is_bare || a->custom || a->store_all || is_kept(t))
		algo_ring_hops(&a->ring, a->hop);
	if (!is_bare) {
		algo_check_trace(&a->check, t, a->hop);
		rc = algo_meter_trace(&a->meter, t, a->hop, a->now, o->counters,
		    e);
	}
	trace_counted(a, t);
	if (a->custom)
		algo_custom_take(a->custom, t, a->hop);
	return rc;
}

static int trace_ends(struct outlet *o, uint32_t marks, struct sim_err *e)
{
	struct algo_analyzer *a = o->a;
	const struct algo_trace_sink graded = {o, outlet_graded};
	struct algo_trace t;
	algo_ring_take(&a->ring, &t);
	t.marks |= marks;
	t.analyzer = a->index;
	int rc = trace_judged(o, &t, e);
	if (rc == 0)
		rc = algo_suspects_expire(&a->suspects, t.t_ns, &graded, e);
	if (rc == 0)
		rc = algo_suspects_see(&a->suspects, &t, &graded, e);
	if (rc < 0)
		return rc;
	if (t.marks & ALGO_TRACE_SUSPECT && a->suspects.confirm > 0 &&
	    algo_suspect_waits(&t))
		return algo_suspects_add(&a->suspects, &t, a->hop, &graded, e);
	return a->store_all || is_kept(&t) ? outlet_store(o, &t, a->hop, e) : 0;
}

/* End what had no copy for T at NOW. */
static int traces_end(struct outlet *o, sim_ns now, struct sim_err *e)
{
	int rc = 0;
	while (rc == 0 && algo_ring_ended(&o->a->ring, now))
		rc = trace_ends(o, 0, e);
	return rc;
}

/* --- time ------------------------------------------------------------------*/
static sim_ns next_tick(const struct algo_analyzer *a, sim_ns now)
{
	const sim_ns spans = now / a->span;
	return spans >= SIM_NEVER / a->span ? SIM_NEVER : (spans + 1) * a->span;
}

static int analyzer_rows(struct outlet *o, struct sim_err *e)
{
	struct algo_analyzer *a = o->a;
	const int rc = algo_meter_put(&a->meter, a->tick, o->counters, e);
	return rc < 0 || !a->custom
	    ? rc
	    : algo_custom_put(a->custom, a->index, a->tick, o->counters, e);
}

static int analyzer_tick(struct outlet *o, sim_ns now, struct sim_err *e)
{
	struct algo_analyzer *a = o->a;
	if (a->tick == 0) {
		a->tick = next_tick(a, now);
		return 0;
	}
	int rc = traces_end(o, a->tick, e);
	if (rc == 0)
		rc = analyzer_rows(o, e);
	a->tick = next_tick(a, now);
	return rc;
}

/* A copy that is not where it was guessed; ends traces if there is no room. */
static int analyzer_seek(struct outlet *o, const struct obs_mirror *copies,
    size_t i, const struct algo_ring_guess *guess, struct sim_err *e)
{
	struct algo_analyzer *a = o->a;
	for (;;) {
		const enum algo_ring_put put =
		    algo_ring_put(&a->ring, copies, i, guess, a->now);
		a->count.n_long += put == ALGO_RING_LONG;
		if (put != ALGO_RING_FULL)
			return 0;
		const int ended = algo_ring_ended(&a->ring, a->now);
		a->count.n_early += !ended;
		const int rc = trace_ends(o, ended ? 0 : ALGO_TRACE_EARLY, e);
		if (rc < 0)
			return rc;
	}
}

static inline int analyzer_put(struct outlet *o,
    const struct obs_mirror *copies, size_t i,
    const struct algo_ring_guess *guess, struct sim_err *e)
{
	struct algo_analyzer *a = o->a;
	sim_ns now = copies->t_ns[i];
	int rc = 0;
	if (now < a->now) {
		a->count.n_back++;
		now = a->now;
	}
	if (now >= a->tick && (rc = analyzer_tick(o, now, e)) < 0)
		return rc;
	a->now = now;
	a->count.n_copies++;
	algo_meter_mirrored(&a->meter, copies->node[i], copies->mirror_seq[i]);
	return algo_ring_add(&a->ring, copies, i, guess, now)
	    ? 0
	    : analyzer_seek(o, copies, i, guess, e);
}

int algo_analyzer_feed(struct algo_analyzer *a, const struct obs_mirror *copies,
    size_t from, size_t to, const struct algo_trace_sink *sink,
    struct algo_counters *counters, struct sim_err *e)
{
	struct outlet o = {a, sink, counters};
	struct algo_ring_guess guess[ALGO_RING_BLOCK];
	int rc = 0;
	while (from < to && rc == 0) {
		const unsigned n = to - from < ALGO_RING_BLOCK
		    ? (unsigned)(to - from)
		    : ALGO_RING_BLOCK;
		algo_ring_look(&a->ring, copies, from, n, guess);
		for (unsigned i = 0; rc == 0 && i < n; i++)
			rc = analyzer_put(&o, copies, from + i, &guess[i], e);
		if (rc == 0)
			rc = traces_end(&o, a->now, e);
		from += n;
	}
	return rc;
}

int algo_analyzer_flush(struct algo_analyzer *a, sim_ns now,
    const struct algo_trace_sink *sink, struct algo_counters *counters,
    struct sim_err *e)
{
	struct outlet o = {a, sink, counters};
	const struct algo_trace_sink graded = {&o, outlet_graded};
	const int all = now == SIM_NEVER;
	int rc = 0;
	if (!all && now < a->now)
		now = a->now;
	if (!all && a->tick != 0 && now >= a->tick)
		rc = analyzer_tick(&o, now, e);
	if (!all)
		a->now = now;
	if (rc == 0)
		rc = traces_end(&o, now, e);
	/* What comes next begins no sooner than what is under way. */
	const sim_ns oldest = algo_ring_oldest(&a->ring);
	if (rc == 0)
		rc = algo_suspects_expire(&a->suspects,
		    oldest < now ? oldest : now, &graded, e);
	if (rc == 0 && all && a->tick != 0)
		rc = analyzer_rows(&o, e);
	return rc;
}
