/* models/netns/caps.c -- what this machine and user can do for a real network.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/caps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models/netns/net.h"
#include "models/netns/node.h"
#include "models/real/namespace.h"

/* --- the right to build --------------------------------------------------- */

/* CAP_SYS_ADMIN makes and enters namespaces, CAP_NET_ADMIN sets up what is in
 * them. */
static int has_capabilities(void)
{
	struct __user_cap_header_struct h = {
	    .version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct d[2] = {{0}};
	const uint32_t want =
	    UINT32_C(1) << CAP_SYS_ADMIN | UINT32_C(1) << CAP_NET_ADMIN;
	return syscall(SYS_capget, &h, d) == 0 &&
	    (d[0].effective & want) == want;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	const int ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	return close(fd) == 0 && ok;
}

/* Enter a user namespace and be root in it, as the files of /proc/sys/net can
 * be written by its user id 0 alone. Giving up setgroups() comes first: a
 * process without rights may map its group only after that
 * (user_namespaces(7)). */
static int enter_user_namespace(struct sim_err *e)
{
	const unsigned uid = geteuid(), gid = getegid();
	char uids[32], gids[32];
	snprintf(uids, sizeof(uids), "0 %u 1", uid);
	snprintf(gids, sizeof(gids), "0 %u 1", gid);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "A network takes CAP_SYS_ADMIN and CAP_NET_ADMIN, or else "
		    "a user namespace, which is refused here: %s. See "
		    "/proc/sys/user/max_user_namespaces.",
		    strerror(errno));
	if (!write_file("/proc/self/setgroups", "deny") ||
	    !write_file("/proc/self/uid_map", uids) ||
	    !write_file("/proc/self/gid_map", gids))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "A user namespace is allowed here, but not to be root in "
		    "it: %s.",
		    strerror(errno));
	return 0;
}

/* Who is root of a user namespace need not have a right to the network
 * namespace that he is in: a container's root is such a one. Once out he could
 * not come back, so he gets a network namespace of his own to come back to. */
static int own_namespace(struct sim_err *e)
{
	int here, rc = real_ns_here(&here, e);
	if (rc < 0)
		return rc;
	/* Entering the namespace that one is in changes nothing, and asks for
	 * the right. */
	if (real_ns_enter(here, NULL) < 0)
		rc = netns_node_make(e);
	close(here);
	return rc;
}

int netns_permit(int *as_user, struct sim_err *e)
{
	*as_user = !has_capabilities();
	return *as_user ? enter_user_namespace(e) : own_namespace(e);
}

/* --- probing -------------------------------------------------------------- */

static void caps_say(struct netns_cap *cap, int ok, const char *why)
{
	cap->ok = ok;
	snprintf(cap->why, sizeof(cap->why), "%s", why);
	/* An error message is a sentence with a full stop; here it is a part of
	 * one. */
	size_t n = strlen(cap->why);
	if (n > 0 && cap->why[n - 1] == '.')
		cap->why[n - 1] = '\0';
}

/* Some knobs are files of each namespace only in newer kernels; whether they
 * are there is a better question than which version this is. */
static void say_knob(struct netns_cap *cap, const char *knob, const char *since)
{
	char why[128];
	snprintf(why, sizeof(why), "net/%s is %s in a namespace (Linux %s)",
	    knob, netns_node_has(knob) ? "there" : "missing", since);
	caps_say(cap, netns_node_has(knob), why);
}

/* What cannot be undone is tried in a child, which ends with it: a process that
 * has entered a user namespace cannot leave it. */
static void probe_namespaces(struct netns_cap cap[])
{
	struct sim_err e = {0};
	int as_user;
	if (netns_permit(&as_user, &e) < 0 || netns_node_make(&e) < 0) {
		/* Without a namespace nothing is known of its knobs. */
		for (int i = NETNS_CAP_NAMESPACES; i <= NETNS_CAP_ICMP_LIMIT;
		     i++)
			caps_say(&cap[i], 0, e.msg);
		return;
	}
	say_knob(&cap[NETNS_CAP_HASH_SEED], "ipv4/fib_multipath_hash_seed",
	    "6.11 and later");
	say_knob(&cap[NETNS_CAP_ICMP_LIMIT], "ipv4/icmp_msgs_per_sec",
	    "6.12 and later");
	const int ok = netns_node_try(&e) == 0;
	caps_say(&cap[NETNS_CAP_NAMESPACES], ok,
	    !ok           ? e.msg
		: as_user ? "without root, in a user namespace"
			  : "by CAP_SYS_ADMIN and CAP_NET_ADMIN");
}

/* Run probe_namespaces() in a child and take over what it found. Until the
 * child has written, the answers are those of a machine where no child can be
 * had. */
static void probe_in_child(struct netns_cap cap[])
{
	const size_t size = NETNS_N_CAPS * sizeof(*cap);
	int ends[2];
	pid_t child = -1;
	for (int i = NETNS_CAP_NAMESPACES; i <= NETNS_CAP_ICMP_LIMIT; i++)
		caps_say(&cap[i], 0, "it cannot be tried in a child process");
	if (pipe2(ends, O_CLOEXEC) == 0) {
		if ((child = fork()) == 0) {
			probe_namespaces(cap);
			_exit(write(ends[1], cap, size) != (ssize_t)size);
		}
		close(ends[1]);
		size_t n = 0;
		/* A pipe may give what was written in parts. */
		for (ssize_t got = 1; child > 0 && n < size && got > 0;
		     n += got > 0 ? (size_t)got : 0)
			got = read(ends[0], (char *)cap + n, size - n);
		close(ends[0]);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static void probe_file(struct netns_cap *cap, const char *path, int flags)
{
	char why[128];
	int fd = open(path, flags | O_CLOEXEC);
	snprintf(why, sizeof(why), "%s%s%s", path, fd < 0 ? ": " : "",
	    fd < 0 ? strerror(errno) : "");
	caps_say(cap, fd >= 0, why);
	if (fd >= 0)
		close(fd);
}

/* As a shell would find it. */
static void probe_command(struct netns_cap *cap, const char *name)
{
	char path[512] = "";
	const char *dirs = getenv("PATH");
	if (!dirs)
		dirs = "/usr/sbin:/usr/bin:/sbin:/bin";
	while (*dirs) {
		const size_t n = strcspn(dirs, ":");
		snprintf(path, sizeof(path), "%.*s/%s", (int)n, dirs, name);
		if (access(path, X_OK) == 0) {
			caps_say(cap, 1, path);
			return;
		}
		dirs += n + (dirs[n] == ':');
	}
	caps_say(cap, 0, "no such command in PATH");
}

void netns_probe(struct netns_cap cap[NETNS_N_CAPS])
{
	static const struct netns_cap all[] = {
#define X(id, title, use) {.name = title, .what = use},
	    NETNS_CAPS(X)
#undef X
	};
	memcpy(cap, all, sizeof(all));
	caps_say(&cap[NETNS_CAP_LIBMNL], netns_is_built_in(),
	    netns_is_built_in() ? "linked"
				: "install libmnl-dev and build again");
	probe_in_child(cap);
	probe_file(&cap[NETNS_CAP_BTF], "/sys/kernel/btf/vmlinux", O_RDONLY);
	probe_file(&cap[NETNS_CAP_TUN], "/dev/net/tun", O_RDWR);
	probe_command(&cap[NETNS_CAP_NFT], "nft");
}
