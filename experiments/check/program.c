/* experiments/check/program.c -- run a program and hear what it says.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child tells when it can't begin; as shells do. */
enum { NO_PROGRAM = 127, NO_FOLDER = 126 };

static void set_limit(__rlimit_resource_t what, unsigned long n)
{
	const struct rlimit limit = {n, n};
	/* A lower one that stands already is as good. */
	(void)setrlimit(what, &limit);
}

static _Noreturn void child(const struct xp_program *p, const int fd[3])
{
	for (int i = 0; i < 3; i++)
		if (dup2(fd[i], i) < 0)
			_exit(NO_FOLDER);
	if (p->folder && chdir(p->folder) < 0)
		_exit(NO_FOLDER);
	umask(077);
	set_limit(RLIMIT_FSIZE, p->max_bytes);
	set_limit(RLIMIT_CPU, p->max_cpu_s);
	setenv("LC_ALL", "C", 1);
	setenv("TZ", "UTC", 1);
	/* Options of the user's would be options of ours. */
	unsetenv("TAR_OPTIONS");
	unsetenv("GZIP");
	execvp(p->argv[0], (char *const *)(uintptr_t)p->argv);
	_exit(NO_PROGRAM);
}

static int program_read(int fd, char **text, struct sim_err *e)
{
	struct stat st;
	size_t n = 0;
	if (fstat(fd, &st) < 0)
		return sim_fail(e, SIM_EIO, "a program's output is lost: %s.",
		    strerror(errno));
	if (!(*text = malloc((size_t)st.st_size + 1)))
		return sim_fail(e, SIM_ENOMEM, "no memory for what it says.");
	while (n < (size_t)st.st_size) {
		const ssize_t k =
		    pread(fd, *text + n, (size_t)st.st_size - n, (off_t)n);
		if (k <= 0)
			break;
		n += (size_t)k;
	}
	(*text)[n] = '\0';
	return 0;
}

static int program_wait(const struct xp_program *p, const int fd[3],
    int *status, struct sim_err *e)
{
	/* What stdio holds would be written by both processes. */
	fflush(NULL);
	const pid_t pid = fork();
	if (pid == 0)
		child(p, fd);
	if (pid < 0)
		return sim_fail(e, SIM_EIO, "cannot start %s: %s.", p->argv[0],
		    strerror(errno));
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return sim_fail(e, SIM_EIO, "lost %s: %s.", p->argv[0],
			    strerror(errno));
	*status =
	    WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
	if (*status == NO_PROGRAM)
		return sim_fail(e, SIM_EDEP, "there is no program %s here.",
		    p->argv[0]);
	return 0;
}

int xp_program_run(const struct xp_program *p, char **said, char **erred,
    int *status, struct sim_err *e)
{
	const char *input = p->input ? p->input : "/dev/null";
	/* Files in memory, not pipes: nobody has to read two at a time. */
	int fd[3] = {open(input, O_RDONLY | O_CLOEXEC),
	    memfd_create("stdout", MFD_CLOEXEC),
	    memfd_create("stderr", MFD_CLOEXEC)};
	int rc = 0;
	*said = *erred = NULL;
	if (fd[0] < 0)
		rc = sim_fail(e, SIM_EIO, "cannot read %s: %s.", input,
		    strerror(errno));
	else if (fd[1] < 0 || fd[2] < 0)
		rc = sim_fail(e, SIM_EIO, "no files in memory: %s.",
		    strerror(errno));
	if (rc == 0)
		rc = program_wait(p, fd, status, e);
	if (rc == 0 && (rc = program_read(fd[1], said, e)) == 0)
		rc = program_read(fd[2], erred, e);
	if (rc < 0) {
		free(*said);
		*said = NULL;
	}
	for (int i = 0; i < 3; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	return rc;
}
