/* tests/fuzz/guided_fuzz.c -- any bytes as a guided probe.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The bytes are read as they are; and as what a probe is changed by, bit for
 * bit, so that more than the first check is met.
 */
#include <stdlib.h>
#include <string.h>

#include "algos/everflow/guided.h"
#include "sim/inet.h"
#include "tests/fuzz/fuzz.h"

enum { N_SWITCHES = 1000 };

/* What is read is what is written, but for what a network changes: TTL, ECN and
 * the checksum of the header. */
static int check(const uint8_t *bytes, size_t n)
{
	struct algo_guided g;
	struct sim_err e = {0};
	uint8_t again[ALGO_GUIDED_MAX];
	const int rc = algo_guided_read(bytes, n, N_SWITCHES, &g, &e);
	must(rc == 0 || (rc == SIM_EPARSE && e.msg[0] != '\0'));
	if (rc < 0)
		return 0;
	must(algo_guided_write(&g, again) == n);
	for (size_t i = 0; i < n; i++) {
		const size_t at = i % 20;
		const int is_ip = i < n - 36;
		const int is_free = is_ip && (at == 8 || at == 10 || at == 11);
		const uint8_t ecn = is_ip && at == 1 ? OBS_TOS_ECN : 0;
		must(is_free || !((again[i] ^ bytes[i]) & ~ecn));
	}
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct algo_guided g = {.order = 7,
	    .number = 9,
	    .tuple = {0x0a000001, 0x0a000002, 33000, 80, TOPO_PROTO_TCP},
	    .sender = 0x0a000003,
	    .n_via = 3,
	    .via = {1, 2, 999}};
	uint8_t probe[ALGO_GUIDED_MAX];
	check(bytes, n);
	if (n == 0)
		return 0;
	g.n_via = bytes[0] % 4;
	if (g.n_via > 0 && bytes[0] & 4)
		g.tuple.dst_ip = 0;
	const size_t all = algo_guided_write(&g, probe);
	must(check(probe, all));
	for (size_t i = 0; i + 1 < n && i < all; i++)
		probe[i] ^= bytes[i + 1];
	/* Right unless it is said that it is to be wrong. */
	if (bytes[0] & 8) {
		sim_inet_put16(probe + 10, 0);
		sim_inet_put16(probe + 10, ~sim_inet_sum(0, probe, 20));
	}
	check(probe, all);
	return 0;
}
