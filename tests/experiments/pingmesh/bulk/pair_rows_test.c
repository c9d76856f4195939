/* tests/experiments/pingmesh/bulk/pair_rows_test.c -- rows in words, in order.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/pingmesh/bulk/pair_rows.h"

#include "tests/test.h"

enum { HOSTS = 20, OF_TOR = 4, WINDOWS = 5, MOST = 200, RUNS = 40 };
static const uint32_t due[] = {6, 10}; /* places a window: under a ToR; else */

/* Rows as they were added, with the number of their window. */
struct plain {
	struct xp_pair_row row;
	uint32_t window, order;
	int kept;
};

static int by_place(const void *a, const void *b)
{
	const struct plain *x = a, *y = b;
	const uint32_t at[] = {x->row.low, x->row.high, x->row.at, x->order};
	const uint32_t to[] = {y->row.low, y->row.high, y->row.at, y->order};
	for (int i = 0; i < 4; i++)
		if (at[i] != to[i])
			return at[i] < to[i] ? -1 : 1;
	return 0;
}

static uint32_t due_of(const struct xp_pair_row *r)
{
	return due[r->low / OF_TOR != r->high / OF_TOR];
}

static struct plain draw(struct sim_rng *r, uint32_t window, uint32_t order)
{
	struct plain x = {.window = window, .order = order, .kept = 1};
	x.row.high = 1 + sim_rng_below(r, HOSTS - 1);
	x.row.low = sim_rng_below(r, x.row.high);
	x.row.at = sim_rng_below(r, due_of(&x.row));
	x.row.n = 1 + sim_rng_below(r, 3);
	x.row.kind = (uint8_t)sim_rng_below(r, 4);
	return x;
}

/* What should be read of the last N of WINDOWS windows, in order. */
static size_t expect(struct plain p[], size_t n_plain, uint32_t n)
{
	size_t k = 0;
	for (size_t i = 0; i < n_plain; i++) {
		if (p[i].window < WINDOWS - n)
			continue;
		for (size_t j = 0; j < i; j++)
			if (p[j].window == p[i].window &&
			    p[j].row.low == p[i].row.low &&
			    p[j].row.high == p[i].row.high &&
			    p[j].row.at == p[i].row.at)
				p[i].kept = 0;
	}
	for (size_t i = 0; i < n_plain; i++) {
		if (p[i].window < WINDOWS - n || !p[i].kept ||
		    p[i].row.kind == XP_PAIR_SLOW)
			continue;
		p[k] = p[i];
		p[k].row.at +=
		    (p[i].window - (WINDOWS - n)) * due_of(&p[i].row);
		k++;
	}
	qsort(p, k, sizeof(*p), by_place);
	return k;
}

static void assert_read(const struct xp_pair_rows *r, const struct plain p[],
    size_t n_plain, uint32_t n, uint32_t run)
{
	/* Half of its places are of one direction. */
	const struct xp_pair_places places = {.n_hosts = HOSTS,
	    .hosts_of_tor = OF_TOR,
	    .from_ns = (WINDOWS - n) * 15,
	    .window_ns = 15,
	    .every_ns = {5, 3}};
	struct xp_pair_walk w;
	size_t k = 0;
	assert_ok(xp_pair_walk_begin(&w, r, n, &places, test_err()));
	while (xp_pair_walk_on(&w, test_err()) == 0 && w.n > 0)
		for (size_t i = 0; i < w.n; i++, k++) {
			const struct xp_pair_row x =
			    xp_pair_rows_read(r, w.key[i]);
			if (k >= n_plain || x.low != p[k].row.low ||
			    x.high != p[k].row.high || x.at != p[k].row.at ||
			    x.n != p[k].row.n || x.kind != p[k].row.kind)
				fail_msg("run %u, last %u: row %zu of %zu", run,
				    n, k, n_plain);
		}
	assert_int_equal(k, n_plain);
	xp_pair_walk_close(&w);
}

/* More windows than are held, of rows some of which begin with one connect. */
static void the_last_windows_are_read_in_order_of_pairs(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < RUNS; run++) {
		static struct plain p[WINDOWS * MOST];
		struct xp_pair_rows rows;
		struct sim_rng r;
		const uint32_t kept = 1 + run % WINDOWS;
		size_t n = 0;
		test_rng(&r, run);
		assert_ok(xp_pair_rows_open(&rows, HOSTS, kept,
		    (uint64_t)kept * due[1], test_err()));
		for (uint32_t i = 0; i < WINDOWS; i++) {
			assert_ok(xp_pair_rows_begin(&rows, test_err()));
			for (uint32_t k = sim_rng_below(&r, 200); k > 0; k--) {
				p[n] = draw(&r, i, (uint32_t)n);
				assert_ok(xp_pair_rows_add(&rows, &p[n++].row,
				    test_err()));
			}
		}
		assert_ok(xp_pair_rows_end(&rows, test_err()));
		const uint32_t last = 1 + sim_rng_below(&r, kept);
		const size_t n_read = expect(p, n, last);
		assert_read(&rows, p, n_read, last, run);
		xp_pair_rows_close(&rows);
	}
}

/* Two bits are left for how many a row is of. */
static void a_row_of_many_is_several(void **state)
{
	const struct xp_pair_row many = {3, (1 << 24) - 1, 5, 9,
	    XP_PAIR_FAILED};
	static const uint32_t sums[] = {4, 8, 9};
	struct xp_pair_rows rows;
	(void)state;
	assert_ok(xp_pair_rows_open(&rows, 1 << 24, 1, 1 << 12, test_err()));
	assert_ok(xp_pair_rows_begin(&rows, test_err()));
	assert_ok(xp_pair_rows_add(&rows, &many, test_err()));
	assert_ok(xp_pair_rows_end(&rows, test_err()));
	assert_int_equal(rows.n, 3);
	for (uint32_t i = 0, sum = 0; i < 3; i++) {
		const struct xp_pair_row x =
		    xp_pair_rows_read(&rows, rows.key[i]);
		assert_int_equal(x.high, many.high);
		assert_int_equal(x.at, many.at + 2 * sum);
		sum += x.n;
		assert_int_equal(sum, sums[i]);
	}
	xp_pair_rows_close(&rows);
}

static void what_does_not_fit_into_a_word_is_refused(void **state)
{
	struct xp_pair_rows rows;
	(void)state;
	assert_int_equal(xp_pair_rows_open(&rows, 1 << 24, 1, 1 << 14,
			     test_err()),
	    SIM_ELIMIT);
	assert_non_null(strstr(test_err()->msg, "16777216 servers and 16384"));
	xp_pair_rows_close(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_last_windows_are_read_in_order_of_pairs),
	    cmocka_unit_test(a_row_of_many_is_several),
	    cmocka_unit_test(what_does_not_fit_into_a_word_is_refused),
	};
	return cmocka_run_group_tests_name(
	    "experiments/pingmesh/bulk/pair_rows", tests, NULL, NULL);
}
