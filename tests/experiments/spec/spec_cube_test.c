/* tests/experiments/spec/spec_cube_test.c -- cubes of sweeps: axes, help.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <unistd.h>

#include "experiments/spec/spec.h"
#include "tests/rigs/spec_file.h"
#include "tests/test.h"

#define HEAD "figure: f\nalgorithms: [vote]\n"
#define SMALL                                                                  \
	HEAD "topology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2, n_hosts: "    \
	     "2}\n"

/* --- cubes -------------------------------------------------------------- */

static void cube_of(const char *text, struct res_cube *c)
{
	struct xp_spec s;
	spec_open(&s, text);
	assert_ok(xp_spec_cube(&s, 0, 1, c, test_err()));
	xp_spec_free(&s);
}

static void a_cube_has_coordinates_with_units(void **state)
{
	static const struct {
		const char *name, *unit, *second; /* second value, if text */
	} want[] = {
	    {"faults.0.count", "places", NULL},
	    {"faults.0.rate", "1", "{uniform: [0.1, 0.2]}"},
	    {"traffic.packets.uniform.1", "packets", NULL},
	    {"plane", "1", "exact"},
	    {"topology.n_hosts", "hosts", NULL},
	    {"algorithms.1.floor", "votes", NULL},
	    {"noise", "1", "{rate: 1e-6}"},
	};
	struct res_cube c;
	(void)state;
	cube_of("figure: f\nalgorithms: [vote, {name: alg1}]\n"
		"topology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2}\n"
		"faults: [{}]\ntraffic: {packets: {uniform: [1, 5]}}\n"
		"sweep: {grid: {faults.0.count: [1, 2], faults.0.rate: [0.1, "
		"{uniform: [0.1, 0.2]}], traffic.packets.uniform.1: [5, 7], "
		"plane: [auto, exact], topology.n_hosts: [2, 3], "
		"algorithms.1.floor: [0.5, 1.5], noise: [{}, {rate: "
		"1e-6}]}}\n"
		"claims: [{metric: recall, value: 0.5, text: half}]\n",
	    &c);
	assert_int_equal(c.n_axes, 7);
	assert_int_equal(c.n_points, 128);
	for (size_t i = 0; i < 7; i++) {
		const struct res_coord *k = &c.axis[i].coord[0];
		assert_int_equal(c.axis[i].n, 2);
		assert_string_equal(k->name, want[i].name);
		assert_string_equal(k->unit, want[i].unit);
		assert_int_equal(!k->number, want[i].second != NULL);
		if (want[i].second)
			assert_string_equal(k->text[1], want[i].second);
	}
	assert_true(c.axis[0].coord[0].number[1] == 2);
	assert_true(c.axis[5].coord[0].number[0] == 0.5);
	assert_int_equal(c.n_algos, 2);
	assert_string_equal(c.algo[1], "alg1");
	assert_int_equal(c.n_claims, 1);
	assert_string_equal(c.claim[0].text, "half");
	res_cube_free(&c);
}

static void keys_of_pingmesh_and_of_its_maps_have_units_too(void **state)
{
	static const struct {
		const char *name, *unit, *doc;
	} want[] = {
	    {"pingmesh.window", "s", "between runs of the jobs"},
	    {"label", "1",
		"a name for this point of a sweep; does "
		"nothing"},
	    {"pingmesh.repair.reload", "s",
		"a reloaded ToR forwards nothing "
		"for so long"},
	    {"pingmesh.sla", "1", ""}, /* a whole map */
	};
	struct res_cube c;
	(void)state;
	cube_of("figure: f\nalgorithms: [blackhole]\nplane: pingmesh\n"
		"topology: {n_pods: 2, n_tors: 2, n_t1: 2, n_t2: 2}\n"
		"sweep: {grid: {pingmesh.window: [600, 300], label: "
		"[a, b], pingmesh.repair.reload: [60, 120], pingmesh.sla: "
		"[{}, {max_p99_us: 9}]}}\npingmesh: {repair: {on: true}}\n",
	    &c);
	assert_int_equal(c.n_axes, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct res_coord *k = &c.axis[i].coord[0];
		assert_string_equal(k->name, want[i].name);
		assert_string_equal(k->unit, want[i].unit);
		assert_string_equal(k->doc, want[i].doc);
	}
	res_cube_free(&c);
}

static void long_texts_of_an_axis_are_kept_whole(void **state)
{
	char text[2048], links[700] = "";
	struct res_cube c;
	(void)state;
	for (int i = 0; i < 100; i++)
		sprintf(links + strlen(links), "%s%d", i ? ", " : "", 80 + i);
	snprintf(text, sizeof(text),
	    HEAD "sweep: {grid: {faults.links: [[%s], [1]]}}\n", links);
	cube_of(text, &c);
	assert_int_equal(strlen(c.axis[0].coord[0].text[0]), strlen(links) + 2);
	res_cube_free(&c);
}

static void a_zip_is_one_axis_of_several_coordinates(void **state)
{
	struct res_cube c;
	(void)state;
	cube_of(SMALL "sweep: {zip: {faults.count: [1, 2, 3], traffic.conns: "
		      "[4, 5, 6]}}\n",
	    &c);
	assert_int_equal(c.n_axes, 1);
	assert_int_equal(c.n_points, 3);
	assert_int_equal(c.axis[0].n_coords, 2);
	assert_string_equal(c.axis[0].coord[1].unit, "connections");
	assert_true(c.axis[0].coord[1].number[2] == 6);
	res_cube_free(&c);
}

/* --- GraphML beside a spec ---------------------------------------------- */

#define NET(extra)                                                             \
	"<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"            \
	"<key id=\"k\" for=\"node\" attr.name=\"kind\" "                       \
	"attr.type=\"string\"/><graph edgedefault=\"undirected\">"             \
	"<node id=\"a\"><data key=\"k\">switch</data></node>"                  \
	"<node id=\"b\"><data key=\"k\">switch</data></node>"                  \
	"<node id=\"x\"><data key=\"k\">host</data></node>"                    \
	"<node id=\"y\"><data key=\"k\">host</data></node>"                    \
	"<edge source=\"a\" target=\"b\"/><edge source=\"x\" "                 \
	"target=\"a\"/><edge source=\"y\" target=\"b\"/>" extra                \
	"</graph></graphml>\n"
#define GRAPH HEAD "topology: {kind: graphml, file: net.graphml}\n"

static uint64_t key_of(const char *net)
{
	struct res_cube c;
	spec_write("net.graphml", net);
	cube_of(GRAPH, &c);
	uint64_t key = res_cube_key(&c);
	assert_non_null(strstr(c.overrides, "topology.file net.graphml fnv "));
	res_cube_free(&c);
	return key;
}

static void the_network_s_file_is_found_and_belongs_to_the_identity(
    void **state)
{
	char here[4096];
	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir("/"), 0);
	uint64_t a = key_of(NET("")), b = key_of(NET("")),
		 other = key_of(NET("<!-- -->"));
	assert_int_equal(chdir(here), 0);
	assert_true(a == b);
	assert_true(a != other);
}

static void a_swept_file_belongs_to_the_identity_too(void **state)
{
	struct res_cube c;
	(void)state;
	spec_write("net.graphml", NET(""));
	cube_of(HEAD "sweep: {grid: {topology: [{n_hosts: 2}, {kind: graphml, "
		     "file: net.graphml}], faults.count: [1, 2]}}\n",
	    &c);
	const char *line = strstr(c.overrides, "topology.file net.graphml");
	assert_non_null(line);
	assert_null(strstr(line + 1, "topology.file"));
	res_cube_free(&c);
}

static void overrides_belong_to_the_identity(void **state)
{
	const char *const sets[] = {"seed=2", "faults.count=3"};
	uint64_t key[3];
	(void)state;
	spec_write("x.yaml", SMALL);
	for (size_t n = 0; n < 3; n++) {
		struct xp_spec s;
		struct res_cube c;
		assert_ok(xp_spec_load(&s, spec_path("x.yaml"), 0, sets, n,
		    test_err()));
		assert_ok(xp_spec_cube(&s, 0, 1, &c, test_err()));
		assert_string_equal(c.spec, SMALL);
		assert_string_equal(c.overrides,
		    n == 0       ? ""
			: n == 1 ? "seed=2"
				 : "seed=2\nfaults.count=3");
		key[n] = res_cube_key(&c);
		res_cube_free(&c);
		xp_spec_free(&s);
	}
	assert_true(key[0] != key[1] && key[1] != key[2]);
}

/* As many as there is room for, and no programs. */
static void overrides_of_results_are_taken_again_or_refused(void **state)
{
	struct xp_spec again;
	struct res_cube c;
	struct sim_err e;
	(void)state;
	cube_of(HEAD "sweep: {grid: {faults.count: [1, 2]}}\n", &c);
	for (unsigned n = 256; n <= 257; n++) {
		free(c.overrides);
		c.overrides = calloc(n, 8);
		for (unsigned i = 0; i < n; i++)
			strcat(c.overrides, i ? "\nseed=3" : "seed=3");
		/* 256 are looked at, and one key is not set twice. */
		const int rc = xp_spec_load_again(&again, &c, "", &e);
		assert_int_equal(rc, n == 256 ? SIM_EINVAL : SIM_ELIMIT);
		if (rc == SIM_ELIMIT)
			assert_string_equal(e.msg, "more than 256 overrides.");
		xp_spec_free(&again);
	}
	free(c.overrides);
	c.overrides = strdup("seed=3\nalgorithm mine fnv 12");
	assert_int_equal(xp_spec_load_again(&again, &c, "", &e),
	    SIM_EUNSUPPORTED);
	assert_string_equal(e.msg,
	    "algorithm mine is a program or plug-in, which is not started to "
	    "look at results.");
	xp_spec_free(&again);
	res_cube_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_cube_has_coordinates_with_units),
	    cmocka_unit_test(keys_of_pingmesh_and_of_its_maps_have_units_too),
	    cmocka_unit_test(long_texts_of_an_axis_are_kept_whole),
	    cmocka_unit_test(a_zip_is_one_axis_of_several_coordinates),
	    cmocka_unit_test(
		the_network_s_file_is_found_and_belongs_to_the_identity),
	    cmocka_unit_test(a_swept_file_belongs_to_the_identity_too),
	    cmocka_unit_test(overrides_belong_to_the_identity),
	    cmocka_unit_test(overrides_of_results_are_taken_again_or_refused),
	};
	return cmocka_run_group_tests_name("experiments/spec/spec_cube", tests,
	    spec_folder_make, spec_folder_remove);
}
