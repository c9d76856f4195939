/* sim/late.h -- libraries that are loaded when they are first used.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A program that is linked with a large library pays for it at each start, by
 * far most of what a start costs, whether or not it is used then. So some are
 * not linked with. NAME.late lists what is used of one, and of it sim/late.sh
 * makes the header NAME.late.h, which takes the place of the library's own:
 *
 *	struct late_NAME late_NAME;     a pointer to each function and variable
 *	#define H5open (*late_hdf5.H5open)    so code reads as it would
 *
 * One .c file of ours defines LATE_DEFINE before it includes that header. Who
 * begins to use the library calls sim_late_load() before all else.
 *
 * The table is one of the few things of the whole process: it is filled once and
 * the library stays loaded.
 */
#ifndef SIM_LATE_H
#define SIM_LATE_H

#include <stddef.h>

#include "sim/err.h"

struct sim_late {
	const char *name;        /* for messages */
	const char *const *file; /* NULL-terminated */
	const char *const *symbol;
	void *table; /* of a pointer each, NULL at first */
	size_t size; /* bytes */
};

/* Load a library, unless it is. Errors SIM_EDEP: it is not there, or lacks
 * something. */
int sim_late_load(const struct sim_late *l, struct sim_err *e);

#endif
