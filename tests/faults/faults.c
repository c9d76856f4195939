/* tests/faults/faults.c -- the Nth call of one kind fails, of all processes.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loaded before the C library (LD_PRELOAD) by tests/faults/run.py. FAULT=KIND
 * names the calls, FAULT_AT=N which of them fails (0: none), and FAULT_COUNT a
 * file of 8 bytes a kind that counts them, over the program and its forks. Other
 * programs that it starts see nothing of it.
 *
 * What the C library calls within itself, as stdio does to write, cannot be
 * had this way; the allocations of all libraries can.
 */
/* <sys/socket.h> has unions where these have pointers. */
#pragma GCC diagnostic ignored "-Wpedantic"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

enum kind {
	MALLOC,
	MAP,
	READ,
	WRITE,
	FSYNC,
	RENAME,
	FORK,
	PIPE,
	OPEN,
	SOCKET,
	SPACE,
	BPF,
	N_KINDS
};

static const char *const kinds[N_KINDS] = {"malloc", "map", "read", "write",
    "fsync", "rename", "fork", "pipe", "open", "socket", "space", "bpf"};

static uint64_t fail_at[N_KINDS];
static uint64_t *n_calls; /* [N_KINDS]; NULL: nothing is counted */

static __attribute__((constructor)) void faults_begin(void)
{
	const char *what = getenv("FAULT"), *at = getenv("FAULT_AT"),
		   *count = getenv("FAULT_COUNT");
	if (!what || !at || !count ||
	    strcmp(program_invocation_short_name, "culprit") != 0)
		return;
	const int fd = open(count, O_RDWR | O_CLOEXEC);
	uint64_t *map = mmap(NULL, N_KINDS * sizeof(*n_calls),
	    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		abort();
	for (unsigned i = 0; i < N_KINDS; i++)
		if (strcmp(kinds[i], what) == 0)
			fail_at[i] = strtoull(at, NULL, 10);
	n_calls = map;
}

static int fails(enum kind k, int why)
{
	if (!n_calls ||
	    __atomic_add_fetch(&n_calls[k], 1, __ATOMIC_RELAXED) != fail_at[k])
		return 0;
	errno = why;
	return 1;
}

/* --- allocations -----------------------------------------------------------*/

void *malloc(size_t n)
{
	return fails(MALLOC, ENOMEM) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails(MALLOC, ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	return fails(MALLOC, ENOMEM) ? NULL : __libc_realloc(p, n);
}

/* --- calls of the system ---------------------------------------------------*/

#define NEXT(name)                                                             \
	__typeof__(&name) next =                                               \
	    (__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name)

/* What wakes a thread, as an eventfd, has no type, and is never full. */
static int has_type(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) != 0;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	NEXT(write);
	if (!has_type(fd))
		return next(fd, bytes, n);
	return fails(WRITE, ENOSPC) ? -1 : next(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	NEXT(pwrite);
	return fails(WRITE, ENOSPC) ? -1 : next(fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
	NEXT(pwrite64);
	return fails(WRITE, ENOSPC) ? -1 : next(fd, bytes, n, at);
}

int ftruncate(int fd, off_t n)
{
	NEXT(ftruncate);
	return fails(WRITE, ENOSPC) ? -1 : next(fd, n);
}

int ftruncate64(int fd, off64_t n)
{
	NEXT(ftruncate64);
	return fails(WRITE, ENOSPC) ? -1 : next(fd, n);
}

int posix_fallocate(int fd, off_t at, off_t n)
{
	NEXT(posix_fallocate);
	return fails(WRITE, ENOSPC) ? ENOSPC : next(fd, at, n);
}

int fsync(int fd)
{
	NEXT(fsync);
	return fails(FSYNC, EIO) ? -1 : next(fd);
}

int fdatasync(int fd)
{
	NEXT(fdatasync);
	return fails(FSYNC, EIO) ? -1 : next(fd);
}

int rename(const char *from, const char *to)
{
	NEXT(rename);
	return fails(RENAME, EACCES) ? -1 : next(from, to);
}

pid_t fork(void)
{
	NEXT(fork);
	return fails(FORK, EAGAIN) ? -1 : next();
}

int pipe(int fd[2])
{
	NEXT(pipe);
	return fails(PIPE, EMFILE) ? -1 : next(fd);
}

int pipe2(int fd[2], int flags)
{
	NEXT(pipe2);
	return fails(PIPE, EMFILE) ? -1 : next(fd, flags);
}

int socketpair(int domain, int type, int protocol, int fd[2])
{
	NEXT(socketpair);
	return fails(PIPE, EMFILE) ? -1 : next(domain, type, protocol, fd);
}

ssize_t read(int fd, void *bytes, size_t n)
{
	NEXT(read);
	return fails(READ, EIO) ? -1 : next(fd, bytes, n);
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at)
{
	NEXT(pread);
	return fails(READ, EIO) ? -1 : next(fd, bytes, n, at);
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t at)
{
	NEXT(pread64);
	return fails(READ, EIO) ? -1 : next(fd, bytes, n, at);
}

/* The mode behind FLAGS, if there is one. */
#define MODE_BEHIND(flags)                                                     \
	va_list rest;                                                          \
	va_start(rest, flags);                                                 \
	const mode_t mode =                                                    \
	    flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;          \
	va_end(rest)

int open(const char *path, int flags, ...)
{
	NEXT(open);
	MODE_BEHIND(flags);
	return fails(OPEN, EMFILE) ? -1 : next(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	NEXT(open64);
	MODE_BEHIND(flags);
	return fails(OPEN, EMFILE) ? -1 : next(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	NEXT(openat);
	MODE_BEHIND(flags);
	return fails(OPEN, EMFILE) ? -1 : next(dir, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	NEXT(fopen);
	return fails(OPEN, EMFILE) ? NULL : next(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	NEXT(fopen64);
	return fails(OPEN, EMFILE) ? NULL : next(path, mode);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
	NEXT(mmap);
	return fails(MAP, ENOMEM) ? MAP_FAILED
				  : next(at, n, prot, flags, fd, from);
}

void *mmap64(void *at, size_t n, int prot, int flags, int fd, off64_t from)
{
	NEXT(mmap64);
	return fails(MAP, ENOMEM) ? MAP_FAILED
				  : next(at, n, prot, flags, fd, from);
}

/* --- the network, and what daemons wait with --------------------------------*/

int socket(int domain, int type, int protocol)
{
	NEXT(socket);
	return fails(SOCKET, EMFILE) ? -1 : next(domain, type, protocol);
}

int bind(int fd, const struct sockaddr *to, socklen_t n)
{
	NEXT(bind);
	return fails(SOCKET, EADDRINUSE) ? -1 : next(fd, to, n);
}

int listen(int fd, int n)
{
	NEXT(listen);
	return fails(SOCKET, EADDRINUSE) ? -1 : next(fd, n);
}

int accept4(int fd, struct sockaddr *from, socklen_t *n, int flags)
{
	NEXT(accept4);
	return fails(SOCKET, ENFILE) ? -1 : next(fd, from, n, flags);
}

int connect(int fd, const struct sockaddr *to, socklen_t n)
{
	NEXT(connect);
	return fails(SOCKET, ENOBUFS) ? -1 : next(fd, to, n);
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
	NEXT(send);
	return fails(SOCKET, ENOBUFS) ? -1 : next(fd, bytes, n, flags);
}

ssize_t sendto(int fd, const void *bytes, size_t n, int flags,
    const struct sockaddr *to, socklen_t n_to)
{
	NEXT(sendto);
	return fails(SOCKET, ENOBUFS) ? -1
				      : next(fd, bytes, n, flags, to, n_to);
}

ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
	NEXT(recv);
	return fails(SOCKET, ENOMEM) ? -1 : next(fd, bytes, n, flags);
}

int epoll_create1(int flags)
{
	NEXT(epoll_create1);
	return fails(SOCKET, EMFILE) ? -1 : next(flags);
}

int eventfd(unsigned n, int flags)
{
	NEXT(eventfd);
	return fails(SOCKET, EMFILE) ? -1 : next(n, flags);
}

int timerfd_create(int clock, int flags)
{
	NEXT(timerfd_create);
	return fails(SOCKET, EMFILE) ? -1 : next(clock, flags);
}

int signalfd(int fd, const sigset_t *set, int flags)
{
	NEXT(signalfd);
	return fails(SOCKET, EMFILE) ? -1 : next(fd, set, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	NEXT(sendmsg);
	return fails(SOCKET, ENOBUFS) ? -1 : next(fd, m, flags);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	NEXT(recvmsg);
	return fails(SOCKET, ENOMEM) ? -1 : next(fd, m, flags);
}

/* --- namespaces, and programs for the kernel --------------------------------*/

int unshare(int what)
{
	NEXT(unshare);
	return fails(SPACE, ENOSPC) ? -1 : next(what);
}

int setns(int fd, int what)
{
	NEXT(setns);
	return fails(SPACE, EPERM) ? -1 : next(fd, what);
}

int mount(const char *what, const char *where, const char *type,
    unsigned long flags, const void *more)
{
	NEXT(mount);
	return fails(SPACE, ENOMEM) ? -1 : next(what, where, type, flags, more);
}

/* libbpf has no other way to the kernel. The rest passes by, with as many arguments
 * as any call has. */
long syscall(long number, ...)
{
	NEXT(syscall);
	long a[6];
	va_list rest;
	va_start(rest, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(rest, long);
	va_end(rest);
	if (number == SYS_bpf && fails(BPF, ENOMEM))
		return -1;
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
