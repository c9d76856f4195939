/* tests/speed/bulk.c -- benchmarks of the data planes against GSL.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdio.h>
#include <stdlib.h>

#include "models/bulk/bulk.h"
#include "models/bulk/skip.h"
#include "tests/rigs/reference.h"
#include "tests/speed/bench.h"

/* 007's size, and about a hundred times it. */
static const struct topo_clos sim_shape = {2, 20, 8, 10, 40, .n_cables = 0};
static const struct topo_clos big_shape = {48, 52, 8, 10, 40, .n_cables = 0};
static const struct topo_clos twice_shape = {96, 52, 8, 10, 40, .n_cables = 0};

struct subject {
	struct topo topo;
	struct fault_params group;
	struct scene_params params;
	struct scene scene;
	struct bulk *bulk;
	struct bulk_skip *skip;
	struct obs window;
	struct losses lost;
	gsl_rng *gsl;
	uint32_t run;
	uint64_t epochs; /* of one timed call */
	uint64_t n_failed, n_epochs;
	double lossy; /* flows an epoch, mean over all */
};

static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench: %s\n", e->msg);
		exit(1);
	}
}

static void make_subject(struct subject *s, const struct topo_clos *shape,
    uint32_t n_faults, double noise, const struct bulk_kernel *kernel)
{
	struct sim_err e;
	*s = (struct subject){.epochs = 1};
	must(topo_open_clos(&s->topo, shape, &e), &e);
	must(sim_field_defaults(fault_fields, &s->group, &e), &e);
	must(sim_field_defaults(scene_traffic_fields, &s->params.traffic, &e),
	    &e);
	s->group.count = n_faults;
	s->params.noise.rate = (struct sim_dist){SIM_UNIFORM, 0, noise};
	s->params.noise.scale = 1;
	s->params.group = &s->group;
	s->params.n_groups = 1;
	must(bulk_open(&s->bulk, kernel, &e), &e);
	must(bulk_skip_open(&s->skip, &e), &e);
	s->gsl = gsl_rng_alloc(gsl_rng_mt19937);
	const struct sim_seed where = {.seed = 1};
	must(scene_draw(&s->scene, &s->topo, &s->params, &where, &e), &e);
}

static void free_subject(struct subject *s)
{
	scene_free(&s->scene);
	bulk_close(s->bulk);
	bulk_skip_close(s->skip);
	obs_free(&s->window);
	losses_free(&s->lost);
	gsl_rng_free(s->gsl);
	topo_close(&s->topo);
}

static void next_scene(struct subject *s)
{
	struct sim_err e;
	const struct sim_seed where = {.seed = 1, .run = s->run++};
	must(scene_draw(&s->scene, &s->topo, &s->params, &where, &e), &e);
}

static void count(struct subject *s, uint64_t n_lossy)
{
	s->n_failed += n_lossy;
	s->n_epochs++;
	s->lossy = (double)s->n_failed / (double)s->n_epochs;
}

static void run_reference(void *arg)
{
	struct subject *s = arg;
	struct reference_counts c = {0};
	next_scene(s);
	reference_binomial(&s->scene, s->gsl, &c);
	count(s, c.n_failed_flows);
	bench_sink += c.n_drops;
}

static void run_bulk(void *arg)
{
	struct subject *s = arg;
	struct sim_err e;
	for (uint64_t i = 0; i < s->epochs; i++) {
		next_scene(s);
		must(bulk_epoch(s->bulk, &s->scene, 0, &s->window, &s->lost,
			 &e),
		    &e);
		count(s, s->window.flows.n);
	}
}

static void run_skip(void *arg)
{
	struct subject *s = arg;
	struct sim_err e;
	for (uint64_t i = 0; i < s->epochs; i++) {
		next_scene(s);
		must(bulk_skip_epoch(s->skip, &s->scene, &s->window, &s->lost,
			 &e),
		    &e);
		count(s, s->window.flows.n);
	}
}

static void bench_size(const char *what, const struct topo_clos *shape,
    uint32_t n_faults, int rounds, uint64_t bulk_epochs, uint64_t skip_epochs,
    double bulk_goal, double skip_goal)
{
	struct subject a, b, c;
	char name[80];
	make_subject(&a, shape, n_faults, 1e-6, NULL);
	make_subject(&b, shape, n_faults, 1e-6, NULL);
	make_subject(&c, shape, n_faults, 1e-6, NULL);
	b.epochs = bulk_epochs;
	c.epochs = skip_epochs;
	const double flows = (double)a.scene.traffic.n_flows;
	run_bulk(&b);
	run_skip(&c);
	struct bench_pair p =
	    bench_against(rounds, run_reference, &a, run_bulk, &b);
	struct bench_pair q =
	    bench_against(rounds, run_reference, &a, run_skip, &c);
	snprintf(name, sizeof(name), "GSL binomial reference, %s", what);
	bench_row(name, p.a_s / flows * 1e9, "ns/flow", '-', 0);
	snprintf(name, sizeof(name), "exact plane (%s), %s",
	    bulk_kernels()[0]->name, what);
	bench_row(name, p.b_s / flows / (double)b.epochs * 1e9, "ns/flow", '-',
	    0);
	snprintf(name, sizeof(name), "exact plane against reference, %s", what);
	bench_row(name, p.ratio * (double)b.epochs, "x", '>', bulk_goal);
	snprintf(name, sizeof(name), "skipping plane, %s", what);
	bench_row(name, q.b_s / (double)c.epochs * 1e6, "us/epoch", '-', 0);
	snprintf(name, sizeof(name), "skipping plane against reference, %s",
	    what);
	bench_row(name, q.ratio * (double)c.epochs, "x", '>', skip_goal);
	/* A plane that is fast because it is wrong would show here. */
	snprintf(name, sizeof(name), "lossy flows: exact / reference, %s",
	    what);
	bench_row(name, b.lossy / a.lossy, "x", '-', 0);
	snprintf(name, sizeof(name), "lossy flows: skipping / reference, %s",
	    what);
	bench_row(name, c.lossy / a.lossy, "x", '-', 0);
	free_subject(&a);
	free_subject(&b);
	free_subject(&c);
}

/* Hosts double by doubling pods; the flows that cross a failed link do not. */
static void bench_scaling(void)
{
	struct subject a, b;
	make_subject(&a, &big_shape, 30, 0, NULL);
	make_subject(&b, &twice_shape, 30, 0, NULL);
	a.epochs = b.epochs = 20;
	run_skip(&a);
	run_skip(&b);
	struct bench_pair p = bench_against(9, run_skip, &b, run_skip, &a);
	bench_row("skipping plane: time at twice the hosts, no noise", p.ratio,
	    "x", '<', 1.5);
	free_subject(&a);
	free_subject(&b);
}

static void bench_portable(void)
{
	const struct bulk_kernel *const *k = bulk_kernels();
	struct subject a, b;
	if (!k[1])
		return;
	while (k[1])
		k++;
	make_subject(&a, &sim_shape, 10, 1e-6, *k);
	make_subject(&b, &sim_shape, 10, 1e-6, NULL);
	a.epochs = b.epochs = 10;
	struct bench_pair p = bench_against(5, run_bulk, &a, run_bulk, &b);
	bench_row("exact plane: SIMD against portable", p.ratio, "x", '-', 0);
	free_subject(&a);
	free_subject(&b);
}

/* A million hosts, whose hazards fit no cache. */
static void bench_million(void)
{
	static const struct topo_clos shape = {50, 500, 8, 10, 40,
	    .n_cables = 0};
	struct subject a, b;
	make_subject(&a, &sim_shape, 10, 1e-6, NULL);
	make_subject(&b, &shape, 10, 1e-6, NULL);
	const double of_a = (double)a.scene.traffic.n_flows,
		     of_b = (double)b.scene.traffic.n_flows;
	a.epochs = (uint64_t)(of_b / of_a);
	b.epochs = 1;
	struct bench_pair p = bench_against(3, run_bulk, &a, run_bulk, &b);
	bench_row("exact plane, a million hosts", p.b_s / of_b * 1e9, "ns/flow",
	    '<', 15);
	bench_row("exact plane: a flow of a million hosts / of 1,600",
	    of_a * (double)a.epochs / of_b / p.ratio, "x", '<', 1.5);
	free_subject(&a);
	free_subject(&b);
}

void bench_bulk(void)
{
	bench_size("96,000 flows", &sim_shape, 10, 5, 10, 100, 10, 50);
	bench_size("6 M flows", &big_shape, 30, 3, 1, 20, 10, 500);
	bench_million();
	bench_portable();
	bench_scaling();
}
