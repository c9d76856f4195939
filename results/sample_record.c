/* results/sample_record.c -- one run of a host as bytes, and a file of them.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/sample_record.h"

#include <inttypes.h>
#include <string.h>

#include "models/obs_buckets.h"
#include "results/deflate.h"
#include "sim/bytes.h"
#include "sim/table.h"

#define FILE_MAGIC   "culpritM"
#define RECORD_MAGIC "MsRn"

enum { VARINT_MAX = 5, FILE_CHECK = 80, BYTES_CHECK = 56, HEAD_CHECK = 64 };

static uint64_t record_sum(const unsigned char *bytes, size_t n)
{
	return sim_fnv(SIM_FNV_START, bytes, n);
}

/* --- the file's head ------------------------------------------------------ */

void res_record_put_file(unsigned char to[RES_RECORD_FILE_BYTES],
    const struct res_record_host *h)
{
	memset(to, 0, RES_RECORD_FILE_BYTES);
	memcpy(to, FILE_MAGIC, 8);
	sim_store_32(to + 8, RES_RECORD_VERSION);
	sim_store_32(to + 12, h->rack);
	memcpy(to + 16, h->name, strnlen(h->name, RES_RECORD_NAME - 1));
	sim_store_64(to + FILE_CHECK, record_sum(to, FILE_CHECK));
}

/* The version is looked at first: with another one all else may differ. */
int res_record_get_file(const unsigned char *bytes, size_t n,
    struct res_record_host *h, struct sim_err *e)
{
	if (n < 12 || memcmp(bytes, FILE_MAGIC, 8) != 0)
		return sim_fail(e, SIM_EPARSE, "it is no file of samples.");
	if (sim_load_32(bytes + 8) != RES_RECORD_VERSION)
		return sim_fail(e, SIM_EMISMATCH,
		    "it has version %" PRIu32 "; this culprit reads %d.",
		    sim_load_32(bytes + 8), RES_RECORD_VERSION);
	if (n < RES_RECORD_FILE_BYTES ||
	    sim_load_64(bytes + FILE_CHECK) != record_sum(bytes, FILE_CHECK))
		return sim_fail(e, SIM_EPARSE, "its head is damaged.");
	h->rack = sim_load_32(bytes + 12);
	memcpy(h->name, bytes + 16, RES_RECORD_NAME);
	h->name[RES_RECORD_NAME - 1] = '\0';
	return 0;
}

/* --- rows ----------------------------------------------------------------- */

static size_t record_put_varint(unsigned char *to, uint64_t x)
{
	size_t n = 0;
	for (; x >= 128; x >>= 7)
		to[n++] = (unsigned char)(x | 128);
	to[n++] = (unsigned char)x;
	return n;
}

/* Small numbers of either sign become small ones without. */
static uint64_t record_zigzag(int64_t x)
{
	return (uint64_t)x << 1 ^ (x < 0 ? UINT64_MAX : 0);
}

static size_t record_put_column(unsigned char *to, const void *column,
    enum sim_type type, size_t n_rows)
{
	size_t n = 0;
	for (size_t i = 0; i < n_rows; i++) {
		if (type == SIM_U64) {
			const uint64_t *x = column;
			sim_store_64(to + n, x[i] ^ (i > 0 ? x[i - 1] : 0));
			n += 8;
		} else {
			const uint32_t *x = column;
			const int64_t before = i > 0 ? x[i - 1] : 0;
			n += record_put_varint(to + n,
			    record_zigzag((int64_t)x[i] - before));
		}
	}
	return n;
}

static size_t record_put_rows(unsigned char to[RES_RECORD_RAW_MAX],
    const struct obs_samples *t)
{
	const struct sim_table *kind = obs_samples_kind();
	size_t n = 0;
	for (size_t c = 1; c < kind->n_columns; c++)
		n += record_put_column(to + n, sim_table_at(kind, t, c, 0),
		    kind->column[c].type, t->n);
	return n;
}

/* Bytes that are left, as numbers; AT beyond END: there were too few. */
struct record_in {
	const unsigned char *at, *end;
	int bad;
};

static uint64_t record_get_varint(struct record_in *in)
{
	uint64_t x = 0;
	for (unsigned i = 0; i < VARINT_MAX && in->at < in->end; i++) {
		const unsigned char b = *in->at++;
		x |= (uint64_t)(b & 127) << 7 * i;
		if (b < 128)
			return x;
	}
	in->bad = 1;
	return 0;
}

static uint32_t record_get_32(struct record_in *in, uint32_t before)
{
	const uint64_t z = record_get_varint(in);
	const int64_t x =
	    (int64_t)before + ((int64_t)(z >> 1) ^ -(int64_t)(z & 1));
	in->bad |= x < 0 || x > UINT32_MAX;
	return (uint32_t)x;
}

static uint64_t record_get_64(struct record_in *in, uint64_t before)
{
	if (in->end - in->at < 8) {
		in->bad = 1;
		return 0;
	}
	in->at += 8;
	return sim_load_64(in->at - 8) ^ before;
}

static void record_get_column(struct record_in *in, void *column,
    enum sim_type type, size_t n_rows)
{
	uint64_t before = 0;
	for (size_t i = 0; i < n_rows && !in->bad; i++)
		if (type == SIM_U64) {
			before = record_get_64(in, before);
			((uint64_t *)column)[i] = before;
		} else {
			before = record_get_32(in, (uint32_t)before);
			((uint32_t *)column)[i] = (uint32_t)before;
		}
}

/* Put behind the rows of T, in room that there is. */
static int record_get_rows(struct record_in *in, size_t n_rows,
    struct obs_samples *t)
{
	const struct sim_table *kind = obs_samples_kind();
	for (size_t i = 0; i < n_rows; i++)
		t->run[t->n + i] = 0;
	for (size_t c = 1; c < kind->n_columns; c++)
		record_get_column(in, sim_table_at(kind, t, c, t->n),
		    kind->column[c].type, n_rows);
	return !in->bad && in->at == in->end;
}

/* The rows of T from FIRST on, all of one run, which is 0. */
static int record_check_rows(const struct res_record *r,
    const struct obs_samples *t, size_t first, struct sim_err *e)
{
	struct obs_run run = r->run;
	if (t->n == first) /* and there may be no columns to look into */
		return 0;
#define X(type, name, unit, doc) .name = &run.name,
	const struct obs_runs one = {.n = 1, OBS_RUN_COLUMNS(X)};
#undef X
#define X(type, name, unit, doc) .name = t->name + first,
	const struct obs_samples rows = {.n = t->n - first,
	    OBS_SAMPLE_COLUMNS(X)};
#undef X
	return obs_samples_check(&rows, &one, e);
}

int res_record_get(const unsigned char *bytes, const struct res_record *r,
    uint32_t run, struct obs_samples *t,
    unsigned char scratch[RES_RECORD_RAW_MAX], struct sim_err *e)
{
	struct record_in in = {bytes, bytes + r->n_bytes, 0};
	int rc;
	if (r->packed) {
		rc = res_inflate(scratch, r->n_raw, bytes, r->n_bytes, e);
		if (rc < 0)
			return rc;
		in = (struct record_in){scratch, scratch + r->n_raw, 0};
	}
	if ((rc = obs_samples_reserve(t, r->n_rows, e)) < 0)
		return rc;
	if (!record_get_rows(&in, r->n_rows, t))
		return sim_fail(e, SIM_EPARSE,
		    "a run does not hold the %" PRIu32 " rows that it says.",
		    r->n_rows);
	const size_t first = t->n;
	t->n += r->n_rows;
	/* What was written passed the same checks, but the file may have been
	 * made by another program. */
	if (record_check_rows(r, t, first, e) < 0) {
		t->n = first;
		return SIM_EPARSE;
	}
	for (size_t i = first; i < t->n; i++)
		t->run[i] = run;
	return 0;
}

/* --- records -------------------------------------------------------------- */

static void record_put_head(unsigned char to[RES_RECORD_HEAD_BYTES],
    const struct res_record *r)
{
	memcpy(to, RECORD_MAGIC, 4);
	sim_store_32(to + 4, r->n_bytes);
	sim_store_32(to + 8, r->n_raw);
	sim_store_32(to + 12, (uint32_t)r->packed);
	sim_store_64(to + 16, r->run.start_ns);
	sim_store_64(to + 24, r->run.width_ns);
	sim_store_64(to + 32, r->run.line_bps);
	sim_store_32(to + 40, r->run.n_buckets);
	sim_store_32(to + 44, r->run.n_missed);
	sim_store_32(to + 48, r->n_rows);
	sim_store_32(to + 52, r->n_cpus);
	sim_store_64(to + BYTES_CHECK,
	    record_sum(to + RES_RECORD_HEAD_BYTES, r->n_bytes));
	sim_store_64(to + HEAD_CHECK, record_sum(to, HEAD_CHECK));
}

/* Whether a record begins at B; of what it says all is within bounds then. */
static int record_get_head(const unsigned char *b, struct res_record *r)
{
	if (memcmp(b, RECORD_MAGIC, 4) != 0 ||
	    sim_load_64(b + HEAD_CHECK) != record_sum(b, HEAD_CHECK))
		return 0;
	*r = (struct res_record){.run = {.start_ns = sim_load_64(b + 16),
				     .width_ns = sim_load_64(b + 24),
				     .line_bps = sim_load_64(b + 32),
				     .n_buckets = sim_load_32(b + 40),
				     .n_missed = sim_load_32(b + 44)},
	    .n_rows = sim_load_32(b + 48),
	    .n_cpus = sim_load_32(b + 52),
	    .n_bytes = sim_load_32(b + 4),
	    .n_raw = sim_load_32(b + 8),
	    .packed = sim_load_32(b + 12) != 0};
	const uint64_t width = r->run.width_ns;
	return r->run.n_buckets > 0 && r->run.n_buckets <= OBS_BUCKETS &&
	    r->n_rows <= r->run.n_buckets && r->run.line_bps > 0 && width > 0 &&
	    width <= OBS_WIDTH_MAX_NS &&
	    r->run.start_ns <= INT64_MAX - r->run.n_buckets * width &&
	    r->n_raw <= RES_RECORD_RAW_MAX &&
	    (r->packed ? r->n_bytes < r->n_raw : r->n_bytes == r->n_raw);
}

int res_record_put(unsigned char to[RES_RECORD_MAX], size_t *n,
    const struct obs_run *run, uint32_t n_cpus, const struct obs_samples *t,
    unsigned char scratch[RES_RECORD_RAW_MAX], struct sim_err *e)
{
	struct res_record r = {.run = *run,
			      .n_rows = (uint32_t)t->n,
			      .n_cpus = n_cpus},
			  again;
	unsigned char *bytes = to + RES_RECORD_HEAD_BYTES;
	if (t->n > run->n_buckets || run->n_buckets > OBS_BUCKETS)
		return sim_fail(e, SIM_EINVAL,
		    "a run of %" PRIu32 " buckets with %zu rows: at most %d.",
		    run->n_buckets, t->n, OBS_BUCKETS);
	const int rc = record_check_rows(&r, t, 0, e);
	if (rc < 0)
		return rc;
	r.n_raw = r.n_bytes = (uint32_t)record_put_rows(bytes, t);
	if (scratch) {
		memcpy(scratch, bytes, r.n_raw);
		const size_t packed =
		    res_deflate(bytes, r.n_raw, scratch, r.n_raw);
		r.packed = packed > 0 && packed < r.n_raw;
		if (r.packed)
			r.n_bytes = (uint32_t)packed;
		else
			memcpy(bytes, scratch, r.n_raw);
	}
	record_put_head(to, &r);
	*n = RES_RECORD_HEAD_BYTES + r.n_bytes;
	return record_get_head(to, &again)
	    ? 0
	    : sim_fail(e, SIM_EINVAL,
		  "a run that starts at %" PRIu64
		  " ns, with buckets of %" PRIu64 " ns on a line of %" PRIu64
		  " bit/s, cannot be.",
		  run->start_ns, run->width_ns, run->line_bps);
}

/* Where behind AT the next record begins that says so by its check; N if none
 * does. */
static size_t record_find(const unsigned char *bytes, size_t n, size_t at)
{
	struct res_record r;
	while (at + RES_RECORD_HEAD_BYTES <= n) {
		const unsigned char *p =
		    memmem(bytes + at, n - at, RECORD_MAGIC, 4);
		if (!p || (size_t)(p - bytes) + RES_RECORD_HEAD_BYTES > n)
			return n;
		if (record_get_head(p, &r))
			return (size_t)(p - bytes);
		at = (size_t)(p - bytes) + 1;
	}
	return n;
}

enum res_record_end res_record_next(const unsigned char *bytes, size_t n,
    size_t *at, size_t *began, struct res_record *r)
{
	const size_t left = n - *at;
	const unsigned char *p = bytes + *at;
	*began = *at;
	if (left == 0)
		return RES_RECORD_END;
	if (left < RES_RECORD_HEAD_BYTES)
		return RES_RECORD_TORN;
	if (!record_get_head(p, r)) {
		*at = record_find(bytes, n, *at + 1);
		return RES_RECORD_DAMAGED;
	}
	const size_t size = RES_RECORD_HEAD_BYTES + r->n_bytes;
	if (left < size)
		return RES_RECORD_TORN;
	*at += size;
	return sim_load_64(p + BYTES_CHECK) ==
		record_sum(p + RES_RECORD_HEAD_BYTES, r->n_bytes)
	    ? RES_RECORD_MORE
	    : RES_RECORD_DAMAGED;
}
