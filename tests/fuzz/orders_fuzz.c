/* tests/fuzz/orders_fuzz.c -- any bytes as jobs to a scout, and as its answers.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "algos/planner/orders.h"
#include "sim/bytes.h"
#include "tests/fuzz/fuzz.h"

/* Jobs that are taken are written the same; answers so that they are read the
 * same, as what they have behind their hops is thrown away. */
static void check(const uint8_t *bytes, size_t n)
{
	static unsigned char again[ALGO_SCOUT_MESSAGE];
	static struct algo_scout_job job[ALGO_SCOUT_JOBS];
	static struct algo_scout_answer one[ALGO_SCOUT_JOBS],
	    two[ALGO_SCOUT_JOBS];
	struct algo_scout_head h = {0}, k = {0};
	struct sim_err e = {0};
	int rc = algo_scout_read_jobs(bytes, n, &h, job, &e);
	must(rc == 0 || e.msg[0] != '\0');
	if (rc == 0) {
		must(algo_scout_write_jobs(&h, job, again) == n);
		must(memcmp(again, bytes, n) == 0);
	}
	e.msg[0] = '\0';
	rc = algo_scout_read_answers(bytes, n, &h, one, &e);
	must(rc == 0 || e.msg[0] != '\0');
	if (rc < 0)
		return;
	must(algo_scout_write_answers(&h, one, again) == n);
	must(algo_scout_read_answers(again, n, &k, two, &e) == 0);
	must(k.n == h.n && k.round == h.round);
	for (size_t i = 0; i < h.n; i++)
		must(one[i].n_lost == two[i].n_lost &&
		    memcmp(one[i].hop_ip, two[i].hop_ip,
			sizeof(one[i].hop_ip)) == 0);
}

/* As they are; and with a right checksum, or none would get behind it. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = calloc(n ? n : 1, 1);
	must(copy != NULL);
	if (n > 0)
		memcpy(copy, bytes, n);
	check(copy, n);
	if (n >= ALGO_SCOUT_CHECK) {
		sim_store_64(copy + n - 8, sim_fnv(SIM_FNV_START, copy, n - 8));
		check(copy, n);
	}
	free(copy);
	return 0;
}
