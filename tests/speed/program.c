/* tests/speed/program.c -- the binary and integer programs against plain GLPK.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <glpk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "algos/vigil/program.h"
#include "models/bulk/skip.h"
#include "models/scene/scene.h"
#include "sim/stat.h"
#include "tests/speed/bench.h"

enum { MAX_EPOCHS = 40 };

/* A failure to set up leaves nothing to measure. */
static void must(int rc, const struct sim_err *e)
{
	if (rc < 0) {
		fprintf(stderr, "bench_program: %s\n", e->msg);
		exit(1);
	}
}

/* Epochs of one scenario. */
struct epochs {
	struct topo topo;
	struct scene scene;
	struct bulk_skip *skip;
	int n;
	struct obs window[MAX_EPOCHS];
	struct losses lost; /* in the last */
	void *binary, *integer;
	struct algo_verdicts out;
	int next; /* epoch, for timed calls */
	double naive_value;
};

static void open_epochs(struct epochs *x, uint32_t n_pods, uint32_t n_faults,
    double noise, int n)
{
	const struct topo_clos shape = {.n_pods = n_pods,
	    .n_tors = 20,
	    .n_t1 = 8,
	    .n_t2 = 10,
	    .n_hosts = 40};
	struct fault_params faults = {0};
	struct scene_params params = {.n_groups = 1, .group = &faults};
	struct sim_err e = {0};
	*x = (struct epochs){.n = n};
	must(sim_field_defaults(scene_traffic_fields, &params.traffic, &e), &e);
	must(sim_field_defaults(scene_noise_fields, &params.noise, &e), &e);
	must(sim_field_defaults(fault_fields, &faults, &e), &e);
	params.noise.rate = (struct sim_dist){SIM_UNIFORM, 0, noise};
	faults.count = n_faults;
	faults.same_switch = 0.1;
	faults.rate = (struct sim_dist){SIM_UNIFORM, 1e-4, 1e-2};
	must(topo_open_clos(&x->topo, &shape, &e), &e);
	must(bulk_skip_open(&x->skip, &e), &e);
	for (int i = 0; i < n; i++) {
		const struct sim_seed where = {.seed = 20180409,
		    .run = (uint32_t)i};
		must(scene_draw(&x->scene, &x->topo, &params, &where, &e), &e);
		must(bulk_skip_epoch(x->skip, &x->scene, &x->window[i],
			 &x->lost, &e),
		    &e);
	}
	must(algo_open(&algo_binary, &x->binary, &x->topo, NULL, &e), &e);
	must(algo_open(&algo_integer, &x->integer, &x->topo, NULL, &e), &e);
}

static void close_epochs(struct epochs *x)
{
	for (int i = 0; i < x->n; i++)
		obs_free(&x->window[i]);
	losses_free(&x->lost);
	algo_close(&algo_binary, x->binary);
	algo_close(&algo_integer, x->integer);
	algo_verdicts_free(&x->out);
	bulk_skip_close(x->skip);
	scene_free(&x->scene);
	topo_close(&x->topo);
}

static void run_binary(void *arg)
{
	struct epochs *x = arg;
	struct sim_err e = {0};
	must(algo_binary.diagnose(x->binary, &x->window[x->next], NULL, &x->out,
		 &e),
	    &e);
}

static void run_integer(void *arg)
{
	struct epochs *x = arg;
	struct sim_err e = {0};
	must(algo_integer.diagnose(x->integer, &x->window[x->next], NULL,
		 &x->out, &e),
	    &e);
}

/* What one writes first: a row a failed flow, a column a link of the network
 * that is touched, and GLPK with its presolver. */
static void run_naive(void *arg)
{
	struct epochs *x = arg;
	const struct obs *w = &x->window[x->next];
	int *col_of = calloc(x->topo.n_links, sizeof(*col_of));
	glp_prob *p = glp_create_prob();
	glp_iocp how;
	glp_term_out(GLP_OFF);
	for (size_t f = 0; f < w->flows.n; f++) {
		const topo_link *path = obs_path(w, f);
		int col[TOPO_MAX_HOPS + 1];
		double val[TOPO_MAX_HOPS + 1];
		const int n = (int)obs_n_hops(w, f);
		for (int i = 0; i < n; i++) {
			int *c = &col_of[path[i]];
			if (*c == 0) {
				*c = glp_add_cols(p, 1);
				glp_set_col_kind(p, *c, GLP_BV);
				glp_set_obj_coef(p, *c, 1);
			}
			col[i + 1] = *c;
			val[i + 1] = 1;
		}
		const int row = glp_add_rows(p, 1);
		glp_set_row_bnds(p, row, GLP_LO, 1, 0);
		glp_set_mat_row(p, row, n, col, val);
	}
	glp_init_iocp(&how);
	how.presolve = GLP_ON;
	how.tm_lim = 10000;
	const int rc = glp_intopt(p, &how);
	x->naive_value =
	    rc == 0 && glp_mip_status(p) == GLP_OPT ? glp_mip_obj_val(p) : NAN;
	glp_delete_prob(p);
	free(col_of);
}

struct row {
	double median_s, max_s, proved, gap, links;
};

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double v[], int n)
{
	qsort(v, (size_t)n, sizeof(v[0]), ascending);
	return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

static struct row measure(struct epochs *x, void (*run)(void *), int rounds)
{
	struct row r = {0};
	double s[MAX_EPOCHS];
	for (x->next = 0; x->next < x->n; x->next++) {
		s[x->next] = bench_best(rounds, run, x);
		const struct algo_solution *v = &x->out.solution;
		r.proved += v->status == ALGO_OPTIMAL;
		r.gap = fmax(r.gap, v->value - v->bound);
		r.links += v->value / x->n;
	}
	r.proved /= x->n;
	r.median_s = median(s, x->n);
	r.max_s = s[x->n - 1];
	return r;
}

static void row(const char *what, const char *which, double value,
    const char *unit, char cmp, double goal)
{
	char name[80];
	snprintf(name, sizeof(name), "%s: %s", what, which);
	bench_row(name, value, unit, cmp, goal);
}

/* The default scenario with K failed links. */
static void default_epochs(uint32_t n_pods, uint32_t k)
{
	struct epochs x;
	char what[40];
	double ratio[MAX_EPOCHS];
	int n_unlike = 0;
	open_epochs(&x, n_pods, k, 1e-6, 20);
	snprintf(what, sizeof(what), "program: %u pods, k=%u", n_pods, k);
	const struct row b = measure(&x, run_binary, 5);
	const struct row i = measure(&x, run_integer, 5);
	row(what, "(3) median", b.median_s * 1e3, "ms", '<', 2);
	row(what, "(3) max", b.max_s * 1e3, "ms", '-', 0);
	row(what, "(4) median", i.median_s * 1e3, "ms", '<', 2);
	row(what, "proved", b.proved, "1", '>', 1);
	row(what, "value", b.links, "links", '-', 0);
	for (x.next = 0; x.next < x.n; x.next++) {
		ratio[x.next] =
		    bench_against(3, run_naive, &x, run_binary, &x).ratio;
		n_unlike += x.naive_value != x.out.solution.value;
	}
	row(what, "plain GLPK / (3)", median(ratio, x.n), "x", '>', 3);
	row(what, "values unlike plain GLPK's", n_unlike, "epochs", '<', 0);
	close_epochs(&x);
}

/* Noise, not failures, makes covers hard. GOAL: the share to be proved. */
static void noisy_epochs(double noise, int n, double goal)
{
	struct epochs x;
	char what[40];
	open_epochs(&x, 2, 10, noise, n);
	snprintf(what, sizeof(what), "program: k=10, noise %g", noise);
	const struct row b = measure(&x, run_binary, 1);
	row(what, "(3) median", b.median_s * 1e3, "ms", '-', 0);
	row(what, "(3) max", b.max_s * 1e3, "ms", '<', 1000);
	row(what, "proved", b.proved, "1", '>', goal);
	row(what, "value", b.links, "links", '-', 0);
	row(what, "largest gap", b.gap, "links", '-', 0);
	close_epochs(&x);
}

/* The released code's form of (4), with a second for it. */
static void released_form(void)
{
	struct epochs x;
	struct algo_program_params params;
	struct sim_err e = {0};
	open_epochs(&x, 2, 1, 1e-6, 5);
	must(sim_field_defaults(algo_integer.params, &params, &e), &e);
	params.form = ALGO_PROGRAM_BIGM;
	params.pivot_limit = UINT32_MAX;
	params.time_limit = 1;
	algo_close(&algo_integer, x.integer);
	must(algo_open(&algo_integer, &x.integer, &x.topo, &params, &e), &e);
	const struct row i = measure(&x, run_integer, 1);
	bench_row("program: k=1, (4) as released, median", i.median_s * 1e3,
	    "ms", '-', 0);
	bench_row("program: k=1, (4) as released, max", i.max_s * 1e3, "ms",
	    '<', 1500);
	bench_row("program: k=1, (4) as released, proved", i.proved, "1", '-',
	    0);
	close_epochs(&x);
}

void bench_program(void)
{
	default_epochs(2, 1);
	default_epochs(2, 10);
	default_epochs(2, 14);
	default_epochs(8, 30);
	noisy_epochs(1e-5, 10, 1);
	noisy_epochs(3e-5, 10, 1);
	noisy_epochs(5e-5, 5, 0.4);
	noisy_epochs(1e-4, 5, 0);
	released_form();
}
