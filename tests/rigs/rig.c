/* tests/rigs/rig.c -- a simulated fabric that a test drives by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/rig.h"

void rig_open(struct rig *g)
{
	static const struct topo_clos shape = {2, 4, 3, 2, 3, .n_cables = 0};
	struct fabric_sim_params *p = &g->params;
	const struct {
		const struct sim_field *fields;
		void *obj;
	} all[] = {{fabric_sim_fields, p}, {fabric_sim_latency_fields, p},
	    {fabric_sim_icmp_fields, &p->icmp},
	    {fabric_sim_slb_fields, &p->slb}, {fault_flap_fields, &p->flap},
	    {fabric_sim_connect_fields, &p->connect}};
	*g = (struct rig){.sim = NULL};
	scenes_open(&g->s, &shape);
	g->s.params.noise.rate = scenes_fixed(0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_ok(
		    sim_field_defaults(all[i].fields, all[i].obj, test_err()));
	p->icmp.t_max = 0;
}

void rig_close(struct rig *g)
{
	if (g->f)
		g->f->ops->close(g->f);
	scenes_close(&g->s);
}

void rig_draw(struct rig *g)
{
	g->scene = scenes_draw(&g->s, 0);
}

void rig_begin(struct rig *g)
{
	if (!g->sim)
		assert_ok(fabric_sim_open(&g->sim, &g->s.topo, &g->params,
		    test_err()));
	g->f = fabric_sim_fabric(g->sim);
	assert_ok(fabric_sim_begin(g->sim, g->scene, NULL, test_err()));
}

void rig_draw_and_begin(struct rig *g)
{
	rig_draw(g);
	rig_begin(g);
}

void rig_add_hole(struct rig *g, topo_switch at, enum blackhole_rule_type type,
    double share, sim_ns from, sim_ns to)
{
	struct truth_hole h = {.at = at, .from_ns = from, .to_ns = to};
	assert_ok(blackhole_rule_init(&h.rule, type, share, 77, test_err()));
	assert_ok(truth_add_hole(&g->scene->truth, &h, test_err()));
	truth_sort(&g->scene->truth);
}

void rig_add_outage(struct rig *g, const struct truth_outage *o)
{
	assert_ok(truth_add_outage(&g->scene->truth, o, test_err()));
	truth_sort(&g->scene->truth);
}

void rig_add_fault(struct rig *g, const struct truth_fault *f)
{
	assert_ok(truth_add_fault(&g->scene->truth, f, test_err()));
	truth_sort(&g->scene->truth);
}

int rig_next(struct rig *g, sim_ns until, struct rig_event *out)
{
	size_t n;
	assert_ok(g->f->ops->poll(g->f, until, &out->ev, &out->host, &out->at,
	    1, &n, test_err()));
	return n == 1;
}

void rig_wait(struct rig *g, sim_ns until)
{
	struct rig_event x;
	assert_false(rig_next(g, until, &x));
	assert_true(rig_now(g) == until);
}

sim_ns rig_now(const struct rig *g)
{
	return g->f->ops->now(g->f);
}

void rig_act(struct rig *g, topo_host host, const struct agent_action *a)
{
	assert_ok(g->f->ops->submit(g->f, host, a, 1, test_err()));
}

struct topo_tuple rig_tuple(topo_host src, topo_host dst, uint16_t port)
{
	return (struct topo_tuple){topo_addr_of_host(src),
	    topo_addr_of_host(dst), port, 8765, TOPO_PROTO_TCP};
}

void rig_connect(struct rig *g, const struct topo_tuple *t, uint32_t n_bytes,
    uint64_t token)
{
	const struct agent_action a = {.kind = AGENT_CONNECT,
	    .tuple = *t,
	    .token = token,
	    .n_bytes = n_bytes};
	rig_act(g, t->src_ip - topo_addr_of_host(0), &a);
}

int rig_until_asked(struct rig *g, const struct topo_tuple *t, uint32_t n_bytes,
    struct rig_event *out)
{
	rig_connect(g, t, n_bytes, 5);
	return rig_next(g, SIM_NEVER, out) &&
	    out->ev.kind == AGENT_PING_REQUEST;
}

void rig_answer(struct rig *g, topo_host host, uint64_t token, uint32_t n_bytes)
{
	const struct agent_action a = {.kind = AGENT_ANSWER,
	    .token = token,
	    .n_bytes = n_bytes};
	rig_act(g, host, &a);
}
