/* tests/spec_file.c -- specs written to a temporary folder, and loaded.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/spec_file.h"

#include <unistd.h>

#include "tests/test.h"

static char folder[64];

int spec_folder_make(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/culprit-spec-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

int spec_folder_remove(void **state)
{
	static const char *const names[] = {"x.yaml", "net.graphml"};
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(spec_path(names[i]));
	return rmdir(folder);
}

const char *spec_path(const char *name)
{
	static char path[4][128];
	static unsigned next;
	char *p = path[next++ % 4];
	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

void spec_write(const char *name, const char *text)
{
	FILE *f = fopen(spec_path(name), "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

int spec_load(struct xp_spec *s, const char *text, struct sim_err *e)
{
	spec_write("x.yaml", text);
	return xp_spec_load(s, spec_path("x.yaml"), 0, NULL, 0, e);
}

void spec_open(struct xp_spec *s, const char *text)
{
	assert_ok(spec_load(s, text, test_err()));
}
