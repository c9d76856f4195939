/* tests/experiments/sweep/drawn_test.c -- epochs that several points share.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A number that stays what it was after a key was changed would be the worst that
 * sharing could do. So each key that a spec may have is swept, on a spec of
 * tests/golden/ that reads it, and what a trial says that went from point to
 * point is held against trials that were made for one cell each.
 */
#include "experiments/schema/sections.h"
#include "experiments/spec/fabric.h"
#include "experiments/spec/keys.h"
#include "experiments/spec/plane.h"
#include "experiments/sweep/trial.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

#define SMALL                                                                  \
	"figure: f\ntopology: {n_pods: 2, n_tors: 4, n_t1: 3, n_t2: 2, "       \
	"n_hosts: 3}\nfaults: {count: 2, rate: 0.02}\n"

/* --- two ways to a row ---------------------------------------------------- */

static size_t row_bytes(struct xp_spec *s)
{
	struct xp_config c = {0};
	assert_ok(xp_spec_point(s, 0, &c, test_err()));
	const size_t n = s->n_along * res_row_doubles(c.n_algos);
	xp_config_free(&c);
	return n * sizeof(double);
}

/* The row of a trial that never had another cell, and what it says of its end. */
static int run_alone(struct xp_spec *s, size_t point, uint32_t run,
    double row[], struct sim_err *e)
{
	struct xp_trial *t;
	assert_ok(xp_trial_open(&t, s, test_err()));
	const int rc = xp_trial_run(t, point, run, row, e);
	xp_trial_close(t);
	return rc;
}

enum { SOME_FAILED = UINT32_MAX };

/* All points of S by one trial, run after run, are what they are alone. Returns
 * for how many cells it drew no epoch, or SOME_FAILED. */
static uint64_t check_shared(struct xp_spec *s, uint32_t n_runs,
    const char *what)
{
	const size_t bytes = row_bytes(s);
	double *got = malloc(bytes), *want = malloc(bytes);
	struct xp_trial *t;
	uint64_t n = 0;
	int failed = 0;
	assert_true(got && want);
	assert_ok(xp_trial_open(&t, s, test_err()));
	for (uint32_t run = 0; run < n_runs; run++)
		for (size_t p = 0; p < s->n_points; p++) {
			struct sim_err e = {0}, why = {0};
			const int rc = xp_trial_run(t, p, run, got, &e);
			if (run_alone(s, p, run, want, &why) != rc ||
			    strcmp(e.msg, why.msg) != 0)
				fail_msg("%s: point %zu: \"%s\", alone \"%s\"",
				    what, p, e.msg, why.msg);
			n++;
			failed |= rc < 0;
			if (rc == 0 && memcmp(got, want, bytes) != 0)
				fail_msg("%s: point %zu run %u differs", what,
				    p, run);
		}
	n -= xp_trial_n_drawn(t);
	xp_trial_close(t);
	free(got);
	free(want);
	return failed ? SOME_FAILED : n;
}

/* --- every key ------------------------------------------------------------ */

struct key {
	char path[128], map[64];
	const char *owner; /* "pingmesh", whose section it is; "" */
	struct sim_field field;
};

struct keys {
	size_t n;
	struct key key[1024];
};

static void add_key(void *arg, const struct xp_page *p, const char *map,
    const struct sim_field *field, const struct xp_own_key *own)
{
	struct keys *all = arg;
	struct key *k = &all->key[all->n];
	if (own || !xp_keys_is_config(*p->name ? p->name : field->name))
		return;
	char within[64];
	snprintf(within, sizeof(within), "%s%s%s%s", p->name,
	    *p->name ? "." : "", map, *map ? "." : "");
	snprintf(k->path, sizeof(k->path), "%s%s", within, field->name);
	strcpy(k->map, within);
	k->owner = p->owner ? p->name : "";
	k->field = *field;
	assert_true(++all->n < 1024);
}

static struct keys *all_keys(void)
{
	struct keys *all = calloc(1, sizeof(*all));
	struct xp_page p;
	assert_non_null(all);
	for (size_t i = 0; xp_page_at(i, &p); i++)
		if (xp_page_is_of_point(&p))
			xp_page_visit(&p, add_key, all);
	assert_in_range(all->n, 200, 1023);
	return all;
}

/* The drawing of the second of two points that PATH makes. */
static size_t drawing_of(const char *path)
{
	struct xp_sweep_key key = {path, NULL};
	struct xp_axis axis = {.n = 2, .n_keys = 1, .key = &key};
	const struct xp_spec s = {.n_axes = 1, .n_points = 2, .axis = &axis};
	return xp_spec_drawing(&s, 1);
}

static void only_parameters_and_labels_are_not_drawn_by(void **state)
{
	struct keys *all = all_keys();
	static const char *const others[] = {"faults", "faults.0.rate",
	    "fabric.netns.faults", "algorithms", "algorithms.0",
	    "algorithms.0.name", "algorithms.1.exec", "algorithms.1.plugin",
	    "labels", NULL};
	(void)state;
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->key[i].path, "label") != 0 &&
		    drawing_of(all->key[i].path) != 1)
			fail_msg("%s", all->key[i].path);
	for (size_t i = 0; others[i]; i++)
		assert_int_equal(drawing_of(others[i]), 1);
	for (size_t i = 0; algo_registry[i]; i++)
		for (const struct sim_field *f = algo_registry[i]->params;
		     f->name; f++) {
			char path[128];
			snprintf(path, sizeof(path), "algorithms.12.%s",
			    f->name);
			assert_int_equal(drawing_of(path), 0);
		}
	assert_int_equal(drawing_of("label"), 0);
	free(all);
}

static void points_of_a_drawing_have_all_other_values_in_common(void **state)
{
	static const size_t want[] = {0, 1, 0, 1, 0, 1, 6, 7, 6, 7, 6, 7};
	struct xp_spec s;
	(void)state;
	spec_open(&s,
	    SMALL "algorithms: [vote, {name: alg1}]\nsweep: {grid: "
		  "{faults.rate: [0.1, 0.2], algorithms.1.threshold: [0.1, "
		  "0.2, 0.3]}, zip: "
		  "{label: [a, b], traffic.conns: [10, 20]}}\n");
	assert_int_equal(s.n_points, sizeof(want) / sizeof(want[0]));
	for (size_t p = 0; p < s.n_points; p++)
		assert_int_equal(xp_spec_drawing(&s, p), want[p]);
	xp_spec_free(&s);
}

/* --- every key swept ------------------------------------------------------ */

/* Values that F might take, as they are written. */
static size_t values_of(const struct sim_field *f, const char *now,
    char value[16][64])
{
	static const char *const numbers[] = {"1", "2", "3", "0", "4", "8",
	    "0.5", "0.25", "0.01", "20", "100", "1e3"};
	size_t n = 0;
	switch (f->type) {
	case SIM_F_BOOL:
		strcpy(value[0], strcmp(now, "true") ? "true" : "false");
		return 1;
	case SIM_F_ENUM:
	case SIM_F_SET:
		for (size_t i = 0; f->names[i] && n < 16; i++)
			if (strcmp(f->names[i], now) != 0)
				snprintf(value[n++], 64,
				    f->type == SIM_F_SET ? "[%s]" : "%s",
				    f->names[i]);
		return n;
	case SIM_F_STR:
		return 0;
	default:
		if (strtod(now, NULL) > 0) {
			snprintf(value[n++], 64, "%g", strtod(now, NULL) * 2);
			snprintf(value[n++], 64, "%g", strtod(now, NULL) / 2);
		}
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]);
		     i++)
			if (strtod(numbers[i], NULL) != strtod(now, NULL))
				strcpy(value[n++], numbers[i]);
		return n;
	}
}

/* What a key needs to count, "dst=skewed" or "rate!=0", as an assignment. */
static int condition_of(const struct key *k, char set[256])
{
	const char *when = k->field.when;
	const char *is = when ? strchr(when, '=') : NULL;
	if (!is)
		return 0;
	const int not = is[-1] == '!';
	snprintf(set, 256, "%s%.*s=%.*s", k->map, (int)(is - when - not ), when,
	    not ? 1 : (int)strcspn(is + 1, "|"), not ? "1" : is + 1);
	return 1;
}

/* Load PATH with key K swept from what it is there to VALUE. */
static int load_swept(struct xp_spec *s, const char *path, const struct key *k,
    const char *now, const char *value)
{
	char sweep[512], when[256];
	const char *set[] = {sweep, "runs=1", when};
	struct sim_err e;
	snprintf(sweep, sizeof(sweep), "sweep={grid: {%s: [%s, %s]}}", k->path,
	    now, value);
	const int rc = xp_spec_load(s, path, 0, set,
	    2 + (size_t)condition_of(k, when), &e);
	/* A real network is none of a test of numbers. */
	const int real = rc == 0 && s->is_real;
	if (rc < 0 || real)
		xp_spec_free(s);
	return rc == 0 && !real;
}

/* The text of a spec's key, or its default. Returns 0 if it is no scalar. */
static int value_now(const struct xp_spec *s, const struct key *k, char now[64])
{
	const struct sim_yaml_node *node = xp_path_find(s->yaml.root, k->path);
	const char *text = node ? node->text : k->field.def;
	if (node && node->kind != SIM_YAML_SCALAR)
		return 0;
	snprintf(now, 64, "%s", text ? text : "");
	return text && *text;
}

/* Keys of sections that planes have to themselves are swept where a cell takes no
 * time; of all others it is known that a drawing is of one value of them. */
static const char *const specs[] = {"tests/golden/exact.yaml",
    "tests/golden/skip.yaml", "tests/golden/traffic.yaml",
    "tests/golden/congestion.yaml", "tests/golden/tcp.yaml",
    "tests/golden/meshes.yaml", "tests/golden/region.yaml",
    "tests/golden/vote_filtered.yaml", "tests/golden/agents.yaml",
    "tests/golden/telemetry.yaml", "tests/golden/telemetry_late.yaml",
    "tests/golden/telemetry_early.yaml", "tests/golden/telemetry_file.yaml",
    "tests/golden/telemetry_told.yaml", NULL};

/* Sweep K on the first of the specs that lets it vary. */
static int sweep_key(const struct key *k, const struct xp_spec base[])
{
	char value[16][64], now[64];
	struct xp_spec s;
	for (size_t i = 0; specs[i]; i++) {
		if (*k->owner && !sim_yaml_get(base[i].yaml.root, k->owner))
			continue;
		if (!value_now(&base[i], k, now))
			continue;
		const size_t n = values_of(&k->field, now, value);
		for (size_t v = 0; v < n; v++) {
			if (!load_swept(&s, specs[i], k, now, value[v]))
				continue;
			const uint64_t saved = check_shared(&s, 1, k->path);
			xp_spec_free(&s);
			if (saved == SOME_FAILED)
				continue;
			assert_int_equal(saved, 0);
			return 1;
		}
	}
	return 0;
}

/* Text; lists that must be of a length; and of faults what planes have that carry
 * packets. */
static const char *const not_swept[] = {"label", "fabric", "topology.file",
    "topology.sites", "noise.classes", "telemetry.kinds", "faults.kind",
    "faults.entries", "faults.mode", "faults.prefix", "faults.flows",
    "faults.turn", "faults.left", "faults.weight", "faults.hash", "faults.bits",
    "faults.duty", "faults.depth", "faults.episode", "faults.mark",
    "faults.again", "faults.every", NULL};

static void no_key_of_a_spec_leaves_old_numbers(void **state)
{
	struct xp_spec base[sizeof(specs) / sizeof(specs[0])];
	struct keys *all = all_keys();
	(void)state;
	for (size_t i = 0; specs[i]; i++)
		assert_ok(
		    xp_spec_load(&base[i], specs[i], 0, NULL, 0, test_err()));
	for (size_t i = 0; i < all->n; i++) {
		const struct key *k = &all->key[i];
		if (*k->owner && strcmp(k->owner, "agents") != 0 &&
		    strcmp(k->owner, "telemetry") != 0)
			continue;
		if (!sweep_key(k, base) &&
		    !not_swept[sim_word_find(not_swept, k->path)])
			fail_msg("%s was not swept", k->path);
	}
	for (size_t i = 0; specs[i]; i++)
		xp_spec_free(&base[i]);
	free(all);
}

/* --- every parameter ------------------------------------------------------ */

/* The algorithms of a spec as maps, which a sweep can reach into. */
static void as_maps(const struct xp_config *c, char set[1024])
{
	struct sim_text t = {set, 1024, 0};
	sim_put(&t, "algorithms=[");
	for (size_t i = 0; i < c->n_algos; i++)
		sim_put(&t, "%s{name: %s, label: a%zu}", i ? ", " : "",
		    c->algo[i].ops->name, i);
	sim_put(&t, "]");
}

/* Load PATH with parameter F of its algorithm I swept. */
static int load_parameter(struct xp_spec *s, const char *path,
    const struct xp_config *c, size_t i, const struct sim_field *f)
{
	char algorithms[1024], sweep[256], value[16][64];
	const char *set[] = {algorithms, "runs=1", sweep};
	struct sim_err e;
	as_maps(c, algorithms);
	const size_t n = f->def ? values_of(f, f->def, value) : 0;
	for (size_t v = 0; v < n; v++) {
		snprintf(sweep, sizeof(sweep),
		    "sweep={grid: {algorithms.%zu.%s: [%s, %s]}}", i, f->name,
		    f->def, value[v]);
		if (xp_spec_load(s, path, 0, set, 3, &e) == 0)
			return 1;
		xp_spec_free(s);
	}
	return 0;
}

/* Sweep up to MOST parameters. Returns how many. */
static size_t sweep_parameters(const char *path, size_t most)
{
	struct xp_config c = {0};
	struct xp_spec base, s;
	size_t n = 0;
	assert_ok(xp_spec_load(&base, path, 0, NULL, 0, test_err()));
	assert_ok(xp_spec_point(&base, 0, &c, test_err()));
	const int again = xp_plane_of(&c)->again != NULL;
	for (size_t i = 0; i < c.n_algos; i++) {
		const struct sim_field *f = c.algo[i].ops->params;
		for (; f->name && n < most; f++) {
			if (!load_parameter(&s, path, &c, i, f))
				continue;
			const uint64_t saved = check_shared(&s, 1, path);
			xp_spec_free(&s);
			if (saved == SOME_FAILED)
				continue;
			if (saved != (again ? 1 : 0))
				fail_msg("%s: %s of algorithm %zu saved %u",
				    path, f->name, i, (unsigned)saved);
			n++;
		}
	}
	xp_config_free(&c);
	xp_spec_free(&base);
	return n;
}

static void parameters_of_an_epoch_are_asked_after_it_is_drawn_once(
    void **state)
{
	static const char *const all[] = {"tests/golden/exact.yaml",
	    "tests/golden/vote_filtered.yaml", "tests/golden/telemetry.yaml",
	    "tests/golden/telemetry_early.yaml", NULL};
	static const char *const one[] = {"tests/golden/skip.yaml",
	    "tests/golden/agents.yaml", "tests/golden/vigil_matlab.yaml",
	    "tests/golden/everflow.yaml", "tests/golden/planner.yaml",
	    "tests/golden/rack.yaml", "tests/golden/pingmesh_trace.yaml",
	    "tests/golden/pingmesh_bulk.yaml", NULL};
	(void)state;
	for (size_t i = 0; all[i]; i++)
		assert_true(sweep_parameters(all[i], 64) > 0);
	for (size_t i = 0; one[i]; i++)
		assert_true(sweep_parameters(one[i], 2) > 0);
}

/* What is not common, or is asked for twice, is drawn for itself. */
static void only_the_same_random_numbers_are_shared(void **state)
{
	static const struct {
		const char *text;
		uint64_t saved;
	} cases[] = {
	    {"", 8},
	    {"common: false\n", 0},
	    {"plane: exact\n", 8},
	    {"plane: pingmesh\n", 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int pingmesh = strstr(cases[i].text, "pingmesh") != NULL;
		struct xp_spec s;
		char text[1024];
		snprintf(text, sizeof(text),
		    SMALL "%salgorithms: [{name: %s}]\nsweep: {grid: "
			  "{label: [a, b, c, d, e]}}\n",
		    cases[i].text, pingmesh ? "blackhole" : "alg1");
		spec_open(&s, text);
		assert_int_equal(check_shared(&s, 2, cases[i].text),
		    cases[i].saved);
		xp_spec_free(&s);
	}
}

/* More points than have their algorithms open at a time, in any order. */
static void an_order_of_cells_changes_nothing(void **state)
{
	enum { POINTS = 2 * (XP_TRIAL_TOGETHER + 3), CELLS = 400 };
	char text[1024];
	double got[RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS],
	    want[RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS];
	struct sim_text t = {text, sizeof(text), 0};
	struct xp_trial *used;
	struct xp_spec s;
	struct sim_rng r;
	(void)state;
	sim_put(&t,
	    SMALL "algorithms: [{name: alg1, tie: random}]\nsweep: {"
		  "grid: {algorithms.0.threshold: [0.001");
	for (unsigned i = 1; i < POINTS / 2; i++)
		sim_put(&t, ", %g", 0.02 * i);
	sim_put(&t, "], traffic.conns: [10, 20]}}\n");
	spec_open(&s, text);
	assert_int_equal(s.n_points, POINTS);
	assert_ok(xp_trial_open(&used, &s, test_err()));
	test_rng(&r, 1);
	for (unsigned n = 0; n < CELLS; n++) {
		const size_t p = sim_rng_below(&r, POINTS);
		const uint32_t run = sim_rng_below(&r, 2);
		assert_ok(xp_trial_run(used, p, run, got, test_err()));
		assert_ok(run_alone(&s, p, run, want, test_err()));
		if (memcmp(got, want, sizeof(want)) != 0)
			fail_msg("seed %llu: cell %u, point %zu run %u",
			    (unsigned long long)test_seed(), n, p, run);
	}
	assert_in_range(xp_trial_n_drawn(used), CELLS / 2, CELLS - 1);
	xp_trial_close(used);
	xp_spec_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(only_parameters_and_labels_are_not_drawn_by),
	    cmocka_unit_test(
		points_of_a_drawing_have_all_other_values_in_common),
	    cmocka_unit_test(no_key_of_a_spec_leaves_old_numbers),
	    cmocka_unit_test(
		parameters_of_an_epoch_are_asked_after_it_is_drawn_once),
	    cmocka_unit_test(only_the_same_random_numbers_are_shared),
	    cmocka_unit_test(an_order_of_cells_changes_nothing),
	};
	return cmocka_run_group_tests_name("experiments/sweep drawn", tests,
	    spec_folder_make, spec_folder_remove);
}
