/* tests/fuzz/store_fuzz.c -- any bytes as a file of the collector.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Batches are read one behind the other, as at a start and by an export. What is
 * a batch alone is one there, and the file is gone through to its end or to what
 * is no batch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/live/batch_store.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static unsigned char buf[ALGO_PINGMESH_WIRE_MAX];
	struct algo_pingmesh_wire_id id, alone;
	struct sim_err e = {0};
	size_t at = 0, size = 0;
	int end;
	if (n == 0)
		return 0;
	FILE *in = fmemopen((void *)bytes, n, "rb");
	must(in != NULL);
	while (
	    (end = xp_batch_next(in, buf, &size, &id, &e)) == XP_BATCH_MORE) {
		must(size > 0 && size <= n - at);
		must(memcmp(buf, bytes + at, size) == 0);
		must(algo_pingmesh_wire_check(&alone, bytes + at, size, NULL) ==
		    0);
		must(alone.number == id.number && alone.n == id.n);
		at += size;
	}
	must(end == XP_BATCH_END || end == XP_BATCH_TORN ||
	    end == XP_BATCH_DAMAGED);
	must((end == XP_BATCH_END) == (at == n));
	fclose(in);
	return 0;
}
