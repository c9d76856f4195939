/* tests/experiments/plug/plug_test.c -- the example plug-in beside the vote.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The example is made from experiments/plug/mine.c before this is run.
 */
#include "experiments/plug/plug.h"

#include <sys/stat.h>

#include "algos/vigil/vote.h"
#include "experiments/plug/way.h"
#include "sim/field.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"

#define MINE TEST_MINE

enum { RUNS = 200 };

struct plug_fixture {
	struct topo topo;
	struct plug_set *set;
	struct plug *plug;
	struct obs window;
	unsigned char params[1024];
	void *mine, *vote;
	struct algo_verdicts said, want;
};

static void fixture_open(struct plug_fixture *f)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 4,
	    .n_t1 = 3,
	    .n_t2 = 2,
	    .n_hosts = 4};
	struct algo_vote_params vote;
	*f = (struct plug_fixture){0};
	assert_ok(topo_open_clos(&f->topo, &shape, test_err()));
	assert_ok(plug_set_open(&f->set, "", test_err()));
	assert_ok(
	    plug_set_find(f->set, PLUG_LIBRARY, MINE, 0, &f->plug, test_err()));
	assert_ok(sim_field_defaults(plug_ops(f->plug)->params, f->params,
	    test_err()));
	const struct sim_field *accuse =
	    sim_field_find(plug_ops(f->plug)->params, "accuse");
	assert_non_null(accuse);
	assert_ok(sim_field_set(accuse, f->params, "0", test_err()));
	((struct plug_params *)(void *)f->params)->plug = f->plug;
	assert_ok(sim_field_defaults(algo_vote.params, &vote, test_err()));
	vote.blame.noise = ALGO_NOISE_NONE;
	assert_ok(algo_open(&algo_vote, &f->vote, &f->topo, &vote, test_err()));
}

static void fixture_close(struct plug_fixture *f)
{
	if (f->mine)
		algo_close(plug_ops(f->plug), f->mine);
	algo_close(&algo_vote, f->vote);
	algo_verdicts_free(&f->said);
	algo_verdicts_free(&f->want);
	obs_free(&f->window);
	plug_set_free(f->set);
	topo_close(&f->topo);
}

static void fixture_draw(struct plug_fixture *f, uint32_t run)
{
	struct sim_rng r;
	test_rng(&r, run);
	obs_clear(&f->window);
	for (uint32_t i = sim_rng_below(&r, 60); i > 0; i--) {
		topo_link path[TOPO_MAX_HOPS];
		const uint32_t src = sim_rng_below(&r, f->topo.n_hosts);
		const uint32_t dst = sim_rng_below(&r, f->topo.n_hosts);
		const unsigned n =
		    topo_path(&f->topo, run, src, dst, sim_rng_u32(&r), path);
		const struct obs_flow flow = {.src_host = src,
		    .dst_host = dst,
		    .n_pkts = 50,
		    .n_retx = sim_rng_below(&r, 3)};
		if (n > 0)
			assert_ok(obs_add_flow(&f->window, &flow, path, n,
			    test_err()));
	}
}

static int fixture_ask(struct plug_fixture *f, struct sim_err *e)
{
	struct sim_rng tie;
	test_rng(&tie, 0);
	return plug_ops(f->plug)->diagnose(f->mine, &f->window, &tie, &f->said,
	    e);
}

/* Scores, order of equals and whom each flow is blamed on: to the last bit. */
static void test_the_example_is_the_vote(void **state)
{
	struct plug_fixture f;
	struct sim_rng tie;
	(void)state;
	fixture_open(&f);
	assert_ok(algo_open(plug_ops(f.plug), &f.mine, &f.topo, f.params,
	    test_err()));
	for (uint32_t run = 0; run < RUNS; run++) {
		fixture_draw(&f, run);
		assert_ok(fixture_ask(&f, test_err()));
		test_rng(&tie, 0);
		assert_ok(algo_vote.diagnose(f.vote, &f.window, &tie, &f.want,
		    test_err()));
		algo_verdicts_sort(&f.said);
		algo_verdicts_sort(&f.want);
		if (f.said.n != f.want.n || f.said.n_flows != f.want.n_flows)
			fail_msg("run %u: %zu links, not %zu", run, f.said.n,
			    f.want.n);
		for (size_t i = 0; i < f.said.n; i++)
			if (f.said.link[i] != f.want.link[i] ||
			    f.said.score[i] != f.want.score[i])
				fail_msg("run %u: %u with %.17g, not %u with "
					 "%.17g",
				    run, f.said.link[i], f.said.score[i],
				    f.want.link[i], f.want.score[i]);
		for (size_t i = 0; i < f.said.n_flows; i++)
			assert_int_equal(f.said.blame[i], f.want.blame[i]);
	}
	fixture_close(&f);
}

/* Two of one library share nothing but its code. */
static void test_networks_are_kept_apart(void **state)
{
	struct plug_fixture f;
	void *other;
	(void)state;
	fixture_open(&f);
	fixture_draw(&f, 7);
	assert_ok(algo_open(plug_ops(f.plug), &f.mine, &f.topo, f.params,
	    test_err()));
	assert_ok(
	    algo_open(plug_ops(f.plug), &other, &f.topo, f.params, test_err()));
	assert_ok(fixture_ask(&f, test_err()));
	const size_t n = f.said.n;
	void *first = f.mine;
	f.mine = other;
	assert_ok(fixture_ask(&f, test_err()));
	assert_int_equal(f.said.n, n);
	algo_close(plug_ops(f.plug), first);
	assert_ok(fixture_ask(&f, test_err()));
	assert_int_equal(f.said.n, n);
	assert_false(plug_is_spent(f.plug));
	fixture_close(&f);
}

static int open_and_ask(void *arg, struct sim_err *e)
{
	struct plug_fixture *f = arg;
	int rc = algo_open(plug_ops(f->plug), &f->mine, &f->topo, f->params, e);
	if (rc == 0)
		rc = fixture_ask(f, e);
	algo_close(plug_ops(f->plug), f->mine);
	f->mine = NULL;
	algo_verdicts_free(&f->said);
	return rc;
}

/* Of a command in FOLDER that tells that it is made of A and B. */
static uint64_t hash_of(const char *folder, const char *a, const char *b)
{
	const struct plug_about about = {.n_files = 2, .file = {a, b}};
	const struct plug_source s = {.text = "run it",
	    .folder = folder,
	    .is_command = 1,
	    .about = &about};
	uint64_t hash;
	assert_ok(plug_source_hash(&s, &hash, test_err()));
	return hash;
}

/* Names and bytes count; folders, and the order in which files are told, do
 * not. */
static void test_what_it_is_does_not_depend_on_where_it_lies(void **state)
{
	char folder[80], a[128], b[128];
	(void)state;
	snprintf(folder, sizeof(folder), "%s/", test_folder);
	snprintf(a, sizeof(a), "%s", test_path("a"));
	snprintf(b, sizeof(b), "%s", test_path("b"));
	assert_int_equal(mkdir(test_path("there"), 0700), 0);
	test_write("a", "one");
	test_write("b", "two");
	test_write("c", "one");
	test_write("there/a", "one");
	const uint64_t want = hash_of("", a, b);
	assert_true(hash_of("", b, a) == want);
	assert_true(hash_of("/", test_path("there/a"), b) == want);
	assert_true(hash_of(folder, "there/a", "b") == want);
	assert_true(hash_of("", test_path("c"), b) != want);
	test_write("a", "two");
	test_write("b", "one");
	assert_true(hash_of("", a, b) != want);
}

static void test_lack_of_memory_is_told(void **state)
{
	struct plug_fixture f;
	(void)state;
	fixture_open(&f);
	fixture_draw(&f, 3);
	test_each_alloc_fails(open_and_ask, &f);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_example_is_the_vote),
	    cmocka_unit_test(test_networks_are_kept_apart),
	    cmocka_unit_test_setup_teardown(
		test_what_it_is_does_not_depend_on_where_it_lies,
		test_folder_make, test_folder_remove),
	    cmocka_unit_test(test_lack_of_memory_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
