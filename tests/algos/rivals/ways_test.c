/* tests/algos/rivals/ways_test.c -- what paths and rows cross, by brute force.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/rivals/ways.h"

#include "algos/rivals/accused.h"
#include "algos/rivals/lossy.h"
#include "tests/test.h"
#include "topo/mesh.h"

enum { N_RUNS = 20, N_ROWS = 60, N_FLOWS = 25, N_FLAGGED = 8 };

struct net {
	struct topo topo;
	struct obs_paths paths;
	struct sim_rng r;
	uint32_t n_parts; /* links, and switches behind them */
};

static void net_open(struct net *x, uint32_t run)
{
	struct topo_mesh *m;
	*x = (struct net){0};
	assert_ok(topo_mesh_fat_tree(&m, 4, 0, test_err()));
	assert_ok(topo_open_mesh(&x->topo, m, test_err()));
	x->n_parts = x->topo.n_links + x->topo.n_switches;
	test_rng(&x->r, run);
}

static void net_close(struct net *x)
{
	obs_paths_free(&x->paths);
	topo_close(&x->topo);
}

/* The equal paths of N pairs of ToRs, some of a ToR and itself. */
static void net_add(struct net *x, unsigned n)
{
	for (; n > 0; n--) {
		uint32_t set;
		assert_ok(obs_paths_between(&x->paths, &x->topo,
		    sim_rng_below(&x->r, 8), sim_rng_below(&x->r, 8), &set,
		    test_err()));
	}
}

/* A probe to the second switch of a path and back. */
static void net_add_bounce(struct net *x)
{
	uint32_t set;
	const topo_switch tor = sim_rng_below(&x->r, 8);
	assert_ok(obs_paths_between(&x->paths, &x->topo, tor, (tor + 2) % 8,
	    &set, test_err()));
	topo_link l[4];
	l[0] = x->paths.link[x->paths.off[x->paths.first[set]]];
	l[1] = x->paths.link[x->paths.off[x->paths.first[set]] + 1];
	l[2] = topo_link_reverse(l[1]);
	l[3] = topo_link_reverse(l[0]);
	if (obs_paths_find(&x->paths, tor, tor) != OBS_NO_PATH)
		return;
	assert_ok(obs_paths_open(&x->paths, tor, tor, test_err()));
	assert_ok(obs_paths_add(&x->paths, l, 4, test_err()));
}

static topo_switch switch_behind(const struct net *x, topo_link l)
{
	topo_node from, to;
	topo_link_ends(&x->topo, l, &from, &to);
	return to - x->topo.n_hosts;
}

static uint32_t set_of(const struct obs_paths *p, uint32_t path)
{
	uint32_t s = 0;
	while (p->first[s + 1] <= path)
		s++;
	return s;
}

/* Whether PATH crosses component C, which may be a switch. */
static int crosses(const struct net *x, uint32_t path, uint32_t c, int switches)
{
	const struct obs_paths *p = &x->paths;
	const uint32_t s = c - x->topo.n_links;
	if (c >= x->topo.n_links && switches && p->from[set_of(p, path)] == s)
		return 1;
	for (uint32_t k = p->off[path]; k < p->off[path + 1]; k++)
		if (c < x->topo.n_links
			? p->link[k] == c
			: switches && switch_behind(x, p->link[k]) == s)
			return 1;
	return 0;
}

static uint32_t n_met(const uint32_t part[], uint32_t from, uint32_t to,
    uint32_t c)
{
	uint32_t n = 0;
	for (; from < to; from++)
		n += part[from] == c;
	return n;
}

static void assert_ways(const struct net *x, const struct algo_ways *w,
    int switches, int sets)
{
	const struct obs_paths *p = &x->paths;
	assert_int_equal(w->n, p->n);
	assert_int_equal(w->off[0], 0);
	for (uint32_t i = 0; i < p->n; i++) {
		const uint32_t n = obs_path_length(p, i);
		assert_memory_equal(w->part + w->off[i], p->link + p->off[i],
		    n * sizeof(*w->part));
		for (uint32_t c = 0; c < x->n_parts; c++)
			assert_int_equal(n_met(w->part, w->off[i],
					     w->off[i + 1], c),
			    crosses(x, i, c, switches));
	}
	assert_int_equal(w->n_sets, sets ? p->n_sets : 0);
	for (uint32_t s = 0; s < w->n_sets; s++) {
		uint32_t n = 0;
		for (uint32_t c = 0; c < x->n_parts; c++) {
			uint32_t n_paths = 0, count = 0;
			for (uint32_t i = p->first[s]; i < p->first[s + 1]; i++)
				n_paths += (uint32_t)crosses(x, i, c, switches);
			for (uint32_t k = w->set_off[s]; k < w->set_off[s + 1];
			     k++)
				if (w->set_part[k] == c)
					count += w->set_count[k];
			assert_int_equal(count, n_paths);
			n += n_paths > 0;
		}
		assert_int_equal(w->set_off[s + 1] - w->set_off[s], n);
	}
}

/* Whatever was there before: paths added, all taken away, or others. */
static void paths_are_their_links_and_switches_each_once(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < N_RUNS; run++) {
		const int switches = run % 2, sets = run / 2 % 2;
		struct net x, other;
		struct algo_ways w = {0};
		net_open(&x, run);
		net_open(&other, run + N_RUNS);
		net_add_bounce(&x);
		for (unsigned step = 0; step < 4; step++) {
			assert_ok(algo_ways_update(&w, &x.topo, &x.paths,
			    switches, sets, test_err()));
			assert_ways(&x, &w, switches, sets);
			if (step == 2)
				obs_paths_clear(&x.paths);
			net_add(&x, 1 + sim_rng_below(&x.r, 5));
		}
		net_add(&other, 9);
		assert_ok(algo_ways_update(&w, &other.topo, &other.paths,
		    switches, sets, test_err()));
		assert_ways(&other, &w, switches, sets);
		algo_ways_free(&w);
		assert_null(w.off);
		assert_int_equal(w.n, 0);
		net_close(&x);
		net_close(&other);
	}
}

/* All in one go, so that each array is as large as it must be and no larger;
 * what is scratch is left as it was. */
static void one_call_is_enough_for_many(void **state)
{
	(void)state;
	for (unsigned switches = 0; switches < 2; switches++) {
		struct net x;
		struct algo_ways w = {0};
		net_open(&x, 7);
		net_add(&x, 60);
		net_add_bounce(&x);
		assert_ok(algo_ways_update(&w, &x.topo, &x.paths, switches, 1,
		    test_err()));
		assert_ways(&x, &w, switches, 1);
		for (size_t c = 0; c < x.n_parts; c++)
			assert_int_equal(w.seen[c], 0);
		/* What is up to date stays as it is, with its sets or before
		 * any was asked for. */
		assert_ok(algo_ways_update(&w, &x.topo, &x.paths, switches, 1,
		    test_err()));
		assert_ways(&x, &w, switches, 1);
		algo_ways_free(&w);
		assert_ok(algo_ways_update(&w, &x.topo, &x.paths, switches, 0,
		    test_err()));
		assert_ways(&x, &w, switches, 0);
		assert_ok(algo_ways_update(&w, &x.topo, &x.paths, switches, 1,
		    test_err()));
		assert_ways(&x, &w, switches, 1);
		algo_ways_free(&w);
		net_close(&x);
	}
}

/* Without any path there is nothing. */
static void no_path_is_no_way(void **state)
{
	struct net x;
	struct algo_ways w = {0};
	(void)state;
	net_open(&x, 0);
	assert_ok(algo_ways_update(&w, &x.topo, &x.paths, 1, 1, test_err()));
	assert_int_equal(w.n, 0);
	assert_int_equal(w.n_sets, 0);
	assert_int_equal(w.off[0], 0);
	assert_int_equal(w.set_off[0], 0);
	algo_ways_free(&w);
	net_close(&x);
}

static int ways_anew(void *arg, struct sim_err *e)
{
	const struct net *x = arg;
	struct algo_ways w = {0};
	const int rc = algo_ways_update(&w, &x->topo, &x->paths, 1, 1, e);
	algo_ways_free(&w);
	return rc;
}

static void each_allocation_of_ways_may_fail(void **state)
{
	struct net x;
	(void)state;
	net_open(&x, 3);
	net_add(&x, 9);
	test_each_alloc_fails(ways_anew, &x);
	net_close(&x);
}

/* --- rows ----------------------------------------------------------------- */

/* A switch sent, or a host of any ToR. */
static topo_link draw_cable(struct net *x)
{
	const uint32_t h = sim_rng_below(&x->r, 2 * x->topo.n_hosts);
	return h < x->topo.n_hosts ? 2 * h : TOPO_NONE;
}

static void draw_rows(struct net *x, struct obs_tallies *t)
{
	*t = (struct obs_tallies){.paths = &x->paths};
	for (unsigned i = 0; i < N_ROWS; i++) {
		const uint32_t path =
		    sim_rng_below(&x->r, (uint32_t)x->paths.n);
		const struct obs_tally row = {.up = draw_cable(x),
		    .down = draw_cable(x),
		    .set = set_of(&x->paths, path),
		    .path = sim_rng_below(&x->r, 3) ? path : OBS_NO_PATH,
		    .n_sent = 9,
		    .n_lost = sim_rng_below(&x->r, 3),
		    .flow = i < N_FLOWS && i % 4 ? i : UINT32_MAX,
		    .is_probe = sim_rng_below(&x->r, 4) == 0};
		assert_ok(obs_tallies_add(t, &row, test_err()));
	}
}

/* By definition: over all paths of a row, and over all accused. */
static uint32_t naive_blame(const struct net *x, const struct obs_tallies *t,
    size_t i, const struct algo_verdicts *v)
{
	const struct obs_paths *p = &x->paths;
	uint32_t most = 0, blame = TOPO_NONE;
	for (size_t k = 0; k < v->n_flagged; k++) {
		const uint32_t c = v->link[k];
		uint32_t n = 0;
		for (uint32_t j = p->first[t->set[i]];
		     j < p->first[t->set[i] + 1]; j++)
			if (t->path[i] == OBS_NO_PATH || t->path[i] == j)
				n += crosses(x, j, c, 1) || t->up[i] == c ||
				    t->down[i] == c;
		if (n > most) {
			most = n;
			blame = c;
		}
	}
	return blame;
}

static void a_flow_is_blamed_on_what_most_of_its_paths_cross(void **state)
{
	(void)state;
	unsigned n_blamed = 0, n_free = 0;
	for (uint32_t run = 0; run < N_RUNS; run++) {
		struct net x;
		struct obs_tallies t;
		struct algo_ways w = {0};
		struct algo_verdicts v = {0};
		net_open(&x, run);
		net_add(&x, 6);
		draw_rows(&x, &t);
		/* Those behind the accused are listed, and blamed for
		 * nothing. */
		for (unsigned i = 0; i < 2 * N_FLAGGED; i++)
			assert_ok(algo_verdicts_add(&v,
			    sim_rng_below(&x.r, x.n_parts), 1, test_err()));
		v.n_flagged = N_FLAGGED;
		const struct obs window = {.tallies = &t,
		    .flows = {.n = N_FLOWS}};
		assert_ok(
		    algo_ways_update(&w, &x.topo, &x.paths, 1, 0, test_err()));
		assert_ok(algo_accused_blame(&w, &window, &v, test_err()));
		assert_int_equal(v.n_flows, N_FLOWS);
		for (uint32_t i = 0; i < N_FLOWS; i++) {
			const uint32_t want =
			    i % 4 ? naive_blame(&x, &t, i, &v) : TOPO_NONE;
			assert_int_equal(v.blame[i], want);
			n_blamed += want != TOPO_NONE;
			n_free += i % 4 && want == TOPO_NONE;
		}
		obs_tallies_free(&t);
		algo_verdicts_free(&v);
		algo_ways_free(&w);
		net_close(&x);
	}
	assert_true(n_blamed > 50 && n_free > 50);
}

/* Row I as the components that it crossed, in order. */
static unsigned naive_parts(const struct algo_ways *w,
    const struct obs_tallies *t, uint32_t i, uint32_t part[])
{
	unsigned n = 0;
	if (t->up[i] != TOPO_NONE)
		part[n++] = t->up[i];
	if (t->down[i] != TOPO_NONE)
		part[n++] = t->down[i];
	for (uint32_t k = w->off[t->path[i]]; k < w->off[t->path[i] + 1]; k++)
		part[n++] = w->part[k];
	return n;
}

static void assert_lossy(const struct algo_lossy *l, const struct algo_ways *w,
    const struct obs_tallies *t, const uint8_t take[], uint32_t n_parts)
{
	uint32_t is[ALGO_LOSSY_PARTS], want[ALGO_LOSSY_PARTS], n = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->n_lost[i] == 0 || t->path[i] == OBS_NO_PATH ||
		    (take ? !take[i] : t->is_probe[i]))
			continue;
		assert_true(n < l->n);
		assert_int_equal(l->row[n], i);
		assert_int_equal(l->gone[n], 0);
		const unsigned n_is = algo_lossy_parts(l, n, is);
		assert_int_equal(n_is, naive_parts(w, t, i, want));
		assert_memory_equal(is, want, n_is * sizeof(*is));
		n++;
	}
	assert_int_equal(l->n, n);
	uint32_t at = 0;
	for (uint32_t c = 0; c < n_parts; c++) {
		assert_int_equal(l->begin[c], at);
		for (uint32_t k = 0; k < n; k++) {
			const unsigned m = algo_lossy_parts(l, k, is);
			for (uint32_t j = n_met(is, 0, m, c); j > 0; j--)
				assert_int_equal(l->over[at++], k);
		}
	}
	assert_int_equal(l->begin[n_parts], at);
}

static void lossy_rows_are_found_by_what_they_crossed(void **state)
{
	(void)state;
	struct algo_lossy l = {0};
	for (uint32_t run = 0; run < N_RUNS; run++) {
		struct net x;
		struct obs_tallies t;
		struct algo_ways w = {0};
		uint8_t take[N_ROWS];
		net_open(&x, run);
		net_add(&x, 6);
		draw_rows(&x, &t);
		for (unsigned i = 0; i < N_ROWS; i++)
			take[i] = run < 2 ? 0 : sim_rng_below(&x.r, 2) != 0;
		assert_ok(algo_ways_update(&w, &x.topo, &x.paths, run % 2, 0,
		    test_err()));
		assert_ok(
		    algo_lossy_read(&l, &w, &t, take, x.n_parts, test_err()));
		assert_lossy(&l, &w, &t, take, x.n_parts);
		if (l.n > 0)
			l.gone[l.n - 1] = 1;
		assert_ok(
		    algo_lossy_read(&l, &w, &t, NULL, x.n_parts, test_err()));
		assert_lossy(&l, &w, &t, NULL, x.n_parts);
		memset(l.gone, 1, l.n);
		obs_tallies_free(&t);
		algo_ways_free(&w);
		net_close(&x);
	}
	algo_lossy_free(&l);
	assert_null(l.row);
	assert_int_equal(l.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(paths_are_their_links_and_switches_each_once),
	    cmocka_unit_test(one_call_is_enough_for_many),
	    cmocka_unit_test(no_path_is_no_way),
	    cmocka_unit_test(each_allocation_of_ways_may_fail),
	    cmocka_unit_test(a_flow_is_blamed_on_what_most_of_its_paths_cross),
	    cmocka_unit_test(lossy_rows_are_found_by_what_they_crossed),
	};
	return cmocka_run_group_tests_name("algos/rivals/ways", tests, NULL,
	    NULL);
}
