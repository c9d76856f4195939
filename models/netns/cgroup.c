/* models/netns/cgroup.c -- a cgroup of this process's own.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An eBPF program that sets the timeout of SYNs is attached to a cgroup and
 * holds for all sockets that are made in it. A cgroup of this process's own
 * keeps every other program of the machine out of it.
 */
#include "models/netns/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = "culprit-";

void netns_cgroup_init(struct netns_cgroup *c)
{
	*c = (struct netns_cgroup){.fd = -1, .before = -1};
}

/* Where cgroup2 is mounted. Returns 0 if it is not. */
static int find_mount(char dir[], size_t size)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	const struct mntent *m;
	int found = 0;
	while (f && !found && (m = getmntent(f)) != NULL) {
		found = strcmp(m->mnt_type, "cgroup2") == 0;
		if (found)
			snprintf(dir, size, "%s", m->mnt_dir);
	}
	if (f)
		endmntent(f);
	return found;
}

/* This process's path below the mount. Returns 0 if it has none. */
static int find_path(char path[], size_t size)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[1024];
	int found = 0;
	while (f && !found && fgets(line, sizeof(line), f)) {
		/* The line of hierarchy 0 without controllers is that of
		 * cgroup2; others are of version 1. */
		found = strncmp(line, "0::", 3) == 0;
		line[strcspn(line, "\n")] = '\0';
		if (found)
			snprintf(path, size, "%s", line + 3);
	}
	if (f)
		fclose(f);
	return found;
}

static int open_own(struct sim_err *e)
{
	char mount[1024] = "", path[1024] = "", whole[2048];
	if (!find_mount(mount, sizeof(mount)) || !find_path(path, sizeof(path)))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "The timeout of SYNs takes cgroup2, which is not mounted "
		    "here.");
	snprintf(whole, sizeof(whole), "%s%s", mount, path);
	int fd = open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd >= 0 ? fd
		       : sim_fail(e, SIM_EUNSUPPORTED,
			     "The cgroup %.800s cannot be opened: %s.", whole,
			     strerror(errno));
}

/* Remove what killed processes left behind. Nothing is asked before: rmdir() of
 * a cgroup that some process is in fails. */
static void remove_stale(int dir)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
	const struct dirent *x;
	while (d && (x = readdir(d)) != NULL)
		if (strncmp(x->d_name, prefix, sizeof(prefix) - 1) == 0)
			unlinkat(dir, x->d_name, AT_REMOVEDIR);
	if (d)
		closedir(d);
	else if (copy >= 0)
		close(copy);
}

/* Returns 0 and errno when that is refused. */
static int move_to(int dir)
{
	int fd = openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	/* 0 stands for the process that writes. */
	const int ok = write(fd, "0", 1) == 1;
	const int why = errno;
	close(fd);
	errno = why;
	return ok;
}

int netns_cgroup_enter(struct netns_cgroup *c, struct sim_err *e)
{
	int rc = open_own(e);
	if (rc < 0)
		return rc;
	c->before = rc;
	remove_stale(c->before);
	/* The process id keeps two programs apart; one left behind with this id
	 * has just been removed. */
	snprintf(c->name, sizeof(c->name), "%s%d", prefix, (int)getpid());
	if (mkdirat(c->before, c->name, 0755) < 0 ||
	    (c->fd = openat(c->before, c->name,
		 O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
	    !move_to(c->fd)) {
		rc = sim_fail(e, SIM_EUNSUPPORTED,
		    "The timeout of SYNs takes a cgroup of this process's own, "
		    "which is refused here: %s.",
		    strerror(errno));
		netns_cgroup_leave(c);
		return rc;
	}
	return 0;
}

void netns_cgroup_leave(struct netns_cgroup *c)
{
	if (c->before >= 0) {
		/* A cgroup can be removed only when it is empty. */
		move_to(c->before);
		unlinkat(c->before, c->name, AT_REMOVEDIR);
		close(c->before);
	}
	if (c->fd >= 0)
		close(c->fd);
	netns_cgroup_init(c);
}
