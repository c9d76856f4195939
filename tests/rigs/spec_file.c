/* tests/rigs/spec_file.c -- specs written to a temporary folder, and loaded.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/spec_file.h"

#include "tests/rigs/folder.h"
#include "tests/test.h"

int spec_folder_make(void **state)
{
	return test_folder_make(state);
}

int spec_folder_remove(void **state)
{
	return test_folder_remove(state);
}

const char *spec_path(const char *name)
{
	return test_path(name);
}

void spec_write(const char *name, const char *text)
{
	test_write(name, text);
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
