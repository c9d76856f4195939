/* tests/results/series_test.c -- rows of a span of time, from few chunks.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/series.h"

#include "tests/rigs/folder.h"
#include "tests/test.h"

enum { CHUNK = 4, MOST = 11, LAST = 30 };

/* A table of times and a number; that of an index will do. */
static const struct res_series kinds[] = {
    {"begun", "begun_index", CHUNK, 0, res_index_kind},
    {"ended", "ended_index", CHUNK, 1, res_index_kind},
    {"few", NULL, CHUNK, 0, res_index_kind},
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* N rows about in order of time, some of one time, appended BATCH at a time. */
static void write_all(const char *path, struct res_index *t, unsigned n,
    unsigned batch)
{
	struct res_h5_out *f;
	struct sim_rng r;
	test_rng(&r, n);
	assert_ok(res_h5_out_open(&f, path, test_err()));
	for (uint32_t i = 0; i < n; i++) {
		const struct res_index_row row = {2 * i + sim_rng_below(&r, 6),
		    100 + i};
		assert_ok(res_index_add(t, &row, test_err()));
	}
	for (unsigned k = 0; k < N_KINDS; k++) {
		struct res_series_out s = {0};
		struct res_index part = {0};
		assert_ok(
		    res_series_create(&s, &kinds[k], NULL, f, test_err()));
		for (uint32_t i = 0; i < n; i++) {
			const struct res_index_row row = res_index_at(t, i);
			assert_ok(res_index_add(&part, &row, test_err()));
			if (i % batch != batch - 1 && i != n - 1)
				continue;
			assert_ok(res_series_append(&s, &part, test_err()));
			assert_int_equal(s.n, i + 1);
			res_index_clear(&part);
		}
		assert_ok(res_series_finish(&s, test_err()));
		res_series_out_free(&s);
		assert_int_equal(s.n, 0);
		assert_null(s.spans.first_ns);
		res_index_free(&part);
	}
	assert_ok(res_h5_out_finish(f, test_err()));
}

/* Those of T in the span, behind a row that was there before. */
static void assert_got(struct res_series_in *s, const struct res_index *t,
    sim_ns from, sim_ns to)
{
	const int ends = s->is->ends;
	const struct res_index_row before = {7, 8};
	struct res_index got = {0};
	size_t n = 1;
	assert_ok(res_index_add(&got, &before, test_err()));
	assert_ok(res_series_get(s, from, to, &got, test_err()));
	assert_int_equal(got.first_ns[0], 7);
	for (size_t i = 0; i < t->n; i++) {
		const sim_ns at = t->first_ns[i];
		if (ends ? at <= from || at > to : at < from || at >= to)
			continue;
		assert_true(n < got.n);
		assert_int_equal(got.first_ns[n], at);
		assert_int_equal(got.last_ns[n], t->last_ns[i]);
		n++;
	}
	assert_int_equal(got.n, n);
	res_index_free(&got);
}

/* Each chunk has the least and the greatest of its times. */
static void assert_spans(const struct res_series_in *s,
    const struct res_index *t)
{
	assert_int_equal(s->spans.n, (t->n + CHUNK - 1) / CHUNK);
	for (size_t c = 0; c < s->spans.n; c++) {
		sim_ns first = SIM_NEVER, last = 0;
		for (size_t i = c * CHUNK; i < t->n && i < (c + 1) * CHUNK;
		     i++) {
			const sim_ns at = t->first_ns[i];
			first = at < first ? at : first;
			last = at > last ? at : last;
		}
		assert_int_equal(s->spans.first_ns[c], first);
		assert_int_equal(s->spans.last_ns[c], last);
	}
}

static void each_span_has_the_rows_of_its_time(void **state)
{
	(void)state;
	static const unsigned sizes[] = {0, 1, CHUNK, CHUNK + 1, MOST};
	const char *path = test_path("series");
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct res_index t = {0};
		struct res_h5_in *f;
		write_all(path, &t, sizes[i], 1 + i);
		assert_ok(res_h5_in_open(&f, path, test_err()));
		for (unsigned k = 0; k < N_KINDS; k++) {
			struct res_series_in s = {0};
			assert_ok(
			    res_series_open(&s, &kinds[k], f, test_err()));
			assert_int_equal(s.n, sizes[i]);
			if (kinds[k].index)
				assert_spans(&s, &t);
			else
				assert_int_equal(s.spans.n, 0);
			const sim_ns step = sizes[i] == MOST ? 1 : 7;
			for (sim_ns a = 0; a < LAST; a += 3)
				for (sim_ns b = a % 2; b < LAST; b += 2 * step)
					assert_got(&s, &t, a, b);
			assert_got(&s, &t, 0, SIM_NEVER);
			res_series_in_free(&s);
			assert_int_equal(s.n, 0);
			assert_null(s.spans.first_ns);
		}
		struct res_index all = {0};
		assert_ok(res_series_all_rows(f, "few", res_index_kind(), &all,
		    test_err()));
		assert_int_equal(all.n, sizes[i]);
		for (size_t j = 0; j < all.n; j++)
			assert_int_equal(all.last_ns[j], 100 + j);
		res_index_free(&all);
		res_index_free(&t);
		res_h5_in_close(f);
	}
}

static void an_index_of_other_chunks_is_refused(void **state)
{
	(void)state;
	struct res_series wrong = kinds[0];
	struct res_series_in s = {0};
	struct res_index t = {0};
	struct res_h5_in *f;
	const char *path = test_path("other");
	write_all(path, &t, MOST, 5);
	assert_ok(res_h5_in_open(&f, path, test_err()));
	wrong.chunk_rows = CHUNK + 2;
	assert_int_equal(res_series_open(&s, &wrong, f, test_err()),
	    SIM_EPARSE);
	assert_string_equal(test_err()->msg,
	    "table begun has 3 chunks by its index, not 2.");
	res_series_in_free(&s);
	wrong.name = "none";
	assert_int_equal(res_series_open(&s, &wrong, f, test_err()),
	    SIM_EPARSE);
	res_series_in_free(&s);
	res_h5_in_close(f);
	res_index_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_span_has_the_rows_of_its_time),
	    cmocka_unit_test(an_index_of_other_chunks_is_refused),
	};
	return cmocka_run_group_tests_name("results/series", tests,
	    test_folder_make, test_folder_remove);
}
