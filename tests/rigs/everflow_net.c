/* tests/rigs/everflow_net.c -- Everflow whole, in a small simulated network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/everflow_net.h"

#include "algos/everflow/guided.h"

static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 4,
    .n_t1 = 4,
    .n_t2 = 4,
    .n_hosts = 4};

#define SETTLE (4 * SIM_SEC)

void everflow_open(struct everflow *x)
{
	*x = (struct everflow){.n_fed = 0};
	scenes_open(&x->s, &shape);
	assert_ok(
	    sim_field_defaults(mirror_fields, &x->mirror_params, test_err()));
	assert_ok(sim_field_defaults(algo_analyzer_fields, &x->analyzer_params,
	    test_err()));
	assert_ok(sim_field_defaults(algo_prober_fields, &x->prober_params,
	    test_err()));
	assert_ok(sim_field_defaults(packet_conn_fields, &x->conn_params,
	    test_err()));
	x->mirror_params.loss = 1e-3;
	x->analyzer_params.t_ms = 100;
	x->analyzer_params.confirm_ms = 3500;
}

static int everflow_take(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	return algo_trace_store_add(arg, t, hop, e);
}

static void open_probers(struct everflow *x, uint32_t run)
{
	for (uint32_t i = 0; i < EVERFLOW_PROBERS; i++) {
		struct everflow_prober *p = &x->prober[i];
		p->host = i * (x->s.topo.n_hosts - 1);
		p->wake = SIM_NEVER;
		p->state = malloc(algo_prober.state_size);
		assert_non_null(p->state);
		test_rng(&p->rng, 7000 + 10 * run + i);
		assert_ok(algo_prober.init(p->state, p->host, &x->prober_params,
		    test_err()));
	}
}

void everflow_begin(struct everflow *x, uint32_t run)
{
	const struct sim_seed where = {.seed = test_seed(), .run = run};
	struct algo_mirror_params rules;
	struct algo_mirror_table table;
	const struct scene *scene = scenes_draw(&x->s, run);
	test_rng(&x->r, 5000 + run);
	assert_ok(sim_field_defaults(algo_mirror_fields, &rules, test_err()));
	rules.rules |= 1 << OBS_COPY_RETX;
	assert_ok(algo_mirror_table(&table, &rules, test_err()));
	assert_ok(mirror_open(&x->mirror, x->s.topo.n_switches,
	    &x->mirror_params, table.row, table.n, NULL, &where, test_err()));
	x->routing = (struct algo_routing){&x->s.topo, scene->ecmp_seed, 1};
	assert_ok(algo_analyzer_open(&x->analyzer, &x->routing,
	    &x->analyzer_params, 0, test_err()));
	x->net =
	    (struct packet_net){.walk = {.topo = &x->s.topo, .scene = scene},
		.hop_us = 5,
		.queue_us = 2};
	open_probers(x, run);
}

void everflow_close(struct everflow *x)
{
	for (uint32_t i = 0; i < EVERFLOW_PROBERS; i++)
		free(x->prober[i].state);
	mirror_free(x->mirror);
	obs_mirror_free(&x->copies);
	algo_analyzer_close(x->analyzer);
	algo_trace_store_free(&x->store);
	algo_counters_free(&x->counters);
	obs_guided_free(&x->sent);
	algo_debug_free(&x->out);
	scenes_close(&x->s);
}

/* All that was mirrored up to now comes to the analyzer. */
static void analyze(struct everflow *x)
{
	const struct algo_trace_sink sink = {&x->store, everflow_take};
	assert_ok(mirror_take(x->mirror, x->now, &x->copies, test_err()));
	assert_ok(algo_analyzer_feed(x->analyzer, &x->copies, x->n_fed,
	    x->copies.n, &sink, &x->counters, test_err()));
	x->n_fed = x->copies.n;
	assert_ok(algo_analyzer_flush(x->analyzer, x->now, &sink, &x->counters,
	    test_err()));
}

void everflow_traffic(struct everflow *x)
{
	static const struct packet_sample sample = {1023, 1};
	const struct packet_eye eye = mirror_eye(x->mirror);
	const struct packet_conn_to to = {.eye = &eye};
	struct packet_conn_end end;
	for (uint64_t i = 0; i < x->s.scene.traffic.n_flows; i++)
		assert_ok(packet_conn_run(&x->net, &x->conn_params, &sample,
		    NULL, 0, i, 30 * SIM_SEC, &to, &end, test_err()));
	/* Second by second, so that drops are graded when they would be. */
	everflow_pass(x, 35);
}

void everflow_pass(struct everflow *x, unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++) {
		x->now += SIM_SEC;
		analyze(x);
	}
}

/* --- probes --------------------------------------------------------------- */
static void send_probe(struct everflow *x, const struct everflow_prober *p,
    const struct agent_action *a, sim_ns now)
{
	const struct packet_eye eye = mirror_eye(x->mirror);
	struct algo_guided g;
	struct obs_packet packet;
	struct packet_end end;
	assert_ok(algo_guided_read(a->data, a->n_bytes, x->s.topo.n_switches,
	    &g, test_err()));
	algo_guided_packet(&g, &packet);
	const struct obs_guided_probe row = algo_guided_row(&g, p->host, now);
	assert_ok(obs_guided_add(&x->sent, &row, test_err()));
	assert_ok(packet_walk(&x->net, &packet, p->host, now, &x->r, &eye, &end,
	    test_err()));
}

static void step_prober(struct everflow *x, struct everflow_prober *p,
    sim_ns now, const struct agent_event *ev)
{
	struct agent_out out = {0};
	assert_ok(
	    algo_prober.step(p->state, now, ev, &p->rng, &out, test_err()));
	for (size_t i = 0; i < out.n; i++) {
		if (out.action[i].kind == AGENT_SEND) {
			send_probe(x, p, &out.action[i], now);
		} else {
			p->wake = out.action[i].at_ns;
			p->token = out.action[i].token;
		}
	}
}

static void send_orders(struct everflow *x)
{
	static unsigned char message[ALGO_PROBER_MESSAGE];
	for (uint32_t k = 0; k < EVERFLOW_PROBERS; k++) {
		static struct algo_probe_order mine[ALGO_PROBER_ORDERS];
		size_t n = 0;
		for (size_t i = 0; i <= x->out.n_orders; i++) {
			if (i < x->out.n_orders && i % EVERFLOW_PROBERS == k)
				mine[n++] = x->out.order[i];
			if (n < ALGO_PROBER_ORDERS && i < x->out.n_orders)
				continue;
			const struct agent_event ev = {.kind = AGENT_ORDER,
			    .data = message,
			    .n = algo_prober_write(mine, n, 0, message)};
			step_prober(x, &x->prober[k], x->now, &ev);
			n = 0;
		}
	}
	x->n_orders += (uint32_t)x->out.n_orders;
}

static void run_probers(struct everflow *x, sim_ns until)
{
	for (;;) {
		struct everflow_prober *p = &x->prober[0];
		for (uint32_t k = 1; k < EVERFLOW_PROBERS; k++)
			if (x->prober[k].wake < p->wake)
				p = &x->prober[k];
		if (p->wake >= until)
			return;
		const sim_ns now = p->wake;
		const struct agent_event ev = {.kind = AGENT_TIMER,
		    .token = p->token};
		p->wake = SIM_NEVER;
		step_prober(x, p, now, &ev);
	}
}

/* --- debugging ------------------------------------------------------------ */
struct algo_debug_in everflow_in(const struct everflow *x)
{
	return (struct algo_debug_in){.routing = x->routing,
	    .traces = &x->store,
	    .counters = &x->counters,
	    .sent = &x->sent,
	    .now = x->now,
	    .settle_ns = SETTLE};
}

double everflow_debug(struct everflow *x, const struct algo_debugger *d,
    const void *params, unsigned seconds)
{
	const sim_ns begin = x->now;
	char memory[256];
	sim_ns asked = x->now;
	double first = -1;
	void *state = calloc(1, d->state_size + 1);
	assert_non_null(state);
	assert_true(d->params_size <= sizeof(memory));
	assert_ok(sim_field_take(d->params, params, d->params_size, memory,
	    test_err()));
	for (unsigned i = 0; i < seconds; i++) {
		const struct algo_debug_in in = everflow_in(x);
		algo_debug_clear(&x->out);
		assert_ok(d->step(state, memory, &in, &x->out, test_err()));
		if (first < 0 && x->out.n_findings > 0)
			first = (double)(x->now - begin) / 1e9;
		if (x->out.n_orders > 0)
			asked = x->now;
		/* Who asked for nothing for so long has all it wanted. */
		if (x->now - asked > 100 * SIM_SEC)
			break;
		send_orders(x);
		run_probers(x, x->now + SIM_SEC);
		x->now += SIM_SEC;
		analyze(x);
	}
	if (d->free)
		d->free(state);
	free(state);
	return first;
}

const struct algo_finding *everflow_found(const struct everflow *x,
    enum algo_cause cause, topo_link link, topo_node node)
{
	for (size_t i = 0; i < x->out.n_findings; i++) {
		const struct algo_finding *f = &x->out.finding[i];
		if (f->cause == cause &&
		    (link == TOPO_NONE || f->link == link) &&
		    (node == TOPO_NONE || f->node == node))
			return f;
	}
	return NULL;
}

void everflow_print(const struct everflow *x)
{
	for (size_t i = 0; i < x->out.n_findings; i++) {
		const struct algo_finding *f = &x->out.finding[i];
		char link[64] = "no link", node[64] = "no node";
		if (f->link != TOPO_NONE)
			topo_link_name(&x->s.topo, f->link, link);
		if (f->node != TOPO_NONE)
			topo_node_name(&x->s.topo, f->node, node);
		print_message("  %s: %s, %s, score %g, rate %g [%g, %g], "
			      "%g us\n",
		    algo_cause_words[f->cause], link, node, f->score, f->rate,
		    f->lo, f->hi, f->excess_us);
	}
}
