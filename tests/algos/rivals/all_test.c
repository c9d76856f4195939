/* tests/algos/rivals/all_test.c -- what holds for all that read sums of flows.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/algo.h"
#include "tests/rigs/telemetry_rig.h"
#include "tests/test.h"

#define FOR_EACH_OF_TALLIES(a)                                                 \
	for (const struct algo_ops *const *a = algo_registry; *a; a++)         \
		if ((*a)->needs & OBS_TALLIES)

static const unsigned kinds_of[] = {OBS_TELE_INT, OBS_TELE_A1, OBS_TELE_A2,
    OBS_TELE_P, OBS_TELE_A2 | OBS_TELE_P,
    OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P, OBS_TELE_A1 | OBS_TELE_P};
enum { N_KINDS = sizeof(kinds_of) / sizeof(kinds_of[0]) };

/* Two links of a small fat-tree fail. */
static void draw(struct telemetry_rig *x, unsigned kinds, uint32_t run)
{
	struct sim_rng r;
	telemetry_rig_open(x, 4, 1e-5, kinds, run);
	test_rng(&r, run);
	x->p.flows = 20;
	telemetry_rig_fail(x, sim_rng_below(&r, x->topo.n_links), 0.05);
	telemetry_rig_fail(x, sim_rng_below(&r, x->topo.n_links), 0.02);
	telemetry_rig_draw(x);
}

/* Whether A reads X's window, by its needs and by what it says of the rows: needs
 * cannot ask that no row be without a path. */
static int reads(const struct algo_ops *a, const struct telemetry_rig *x)
{
	struct algo_verdicts v = {0};
	struct sim_err e = {0};
	void *work;
	if (a->needs & ~telemetry_holds(x->p.kinds))
		return 0;
	assert_ok(algo_open(a, &work, &x->topo, NULL, test_err()));
	const int rc = a->diagnose(work, &x->w, NULL, &v, &e);
	assert_true(rc == 0 || rc == SIM_EUNSUPPORTED);
	algo_close(a, work);
	algo_verdicts_free(&v);
	return rc == 0;
}

/* How many of the paths that row I may have taken cross LINK. */
static unsigned n_ways_over(const struct obs_tallies *t, size_t i,
    topo_link link)
{
	const struct obs_paths *p = t->paths;
	const int known = t->path[i] != OBS_NO_PATH;
	const uint32_t first = known ? t->path[i] : p->first[t->set[i]],
		       end = known ? first + 1 : p->first[t->set[i] + 1];
	unsigned n = 0;
	for (uint32_t k = first; k < end; k++) {
		int is_on = t->up[i] == link || t->down[i] == link;
		for (uint32_t h = p->off[k]; h < p->off[k + 1]; h++)
			is_on |= p->link[h] == link;
		n += (unsigned)is_on;
	}
	return n;
}

/* What is lost and sent over LINK, by rows that cross nothing that both accuse. */
static void sums_over(const struct telemetry_rig *x, topo_link link,
    const struct algo_verdicts *a, const struct algo_verdicts *b,
    uint64_t sum[2])
{
	const struct obs_tallies *t = &x->t.rows;
	sum[0] = sum[1] = 0;
	for (size_t i = 0; i < t->n; i++) {
		const unsigned n = n_ways_over(t, i, link);
		int is_other = 1;
		for (size_t k = 0; k < a->n_flagged; k++)
			is_other &= algo_verdicts_score(b, a->link[k]) == 0 ||
			    n_ways_over(t, i, a->link[k]) == 0;
		if (is_other) {
			sum[0] += (uint64_t)n * t->n_lost[i];
			sum[1] += (uint64_t)n * t->n_sent[i];
		}
	}
}

/* Whether A's link L and B's link M, neither of which the other accuses, lost as much
 * of as many packets. Then who comes first is by the last bits. */
static int are_equals(const struct telemetry_rig *x,
    const struct algo_verdicts *a, topo_link l, const struct algo_verdicts *b,
    topo_link m)
{
	uint64_t of_l[2], of_m[2];
	if (l >= x->topo.n_links || m >= x->topo.n_links ||
	    algo_verdicts_score(b, l) != 0 || algo_verdicts_score(a, m) != 0)
		return 0;
	sums_over(x, l, a, b, of_l);
	sums_over(x, m, a, b, of_m);
	return of_l[0] == of_m[0] && of_l[1] == of_m[1];
}

/* Whether links that A accuses are on as many ways of each row as those of B: two
 * links into a ToR of two hosts are as good as the two hosts' cables. */
static int hit_the_same(const struct telemetry_rig *x,
    const struct algo_verdicts *a, const struct algo_verdicts *b)
{
	for (size_t i = 0; i < x->t.rows.n; i++) {
		unsigned n_a = 0, n_b = 0;
		for (size_t k = 0; k < a->n_flagged; k++)
			n_a += n_ways_over(&x->t.rows, i, a->link[k]);
		for (size_t k = 0; k < b->n_flagged; k++)
			n_b += n_ways_over(&x->t.rows, i, b->link[k]);
		if (n_a != n_b)
			return 0;
	}
	return 1;
}

/* Scores are sums in the order of rows, so they may differ in the last bits, and with
 * them the order of components that have the same, and which of equals is taken. */
static void assert_like(const struct algo_ops *a, const struct telemetry_rig *x,
    uint32_t run, const struct algo_verdicts *got,
    const struct algo_verdicts *want)
{
	const unsigned kinds = x->p.kinds;
	if (got->n_flagged != want->n_flagged || got->kind != want->kind)
		fail_msg("%s, kinds %u, run %u: %zu accused, wanted %zu",
		    a->name, kinds, run, got->n_flagged, want->n_flagged);
	for (size_t i = 0; i < want->n_flagged; i++) {
		size_t k = 0;
		while (k < got->n_flagged && got->link[k] != want->link[i])
			k++;
		for (size_t o = 0; k == got->n_flagged && o < k; o++)
			if (are_equals(x, got, got->link[o], want,
				want->link[i]))
				k = o;
		if (k == got->n_flagged && hit_the_same(x, got, want))
			return;
		if (k == got->n_flagged)
			fail_msg("%s, kinds %u, run %u: %u is not accused",
			    a->name, kinds, run, want->link[i]);
		assert_near(got->score[k], want->score[i],
		    1e-6 * (1 + fabs(want->score[i])));
	}
}

static void nothing_seen_gives_an_empty_answer(void **state)
{
	(void)state;
	struct telemetry_rig x;
	telemetry_rig_open(&x, 4, 0, OBS_TELE_A1 | OBS_TELE_A2, 0);
	x.p.flows = 10;
	telemetry_rig_draw(&x);
	FOR_EACH_OF_TALLIES(a)
	{
		struct algo_verdicts v = {0};
		void *work;
		assert_ok(algo_open(*a, &work, &x.topo, NULL, test_err()));
		const size_t n = x.t.rows.n;
		for (unsigned i = 0; i < 3; i++) {
			assert_ok(algo_verdicts_add(&v, 7, 1, test_err()));
			v.n_flagged = 1;
			x.t.rows.n = i == 1 ? 0 : n;
			assert_ok(
			    (*a)->diagnose(work, &x.w, NULL, &v, test_err()));
			assert_int_equal(v.n_flagged, 0);
			assert_int_equal(v.n_flows, x.w.flows.n);
		}
		x.t.rows.n = n;
		algo_close(*a, work);
		algo_verdicts_free(&v);
	}
	telemetry_rig_close(&x);
}

static void a_used_work_block_answers_like_a_fresh_one(void **state)
{
	(void)state;
	FOR_EACH_OF_TALLIES(a)
	{
		void *used = NULL;
		struct topo first = {0};
		struct telemetry_rig none;
		telemetry_rig_open(&none, 4, 0, OBS_TELE_INT, 0);
		first = none.topo;
		assert_ok(algo_open(*a, &used, &first, NULL, test_err()));
		for (uint32_t run = 0; run < 2 * N_KINDS; run++) {
			const unsigned kinds = kinds_of[run % N_KINDS];
			struct telemetry_rig x;
			struct algo_verdicts v = {0}, want = {0};
			void *fresh;
			draw(&x, kinds, run);
			if (!reads(*a, &x)) {
				telemetry_rig_close(&x);
				continue;
			}
			assert_ok(
			    algo_open(*a, &fresh, &first, NULL, test_err()));
			assert_ok((*a)->diagnose(fresh, &x.w, NULL, &want,
			    test_err()));
			/* Paths of another table may lie where these did. */
			x.t.paths.n_cleared += run + 1;
			assert_ok(
			    (*a)->diagnose(used, &x.w, NULL, &v, test_err()));
			assert_like(*a, &x, run, &v, &want);
			assert_int_equal(v.n, want.n);
			assert_memory_equal(v.score, want.score,
			    v.n * sizeof(*v.score));
			assert_memory_equal(v.blame, want.blame,
			    v.n_flows * sizeof(*v.blame));
			algo_close(*a, fresh);
			algo_verdicts_free(&v);
			algo_verdicts_free(&want);
			telemetry_rig_close(&x);
		}
		algo_close(*a, used);
		telemetry_rig_close(&none);
	}
}

static void shuffle(struct obs_tallies *t, struct sim_rng *r)
{
	for (size_t i = t->n; i-- > 1;) {
		const size_t k = sim_rng_below(r, (uint32_t)i + 1);
		const struct obs_tally a = obs_tallies_at(t, i),
				       b = obs_tallies_at(t, k);
#define X(type, name, units, doc)                                              \
	t->name[i] = b.name;                                                   \
	t->name[k] = a.name;
		OBS_TALLY_COLUMNS(X)
#undef X
	}
}

static void the_order_of_rows_does_not_matter(void **state)
{
	(void)state;
	FOR_EACH_OF_TALLIES(a)
	for (uint32_t run = 0; run < 3 * N_KINDS; run++) {
		const unsigned kinds = kinds_of[run % N_KINDS];
		struct telemetry_rig x;
		struct sim_rng r;
		struct algo_verdicts v = {0}, want = {0};
		void *work;
		draw(&x, kinds, run);
		if (!reads(*a, &x)) {
			telemetry_rig_close(&x);
			continue;
		}
		test_rng(&r, run);
		assert_ok(algo_open(*a, &work, &x.topo, NULL, test_err()));
		assert_ok((*a)->diagnose(work, &x.w, NULL, &want, test_err()));
		shuffle(&x.t.rows, &r);
		assert_ok((*a)->diagnose(work, &x.w, NULL, &v, test_err()));
		assert_like(*a, &x, run, &v, &want);
		algo_close(*a, work);
		algo_verdicts_free(&v);
		algo_verdicts_free(&want);
		telemetry_rig_close(&x);
	}
}

/* Has A's answer LINK, or one of its switches, among those that it accuses, or on
 * top if it accuses nobody. NetBouncer names the switch of a link with much of a
 * ToR's traffic. */
static int names(const struct telemetry_rig *x, struct algo_verdicts *v,
    topo_link link)
{
	algo_verdicts_sort(v);
	const size_t n = v->flags ? v->n_flagged : v->n > 0;
	topo_node end[2];
	topo_link_ends(&x->topo, link, &end[0], &end[1]);
	for (size_t i = 0; i < n; i++) {
		if (v->link[i] == link)
			return 1;
		for (unsigned k = 0; k < 2; k++)
			if (end[k] >= x->topo.n_hosts &&
			    v->link[i] ==
				x->topo.n_links + end[k] - x->topo.n_hosts)
				return 1;
	}
	return 0;
}

/* A link that loses 5 % beside none that loses anything, seen by hundreds of rows
 * that lost something. An answer without it would be a telemetry that the algorithm
 * should refuse. */
static unsigned finds_it_or_refuses(const struct algo_ops *a, unsigned kinds,
    int cable)
{
	struct telemetry_rig x;
	struct algo_verdicts v = {0};
	void *work;
	if (a->needs & ~telemetry_holds(kinds))
		return 0;
	telemetry_rig_open(&x, 4, 0, kinds, kinds);
	/* Host 5's cable, or the first of its ToR's up. */
	const topo_link bad =
	    cable ? topo_link_of(5, TOPO_UP) : 2 * x.topo.n_hosts + 4;
	x.p.probe_packets = 400;
	telemetry_rig_fail(&x, bad, 0.05);
	telemetry_rig_draw(&x);
	const int reads_it = reads(a, &x);
	if (reads_it) {
		assert_ok(algo_open(a, &work, &x.topo, NULL, test_err()));
		assert_ok(a->diagnose(work, &x.w, NULL, &v, test_err()));
		if (!names(&x, &v, bad))
			fail_msg("%s, kinds %u: link %u is not found, of %zu "
				 "accused",
			    a->name, kinds, bad, v.n_flagged);
		algo_close(a, work);
		algo_verdicts_free(&v);
	}
	telemetry_rig_close(&x);
	return reads_it;
}

static void whoever_reads_a_telemetry_finds_an_easy_fault_by_it(void **state)
{
	const unsigned all = (1u << OBS_N_TELEMETRIES) - 1;
	(void)state;
	for (const struct algo_ops *const *a = algo_registry; *a; a++) {
		unsigned n = 0;
		for (unsigned kinds = 1; kinds <= all; kinds++) {
			n += finds_it_or_refuses(*a, kinds, 1);
			/* By equal paths alone it is one of several alike. */
			if (kinds != OBS_TELE_P)
				n += finds_it_or_refuses(*a, kinds, 0);
		}
		/* Whoever reads nothing of this would pass, too. */
		if ((*a)->needs & OBS_TALLIES)
			assert_true(n > 0);
	}
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	const unsigned kinds[] = {OBS_TELE_INT,
	    OBS_TELE_A1 | OBS_TELE_A2 | OBS_TELE_P};
	for (uint32_t i = 0; i < 2; i++) {
		struct telemetry_rig x;
		draw(&x, kinds[i], 3);
		FOR_EACH_OF_TALLIES(a)
		{
			if (reads(*a, &x))
				telemetry_rig_no_memory(&x, *a);
		}
		telemetry_rig_close(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_seen_gives_an_empty_answer),
	    cmocka_unit_test(a_used_work_block_answers_like_a_fresh_one),
	    cmocka_unit_test(the_order_of_rows_does_not_matter),
	    cmocka_unit_test(
		whoever_reads_a_telemetry_finds_an_easy_fault_by_it),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests_name("algos/rivals", tests, NULL, NULL);
}
