/* tests/fuzz/table_fuzz.c -- any text as a table that is kept with the tree.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Once as what results are expected to be, once as values that were tuned. The
 * former, if taken, agrees with itself; the latter is read again as written.
 */
#include <string.h>

#include "experiments/arena/tuned.h"
#include "experiments/check/expected.h"
#include "tests/fuzz/fuzz.h"

static void check_expected(const char *text)
{
	struct xp_expected_table t;
	struct xp_expected x = {0};
	struct sim_err e = {0};
	const int rc = xp_expected_read(&t, text, "kept.tsv", &e);
	must(rc == 0 || strstr(e.msg, "kept.tsv"));
	for (size_t i = 0; rc == 0 && i < t.n; i++) {
		const struct xp_expected_row *r = &t.row[i];
		must(r->n <= r->runs && r->point && r->metric);
	}
	if (rc == 0 &&
	    xp_expected_check_table("kept.tsv", text, "kept.tsv", text, &x,
		NULL, NULL, NULL) == 0)
		must(x.n_failed == 0 && x.n_missing == 0 && x.n_new == 0);
	xp_expected_free(&t);
}

/* T as text, to be freed. */
static char *print(const struct xp_arena_tuned *t)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	must(out != NULL);
	xp_arena_tuned_print(t, out);
	must(fclose(out) == 0);
	return text;
}

static void check_tuned(const char *text)
{
	struct xp_arena_tuned t = {0}, again = {0};
	struct sim_err e = {0};
	char *copy = strdup(text);
	must(copy != NULL);
	const int rc = xp_arena_tuned_read(&t, copy, "tuned.tsv", &e);
	must(rc == 0 || strstr(e.msg, "tuned.tsv"));
	if (rc == 0) {
		char *once = print(&t), *twice;
		must(xp_arena_tuned_read(&again, strdup(once), "tuned.tsv",
			 NULL) == 0);
		twice = print(&again);
		must(again.n == t.n && strcmp(once, twice) == 0);
		free(once);
		free(twice);
	}
	xp_arena_tuned_free(&t);
	xp_arena_tuned_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = strndup((const char *)bytes, n);
	must(text != NULL);
	check_expected(text);
	check_tuned(text);
	free(text);
	return 0;
}
