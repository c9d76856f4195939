/* tests/rigs/telemetry_rig.c -- epochs of flows as sums, on a fat-tree.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/telemetry_rig.h"

#include "tests/test.h"
#include "topo/mesh.h"

void telemetry_rig_open(struct telemetry_rig *x, uint32_t k, double noise,
    unsigned kinds, uint32_t run)
{
	struct topo_mesh *m;
	const struct sim_seed where = {.seed = test_seed(), .run = run};
	*x = (struct telemetry_rig){0};
	assert_ok(sim_field_defaults(telemetry_fields, &x->p, test_err()));
	x->p.kinds = kinds;
	x->p.flows = 400;
	x->p.window_s = 30;
	assert_ok(topo_mesh_fat_tree(&m, k, 0, test_err()));
	assert_ok(topo_open_mesh(&x->topo, m, test_err()));
	assert_ok(sim_field_defaults(scene_traffic_fields, &x->params.traffic,
	    test_err()));
	x->params.noise =
	    (struct scene_noise_params){.rate = {SIM_FIXED, noise, noise},
		.scale = 1};
	assert_ok(
	    scene_draw(&x->scene, &x->topo, &x->params, &where, test_err()));
}

void telemetry_rig_fail(struct telemetry_rig *x, topo_link link, double rate)
{
	const struct truth_fault f = {.link = link,
	    .rate = rate,
	    .to_ns = SIM_NEVER};
	assert_ok(truth_add_fault(&x->scene.truth, &f, test_err()));
	truth_sort(&x->scene.truth);
}

topo_link telemetry_rig_fail_any(struct telemetry_rig *x, struct sim_rng *r,
    unsigned n, double rate)
{
	topo_link l = TOPO_NONE;
	for (; n > 0; n--) {
		l = sim_rng_below(r, x->topo.n_links);
		telemetry_rig_fail(x, l, rate);
	}
	return l;
}

double telemetry_rig_way(const struct obs_tallies *t, size_t i, uint32_t path,
    const double hazard[])
{
	const struct obs_paths *p = t->paths;
	double sum = 0;
	if (t->up[i] != TOPO_NONE)
		sum += hazard[t->up[i]];
	if (t->down[i] != TOPO_NONE)
		sum += hazard[t->down[i]];
	for (uint32_t k = p->off[path]; k < p->off[path + 1]; k++)
		sum += hazard[p->link[k]];
	return sum;
}

void telemetry_rig_draw(struct telemetry_rig *x)
{
	assert_ok(telemetry_draw(&x->t, &x->p, &x->scene, &x->w, &x->lost,
	    test_err()));
	assert_ok(obs_paths_check(&x->t.paths, x->topo.n_links, test_err()));
	assert_ok(obs_tallies_check(&x->t.rows, x->topo.n_links, x->w.flows.n,
	    test_err()));
	assert_ok(obs_check(&x->w, x->topo.n_links, test_err()));
}

void telemetry_rig_close(struct telemetry_rig *x)
{
	telemetry_free(&x->t);
	obs_free(&x->w);
	losses_free(&x->lost);
	scene_free(&x->scene);
	topo_close(&x->topo);
}

void telemetry_rig_see(struct telemetry_rig *x, unsigned kinds)
{
	struct obs_tallies *t = &x->t.rows;
	struct obs_tallies kept = {.paths = t->paths, .telemetry = kinds};
	for (size_t i = 0; i < t->n && kinds != OBS_TELE_INT; i++) {
		struct obs_tally row = obs_tallies_at(t, i);
		const int traced = kinds & OBS_TELE_A2 && row.n_lost > 0;
		if (!traced && !(kinds & OBS_TELE_P))
			continue;
		if (!traced)
			row.path = OBS_NO_PATH;
		assert_ok(obs_tallies_add(&kept, &row, test_err()));
	}
	if (kinds == OBS_TELE_INT)
		return;
	obs_tallies_free(t);
	*t = kept;
}

int telemetry_rig_draw_once(void *arg, struct sim_err *e)
{
	struct telemetry_rig *x = arg;
	const int rc =
	    telemetry_draw(&x->t, &x->p, &x->scene, &x->w, &x->lost, e);
	telemetry_free(&x->t);
	obs_free(&x->w);
	losses_free(&x->lost);
	return rc;
}

static int telemetry_rig_try(const struct telemetry_rig *x,
    const struct algo_ops *a, struct algo_verdicts *out, struct sim_err *e)
{
	struct sim_rng tie;
	void *work;
	test_rng(&tie, 0);
	int rc = algo_open(a, &work, &x->topo, NULL, e);
	if (rc == 0) {
		rc = a->diagnose(work, &x->w, &tie, out, e);
		algo_close(a, work);
	}
	return rc;
}

void telemetry_rig_ask(const struct telemetry_rig *x, const struct algo_ops *a,
    struct algo_verdicts *out)
{
	assert_ok(telemetry_rig_try(x, a, out, test_err()));
}

struct telemetry_rig_asked {
	const struct telemetry_rig *x;
	const struct algo_ops *a;
};

static int telemetry_rig_ask_once(void *arg, struct sim_err *e)
{
	const struct telemetry_rig_asked *asked = arg;
	struct algo_verdicts out = {0};
	const int rc = telemetry_rig_try(asked->x, asked->a, &out, e);
	algo_verdicts_free(&out);
	return rc;
}

void telemetry_rig_no_memory(const struct telemetry_rig *x,
    const struct algo_ops *a)
{
	struct telemetry_rig_asked asked = {x, a};
	test_each_alloc_fails(telemetry_rig_ask_once, &asked);
}
