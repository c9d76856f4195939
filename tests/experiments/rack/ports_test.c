/* tests/experiments/rack/ports_test.c -- experiments/rack/ports: racks as congestion.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The last test compares two models, of which one is a law of four numbers: it
 * holds them to a factor of 1.7, and prints how far apart they are.
 */
#include <math.h>

#include "experiments/rack/score.h"
#include "experiments/spec/plane.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

/* --- by hand -------------------------------------------------------------- */

static void add_row(struct xp_rack_world *w, sim_ns ms, uint32_t host,
    uint64_t in, uint64_t dropped, uint64_t queue)
{
	const struct rack_loss row = {.start_ns = ms * SIM_MS,
	    .host = host,
	    .in = in,
	    .buffer = dropped,
	    .link_in = dropped == 0,
	    .queue_max = queue};
	assert_ok(rack_losses_add(&w->lost, &row, test_err()));
	w->buffer += dropped;
}

/* Two racks of three servers, for 10 ms. */
static void a_world(struct xp_rack_world *w, struct xp_rack *p)
{
	const struct obs_run run[] = {{.width_ns = SIM_MS},
	    {.width_ns = 10 * SIM_MS}};
	*w = (struct xp_rack_world){.n_racks = 2, .n_servers = 3};
	*p = (struct xp_rack){.length_s = 0.01,
	    .widths = 1 << XP_RACK_WIDTH_1ms | 1 << XP_RACK_WIDTH_10ms,
	    .rack = {.line_gbps = 8},
	    .as_congestion = 1};
	for (uint32_t i = 0; i < 2; i++) {
		assert_ok(obs_runs_add(&w->runs, &run[i], test_err()));
		assert_ok(obs_samples_add(&w->samples,
		    &(struct obs_sample){.run = i, .in_bytes = 90000},
		    test_err()));
	}
}

static struct res_trial_metrics score(const struct xp_rack_world *w,
    const struct xp_rack *p)
{
	struct res_trial_metrics row;
	double *x = (double *)&row;
	for (unsigned i = 0; i < RES_N_TRIAL_METRICS; i++)
		x[i] = NAN;
	assert_ok(xp_rack_ports_score(w, p, &row, test_err()));
	return row;
}

static void sums_are_those_by_hand(void **state)
{
	struct xp_rack_world w;
	struct xp_rack p;
	(void)state;
	a_world(&w, &p);
	/* Rack 0: servers 0 and 1 together for 2 ms, 0 one more; server 2's link
	 * loses. Rack 1: server 4 twice, apart. */
	add_row(&w, 3, 0, 600, 400, 1000);
	add_row(&w, 3, 1, 900, 100, 2000);
	add_row(&w, 4, 0, 500, 500, 3000);
	add_row(&w, 4, 1, 800, 200, 4000);
	add_row(&w, 4, 2, 800, 0, 9999);
	add_row(&w, 5, 0, 700, 300, 5000);
	add_row(&w, 0, 4, 0, 1000, 6000);
	add_row(&w, 5, 4, 1000, 7500, 7000);
	const struct res_trial_metrics row = score(&w, &p);
	/* 5 of 30 cells of rack 0, and 2 of rack 1: of 3 pairs in each of 10
	 * ms; 2 there were. */
	const double chance = 30 * (25 + 4) / 900.0;
	assert_near(row.congestion_busy, chance / 2, 1e-12);
	assert_near(row.congestion_ports, 14500 / 100000.0 / (chance / 2),
	    1e-12);
	assert_near(row.congestion_burst, 7 / 4.0, 1e-12);
	assert_near(row.congestion_loss, 10000 / 14500.0, 1e-12);
	assert_near(row.congestion_wait, 4000 / 1000.0, 1e-12);
	p.as_congestion = 0;
	assert_true(isnan(score(&w, &p).congestion_busy));
	xp_rack_world_free(&w);
}

static void without_drops_no_port_is_full(void **state)
{
	struct xp_rack_world w;
	struct xp_rack p;
	(void)state;
	a_world(&w, &p);
	const struct res_trial_metrics row = score(&w, &p);
	assert_true(row.congestion_ports == 0 && row.congestion_busy == 1);
	assert_true(isnan(row.congestion_loss) && isnan(row.congestion_burst));
	xp_rack_world_free(&w);
}

/* --- of a rack ------------------------------------------------------------ */

#define SPEC                                                                   \
	"figure: f\nplane: rack\nalgorithms: [loss_cause]\n"                   \
	"topology: {n_pods: 1, n_tors: 8, n_t1: 2, n_t2: 2, n_hosts: 92}\n"

struct bursts {
	double n, lossy;
};

/* Bursts that hosts counted, each bucket as so many packets of 1500 bytes that
 * meet the port of the host. */
static void count_lossy(const struct xp_rack_world *w, const struct xp_rack *p,
    const struct scene_congestion *c, struct sim_rng *r, struct bursts *b)
{
	const struct obs_samples *s = &w->samples;
	const double above =
	    p->burst.share * p->rack.line_gbps / 8 * (double)SIM_MS;
	int in_burst = 0, lossy = 0;
	for (size_t i = 0; i < s->n; i++) {
		const uint32_t run = s->run[i];
		const int goes_on = i > 0 && s->run[i - 1] == run &&
		    s->bucket[i - 1] + 1 == s->bucket[i];
		if (in_burst && (!goes_on || s->in_bytes[i] <= above)) {
			b->lossy += lossy;
			in_burst = lossy = 0;
		}
		if (s->in_bytes[i] <= above)
			continue;
		b->n += !in_burst;
		in_burst = 1;
		const double h = scene_congestion_hazard(c,
		    topo_link_of(w->runs.host[run], TOPO_DOWN),
		    w->runs.start_ns[run] + s->bucket[i] * SIM_MS + SIM_MS / 2);
		lossy |= h > 0 &&
		    sim_rng_u01(r) < -expm1(-h * s->in_bytes[i] / 1500);
	}
	b->lossy += lossy;
}

/* Other planes with congestion by these keys have as large a share of lossy
 * bursts as the racks that these are of. */
static void the_keys_give_the_racks_share_of_lossy_bursts(void **state)
{
	static const char *const racks[] =
	    {"rack: {as_congestion: true, traffic: {ml_racks: 0}}\n",
		"rack: {as_congestion: true, alpha: 0.25, traffic: {ml_racks: "
		"0}}\n"};
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		const struct sim_seed where = {.seed = 11 + k};
		char text[1000];
		struct xp_spec spec;
		struct xp_config c = {0};
		struct topo topo = {0};
		struct scene scene = {0};
		struct xp_rack_world w = {0};
		struct res_trial_metrics row;
		struct bursts b = {0, 0};
		struct sim_rng r;
		test_rng(&r, k);
		snprintf(text, sizeof(text), "%s%s", SPEC, racks[k]);
		spec_open(&spec, text);
		assert_ok(xp_spec_point(&spec, 0, &c, test_err()));
		assert_ok(
		    xp_topology_open(&c.topology, ".", &topo, test_err()));
		assert_ok(
		    scene_draw(&scene, &topo, &c.scene, &where, test_err()));
		const struct xp_rack *p = xp_rack_of(&c);
		assert_ok(xp_rack_world_run(&w, p, &scene, test_err()));
		assert_ok(xp_rack_score(&w, p, &scene, 1, &row, test_err()));
		const struct scene_congestion_params like = {1,
		    row.congestion_burst, row.congestion_busy,
		    row.congestion_ports, 0,
		    {SIM_FIXED, row.congestion_loss, row.congestion_loss},
		    {SIM_FIXED, 0, 0}};
		for (uint32_t run = 0; run < 20; run++) {
			const struct sim_seed epoch = {.seed = 5, .run = run};
			struct scene_congestion full;
			scene_congestion_init(&full, &like, &topo, &epoch);
			count_lossy(&w, p, &full, &r, &b);
		}
		const double want = row.n_lossy_bursts / row.n_bursts,
			     got = b.lossy / b.n;
		print_message("of the racks' bursts %.2f %% are lossy, of "
			      "those with congestion %.2f %%\n",
		    100 * want, 100 * got);
		assert_near(log(got / want), 0, log(1.7));
		xp_rack_world_free(&w);
		scene_free(&scene);
		topo_close(&topo);
		xp_config_free(&c);
		xp_spec_free(&spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sums_are_those_by_hand),
	    cmocka_unit_test(without_drops_no_port_is_full),
	    cmocka_unit_test(the_keys_give_the_racks_share_of_lossy_bursts),
	};
	return cmocka_run_group_tests_name("experiments/rack/ports", tests,
	    spec_folder_make, spec_folder_remove);
}
