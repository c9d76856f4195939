/* experiments/lab/selftest.h -- is a real network here one to be believed?
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each of these would silently make results wrong if it did not hold: the
 * tracer sees the paths of the data; a healthy network sends nothing again and
 * drops nothing; injected loss is counted where it is and nowhere else; SYNs
 * are sent again at the times that the kernel's settings say.
 */
#ifndef EXPERIMENTS_LAB_SELFTEST_H
#define EXPERIMENTS_LAB_SELFTEST_H

#include <stdio.h>

#include "sim/err.h"

/* Run all of them, in a Clos of 12 hosts and 12 switches; a line each on OUT:
 * "ok", "FAIL" or "SKIPPED", what, numbers. *N_FAILED of them failed; an error
 * is one of the machine. About 20 s. */
int xp_lab_selftest(FILE *out, unsigned *n_failed, struct sim_err *e);

#endif
