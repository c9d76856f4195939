/* tests/fuzz/samples_fuzz.c -- any bytes as a file of a host's samples.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Once as a file, and once as what a record holds, behind its checks. What is
 * taken must pass as samples and, written, be read as the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/obs_buckets.h"
#include "results/sample_record.h"
#include "sim/bytes.h"
#include "tests/fuzz/fuzz.h"

static unsigned char scratch[RES_RECORD_RAW_MAX], again[RES_RECORD_MAX];

/* The rows of R are T; they are written, packed and plain, and read. */
static void check_taken(const struct res_record *r, const struct obs_samples *t)
{
	static struct obs_samples got;
	for (int packed = 0; packed < 2; packed++) {
		size_t n = 0, at = 0, began;
		struct res_record is;
		must(res_record_put(again, &n, &r->run, r->n_cpus, t,
			 packed ? scratch : NULL, NULL) == 0);
		must(n <= RES_RECORD_MAX);
		must(res_record_next(again, n, &at, &began, &is) ==
		    RES_RECORD_MORE);
		must(at == n && is.n_rows == t->n);
		obs_samples_clear(&got);
		must(res_record_get(again + RES_RECORD_HEAD_BYTES, &is, 0, &got,
			 scratch, NULL) == 0);
		for (size_t i = 0; i < t->n; i++) {
			const struct obs_sample x = obs_samples_at(t, i),
						y = obs_samples_at(&got, i);
			must(memcmp(&x, &y, sizeof(x)) == 0);
		}
	}
}

static void check_record(const unsigned char *bytes, const struct res_record *r)
{
	static struct obs_samples t;
	struct sim_err e = {0};
	obs_samples_clear(&t);
	const int rc = res_record_get(bytes, r, 0, &t, scratch, &e);
	must(rc == 0 || *e.msg != '\0');
	must(rc == 0 || t.n == 0);
	if (rc == 0)
		check_taken(r, &t);
}

static void as_file(const uint8_t *bytes, size_t n)
{
	struct res_record_host host;
	struct sim_err e = {0};
	struct res_record r;
	size_t at = RES_RECORD_FILE_BYTES, began, before;
	enum res_record_end end;
	if (res_record_get_file(bytes, n, &host, &e) < 0) {
		must(*e.msg != '\0');
		return;
	}
	must(memchr(host.name, '\0', sizeof(host.name)) != NULL);
	do {
		before = at;
		end = res_record_next(bytes, n, &at, &began, &r);
		must(began == before && at <= n);
		if (end == RES_RECORD_MORE || end == RES_RECORD_DAMAGED)
			must(at > before);
		if (end == RES_RECORD_MORE)
			check_record(bytes + began + RES_RECORD_HEAD_BYTES, &r);
	} while (end == RES_RECORD_MORE || end == RES_RECORD_DAMAGED);
}

/* Six bytes say how many rows there are said to be, and of how many bytes. */
static void as_rows(const uint8_t *bytes, size_t n)
{
	if (n < 6)
		return;
	struct res_record r = {.run = {.start_ns = 1,
				   .width_ns = 1000,
				   .line_bps = 1,
				   .n_buckets = OBS_BUCKETS},
	    .n_bytes = (uint32_t)n - 6,
	    .packed = bytes[5] & 1};
	r.n_rows = sim_load_16(bytes) % (OBS_BUCKETS + 1);
	r.n_raw = r.packed ? (sim_load_16(bytes + 2) * 3u) % RES_RECORD_RAW_MAX
			   : r.n_bytes;
	if (r.n_raw <= RES_RECORD_RAW_MAX)
		check_record(bytes + 6, &r);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	as_file(bytes, n);
	as_rows(bytes, n);
	return 0;
}
