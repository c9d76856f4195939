/* tests/models/bulk/bulk_law_test.c -- the exact data plane's law.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Statistical bounds are 4 standard errors (6e-5 a comparison) on about 520
 * comparisons, and chi-squares at level 1e-6: under a random seed some bound
 * fires in 3 of 100 runs. The seeds are fixed.
 */
#include <gsl/gsl_randist.h>

#include "models/bulk/bulk.h"
#include "tests/rigs/bulk.h"
#include "tests/rigs/law.h"
#include "tests/rigs/reference.h"
#include "tests/rigs/scenes.h"
#include "topo/mesh.h"

static const struct topo_clos sim = {2, 20, 8, 10, 40, .n_cables = 0};
static const struct topo_clos odd = {3, 7, 5, 3, 11, .n_cables = 0};
static const struct topo_clos tiny = {2, 2, 2, 2, 2, .n_cables = 0};

#define ERRORS 4

static void assert_z(double z, const char *what, size_t i)
{
	if (!(fabs(z) < ERRORS))
		fail_msg("%s %zu: %.2f standard errors, seed %ju", what, i, z,
		    (uintmax_t)test_seed());
}

/* Moments, over epochs, of the difference of two planes' counts. */
enum { MAX_LINKS = 4160 };
struct differences {
	struct law_mean failed, drops;
	struct law_mean link_drops[MAX_LINKS], link_flows[MAX_LINKS];
};

static double minus(uint64_t a, uint64_t b)
{
	return (double)a - (double)b;
}

typedef void reference_fn(const struct scene *s, gsl_rng *r,
    struct reference_counts *out);

/* One epoch of both: ALL windows also compare flows per link. */
static void compare_epoch(struct plane *p, struct scene *s, gsl_rng *gsl,
    reference_fn *reference, int all, struct differences *d)
{
	static uint64_t drops[2][MAX_LINKS], flows[2][MAX_LINKS];
	struct reference_counts ref = {.link_drops = drops[0],
	    .link_flows = flows[0]};
	memset(drops, 0, sizeof(drops));
	memset(flows, 0, sizeof(flows));
	reference(s, gsl, &ref);
	run_epoch(p, s, all);
	struct scenes_counts c =
	    scenes_count(&p->window, &p->lost, drops[1], flows[1]);
	law_add(&d->failed, minus(c.n_failed_flows, ref.n_failed_flows));
	law_add(&d->drops, minus(c.n_drops, ref.n_drops));
	for (topo_link l = 0; l < s->topo->n_links; l++) {
		law_add(&d->link_drops[l], minus(drops[1][l], drops[0][l]));
		law_add(&d->link_flows[l], minus(flows[1][l], flows[0][l]));
	}
}

static void assert_no_difference(const struct differences *d, uint32_t n_links,
    int all)
{
	assert_z(law_z(&d->failed, 0), "failed flows", 0);
	assert_z(law_z(&d->drops, 0), "drops", 0);
	for (topo_link l = 0; l < n_links; l++) {
		assert_z(law_z(&d->link_drops[l], 0), "drops of link", l);
		if (all)
			assert_z(law_z(&d->link_flows[l], 0), "flows of link",
			    l);
	}
}

/* Rates so high that packets are lost at several hops of one flow. */
static void compare_packets(enum scene_noise_per per)
{
	static struct differences d;
	struct scenes s;
	struct plane p;
	gsl_rng *gsl = gsl_rng_alloc(gsl_rng_mt19937);
	plane_open(&p);
	scenes_open(&s, &tiny);
	s.params.traffic.conns = scenes_fixed(10);
	s.params.traffic.packets = scenes_uniform(1, 6);
	s.params.noise.rate = scenes_uniform(0, 0.05);
	for (unsigned class = 0; class < TOPO_FABRIC; class ++)
		scenes_add_fault(&s, topo_clos_class_at(&s.topo.clos, class, 2),
		    0.1 + 0.1 * class);
	s.params.noise.per = per;
	memset(&d, 0, sizeof(d));
	for (uint32_t run = 0; run < 3000; run++)
		compare_epoch(&p, scenes_draw(&s, run), gsl, reference_packets,
		    1, &d);
	assert_no_difference(&d, s.topo.n_links, 1);
	gsl_rng_free(gsl);
	plane_close(&p);
	scenes_close(&s);
}

static void the_law_is_that_of_single_packets(void **state)
{
	(void)state;
	compare_packets(SCENE_NOISE_PER_LINK);
}

static void with_noise_per_flow_it_is_too(void **state)
{
	(void)state;
	compare_packets(SCENE_NOISE_PER_FLOW);
}

static void the_law_in_a_fat_tree_is_that_of_single_packets(void **state)
{
	(void)state;
	static struct differences d;
	struct scenes s;
	struct plane p;
	struct topo_mesh *mesh;
	gsl_rng *gsl = gsl_rng_alloc(gsl_rng_mt19937);
	plane_open(&p);
	assert_ok(topo_mesh_fat_tree(&mesh, 4, 0, test_err()));
	scenes_open_mesh(&s, mesh);
	s.params.traffic.conns = scenes_fixed(4);
	s.params.traffic.packets = scenes_uniform(1, 6);
	s.params.noise.rate = scenes_uniform(0, 0.05);
	for (topo_link l = 1; l < s.topo.n_links; l += 19)
		scenes_add_fault(&s, l, 0.3);
	for (uint32_t run = 0; run < 2000; run++)
		compare_epoch(&p, scenes_draw(&s, run), gsl, reference_packets,
		    1, &d);
	assert_no_difference(&d, s.topo.n_links, 1);
	gsl_rng_free(gsl);
	plane_close(&p);
	scenes_close(&s);
}

/* Both ways, with repeats: so high rates that most flows have some of each. */
static void the_law_with_tcp_is_that_of_single_packets(void **state)
{
	(void)state;
	static struct differences d;
	struct scenes s;
	struct plane p;
	gsl_rng *gsl = gsl_rng_alloc(gsl_rng_mt19937);
	plane_open(&p);
	scenes_open(&s, &tiny);
	scenes_use_tcp(&s, 3);
	s.params.traffic.conns = scenes_fixed(10);
	s.params.traffic.packets = scenes_uniform(1, 9);
	s.params.noise.rate = scenes_uniform(0, 0.02);
	for (unsigned class = 0; class < TOPO_FABRIC; class ++)
		scenes_add_fault(&s, topo_clos_class_at(&s.topo.clos, class, 2),
		    0.1 + 0.05 * class);
	for (uint32_t run = 0; run < 3000; run++)
		compare_epoch(&p, scenes_draw(&s, run), gsl, reference_tcp, 0,
		    &d);
	assert_no_difference(&d, s.topo.n_links, 0);
	gsl_rng_free(gsl);
	plane_close(&p);
	scenes_close(&s);
}

/* Only failed links lose enough in so few epochs for a normal law. */
static void the_law_at_007s_size_is_that_of_binomial_hops(void **state)
{
	(void)state;
	static struct differences d;
	struct scenes s;
	struct plane p;
	gsl_rng *gsl = gsl_rng_alloc(gsl_rng_mt19937);
	plane_open(&p);
	scenes_open(&s, &sim);
	for (unsigned class = TOPO_TOR_T1; class < TOPO_TOR_HOST; class ++)
		scenes_add_fault(&s, topo_clos_class_at(&s.topo.clos, class, 9),
		    0.002 * class);
	for (uint32_t run = 0; run < 60; run++)
		compare_epoch(&p, scenes_draw(&s, run), gsl, reference_binomial,
		    0, &d);
	assert_z(law_z(&d.failed, 0), "failed flows", 0);
	assert_z(law_z(&d.drops, 0), "drops", 0);
	for (size_t i = 0; i < s.scene.truth.n_faults; i++) {
		const topo_link l = s.scene.truth.fault[i].link;
		assert_z(law_z(&d.link_drops[l], 0), "drops of link", l);
	}
	gsl_rng_free(gsl);
	plane_close(&p);
	scenes_close(&s);
}

/* flows * share * (1 - (1 - rate)^n), 007's r_b. */
static void failed_flows_of_one_fault_match_the_closed_form(void **state)
{
	(void)state;
	struct scenes s;
	struct plane p;
	enum { PKTS = 20 };
	const double rate = 0.02;
	plane_open(&p);
	for (unsigned class = 0; class < TOPO_FABRIC; class ++) {
		struct law_mean failed = {0}, drops = {0};
		double share;
		scenes_open(&s, &odd);
		const topo_link l = topo_clos_class_at(&s.topo.clos, class, 13);
		s.params.traffic.packets = scenes_fixed(PKTS);
		s.params.noise.rate = scenes_fixed(0);
		scenes_add_fault(&s, l, rate);
		assert_ok(topo_share_given(&s.topo, TOPO_NONE, &l, 1, &share,
		    test_err()));
		for (uint32_t run = 0; run < 100; run++) {
			struct scene *scene = scenes_draw(&s, run);
			run_epoch(&p, scene, 0);
			struct scenes_counts c =
			    scenes_count(&p.window, &p.lost, NULL, NULL);
			law_add(&failed, (double)c.n_failed_flows);
			law_add(&drops, (double)c.n_drops);
		}
		const double n = (double)s.scene.traffic.n_flows * share;
		assert_z(law_z(&failed, n * (1 - pow(1 - rate, PKTS))),
		    "failed flows of class", class);
		assert_z(law_z(&drops, n * PKTS * rate), "drops of class",
		    class);
		scenes_close(&s);
	}
	plane_close(&p);
}

/* Flows of one epoch are compared: if they drew from one stream of random
 * numbers in a wrong way, their losses would depend on each other. */
static void flows_lose_independently_of_each_other(void **state)
{
	(void)state;
	enum { PKTS = 20 };
	const double rate = 0.1;
	uint64_t got[PKTS + 1] = {0};
	double want[PKTS + 1] = {0};
	struct scenes s;
	struct plane p;
	plane_open(&p);
	scenes_open(&s, &sim);
	s.params.traffic.packets = scenes_fixed(PKTS);
	s.params.noise.rate = scenes_fixed(0);
	scenes_add_fault(&s, topo_clos_class_at(&s.topo.clos, TOPO_TOR_T1, 5),
	    rate);
	scenes_add_fault(&s, topo_clos_class_at(&s.topo.clos, TOPO_TOR_T1, 77),
	    rate);
	run_epoch(&p, scenes_draw(&s, 0), 0);
	for (size_t i = 0; i < p.window.flows.n; i++)
		got[p.window.flows.n_retx[i]]++;
	for (unsigned k = 1; k <= PKTS; k++)
		want[k] = gsl_ran_binomial_pdf(k, rate, PKTS);
	assert_true(p.window.flows.n > 400);
	assert_true(law_chi2(got, want, PKTS + 1) >= 1e-6);
	plane_close(&p);
	scenes_close(&s);
}

static void flows_per_link_match_the_exact_shares(void **state)
{
	(void)state;
	static const struct topo_clos few[] = {{2, 3, 2, 3, 2, .n_cables = 0},
	    {1, 4, 3, 2, 1, .n_cables = 0}};
	for (int i = 0; i < 2; i++) {
		static struct law_mean flows[256];
		uint64_t count[256];
		double share[256];
		topo_link link[256];
		struct scenes s;
		struct plane p;
		plane_open(&p);
		scenes_open(&s, &few[i]);
		memset(flows, 0, sizeof(flows));
		for (uint32_t run = 0; run < 300; run++) {
			memset(count, 0, sizeof(count));
			struct scene *scene = scenes_draw(&s, run);
			run_epoch(&p, scene, 1);
			scenes_count(&p.window, &p.lost, NULL, count);
			for (topo_link l = 0; l < s.topo.n_links; l++)
				law_add(&flows[l], (double)count[l]);
		}
		for (topo_link l = 0; l < s.topo.n_links; l++)
			link[l] = l;
		assert_ok(topo_share_given(&s.topo, TOPO_NONE, link,
		    s.topo.n_links, share, test_err()));
		for (topo_link l = 0; l < s.topo.n_links; l++)
			assert_z(law_z(&flows[l],
				     share[l] *
					 (double)s.scene.traffic.n_flows),
			    "flows of link", l);
		plane_close(&p);
		scenes_close(&s);
	}
}

/* The choices of consecutive switches are independent, though one digest makes
 * them all: every triple of a pair of ToRs is as likely, in every network. */
static void triples_of_switches_are_uniform(void **state)
{
	(void)state;
	const struct topo_clos pair = {2, 1, 3, 4, 3, .n_cables = 0};
	struct scenes s;
	scenes_open(&s, &pair);
	s.params.traffic.conns = scenes_fixed(10000);
	for (uint32_t run = 0; run < 10; run++) {
		uint64_t count[2][3 * 4 * 3] = {{0}};
		const struct scene *scene = scenes_draw(&s, run);
		for (uint64_t f = 0; f < scene->traffic.n_flows; f++) {
			struct obs_flow flow;
			topo_link path[TOPO_MAX_HOPS];
			assert_int_equal(bulk_flow(scene, f, &flow, path), 6);
			struct topo_clos_place up =
			    topo_clos_place(&s.topo.clos, path[2]);
			struct topo_clos_place down =
			    topo_clos_place(&s.topo.clos, path[3]);
			assert_int_equal(up.high, down.high);
			count[flow.src_host / 3]
			     [(up.low % 3 * 4 + up.high) * 3 + down.low % 3]++;
		}
		for (int i = 0; i < 2; i++) {
			double p = law_chi2_uniform(count[i], 36);
			if (p < 1e-6)
				fail_msg("run %u, seed %ju: p = %g", run,
				    (uintmax_t)test_seed(), p);
		}
	}
	scenes_close(&s);
}

/* Start times within the epoch are uniform. */
static void flows_start_at_any_time_alike(void **state)
{
	(void)state;
	uint64_t count[60] = {0};
	struct scenes s;
	scenes_open(&s, &sim);
	const struct scene *scene = scenes_draw(&s, 0);
	for (uint64_t f = 0; f < scene->traffic.n_flows; f++) {
		struct obs_flow flow;
		topo_link path[TOPO_MAX_HOPS];
		bulk_flow(scene, f, &flow, path);
		count[flow.start_ns / (SIM_SEC / 2)]++;
	}
	assert_true(law_chi2_uniform(count, 60) >= 1e-6);
	scenes_close(&s);
}

/* --- full buffers --------------------------------------------------------- */

enum { BY_BUFFER = 8, BY_LINK = 8 };

/* Packet by packet: at each hop the buffer may drop it, then the link. */
static void offer_packets(const struct scene *s, uint32_t n,
    const topo_link path[], unsigned h, sim_ns at, gsl_rng *r,
    unsigned n_lost[2])
{
	double rate[TOPO_MAX_HOPS][2];
	for (unsigned i = 0; i < h; i++) {
		rate[i][0] = -expm1(
		    -scene_congestion_hazard(&s->congestion, path[i], at));
		rate[i][1] = -expm1(-scene_loss_hazard(&s->loss, path[i], at));
	}
	n_lost[0] = n_lost[1] = 0;
	for (uint32_t k = 0; k < n; k++)
		for (unsigned i = 0; i < h; i++) {
			const int by = gsl_rng_uniform(r) < rate[i][0] ? 0
			    : gsl_rng_uniform(r) < rate[i][1]          ? 1
								       : 2;
			if (by == 2)
				continue;
			n_lost[by]++;
			break;
		}
}

static size_t cell_of(unsigned buffer, unsigned link)
{
	return (buffer < BY_BUFFER ? buffer : BY_BUFFER - 1) * BY_LINK +
	    (link < BY_LINK ? link : BY_LINK - 1);
}

/* What buffers and what links took of each flow, against packets that meet the
 * same buffers: so the counts differ by less than independent ones would. And how
 * many flows lose something to a buffer, against the closed form. */
static void buffers_drop_what_packets_would_lose_there(void **state)
{
	enum { EPOCHS = 3000, PKTS = 6 };
	uint64_t got[BY_BUFFER * BY_LINK] = {0},
				 want[BY_BUFFER * BY_LINK] = {0};
	struct law_mean hit = {0};
	struct scenes s;
	struct plane p;
	struct sim_rng r;
	(void)state;
	test_rng(&r, 71);
	plane_open(&p);
	scenes_open(&s, &tiny);
	s.params.noise.rate = scenes_fixed(0.02);
	s.params.traffic.packets = scenes_fixed(PKTS);
	s.params.traffic.conns = scenes_fixed(5);
	s.params.congestion = (struct scene_congestion_params){0.5, 5e3, 0.6,
	    0.5, 0, scenes_uniform(0.1, 0.6), {0}};
	scenes_add_fault(&s, topo_link_of(1, TOPO_DOWN), 0.3);
	for (uint32_t run = 0; run < EPOCHS; run++) {
		struct scene *scene = scenes_draw(&s, run);
		run_epoch(&p, scene, 1);
		double n_hit = 0;
		for (size_t i = 0; i < p.window.flows.n; i++) {
			const struct obs_flow f =
			    obs_flows_at(&p.window.flows, i);
			const unsigned h = obs_n_hops(&p.window, i);
			unsigned sum[2] = {0, 0}, ref[2];
			for (uint64_t k = p.window.hops.off[i];
			     k < p.window.hops.off[i + 1]; k++) {
				sum[0] += p.lost.buffer[k];
				sum[1] += p.lost.drops[k] - p.lost.buffer[k];
			}
			offer_packets(scene, f.n_pkts, obs_path(&p.window, i),
			    h, f.start_ns, &r.gsl, ref);
			got[cell_of(sum[0], sum[1])]++;
			want[cell_of(ref[0], ref[1])]++;
			n_hit += sum[0] > 0;
		}
		law_add(&hit, n_hit / (double)p.window.flows.n);
	}
	assert_true(law_chi2_equal(got, want, BY_BUFFER * BY_LINK) > 1e-6);
	/* The buffer is the last hop: of n packets those come to it that no
	 * link before took, over 3 or 5 hops that are noisy. In this Clos a
	 * flow to another ToR stays in its pod with chance 1/3. */
	double mean = 0;
	for (unsigned i = 0; i < 1000; i++) {
		const double rate = 0.1 + 0.5 * (i + 0.5) / 1000;
		mean += 1 - pow(1 - rate * pow(0.98, 3), PKTS) / 3 -
		    pow(1 - rate * pow(0.98, 5), PKTS) * 2 / 3;
	}
	assert_z(law_z(&hit, 0.5 * 0.6 * 0.5 * mean / 1000), "flows", 0);
	plane_close(&p);
	scenes_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_law_is_that_of_single_packets),
	    cmocka_unit_test(with_noise_per_flow_it_is_too),
	    cmocka_unit_test(the_law_in_a_fat_tree_is_that_of_single_packets),
	    cmocka_unit_test(the_law_with_tcp_is_that_of_single_packets),
	    cmocka_unit_test(the_law_at_007s_size_is_that_of_binomial_hops),
	    cmocka_unit_test(failed_flows_of_one_fault_match_the_closed_form),
	    cmocka_unit_test(flows_lose_independently_of_each_other),
	    cmocka_unit_test(flows_per_link_match_the_exact_shares),
	    cmocka_unit_test(triples_of_switches_are_uniform),
	    cmocka_unit_test(flows_start_at_any_time_alike),
	    cmocka_unit_test(buffers_drop_what_packets_would_lose_there),
	};
	return cmocka_run_group_tests_name("models/bulk, law", tests, NULL,
	    NULL);
}
