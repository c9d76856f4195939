/* tests/fuzz/archive_fuzz.c -- any text as tar's list, and as a manifest of it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The list ends at the first zero byte, the manifest is behind it. Whatever is
 * taken must stay within its folder.
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/check/archive.h"
#include "tests/fuzz/fuzz.h"

static void check_name(const char *name)
{
	must(*name != '/' && *name != '.' && *name != '-');
	must(!strstr(name, "/.") && !strstr(name, "//") && !strstr(name, "/-"));
	must(strlen(name) < 256);
	for (; *name; name++)
		must(*name > ' ' && *name < 127 && *name != '\\');
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct xp_archive a = {0};
	struct sim_err e = {0};
	char *list = malloc(n + 1), *text = malloc(n + 1);
	if (!list || !text)
		return 0;
	memcpy(list, bytes, n);
	list[n] = '\0';
	const size_t k = strlen(list);
	memcpy(text, bytes + (k < n ? k + 1 : n), n - (k < n ? k + 1 : n));
	text[n - (k < n ? k + 1 : n)] = '\0';
	if (xp_archive_read_list(&a, list, &e) == 0) {
		must(a.n_files > 0 && a.n_bytes <= XP_ARCHIVE_MAX);
		check_name(a.top);
		for (size_t i = 0; i < a.n_files; i++)
			check_name(a.file[i]);
		if (xp_archive_read_manifest(&a, text, &e) < 0)
			must(*e.msg != '\0');
	} else {
		must(*e.msg != '\0');
	}
	xp_archive_close(&a);
	free(list);
	free(text);
	return 0;
}
