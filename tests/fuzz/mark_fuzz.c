/* tests/fuzz/mark_fuzz.c -- any bytes as the mark of a signed list.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/live/list_mark.h"
#include "tests/fuzz/fuzz.h"

/* There is one form of each mark: what is taken is written the same. What is not
 * leaves the mark alone. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct xp_list_mark m, before;
	struct sim_err e = {0};
	char again[XP_LIST_MARK], said[XP_LIST_STATEMENT];
	char *text = malloc(n + 1);
	must(text != NULL);
	if (n > 0)
		memcpy(text, bytes, n);
	text[n] = '\0';
	memset(&m, 0xa5, sizeof(m));
	before = m;
	if (xp_list_mark_take(&m, text, &e) < 0) {
		must(e.msg[0] != '\0');
		must(memcmp(&m, &before, sizeof(m)) == 0);
	} else {
		xp_list_mark_put(again, &m);
		must(strcmp(again, text) == 0);
		must(xp_list_mark_statement(said, m.issued_s, m.signature) <
		    XP_LIST_STATEMENT);
	}
	free(text);
	return 0;
}
