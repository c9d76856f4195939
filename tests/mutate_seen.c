/* tests/mutate_seen.c -- notes each block that a program comes to, in a file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For tests/mutate_seen.py. gcc -fsanitize-coverage=trace-pc calls the function
 * below first in each block of code. The byte at its place in the file is set; that
 * is shared, so what a killed process noted stays.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern char __executable_start[], etext[];

/* What is added to a place in the program to have its byte; 0 if nothing is noted. */
static uintptr_t seen_from;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	if (seen_from)
		*(char *)(seen_from + (uintptr_t)__builtin_return_address(0)) =
		    1;
}

/* One file for each program, named as that is with ! for /, in SEEN_DIR. */
static int open_seen(const char *dir)
{
	char self[PATH_MAX / 2], path[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return -1;
	self[n] = '\0';
	for (char *c = self; *c; c++)
		if (*c == '/')
			*c = '!';
	if (snprintf(path, sizeof(path), "%s/%s", dir, self) >= PATH_MAX)
		return -1;
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

static void __attribute__((constructor)) begin(void)
{
	const char *dir = getenv("SEEN_DIR");
	const size_t size = (size_t)(etext - __executable_start);
	const int fd = dir ? open_seen(dir) : -1;
	if (fd < 0)
		return;
	void *seen = MAP_FAILED;
	if (ftruncate(fd, (off_t)size) == 0)
		seen =
		    mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (seen != MAP_FAILED)
		seen_from = (uintptr_t)seen - (uintptr_t)__executable_start;
}
