/* models/real/namespace.c -- in which network namespace a thread is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The path below goes by the thread, not by the process: setns() moves one
 * thread, and /proc/self would name the namespace of the first one.
 */
#include "models/real/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>

int real_ns_here(int *ns, struct sim_err *e)
{
	*ns = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	return *ns >= 0 ? 0
			: sim_fail(e, SIM_EIO,
			      "/proc/thread-self/ns/net cannot be opened: %s.",
			      strerror(errno));
}

int real_ns_enter(int ns, struct sim_err *e)
{
	return setns(ns, CLONE_NEWNET) == 0
	    ? 0
	    : sim_fail(e, SIM_EIO, "A network namespace cannot be entered: %s.",
		  strerror(errno));
}
