/* tests/results/sample_record_test.c -- a host's run as bytes, written by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/sample_record.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "models/obs_buckets.h"
#include "sim/bytes.h"
#include "tests/test.h"

/* --- the format once more, from what the header says ---------------------- */

/* Bytes one behind the other. */
struct put {
	unsigned char *at;
};

static void put_number(struct put *p, uint64_t x, unsigned n_bytes)
{
	for (unsigned i = 0; i < n_bytes; i++)
		*p->at++ = (unsigned char)(x >> 8 * i);
}

static uint64_t naive_sum(const unsigned char *b, size_t n)
{
	uint64_t h = UINT64_C(14695981039346656037);
	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * UINT64_C(1099511628211);
	return h;
}

static void put_difference(struct put *p, uint32_t before, uint32_t x)
{
	uint64_t z = x >= before ? 2 * (uint64_t)(x - before)
				 : 2 * (uint64_t)(before - x) - 1;
	for (; z > 127; z /= 128)
		put_number(p, z % 128 + 128, 1);
	put_number(p, z, 1);
}

static void put_column_32(struct put *p, const uint32_t column[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_difference(p, i > 0 ? column[i - 1] : 0, column[i]);
}

static void put_column_64(struct put *p, const uint64_t column[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_number(p, column[i] ^ (i > 0 ? column[i - 1] : 0), 8);
}

static void put_rows(struct put *p, const struct obs_samples *t)
{
	put_column_32(p, t->bucket, t->n);
	put_column_32(p, t->in_bytes, t->n);
	put_column_32(p, t->out_bytes, t->n);
	put_column_32(p, t->in_cross, t->n);
	put_column_32(p, t->out_cross, t->n);
	put_column_32(p, t->in_ce, t->n);
	put_column_32(p, t->in_retx, t->n);
	put_column_32(p, t->out_retx, t->n);
	put_column_32(p, t->conns, t->n);
	put_column_64(p, t->sketch_lo, t->n);
	put_column_64(p, t->sketch_hi, t->n);
}

/* The head of R before its payload, which stands at TO + 72 already. */
static void put_head(unsigned char *to, const struct res_record *r)
{
	struct put p = {to};
	memcpy(p.at, "MsRn", 4);
	p.at += 4;
	put_number(&p, r->n_bytes, 4);
	put_number(&p, r->n_raw, 4);
	put_number(&p, (uint32_t)r->packed, 4);
	put_number(&p, r->run.start_ns, 8);
	put_number(&p, r->run.width_ns, 8);
	put_number(&p, r->run.line_bps, 8);
	put_number(&p, r->run.n_buckets, 4);
	put_number(&p, r->run.n_missed, 4);
	put_number(&p, r->n_rows, 4);
	put_number(&p, r->n_cpus, 4);
	put_number(&p, naive_sum(to + 72, r->n_bytes), 8);
	put_number(&p, naive_sum(to, 64), 8);
	assert_ptr_equal(p.at, to + 72);
}

static const struct obs_run good_run = {.start_ns =
					    UINT64_C(0x1122334455667788),
    .width_ns = 100000,
    .line_bps = UINT64_C(25000000000),
    .n_buckets = 1997,
    .n_missed = 0xa1b2c3d4};

/* Rows at the ends of what a column can hold, and of what a byte of it can:
 * differences of 0, 63, 64, -64, -65, 8,191, 8,192 and all of 32 bits. */
static void add_rows(struct obs_samples *t)
{
	static const uint32_t in[] = {0, 63, 127, 63, UINT32_MAX, 0, 8192, 1,
	    8192, 0, UINT32_MAX, UINT32_MAX};
	enum { N = sizeof(in) / sizeof(in[0]) };
	for (uint32_t i = 0; i < N; i++) {
		const struct obs_sample s = {.bucket = i < N - 1 ? 2 * i : 1996,
		    .in_bytes = in[i],
		    .out_bytes = in[N - 1 - i],
		    .in_cross = in[i] / 2,
		    .out_cross = in[N - 1 - i] / 3,
		    .in_ce = in[i] / 5,
		    .in_retx = in[i],
		    .out_retx = in[N - 1 - i] / 7,
		    .conns = 64 * i,
		    .sketch_lo = UINT64_C(0x0102030405060708) * (i + 1),
		    .sketch_hi = i % 3 ? 0 : UINT64_MAX - i};
		assert_ok(obs_samples_add(t, &s, test_err()));
	}
}

static unsigned char record[RES_RECORD_MAX + 400], again[RES_RECORD_MAX + 400];
static unsigned char scratch[RES_RECORD_RAW_MAX];

/* --- the file's head ------------------------------------------------------ */

static void a_files_head_is_as_the_header_says(void **state)
{
	(void)state;
	unsigned char is[RES_RECORD_FILE_BYTES], want[88] = "culpritM";
	struct res_record_host h = {"leaf-3", 0x01020304}, got;
	struct put p = {want + 8};
	put_number(&p, 1, 4);
	put_number(&p, 0x01020304, 4);
	memcpy(want + 16, "leaf-3", 6);
	p.at = want + 80;
	put_number(&p, naive_sum(want, 80), 8);
	memset(is, 0xee, sizeof(is));
	res_record_put_file(is, &h);
	assert_memory_equal(is, want, sizeof(want));
	memset(&got, 0xee, sizeof(got));
	assert_ok(res_record_get_file(is, sizeof(is), &got, test_err()));
	assert_string_equal(got.name, "leaf-3");
	assert_int_equal(got.rack, 0x01020304);
	/* The longest name; one byte more is cut off, whatever it is. */
	memset(h.name, 'x', sizeof(h.name));
	res_record_put_file(is, &h);
	assert_int_equal(is[16 + 62], 'x');
	assert_int_equal(is[16 + 63], 0);
	assert_ok(res_record_get_file(is, sizeof(is), &got, test_err()));
	assert_int_equal(strlen(got.name), 63);
}

static void assert_no_file(const unsigned char *b, size_t n, int code,
    const char *text)
{
	struct res_record_host h;
	assert_int_equal(res_record_get_file(b, n, &h, test_err()), code);
	assert_string_equal(test_err()->msg, text);
}

static void each_damage_to_a_files_head_is_told(void **state)
{
	(void)state;
	const struct res_record_host host = {"h", 7};
	unsigned char b[RES_RECORD_FILE_BYTES];
	res_record_put_file(b, &host);
	for (size_t n = 0; n < sizeof(b); n++)
		assert_no_file(b, n, SIM_EPARSE,
		    n < 12 ? "it is no file of samples."
			   : "its head is damaged.");
	for (size_t i = 0; i < sizeof(b); i++) {
		b[i] ^= 0x40;
		if (i < 8 || i >= 12)
			assert_no_file(b, sizeof(b), SIM_EPARSE,
			    i < 8 ? "it is no file of samples."
				  : "its head is damaged.");
		b[i] ^= 0x40;
	}
	/* Of another version nothing else is known to be in its place. */
	b[8] = 2;
	assert_no_file(b, 12, SIM_EMISMATCH,
	    "it has version 2; this culprit reads 1.");
	b[11] = 1;
	assert_no_file(b, sizeof(b), SIM_EMISMATCH,
	    "it has version 16777218; this culprit reads 1.");
}

/* --- a record ------------------------------------------------------------- */

static void a_record_is_as_the_header_says(void **state)
{
	(void)state;
	struct obs_samples t = {0}, got = {0};
	struct put p = {again + 72};
	struct res_record r = {.run = good_run, .n_cpus = 0x10203}, is;
	size_t n = 0, at = 0, began = 1;
	add_rows(&t);
	put_rows(&p, &t);
	r.n_rows = (uint32_t)t.n;
	r.n_raw = r.n_bytes = (uint32_t)(p.at - again - 72);
	put_head(again, &r);
	assert_ok(res_record_put(record, &n, &good_run, 0x10203, &t, NULL,
	    test_err()));
	assert_int_equal(n, 72 + r.n_bytes);
	assert_memory_equal(record, again, n);
	memset(&is, 0xee, sizeof(is));
	assert_int_equal(res_record_next(record, n, &at, &began, &is),
	    RES_RECORD_MORE);
	assert_int_equal(at, n);
	assert_int_equal(began, 0);
#define X(type, name, unit, doc) assert_int_equal(is.run.name, good_run.name);
	OBS_RUN_COLUMNS(X)
#undef X
	assert_int_equal(is.n_rows, t.n);
	assert_int_equal(is.n_cpus, 0x10203);
	assert_int_equal(is.n_bytes, r.n_bytes);
	assert_int_equal(is.n_raw, r.n_bytes);
	assert_int_equal(is.packed, 0);
	/* Behind what was read before, as two runs. */
	assert_ok(
	    res_record_get(record + 72, &is, 3, &got, scratch, test_err()));
	assert_ok(
	    res_record_get(record + 72, &is, 9, &got, scratch, test_err()));
	assert_int_equal(got.n, 2 * t.n);
	for (size_t i = 0; i < got.n; i++) {
		struct obs_sample want = obs_samples_at(&t, i % t.n);
		const struct obs_sample have = obs_samples_at(&got, i);
		want.run = i < t.n ? 3 : 9;
		assert_memory_equal(&want, &have, sizeof(want));
	}
	/* Where other rows were before. */
	obs_samples_clear(&got);
	assert_ok(
	    res_record_get(record + 72, &is, 3, &got, scratch, test_err()));
	assert_int_equal(got.run[0], 3);
	obs_samples_free(&t);
	obs_samples_free(&got);
}

/* What it is packed to is fewer bytes, and says how many it was; what would be
 * no fewer stays as it is. */
static void a_record_is_packed_if_that_is_less(void **state)
{
	(void)state;
	struct obs_samples t = {0}, got = {0};
	struct res_record r;
	size_t n = 0, n_plain = 0, at = 0, began;
	for (uint32_t i = 0; i < 500; i++)
		assert_ok(obs_samples_add(&t,
		    &(struct obs_sample){.bucket = i, .in_bytes = 1500},
		    test_err()));
	assert_ok(res_record_put(record, &n_plain, &good_run, 1, &t, NULL,
	    test_err()));
	assert_ok(
	    res_record_put(record, &n, &good_run, 1, &t, scratch, test_err()));
	assert_int_equal(res_record_next(record, n, &at, &began, &r),
	    RES_RECORD_MORE);
	assert_int_equal(r.n_raw, n_plain - 72);
	assert_int_equal(r.n_bytes, n - 72);
	assert_int_equal(r.packed, r.n_bytes < r.n_raw);
	assert_ok(
	    res_record_get(record + 72, &r, 0, &got, scratch, test_err()));
	assert_int_equal(got.n, 500);
	assert_int_equal(got.bucket[499], 499);
	assert_int_equal(got.in_bytes[499], 1500);
	/* No row is no byte, which nothing packs. */
	obs_samples_clear(&t);
	assert_ok(
	    res_record_put(record, &n, &good_run, 1, &t, scratch, test_err()));
	assert_int_equal(n, 72);
	at = 0;
	assert_int_equal(res_record_next(record, n, &at, &began, &r),
	    RES_RECORD_MORE);
	assert_int_equal(r.packed, 0);
	assert_int_equal(r.n_rows, 0);
	obs_samples_free(&t);
	obs_samples_free(&got);
}

static void assert_not_put(struct obs_run run, const struct obs_samples *t,
    const char *text)
{
	size_t n;
	assert_int_equal(res_record_put(record, &n, &run, 1, t, NULL,
			     test_err()),
	    SIM_EINVAL);
	assert_string_equal(test_err()->msg, text);
}

static void a_run_that_cannot_be_is_not_written(void **state)
{
	(void)state;
	struct obs_samples t = {0};
	struct obs_run run = good_run;
	char text[200];
	size_t n;
	for (uint32_t i = 0; i < 2; i++)
		assert_ok(obs_samples_add(&t, &(struct obs_sample){.bucket = i},
		    test_err()));
	run.n_buckets = 2;
	assert_ok(res_record_put(record, &n, &run, 1, &t, NULL, test_err()));
	run.n_buckets = OBS_BUCKETS;
	assert_ok(res_record_put(record, &n, &run, 1, &t, NULL, test_err()));
	run.n_buckets = 1;
	assert_not_put(run, &t,
	    "a run of 1 buckets with 2 rows: at most 2000.");
	run.n_buckets = OBS_BUCKETS + 1;
	assert_not_put(run, &t,
	    "a run of 2001 buckets with 2 rows: at most 2000.");
	run = good_run;
	run.width_ns = OBS_WIDTH_MAX_NS + 1;
	snprintf(text, sizeof(text),
	    "a run that starts at %" PRIu64 " ns, with buckets of 50000001 ns "
	    "on a line of 25000000000 bit/s, cannot be.",
	    good_run.start_ns);
	assert_not_put(run, &t, text);
	/* A row that its run has no bucket for, and one of more than all. */
	run = good_run;
	run.n_buckets = 7;
	t.bucket[1] = 7;
	assert_not_put(run, &t,
	    "row 1 is of bucket 7, but run 0 has only 7 buckets.");
	t.bucket[1] = 6;
	t.in_ce[0] = 1;
	assert_not_put(run, &t,
	    "row 0: in_ce 1 is above in_bytes, which is 0.");
	obs_samples_free(&t);
}

/* --- forged heads --------------------------------------------------------- */

/* Whether a record with the head R is taken as one. */
static int is_taken(struct res_record r)
{
	struct res_record is;
	size_t at = 0, began;
	memset(record + 72, 0, r.n_bytes);
	put_head(record, &r);
	const int end =
	    res_record_next(record, 72 + r.n_bytes, &at, &began, &is);
	assert_true(end == RES_RECORD_MORE || end == RES_RECORD_DAMAGED);
	assert_int_equal(at, 72 + r.n_bytes);
	return end == RES_RECORD_MORE;
}

static void heads_are_bounded_at_each_end(void **state)
{
	(void)state;
	const struct res_record good = {.run = good_run,
	    .n_bytes = 5,
	    .n_raw = 5};
	struct res_record r = good;
#define TAKEN(member, value, want)                                             \
	do {                                                                   \
		r.member = (value);                                            \
		assert_int_equal(is_taken(r), want);                           \
	} while (0)
	assert_true(is_taken(r));
	TAKEN(run.n_buckets, 0, 0);
	TAKEN(run.n_buckets, 1, 1);
	TAKEN(n_rows, 1, 1);
	TAKEN(n_rows, 2, 0);
	TAKEN(run.n_buckets, OBS_BUCKETS, 1);
	TAKEN(run.n_buckets, OBS_BUCKETS + 1, 0);
	r = good;
	TAKEN(run.line_bps, 0, 0);
	TAKEN(run.line_bps, 1, 1);
	TAKEN(run.width_ns, 0, 0);
	TAKEN(run.width_ns, 1, 1);
	TAKEN(run.width_ns, OBS_WIDTH_MAX_NS, 1);
	TAKEN(run.width_ns, OBS_WIDTH_MAX_NS + 1, 0);
	r = good;
	r.run.n_buckets = 3;
	r.run.width_ns = 1000;
	TAKEN(run.start_ns, 0, 1);
	TAKEN(run.start_ns, INT64_MAX - UINT64_C(3000), 1);
	TAKEN(run.start_ns, INT64_MAX - UINT64_C(2999), 0);
	TAKEN(run.start_ns, UINT64_MAX, 0);
	r = good;
	TAKEN(n_raw, 6, 0);
	TAKEN(n_raw, 4, 0);
	r = good;
	r.packed = 1;
	TAKEN(n_raw, 5, 0);
	TAKEN(n_raw, 6, 1);
	TAKEN(n_raw, RES_RECORD_RAW_MAX, 1);
	TAKEN(n_raw, RES_RECORD_RAW_MAX + 1, 0);
	r = good;
	r.n_bytes = RES_RECORD_RAW_MAX;
	TAKEN(n_raw, RES_RECORD_RAW_MAX, 1);
	r.n_bytes++;
	TAKEN(n_raw, RES_RECORD_RAW_MAX + 1, 0);
#undef TAKEN
}

/* --- forged rows ---------------------------------------------------------- */

static const char *few = "a run does not hold the 1 rows that it says.";

/* Room whose last byte is the last that can be read. */
static unsigned char *guarded_end(void)
{
	static unsigned char *end;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	if (!end) {
		unsigned char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal(p, MAP_FAILED);
		end = p + page;
		assert_int_equal(mprotect(end, page, PROT_NONE), 0);
	}
	return end;
}

/* One row, with column C given as the N bytes at BYTES, and LESS bytes of zeros
 * than there should be behind. */
static int read_forged(unsigned c, const void *bytes, size_t n, int less,
    struct obs_samples *t)
{
	struct res_record r = {.run = good_run, .n_rows = 1};
	r.n_raw = r.n_bytes = (uint32_t)((int)(9 - 1 + n + 16) - less);
	unsigned char *b = guarded_end() - r.n_bytes;
	memset(b, 0, r.n_bytes);
	for (size_t i = 0; i < n && c + i < r.n_bytes; i++)
		b[c + i] = ((const unsigned char *)bytes)[i];
	return res_record_get(b, &r, 5, t, scratch, test_err());
}

/* Nothing is added, and what was there is as it was. */
static void assert_forged(unsigned c, const void *bytes, size_t n, int less)
{
	struct obs_samples t = {0};
	const struct obs_sample before = {.run = 4, .bucket = 11, .conns = 2};
	assert_ok(obs_samples_add(&t, &before, test_err()));
	assert_int_equal(read_forged(c, bytes, n, less, &t), SIM_EPARSE);
	assert_string_equal(test_err()->msg, few);
	assert_int_equal(t.n, 1);
	const struct obs_sample is = obs_samples_at(&t, 0);
	assert_memory_equal(&is, &before, sizeof(is));
	obs_samples_free(&t);
}

static void rows_that_cannot_be_are_refused(void **state)
{
	(void)state;
	static const unsigned char zero[] = {0},
				   most[] = {0xfe, 0xff, 0xff, 0xff, 0x1f},
				   above[] = {0x80, 0x80, 0x80, 0x80, 0x20},
				   below[] = {1},
				   long_zero[] = {0x80, 0x80, 0x80, 0x80, 0},
				   longer[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0},
				   endless[] = {0x80, 0x80, 0x80, 0x80, 0x80};
	struct obs_samples t = {0};
	assert_ok(read_forged(0, zero, 1, 0, &t));
	assert_ok(read_forged(1, most, sizeof(most), 0, &t));
	assert_ok(read_forged(8, most, sizeof(most), 0, &t));
	assert_ok(read_forged(8, long_zero, sizeof(long_zero), 0, &t));
	assert_int_equal(t.n, 4);
	assert_int_equal(t.in_bytes[1], UINT32_MAX);
	assert_int_equal(t.conns[2], UINT32_MAX);
	assert_int_equal(t.conns[3], 0);
	for (size_t i = 0; i < t.n; i++)
		assert_int_equal(t.run[i], 5);
	for (unsigned c = 0; c < 9; c++) {
		assert_forged(c, above, sizeof(above), 0);
		assert_forged(c, below, sizeof(below), 0);
		assert_forged(c, longer, sizeof(longer), 0);
		assert_forged(c, endless, sizeof(endless), 0);
	}
	/* Too few bytes at each place, and too many. */
	for (int less = 1; less <= 25; less++)
		assert_forged(0, zero, 1, less);
	assert_forged(0, zero, 1, -1);
	/* Numbers that can be read, but no rows: in_ce is above in_bytes. */
	assert_int_equal(read_forged(5, "\2", 1, 0, &t), SIM_EPARSE);
	assert_string_equal(test_err()->msg,
	    "row 0: in_ce 1 is above in_bytes, which is 0.");
	assert_int_equal(t.n, 4);
	obs_samples_free(&t);
}

/* --- one record behind the other ------------------------------------------ */

/* Three records of 4, 0 and 9 bytes; where they begin and end. */
static size_t put_three(size_t begin[4])
{
	static const uint32_t n_bytes[] = {4, 0, 9};
	begin[0] = 0;
	for (unsigned i = 0; i < 3; i++) {
		const struct res_record r = {.run = good_run,
		    .n_cpus = i,
		    .n_bytes = n_bytes[i],
		    .n_raw = n_bytes[i]};
		memset(record + begin[i] + 72, 'a' + (int)i, n_bytes[i]);
		put_head(record + begin[i], &r);
		begin[i + 1] = begin[i] + 72 + n_bytes[i];
	}
	return begin[3];
}

/* The next record of the N bytes at AT is END, beginning there, and one goes on
 * at THEN. */
static void assert_next(size_t n, size_t at, enum res_record_end end,
    size_t then)
{
	struct res_record r;
	size_t began = SIZE_MAX, is = at;
	assert_int_equal(res_record_next(record, n, &is, &began, &r), end);
	assert_int_equal(began, at);
	assert_int_equal(is, then);
}

static void records_follow_until_the_end_or_a_torn_one(void **state)
{
	(void)state;
	size_t begin[4];
	const size_t n = put_three(begin);
	for (size_t cut = 0; cut <= n; cut++)
		for (unsigned i = 0; i < 3 && begin[i] <= cut; i++)
			assert_next(cut, begin[i],
			    cut == begin[i]          ? RES_RECORD_END
				: cut < begin[i + 1] ? RES_RECORD_TORN
						     : RES_RECORD_MORE,
			    cut < begin[i + 1] ? begin[i] : begin[i + 1]);
	assert_next(n, n, RES_RECORD_END, n);
}

static void behind_damage_the_next_whole_record_is_found(void **state)
{
	(void)state;
	size_t begin[4];
	const size_t n = put_three(begin);
	for (size_t i = 0; i < n; i++) {
		const unsigned k = (i >= begin[1]) + (i >= begin[2]);
		record[i] ^= 0x55;
		assert_next(n, begin[k], RES_RECORD_DAMAGED, begin[k + 1]);
		record[i] ^= 0x55;
	}
	/* A magic that begins no record is passed by: one byte before the next
	 * record, at once behind the damage, and where no head fits. */
	memmove(record + 5, record, n);
	memcpy(record, "xMsRn", 5);
	assert_next(n + 5, 0, RES_RECORD_DAMAGED, 5);
	memcpy(record, "MsRnM", 5);
	assert_next(n + 5, 0, RES_RECORD_DAMAGED, 5);
	memset(record, 0, 200);
	assert_next(200, 0, RES_RECORD_DAMAGED, 200);
	memcpy(record + 140, "MsRn", 4);
	assert_next(200, 0, RES_RECORD_DAMAGED, 200);
	/* A record without bytes at the very end is one. */
	put_three(begin);
	memmove(record + 100, record + begin[1], 72);
	memset(record, 0, 100);
	assert_next(172, 0, RES_RECORD_DAMAGED, 100);
	assert_next(172, 100, RES_RECORD_MORE, 172);
	assert_next(171, 0, RES_RECORD_DAMAGED, 171);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_files_head_is_as_the_header_says),
	    cmocka_unit_test(each_damage_to_a_files_head_is_told),
	    cmocka_unit_test(a_record_is_as_the_header_says),
	    cmocka_unit_test(a_record_is_packed_if_that_is_less),
	    cmocka_unit_test(a_run_that_cannot_be_is_not_written),
	    cmocka_unit_test(heads_are_bounded_at_each_end),
	    cmocka_unit_test(rows_that_cannot_be_are_refused),
	    cmocka_unit_test(records_follow_until_the_end_or_a_torn_one),
	    cmocka_unit_test(behind_damage_the_next_whole_record_is_found),
	};
	return cmocka_run_group_tests_name("results/sample_record", tests, NULL,
	    NULL);
}
