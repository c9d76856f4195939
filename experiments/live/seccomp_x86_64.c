/* experiments/live/seccomp_x86_64.c -- what a filter of system calls is to know of x86-64.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <linux/audit.h>
#include <ucontext.h>

#include "experiments/live/seccomp.h"

const uint32_t xp_seccomp_arch = AUDIT_ARCH_X86_64;

void xp_seccomp_answer(void *context, long value)
{
	ucontext_t *u = context;
	u->uc_mcontext.gregs[REG_RAX] = value;
}
