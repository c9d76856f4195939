/* tests/models/fabric_test.c -- the loop of agents and fabric, with a toy each.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/fabric.h"
#include "tests/test.h"

/* A fabric of one queue of timers, which logs what it is given. */
enum { N_HOSTS = 4, MAX = 256, REBOOT = 1000 };

struct toy_fabric {
	struct fabric base;
	sim_ns now;
	struct {
		sim_ns at;
		topo_host host;
		uint64_t token;
	} queue[MAX];
	size_t n;
	size_t n_submits, n_probes;
	size_t batch; /* events a poll gives at most */
	unsigned off; /* set of hosts */
	int fail_submit, fail_poll;
};

static sim_ns toy_now(const struct fabric *f)
{
	return ((const struct toy_fabric *)f)->now;
}

static int toy_submit(struct fabric *base, topo_host host,
    const struct agent_action *a, size_t n, struct sim_err *e)
{
	struct toy_fabric *f = (struct toy_fabric *)base;
	if (f->fail_submit)
		return sim_fail(e, SIM_EIO, "no socket.");
	f->n_submits++;
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_not_equal(a[i].kind, AGENT_REPORT);
		f->n_probes += a[i].kind == AGENT_PROBE;
		if (a[i].kind != AGENT_SET_TIMER)
			continue;
		assert_true(f->n < MAX);
		f->queue[f->n].at = a[i].at_ns;
		f->queue[f->n].host = host;
		f->queue[f->n++].token = a[i].token;
	}
	return 0;
}

static size_t earliest(const struct toy_fabric *f)
{
	size_t best = 0;
	for (size_t i = 1; i < f->n; i++)
		if (f->queue[i].at < f->queue[best].at)
			best = i;
	return best;
}

static int toy_poll(struct fabric *base, sim_ns until, struct agent_event ev[],
    topo_host host[], sim_ns at[], size_t cap, size_t *n, struct sim_err *e)
{
	struct toy_fabric *f = (struct toy_fabric *)base;
	*n = 0;
	if (f->fail_poll)
		return sim_fail(e, SIM_EIO, "the network is down.");
	while (*n < cap && *n < f->batch && f->n > 0) {
		const size_t i = earliest(f);
		/* A poll gives events of one time only: an agent's answer to
		 * an earlier event may cause one that comes before later ones.
		 */
		if (f->queue[i].at > until ||
		    (*n > 0 && f->queue[i].at != at[0]))
			break;
		ev[*n] = (struct agent_event){.kind = AGENT_TIMER,
		    .token = f->queue[i].token};
		if (f->queue[i].token == REBOOT)
			ev[*n].kind = AGENT_START;
		host[*n] = f->queue[i].host;
		at[(*n)++] = f->now = f->queue[i].at;
		f->queue[i] = f->queue[--f->n];
	}
	if (*n == 0 && until != SIM_NEVER)
		f->now = until;
	return 0;
}

static int toy_is_on(const struct fabric *f, topo_host h)
{
	return !(((const struct toy_fabric *)f)->off >> h & 1);
}

static const struct fabric_ops toy_ops = {.name = "toy",
    .is_on = toy_is_on,
    .now = toy_now,
    .submit = toy_submit,
    .poll = toy_poll};

static void open_fabric(struct toy_fabric *f)
{
	*f = (struct toy_fabric){.base = {&toy_ops, .n_hosts = N_HOSTS},
	    .batch = 8};
}

/* An agent that counts its timers: at each it probes, reports, probes twice and
 * sets another, `rounds` times over. */
struct toy_params {
	uint32_t rounds;
	int fail_init, fail_step;
};
struct toy_state {
	const struct toy_params *params;
	topo_host host;
	uint32_t n_starts, n_timers, word;
};

static int toy_init(void *state, topo_host host, const void *params,
    struct sim_err *e)
{
	const struct toy_params *p = params;
	if (p->fail_init)
		return sim_fail(e, SIM_EINVAL, "bad parameters.");
	*(struct toy_state *)state = (struct toy_state){p, host, 0, 0, 0};
	return 0;
}

static int toy_step(void *state, sim_ns now, const struct agent_event *ev,
    struct sim_rng *rng, struct agent_out *out, struct sim_err *e)
{
	struct toy_state *s = state;
	assert_int_equal(out->n, 0);
	if (ev->kind == AGENT_START) {
		assert_int_equal(s->n_starts++, 0);
		s->word = sim_rng_u32(rng);
	} else {
		assert_int_equal(s->n_starts, 1);
		if (s->params->fail_step)
			return sim_fail(e, SIM_EINVAL, "what is this?");
		agent_act(out, AGENT_PROBE);
		struct agent_report *r = &agent_act(out, AGENT_REPORT)->report;
		r->tuple.src_ip = s->host;
		r->n_retx = s->n_timers++;
		agent_act(out, AGENT_PROBE);
		agent_act(out, AGENT_PROBE);
	}
	if (s->n_timers < s->params->rounds) {
		struct agent_action *a = agent_act(out, AGENT_SET_TIMER);
		a->at_ns = now + 10 + s->host;
		a->token = s->n_timers;
	}
	return 0;
}

static struct agent_ops toy_agent(void)
{
	return (struct agent_ops){.name = "toy",
	    .state_size = sizeof(struct toy_state),
	    .init = toy_init,
	    .step = toy_step};
}

struct seen {
	unsigned n[N_HOSTS], all;
	sim_ns last;
	int fail;
};

static int see(void *arg, topo_host host, sim_ns at,
    const struct agent_report *r, struct sim_err *e)
{
	struct seen *s = arg;
	if (s->fail)
		return sim_fail(e, SIM_ENOMEM, "no room.");
	assert_int_equal(r->tuple.src_ip, host);
	assert_int_equal(r->n_retx, s->n[host]++);
	assert_true(at >= s->last);
	/* The k-th timer of host h fires at k * (10 + h). */
	assert_true(at == (r->n_retx + 1) * (10u + host));
	s->last = at;
	s->all++;
	return 0;
}

struct rig {
	struct toy_fabric f;
	struct agent_ops ops;
	struct toy_params params;
	struct fabric_agents a;
	struct seen seen;
};

static void open_rig(struct rig *g, uint32_t rounds)
{
	const struct sim_seed where = {.seed = 3};
	*g = (struct rig){.ops = toy_agent(), .params = {.rounds = rounds}};
	open_fabric(&g->f);
	assert_ok(fabric_agents_open(&g->a, &g->ops, &g->params, N_HOSTS,
	    test_err()));
	fabric_agents_renew(&g->a, &where);
}

static int run(struct rig *g, sim_ns until, struct sim_err *e)
{
	return fabric_run(&g->f.base, &g->a, until, see, &g->seen, e);
}

static const struct toy_state *state_of(const struct rig *g, topo_host h)
{
	return (const struct toy_state *)(g->a.state + h * g->a.stride);
}

static void every_agent_starts_once_and_hears_what_is_its(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, 5);
	assert_ok(run(&g, SIM_NEVER, test_err()));
	for (topo_host h = 0; h < N_HOSTS; h++) {
		assert_int_equal(g.seen.n[h], 5);
		assert_int_equal(state_of(&g, h)->n_starts, 1);
	}
	/* At each timer an agent sends three probes. With the next timer these
	 * are more actions than one submit takes, so there are two. */
	assert_int_equal(g.f.n_probes, N_HOSTS * 5 * 3);
	assert_int_equal(g.f.n_submits, N_HOSTS * (1 + 5 * 2));
	fabric_agents_close(&g.a);
}

static void stopping_and_going_on_is_as_not_stopping(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, 30);
	for (sim_ns t = 0; t <= 500; t += 7) {
		assert_ok(run(&g, t, test_err()));
		assert_true(g.f.now == t);
	}
	for (topo_host h = 0; h < N_HOSTS; h++)
		assert_int_equal(g.seen.n[h], 30);
	fabric_agents_close(&g.a);
}

static void late_starters_start_before_their_first_event(void **state)
{
	struct rig g;
	(void)state;
	open_rig(&g, 0); /* agents have nothing to do when they start */
	g.ops.starts_late = 1;
	assert_ok(run(&g, 5, test_err()));
	assert_int_equal(g.f.n_submits, 0);
	g.f.queue[0].at = 12;
	g.f.queue[0].host = 2;
	g.f.n = 1;
	assert_ok(run(&g, 100, test_err()));
	assert_int_equal(g.seen.all, 1);
	assert_int_equal(state_of(&g, 2)->n_starts, 1);
	assert_int_equal(state_of(&g, 1)->n_starts, 0);
	fabric_agents_close(&g.a);
}

static void reboot_at(struct rig *g, topo_host h, sim_ns at)
{
	g->f.queue[g->f.n].at = at;
	g->f.queue[g->f.n].host = h;
	g->f.queue[g->f.n++].token = REBOOT;
}

/* Host 1 is off from the start, and host 2 falls back to it. */
static void agents_are_made_anew_when_their_host_starts(void **state)
{
	(void)state;
	for (unsigned late = 0; late < 2; late++) {
		struct sim_rng r;
		struct rig g;
		open_rig(&g, 0);
		g.ops.starts_late = (uint8_t)late;
		g.f.off = 1 << 1;
		reboot_at(&g, 1, 50);
		for (sim_ns t = 10; t <= 30; t += 10)
			reboot_at(&g, 2, t);
		assert_ok(run(&g, 40, test_err()));
		assert_int_equal(state_of(&g, 0)->n_starts, !late);
		assert_int_equal(state_of(&g, 1)->n_starts, 0);
		assert_int_equal(state_of(&g, 2)->n_starts, 1);
		assert_ok(run(&g, 60, test_err()));
		assert_int_equal(state_of(&g, 1)->n_starts, 1);
		/* The host's stream of random numbers went on: the agent has
		 * its third or fourth word. */
		sim_rng_init(&r, &g.a.where, SIM_STREAM_AGENT, 2);
		for (unsigned i = late; i < 3; i++)
			sim_rng_u32(&r);
		assert_int_equal(state_of(&g, 2)->word, sim_rng_u32(&r));
		fabric_agents_close(&g.a);
	}
}

static void new_agents_have_new_states_and_streams(void **state)
{
	struct rig g;
	uint32_t word[2];
	(void)state;
	open_rig(&g, 2);
	assert_ok(run(&g, SIM_NEVER, test_err()));
	word[0] = state_of(&g, 1)->word;
	assert_int_not_equal(word[0], state_of(&g, 2)->word);
	for (uint32_t i = 0; i < 2; i++) {
		const struct sim_seed where = {.seed = 3, .run = 1 - i};
		open_fabric(&g.f);
		g.seen = (struct seen){.last = 0};
		/* The number of the present life overflows and begins again. */
		g.a.now_living = UINT32_MAX - i;
		fabric_agents_renew(&g.a, &where);
		assert_ok(run(&g, SIM_NEVER, test_err()));
		assert_int_equal(g.seen.all, 2 * N_HOSTS);
		word[1] = state_of(&g, 1)->word;
		assert_int_equal(word[0] == word[1], i == 1);
	}
	fabric_agents_close(&g.a);
}

static void failures_name_the_host_and_end_the_run(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++) {
		struct rig g;
		struct sim_err e = {0};
		static const char *const want[] = {"agent of host 0: bad param",
		    "agent of host 0: what is", "agent of host 0: no socket",
		    "the network is down", "agent of host 0: no room"};
		open_rig(&g, 2);
		g.params.fail_init = i == 0;
		g.params.fail_step = i == 1;
		g.f.fail_submit = i == 2;
		g.f.fail_poll = i == 3;
		g.seen.fail = i == 4;
		assert_true(run(&g, SIM_NEVER, &e) < 0);
		if (strncmp(e.msg, want[i], strlen(want[i])) != 0)
			fail_msg("says %s, wanted %s", e.msg, want[i]);
		fabric_agents_close(&g.a);
	}
}

static int open_agents(void *arg, struct sim_err *e)
{
	struct fabric_agents a;
	int rc = fabric_agents_open(&a, arg, NULL, N_HOSTS, e);
	fabric_agents_close(&a);
	return rc;
}

static void failed_allocations_are_told(void **state)
{
	struct agent_ops ops = toy_agent();
	(void)state;
	test_each_alloc_fails(open_agents, &ops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_agent_starts_once_and_hears_what_is_its),
	    cmocka_unit_test(stopping_and_going_on_is_as_not_stopping),
	    cmocka_unit_test(late_starters_start_before_their_first_event),
	    cmocka_unit_test(agents_are_made_anew_when_their_host_starts),
	    cmocka_unit_test(new_agents_have_new_states_and_streams),
	    cmocka_unit_test(failures_name_the_host_and_end_the_run),
	    cmocka_unit_test(failed_allocations_are_told),
	};
	return cmocka_run_group_tests_name("models/fabric", tests, NULL, NULL);
}
