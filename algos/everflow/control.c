/* algos/everflow/control.c -- the controller: requests in, actions out.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/control.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algos/everflow/prober.h"
#include "sim/vec.h"

#define AT(member) .offset = offsetof(struct algo_control_params, member)
const struct sim_field algo_control_fields[] = {
    {.name = "sample_n",
	.type = SIM_F_U32,
	AT(sample_n),
	.min = 1,
	.max = 8388608,
	.unit = "packets",
	.def = "1024",
	.doc = "counters are of 1 packet in so many"},
    {.name = "life_s",
	.type = SIM_F_F64,
	AT(life_s),
	.min = 0.001,
	.max = 604800,
	.unit = "s",
	.def = "600",
	.doc = "that packets are marked at most, and if nothing is said"},
    {.name = "excess",
	.type = SIM_F_F64,
	AT(excess),
	.min = 1,
	.max = 1000,
	.unit = "1",
	.def = "1.1",
	.doc = "more marked than reserved by this factor ends a session"},
    {0},
};
#undef AT

/* Frames of a server that was not seen to send: as long as they may be. */
enum { FRAME_BYTES = 1514 };

struct control_session {
	uint32_t id;
	sim_ns ends_ns;
	struct algo_load need;
	double packets_s; /* reserved */
	double n_marked;  /* in the last span */
};

struct control_counter {
	char name[ALGO_CONTROL_NAME];
	uint32_t id;
};

struct algo_control {
	const struct topo *topo;
	struct algo_control_params params;
	struct algo_admission_params capacity;
	uint32_t next_counter, next_order, next_session;

	size_t n_sessions, n_counters;
	struct control_session session[ALGO_CONTROL_SESSIONS];
	struct control_counter counter[ALGO_CUSTOM_MAX];

	/* Of each host in the last span, as counted. */
	double *packets, *bytes; /* [n_hosts] */
	uint32_t *asked;         /* [n_hosts] number of the last request */
	uint32_t n_asked;
	double span_s;   /* 0: no counters yet */
	double n_marked; /* of all sessions, each packet once */

	/* What actions lend. */
	struct algo_filter filter, condition, count, count_all;
};

static const char control_marked[] = "debug && !probe";

int algo_control_open(struct algo_control **out, const struct topo *t,
    const struct algo_control_params *p,
    const struct algo_admission_params *capacity, struct sim_err *e)
{
	struct algo_control *c;
	int rc = SIM_ZALLOC(&c, 1, e);
	if (rc < 0)
		return rc;
	c->topo = t;
	c->params = *p;
	c->capacity = *capacity;
	c->next_order = c->next_session = 1;
	if ((rc = algo_filter_compile(&c->count_all, control_marked, t,
		 ALGO_IS_FILTER, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->packets, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->bytes, t->n_hosts, e)) < 0 ||
	    (rc = SIM_ZALLOC(&c->asked, t->n_hosts, e)) < 0) {
		algo_control_close(c);
		return rc;
	}
	*out = c;
	return 0;
}

void algo_control_close(struct algo_control *c)
{
	if (!c)
		return;
	free(c->packets);
	free(c->bytes);
	free(c->asked);
	free(c);
}

void algo_control_out_free(struct algo_control_out *o)
{
	free(o->action);
	*o = (struct algo_control_out){0};
}

/* Room for all that one call may say, taken before anything is changed. */
static int control_room(struct algo_control_out *o, struct sim_err *e)
{
	return SIM_RESERVE(&o->action, &o->cap,
	    o->n + 2 * ALGO_CONTROL_SESSIONS + 8, e);
}

static struct algo_action *control_say(struct algo_control_out *o,
    enum algo_action_kind kind, uint32_t id)
{
	struct algo_action *a = &o->action[o->n++];
	*a = (struct algo_action){.kind = kind, .id = id};
	return a;
}

/* A filter that is too long is a mistake in what is asked; SIM_ELIMIT says that what
 * is there leaves no room. */
static int control_compile(const struct algo_control *c, struct algo_filter *f,
    const char *text, enum algo_filter_use use, const char *what,
    struct sim_err *e)
{
	const int rc =
	    algo_filter_compile(f, text ? text : "", c->topo, use, e);
	return rc < 0
	    ? sim_wrap(e, rc == SIM_ELIMIT ? SIM_EINVAL : rc, "%s", what)
	    : 0;
}

/* --- traces and counters -------------------------------------------------- */

static int control_check_span(const struct algo_request *r, struct sim_err *e)
{
	return r->start_ns < r->end_ns
	    ? 0
	    : sim_fail(e, SIM_ERANGE,
		  "nothing is from %" PRIu64 " to before %" PRIu64 " ns.",
		  r->start_ns, r->end_ns);
}

static int control_get_trace(struct algo_control *c,
    const struct algo_request *r, struct algo_control_out *out,
    struct sim_err *e)
{
	int rc = control_check_span(r, e);
	if (rc < 0 ||
	    (rc = control_compile(c, &c->filter, r->filter, ALGO_IS_FILTER,
		 "filter", e)) < 0 ||
	    (rc = control_compile(c, &c->condition, r->condition,
		 ALGO_IS_CONDITION, "condition", e)) < 0)
		return rc;
	struct algo_action *a = control_say(out, ALGO_LOOK_UP, 0);
	a->filter = &c->filter;
	a->condition = &c->condition;
	a->start_ns = r->start_ns;
	a->end_ns = r->end_ns;
	return 0;
}

static struct control_counter *control_counter(struct algo_control *c,
    const char *name)
{
	for (size_t i = 0; i < c->n_counters; i++)
		if (strcmp(c->counter[i].name, name) == 0)
			return &c->counter[i];
	return NULL;
}

static int control_no_counter(const char *name, struct sim_err *e)
{
	char shown[64];
	return sim_fail(e, SIM_EINVAL, "there is no counter %s.",
	    sim_quote(shown, name));
}

static int control_add_counter(struct algo_control *c,
    const struct algo_request *r, struct algo_control_out *out,
    struct sim_err *e)
{
	char shown[64];
	if (*r->name == '\0' || strlen(r->name) >= ALGO_CONTROL_NAME)
		return sim_fail(e, SIM_EINVAL,
		    "a counter's name has 1 to %d bytes.",
		    ALGO_CONTROL_NAME - 1);
	if (control_counter(c, r->name))
		return sim_fail(e, SIM_ELIMIT, "there is a counter %s.",
		    sim_quote(shown, r->name));
	/* Analyzers also count each session, and all. */
	if (c->n_counters + c->n_sessions + 1 >= ALGO_CUSTOM_MAX)
		return sim_fail(e, SIM_ELIMIT,
		    "analyzers have room for %d counters.", ALGO_CUSTOM_MAX);
	const int rc = control_compile(c, &c->filter, r->filter, ALGO_IS_FILTER,
	    "filter", e);
	if (rc < 0)
		return rc;
	struct control_counter *x = &c->counter[c->n_counters++];
	x->id = c->next_counter++;
	memcpy(x->name, r->name, strlen(r->name) + 1);
	control_say(out, ALGO_COUNT, x->id)->filter = &c->filter;
	return 0;
}

static int control_remove_counter(struct algo_control *c,
    const struct algo_request *r, struct algo_control_out *out,
    struct sim_err *e)
{
	struct control_counter *x = control_counter(c, r->name);
	if (!x)
		return control_no_counter(r->name, e);
	control_say(out, ALGO_UNCOUNT, x->id);
	*x = c->counter[--c->n_counters];
	return 0;
}

static int control_get_counter(struct algo_control *c,
    const struct algo_request *r, struct algo_control_out *out,
    struct sim_err *e)
{
	const struct control_counter *x = control_counter(c, r->name);
	if (!x)
		return control_no_counter(r->name, e);
	const int rc = control_check_span(r, e);
	if (rc < 0)
		return rc;
	struct algo_action *a = control_say(out, ALGO_SUM_UP, x->id);
	a->start_ns = r->start_ns;
	a->end_ns = r->end_ns;
	return 0;
}

/* --- probes --------------------------------------------------------------- */

static int control_probe(struct algo_control *c, const struct algo_request *r,
    struct algo_control_out *out, struct sim_err *e)
{
	const struct algo_probe_order *p = &r->probe;
	if (p->count == 0 || p->count > ALGO_PROBER_MAX_COUNT)
		return sim_fail(e, SIM_ERANGE,
		    "%u probes; there may be 1 to %d.", p->count,
		    ALGO_PROBER_MAX_COUNT);
	if (p->interval_ns == 0)
		return sim_fail(e, SIM_ERANGE,
		    "probes without time between them.");
	if (p->n_via > OBS_MAX_VIA || (p->n_via == 0 && p->tuple.dst_ip == 0))
		return sim_fail(e, SIM_ERANGE,
		    "by %u switches; there may be %d, and without any there "
		    "must be a destination.",
		    p->n_via, OBS_MAX_VIA);
	for (unsigned i = 0; i < p->n_via; i++)
		if (p->via[i] >= c->topo->n_switches)
			return sim_fail(e, SIM_ERANGE,
			    "by switch %u; there are %u.", p->via[i],
			    c->topo->n_switches);
	struct algo_action *a = control_say(out, ALGO_SEND, c->next_order);
	a->probe = *p;
	a->probe.id = c->next_order++;
	return 0;
}

/* --- sessions ------------------------------------------------------------- */

struct algo_load algo_control_used(const struct algo_control *c)
{
	struct algo_load sum = {0};
	for (size_t i = 0; i < c->n_sessions; i++)
		algo_load_add(&sum, &c->session[i].need);
	return sum;
}

uint32_t algo_control_n_sessions(const struct algo_control *c)
{
	return (uint32_t)c->n_sessions;
}

/* The number behind a count of N is below this in 95 of 100 cases; of none seen
 * it is 3. (For Poisson counts N + 1 + 1.645 sqrt(N + 1) + 0.35 is off by less
 * than 2 %.) */
static double control_upper(double n)
{
	return n <= 0 ? 3 : n + 1.35 + 1.645 * sqrt(n + 1);
}

void algo_control_rate(const struct algo_control *c, const topo_host server[],
    size_t n, double *packets_s, double *bytes_s)
{
	*packets_s = *bytes_s = 0;
	for (size_t i = 0; i < n && c->span_s > 0; i++) {
		const double seen = c->packets[server[i]];
		const double mean =
		    seen > 0 ? c->bytes[server[i]] / seen : FRAME_BYTES;
		const double rate =
		    control_upper(seen) * c->params.sample_n / c->span_s;
		*packets_s += rate;
		*bytes_s += rate * mean;
	}
}

static int control_check_servers(struct algo_control *c,
    const struct algo_request *r, struct sim_err *e)
{
	if (r->n_servers == 0)
		return sim_fail(e, SIM_EINVAL, "no server is named.");
	c->n_asked++;
	for (size_t i = 0; i < r->n_servers; i++) {
		const topo_host h = r->server[i];
		if (h >= c->topo->n_hosts)
			return sim_fail(e, SIM_ERANGE,
			    "server %u; there are %u.", h, c->topo->n_hosts);
		if (c->asked[h] == c->n_asked)
			return sim_fail(e, SIM_EINVAL,
			    "server %u is named twice.", h);
		c->asked[h] = c->n_asked;
	}
	return 0;
}

/* What is marked is counted to see whether it is as much as was thought. */
static int control_count_session(struct algo_control *c,
    const struct algo_request *r, struct sim_err *e)
{
	char text[4096 + 64];
	struct sim_text t = {text, sizeof(text), 0};
	sim_put(&t, "%s", control_marked);
	if (r->filter && r->filter[strspn(r->filter, " \t\n")])
		sim_put(&t, " && (%s)", r->filter);
	/* It was compiled alone, so it has at most 4096 bytes. */
	assert(t.n < sizeof(text));
	return control_compile(c, &c->count, text, ALGO_IS_FILTER,
	    "what is to be marked and counted", e);
}

static int control_check_enable(struct algo_control *c,
    const struct algo_request *r, struct sim_err *e)
{
	int rc = control_check_servers(c, r, e);
	if (rc < 0 ||
	    (rc = control_compile(c, &c->filter, r->filter, ALGO_IS_FILTER,
		 "filter", e)) < 0)
		return rc;
	if (!algo_filter_is_header_only(&c->filter))
		return sim_fail(e, SIM_EINVAL,
		    "a server marks by headers alone; what switches see is not "
		    "known to it.");
	if (r->sample_bits > ALGO_SAMPLE_MOST)
		return sim_fail(e, SIM_ERANGE,
		    "1 packet in 2^%u; at most 2^%d.", r->sample_bits,
		    ALGO_SAMPLE_MOST);
	if (c->n_sessions == ALGO_CONTROL_SESSIONS ||
	    c->n_counters + c->n_sessions + 1 >= ALGO_CUSTOM_MAX)
		return sim_fail(e, SIM_ELIMIT,
		    "%zu sessions and %zu counters are under way.",
		    c->n_sessions, c->n_counters);
	if (!(c->span_s > 0))
		return sim_fail(e, SIM_EINVAL,
		    "what servers send is not known before the first "
		    "counters.");
	return control_count_session(c, r, e);
}

/* Say that packets are marked from now on. */
static void control_begin(struct algo_control *c, const struct algo_request *r,
    uint32_t id, struct algo_control_out *out)
{
	struct algo_action *a = control_say(out, ALGO_MARK, id);
	a->filter = &c->filter;
	a->server = r->server;
	a->n_servers = r->n_servers;
	a->sample_bits = r->sample_bits;
	control_say(out, ALGO_COUNT, ALGO_SESSION_COUNTER + id)->filter =
	    &c->count;
	if (c->n_sessions == 1)
		control_say(out, ALGO_COUNT, ALGO_SESSION_COUNTER)->filter =
		    &c->count_all;
}

static int control_enable(struct algo_control *c, sim_ns now,
    const struct algo_request *r, struct algo_control_out *out,
    struct sim_err *e)
{
	struct control_session s = {.id = c->next_session};
	const struct algo_load used = algo_control_used(c);
	const sim_ns most = sim_ns_of(c->params.life_s);
	const sim_ns life =
	    r->life_ns > 0 && r->life_ns < most ? r->life_ns : most;
	struct algo_refusal why;
	double bytes_s;
	const int rc = control_check_enable(c, r, e);
	if (rc < 0)
		return rc;
	algo_control_rate(c, r->server, r->n_servers, &s.packets_s, &bytes_s);
	s.packets_s = ldexp(s.packets_s, -(int)r->sample_bits);
	s.need = algo_admission_need(&c->capacity, s.packets_s,
	    ldexp(bytes_s, -(int)r->sample_bits));
	if (!algo_admission_fits(&c->capacity, &used, &s.need, &why)) {
		control_say(out, ALGO_REFUSED, 0)->refusal = why;
		return 0;
	}
	s.ends_ns = life < SIM_NEVER - now ? now + life : SIM_NEVER;
	c->next_session++;
	c->session[c->n_sessions++] = s;
	control_begin(c, r, s.id, out);
	return 0;
}

static struct algo_action *control_end(struct algo_control *c, size_t i,
    enum algo_end why, struct algo_control_out *out)
{
	const uint32_t id = c->session[i].id;
	control_say(out, ALGO_UNCOUNT, ALGO_SESSION_COUNTER + id);
	c->session[i] = c->session[--c->n_sessions];
	if (c->n_sessions == 0)
		control_say(out, ALGO_UNCOUNT, ALGO_SESSION_COUNTER);
	struct algo_action *a = control_say(out, ALGO_UNMARK, id);
	a->why = why;
	return a;
}

static int control_disable(struct algo_control *c, const struct algo_request *r,
    struct algo_control_out *out, struct sim_err *e)
{
	for (size_t i = 0; i < c->n_sessions; i++)
		if (c->session[i].id == r->session) {
			control_end(c, i, ALGO_END_DISABLED, out);
			return 0;
		}
	return sim_fail(e, SIM_EINVAL, "there is no session %u.", r->session);
}

static void control_expire(struct algo_control *c, sim_ns now,
    struct algo_control_out *out)
{
	for (size_t i = c->n_sessions; i > 0; i--)
		if (c->session[i - 1].ends_ns <= now)
			control_end(c, i - 1, ALGO_END_EXPIRED, out);
}

/* --- calls ---------------------------------------------------------------- */

int algo_control_ask(struct algo_control *c, sim_ns now,
    const struct algo_request *r, struct algo_control_out *out,
    struct sim_err *e)
{
	const int rc = control_room(out, e);
	if (rc < 0)
		return rc;
	/* What is over takes no room any more. */
	control_expire(c, now, out);
	switch (r->kind) {
	case ALGO_GET_TRACE:
		return control_get_trace(c, r, out, e);
	case ALGO_GET_COUNTER:
		return control_get_counter(c, r, out, e);
	case ALGO_ADD_COUNTER:
		return control_add_counter(c, r, out, e);
	case ALGO_REMOVE_COUNTER:
		return control_remove_counter(c, r, out, e);
	case ALGO_PROBE:
		return control_probe(c, r, out, e);
	case ALGO_ENABLE_DEBUG:
		return control_enable(c, now, r, out, e);
	case ALGO_DISABLE_DEBUG:
		return control_disable(c, r, out, e);
	}
	return sim_fail(e, SIM_EINVAL, "request %d is none.", (int)r->kind);
}

int algo_control_tick(struct algo_control *c, sim_ns now,
    struct algo_control_out *out, struct sim_err *e)
{
	const int rc = control_room(out, e);
	if (rc == 0)
		control_expire(c, now, out);
	return rc;
}

/* What each host sent, and what sessions marked. */
static void control_hear(struct algo_control *c,
    const struct algo_counters *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct algo_counter x = algo_counters_at(rows, i);
		/* Cable h is that of host h. */
		const uint32_t h = x.id / 2;
		const int is_up = x.id % 2 == TOPO_UP && h < c->topo->n_hosts;
		if (x.kind == ALGO_COUNTER_LINK_PACKETS && is_up)
			c->packets[h] += x.value;
		if (x.kind == ALGO_COUNTER_LINK_BYTES && is_up)
			c->bytes[h] += x.value;
		if (x.kind != ALGO_COUNTER_CUSTOM || x.sub != 0)
			continue;
		if (x.id == ALGO_SESSION_COUNTER)
			c->n_marked += x.value;
		for (size_t k = 0; k < c->n_sessions; k++)
			if (x.id == ALGO_SESSION_COUNTER + c->session[k].id)
				c->session[k].n_marked += x.value;
	}
}

/* A packet that the filters of two sessions fit is counted by both, so whether
 * all are above what is reserved is told by the counter of all. */
static void control_check_excess(struct algo_control *c,
    struct algo_control_out *out)
{
	double reserved = 0, worst = -1;
	size_t who = 0;
	for (size_t i = 0; i < c->n_sessions; i++) {
		const struct control_session *s = &c->session[i];
		reserved += s->packets_s;
		if (s->n_marked / s->packets_s > worst) {
			worst = s->n_marked / s->packets_s;
			who = i;
		}
	}
	if (c->n_sessions == 0 ||
	    c->n_marked <= c->params.excess * reserved * c->span_s)
		return;
	const struct control_session s = c->session[who];
	struct algo_action *a = control_end(c, who, ALGO_END_EXCESS, out);
	a->measured_pps = s.n_marked / c->span_s;
	a->reserved_pps = s.packets_s;
}

int algo_control_counters(struct algo_control *c, sim_ns now, sim_ns span,
    const struct algo_counters *rows, struct algo_control_out *out,
    struct sim_err *e)
{
	const int rc = span > 0
	    ? control_room(out, e)
	    : sim_fail(e, SIM_ERANGE, "counters of a span of 0 ns.");
	if (rc < 0)
		return rc;
	control_expire(c, now, out);
	for (topo_host h = 0; h < c->topo->n_hosts; h++)
		c->packets[h] = c->bytes[h] = 0;
	for (size_t i = 0; i < c->n_sessions; i++)
		c->session[i].n_marked = 0;
	c->span_s = 1e-9 * (double)span;
	c->n_marked = 0;
	control_hear(c, rows);
	control_check_excess(c, out);
	return 0;
}
