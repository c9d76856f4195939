/* experiments/plug/guard.h -- a call into code that may crash or never return.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A signal that would end the process comes back as a number instead. What the
 * code had begun is left as it was, locks of its and half-written memory too, so
 * the process should not go on for long. Calls on other threads, and what kills
 * the process later, are not caught.
 *
 * After each call floating-point numbers, their rounding, and the locale are as
 * a program has them that sets neither. A library linked with -ffast-math, say,
 * makes tiny numbers zero for the whole process as soon as it is loaded.
 */
#ifndef EXPERIMENTS_PLUG_GUARD_H
#define EXPERIMENTS_PLUG_GUARD_H

#include <stddef.h>
#include <sys/resource.h>

#include "sim/err.h"

struct plug_guard;

/* Signals are the guard's until it is closed; there is one a process, which is
 * opened and closed so often. Until then the process may have no more than
 * 4 GiB of data beyond what it had. Errors SIM_ENOMEM, SIM_EIO. */
int plug_guard_open(struct plug_guard **g, struct sim_err *e);
void plug_guard_close(struct plug_guard *g); /* NULL is fine */

/* FN(ARG). Returns 0, or the signal by which it ended: SIGALRM when it took
 * longer than TIMEOUT_S; or PLUG_GUARD_EXIT when it called exit(). What ends the
 * process at once, as _exit() does, can't be helped. Cost about 0.5 us. */
enum { PLUG_GUARD_EXIT = -1 };
int plug_guard_call(struct plug_guard *g, double timeout_s,
    void (*fn)(void *arg), void *arg);

/* What a call, or a child, may have beyond what there was: what asks for ever more
 * gets none, and says so, before the machine is out of memory. */
#define PLUG_DATA_BYTES (UINT64_C(4) << 30)

/* Bytes by which this process grew since the guard was opened, at the most. */
size_t plug_guard_growth(const struct plug_guard *g);

#endif
