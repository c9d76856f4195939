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
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

enum kind { MALLOC, READ, WRITE, FSYNC, RENAME, FORK, PIPE, OPEN, N_KINDS };

static const char *const kinds[N_KINDS] = {"malloc", "read", "write", "fsync",
    "rename", "fork", "pipe", "open"};

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

ssize_t write(int fd, const void *bytes, size_t n)
{
	NEXT(write);
	return fails(WRITE, ENOSPC) ? -1 : next(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	NEXT(pwrite);
	return fails(WRITE, ENOSPC) ? -1 : next(fd, bytes, n, at);
}

int ftruncate(int fd, off_t n)
{
	NEXT(ftruncate);
	return fails(WRITE, ENOSPC) ? -1 : next(fd, n);
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

int open(const char *path, int flags, ...)
{
	NEXT(open);
	va_list rest;
	va_start(rest, flags);
	const mode_t mode =
	    flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	return fails(OPEN, EMFILE) ? -1 : next(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	NEXT(fopen);
	return fails(OPEN, EMFILE) ? NULL : next(path, mode);
}
