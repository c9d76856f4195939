/* tests/fuzz/claims_fuzz.c -- any text as what a paper claims.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is taken is held against results that are there and against none, and
 * comes to verdicts that there are.
 */
#include <string.h>

#include "experiments/check/verify.h"
#include "tests/fuzz/fuzz.h"
#include "tests/rigs/random_cube.h"

static void check_claim(const struct xp_claim *c, const struct res_cube *cube)
{
	struct xp_finding f;
	struct sim_err e = {0};
	const int rc = xp_claim_check(c, cube, &f, &e);
	must(rc == 0 || e.msg[0] != '\0');
	must(rc < 0 || (f.n_readings >= 1 && f.n_readings <= XP_N_READINGS));
	for (size_t i = 0; rc == 0 && i < f.n_readings; i++)
		must(f.verdict[i] < XP_N_CLAIM_VERDICTS);
	xp_finding_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct res_cube cube;
	struct xp_claims c;
	struct sim_err e = {0};
	if (!cube.figure)
		plain_cube(&cube, 3, 2);
	const char *path = fuzz_file(bytes, n);
	const int rc = xp_claims_load(&c, path, &e);
	must(rc == 0 || strstr(e.msg, path));
	for (size_t i = 0; rc == 0 && i < c.n; i++) {
		for (size_t k = 0; k < i; k++)
			must(strcmp(c.claim[i].id, c.claim[k].id) != 0);
		check_claim(&c.claim[i], NULL);
		check_claim(&c.claim[i], &cube);
	}
	xp_claims_free(&c);
	return 0;
}
