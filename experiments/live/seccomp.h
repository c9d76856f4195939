/* experiments/live/seccomp.h -- system calls that a daemon gives up for good.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whoever takes a daemon over has what its process may ask of the kernel, so what
 * ours never ask is given up, by a filter (seccomp(2)) that holds until the end, for
 * each thread and child:
 *
 *	kills the process	another program (execve), another process's memory
 *				(ptrace), mounts, modules, another kernel; calls of
 *				another architecture
 *	refused, EPERM		namespaces, other users, clocks, eBPF, perf, keys,
 *				io_uring, memory that is written and run, raw
 *				sockets and families but Unix, IPv4, IPv6, netlink;
 *				of who is on no network, all but Unix
 *	unknown, ENOSYS		calls newer than this program
 *
 * A kill leaves no second try to who runs code of his own, and none of ours ever
 * comes near; the others a library of some day may try and do without, so they are
 * refused, and counted. All else is allowed: a list of what is allowed would have to
 * name what each C library, TLS library and allocator calls, and break at the next.
 */
#ifndef EXPERIMENTS_LIVE_SECCOMP_H
#define EXPERIMENTS_LIVE_SECCOMP_H

#include <stdint.h>

#include "sim/err.h"

/* What a daemon still needs, as a mask. */
enum xp_seccomp_keeps {
	XP_SECCOMP_NOTHING = 0,
	XP_SECCOMP_NETWORK = 1, /* sockets of IPv4, IPv6 and netlink */
	/* What the kernel says of an open descriptor of eBPF; nothing can be
	 * loaded, attached, looked up or changed by that. */
	XP_SECCOMP_BPF_INFO = 2,
};

/* To be called once, after rights were given up (daemon.h), while the process has
 * one thread. SIGSYS is handled from here on.
 * Errors SIM_EUNSUPPORTED: this kernel or this build has no such filter; all else
 * goes on as before. */
int xp_seccomp_begin(unsigned keeps, struct sim_err *e);

/* How many calls were refused by EPERM so far, in this process. *NAME = the last
 * one's name; NULL is fine. */
uint64_t xp_seccomp_refused(const char **name);

/* --- seccomp_MACHINE.c ------------------------------------------------------ */
extern const uint32_t xp_seccomp_arch; /* AUDIT_ARCH_... */

/* Have the call that CONTEXT, a ucontext_t, was in return VALUE. */
void xp_seccomp_answer(void *context, long value);

#endif
