/* tests/fuzz/keys_fuzz.c -- any bytes as a file of public keys, and a signed list.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is before the first zero byte is the file, what is before the next one the
 * mark, and the rest the list. Nobody can forge a signature by chance, so no list
 * is ever taken.
 */
#include <string.h>

#include "experiments/live/list_sign.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct xp_list_checker *c;
	struct sim_err e = {0};
	const uint8_t *end = n ? memchr(bytes, 0, n) : NULL;
	const size_t n_keys = end ? (size_t)(end - bytes) : n;
	const int rc = xp_list_checker_open(&c, fuzz_file(bytes, n_keys), &e);
	must(rc == 0 || e.msg[0] != '\0');
	if (rc < 0)
		return 0;
	const uint8_t *mark = end ? end + 1 : NULL;
	const size_t left = end ? n - n_keys - 1 : 0;
	const uint8_t *stop = left ? memchr(mark, 0, left) : NULL;
	if (stop) {
		const uint8_t *list = stop + 1;
		must(xp_list_check(c, (const char *)mark, list,
			 (size_t)(bytes + n - list), 1763894400, &e) < 0);
		must(e.msg[0] != '\0');
	}
	xp_list_checker_close(c);
	return 0;
}
