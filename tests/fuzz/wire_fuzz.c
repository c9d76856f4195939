/* tests/fuzz/wire_fuzz.c -- any bytes as a batch; what is read writes the same.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "algos/pingmesh/wire.h"
#include "tests/fuzz/fuzz.h"

static void check_window(const uint8_t *bytes, size_t n,
    const struct algo_pingmesh_wire_id *id)
{
	unsigned char again[ALGO_PINGMESH_WIRE_WINDOW];
	struct algo_pingmesh_window w;
	must(algo_pingmesh_wire_decode_window(&w, NULL, bytes, n, NULL) == 0);
	must(id->n == 0 && id->number == w.number);
	/* By what names, is not in these bytes; 0/8 is that of numbers. */
	if (!topo_ip_is_4(&id->src) || topo_ip_is_number(w.src_ip))
		return;
	must(algo_pingmesh_wire_encode_window(&w, NULL, again) == n);
	must(memcmp(again, bytes, n) == 0);
}

static void check(const uint8_t *bytes, size_t n)
{
	static struct algo_pingmesh_batch b;
	static unsigned char again[ALGO_PINGMESH_WIRE_MAX];
	struct algo_pingmesh_wire_id id;
	struct sim_err e = {0};
	size_t size = 0;
	const int rc = algo_pingmesh_wire_check(&id, bytes, n, &e);
	must(rc == 0 || e.msg[0] != '\0');
	if (rc < 0)
		return;
	must(algo_pingmesh_wire_length(bytes, &size, NULL) == 0 && size == n);
	const int is_window = id.kind == ALGO_PINGMESH_OF_COUNTERS;
	must((algo_pingmesh_wire_decode(&b, NULL, bytes, n, NULL) < 0) ==
	    is_window);
	if (is_window) {
		check_window(bytes, n, &id);
		return;
	}
	must(id.n == b.n && id.number == b.number && b.n <= n / 48);
	if (!topo_ip_is_4(&id.src))
		return;
	/* 0/8 is that of numbers, of which there are none here. */
	for (uint32_t i = 0; i < b.n; i++)
		if (topo_ip_is_number(b.src_ip | b.record[i].dst_ip))
			return;
	must(algo_pingmesh_wire_encode(&b, NULL, again) == n);
	must(memcmp(again, bytes, n) == 0);
}

/* As it is; and with a right checksum, or none would get behind it. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	uint8_t *copy = calloc(n ? n : 1, 1);
	must(copy != NULL);
	if (n > 0)
		memcpy(copy, bytes, n);
	check(copy, n);
	if (n >= 8) {
		for (size_t i = 0; i < n - 8; i++)
			hash = (hash ^ copy[i]) * UINT64_C(1099511628211);
		for (int i = 0; i < 8; i++)
			copy[n - 8 + (size_t)i] = (uint8_t)(hash >> 8 * i);
		check(copy, n);
	}
	free(copy);
	return 0;
}
