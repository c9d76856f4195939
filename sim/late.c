/* sim/late.c -- libraries that are loaded when they are first used.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/late.h"

#include <dlfcn.h>
#include <string.h>

enum { LATE_MAX_FILES = 8 };

/* A program that is linked with the library all the same, as a test is, has the
 * library's variables in its own memory, and they are not those that the library
 * would name; so what the whole program sees goes first. */
static void *late_find(void *const handle[], size_t n, const char *symbol)
{
	void *found = dlsym(RTLD_DEFAULT, symbol);
	for (size_t i = 0; i < n && !found; i++)
		found = dlsym(handle[i], symbol);
	return found;
}

int sim_late_load(const struct sim_late *l, struct sim_err *e)
{
	void *handle[LATE_MAX_FILES], *at;
	char *table = l->table;
	size_t n = 0;
	/* The last pointer is written last. */
	memcpy(&at, table + l->size - sizeof(at), sizeof(at));
	if (at)
		return 0;
	for (; n < LATE_MAX_FILES && l->file[n]; n++)
		if (!(handle[n] = dlopen(l->file[n], RTLD_LAZY | RTLD_LOCAL)))
			return sim_fail(e, SIM_EDEP,
			    "library %s can't be loaded: %s.", l->name,
			    dlerror());
	for (size_t i = 0; l->symbol[i]; i++, table += sizeof(at)) {
		if (!(at = late_find(handle, n, l->symbol[i])))
			return sim_fail(e, SIM_EDEP,
			    "library %s (%s) has no %s.", l->name, l->file[0],
			    l->symbol[i]);
		memcpy(table, &at, sizeof(at));
	}
	return 0;
}
