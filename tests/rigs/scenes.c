/* tests/rigs/scenes.c -- small scenes for tests of the data planes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/scenes.h"

#include "topo/mesh.h"

static void set_defaults(struct scenes *s)
{
	assert_ok(sim_field_defaults(scene_traffic_fields, &s->params.traffic,
	    test_err()));
	assert_ok(sim_field_defaults(scene_noise_fields, &s->params.noise,
	    test_err()));
	assert_ok(sim_field_defaults(scene_congestion_fields,
	    &s->params.congestion, test_err()));
	s->params.group = s->group;
}

void scenes_open(struct scenes *s, const struct topo_clos *shape)
{
	*s = (struct scenes){0};
	assert_ok(topo_open_clos(&s->topo, shape, test_err()));
	set_defaults(s);
}

void scenes_open_mesh(struct scenes *s, struct topo_mesh *mesh)
{
	*s = (struct scenes){0};
	assert_ok(topo_open_mesh(&s->topo, mesh, test_err()));
	set_defaults(s);
}

void scenes_close(struct scenes *s)
{
	scene_free(&s->scene);
	losses_free(&s->lost);
	topo_close(&s->topo);
}

struct sim_dist scenes_fixed(double x)
{
	return (struct sim_dist){SIM_FIXED, x, x};
}

struct sim_dist scenes_uniform(double a, double b)
{
	return (struct sim_dist){SIM_UNIFORM, a, b};
}

struct fault_params *scenes_add_group(struct scenes *s)
{
	const size_t i = s->params.n_groups++;
	assert_true(i < SCENES_MAX_GROUPS);
	struct fault_params *g = &s->group[i];
	assert_ok(sim_field_defaults(fault_fields, g, test_err()));
	g->links = s->link[i];
	return g;
}

void scenes_add_class(struct scenes *s, enum topo_link_class class,
    uint32_t count, double low, double high)
{
	struct fault_params *g = scenes_add_group(s);
	g->classes = UINT32_C(1) << class;
	g->count = count;
	g->rate = scenes_uniform(low, high);
}

struct fault_params *scenes_add_fault(struct scenes *s, topo_link link,
    double rate)
{
	struct fault_params *g = scenes_add_group(s);
	g->links[g->n_links++] = link;
	g->rate = scenes_fixed(rate);
	return g;
}

void scenes_use_tcp(struct scenes *s, uint32_t window)
{
	s->params.traffic.tcp = (struct scene_tcp_params){.resend = 15,
	    .syn = 1,
	    .acks = 1,
	    .fin = 1,
	    .window = window,
	    .quick = 3};
}

struct scene *scenes_draw(struct scenes *s, uint32_t run)
{
	const struct sim_seed where = {.seed = test_seed(), .run = run};
	assert_ok(
	    scene_draw(&s->scene, &s->topo, &s->params, &where, test_err()));
	return &s->scene;
}

void scenes_draw_faults(struct scenes *s, struct truth *truth, uint32_t run)
{
	const struct sim_seed where = {.seed = test_seed(), .run = run};
	truth_clear(truth);
	assert_ok(fault_draw(&s->topo, s->group, s->params.n_groups, &where,
	    truth, test_err()));
}

int scenes_draw_faults_fails(struct scenes *s, struct sim_err *e)
{
	const struct sim_seed where = {.seed = test_seed()};
	struct truth truth = {0};
	int rc = fault_draw(&s->topo, s->group, s->params.n_groups, &where,
	    &truth, e);
	truth_free(&truth);
	return rc;
}

topo_node scenes_node_left(const struct topo *t, topo_link l)
{
	topo_node from, to;
	topo_link_ends(t, l, &from, &to);
	return from;
}

struct scenes_counts scenes_count(const struct obs *w,
    const struct losses *lost, uint64_t link_drops[], uint64_t link_flows[])
{
	struct scenes_counts c = {0};
	for (size_t i = 0; i < w->flows.n; i++)
		c.n_failed_flows += w->flows.n_retx[i] > 0;
	for (size_t i = 0; i < w->hops.n; i++) {
		c.n_drops += lost->drops[i];
		if (link_drops)
			link_drops[w->hops.link[i]] += lost->drops[i];
		if (link_flows)
			link_flows[w->hops.link[i]]++;
	}
	return c;
}

void scenes_assert_same(const struct obs *a, const struct losses *a_lost,
    const struct obs *b, const struct losses *b_lost)
{
	assert_int_equal(a->flows.n, b->flows.n);
	assert_int_equal(a->hops.n, b->hops.n);
	assert_int_equal(a->n_flows, b->n_flows);
	assert_int_equal(a_lost->n_drops, b_lost->n_drops);
	assert_int_equal(a_lost->n_drops, a->hops.n);
	if (a->flows.n == 0)
		return;
#define X(type, name, units, doc)                                              \
	assert_memory_equal(a->flows.name, b->flows.name,                      \
	    a->flows.n * sizeof(type));
	OBS_FLOW_COLUMNS(X)
#undef X
	assert_memory_equal(a->hops.off, b->hops.off,
	    (a->flows.n + 1) * sizeof(*a->hops.off));
	assert_memory_equal(a->hops.link, b->hops.link,
	    a->hops.n * sizeof(*a->hops.link));
	assert_memory_equal(a_lost->drops, b_lost->drops,
	    a->hops.n * sizeof(*a_lost->drops));
	assert_int_equal(a_lost->n_buffer, b_lost->n_buffer);
	if (a_lost->n_buffer > 0)
		assert_memory_equal(a_lost->buffer, b_lost->buffer,
		    a_lost->n_buffer * sizeof(*a_lost->buffer));
	assert_int_equal(a_lost->n_early, b_lost->n_early);
	if (a_lost->n_early > 0)
		assert_memory_equal(a_lost->early, b_lost->early,
		    a_lost->n_early * sizeof(*a_lost->early));
}

void scenes_assert_sound(const struct topo *t, const struct obs *w,
    const struct losses *lost)
{
	assert_ok(obs_check(w, t->n_links, test_err()));
	assert_int_equal(lost->n_drops, w->hops.n);
	assert_true(lost->n_early == 0 || lost->n_early == w->flows.n);
	assert_int_equal(lost->n_buffer, lost->has_buffer ? w->hops.n : 0);
	for (size_t i = 0; i < lost->n_buffer; i++)
		assert_true(lost->buffer[i] <= lost->drops[i]);
	for (size_t i = 0; i < w->flows.n; i++) {
		uint64_t n = 0;
		for (uint64_t j = w->hops.off[i]; j < w->hops.off[i + 1]; j++)
			n += lost->drops[j];
		if (lost->n_early > 0) {
			assert_true(lost->early[i] <= w->flows.n_retx[i]);
			assert_true(
			    n > 0 || w->flows.n_retx[i] > 0 || w->complete);
		} else {
			assert_int_equal(n, w->flows.n_retx[i]);
			assert_true(n > 0 || w->complete);
		}
		const topo_link *path = obs_path(w, i);
		const unsigned h = obs_n_hops(w, i);
		topo_node from, to, next;
		topo_link_ends(t, path[0], &from, &to);
		assert_int_equal(from, w->flows.src_host[i]);
		for (unsigned j = 1; j < h; j++) {
			topo_link_ends(t, path[j], &next, &from);
			assert_int_equal(next, to);
			to = from;
		}
		assert_int_equal(to, w->flows.dst_host[i]);
	}
}
