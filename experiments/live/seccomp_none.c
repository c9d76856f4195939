/* experiments/live/seccomp_none.c -- without a filter of system calls.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <stddef.h>

#include "experiments/live/seccomp.h"

int xp_seccomp_begin(unsigned keeps, struct sim_err *e)
{
	(void)keeps;
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "culprit has no filter of system calls for this machine's "
	    "architecture.");
}

uint64_t xp_seccomp_refused(const char **name)
{
	if (name)
		*name = NULL;
	return 0;
}
