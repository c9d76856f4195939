/* sim/input.c -- a file that the user names is opened, and never waited for.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "sim/input.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Pipes without a name are on a file system of their own. */
static int is_named_pipe(int fd)
{
	struct stat st;
	struct statfs fs;
	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) &&
	    (fstatfs(fd, &fs) < 0 || fs.f_type != PIPEFS_MAGIC);
}

int sim_input_fd(const char *path, const char **why)
{
	/* O_NONBLOCK: opening a named pipe would else wait for a writer. What is
	 * read of others has to wait as ever. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	*why = fd < 0 ? strerror(errno) : NULL;
	if (fd >= 0 && is_named_pipe(fd))
		*why = "a named pipe";
	else if (fd >= 0 && fcntl(fd, F_SETFL, 0) < 0)
		*why = strerror(errno);
	if (!*why)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

FILE *sim_input_open(const char *path, const char **why)
{
	const int fd = sim_input_fd(path, why);
	if (fd < 0)
		return NULL;
	FILE *f = fdopen(fd, "rb");
	if (!f) {
		*why = strerror(errno);
		close(fd);
	}
	return f;
}

const char *sim_input_said(const char *said)
{
	const char *end =
	    strncmp(said, "<fd:", 4) == 0 ? strstr(said, ": ") : NULL;
	return end ? end + 2 : said;
}
