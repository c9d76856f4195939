/* tests/algos/everflow/debug_test.c -- all debuggers, and what they share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rubbish in every table: nothing is read that is not there, and findings name
 * what the network has. Nothing here is statistical.
 */
#include "algos/everflow/debug.h"

#include "algos/everflow/debug_loop.h"
#include "algos/everflow/guided.h"
#include "tests/rigs/scenes.h"
#include "topo/addr.h"

static const struct topo_clos shape = {.n_pods = 2,
    .n_tors = 3,
    .n_t1 = 2,
    .n_t2 = 2,
    .n_hosts = 3};

struct tables {
	struct topo topo;
	struct algo_trace_store store;
	struct algo_counters counters;
	struct obs_guided sent;
	struct algo_debug_in in;
};

static void tables_free(struct tables *x)
{
	algo_trace_store_free(&x->store);
	algo_counters_free(&x->counters);
	obs_guided_free(&x->sent);
	topo_close(&x->topo);
}

/* Mostly what there is, sometimes what there is not. */
static uint32_t some(struct sim_rng *r, uint32_t n)
{
	return sim_rng_below(r, 8) ? sim_rng_below(r, n) : sim_rng_u32(r);
}

static uint32_t some_ip(struct sim_rng *r, const struct topo *t)
{
	return sim_rng_below(r, 2)
	    ? topo_addr_of_host(some(r, t->n_hosts))
	    : topo_addr_of_switch(some(r, t->n_switches));
}

static void add_trace(struct tables *x, struct sim_rng *r)
{
	struct algo_hop hop[24];
	struct algo_trace t = {.t_ns = sim_rng_u32(r),
	    .end_ns = sim_rng_u32(r),
	    .marks = sim_rng_u32(r) & ((1u << ALGO_TRACE_N_MARKS) - 1),
	    .src_ip = some_ip(r, &x->topo),
	    .dst_ip = some_ip(r, &x->topo),
	    .seq = sim_rng_below(r, 50),
	    .ack = sim_rng_below(r, 20),
	    .last_node = some(r, x->topo.n_switches),
	    .lost_link = some(r, x->topo.n_links),
	    .src_port = (uint16_t)sim_rng_below(r, 4),
	    .dst_port = (uint16_t)sim_rng_below(r, 4),
	    .n_hops = (uint16_t)sim_rng_below(r, 24),
	    .n_lost = (uint16_t)sim_rng_below(r, 3),
	    .proto = sim_rng_below(r, 4) ? TOPO_PROTO_TCP : 0,
	    .flags = (uint8_t)sim_rng_u32(r),
	    .kind = (uint8_t)sim_rng_below(r, OBS_N_COPY_KINDS)};
	for (unsigned i = 0; i < t.n_hops; i++)
		hop[i] = (struct algo_hop){.t_ns = sim_rng_u32(r),
		    .switch_ns = sim_rng_below(r, 2) ? sim_rng_u32(r) : 0,
		    .node = some(r, x->topo.n_switches),
		    .in_link = some(r, x->topo.n_links),
		    .outer_src = some_ip(r, &x->topo),
		    .outer_dst = some_ip(r, &x->topo),
		    .layer = (uint8_t)sim_rng_below(r, 5),
		    .ttl = (uint8_t)sim_rng_u32(r),
		    .ttl_in = (uint8_t)sim_rng_u32(r)};
	assert_ok(algo_trace_store_add(&x->store, &t, hop, test_err()));
}

static void add_counter(struct tables *x, struct sim_rng *r)
{
	static const double odd[] = {-1, 1e300, INFINITY, -INFINITY, NAN, 1e11};
	const struct algo_counter c = {.t_ns = sim_rng_u32(r),
	    .id = some(r, x->topo.n_links),
	    .sub = sim_rng_below(r, 70),
	    .kind = (uint8_t)sim_rng_below(r, ALGO_N_COUNTER_KINDS + 1),
	    .value = sim_rng_below(r, 10) ? sim_rng_below(r, 1000)
					  : odd[sim_rng_below(r, 6)]};
	assert_ok(algo_counters_add(&x->counters, &c, test_err()));
}

static void add_sent(struct tables *x, struct sim_rng *r)
{
	const struct obs_guided_probe p = {.sent_ns = sim_rng_u32(r),
	    .order = sim_rng_below(r, 50),
	    .number = sim_rng_below(r, 20),
	    .src_host = some(r, x->topo.n_hosts),
	    .src_ip = some_ip(r, &x->topo),
	    .dst_ip = some_ip(r, &x->topo),
	    .src_port = (uint16_t)sim_rng_below(r, 4),
	    .dst_port = (uint16_t)sim_rng_below(r, 4),
	    .via0 = some(r, x->topo.n_switches),
	    .via1 = some(r, x->topo.n_switches),
	    .via2 = some(r, x->topo.n_switches)};
	assert_ok(obs_guided_add(&x->sent, &p, test_err()));
}

static void tables_open(struct tables *x, uint32_t run)
{
	struct sim_rng r;
	*x = (struct tables){.in = {.settle_ns = SIM_MS}};
	assert_ok(topo_open_clos(&x->topo, &shape, test_err()));
	test_rng(&r, run);
	const uint32_t n[3] = {sim_rng_below(&r, 300), sim_rng_below(&r, 200),
	    sim_rng_below(&r, 600)};
	for (uint32_t i = 0; i < n[0]; i++)
		add_trace(x, &r);
	for (uint32_t i = 0; i < n[1]; i++)
		add_counter(x, &r);
	for (uint32_t i = 0; i < n[2]; i++)
		add_sent(x, &r);
	x->in.routing =
	    (struct algo_routing){&x->topo, 77, (uint8_t)sim_rng_below(&r, 2)};
	x->in.traces = sim_rng_below(&r, 20) ? &x->store : NULL;
	x->in.counters = sim_rng_below(&r, 20) ? &x->counters : NULL;
	x->in.sent = sim_rng_below(&r, 20) ? &x->sent : NULL;
	x->in.now = sim_rng_below(&r, 3) ? sim_rng_u32(&r) : SIM_NEVER;
}

static void check_out(const struct tables *x, const struct algo_debug_out *o,
    const char *name, uint32_t run)
{
	const struct topo *t = &x->topo;
	for (size_t i = 0; i < o->n_findings; i++) {
		const struct algo_finding *f = &o->finding[i];
		const int ok = f->cause < ALGO_N_CAUSES &&
		    (f->link < t->n_links || f->link == TOPO_NONE) &&
		    (f->node < t->n_hosts + t->n_switches ||
			f->node == TOPO_NONE) &&
		    f->n_cycle <= 16 && !isnan(f->score) && !isinf(f->score);
		if (!ok)
			fail_msg("%s, run %u: finding %zu", name, run, i);
		for (unsigned k = 0; k < f->n_cycle; k++)
			assert_true(f->cycle[k] < t->n_hosts + t->n_switches);
	}
	for (size_t i = 0; i < o->n_orders; i++) {
		const struct algo_probe_order *p = &o->order[i];
		assert_true(p->n_via >= 1 && p->n_via <= OBS_MAX_VIA);
		for (unsigned k = 0; k < p->n_via; k++)
			assert_true(p->via[k] < t->n_switches);
		assert_true(p->count > 0);
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(p->id, o->order[k].id);
	}
}

#define FOR_EACH(d)                                                            \
	for (const struct algo_debugger *const *d = algo_debuggers; *d; d++)

static void rubbish_is_read_without_harm(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 400; run++) {
		struct tables x;
		tables_open(&x, run);
		FOR_EACH(d)
		{
			struct algo_debug_out out = {0};
			char params[256];
			void *memory = calloc(1, (*d)->state_size + 1);
			assert_ok(sim_field_take((*d)->params, NULL,
			    (*d)->params_size, params, test_err()));
			for (int step = 0; step < 3; step++) {
				algo_debug_clear(&out);
				assert_ok((*d)->step(memory, params, &x.in,
				    &out, test_err()));
				check_out(&x, &out, (*d)->name, run);
				if (x.in.now != SIM_NEVER)
					x.in.now += 100 * SIM_SEC;
			}
			if ((*d)->free)
				(*d)->free(memory);
			free(memory);
			algo_debug_free(&out);
		}
		tables_free(&x);
	}
}

/* No table at all, or only those of a quiet network. */
static void nothing_seen_is_nothing_found(void **state)
{
	struct tables x;
	(void)state;
	tables_open(&x, 1);
	for (int k = 0; k < 2; k++)
		FOR_EACH(d)
		{
			static struct algo_trace_store none;
			static struct algo_counters no_counters;
			static struct obs_guided no_probes;
			struct algo_debug_out out = {0};
			char params[256];
			void *memory = calloc(1, (*d)->state_size + 1);
			const struct algo_debug_in in = {.routing =
							     x.in.routing,
			    .traces = k ? &none : NULL,
			    .counters = k ? &no_counters : NULL,
			    .sent = k ? &no_probes : NULL,
			    .now = 5 * SIM_SEC};
			assert_ok(sim_field_take((*d)->params, NULL,
			    (*d)->params_size, params, test_err()));
			assert_ok(
			    (*d)->step(memory, params, &in, &out, test_err()));
			assert_int_equal(out.n_findings + out.n_orders, 0);
			if ((*d)->free)
				(*d)->free(memory);
			free(memory);
			algo_debug_free(&out);
		}
	tables_free(&x);
}

struct stepping {
	const struct tables *x;
	const struct algo_debugger *d;
};

static int step_once(void *arg, struct sim_err *e)
{
	const struct stepping *s = arg;
	struct algo_debug_out out = {0};
	char params[256], memory[1 << 15] = {0};
	int rc =
	    sim_field_take(s->d->params, NULL, s->d->params_size, params, e);
	assert_true(s->d->state_size <= sizeof(memory));
	if (rc == 0)
		rc = s->d->step(memory, params, &s->x->in, &out, e);
	if (s->d->free)
		s->d->free(memory);
	algo_debug_free(&out);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	unsigned n = 0;
	(void)state;
	for (uint32_t run = 3; run < 8; run++) {
		struct tables x;
		tables_open(&x, run);
		FOR_EACH(d)
		{
			struct stepping s = {&x, *d};
			test_fail_alloc(0);
			assert_ok(step_once(&s, test_err()));
			/* Of some tables some take none. */
			if (test_fail_alloc(0) == 0)
				continue;
			test_each_alloc_fails(step_once, &s);
			n++;
		}
		tables_free(&x);
	}
	assert_true(n >= 16);
}

static void causes_have_words_and_debuggers_names(void **state)
{
	size_t n = 0;
	(void)state;
	while (algo_cause_words[n])
		n++;
	assert_int_equal(n, ALGO_N_CAUSES);
	FOR_EACH(d)
	{
		assert_true(strlen((*d)->name) > 0);
		for (const struct algo_debugger *const *o = algo_debuggers;
		     o != d; o++)
			assert_string_not_equal((*o)->name, (*d)->name);
		for (const struct sim_field *f = (*d)->params; f->name; f++)
			assert_true(
			    f->def && f->doc && f->offset < (*d)->params_size);
	}
}

/* Mux and server, hosts 4 and 5, are both under ToR 1: of copy K of a packet that
 * goes round, the even ones come from the server and the odd ones, with a header
 * more, from the mux. */
static struct algo_hop round_hop(unsigned k)
{
	return (struct algo_hop){.t_ns = 1000 * k + 1,
	    .node = 1,
	    .in_link = topo_link_of(k % 2 ? 4 : 5, TOPO_UP),
	    .outer_src = k % 2 ? topo_addr_of_host(4) : 0,
	    .outer_dst = k % 2 ? topo_addr_of_host(5) : 0,
	    .layer = k % 2,
	    .ttl = (uint8_t)(k % 2 ? 64 : 60 - k),
	    .ttl_in = (uint8_t)(60 - k - k % 2)};
}

static void any_lost_mirror_leaves_a_loop_through_a_mux_one(void **state)
{
	enum { N = 30 };
	(void)state;
	for (unsigned lost = 0; lost < N; lost++) {
		struct tables x = {0};
		struct algo_debug_out out = {0};
		struct algo_debug_loop_params params;
		struct algo_hop hop[N];
		struct algo_trace t = {.end_ns = 1000 * N,
		    .marks = ALGO_TRACE_LOOP | ALGO_TRACE_ENCAP,
		    .src_ip = topo_addr_of_host(0),
		    .dst_ip = topo_addr_of_vip(0),
		    .last_node = 1,
		    .lost_link = TOPO_NONE,
		    .proto = TOPO_PROTO_TCP};
		void *memory = calloc(1, algo_debug_loop.state_size);
		assert_ok(topo_open_clos(&x.topo, &shape, test_err()));
		for (unsigned k = 0; k < N; k++)
			if (k != lost)
				hop[t.n_hops++] = round_hop(k);
		assert_ok(algo_trace_store_add(&x.store, &t, hop, test_err()));
		x.in = (struct algo_debug_in){.routing.topo = &x.topo,
		    .traces = &x.store,
		    .counters = &x.counters,
		    .sent = &x.sent,
		    .now = SIM_SEC};
		assert_ok(sim_field_defaults(algo_debug_loop.params, &params,
		    test_err()));
		assert_ok(algo_debug_loop.step(memory, &params, &x.in, &out,
		    test_err()));
		assert_int_equal(out.n_findings, 1);
		assert_int_equal(out.finding[0].cause, ALGO_CAUSE_MUX_LOOP);
		assert_int_equal(out.finding[0].node, 5);
		algo_debug_free(&out);
		if (algo_debug_loop.free)
			algo_debug_loop.free(memory);
		free(memory);
		tables_free(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rubbish_is_read_without_harm),
	    cmocka_unit_test(nothing_seen_is_nothing_found),
	    cmocka_unit_test(every_allocation_may_fail),
	    cmocka_unit_test(causes_have_words_and_debuggers_names),
	    cmocka_unit_test(any_lost_mirror_leaves_a_loop_through_a_mux_one),
	};
	return cmocka_run_group_tests_name("algos/everflow/debug", tests, NULL,
	    NULL);
}
