/* tests/experiments/millisampler/public_test.c -- runs there and back; bursts.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/public.h"

#include <string.h>
#include <sys/stat.h>

#include "tests/rigs/folder.h"
#include "tests/test.h"

enum { RUNS = 200, WIDTH = 1000000 };
static const uint64_t line_bps = 8000000000; /* a full bucket: 1,000,000 */

/* Every test takes the reader, which a program may be built without. */
static void public_take_reader(void)
{
	if (!xp_public_is_built_in())
		skip();
}

static enum xp_public_end public_read_text(struct xp_public *p,
    const char *text)
{
	enum xp_public_end end;
	test_write("x.json", text);
	assert_ok(xp_public_read(p, test_path("x.json"), WIDTH, line_bps, &end,
	    test_err()));
	return end;
}

/* --- by hand ---------------------------------------------------------------*/

static void each_key_is_a_column(void **state)
{
	(void)state;
	struct xp_public p = {0};
	public_take_reader();
	assert_int_equal(public_read_text(&p,
			     "{\"rack_id\": 7, \"server_hostname\": \"h\","
			     "\"sampling_freq\": 2.5,"
			     "\"ingressBytes\": [10, 0, 30.0],"
			     "\"egressBytes\": [1, 0, 3],"
			     "\"inRxmitBytes\": [4, 9, 31],"
			     "\"outRxmitBytes\": [1, 0, 2],"
			     "\"inCongestionExperiencedBytes\": [10, 0, 5],"
			     "\"connections\": [2, 0, 6],"
			     "\"burst_result\": {\"ingress\": {\"5\": ["
			     "{\"Position\": 2, \"Length\": 1},"
			     "{\"Position\": 2}]}}}"),
	    XP_PUBLIC_TAKEN);
	assert_string_equal(p.rack.text, "7");
	assert_string_equal(p.host.text, "h");
	assert_true(p.freq == 2.5);
	assert_int_equal(p.run.start_ns, 5000);
	assert_int_equal(p.run.width_ns, WIDTH);
	assert_int_equal(p.run.line_bps, line_bps);
	assert_int_equal(p.run.n_buckets, 3);
	/* The second bucket was quiet, but something of it was sent again; and
	 * of the third more than came. */
	assert_int_equal(p.n_cut, 2);
	assert_int_equal(p.samples.n, 2);
	const struct obs_sample a = obs_samples_at(&p.samples, 0),
				b = obs_samples_at(&p.samples, 1);
	assert_memory_equal(&a,
	    (&(struct obs_sample){.in_bytes = 10,
		.out_bytes = 1,
		.in_ce = 10,
		.in_retx = 4,
		.out_retx = 1,
		.conns = 2}),
	    sizeof(a));
	assert_memory_equal(&b,
	    (&(struct obs_sample){.bucket = 2,
		.in_bytes = 30,
		.out_bytes = 3,
		.in_ce = 5,
		.in_retx = 30,
		.out_retx = 2,
		.conns = 6}),
	    sizeof(b));
	assert_int_equal(p.has_bursts, 1);
	assert_int_equal(p.n_odd, 1);
	assert_int_equal(p.bursts.n, 1);
	assert_int_equal(p.bursts.first[0], 2);
	xp_public_free(&p);
}

/* The reader is asked for one after the other with the same memory, and nothing
 * of the one before is left. */
static void what_lacks_something_is_named(void **state)
{
	(void)state;
#define LONG "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
#define WHO  "{\"rack_id\": 1, \"server_hostname\": \"x\", "
	static const struct {
		enum xp_public_end end;
		const char *text;
	} is[] = {
	    {XP_PUBLIC_NO_JSON, ""},
	    {XP_PUBLIC_NO_JSON, "{"},
	    {XP_PUBLIC_NO_JSON, "{\"a\": 1, \"a\": 1}"},
	    {XP_PUBLIC_NO_HOST, "[]"},
	    {XP_PUBLIC_NO_HOST, "{\"rack_id\": 1}"},
	    {XP_PUBLIC_NO_HOST, "{\"rack_id\":1,\"server_hostname\":\"\"}"},
	    {XP_PUBLIC_NO_HOST, "{\"rack_id\":1.5,\"server_hostname\":\"x\"}"},
	    {XP_PUBLIC_NO_INGRESS,
		"{\"rack_id\":\"" LONG "\",\"server_hostname\":\"x\"}"},
	    {XP_PUBLIC_NO_HOST,
		"{\"rack_id\":\"" LONG "f\",\"server_hostname\":\"x\"}"},
	    {XP_PUBLIC_NO_INGRESS, WHO "\"egressBytes\": [1]}"},
	    {XP_PUBLIC_TAKEN, WHO "\"ingressBytes\": [1]}"},
	    {XP_PUBLIC_ODD_SERIES, WHO "\"ingressBytes\": []}"},
	    {XP_PUBLIC_ODD_SERIES, WHO "\"ingressBytes\": 1}"},
	    {XP_PUBLIC_ODD_SERIES, WHO "\"ingressBytes\": [-1]}"},
	    {XP_PUBLIC_ODD_SERIES, WHO "\"ingressBytes\": [\"1\"]}"},
	    {XP_PUBLIC_ODD_SERIES, WHO "\"ingressBytes\": [4294967296]}"},
	    {XP_PUBLIC_TAKEN, WHO "\"ingressBytes\": [4294967295]}"},
	    {XP_PUBLIC_ODD_SERIES,
		WHO "\"ingressBytes\": [1], \"connections\": [1, 2]}"},
	};
	struct xp_public p = {0};
	public_take_reader();
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++)
		if (public_read_text(&p, is[i].text) != is[i].end)
			fail_msg("%s: not \"%s\"", is[i].text,
			    xp_public_texts[is[i].end]);
	assert_int_equal(p.has_bursts, 0);
	assert_int_equal(p.run.start_ns, 0);
	xp_public_free(&p);
}

static void a_file_that_is_not_there_is_an_error(void **state)
{
	(void)state;
	struct xp_public p = {0};
	struct sim_err e = {0};
	enum xp_public_end end;
	public_take_reader();
	assert_int_equal(xp_public_read(&p, test_path("none"), WIDTH, line_bps,
			     &end, &e),
	    SIM_EIO);
	assert_non_null(strstr(e.msg, "/none: No such file"));
	assert_int_equal(xp_public_read(&p, test_folder, WIDTH, line_bps, &end,
			     &e),
	    SIM_EIO);
	assert_non_null(strstr(e.msg, "Is a directory"));
	assert_int_equal(xp_public_write(test_path("no/file"), "1", "x",
			     &(struct obs_run){.n_buckets = 1}, &p.samples, 0,
			     0, NULL, &e),
	    SIM_EIO);
	assert_non_null(strstr(e.msg, "/no/file: No such file"));
	xp_public_free(&p);
}

/* The sum over all bytes is in the last 8 of a packed file. */
static void public_damage(const char *path)
{
	FILE *f = fopen(path, "r+b");
	assert_non_null(f);
	assert_int_equal(fseek(f, -7, SEEK_END), 0);
	const int was = getc(f);
	assert_int_equal(fseek(f, -1, SEEK_CUR), 0);
	assert_int_equal(putc(was ^ 1, f), was ^ 1);
	assert_int_equal(fclose(f), 0);
}

/* More that is packed, but by no method that there is. */
static void public_append(const char *path)
{
	static const uint8_t more[10] = {0x1f, 0x8b, 7};
	FILE *f = fopen(path, "ab");
	assert_non_null(f);
	assert_int_equal(fwrite(more, sizeof(more), 1, f), 1);
	assert_int_equal(fclose(f), 0);
}

/* The length of the JSON of a quiet run of N buckets in a rack of this name. */
static uint32_t public_quiet(const char *path, const char *rack, uint32_t n)
{
	const struct obs_samples none = {0};
	struct stat st;
	assert_ok(xp_public_write(path, rack, "x",
	    &(struct obs_run){.n_buckets = n}, &none, 0, 0, NULL, test_err()));
	assert_int_equal(stat(path, &st), 0);
	return (uint32_t)st.st_size;
}

/* Nor is one that was damaged on its way an error: of thousands it is one that
 * is left out. In the second, JSON that is whole stands before the damage, and
 * its length is made to be what jansson asks for at a time, so that nothing is
 * lost of it with what cannot be unpacked. */
static void what_cannot_be_unpacked_is_left_out(void **state)
{
	(void)state;
	enum { PIECE = 1024, A_BUCKET = 12, SOME = 100 };
	struct xp_public p = {0};
	char rack[A_BUCKET + 1] = "";
	enum xp_public_end end;
	public_take_reader();
	const uint32_t size = public_quiet(test_path("x.json"), "a", SOME),
		       left = PIECE - size % PIECE, n = SOME + left / A_BUCKET;
	memset(rack, 'a', 1 + left % A_BUCKET);
	assert_int_equal(public_quiet(test_path("x.json"), rack, n),
	    size + left);
	const char *path = test_path("x.json.gz");
	public_quiet(path, "a", SOME);
	public_damage(path);
	assert_ok(xp_public_read(&p, path, WIDTH, line_bps, &end, test_err()));
	assert_int_equal(end, XP_PUBLIC_NO_JSON);
	assert_string_equal(p.said, "incorrect data check");
	public_quiet(path, rack, n);
	public_append(path);
	assert_ok(xp_public_read(&p, path, WIDTH, line_bps, &end, test_err()));
	assert_int_equal(end, XP_PUBLIC_NO_JSON);
	assert_string_equal(p.said, "unknown compression method");
	xp_public_free(&p);
}

/* --- drawn -----------------------------------------------------------------*/

/* A run of up to 60 buckets, a third of them quiet, and bursts of any kind. */
static void public_draw(struct xp_public *p, struct sim_rng *r)
{
	obs_samples_clear(&p->samples);
	xp_public_bursts_clear(&p->bursts);
	p->run = (struct obs_run){.start_ns = 1 + sim_rng_below(r, 1u << 31),
	    .width_ns = WIDTH,
	    .line_bps = line_bps,
	    .n_buckets = 1 + sim_rng_below(r, 60)};
	for (uint32_t b = 0; b < p->run.n_buckets; b++) {
		const uint32_t in = sim_rng_below(r, 1000001),
			       out = 1 + sim_rng_below(r, 1000000);
		const struct obs_sample s = {.bucket = b,
		    .in_bytes = in,
		    .out_bytes = out,
		    .in_ce = sim_rng_below(r, in + 1),
		    .in_retx = sim_rng_below(r, in + 1),
		    .out_retx = sim_rng_below(r, out + 1),
		    .conns = sim_rng_below(r, 100)};
		if (sim_rng_below(r, 3) > 0)
			assert_ok(obs_samples_add(&p->samples, &s, test_err()));
	}
	for (uint32_t n = sim_rng_below(r, 20); n > 0; n--)
		assert_ok(xp_public_bursts_add(&p->bursts,
		    &(struct xp_public_burst){sim_rng_below(r, 60),
			1 + sim_rng_below(r, 4)},
		    test_err()));
	p->has_bursts = 1;
}

static void public_assert_same(const struct xp_public *a,
    const struct xp_public *b)
{
#define X(type, name, unit, doc) assert_true(a->run.name == b->run.name);
	OBS_RUN_COLUMNS(X)
#undef X
	assert_int_equal(a->samples.n, b->samples.n);
	for (size_t i = 0; i < a->samples.n; i++) {
		const struct obs_sample x = obs_samples_at(&a->samples, i),
					y = obs_samples_at(&b->samples, i);
		assert_memory_equal(&x, &y, sizeof(x));
	}
	assert_int_equal(a->has_bursts, b->has_bursts);
	assert_int_equal(a->bursts.n, b->bursts.n);
	for (size_t i = 0; i < a->bursts.n; i++) {
		assert_int_equal(a->bursts.first[i], b->bursts.first[i]);
		assert_int_equal(a->bursts.n_buckets[i],
		    b->bursts.n_buckets[i]);
	}
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	struct xp_public p = {0}, got = {0};
	public_take_reader();
	for (uint32_t run = 0; run < RUNS; run++) {
		const char *path = test_path(run % 2 ? "x.json.gz" : "x.json");
		struct sim_rng r;
		enum xp_public_end end;
		test_rng(&r, run);
		public_draw(&p, &r);
		assert_ok(xp_public_write(path, "r", "h", &p.run, &p.samples, 0,
		    p.samples.n, &p.bursts, test_err()));
		assert_ok(xp_public_read(&got, path, 1, 1, &end, test_err()));
		assert_int_equal(end, XP_PUBLIC_TAKEN);
		assert_string_equal(got.rack.text, "r");
		assert_string_equal(got.host.text, "h");
		assert_int_equal(got.n_cut + got.n_odd, 0);
		public_assert_same(&p, &got);
	}
	xp_public_free(&p);
	xp_public_free(&got);
}

/* --- bursts ----------------------------------------------------------------*/

/* The same from the definition: a bucket is of a burst if it is full, or stands
 * in a hole of up to GAP between two that are. */
static size_t public_bursts_slowly(const struct xp_public *p, double share,
    uint32_t gap, struct xp_public_burst out[60])
{
	uint8_t full[60] = {0}, on[61] = {0};
	size_t n = 0;
	for (size_t i = 0; i < p->samples.n; i++)
		full[p->samples.bucket[i]] =
		    p->samples.in_bytes[i] > share * 1000000;
	for (uint32_t a = 0; a < 60; a++)
		for (uint32_t b = a; full[a] && b < 60 && b <= a + gap + 1; b++)
			for (uint32_t k = a; full[b] && k <= b; k++)
				on[k] = 1;
	for (uint32_t k = 0; k < 60; k++)
		if (on[k] && (k == 0 || !on[k - 1]))
			out[n++] = (struct xp_public_burst){k, 1};
		else if (on[k])
			out[n - 1].n_buckets++;
	return n;
}

static void bursts_are_those_of_the_definition(void **state)
{
	(void)state;
	struct xp_public p = {0};
	struct xp_public_bursts got = {0};
	struct xp_public_burst want[60];
	for (uint32_t run = 0; run < RUNS; run++) {
		struct sim_rng r;
		test_rng(&r, run);
		public_draw(&p, &r);
		const double share = sim_rng_u01(&r);
		const uint32_t gap = sim_rng_below(&r, 6);
		assert_ok(xp_public_find(&p, share, gap, &got, test_err()));
		const size_t n = public_bursts_slowly(&p, share, gap, want);
		int same = got.n == n;
		for (size_t i = 0; same && i < n; i++)
			same = got.first[i] == want[i].first &&
			    got.n_buckets[i] == want[i].n_buckets;
		if (!same)
			fail_msg("(seed %llu, run %u): %zu bursts, not %zu, or "
				 "others",
			    (unsigned long long)test_seed(), run, got.n, n);
	}
	xp_public_free(&p);
	xp_public_bursts_free(&got);
}

/* Files cannot have a burst twice: all pairs are looked at. */
static uint64_t public_same_slowly(const struct xp_public_bursts *theirs,
    const struct xp_public_burst ours[], size_t n)
{
	uint64_t same = 0;
	for (size_t i = 0; i < theirs->n; i++)
		for (size_t k = 0; k < n; k++)
			same += theirs->first[i] == ours[k].first &&
			    theirs->n_buckets[i] == ours[k].n_buckets;
	return same;
}

static void each_definition_is_held_against_theirs(void **state)
{
	(void)state;
	struct xp_public p = {0};
	struct xp_public_burst ours[60];
	for (uint32_t run = 0; run < RUNS; run++) {
		struct xp_public_fit fit = {0};
		struct sim_rng r;
		test_rng(&r, run);
		public_draw(&p, &r);
		assert_ok(xp_public_compare(&fit, &p, test_err()));
		assert_int_equal(fit.n_theirs, p.bursts.n);
		for (unsigned s = 0; s < XP_FIT_SHARES; s++)
			for (unsigned g = 0; g < XP_FIT_GAPS; g++) {
				const size_t n = public_bursts_slowly(&p,
				    (s + 1) / 10.0, g, ours);
				assert_int_equal(fit.at[s][g].n_ours, n);
				assert_int_equal(fit.at[s][g].n_same,
				    public_same_slowly(&p.bursts, ours, n));
			}
	}
	xp_public_free(&p);
}

/* Theirs are ours of one definition: that one differs in nothing. Without any
 * of theirs nothing is counted, and of nothing no part differs. */
static void who_has_the_same_bursts_differs_in_nothing(void **state)
{
	(void)state;
	struct xp_public p = {0};
	struct xp_public_fit fit = {0};
	struct sim_rng r;
	test_rng(&r, 0);
	public_draw(&p, &r);
	p.has_bursts = 0;
	assert_ok(xp_public_compare(&fit, &p, test_err()));
	assert_true(xp_public_differ(&fit, 2, 1) == 0);
	assert_int_equal(fit.at[2][1].n_ours, 0);
	p.has_bursts = 1;
	assert_ok(xp_public_find(&p, 3 / 10.0, 1, &p.bursts, test_err()));
	assert_true(p.bursts.n > 0);
	assert_ok(xp_public_compare(&fit, &p, test_err()));
	assert_true(xp_public_differ(&fit, 2, 1) == 0);
	assert_true(xp_public_differ(&fit, 8, 0) > 0);
	/* All of ours, none of theirs: all differ. */
	fit = (struct xp_public_fit){0};
	xp_public_bursts_clear(&p.bursts);
	assert_ok(xp_public_compare(&fit, &p, test_err()));
	assert_true(xp_public_differ(&fit, 2, 1) == 1);
	xp_public_free(&p);
}

/* --- memory ----------------------------------------------------------------*/

static int public_read_and_count(void *path, struct sim_err *e)
{
	struct xp_public p = {0};
	struct xp_public_fit fit = {0};
	enum xp_public_end end;
	int rc = xp_public_read(&p, path, WIDTH, line_bps, &end, e);
	if (rc == 0) {
		assert_int_equal(end, XP_PUBLIC_TAKEN);
		rc = xp_public_compare(&fit, &p, e);
	}
	xp_public_free(&p);
	return rc;
}

/* Those of our own: jansson's and zlib's are not wrapped. */
static void without_memory_nothing_is_read(void **state)
{
	(void)state;
	char path[256];
	struct xp_public p = {0};
	struct sim_rng r;
	public_take_reader();
	snprintf(path, sizeof(path), "%s", test_path("x.json"));
	test_rng(&r, 0);
	do
		public_draw(&p, &r);
	while (p.bursts.n == 0);
	assert_ok(xp_public_write(path, "r", "h", &p.run, &p.samples, 0,
	    p.samples.n, &p.bursts, test_err()));
	test_each_alloc_fails(public_read_and_count, path);
	xp_public_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_key_is_a_column),
	    cmocka_unit_test(what_lacks_something_is_named),
	    cmocka_unit_test(a_file_that_is_not_there_is_an_error),
	    cmocka_unit_test(what_cannot_be_unpacked_is_left_out),
	    cmocka_unit_test(what_is_written_is_read),
	    cmocka_unit_test(bursts_are_those_of_the_definition),
	    cmocka_unit_test(each_definition_is_held_against_theirs),
	    cmocka_unit_test(who_has_the_same_bursts_differs_in_nothing),
	    cmocka_unit_test(without_memory_nothing_is_read),
	};
	return cmocka_run_group_tests(tests, test_folder_make,
	    test_folder_remove);
}
