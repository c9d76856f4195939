/* experiments/live/seccomp.c -- system calls that a daemon gives up for good.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The filter is a program of classic BPF over struct seccomp_data. Each rule ends
 * with the call's number in the accumulator, as it found it.
 */
#include "experiments/live/seccomp.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* No daemon of ours has a use for these, not even one that may fail. */
#define SECCOMP_KILLED(X)                                                      \
	X(execve)                                                              \
	X(execveat)                                                            \
	X(process_vm_readv)                                                    \
	X(process_vm_writev)                                                   \
	X(mount)                                                               \
	X(umount2)                                                             \
	X(pivot_root)                                                          \
	X(chroot)                                                              \
	X(open_tree)                                                           \
	X(move_mount)                                                          \
	X(fsopen)                                                              \
	X(fsconfig)                                                            \
	X(fsmount)                                                             \
	X(fspick)                                                              \
	X(mount_setattr)                                                       \
	X(init_module)                                                         \
	X(finit_module)                                                        \
	X(delete_module)                                                       \
	X(kexec_load)                                                          \
	X(kexec_file_load)                                                     \
	X(reboot)

#define SECCOMP_REFUSED(X)                                                     \
	X(unshare)                                                             \
	X(setns)                                                               \
	X(setuid)                                                              \
	X(setgid)                                                              \
	X(setreuid)                                                            \
	X(setregid)                                                            \
	X(setresuid)                                                           \
	X(setresgid)                                                           \
	X(setfsuid)                                                            \
	X(setfsgid)                                                            \
	X(setgroups)                                                           \
	X(capset)                                                              \
	X(settimeofday)                                                        \
	X(clock_settime)                                                       \
	X(adjtimex)                                                            \
	X(clock_adjtime)                                                       \
	X(sethostname)                                                         \
	X(setdomainname)                                                       \
	X(swapon)                                                              \
	X(swapoff)                                                             \
	X(acct)                                                                \
	X(quotactl)                                                            \
	X(syslog)                                                              \
	X(personality)                                                         \
	X(perf_event_open)                                                     \
	X(userfaultfd)                                                         \
	X(add_key)                                                             \
	X(request_key)                                                         \
	X(keyctl)                                                              \
	X(io_uring_setup)                                                      \
	X(io_uring_enter)                                                      \
	X(io_uring_register)                                                   \
	X(fanotify_init)                                                       \
	X(name_to_handle_at)                                                   \
	X(open_by_handle_at)                                                   \
	X(kcmp)                                                                \
	X(pidfd_getfd)                                                         \
	X(process_madvise)                                                     \
	X(migrate_pages)                                                       \
	X(move_pages)

/* Refused by what they are asked. */
#define SECCOMP_BY_ARGUMENT(X)                                                 \
	X(bpf)                                                                 \
	X(clone)                                                               \
	X(ioctl)                                                               \
	X(mmap)                                                                \
	X(mprotect)                                                            \
	X(pkey_mprotect)                                                       \
	X(socket)

enum {
	/* The newest call that was thought of here (Linux 5.16). Numbers above
	 * it are the same on all architectures, and answered as by a kernel
	 * that is older than they are, which every C library can live with. */
	NEWEST = SYS_futex_waitv,
	MAX_OPS = 256,
	REFUSE = SECCOMP_RET_TRAP,
	NO_CALL = SECCOMP_RET_ERRNO | ENOSYS,
	NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
	    CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
	WRITE_AND_RUN = PROT_WRITE | PROT_EXEC,
	TYPE_OF_SOCKET = 0xf,
};

struct seccomp_program {
	struct sock_filter op[MAX_OPS];
	unsigned short n;
};

/* A handler of signals has nobody to hand things to. */
static atomic_uint_least64_t seccomp_count;
static atomic_int seccomp_last;

/* --- rules ---------------------------------------------------------------- */
static void rule_put(struct seccomp_program *p, unsigned code, uint32_t k,
    uint8_t if_true, uint8_t if_false)
{
	/* The lists above are all that comes here. */
	if (p->n < MAX_OPS)
		p->op[p->n++] =
		    (struct sock_filter){(uint16_t)code, if_true, if_false, k};
}

static void rule_load(struct seccomp_program *p, size_t offset)
{
	rule_put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* The low half of an argument, which has all flags that are asked for here. */
static void rule_load_argument(struct seccomp_program *p, unsigned i)
{
	rule_load(p, offsetof(struct seccomp_data, args) + 8 * (size_t)i);
}

static void rule_load_call(struct seccomp_program *p)
{
	rule_load(p, offsetof(struct seccomp_data, nr));
}

static void rule_return(struct seccomp_program *p, uint32_t action)
{
	rule_put(p, BPF_RET | BPF_K, action, 0, 0);
}

/* Skip N operations unless the accumulator is K. */
static void rule_unless(struct seccomp_program *p, uint32_t k, uint8_t n)
{
	rule_put(p, BPF_JMP | BPF_JEQ | BPF_K, k, 0, n);
}

static void rule_call(struct seccomp_program *p, uint32_t call, uint32_t action)
{
	rule_unless(p, call, 1);
	rule_return(p, action);
}

/* Refuse CALL where argument I has all bits of MASK; or any of them. */
static void rule_all_of(struct seccomp_program *p, uint32_t call, unsigned i,
    uint32_t mask)
{
	rule_unless(p, call, 5);
	rule_load_argument(p, i);
	rule_put(p, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
	rule_unless(p, mask, 1);
	rule_return(p, REFUSE);
	rule_load_call(p);
}

static void rule_any_of(struct seccomp_program *p, uint32_t call, unsigned i,
    uint32_t mask)
{
	rule_unless(p, call, 4);
	rule_load_argument(p, i);
	rule_put(p, BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1);
	rule_return(p, REFUSE);
	rule_load_call(p);
}

/* Refuse CALL unless its first argument is VALUE. */
static void rule_only(struct seccomp_program *p, uint32_t call, uint32_t value)
{
	rule_unless(p, call, 4);
	rule_load_argument(p, 0);
	rule_put(p, BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
	rule_return(p, REFUSE);
	rule_load_call(p);
}

/* An ioctl that types into the terminal of whoever started this. */
static void rule_terminal(struct seccomp_program *p)
{
	rule_unless(p, SYS_ioctl, 4);
	rule_load_argument(p, 1);
	rule_unless(p, TIOCSTI, 1);
	rule_return(p, REFUSE);
	rule_load_call(p);
}

/* All that eBPF is asked for, or all but what an open descriptor is. */
static void rule_ebpf(struct seccomp_program *p, unsigned keeps)
{
	if (!(keeps & XP_SECCOMP_BPF_INFO)) {
		rule_call(p, SYS_bpf, REFUSE);
		return;
	}
	rule_only(p, SYS_bpf, BPF_OBJ_GET_INFO_BY_FD);
}

/* Unix sockets alone. */
static void rule_no_sockets(struct seccomp_program *p)
{
	rule_only(p, SYS_socket, AF_UNIX);
}

/* Unix sockets and netlink, as names are looked up by; IPv4 and IPv6, but for
 * packets that one makes oneself. */
static void rule_sockets(struct seccomp_program *p)
{
	const unsigned equal = BPF_JMP | BPF_JEQ | BPF_K;
	rule_unless(p, SYS_socket, 10);
	rule_load_argument(p, 0);
	rule_put(p, equal, AF_UNIX, 7, 0);
	rule_put(p, equal, AF_NETLINK, 6, 0);
	rule_put(p, equal, AF_INET, 1, 0);
	rule_put(p, equal, AF_INET6, 0, 3);
	rule_load_argument(p, 1);
	rule_put(p, BPF_ALU | BPF_AND | BPF_K, TYPE_OF_SOCKET, 0, 0);
	rule_put(p, equal, SOCK_RAW, 0, 1);
	rule_return(p, REFUSE);
	rule_load_call(p);
}

/* The leak check of a sanitizer traces the process that it is in. */
extern void __asan_init(void) __attribute__((weak));

static void rule_all(struct seccomp_program *p, unsigned keeps)
{
	rule_load(p, offsetof(struct seccomp_data, arch));
	rule_put(p, BPF_JMP | BPF_JEQ | BPF_K, xp_seccomp_arch, 1, 0);
	rule_return(p, SECCOMP_RET_KILL_PROCESS);
	rule_load_call(p);
	rule_put(p, BPF_JMP | BPF_JGT | BPF_K, NEWEST, 0, 1);
	rule_return(p, NO_CALL);
	/* Its flags are in memory, where no filter sees them; C libraries then
	 * do with clone. */
	rule_call(p, SYS_clone3, NO_CALL);
	if (!__asan_init)
		rule_call(p, SYS_ptrace, SECCOMP_RET_KILL_PROCESS);
#define X(name) rule_call(p, SYS_##name, SECCOMP_RET_KILL_PROCESS);
	SECCOMP_KILLED(X)
#undef X
#define X(name) rule_call(p, SYS_##name, REFUSE);
	SECCOMP_REFUSED(X)
#undef X
	rule_any_of(p, SYS_clone, 0, NAMESPACES);
	rule_all_of(p, SYS_mmap, 2, WRITE_AND_RUN);
	rule_any_of(p, SYS_mprotect, 2, PROT_EXEC);
	rule_any_of(p, SYS_pkey_mprotect, 2, PROT_EXEC);
	rule_terminal(p);
	rule_ebpf(p, keeps);
	(keeps & XP_SECCOMP_NETWORK ? rule_sockets : rule_no_sockets)(p);
	rule_return(p, SECCOMP_RET_ALLOW);
}

/* --- what was refused ------------------------------------------------------- */
/* A trap, and no plain error, for the sake of the count: the call then returns what
 * is put into its registers here. */
static void seccomp_on_trap(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	seccomp_last = info->si_syscall;
	atomic_fetch_add(&seccomp_count, 1);
	xp_seccomp_answer(context, -EPERM);
}

static const char *seccomp_name(int call)
{
	switch (call) {
#define X(name)                                                                \
	case SYS_##name:                                                       \
		return #name;
		SECCOMP_REFUSED(X)
		SECCOMP_BY_ARGUMENT(X)
#undef X
	default:
		return "?";
	}
}

uint64_t xp_seccomp_refused(const char **name)
{
	if (name)
		*name = seccomp_name(seccomp_last);
	return seccomp_count;
}

int xp_seccomp_begin(unsigned keeps, struct sim_err *e)
{
	struct seccomp_program p = {.n = 0};
	struct sigaction trap = {.sa_sigaction = seccomp_on_trap,
	    .sa_flags = SA_SIGINFO | SA_RESTART};
	sigemptyset(&trap.sa_mask);
	rule_all(&p, keeps);
	const struct sock_fprog all = {p.n, p.op};
	if (sigaction(SIGSYS, &trap, NULL) == 0 &&
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all, 0, 0) == 0)
		return 0;
	return sim_fail(e, SIM_EUNSUPPORTED,
	    "this kernel takes no filter of system calls: %s.",
	    strerror(errno));
}
