/* tests/mutate_seen.c -- the file that mutate_seen.S notes functions in.
 * SPDX-License-Identifier: GPL-3.0-or-later
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
uintptr_t seen_from;

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
