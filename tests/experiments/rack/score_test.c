/* tests/experiments/rack/score_test.c -- experiments/rack/score: rows along.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows along anything are held against the one row of the same world without,
 * and against bursts that are found and sorted here once more.
 */
#include "experiments/rack/score.h"

#include <math.h>
#include <stdlib.h>

#include "tests/rigs/spec_file.h"
#include "tests/test.h"

enum { N_RACKS = 3, N_SERVERS = 8, MAX_ROWS = 200 };

#define SPEC                                                                   \
	"figure: f\nplane: rack\nalgorithms: [loss_cause]\n"                   \
	"topology: {n_pods: 1, n_tors: 3, n_t1: 2, n_t2: 2, n_hosts: 8}\n"     \
	"rack: {length: 0.2, shared: 6e5, ecn: 1e5, along: %s, sample: "       \
	"{start: aligned}, traffic: {gap: 10, few: 500, ml_racks: 0.34, "      \
	"ml_share: 0.5}}\n"

struct rows {
	struct xp_spec spec;
	struct xp_config c;
	struct topo topo;
	struct scene scene;
	struct xp_rack_world w;
	size_t n;
	struct res_trial_metrics row[MAX_ROWS];
};

static void rows_of(struct rows *x, const char *along)
{
	const struct sim_seed where = {.seed = 11};
	char text[1024];
	memset(x, 0, sizeof(*x));
	snprintf(text, sizeof(text), SPEC, along);
	spec_open(&x->spec, text);
	assert_ok(xp_spec_point(&x->spec, 0, &x->c, test_err()));
	assert_ok(xp_topology_open(&x->c.topology, ".", &x->topo, test_err()));
	assert_ok(
	    scene_draw(&x->scene, &x->topo, &x->c.scene, &where, test_err()));
	const struct xp_rack *p = xp_rack_of(&x->c);
	assert_ok(xp_rack_world_run(&x->w, p, &x->scene, test_err()));
	x->n = xp_rack_n_rows(p, &x->c.topology);
	assert_in_range(x->n, 1, MAX_ROWS);
	for (size_t i = 0; i < MAX_ROWS * RES_N_TRIAL_METRICS; i++)
		((double *)x->row)[i] = NAN;
	assert_ok(xp_rack_score(&x->w, p, &x->scene, x->n, x->row, test_err()));
}

static void rows_close(struct rows *x)
{
	xp_rack_world_free(&x->w);
	scene_free(&x->scene);
	topo_close(&x->topo);
	xp_config_free(&x->c);
	xp_spec_free(&x->spec);
}

/* What X measures of all racks is what Y does. */
static void assert_same_whole(const struct res_trial_metrics *x,
    const struct res_trial_metrics *y)
{
#define SAME(name) assert_true(x->name == y->name);
	SAME(n_bursts)
	SAME(n_lossy_bursts)
	SAME(n_met_bursts)
	SAME(burst_rate)
	SAME(contention_mean)
	SAME(contention_p90)
	SAME(burst_conns)
	SAME(quiet_conns)
	SAME(buffer_loss)
	SAME(dispersion_1ms)
#undef SAME
}

static double rows_sum(const struct rows *x, size_t offset)
{
	double sum = 0;
	for (size_t i = 0; i < x->n; i++)
		sum += *(const double *)((const char *)&x->row[i] + offset);
	return sum;
}
#define SUM(x, name) rows_sum(x, offsetof(struct res_trial_metrics, name))

static void sizes_share_all_bursts(void **state)
{
	struct rows one, x;
	(void)state;
	rows_of(&one, "none");
	rows_of(&x, "size");
	const struct res_trial_metrics *r = &one.row[0];
	assert_int_equal(one.n, 1);
	assert_int_equal(x.n, XP_RACK_N_SIZES);
	assert_same_whole(&x.row[0], r);
	assert_same_whole(&x.row[x.n - 1], r);
	assert_true(r->n_bursts > 100 && r->n_lossy_bursts > 3);
	assert_true(SUM(&x, n_long_bursts) == r->n_bursts);
	assert_true(SUM(&x, n_wide_bursts) == r->n_bursts);
	assert_true(SUM(&x, n_lossy_long) == r->n_lossy_bursts);
	assert_true(SUM(&x, n_lossy_wide) == r->n_lossy_bursts);
	assert_true(isnan(r->n_long_bursts) && isnan(r->burst_ms));
	rows_close(&one);
	rows_close(&x);
}

static void a_size_is_in_the_last_row_that_it_reaches(void **state)
{
	(void)state;
	static const double first[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		assert_true(xp_rack_size(i) == first[i]);
	for (size_t i = 0; i < XP_RACK_N_SIZES; i++) {
		assert_int_equal(xp_rack_size_row(xp_rack_size(i)), i);
		if (i > 0)
			assert_int_equal(xp_rack_size_row(
					     xp_rack_size(i) - 1e-9),
			    i - 1);
	}
	assert_int_equal(xp_rack_size_row(0), 0);
	assert_int_equal(xp_rack_size_row(1e9), XP_RACK_N_SIZES - 1);
}

static void racks_are_in_order_and_add_up(void **state)
{
	struct rows one, x;
	(void)state;
	rows_of(&one, "none");
	rows_of(&x, "rack");
	const struct res_trial_metrics *r = &one.row[0];
	assert_int_equal(x.n, N_RACKS);
	assert_near(SUM(&x, contention_mean), N_RACKS * r->contention_mean,
	    1e-9);
	assert_near(SUM(&x, contention_p90), N_RACKS * r->contention_p90, 1e-9);
	assert_near(SUM(&x, burst_rate), N_RACKS * r->burst_rate, 1e-9);
	assert_true(SUM(&x, n_bursts) == r->n_bursts);
	assert_true(SUM(&x, n_met_bursts) == r->n_met_bursts);
	assert_true(SUM(&x, n_swings) == r->n_swings);
	assert_true(SUM(&x, n_racks) == N_RACKS && r->n_racks == N_RACKS);
	/* One of three racks has a job, of half of its servers. */
	assert_true(r->n_job_servers == N_SERVERS / 2);
	assert_true(SUM(&x, n_job_servers) == N_SERVERS / 2);
	for (size_t i = 1; i < x.n; i++)
		assert_true(
		    x.row[i].contention_mean >= x.row[i - 1].contention_mean);
	rows_close(&one);
	rows_close(&x);
}

/* All of it is about the first rack, whose mean is among those of all. */
static void times_add_up_to_the_mean(void **state)
{
	struct rows x, racks;
	double sum = 0;
	size_t n = 0, is = 0;
	(void)state;
	rows_of(&x, "time");
	rows_of(&racks, "rack");
	assert_int_equal(x.n, 200);
	for (size_t i = 0; i < x.n; i++) {
		if (!isnan(x.row[i].contention)) {
			sum += x.row[i].contention;
			n++;
		}
		assert_true(
		    x.row[i].contention_mean == x.row[0].contention_mean);
	}
	/* Runs are aligned, so all is known but what is behind their end. */
	assert_true(n >= 197);
	assert_near(sum / (double)n, x.row[0].contention_mean, 1e-9);
	for (size_t i = 0; i < racks.n; i++)
		is +=
		    racks.row[i].contention_mean == x.row[0].contention_mean &&
		    racks.row[i].n_bursts == x.row[0].n_bursts;
	assert_int_equal(is, 1);
	assert_true(x.row[0].n_racks == 1);
	rows_close(&x);
	rows_close(&racks);
}

/* --- by hand ---------------------------------------------------------------*/

/* One server whose bursts last 1 to 20 ms, a quiet one between each two; 5
 * connections within, 2 outside. */
enum { HAND_BURSTS = 20, HAND_MS = 231 };

static void hand_open(struct xp_rack_world *w, struct xp_rack *p,
    enum xp_rack_along along)
{
	const struct obs_run run = {.width_ns = SIM_MS,
	    .line_bps = UINT64_C(8000000000),
	    .n_buckets = HAND_MS};
	uint32_t at = 0;
	*w = (struct xp_rack_world){.n_racks = 1,
	    .n_servers = 1,
	    .totals = {.offered = 8000,
		.arrived = 231,
		.buffer = 2000,
		.n_rto = 7},
	    .buffer = 11,
	    .link_in = 20,
	    .link_out = 300,
	    .dispersion = {1.5, 2.5, 3.5}};
	*p = (struct xp_rack){.length_s = HAND_MS / 1e3,
	    .widths = 1u << XP_RACK_WIDTH_1ms,
	    .along = along,
	    .rack = {.line_gbps = 8, .n_quadrants = 1}};
	assert_ok(sim_field_defaults(algo_burst_fields, &p->burst, test_err()));
	assert_ok(obs_runs_add(&w->runs, &run, test_err()));
	for (uint32_t k = 0; k <= HAND_BURSTS; k++)
		for (uint32_t i = 0; i <= k; i++) {
			const struct obs_sample row = {.bucket = at++,
			    .in_bytes = i < k ? 600000 : 1000,
			    .conns = i < k ? 5 : 2};
			assert_ok(
			    obs_samples_add(&w->samples, &row, test_err()));
		}
	assert_int_equal(at, HAND_MS);
}

static void hand_score(struct res_trial_metrics row[], size_t n,
    enum xp_rack_along along)
{
	const struct scene scene = {.traffic = {.n_flows = 0}};
	struct xp_rack_world w;
	struct xp_rack p;
	hand_open(&w, &p, along);
	for (size_t i = 0; i < n * RES_N_TRIAL_METRICS; i++)
		((double *)row)[i] = NAN;
	assert_ok(xp_rack_score(&w, &p, &scene, n, row, test_err()));
	xp_rack_world_free(&w);
}

static void a_row_of_a_rack_is_that_by_hand(void **state)
{
	struct res_trial_metrics r;
	const double s = HAND_MS / 1e3;
	(void)state;
	hand_score(&r, 1, XP_RACK_ALONG_NONE);
	assert_true(r.n_racks == 1 && r.n_bursts == HAND_BURSTS);
	assert_true(r.n_lossy_bursts == 0 && r.n_met_bursts == 0);
	assert_true(r.n_faults == 0 && r.n_job_servers == 0);
	assert_near(r.burst_rate, HAND_BURSTS / s, 1e-9);
	assert_true(r.burst_contention == 1);
	assert_near(r.contention_mean, 210. / HAND_MS, 1e-12);
	assert_true(r.contention_p10 == 1 && r.contention_p90 == 1);
	assert_true(r.n_swings == 0);
	assert_near(r.goodput, 231 / s, 1e-9);
	assert_true(r.buffer_bytes == 11 && r.buffer_loss == .25);
	assert_true(r.link_bytes == 320 && r.n_timeouts == 7);
	assert_true(r.dispersion_1ms == 1.5 && r.dispersion_10ms == 2.5 &&
	    r.dispersion_100ms == 3.5);
	assert_true(r.burst_conns == 5 && r.quiet_conns == 2);
}

/* Of 20 bursts the K-th is the quantile from (K - 1) / 20, that left out, to
 * K / 20. */
static void quantiles_are_of_nearest_rank(void **state)
{
	struct res_trial_metrics row[XP_RACK_N_QUANTILES];
	(void)state;
	hand_score(row, XP_RACK_N_QUANTILES, XP_RACK_ALONG_QUANTILE);
	for (size_t i = 0; i < XP_RACK_N_QUANTILES; i++) {
		const long q = lround(xp_rack_quantile(i) * 10000);
		const double rank = (double)((q * HAND_BURSTS + 9999) / 10000);
		assert_true(row[i].burst_ms == rank);
		assert_true(row[i].burst_bytes == 600000 * rank);
		assert_near(row[i].server_burst_rate,
		    HAND_BURSTS * 1e3 / HAND_MS, 1e-9);
		assert_true(row[i].conns_inside == 5);
		assert_true(row[i].conns_outside == 2);
		assert_true(row[i].n_bursts == HAND_BURSTS);
	}
}

static void bursts_are_counted_by_size(void **state)
{
	/* From 1, 2, 3, 4, 6, 8, 12 and 16 ms on. */
	static const double want[] = {1, 1, 1, 2, 2, 4, 4, 5};
	struct res_trial_metrics row[XP_RACK_N_SIZES];
	(void)state;
	hand_score(row, XP_RACK_N_SIZES, XP_RACK_ALONG_SIZE);
	for (size_t i = 0; i < XP_RACK_N_SIZES; i++) {
		assert_true(row[i].n_long_bursts == (i < 8 ? want[i] : 0));
		assert_true(row[i].n_wide_bursts == (i == 3 ? 20 : 0));
		assert_true(row[i].n_lossy_long == 0);
	}
}

/* --- quantiles -------------------------------------------------------------*/

/* All bursts of all racks, by the algorithms alone. */
static void find_bursts(const struct rows *x, struct algo_bursts *b)
{
	struct algo_series s = {0};
	for (uint32_t k = 0; k < N_RACKS; k++) {
		uint32_t run[N_SERVERS], n = 0;
		for (uint32_t i = 0; i < x->w.runs.n; i++)
			if (x->w.runs.host[i] / N_SERVERS == k)
				run[n++] = i;
		assert_ok(algo_series_align(&s, &x->w.runs, &x->w.samples, run,
		    n, NULL, test_err()));
		assert_ok(algo_bursts_find(&s, &xp_rack_of(&x->c)->burst, b,
		    test_err()));
	}
	algo_series_free(&s);
}

/* As many as Q of V[n] are not above X, and fewer are below. */
static void assert_quantile(const double v[], size_t n, double q, double x)
{
	size_t below = 0, not_above = 0;
	for (size_t i = 0; i < n; i++) {
		below += v[i] < x - 1e-9;
		not_above += v[i] <= x + 1e-9;
	}
	assert_true((double)not_above >= q * (double)n - 1e-6);
	assert_true((double)below < q * (double)n);
}

static void quantiles_are_those_of_all_bursts(void **state)
{
	struct rows x;
	struct algo_bursts b = {0};
	double v[4096], of_server[N_RACKS * N_SERVERS] = {0};
	(void)state;
	rows_of(&x, "quantile");
	find_bursts(&x, &b);
	assert_in_range(b.n, 100, 4096);
	assert_true(x.row[0].n_bursts == (double)b.n);
	for (size_t i = 0; i < b.n; i++) {
		v[i] = b.n_buckets[i];
		of_server[b.host[i]] += 5;
	}
	for (size_t i = 0; i < x.n; i++) {
		const double q = xp_rack_quantile(i);
		assert_true(q > 0 && q < 1);
		assert_quantile(v, b.n, q, x.row[i].burst_ms);
		assert_quantile(b.in_bytes, b.n, q, x.row[i].burst_bytes);
		assert_quantile(of_server, N_RACKS * N_SERVERS, q,
		    x.row[i].server_burst_rate);
		if (i > 0) {
			assert_true(q > xp_rack_quantile(i - 1));
			assert_true(
			    x.row[i].conns_inside >= x.row[i - 1].conns_inside);
			assert_true(x.row[i].conns_outside >=
			    x.row[i - 1].conns_outside);
		}
	}
	assert_true(x.row[0].burst_conns > 3 * x.row[0].quiet_conns);
	algo_bursts_free(&b);
	rows_close(&x);
}

static int score_life(void *arg, struct sim_err *e)
{
	struct rows *x = arg;
	return xp_rack_score(&x->w, xp_rack_of(&x->c), &x->scene, x->n, x->row,
	    e);
}

static void every_allocation_may_fail(void **state)
{
	static const char *const along[] = {"none", "quantile", "size", "rack",
	    "time"};
	struct rows x;
	(void)state;
	for (size_t i = 0; i < sizeof(along) / sizeof(along[0]); i++) {
		rows_of(&x, along[i]);
		test_each_alloc_fails(score_life, &x);
		rows_close(&x);
	}
}

/* --- specs -----------------------------------------------------------------*/

static void axes_are_as_long_as_there_are_rows(void **state)
{
	static const struct {
		const char *along, *axis;
		double first, last;
	} of[] = {
	    {"quantile", "quantile", 0.01, 0.9999},
	    {"size", "size", 1, 1024},
	    {"rack", "rank", 1, N_RACKS},
	    {"time", "t_ms", 0, 199},
	};
	struct rows x;
	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct xp_along_axes a;
		rows_of(&x, of[i].along);
		assert_ok(xp_along_init(&a, &x.c, test_err()));
		assert_int_equal(a.n, 1);
		assert_int_equal(a.n_points, x.n);
		const struct res_coord *k = &a.axis[0].coord[0];
		assert_string_equal(k->name, of[i].axis);
		assert_true(k->number[0] == of[i].first);
		assert_true(k->number[x.n - 1] == of[i].last);
		xp_along_free(&a);
		rows_close(&x);
	}
}

static void what_cannot_be_read_along_is_a_mistake(void **state)
{
	static const struct {
		const char *text, *want;
	} bad[] = {
	    {"topology: {kind: fat_tree, k: 4}\nrack: {along: rack, "
	     "quadrants: 1}\n",
		"along: rack needs a topology of kind clos"},
	    {"rack: {along: host}\n", "\"host\" is not one of"},
	    {"rack: {along: time, widths: [10ms], length: 0.005}\n",
		"no place to read a trial along"},
	    {"sweep: {grid: {rack.along: [none, size]}}\n",
		"can't change what a trial is read along"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sim_err e;
		struct xp_spec s;
		char text[512];
		snprintf(text, sizeof(text),
		    "figure: f\nplane: rack\nalgorithms: [loss_cause]\n%s",
		    bad[i].text);
		assert_int_equal(spec_load(&s, text, &e), SIM_EINVAL);
		if (!strstr(e.msg, bad[i].want))
			fail_msg("%s\nsays: %s\nwanted: %s", text, e.msg,
			    bad[i].want);
		xp_spec_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sizes_share_all_bursts),
	    cmocka_unit_test(a_size_is_in_the_last_row_that_it_reaches),
	    cmocka_unit_test(racks_are_in_order_and_add_up),
	    cmocka_unit_test(times_add_up_to_the_mean),
	    cmocka_unit_test(a_row_of_a_rack_is_that_by_hand),
	    cmocka_unit_test(quantiles_are_of_nearest_rank),
	    cmocka_unit_test(bursts_are_counted_by_size),
	    cmocka_unit_test(quantiles_are_those_of_all_bursts),
	    cmocka_unit_test(every_allocation_may_fail),
	    cmocka_unit_test(axes_are_as_long_as_there_are_rows),
	    cmocka_unit_test(what_cannot_be_read_along_is_a_mistake),
	};
	return cmocka_run_group_tests_name("experiments/rack/score", tests,
	    spec_folder_make, spec_folder_remove);
}
