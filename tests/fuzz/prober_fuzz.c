/* tests/fuzz/prober_fuzz.c -- any bytes as orders to the prober.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "algos/everflow/prober.h"
#include "sim/bytes.h"
#include "tests/fuzz/fuzz.h"

/* What is taken is written the same. */
static void check(const uint8_t *bytes, size_t n)
{
	static unsigned char again[ALGO_PROBER_MESSAGE];
	static struct algo_probe_order order[ALGO_PROBER_ORDERS];
	struct sim_err e = {0};
	size_t n_orders = 0;
	unsigned flags = 0;
	const int rc = algo_prober_check(bytes, n, &n_orders, &flags, &e);
	must(rc == 0 || e.msg[0] != '\0');
	if (rc < 0)
		return;
	for (size_t i = 0; i < n_orders; i++)
		order[i] = algo_prober_order_at(bytes, i);
	must(algo_prober_write(order, n_orders, flags, again) == n);
	must(memcmp(again, bytes, n) == 0);
}

/* As they are; and with a right checksum, or none would get behind it. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = calloc(n ? n : 1, 1);
	must(copy != NULL);
	if (n > 0)
		memcpy(copy, bytes, n);
	check(copy, n);
	if (n >= ALGO_PROBER_CHECK) {
		sim_store_64(copy + n - 8, sim_fnv(SIM_FNV_START, copy, n - 8));
		check(copy, n);
	}
	free(copy);
	return 0;
}
