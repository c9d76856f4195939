/* sim/deps.c -- the one place that turns libraries' abort handlers into errors.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/deps.h"

#include <gsl/gsl_errno.h>

void sim_deps_quiet(void)
{
	gsl_set_error_handler_off();
}
