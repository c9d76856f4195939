/* models/rack/params.h -- whether a rack can be what a spec says.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef MODELS_RACK_PARAMS_H
#define MODELS_RACK_PARAMS_H

#include "models/rack/rack.h"

/* Errors SIM_EINVAL: fields that don't go together. */
int rack_params_check(const struct rack_params *p, struct sim_err *e);

#endif
