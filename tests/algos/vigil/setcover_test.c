/* tests/algos/vigil/setcover_test.c -- set covers: reductions, parts, bounds.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/vigil/setcover.h"

#include "tests/rigs/windows.h"
#include "tests/test.h"

enum { MAX_COLS = 14, MAX_ROWS = 30 };

/* An instance as bit masks; column c has id 10 c and a weight. */
struct masks {
	unsigned n_cols, n_rows;
	uint32_t row[MAX_ROWS];
	uint64_t weight[MAX_COLS];
};

static void random_masks(struct masks *m, struct sim_rng *r)
{
	m->n_cols = 3 + sim_rng_below(r, MAX_COLS - 2);
	m->n_rows = 1 + sim_rng_below(r, MAX_ROWS);
	for (unsigned c = 0; c < m->n_cols; c++)
		m->weight[c] = sim_rng_below(r, 3);
	for (unsigned i = 0; i < m->n_rows; i++) {
		const unsigned n = 1 + sim_rng_below(r, 4);
		m->row[i] = 0;
		for (unsigned k = 0; k < n; k++)
			m->row[i] |= 1u << sim_rng_below(r, m->n_cols);
	}
}

/* Rows and columns in the order given; NULL: as they are. */
static void fill(struct algo_setcover *s, const struct masks *m,
    const uint32_t *row_order, const uint32_t *col_order)
{
	uint32_t at[MAX_COLS];
	algo_setcover_clear(s);
	for (uint32_t k = 0; k < m->n_cols; k++) {
		const uint32_t c = col_order ? col_order[k] : k;
		at[c] = k;
		assert_ok(
		    algo_setcover_add_col(s, m->weight[c], 10 * c, test_err()));
	}
	for (uint32_t k = 0; k < m->n_rows; k++) {
		const uint32_t r = row_order ? row_order[k] : k;
		uint32_t col[MAX_COLS], n = 0;
		for (uint32_t c = 0; c < m->n_cols; c++)
			if (m->row[r] >> c & 1)
				col[n++] = at[c];
		assert_ok(algo_setcover_add_row(s, col, n, test_err()));
	}
	assert_ok(algo_setcover_index(s, test_err()));
}

static int covers(const struct masks *m, uint32_t set)
{
	for (unsigned r = 0; r < m->n_rows; r++)
		if (!(m->row[r] & set))
			return 0;
	return 1;
}

/* The size of a smallest cover within ALLOWED; 99 if there is none. */
static unsigned brute(const struct masks *m, uint32_t allowed)
{
	unsigned best = 99;
	for (uint32_t set = 0; set < 1u << m->n_cols; set++) {
		const unsigned n = (unsigned)__builtin_popcount(set);
		if ((set & ~allowed) == 0 && n < best && covers(m, set))
			best = n;
	}
	return best;
}

/* What is left of an instance, and its set, as masks of ids. */
static void left_of(const struct algo_setcover *s, struct masks *m)
{
	*m = (struct masks){.n_cols = MAX_COLS};
	for (uint32_t r = 0; r < s->n_rows; r++) {
		uint32_t mask = 0;
		for (uint32_t i = 0; i < s->row[r].n; i++) {
			const struct algo_setcover_col *c =
			    &s->col[s->row_col[s->row[r].begin + i]];
			if (!c->gone)
				mask |= 1u << c->id / 10;
		}
		if (!s->row[r].gone)
			m->row[m->n_rows++] = mask;
	}
}

static uint32_t set_of(const struct algo_setcover *s)
{
	uint32_t set = 0;
	for (uint32_t i = 0; i < s->n_set; i++)
		set |= 1u << s->col[s->set[i]].id / 10;
	return set;
}

#define FOR_EACH_RUN(n, m)                                                     \
	for (uint32_t run = 0; run < (n) && next_masks(&(m), run); run++)

static int next_masks(struct masks *m, uint32_t run)
{
	struct sim_rng r;
	test_rng(&r, run);
	random_masks(m, &r);
	return 1;
}

#define check(cond)                                                            \
	do {                                                                   \
		if (!(cond))                                                   \
			fail_msg("(seed %lu, run %u): %s",                     \
			    (unsigned long)test_seed(), run, #cond);           \
	} while (0)

static void a_column_named_twice_in_a_row_counts_once(void **state)
{
	(void)state;
	struct algo_setcover s = {0};
	assert_ok(algo_setcover_add_col(&s, 0, 7, test_err()));
	assert_ok(algo_setcover_add_row(&s, (uint32_t[]){0, 0}, 2, test_err()));
	assert_ok(algo_setcover_index(&s, test_err()));
	assert_int_equal(s.n_entries, 1);
	algo_setcover_reduce(&s);
	assert_int_equal(s.n_set, 1);
	assert_int_equal(s.n_rows_left, 0);
	algo_setcover_free(&s);
}

static void reductions_never_change_the_optimum(void **state)
{
	(void)state;
	struct algo_setcover s = {0};
	struct masks m, left;
	unsigned n_left = 0;
	FOR_EACH_RUN(500, m)
	{
		fill(&s, &m, NULL, NULL);
		algo_setcover_reduce(&s);
		left_of(&s, &left);
		check(s.n_set + brute(&left, UINT32_MAX) ==
		    brute(&m, UINT32_MAX));
		check(left.n_rows == s.n_rows_left);
		n_left += left.n_rows > 0;
	}
	/* Not all of them were solved outright. */
	assert_true(n_left > 20);
	algo_setcover_free(&s);
}

/* After reducing, no row contains another one, no column covers only rows that
 * another one covers too, and no row has a single column. */
static void nothing_is_left_to_reduce(void **state)
{
	(void)state;
	struct algo_setcover s = {0};
	struct masks m, left;
	FOR_EACH_RUN(500, m)
	{
		uint32_t col[MAX_COLS] = {0};
		fill(&s, &m, NULL, NULL);
		algo_setcover_reduce(&s);
		left_of(&s, &left);
		for (unsigned i = 0; i < left.n_rows; i++) {
			check(__builtin_popcount(left.row[i]) > 1);
			for (unsigned j = 0; j < left.n_rows; j++)
				check(i == j ||
				    (left.row[i] & ~left.row[j]) != 0);
			for (unsigned c = 0; c < MAX_COLS; c++)
				col[c] |= (left.row[i] >> c & 1) << i;
		}
		for (unsigned c = 0; c < MAX_COLS; c++)
			for (unsigned d = 0; d < MAX_COLS; d++)
				check(c == d || col[c] == 0 ||
				    (col[c] & ~col[d]) != 0);
	}
	algo_setcover_free(&s);
}

static void parts_are_disjoint_and_add_up(void **state)
{
	(void)state;
	struct algo_setcover s = {0}, part = {0};
	struct masks m, left;
	unsigned n_several = 0;
	FOR_EACH_RUN(200, m)
	{
		uint32_t seen = 0, n_rows = 0;
		struct sim_rng r;
		unsigned opt;
		/* Pairs of columns in two halves that share none. */
		m.n_cols = MAX_COLS;
		m.n_rows = MAX_ROWS;
		test_rng(&r, run);
		for (unsigned i = 0; i < m.n_rows; i++)
			m.row[i] = (1u << sim_rng_below(&r, 7) |
				       1u << sim_rng_below(&r, 7))
			    << (i % 2 ? 7 : 0);
		fill(&s, &m, NULL, NULL);
		algo_setcover_reduce(&s);
		opt = s.n_set;
		assert_ok(algo_setcover_split(&s, test_err()));
		for (uint32_t k = 0; k < s.n_parts; k++) {
			uint32_t cols = 0;
			assert_ok(algo_setcover_part(&s, k, &part, test_err()));
			check(part.n_rows == s.part[k].n_rows);
			left_of(&part, &left);
			for (unsigned i = 0; i < left.n_rows; i++)
				cols |= left.row[i];
			check(!(cols & seen));
			for (uint32_t c = 0; c < part.n_cols; c++)
				check(
				    s.col[part.col[c].up].id == part.col[c].id);
			seen |= cols;
			n_rows += part.n_rows;
			opt += brute(&left, UINT32_MAX);
		}
		check(n_rows == s.n_rows_left);
		check(opt == brute(&m, UINT32_MAX));
		n_several += s.n_parts > 1;
	}
	assert_true(n_several > 5);
	algo_setcover_free(&s);
	algo_setcover_free(&part);
}

/* Make the whole of S one part, whose rows and columns are all there. */
static void whole(struct algo_setcover *s, const struct masks *m)
{
	fill(s, m, NULL, NULL);
	algo_setcover_greedy(s);
}

static void covers_cover_and_bounds_bound(void **state)
{
	(void)state;
	struct algo_setcover s = {0};
	struct masks m;
	unsigned n_better = 0, n_raised = 0, n_gone = 0;
	FOR_EACH_RUN(800, m)
	{
		const unsigned opt = brute(&m, UINT32_MAX);
		uint32_t greedy, disjoint, bound, kept = 0;
		whole(&s, &m);
		greedy = s.n_set;
		check(covers(&m, set_of(&s)) && s.n_set >= opt);
		assert_ok(algo_setcover_disjoint(&s, &disjoint, test_err()));
		check(disjoint >= 1 && disjoint <= opt);
		bound = disjoint;
		assert_ok(algo_setcover_price(&s, &bound, test_err()));
		check(bound >= disjoint && bound <= opt);
		check(covers(&m, set_of(&s)));
		check(s.n_set >= opt && s.n_set <= greedy);
		check((unsigned)__builtin_popcount(set_of(&s)) == s.n_set);
		for (uint32_t c = 0; c < s.n_cols; c++) {
			kept |= (uint32_t)!s.col[c].gone << c;
			n_gone += s.col[c].gone;
		}
		check((set_of(&s) & ~kept) == 0);
		check(brute(&m, kept) == opt);
		n_better += s.n_set < greedy;
		n_raised += bound > disjoint;
	}
	assert_true(n_better > 0 && n_raised > 0 && n_gone > 0);
	algo_setcover_free(&s);
}

static int is_preferred(const struct masks *m, unsigned a, unsigned b)
{
	return m->weight[a] != m->weight[b] ? m->weight[a] > m->weight[b]
					    : a < b;
}

static void a_polished_cover_has_nothing_to_leave_out_or_exchange(void **state)
{
	(void)state;
	struct algo_setcover s = {0};
	struct masks m;
	unsigned n_changed = 0;
	FOR_EACH_RUN(800, m)
	{
		fill(&s, &m, NULL, NULL);
		/* All columns, then a greedy cover. */
		s.n_set = 0;
		for (uint32_t c = 0; c < s.n_cols; c++)
			s.set[s.n_set++] = c;
		algo_setcover_polish(&s);
		const uint32_t set = set_of(&s);
		check(covers(&m, set));
		for (unsigned c = 0; c < m.n_cols; c++) {
			if (!(set >> c & 1))
				continue;
			check(s.col[c].in_set);
			check(!covers(&m, set & ~(1u << c)));
			for (unsigned d = 0; d < m.n_cols; d++)
				check((set >> d & 1) ||
				    !is_preferred(&m, d, c) ||
				    !covers(&m, (set & ~(1u << c)) | 1u << d));
		}
		whole(&s, &m);
		const uint32_t greedy = set_of(&s);
		const uint32_t n = s.n_set;
		algo_setcover_polish(&s);
		check(covers(&m, set_of(&s)) && s.n_set <= n);
		n_changed += set_of(&s) != greedy;
	}
	assert_true(n_changed > 0);
	algo_setcover_free(&s);
}

/* A cover by every step in turn. */
static uint32_t solve(struct algo_setcover *s, struct algo_setcover *part,
    uint32_t *bound)
{
	algo_setcover_reduce(s);
	*bound = s->n_set;
	assert_ok(algo_setcover_split(s, test_err()));
	for (uint32_t k = 0; k < s->n_parts; k++) {
		uint32_t b = 0;
		assert_ok(algo_setcover_part(s, k, part, test_err()));
		algo_setcover_greedy(part);
		assert_ok(algo_setcover_price(part, &b, test_err()));
		*bound += b;
		for (uint32_t i = 0; i < part->n_set; i++)
			s->set[s->n_set++] = part->col[part->set[i]].up;
	}
	algo_setcover_polish(s);
	return set_of(s);
}

static void the_order_of_rows_and_columns_does_not_matter(void **state)
{
	(void)state;
	struct algo_setcover s = {0}, part = {0};
	struct masks m;
	FOR_EACH_RUN(500, m)
	{
		struct sim_rng r;
		uint32_t bound, bound2;
		test_rng(&r, 10000 + run);
		uint32_t *rows = window_shuffled(m.n_rows, &r);
		uint32_t *cols = window_shuffled(m.n_cols, &r);
		fill(&s, &m, NULL, NULL);
		const uint32_t set = solve(&s, &part, &bound);
		fill(&s, &m, rows, cols);
		check(solve(&s, &part, &bound2) == set);
		check(bound == bound2 && covers(&m, set));
		free(rows);
		free(cols);
	}
	algo_setcover_free(&s);
	algo_setcover_free(&part);
}

/* Row R as text of its columns: a letter each, so that strcmp() is the order. */
static void spell(const struct algo_setcover *s, uint32_t r, char *text)
{
	for (uint32_t i = 0; i < s->row[r].n; i++)
		*text++ = (char)('a' + s->row_col[s->row[r].begin + i]);
	*text = '\0';
}

/* Whatever order rows come in, a part has them as a dictionary has words, a
 * prefix before what it begins: it is the same program to its solver. */
static void rows_of_a_part_are_in_one_order(void **state)
{
	(void)state;
	struct algo_setcover s = {0}, part = {0}, other = {0};
	struct masks m;
	unsigned n_prefixes = 0;
	FOR_EACH_RUN(300, m)
	{
		struct sim_rng r;
		test_rng(&r, 20000 + run);
		uint32_t *rows = window_shuffled(m.n_rows, &r);
		for (int shuffled = 0; shuffled < 2; shuffled++) {
			fill(&s, &m, shuffled ? rows : NULL, NULL);
			assert_ok(algo_setcover_split(&s, test_err()));
			assert_ok(algo_setcover_part(&s, s.n_parts - 1,
			    shuffled ? &other : &part, test_err()));
		}
		check(part.n_rows == other.n_rows);
		char last[MAX_COLS + 1] = "", word[MAX_COLS + 1];
		for (uint32_t i = 0; i < part.n_rows; i++) {
			char same[MAX_COLS + 1];
			spell(&part, i, word);
			spell(&other, i, same);
			check(strcmp(word, same) == 0);
			check(strcmp(last, word) <= 0);
			n_prefixes += last[0] && strcmp(last, word) < 0 &&
			    strncmp(last, word, strlen(last)) == 0;
			strcpy(last, word);
		}
		free(rows);
	}
	assert_true(n_prefixes > 50);
	algo_setcover_free(&s);
	algo_setcover_free(&part);
	algo_setcover_free(&other);
}

/* Rows taken one by one, those whose columns are in the fewest rows first, of
 * equal ones the first. */
static uint32_t disjoint_of(const struct masks *m)
{
	uint32_t done = 0, used = 0, bound = 0;
	for (uint32_t k = 0; k < m->n_rows; k++) {
		uint32_t best = UINT32_MAX, fewest = UINT32_MAX;
		for (uint32_t i = 0; i < m->n_rows; i++) {
			uint32_t crowd = 0;
			for (uint32_t j = 0; j < m->n_rows; j++)
				crowd += (uint32_t)__builtin_popcount(
				    m->row[i] & m->row[j]);
			if (!(done >> i & 1) && crowd < fewest) {
				fewest = crowd;
				best = i;
			}
		}
		done |= 1u << best;
		bound += (m->row[best] & used) == 0;
		if ((m->row[best] & used) == 0)
			used |= m->row[best];
	}
	return bound;
}

static void rows_that_rule_out_the_fewest_bound_first(void **state)
{
	(void)state;
	struct algo_setcover s = {0};
	struct masks m;
	FOR_EACH_RUN(1000, m)
	{
		uint32_t bound;
		fill(&s, &m, NULL, NULL);
		assert_ok(algo_setcover_disjoint(&s, &bound, test_err()));
		check(bound == disjoint_of(&m));
	}
	algo_setcover_free(&s);
}

/* Odd cycles of n rows: the relaxation is n / 2, the optimum (n + 1) / 2. */
static void prices_reach_the_relaxation_of_odd_cycles(void **state)
{
	(void)state;
	struct algo_setcover s = {0};
	for (unsigned n = 3; n < MAX_COLS; n += 2) {
		struct masks m = {.n_cols = n, .n_rows = n};
		uint32_t bound = 0;
		for (unsigned i = 0; i < n; i++)
			m.row[i] = 1u << i | 1u << (i + 1) % n;
		whole(&s, &m);
		assert_ok(algo_setcover_price(&s, &bound, test_err()));
		assert_int_equal(bound, (n + 1) / 2);
		assert_int_equal(s.n_set, (n + 1) / 2);
	}
	algo_setcover_free(&s);
}

/* Entries are numbered by 32 bits. */
static void more_entries_than_numbers_are_refused(void **state)
{
	(void)state;
	struct algo_setcover s = {0};
	const uint32_t col[3] = {0, 1, 2};
	struct sim_err e = {0};
	for (uint32_t c = 0; c < 3; c++)
		assert_ok(algo_setcover_add_col(&s, 1, c, test_err()));
	s.n_entries = UINT32_MAX - 2;
	assert_int_equal(algo_setcover_add_row(&s, col, 3, &e), SIM_ELIMIT);
	assert_string_equal(e.msg,
	    "a cover of more than 4294967295 entries is too large.");
	assert_int_equal(s.n_rows, 0);
	s.n_entries = 0;
	assert_ok(algo_setcover_add_row(&s, col, 3, test_err()));
	algo_setcover_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(more_entries_than_numbers_are_refused),
	    cmocka_unit_test(a_column_named_twice_in_a_row_counts_once),
	    cmocka_unit_test(reductions_never_change_the_optimum),
	    cmocka_unit_test(nothing_is_left_to_reduce),
	    cmocka_unit_test(parts_are_disjoint_and_add_up),
	    cmocka_unit_test(covers_cover_and_bounds_bound),
	    cmocka_unit_test(
		a_polished_cover_has_nothing_to_leave_out_or_exchange),
	    cmocka_unit_test(the_order_of_rows_and_columns_does_not_matter),
	    cmocka_unit_test(rows_of_a_part_are_in_one_order),
	    cmocka_unit_test(rows_that_rule_out_the_fewest_bound_first),
	    cmocka_unit_test(prices_reach_the_relaxation_of_odd_cycles),
	};
	return cmocka_run_group_tests_name("algos/vigil/setcover", tests, NULL,
	    NULL);
}
