/* tests/sim/yaml_idle_test.c -- keys that do nothing, and keys of other maps.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/yaml.h"
#include "tests/test.h"

static const char *const kinds[] = {"clos", "region", "mesh", NULL};

struct net {
	uint32_t kind, pods, cells;
	double rate, burst;
};

static const struct sim_field fields[] = {{"kind", SIM_F_ENUM,
					      offsetof(struct net, kind),
					      .names = kinds, .def = "clos"},
    {"pods", SIM_F_U32, offsetof(struct net, pods), .def = "2",
	.when = "kind=clos|region"},
    {"cells", SIM_F_U32, offsetof(struct net, cells), .def = "1",
	.when = "kind=region"},
    {"rate", SIM_F_F64, offsetof(struct net, rate), .def = "0"},
    {"burst", SIM_F_F64, offsetof(struct net, burst), .def = "0",
	.when = "rate!=0"},
    {0}};

static void parse(struct sim_yaml *y, const char *text)
{
	assert_ok(sim_yaml_parse(y, "f.yaml", text, strlen(text), test_err()));
}

static void read_map(struct sim_yaml *y, const struct sim_yaml_node *map)
{
	struct net net;
	assert_ok(sim_yaml_read(y, map, NULL, fields, NULL, &net, test_err()));
}

/* What is refused as doing nothing: MISTAKES, one a line. */
static void assert_refused(struct sim_yaml *y, const char *mistakes)
{
	struct sim_err e = {0};
	assert_ok(sim_yaml_refuse_idle(y));
	assert_int_equal(sim_yaml_verdict(y, &e), *mistakes ? SIM_EINVAL : 0);
	assert_string_equal(e.msg, mistakes);
}

static void a_key_whose_condition_does_not_hold_is_refused(void **state)
{
	struct sim_yaml y;
	(void)state;
	parse(&y, "burst: 3\nkind: mesh\npods: 4\n");
	read_map(&y, y.root);
	assert_refused(&y,
	    "f.yaml:1:1: burst does nothing: it counts only with rate other "
	    "than 0.\n"
	    "f.yaml:3:1: pods does nothing: it counts only with kind: clos or "
	    "region.");
	sim_yaml_free(&y);
	parse(&y, "{burst: 3, rate: 1, kind: region, pods: 4, cells: 2}");
	read_map(&y, y.root);
	assert_refused(&y, "");
	sim_yaml_free(&y);
}

/* Read as often as a sweep has points, a key counts if it did once. */
static void a_key_that_counted_once_is_not_refused(void **state)
{
	static const char *const order[][3] = {{"mesh", "clos", "mesh"},
	    {"clos", "mesh", "mesh"}, {"mesh", "mesh", "clos"}};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct sim_yaml y;
		parse(&y, "pods: 4\nkind: mesh\n");
		for (size_t k = 0; k < 3; k++) {
			char set[32];
			snprintf(set, sizeof(set), "kind=%s", order[i][k]);
			assert_ok(sim_yaml_set(&y, set, test_err()));
			read_map(&y, y.root);
			const struct sim_yaml_given *g =
			    sim_yaml_noted(&y, y.root, 0);
			assert_non_null(g);
			assert_int_equal(g->is_idle,
			    strcmp(order[i][k], "mesh") == 0);
		}
		assert_int_equal(y.n_given, 1);
		assert_refused(&y, "");
		sim_yaml_free(&y);
	}
}

/* Maps of one file, and keys of one line and of one column. */
static void keys_are_told_apart_by_place_and_name(void **state)
{
	struct sim_yaml y;
	(void)state;
	parse(&y,
	    "a: {rate: 1, burst: 1}\nb: {rate: 0, burst: 1}\n"
	    "c: {kind: mesh, pods: 1, cells: 2}\n");
	for (size_t i = 0; i < 3; i++)
		read_map(&y, y.root->child[i]);
	assert_int_equal(y.n_given, 4);
	assert_null(sim_yaml_noted(&y, y.root->child[0], 0));
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 1; k < y.root->child[i]->n; k++) {
			const struct sim_yaml_given *g =
			    sim_yaml_noted(&y, y.root->child[i], k);
			assert_non_null(g);
			assert_int_equal(g->line, i + 1);
			assert_string_equal(g->key, y.root->child[i]->key[k]);
			assert_int_equal(g->of_kind, i == 2);
			assert_int_equal(g->counts, i == 0);
		}
	assert_refused(&y,
	    "f.yaml:2:14: burst does nothing: it counts only with rate other "
	    "than 0.\n"
	    "f.yaml:3:17: pods does nothing: it counts only with kind: clos or "
	    "region.\n"
	    "f.yaml:3:26: cells does nothing: it counts only with kind: "
	    "region.");
	sim_yaml_free(&y);
}

static void the_last_reason_is_told(void **state)
{
	struct sim_yaml y;
	(void)state;
	parse(&y, "x: 1\n");
	assert_ok(sim_yaml_note(&y, y.root, 0, "one", test_err()));
	assert_ok(sim_yaml_note(&y, y.root, 0, "one", test_err()));
	assert_ok(sim_yaml_note(&y, y.root, 0, "another", test_err()));
	assert_refused(&y, "f.yaml:1:1: x does nothing: another.");
	sim_yaml_free(&y);
}

static int notes(void *arg, struct sim_err *e)
{
	struct sim_yaml *y = arg;
	int rc = sim_yaml_parse(y, "f.yaml", "pods: 4\nkind: mesh\n", 19, e);
	struct net net;
	if (rc == 0)
		rc = sim_yaml_read(y, y->root, NULL, fields, NULL, &net, e);
	if (rc == 0)
		rc = sim_yaml_note(y, y->root, 0, "another", e);
	if (rc == 0)
		rc = sim_yaml_refuse_idle(y);
	sim_yaml_free(y);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	struct sim_yaml y;
	(void)state;
	test_each_alloc_fails(notes, &y);
}

/* Whose keys are where else: "seed" as it is, and "sead" nearly; "epoch" is a
 * map's. */
static int elsewhere(const char *key, int is_map, int near, char *buf,
    size_t size)
{
	if (is_map != (strcmp(key, "epoch") == 0) ||
	    strcmp(key,
		is_map     ? "epoch"
		    : near ? "sead"
			   : "seed") != 0)
		return 0;
	snprintf(buf, size, is_map ? "x.epoch" : near ? "x.seed" : "seed");
	return 1;
}

static void an_unknown_key_may_be_another_maps(void **state)
{
	struct sim_yaml y;
	struct sim_err e = {0};
	(void)state;
	parse(&y,
	    "seed: 1\nsead: 1\nepoch: {a: 1}\nrat: 1\nepoch_: 1\nkinds: 1\n");
	y.elsewhere = elsewhere;
	read_map(&y, y.root);
	assert_int_equal(sim_yaml_verdict(&y, &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "f.yaml:1:1: unknown key \"seed\"; did you mean seed?\n"
	    "f.yaml:2:1: unknown key \"sead\"; did you mean x.seed?\n"
	    "f.yaml:3:1: unknown key \"epoch\"; did you mean x.epoch?\n"
	    "f.yaml:4:1: unknown key \"rat\"; did you mean \"rate\"?\n"
	    "f.yaml:5:1: unknown key \"epoch_\"; known are kind, pods, cells, "
	    "rate, burst.\n"
	    "f.yaml:6:1: unknown key \"kinds\"; did you mean \"kind\"?");
	sim_yaml_free(&y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_key_whose_condition_does_not_hold_is_refused),
	    cmocka_unit_test(a_key_that_counted_once_is_not_refused),
	    cmocka_unit_test(keys_are_told_apart_by_place_and_name),
	    cmocka_unit_test(the_last_reason_is_told),
	    cmocka_unit_test(every_allocation_may_fail),
	    cmocka_unit_test(an_unknown_key_may_be_another_maps),
	};
	return cmocka_run_group_tests_name("sim/yaml: idle keys", tests, NULL,
	    NULL);
}
