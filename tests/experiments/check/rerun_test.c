/* tests/experiments/check/rerun_test.c -- somebody's cells against ours.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Specs are real ones. What a results file holds and what a sweep gives are fakes,
 * which the linker takes before the library's.
 */
#include "experiments/check/rerun.h"

#include <unistd.h>

#include "experiments/sweep/run.h"
#include "results/h5.h"
#include "results/provenance.h"
#include "sim/text.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

/* Three places of two points each, and four runs: twelve cells. */
enum { N_PLACES = 3, N_ALONG = 2, N_RUNS = 4, N_CELLS = 12, MAX_CHANGES = 4 };
#define SPEC_OF(runs)                                                          \
	"figure: f\nalgorithms: [vote]\ntopology: {n_pods: 2, n_tors: 2, "     \
	"n_t1: 2, n_t2: 2, n_hosts: 2}\nruns: " #runs "\n"                     \
	"smoke: {runs: 2}\n"                                                   \
	"sweep: {grid: {faults.count: [1, 2, 3], traffic.conns: [5, 6]}}\n"
#define SPEC SPEC_OF(4)

/* Of cell 0 on: a number that is another one, or a status. */
struct change {
	size_t cell, along;
	double x;
	enum res_status status; /* RES_NOT_RUN: the number alone */
};

static struct world {
	const char *spec; /* what results are of */
	const char *set;
	int smoke;
	struct change was[MAX_CHANGES], is[MAX_CHANGES];
	/* Theirs; NULL: as ours are. */
	const char *version, *build, *libraries, *overrides;
	void (*forge)(struct res_cube *c); /* theirs, at last; may be NULL */
	int stops;

	/* What came of it. */
	unsigned n_sweeps, n_told;
	struct xp_run asked;
} world;

/* Cell, along, and column tell every number; NaN is what is not measured. */
static void fill_cells(struct res_cube *c, const struct change *change)
{
	double row[N_ALONG * (RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS)];
	assert_int_equal(c->n_points % N_ALONG, 0);
	c->n_along = N_ALONG;
	c->cell_doubles = N_ALONG * c->row_doubles;
	assert_int_equal(c->cell_doubles, sizeof(row) / sizeof(row[0]));
	for (size_t cell = 0; cell < res_cube_cells(c); cell++) {
		enum res_status status = RES_DONE;
		for (size_t k = 0; k < c->cell_doubles; k++)
			row[k] = NAN;
		for (size_t i = 0; i < N_ALONG; i++) {
			row[i * c->row_doubles + RES_TRIAL_n_flows] =
			    (double)(100 + 10 * cell + i);
			row[(i + 1) * c->row_doubles - 1] = 1e9;
		}
		for (size_t k = 0; k < MAX_CHANGES; k++) {
			const struct change *x = &change[k];
			if (x->cell != cell || (x->x == 0 && !x->status))
				continue;
			if (x->status)
				status = x->status;
			else
				row[(x->along + 1) * c->row_doubles - 1] = x->x;
		}
		res_cube_put(c, cell / c->n_runs, cell % c->n_runs, status,
		    row);
	}
}

int xp_run_sweep(const struct xp_run *r, struct res_cube *cube,
    struct sim_err *e)
{
	int rc = xp_spec_cube(r->spec, 0, 1, cube, e);
	world.n_sweeps++;
	world.asked = *r;
	r->report->stopped = world.stops;
	if (rc == 0)
		fill_cells(cube, world.is);
	return rc;
}

static void put_text(char **to, const char *text)
{
	free(*to);
	*to = NULL;
	assert_ok(sim_dup(to, text, test_err()));
}

/* Their results, f.h5. */
int res_h5_read(struct res_cube *c, const char *path, struct sim_err *e)
{
	struct xp_spec s;
	assert_string_equal(path, "f.h5");
	spec_write("theirs.yaml", world.spec ? world.spec : SPEC);
	assert_ok(xp_spec_load(&s, spec_path("theirs.yaml"), world.smoke,
	    &world.set, world.set != NULL, e));
	assert_ok(xp_spec_cube(&s, 0, 1, c, e));
	fill_cells(c, world.was);
	if (world.version)
		put_text(&c->version, world.version);
	if (world.build)
		put_text(&c->build, world.build);
	if (world.libraries)
		put_text(&c->libraries, world.libraries);
	if (world.overrides)
		put_text(&c->overrides, world.overrides);
	if (world.forge)
		world.forge(c);
	xp_spec_free(&s);
	return 0;
}

static void rerun_tell(void *arg, const char *sentence)
{
	assert_int_not_equal(*sentence, 0);
	++*(unsigned *)arg;
}

static int again(struct xp_rerun *r, uint32_t i, uint32_t n, struct sim_err *e)
{
	*r = (struct xp_rerun){.results = "f.h5",
	    .spec = spec_path("f.yaml"),
	    .out = "out.h5",
	    .shard_i = i,
	    .shard_n = n,
	    .n_workers = 3,
	    .differ = rerun_tell,
	    .arg = &world.n_told};
	world.n_sweeps = world.n_told = 0;
	return xp_rerun(r, e);
}

/* Of all cells, of W, where the spec is as it was. */
static struct xp_rerun compare(const struct world *w)
{
	struct xp_rerun r;
	world = *w;
	spec_write("f.yaml", SPEC);
	assert_ok(again(&r, 0, 1, test_err()));
	return r;
}

static void assert_counts(const struct xp_rerun *r, uint64_t cells,
    uint64_t same, uint64_t near)
{
	assert_int_equal(r->n_cells, cells);
	assert_int_equal(r->n_same, same);
	assert_int_equal(r->n_near, near);
}

static void what_is_the_same_is_so_to_the_last_bit(void **state)
{
	const struct xp_rerun r = compare(&(struct world){0});
	(void)state;
	assert_counts(&r, N_CELLS, N_CELLS, N_CELLS);
	assert_int_equal(r.demand, XP_SAME_BITS);
	assert_false(r.is_few || r.is_real);
	assert_int_equal(r.numbers.n_compared, 0);
	assert_true(xp_rerun_is_good(&r));
	assert_int_equal(world.n_sweeps, 1);
	assert_int_equal(world.n_told, 0);
	assert_string_equal(world.asked.out, "out.h5");
	assert_int_equal(world.asked.n_workers, 3);
	assert_int_equal(world.asked.shard_i, 0);
	assert_int_equal(world.asked.shard_n, 1);
	assert_int_equal(world.asked.fresh, 1);
	assert_null(world.asked.until);
	assert_null(world.asked.progress);
}

/* Cells 1, 4, 7 and 10: one of them differs, and one beside them. */
static void a_sample_is_every_nth_cell(void **state)
{
	struct xp_rerun r;
	(void)state;
	world = (struct world){
	    .was = {{.cell = 4, .along = 1, .x = 1}, {.cell = 5, .x = 2}}};
	spec_write("f.yaml", SPEC);
	assert_ok(again(&r, 1, 3, test_err()));
	assert_counts(&r, 4, 3, 3);
	assert_int_equal(world.asked.shard_i, 1);
	assert_int_equal(world.asked.shard_n, 3);
	assert_false(xp_rerun_is_good(&r));
	assert_ok(again(&r, 0, 3, test_err()));
	assert_counts(&r, 4, 4, 4);
	assert_ok(again(&r, 11, 12, test_err()));
	assert_counts(&r, 1, 1, 1);
}

static void lose_cell_3(struct res_cube *c)
{
	for (size_t i = 0; i < N_ALONG; i++)
		c->status[i * N_RUNS + 3] = RES_NOT_RUN;
}

/* What partial results lack is not compared, whatever ours are there. */
static void what_was_not_run_is_left_out(void **state)
{
	const struct xp_rerun r = compare(
	    &(struct world){.is = {{.cell = 3, .x = 5}}, .forge = lose_cell_3});
	(void)state;
	assert_counts(&r, N_CELLS - 1, N_CELLS - 1, N_CELLS - 1);
}

/* A billion and one less differ by 1e-9 of the greater one, two less by more,
 * whichever of them is the greater; not measured is like itself alone. */
static void nine_digits_are_a_share_of_the_greater_number(void **state)
{
	struct xp_rerun r;
	(void)state;
	r = compare(&(struct world){.was = {{.cell = 2, .x = 1e9 - 1},
					{.cell = 11, .along = 1, .x = 1e9 - 2},
					{.cell = 7, .x = -1e9}}});
	assert_counts(&r, N_CELLS, N_CELLS - 3, N_CELLS - 2);
	r = compare(&(struct world){.was = {{.cell = 2, .x = 1e9 + 1},
					{.cell = 3, .along = 1, .x = 1e9 + 2}},
	    .is = {{.cell = 0, .x = 1e9 - 1}, {.cell = 1, .x = 1e9 - 2}}});
	assert_counts(&r, N_CELLS, N_CELLS - 4, N_CELLS - 2);
	r = compare(
	    &(struct world){.was = {{.cell = 0, .x = -1e9},
				{.cell = 1, .x = -1e9}, {.cell = 2, .x = NAN},
				{.cell = 3, .x = NAN}},
		.is = {{.cell = 0, .x = -1e9 + 1}, {.cell = 1, .x = -1e9 + 2},
		    {.cell = 3, .x = NAN}, {.cell = 4, .along = 1, .x = NAN}}});
	assert_counts(&r, N_CELLS, N_CELLS - 4, N_CELLS - 3);
}

/* The first number of a cell that is far decides, though later ones are not. */
static void the_greatest_difference_of_a_cell_counts(void **state)
{
	const struct xp_rerun r = compare(
	    &(struct world){.was = {{.cell = 6, .x = 1},
				{.cell = 6, .along = 1, .x = 1e9 - 1}}});
	(void)state;
	assert_counts(&r, N_CELLS, N_CELLS - 1, N_CELLS - 1);
}

static void what_is_demanded_hangs_on_what_made_it(void **state)
{
	const int n = (int)strcspn(res_version(), " ");
	char longer[128], alone[128];
	snprintf(longer, sizeof(longer), "%.*s1 (x)", n, res_version());
	snprintf(alone, sizeof(alone), "%.*s (x)", n, res_version());
	const struct {
		const char *version, *build, *libraries;
		enum xp_demand demand;
	} cases[] = {
	    {NULL, NULL, NULL, XP_SAME_BITS},
	    {NULL, "another", NULL, XP_NINE_DIGITS},
	    {NULL, NULL, "another", XP_BY_Z},
	    {"another", NULL, NULL, XP_BY_Z},
	    /* Of a version the first word counts: all of it, and it alone. */
	    {alone, NULL, NULL, XP_SAME_BITS},
	    {longer, NULL, NULL, XP_BY_Z},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct xp_rerun r =
		    compare(&(struct world){.version = cases[i].version,
			.build = cases[i].build,
			.libraries = cases[i].libraries});
		assert_int_equal(r.demand, cases[i].demand);
	}
}

static void what_is_far_of_another_version_is_tested(void **state)
{
	struct xp_rerun r = compare(&(struct world){.libraries = "another",
	    .was = {{.cell = 0, .x = 1e9 - 1}}});
	(void)state;
	assert_counts(&r, N_CELLS, N_CELLS - 1, N_CELLS);
	assert_int_equal(r.demand, XP_BY_Z);
	assert_int_equal(r.numbers.n_compared, 0);
	assert_false(r.is_few);
	r = compare(&(struct world){.libraries = "another",
	    .was = {{.cell = 0, .x = 1e9 - 5}}});
	assert_counts(&r, N_CELLS, N_CELLS - 1, N_CELLS - 1);
	assert_true(r.numbers.n_compared > 0);
	assert_int_equal(r.numbers.n_failed, 0);
	assert_true(r.is_few);
	assert_true(xp_rerun_is_good(&r));
	/* Not so of what is demanded by bits or digits. */
	r = compare(&(struct world){.build = "another",
	    .was = {{.cell = 0, .x = 1e9 - 5}}});
	assert_int_equal(r.numbers.n_compared, 0);
	assert_false(r.is_few);
	assert_false(xp_rerun_is_good(&r));
}

/* Fourteen runs of each place are enough, and one cell less is not. */
static void few_are_less_than_fourteen_cells_a_place(void **state)
{
	struct xp_rerun r;
	(void)state;
	world = (struct world){.spec = SPEC_OF(14),
	    .libraries = "another",
	    .was = {{.cell = 1, .x = 5}}};
	spec_write("f.yaml", SPEC_OF(14));
	assert_ok(again(&r, 0, 1, test_err()));
	assert_counts(&r, 42, 41, 41);
	assert_false(r.is_few);
	world.was[1] = (struct change){.cell = 2, .status = RES_FAILED};
	world.is[1] = world.was[1];
	assert_ok(again(&r, 0, 1, test_err()));
	assert_counts(&r, 42, 41, 41);
	assert_false(r.is_few);
	assert_ok(again(&r, 1, 2, test_err()));
	assert_counts(&r, 21, 20, 20);
	assert_true(r.is_few);
}

static void multiply_flows(struct res_cube *c)
{
	for (size_t i = 0; i < c->n_rows; i++)
		res_columns_put(&c->rows, i, RES_TRIAL_n_flows,
		    1e6 + (double)(i % 2));
}

static void numbers_that_differ_by_the_test_are_told(void **state)
{
	struct xp_rerun r;
	(void)state;
	world = (struct world){.spec = SPEC_OF(14),
	    .libraries = "another",
	    .forge = multiply_flows};
	spec_write("f.yaml", SPEC_OF(14));
	assert_ok(again(&r, 0, 1, test_err()));
	assert_counts(&r, 42, 0, 0);
	assert_true(r.numbers.n_failed > 0);
	assert_int_equal(world.n_told, r.numbers.n_failed);
	assert_false(xp_rerun_is_good(&r));
}

static void a_status_of_its_own_is_told_by_cell(void **state)
{
	static const struct change fails = {.cell = 9, .status = RES_FAILED},
				   crashes = {.cell = 9, .status = RES_CRASHED};
	struct xp_rerun r;
	struct sim_err e;
	(void)state;
	spec_write("f.yaml", SPEC);
	world = (struct world){.was = {fails}};
	assert_int_equal(again(&r, 0, 1, &e), SIM_EMISMATCH);
	assert_string_equal(e.msg, "cell 9 (point 4, run 1) succeeds here.");
	world.is[0] = crashes;
	assert_int_equal(again(&r, 0, 1, &e), SIM_EMISMATCH);
	assert_string_equal(e.msg, "cell 9 (point 4, run 1) fails here.");
	world.is[0] = fails;
	assert_ok(again(&r, 0, 1, test_err()));
	assert_counts(&r, N_CELLS, N_CELLS, N_CELLS);
	assert_int_equal(again(&r, 0, 1, &e), 0);
	world = (struct world){.is = {fails}};
	assert_int_equal(again(&r, 0, 1, &e), SIM_EMISMATCH);
	assert_string_equal(e.msg, "cell 9 (point 4, run 1) fails here.");
	assert_ok(again(&r, 0, 2, test_err()));
	assert_counts(&r, N_CELLS / 2, N_CELLS / 2, N_CELLS / 2);
}

/* Nothing is run of what is not the same sweep. */
static void another_spec_is_refused(void **state)
{
	struct xp_rerun r;
	struct sim_err e;
	(void)state;
	world = (struct world){0};
	spec_write("f.yaml", SPEC "\n");
	assert_int_equal(again(&r, 0, 1, &e), SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "its spec is not the one that the results hold.");
	spec_write("f.yaml", SPEC_OF(5));
	assert_int_equal(again(&r, 0, 1, &e), SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "its spec is not the one that the results hold.");
	spec_write("f.yaml", SPEC);
	world.overrides = "algorithm mine fnv 0";
	assert_int_equal(again(&r, 0, 1, &e), SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "algorithm mine is a program or plug-in, which is not started to "
	    "look at results.");
	world.overrides = "topology.file x.graphml fnv 0";
	assert_int_equal(again(&r, 0, 1, &e), SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "its overrides are not those that the results hold.");
	world.overrides = "--smoke\n--smoke";
	assert_int_equal(again(&r, 0, 1, &e), SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "its overrides are not those that the results hold.");
	assert_int_equal(world.n_sweeps, 0);
}

static void overrides_are_put_again(void **state)
{
	struct xp_rerun r;
	(void)state;
	spec_write("f.yaml", SPEC);
	world = (struct world){.smoke = 1};
	assert_ok(again(&r, 0, 1, test_err()));
	assert_counts(&r, 6, 6, 6);
	world = (struct world){.set = "runs=3"};
	assert_ok(again(&r, 0, 1, test_err()));
	assert_counts(&r, 9, 9, 9);
	world = (struct world){.set = "runs=3", .smoke = 1};
	assert_ok(again(&r, 0, 1, test_err()));
	assert_counts(&r, 9, 9, 9);
}

/* Its sum is an override, and is no key of the spec. */
static void a_network_of_a_file_is_read_again(void **state)
{
	struct xp_rerun r;
	struct sim_err e;
	char spec[4096], folder[2048];
	(void)state;
	assert_non_null(getcwd(folder, sizeof(folder)));
	snprintf(spec, sizeof(spec),
	    "figure: f\nalgorithms: [vote]\ntopology: {kind: graphml, file: "
	    "\"%s/tests/data/jellyfish.graphml\"}\nruns: 4\n"
	    "sweep: {grid: {faults.count: [1, 2, 3], traffic.conns: [5, 6]}}\n",
	    folder);
	world = (struct world){.spec = spec};
	spec_write("f.yaml", spec);
	assert_ok(again(&r, 0, 1, test_err()));
	assert_counts(&r, 12, 12, 12);
	world.overrides = "topology.file tests/data/jellyfish.graphml fnv 0";
	assert_int_equal(again(&r, 0, 1, &e), SIM_EMISMATCH);
}

static void forge_spec(struct res_cube *c)
{
	put_text(&c->spec, SPEC);
	c->spec_bytes = strlen(SPEC);
}

/* As of a forged file, whose spec says another number of runs than it has. */
static void another_shape_is_refused_with_its_numbers(void **state)
{
	struct xp_rerun r;
	struct sim_err e;
	(void)state;
	world = (struct world){.spec = SPEC_OF(5), .forge = forge_spec};
	spec_write("f.yaml", SPEC);
	assert_int_equal(again(&r, 0, 1, &e), SIM_EMISMATCH);
	assert_string_equal(e.msg,
	    "the spec has 6 points, 4 runs and 1 algorithms here, the results "
	    "have 6, 5 and 1.");
}

static void a_sweep_that_was_stopped_compares_nothing(void **state)
{
	struct xp_rerun r;
	struct sim_err e;
	(void)state;
	world = (struct world){.stops = 1};
	spec_write("f.yaml", SPEC);
	assert_int_equal(again(&r, 0, 1, &e), SIM_EIO);
	assert_string_equal(e.msg, "stopped.");
	assert_counts(&r, 0, 0, 0);
}

static void a_kernels_network_is_not_run(void **state)
{
	static const char spec[] = "figure: f\nplane: agents\nfabric: netns\n"
				   "algorithms: [vote]\nruns: 2\n"
				   "topology: {n_pods: 2, n_tors: 1, n_t1: 1, "
				   "n_t2: 1, n_hosts: 1}\n"
				   "sweep: {grid: {faults.count: [1, 2]}}\n";
	struct xp_rerun r;
	(void)state;
	world = (struct world){.spec = spec};
	spec_write("f.yaml", spec);
	assert_ok(again(&r, 0, 1, test_err()));
	assert_true(r.is_real && xp_rerun_is_good(&r));
	assert_int_equal(world.n_sweeps, 0);
}

static void what_is_good_is_what_was_demanded(void **state)
{
	static const struct {
		enum xp_demand demand;
		uint64_t same, near;
		size_t failed;
		int good;
	} cases[] = {
	    {XP_SAME_BITS, 9, 9, 0, 1},
	    {XP_SAME_BITS, 8, 9, 0, 0},
	    {XP_NINE_DIGITS, 0, 9, 0, 1},
	    {XP_NINE_DIGITS, 8, 8, 0, 0},
	    {XP_BY_Z, 0, 9, 1, 1},
	    {XP_BY_Z, 0, 8, 0, 1},
	    {XP_BY_Z, 8, 8, 1, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct xp_rerun r = {.demand = cases[i].demand,
		    .n_cells = 9,
		    .n_same = cases[i].same,
		    .n_near = cases[i].near,
		    .numbers.n_failed = cases[i].failed};
		assert_int_equal(xp_rerun_is_good(&r), cases[i].good);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_the_same_is_so_to_the_last_bit),
	    cmocka_unit_test(a_sample_is_every_nth_cell),
	    cmocka_unit_test(what_was_not_run_is_left_out),
	    cmocka_unit_test(nine_digits_are_a_share_of_the_greater_number),
	    cmocka_unit_test(the_greatest_difference_of_a_cell_counts),
	    cmocka_unit_test(what_is_demanded_hangs_on_what_made_it),
	    cmocka_unit_test(what_is_far_of_another_version_is_tested),
	    cmocka_unit_test(few_are_less_than_fourteen_cells_a_place),
	    cmocka_unit_test(numbers_that_differ_by_the_test_are_told),
	    cmocka_unit_test(a_status_of_its_own_is_told_by_cell),
	    cmocka_unit_test(another_spec_is_refused),
	    cmocka_unit_test(overrides_are_put_again),
	    cmocka_unit_test(a_network_of_a_file_is_read_again),
	    cmocka_unit_test(another_shape_is_refused_with_its_numbers),
	    cmocka_unit_test(a_sweep_that_was_stopped_compares_nothing),
	    cmocka_unit_test(a_kernels_network_is_not_run),
	    cmocka_unit_test(what_is_good_is_what_was_demanded),
	};
	return cmocka_run_group_tests_name("experiments/check/rerun", tests,
	    spec_folder_make, spec_folder_remove);
}
