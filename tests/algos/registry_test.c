/* tests/algos/registry_test.c -- what holds for every diagnoser alike.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/algo.h"

#include "tests/rigs/windows.h"
#include "tests/test.h"

#define FOR_EACH_ALGO(a)                                                       \
	for (const struct algo_ops *const *a = algo_registry; *a; a++)

/* Those that read flows, or what is made of them; algos_rivals_all_test.c has
 * the same rules for those that read their sums. */
#define FOR_EACH_OF_FLOWS(a)                                                   \
	FOR_EACH_ALGO(a)                                                       \
	if (!((*a)->needs & OBS_TALLIES))

/* A small Clos of 96 links, for algorithms that ask for shares. */
static void open_clos(struct topo *t)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 2,
	    .n_t1 = 2,
	    .n_t2 = 3,
	    .n_hosts = 7};
	assert_ok(topo_open_clos(t, &shape, test_err()));
	assert_int_equal(t->n_links, 96);
}

static void every_algorithm_is_found_by_its_name_and_tells_its_source(
    void **state)
{
	(void)state;
	size_t n = 0;
	FOR_EACH_ALGO(a)
	{
		assert_ptr_equal(algo_find((*a)->name), *a);
		assert_true(strlen((*a)->paper) > 0);
		assert_true(strlen((*a)->doc) > 0);
		assert_true((*a)->needs &
		    (OBS_FLOWS | OBS_PROBES | OBS_TRACES | OBS_MIRROR |
			OBS_SAMPLES | OBS_TALLIES));
		for (const struct sim_field *f = (*a)->params; f->name; f++) {
			assert_true(f->offset < (*a)->params_size);
			assert_non_null(f->def);
			assert_non_null(f->doc);
			assert_true(f->type != SIM_F_ENUM || f->names);
			for (const struct sim_field *g = (*a)->params; g != f;
			     g++)
				assert_string_not_equal(f->name, g->name);
		}
		n++;
	}
	assert_true(n >= 3);
	assert_null(algo_find("no such algorithm"));
	assert_null(algo_find(""));
}

static void a_window_without_failures_gives_an_empty_answer(void **state)
{
	(void)state;
	struct topo t = {0};
	struct obs empty = {0}, good = {.complete = 1}, blind = {0};
	open_clos(&t);
	WINDOW_ADD(&good, 0, 1, 2);
	WINDOW_ADD(&good, 0, 2, 3);
	WINDOW_ADD(&blind, 1, TOPO_NONE, TOPO_NONE);
	window_add(&blind, 1, 0, NULL);
	const struct obs *const windows[] = {&empty, &good, &blind};
	FOR_EACH_OF_FLOWS(a)
	{
		void *work;
		struct algo_verdicts v = {0};
		assert_ok(algo_open(*a, &work, &t, NULL, test_err()));
		for (int i = 0; i < 3; i++) {
			/* What is in the answer already must go. */
			assert_ok(algo_verdicts_add(&v, 7, 1, test_err()));
			v.n_flagged = 1;
			assert_ok((*a)->diagnose(work, windows[i], NULL, &v,
			    test_err()));
			assert_int_equal(v.n, 0);
			assert_int_equal(v.n_flagged, 0);
			if ((*a)->needs != OBS_TRACES)
				assert_int_equal(v.n_flows,
				    windows[i]->flows.n);
			for (size_t f = 0; f < v.n_flows; f++)
				assert_int_equal(v.blame[f], TOPO_NONE);
		}
		algo_close(*a, work);
		algo_verdicts_free(&v);
	}
	obs_free(&good);
	obs_free(&blind);
	topo_close(&t);
}

static void a_link_outside_the_topology_is_an_error_not_a_crash(void **state)
{
	(void)state;
	struct topo t = {0};
	struct obs bad = {0}, good = {0};
	open_clos(&t);
	WINDOW_ADD(&bad, 1, 3, 95);
	WINDOW_ADD(&bad, 1, 3, 96);
	WINDOW_ADD(&good, 1, 3, 95);
	WINDOW_ADD(&good, 1, 3, 94);
	FOR_EACH_OF_FLOWS(a)
	{
		void *work;
		struct sim_err e = {0};
		struct algo_verdicts v = {0}, fresh = {0};
		if (!((*a)->needs & OBS_FLOWS))
			continue;
		assert_ok(algo_open(*a, &work, &t, NULL, test_err()));
		assert_int_equal((*a)->diagnose(work, &bad, NULL, &v, &e),
		    SIM_EINVAL);
		assert_non_null(strstr(e.msg, "flow 1"));
		assert_non_null(strstr(e.msg, "link 96"));
		assert_ok((*a)->diagnose(work, &good, NULL, &v, test_err()));
		algo_close(*a, work);
		assert_ok(algo_open(*a, &work, &t, NULL, test_err()));
		assert_ok(
		    (*a)->diagnose(work, &good, NULL, &fresh, test_err()));
		assert_same_verdicts(&v, &fresh);
		algo_close(*a, work);
		algo_verdicts_free(&v);
		algo_verdicts_free(&fresh);
	}
	obs_free(&bad);
	obs_free(&good);
	topo_close(&t);
}

static void a_used_work_block_answers_like_a_fresh_one(void **state)
{
	(void)state;
	static const unsigned n_flows[] = {50, 400, 3, 0, 150};
	struct topo t = {0};
	open_clos(&t);
	FOR_EACH_OF_FLOWS(a)
	{
		void *used;
		assert_ok(algo_open(*a, &used, &t, NULL, test_err()));
		for (unsigned run = 0; run < 20; run++) {
			struct algo_verdicts v = {0}, want = {0};
			struct obs w = {0};
			struct sim_rng r;
			void *fresh;
			test_rng(&r, run);
			window_random(&w, 96, n_flows[run % 5], &r);
			assert_ok(algo_open(*a, &fresh, &t, NULL, test_err()));
			assert_ok(
			    (*a)->diagnose(fresh, &w, NULL, &want, test_err()));
			assert_ok(
			    (*a)->diagnose(used, &w, NULL, &v, test_err()));
			assert_same_verdicts(&v, &want);
			algo_close(*a, fresh);
			algo_verdicts_free(&v);
			algo_verdicts_free(&want);
			obs_free(&w);
		}
		algo_close(*a, used);
	}
	topo_close(&t);
}

/* Whatever the order of the flows, links get the same score, bit for bit, and
 * each flow the same blame. */
static void the_order_of_flows_does_not_matter(void **state)
{
	(void)state;
	struct topo t = {0};
	open_clos(&t);
	FOR_EACH_OF_FLOWS(a)
	{
		void *work;
		if ((*a)->needs == OBS_TRACES)
			continue; /* reads no flows and blames none */
		assert_ok(algo_open(*a, &work, &t, NULL, test_err()));
		for (unsigned run = 0; run < 40; run++) {
			struct algo_verdicts v = {0}, s = {0};
			struct obs w = {0}, shuffled = {0};
			struct sim_rng r;
			test_rng(&r, run);
			window_random(&w, 96, 150, &r);
			for (size_t i = 0; i < w.flows.n; i++)
				w.flows.src_host[i] =
				    sim_rng_below(&r, t.n_hosts);
			uint32_t *order = window_shuffled(150, &r);
			window_rename(&w, order, NULL, &shuffled);
			assert_ok(
			    (*a)->diagnose(work, &w, NULL, &v, test_err()));
			assert_ok((*a)->diagnose(work, &shuffled, NULL, &s,
			    test_err()));
			for (uint32_t i = 0; i < 150; i++)
				assert_int_equal(s.blame[i], v.blame[order[i]]);
			memcpy(s.blame, v.blame, 150 * sizeof(*s.blame));
			assert_same_verdicts(&v, &s);
			free(order);
			algo_verdicts_free(&v);
			algo_verdicts_free(&s);
			obs_free(&w);
			obs_free(&shuffled);
		}
		algo_close(*a, work);
	}
	topo_close(&t);
}

struct attempt {
	const struct algo_ops *algo;
	const struct topo *topo;
	const struct obs *window;
};

static int open_and_diagnose(void *arg, struct sim_err *e)
{
	const struct attempt *x = arg;
	struct algo_verdicts v = {0};
	void *work;
	int rc;
	if ((rc = algo_open(x->algo, &work, x->topo, NULL, e)) < 0) {
		assert_null(work);
		return rc;
	}
	rc = x->algo->diagnose(work, x->window, NULL, &v, e);
	/* After a failure the same work block must serve again. */
	if (rc < 0)
		assert_int_equal(x->algo->diagnose(work, x->window, NULL, &v,
				     NULL),
		    0);
	algo_close(x->algo, work);
	algo_verdicts_free(&v);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	struct topo t = {0};
	struct obs w = {0};
	struct sim_rng r;
	open_clos(&t);
	test_rng(&r, 0);
	window_random(&w, 96, 100, &r);
	FOR_EACH_OF_FLOWS(a)
	{
		struct attempt x = {*a, &t, &w};
		test_each_alloc_fails(open_and_diagnose, &x);
	}
	obs_free(&w);
	topo_close(&t);
}

static void closing_nothing_is_safe(void **state)
{
	(void)state;
	FOR_EACH_OF_FLOWS(a)
	algo_close(*a, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(
		every_algorithm_is_found_by_its_name_and_tells_its_source),
	    cmocka_unit_test(a_window_without_failures_gives_an_empty_answer),
	    cmocka_unit_test(
		a_link_outside_the_topology_is_an_error_not_a_crash),
	    cmocka_unit_test(a_used_work_block_answers_like_a_fresh_one),
	    cmocka_unit_test(the_order_of_flows_does_not_matter),
	    cmocka_unit_test(every_allocation_may_fail),
	    cmocka_unit_test(closing_nothing_is_safe),
	};
	return cmocka_run_group_tests_name("algos/registry", tests, NULL, NULL);
}
