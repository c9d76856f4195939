/* models/real/namespace.h -- in which network namespace a thread is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sockets belong to the namespace that their thread was in when they were made,
 * so one process can hold sockets of many hosts.
 */
#ifndef MODELS_REAL_NAMESPACE_H
#define MODELS_REAL_NAMESPACE_H

#include "sim/err.h"

/* The calling thread's namespace, to be closed. Errors SIM_EIO. */
int real_ns_here(int *ns, struct sim_err *e);

/* Move the calling thread into a namespace. Errors SIM_EIO. */
int real_ns_enter(int ns, struct sim_err *e);

#endif
