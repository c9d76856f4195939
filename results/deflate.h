/* results/deflate.h -- bytes made fewer, by zlib.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef RESULTS_DEFLATE_H
#define RESULTS_DEFLATE_H

#include <stddef.h>

#include "sim/err.h"

/* Pack the N bytes at FROM into TO, which has room for CAP. Returns how many they
 * are, or 0: CAP is too small, there is no memory, or no zlib. */
size_t res_deflate(void *to, size_t cap, const void *from, size_t n);

/* Unpack the N bytes at FROM, which must come to just N_TO. Errors SIM_EPARSE
 * (they do not), SIM_ENOMEM, SIM_EUNSUPPORTED (built without zlib). */
int res_inflate(void *to, size_t n_to, const void *from, size_t n,
    struct sim_err *e);

#endif
