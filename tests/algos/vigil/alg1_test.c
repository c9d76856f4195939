/* tests/algos/vigil/alg1_test.c -- Algorithm 1: by hand, by re-tallying.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/alg1.h"

#include "algos/vigil/common.h"
#include "algos/vigil/vote.h"
#include "tests/rigs/windows.h"
#include "tests/test.h"

/* --- the oracle: the published loop, tallying afresh every round ---------- */

enum { MAX_LINKS = 96, MAX_FLOWS = 400 };

struct naive {
	const struct algo_alg1_params *p;
	const struct topo *topo;
	const struct obs *w;
	uint8_t alive[MAX_FLOWS];
	uint64_t votes[MAX_LINKS]; /* 720720 a vote */
	uint8_t flagged[MAX_LINKS];
	topo_link order[MAX_LINKS];
	uint64_t when_flagged[MAX_LINKS];
	size_t n;
};

static unsigned n_known(const struct obs *w, size_t f)
{
	unsigned n = 0;
	for (unsigned j = 0; j < obs_n_hops(w, f); j++)
		n += obs_path(w, f)[j] != TOPO_NONE;
	return n;
}

static int crosses(const struct obs *w, size_t f, topo_link l)
{
	for (unsigned j = 0; j < obs_n_hops(w, f); j++)
		if (obs_path(w, f)[j] == l)
			return 1;
	return 0;
}

static void naive_tally(struct naive *x)
{
	memset(x->votes, 0, sizeof(x->votes));
	for (size_t f = 0; f < x->w->flows.n; f++)
		for (topo_link l = 0; x->alive[f] && l < x->topo->n_links; l++)
			if (crosses(x->w, f, l))
				x->votes[l] += 720720 / n_known(x->w, f);
}

static void naive_filter(struct naive *x)
{
	for (size_t f = 0; f < x->w->flows.n; f++) {
		uint64_t best = 0;
		for (topo_link l = 0; x->alive[f] && l < x->topo->n_links; l++)
			if (crosses(x->w, f, l) && x->votes[l] > best)
				best = x->votes[l];
		if (best > 0 && best == 720720 / n_known(x->w, f))
			x->alive[f] = 0;
	}
	naive_tally(x);
}

static uint64_t naive_sum(const struct naive *x)
{
	uint64_t sum = 0;
	for (topo_link l = 0; l < x->topo->n_links; l++) {
		if (!x->flagged[l])
			sum += x->votes[l];
		else if (x->p->total == ALGO_ALG1_CURRENT)
			sum += x->when_flagged[l];
	}
	return sum;
}

static void naive_adjust(struct naive *x, topo_link lmax)
{
	const double votes = (double)x->votes[lmax];
	if (x->p->adjust == ALGO_ALG1_REMOVAL) {
		for (size_t f = 0; f < x->w->flows.n; f++)
			if (crosses(x->w, f, lmax))
				x->alive[f] = 0;
		naive_tally(x);
	}
	if (x->p->adjust != ALGO_ALG1_EXPECTED)
		return;
	for (topo_link l = 0; l < x->topo->n_links; l++) {
		double share;
		if (x->flagged[l])
			continue;
		assert_ok(
		    topo_share_given(x->topo, lmax, &l, 1, &share, test_err()));
		const uint64_t d = (uint64_t)floor(votes * share + 0.5);
		x->votes[l] = d > x->votes[l] ? 0 : x->votes[l] - d;
	}
}

static void naive_alg1(struct naive *x)
{
	for (size_t f = 0; f < x->w->flows.n; f++)
		x->alive[f] = x->w->flows.n_retx[f] > 0 && n_known(x->w, f) > 0;
	naive_tally(x);
	if (x->p->noise_filter)
		naive_filter(x);
	const uint64_t initial = naive_sum(x);
	for (;;) {
		topo_link lmax = TOPO_NONE;
		for (topo_link l = 0; l < x->topo->n_links; l++)
			if (!x->flagged[l] && x->votes[l] > 0 &&
			    (lmax == TOPO_NONE || x->votes[l] > x->votes[lmax]))
				lmax = l;
		if (lmax == TOPO_NONE)
			return;
		const uint64_t sum =
		    x->p->total == ALGO_ALG1_INITIAL ? initial : naive_sum(x);
		if ((double)x->votes[lmax] < x->p->threshold * (double)sum ||
		    (double)x->votes[lmax] / 720720 < x->p->floor - 1e-9)
			return;
		x->flagged[lmax] = 1;
		x->when_flagged[lmax] = x->votes[lmax];
		x->order[x->n++] = lmax;
		naive_adjust(x, lmax);
	}
}

static void assert_as_naive(const struct naive *x,
    const struct algo_verdicts *v, const char *what, unsigned run)
{
	int same = v->flags == 1 && v->n_flagged == x->n;
	for (size_t i = 0; same && i < x->n; i++)
		same = v->link[i] == x->order[i] &&
		    v->score[i] ==
			(double)x->when_flagged[x->order[i]] / 720720;
	size_t n_left = 0;
	for (topo_link l = 0; l < x->topo->n_links; l++)
		n_left += !x->flagged[l] && x->votes[l] > 0;
	same = same && v->n == x->n + n_left;
	for (size_t i = x->n; same && i < v->n; i++)
		same = !x->flagged[v->link[i]] &&
		    v->score[i] == (double)x->votes[v->link[i]] / 720720;
	if (!same) {
		algo_verdicts_print(v, stderr);
		fail_msg("(seed %lu, run %u), %s: not as the naive loop",
		    (unsigned long)test_seed(), run, what);
	}
}

/* --- random windows ------------------------------------------------------- */

/* 28 hosts, 96 directed links. */
static void open_clos(struct topo *t)
{
	const struct topo_clos shape = {.n_pods = 2,
	    .n_tors = 2,
	    .n_t1 = 2,
	    .n_t2 = 3,
	    .n_hosts = 7};
	assert_ok(topo_open_clos(t, &shape, test_err()));
	assert_int_equal(t->n_links, MAX_LINKS);
}

/* Flows on the paths they would take; those through one of two or three bad
 * links fail half of the time, others one time in thirty. */
static void window_of_flows(struct obs *w, const struct topo *t,
    unsigned n_flows, struct sim_rng *r)
{
	topo_link bad[3];
	for (int i = 0; i < 3; i++)
		bad[i] = sim_rng_below(r, t->n_links);
	for (unsigned f = 0; f < n_flows; f++) {
		topo_link path[TOPO_MAX_HOPS];
		const topo_host src = sim_rng_below(r, t->n_hosts);
		topo_host dst;
		do
			dst = sim_rng_below(r, t->n_hosts);
		while (dst == src);
		const unsigned n =
		    topo_path(t, 1, src, dst, sim_rng_u32(r), path);
		int is_bad = 0;
		for (unsigned j = 0; j < n; j++)
			for (int i = 0; i < 3; i++)
				is_bad |= path[j] == bad[i];
		const uint32_t lost =
		    is_bad ? sim_rng_below(r, 2) : !sim_rng_below(r, 30);
		window_add(w, lost, n, path);
	}
}

static void open_params(struct algo_alg1_params *p, unsigned choice)
{
	static const double thresholds[] = {0.01, 0, 0.05, 0.2};
	static const double floors[] = {0, 0.6};
	*p = (struct algo_alg1_params){.total = choice % 3,
	    .adjust = choice / 3 % 3,
	    .noise_filter = choice / 9 % 2,
	    .floor = floors[choice / 18 % 2],
	    .threshold = thresholds[choice / 36 % 4],
	    .blame = {.noise = ALGO_NOISE_OWN_VOTE}};
}

enum { N_CHOICES = 3 * 3 * 2 * 2 * 4 };

static void every_choice_of_parameters_flags_what_the_naive_loop_flags(
    void **state)
{
	(void)state;
	struct topo t = {0};
	size_t n_flagged = 0, n_left = 0;
	open_clos(&t);
	for (unsigned run = 0; run < 3 * N_CHOICES; run++) {
		struct algo_alg1_params p;
		struct obs w = {0};
		struct algo_verdicts v = {0};
		struct sim_rng r;
		char what[99];
		void *work;
		test_rng(&r, run);
		open_params(&p, run % N_CHOICES);
		if (run % 3 == 0)
			window_random(&w, MAX_LINKS, 100, &r);
		else
			window_of_flows(&w, &t, MAX_FLOWS, &r);
		snprintf(what, sizeof(what),
		    "threshold %g total %u adjust %u filter %u floor %g",
		    p.threshold, p.total, p.adjust, p.noise_filter, p.floor);
		struct naive x = {.p = &p, .topo = &t, .w = &w};
		naive_alg1(&x);
		assert_ok(algo_open(&algo_alg1, &work, &t, &p, test_err()));
		assert_ok(algo_alg1.diagnose(work, &w, NULL, &v, test_err()));
		assert_as_naive(&x, &v, what, run);
		n_flagged += v.n_flagged;
		n_left += v.n - v.n_flagged;
		algo_close(&algo_alg1, work);
		algo_verdicts_free(&v);
		obs_free(&w);
	}
	/* Both outcomes must occur for the comparison to mean anything. */
	assert_true(n_flagged > 5 * N_CHOICES && n_left > 5 * N_CHOICES);
	topo_close(&t);
}

/* --- votes that another has counted --------------------------------------- */

static void same_verdicts(const struct algo_verdicts *a,
    const struct algo_verdicts *b, unsigned run)
{
	if (a->n != b->n || a->n_flagged != b->n_flagged ||
	    a->n_flows != b->n_flows)
		fail_msg("(seed %lu, run %u): other numbers",
		    (unsigned long)test_seed(), run);
	if (a->n == 0 || a->n_flows == 0)
		return;
	assert_memory_equal(a->link, b->link, a->n * sizeof(*a->link));
	assert_memory_equal(a->score, b->score, a->n * sizeof(*a->score));
	assert_memory_equal(a->blame, b->blame, a->n_flows * sizeof(*a->blame));
}

struct two {
	void *work[2]; /* the vote's, and Algorithm 1's */
	struct algo_verdicts v[2];
};

static const struct algo_ops *const two_ops[2] = {&algo_vote, &algo_alg1};

static void open_two(struct two *x, const struct topo *t,
    const struct algo_vote_params *v, const struct algo_alg1_params *p)
{
	const void *params[2] = {v, p};
	for (int i = 0; i < 2; i++)
		assert_ok(algo_open(two_ops[i], &x->work[i], t, params[i],
		    test_err()));
}

static void ask_two(struct two *x, const struct obs *w, int first)
{
	for (int k = 0; k < 2; k++) {
		const int i = k ^ first;
		struct sim_rng tie;
		test_rng(&tie, 100 + (unsigned)i);
		assert_ok(two_ops[i]->diagnose(x->work[i], w, &tie, &x->v[i],
		    test_err()));
	}
}

static void close_two(struct two *x)
{
	for (int i = 0; i < 2; i++) {
		algo_close(two_ops[i], x->work[i]);
		algo_verdicts_free(&x->v[i]);
	}
}

/* Whoever is asked first, with the same rule of ties or another, on links or on
 * switches, of one window after the other. */
static void what_another_has_counted_changes_no_answer(void **state)
{
	(void)state;
	struct topo t = {0};
	open_clos(&t);
	for (unsigned run = 0; run < N_CHOICES; run++) {
		struct algo_common c = {0};
		struct two alone = {0}, joined = {0};
		struct algo_alg1_params p;
		struct algo_vote_params v = {
		    .blame = {.noise = ALGO_NOISE_OWN_VOTE}};
		struct sim_rng r;
		test_rng(&r, run);
		open_params(&p, run);
		v.blame.tie = sim_rng_below(&r, 3);
		p.blame.tie = sim_rng_below(&r, 3);
		v.blame.noise = sim_rng_below(&r, 2);
		if (p.adjust != ALGO_ALG1_EXPECTED)
			p.on = sim_rng_below(&r, 2);
		v.on = sim_rng_below(&r, 4) == 0;
		open_two(&alone, &t, &v, &p);
		open_two(&joined, &t, &v, &p);
		for (int i = 0; i < 2; i++)
			two_ops[i]->join(joined.work[i], &c);
		for (unsigned k = 0; k < 3; k++) {
			struct obs w = {0};
			window_of_flows(&w, &t, MAX_FLOWS, &r);
			c = (struct algo_common){0};
			ask_two(&alone, &w, 0);
			ask_two(&joined, &w, run % 4 == 3);
			for (int i = 0; i < 2; i++)
				same_verdicts(&alone.v[i], &joined.v[i], run);
			obs_free(&w);
		}
		close_two(&alone);
		close_two(&joined);
	}
	topo_close(&t);
}

/* --- properties ----------------------------------------------------------- */

static void flagged_links_outrank_the_rest_and_scores_descend(void **state)
{
	(void)state;
	struct topo t = {0};
	open_clos(&t);
	for (unsigned run = 0; run < N_CHOICES; run++) {
		struct algo_alg1_params p;
		struct obs w = {0};
		struct algo_verdicts v = {0};
		struct sim_rng r;
		void *work;
		test_rng(&r, run);
		open_params(&p, run);
		window_of_flows(&w, &t, MAX_FLOWS, &r);
		assert_ok(algo_open(&algo_alg1, &work, &t, &p, test_err()));
		assert_ok(algo_alg1.diagnose(work, &w, NULL, &v, test_err()));
		for (size_t i = 1; i < v.n; i++) {
			const size_t before =
			    i < v.n_flagged ? i - 1 : v.n_flagged - 1;
			if (v.n_flagged > 0)
				assert_true(v.score[i] <= v.score[before]);
		}
		for (size_t i = 0; i < v.n_flagged; i++)
			assert_true(algo_verdicts_rank(&v, v.link[i]) <= i + 1);
		algo_close(&algo_alg1, work);
		algo_verdicts_free(&v);
		obs_free(&w);
	}
	topo_close(&t);
}

/* Of the three sums each is at most the one before, and the order of links is
 * not theirs: what one flags is a beginning of what the next does. */
static void a_lesser_total_flags_the_same_and_further_links(void **state)
{
	(void)state;
	struct topo t = {0};
	size_t n_further = 0;
	open_clos(&t);
	for (unsigned run = 0; run < N_CHOICES; run++) {
		struct algo_verdicts v[3] = {0};
		struct algo_alg1_params p;
		struct obs w = {0};
		struct sim_rng r;
		void *work;
		test_rng(&r, run);
		open_params(&p, run);
		p.threshold = 0.05;
		window_of_flows(&w, &t, MAX_FLOWS, &r);
		for (p.total = 0; p.total < 3; p.total++) {
			assert_ok(
			    algo_open(&algo_alg1, &work, &t, &p, test_err()));
			assert_ok(algo_alg1.diagnose(work, &w, NULL,
			    &v[p.total], test_err()));
			algo_close(&algo_alg1, work);
		}
		for (int i = 0; i < 2; i++) {
			assert_true(v[i].n_flagged <= v[i + 1].n_flagged);
			assert_memory_equal(v[i].link, v[i + 1].link,
			    v[i].n_flagged * sizeof(*v[i].link));
		}
		n_further += v[2].n_flagged - v[0].n_flagged;
		for (int i = 0; i < 3; i++)
			algo_verdicts_free(&v[i]);
		obs_free(&w);
	}
	assert_true(n_further > N_CHOICES);
	topo_close(&t);
}

static void adjusting_and_filtering_leave_the_blame_alone(void **state)
{
	(void)state;
	struct topo t = {0};
	struct obs w = {0};
	struct algo_verdicts first = {0};
	struct sim_rng r;
	open_clos(&t);
	test_rng(&r, 0);
	window_of_flows(&w, &t, MAX_FLOWS, &r);
	for (unsigned choice = 0; choice < N_CHOICES; choice++) {
		struct algo_alg1_params p;
		struct algo_verdicts v = {0};
		void *work;
		open_params(&p, choice);
		assert_ok(algo_open(&algo_alg1, &work, &t, &p, test_err()));
		assert_ok(algo_alg1.diagnose(work, &w, NULL,
		    choice ? &v : &first, test_err()));
		if (choice > 0)
			assert_memory_equal(v.blame, first.blame,
			    w.flows.n * sizeof(*v.blame));
		algo_close(&algo_alg1, work);
		algo_verdicts_free(&v);
	}
	algo_verdicts_free(&first);
	obs_free(&w);
	topo_close(&t);
}

/* Not with the adjustment by expected shares: these are computed from a
 * topology, in which a link cannot get another name. */
static void renaming_links_renames_the_verdict(void **state)
{
	(void)state;
	for (unsigned choice = 0; choice < N_CHOICES; choice++) {
		struct algo_alg1_params p;
		open_params(&p, choice);
		if (p.adjust != ALGO_ALG1_EXPECTED)
			assert_renaming_renames(&algo_alg1, &p);
	}
}

/* --- by hand -------------------------------------------------------------- */

/* Six flows through 1, of which two also cross 2; two more through 2; one
 * alone. All have two hops: votes 1: 3, 2: 2, others 1/2 each. */
static void a_window_to_count_by_hand(struct obs *w)
{
	for (topo_link l = 10; l < 14; l++)
		WINDOW_ADD(w, 1, 1, l);
	WINDOW_ADD(w, 1, 1, 2);
	WINDOW_ADD(w, 1, 2, 1);
	WINDOW_ADD(w, 1, 2, 20);
	WINDOW_ADD(w, 1, 21, 2);
	WINDOW_ADD(w, 1, 30, 31);
}

static void by_hand(struct algo_alg1_params p, struct algo_verdicts *v)
{
	struct obs w = {0};
	a_window_to_count_by_hand(&w);
	assert_ok(window_diagnose(&algo_alg1, &p, 40, &w, NULL, v, test_err()));
	obs_free(&w);
}

static void removal_takes_explained_flows_with_all_their_votes(void **state)
{
	(void)state;
	struct algo_verdicts v = {0};
	/* 9 votes: 1 has 3/9; then 2 has 1 of 9, of 6 or of 3. */
	struct algo_alg1_params p = {.adjust = ALGO_ALG1_REMOVAL,
	    .total = ALGO_ALG1_INITIAL,
	    .threshold = 0.12};
	by_hand(p, &v);
	assert_int_equal(v.n_flagged, 1);
	assert_int_equal(v.link[0], 1);
	assert_true(v.score[0] == 3);
	algo_verdicts_sort(&v);
	assert_int_equal(v.link[1], 2);
	assert_true(v.score[1] == 1);
	assert_int_equal(v.n, 1 + 1 + 4);

	p.total = ALGO_ALG1_CURRENT;
	p.threshold = 1.0 / 6 - 0.01;
	by_hand(p, &v);
	assert_int_equal(v.n_flagged, 2);
	p.threshold = 1.0 / 6 + 0.01;
	by_hand(p, &v);
	assert_int_equal(v.n_flagged, 1);

	p.total = ALGO_ALG1_REMAINING;
	p.threshold = 1.0 / 3 - 0.01;
	by_hand(p, &v);
	/* Only the flow over 30 and 31 is left, each of which has half of the
	 * votes that are left. */
	const topo_link link[] = {1, 2, 30};
	assert_int_equal(v.n_flagged, 3);
	assert_memory_equal(v.link, link, sizeof(link));
	assert_true(v.score[2] == 0.5);
	algo_verdicts_free(&v);
}

static void without_adjustment_links_go_by_their_votes(void **state)
{
	(void)state;
	struct algo_verdicts v = {0};
	const struct algo_alg1_params p = {.adjust = ALGO_ALG1_NONE,
	    .total = ALGO_ALG1_CURRENT,
	    .threshold = 0.01};
	by_hand(p, &v);
	const topo_link link[] = {1, 2, 10, 11, 12, 13, 20, 21, 30, 31};
	assert_int_equal(v.n_flagged, 10);
	assert_memory_equal(v.link, link, sizeof(link));
	algo_verdicts_free(&v);
}

static void a_filter_or_a_floor_keeps_lone_flows_out(void **state)
{
	(void)state;
	struct algo_verdicts v = {0};
	struct algo_alg1_params p = {.adjust = ALGO_ALG1_REMOVAL,
	    .total = ALGO_ALG1_REMAINING,
	    .noise_filter = 1};
	by_hand(p, &v);
	assert_int_equal(v.n_flagged, 2);
	assert_int_equal(v.n, 2);
	p.noise_filter = 0;
	p.floor = 0.6;
	by_hand(p, &v);
	assert_int_equal(v.n_flagged, 2);
	assert_int_equal(v.n, 4);
	algo_verdicts_free(&v);
}

static void a_floor_lets_exactly_as_many_votes_pass(void **state)
{
	(void)state;
	struct obs w = {0};
	struct algo_verdicts v = {0};
	struct algo_alg1_params p = {.adjust = ALGO_ALG1_NONE, .floor = 0.6};
	for (topo_link l = 0; l < 3; l++)
		WINDOW_ADD(&w, 1, 9, 10 + l, 20 + l, 30 + l, 40 + l);
	assert_ok(
	    window_diagnose(&algo_alg1, &p, 50, &w, NULL, &v, test_err()));
	assert_int_equal(v.n_flagged, 1);
	p.floor = 0.600001;
	assert_ok(
	    window_diagnose(&algo_alg1, &p, 50, &w, NULL, &v, test_err()));
	assert_int_equal(v.n_flagged, 0);
	algo_verdicts_free(&v);
	obs_free(&w);
}

/* A leaf-spine of 4 ToRs with one host each and 2 T1s; host 0's flows to each
 * other host fail on its ToR's uplink to T1 0. All 12 hops get 1/4 of a vote.
 * Returns that uplink. */
static topo_link open_leaf_spine(struct topo *t, struct obs *w)
{
	const struct topo_clos shape = {.n_pods = 1,
	    .n_tors = 4,
	    .n_t1 = 2,
	    .n_hosts = 1};
	assert_ok(topo_open_clos(t, &shape, test_err()));
	const topo_link bad = topo_clos_link_tor(&t->clos, 0, 0, TOPO_UP);
	for (uint32_t tor = 1; tor < 4; tor++)
		WINDOW_ADD(w, 1, topo_clos_link_host(0, TOPO_UP), bad,
		    topo_clos_link_tor(&t->clos, tor, 0, TOPO_DOWN),
		    topo_clos_link_host(tor, TOPO_DOWN));
	return bad;
}

/* The host's own link has 3/4 like the uplink, and the smaller id. It explains
 * a third of its votes at each other host, which leaves none there; half of
 * them at the uplink; and a sixth at each downlink of T1 0. Then the uplink
 * explains a third of its 3/8 at each downlink, which leaves none. */
static void expected_shares_clear_the_links_behind_a_bad_one(void **state)
{
	(void)state;
	struct topo t = {0};
	struct obs w = {0};
	struct algo_verdicts v = {0};
	void *work;
	const topo_link bad = open_leaf_spine(&t, &w);
	assert_ok(algo_open(&algo_alg1, &work, &t, NULL, test_err()));
	assert_ok(algo_alg1.diagnose(work, &w, NULL, &v, test_err()));
	assert_int_equal(v.link[0], topo_clos_link_host(0, TOPO_UP));
	assert_true(v.score[0] == 0.75);
	assert_int_equal(v.link[1], bad);
	assert_true(v.score[1] == 0.375);
	assert_int_equal(v.n, 2);
	assert_int_equal(v.n_flagged, 2);
	for (size_t f = 0; f < 3; f++)
		assert_int_equal(v.blame[f], topo_clos_link_host(0, TOPO_UP));
	algo_close(&algo_alg1, work);
	algo_verdicts_free(&v);
	obs_free(&w);
	topo_close(&t);
}

/* The same window. 3 votes were cast. Once the host's link with its 3/4 has
 * explained what it does, the uplink has 3/8 and each downlink 1/8: an eighth of
 * the votes cast, but a quarter of the 3/2 that are there by then. */
static void by_default_the_share_is_of_the_votes_cast(void **state)
{
	(void)state;
	struct topo t = {0};
	struct obs w = {0};
	struct algo_verdicts v = {0};
	struct algo_alg1_params p;
	void *work;
	open_leaf_spine(&t, &w);
	assert_ok(sim_field_defaults(algo_alg1.params, &p, test_err()));
	p.threshold = 0.2;
	for (size_t n = 1; n <= 2; n++) {
		assert_ok(algo_open(&algo_alg1, &work, &t, &p, test_err()));
		assert_ok(algo_alg1.diagnose(work, &w, NULL, &v, test_err()));
		assert_int_equal(v.n_flagged, n);
		algo_close(&algo_alg1, work);
		p.total = ALGO_ALG1_CURRENT;
	}
	algo_verdicts_free(&v);
	obs_free(&w);
	topo_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_another_has_counted_changes_no_answer),
	    cmocka_unit_test(
		every_choice_of_parameters_flags_what_the_naive_loop_flags),
	    cmocka_unit_test(flagged_links_outrank_the_rest_and_scores_descend),
	    cmocka_unit_test(a_lesser_total_flags_the_same_and_further_links),
	    cmocka_unit_test(adjusting_and_filtering_leave_the_blame_alone),
	    cmocka_unit_test(renaming_links_renames_the_verdict),
	    cmocka_unit_test(
		removal_takes_explained_flows_with_all_their_votes),
	    cmocka_unit_test(without_adjustment_links_go_by_their_votes),
	    cmocka_unit_test(a_filter_or_a_floor_keeps_lone_flows_out),
	    cmocka_unit_test(a_floor_lets_exactly_as_many_votes_pass),
	    cmocka_unit_test(expected_shares_clear_the_links_behind_a_bad_one),
	    cmocka_unit_test(by_default_the_share_is_of_the_votes_cast),
	};
	return cmocka_run_group_tests_name("algos/vigil/alg1", tests, NULL,
	    NULL);
}
