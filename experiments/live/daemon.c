/* experiments/live/daemon.c -- what a long-running program does about its host.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/daemon.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "experiments/live/seccomp.h"
#include "models/real/place.h"
#include "sim/text.h"

/* --- address -------------------------------------------------------------- */
/* Whether an interface has an address of the family that other hosts reach: none of
 * 127/8, 169.254/16, and of IPv6 none of a link. */
static int address_of(const struct ifaddrs *i, int is_4, struct topo_ip *ip)
{
	return i->ifa_addr && real_ip_of(i->ifa_addr, ip) &&
	    topo_ip_is_4(ip) == is_4 && topo_ip_is_target(ip) &&
	    !(is_4 && topo_ip_to_4(ip) >> 16 == 0xa9fe);
}

static unsigned address_look(const struct ifaddrs *list, int is_4,
    struct topo_ip *address, struct sim_text *all)
{
	char one[TOPO_IP_TEXT];
	struct topo_ip ip;
	unsigned n = 0;
	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		if (!address_of(i, is_4, &ip))
			continue;
		*address = ip;
		topo_ip_format(&ip, one);
		sim_put(all, "%s%s", n++ ? ", " : "", one);
	}
	return n;
}

int xp_daemon_address(struct topo_ip *address, struct sim_err *e)
{
	char text[256] = "";
	struct sim_text all = {text, sizeof(text), 0};
	struct ifaddrs *list;
	if (getifaddrs(&list) < 0)
		return sim_fail(e, SIM_EIO,
		    "the addresses of this host cannot be read: %s.",
		    strerror(errno));
	/* Lists were of IPv4 first: a host that gets an address of IPv6 beside
	 * it stays who it was. */
	unsigned n = address_look(list, 1, address, &all);
	if (n == 0)
		n = address_look(list, 0, address, &all);
	freeifaddrs(list);
	if (n == 1)
		return 0;
	return sim_fail(e, SIM_EINVAL,
	    n == 0 ? "this host has no address that others reach%s."
		   : "this host has several addresses, %s: say which one by "
		     "--address.",
	    text);
}

/* --- rights --------------------------------------------------------------- */
static int daemon_refused(const char *what, struct sim_err *e)
{
	return sim_fail(e, SIM_EIO, "%s: %s.", what, strerror(errno));
}

static int daemon_user(const struct passwd **p, const char *user,
    struct sim_err *e)
{
	char quote[64];
	*p = getpwnam(user);
	return *p ? 0
		  : sim_fail(e, SIM_EINVAL, "there is no user %s.",
			sim_quote(quote, user));
}

static int become(const char *user, struct sim_err *e)
{
	char what[128];
	const struct passwd *p;
	const int rc = daemon_user(&p, user, e);
	if (rc < 0)
		return rc;
	if (p->pw_uid == getuid() && p->pw_uid == geteuid())
		return 0;
	snprintf(what, sizeof(what), "cannot become user %.32s (%u)", user,
	    (unsigned)p->pw_uid);
	/* Groups first and the user last, since changing groups takes the right
	 * that is then gone. All three ids are set, or the old ones could be
	 * had back. */
	if (setgroups(0, NULL) < 0 ||
	    setresgid(p->pw_gid, p->pw_gid, p->pw_gid) < 0 ||
	    setresuid(p->pw_uid, p->pw_uid, p->pw_uid) < 0)
		return daemon_refused(what, e);
	uid_t r, eff, saved;
	/* Verified, since a call that does less than it says would leave a
	 * daemon that is root: the way back must be closed. */
	if (getresuid(&r, &eff, &saved) < 0 || r != p->pw_uid || eff != r ||
	    saved != r || (r != 0 && setuid(0) == 0))
		return sim_fail(e, SIM_EIO, "%s for good.", what);
	return 0;
}

/* Capabilities that are kept across a change of user (ambient ones, or those of
 * a service manager) go too, and NO_NEW_PRIVS keeps any program that this one
 * might run from gaining some. */
static int empty_capabilities(struct sim_err *e)
{
	struct __user_cap_header_struct head = {
	    .version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}}, left[2];
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/* A filter of system calls may refuse this, as a unit's does that has
	 * none to give up: what counts is what is left. */
	const int rc = (int)syscall(SYS_capset, &head, none);
	const int why = errno;
	if (syscall(SYS_capget, &head, left) < 0)
		return daemon_refused("capabilities cannot be read", e);
	if (memcmp(none, left, sizeof(none)) != 0) {
		errno = rc < 0 ? why : EPERM;
		return daemon_refused("capabilities cannot be given up", e);
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return daemon_refused("new rights cannot be ruled out", e);
	return 0;
}

static const char *daemon_default(const char *user)
{
	return !user && geteuid() == 0 ? "nobody" : user;
}

/* Only of a folder that was just made, and of no link to another, does the owner
 * change. */
static int daemon_give(const char *dir, const struct passwd *p,
    struct sim_err *e)
{
	const int fd =
	    open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int rc = 0;
	if (fd < 0 || fchown(fd, p->pw_uid, p->pw_gid) < 0)
		rc = sim_fail(e, SIM_EIO, "cannot give %s to %s: %s.", dir,
		    p->pw_name, strerror(errno));
	if (fd >= 0)
		close(fd);
	return rc;
}

int xp_daemon_folder(const char *dir, const char *user, struct sim_err *e)
{
	const struct passwd *p = NULL;
	int rc;
	user = daemon_default(user);
	if (user && (rc = daemon_user(&p, user, e)) < 0)
		return rc;
	if (mkdir(dir, 0750) < 0)
		return errno == EEXIST
		    ? 0
		    : sim_fail(e, SIM_EIO, "cannot make %s: %s.", dir,
			  strerror(errno));
	return p && p->pw_uid != geteuid() ? daemon_give(dir, p, e) : 0;
}

int xp_daemon_drop(const char *user, struct sim_err *e)
{
	user = daemon_default(user);
	/* Dropping from the bounding set takes a capability. Who has none fails
	 * at the first, and has nothing that the set would bound. */
	for (unsigned long cap = 0; cap <= 63; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			break;
	const int rc = user ? become(user, e) : 0;
	return rc < 0 ? rc : empty_capabilities(e);
}

/* The terabytes that AddressSanitizer asks for at the start would count as memory,
 * and no more could be had. */
#ifdef __SANITIZE_ADDRESS__
enum { DAEMON_COUNTS = 0 };
#else
enum { DAEMON_COUNTS = 1 };
#endif

/* A daemon on every host of a fleet must never be what brings a host down:
 * memory is bounded, a crash writes no core, and anything else gets the
 * processor first. */
int xp_daemon_limit(uint32_t memory_mib, struct sim_err *e)
{
	const struct rlimit none = {0, 0};
	const struct rlimit memory = {(rlim_t)memory_mib << 20,
	    (rlim_t)memory_mib << 20};
	enum { AFTER_OTHERS = 10 };
	if (memory_mib > 0 && DAEMON_COUNTS &&
	    setrlimit(RLIMIT_DATA, &memory) < 0)
		return daemon_refused("memory cannot be limited", e);
	if (setrlimit(RLIMIT_CORE, &none) < 0)
		return daemon_refused("core dumps cannot be ruled out", e);
	if (getpriority(PRIO_PROCESS, 0) < AFTER_OTHERS)
		setpriority(PRIO_PROCESS, 0, AFTER_OTHERS);
	return 0;
}

void xp_daemon_cost(struct xp_daemon_cost *c)
{
	unsigned long pages = 0;
	struct rusage u;
	FILE *f = fopen("/proc/self/statm", "re");
	/* The second number of statm is the resident pages. */
	if (f && fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	getrusage(RUSAGE_SELF, &u);
	c->rss_bytes = (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
	c->cpu_s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	    1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
	c->n_refused_calls = xp_seccomp_refused(NULL);
}

void xp_daemon_put_cost(struct sim_text *t)
{
	struct xp_daemon_cost c;
	xp_daemon_cost(&c);
	sim_put(t,
	    "\"rss_bytes\": %" PRIu64
	    ", \"cpu_s\": %.3f, \"n_refused_calls\": %" PRIu64,
	    c.rss_bytes, c.cpu_s, c.n_refused_calls);
}

/* --- signals -------------------------------------------------------------- */
/* Else it ends the program, as it does any. */
static int hears_hangup;

static void daemon_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGUSR1);
	if (hears_hangup)
		sigaddset(set, SIGHUP);
}

void xp_daemon_block_signals(void)
{
	sigset_t set;
	daemon_signals(&set);
	/* A peer that has gone is an error of the write, and no end of the
	 * daemon. */
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void xp_daemon_block_hangup(void)
{
	sigset_t set;
	hears_hangup = 1;
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

enum xp_daemon_signal xp_daemon_take_signal(sim_ns wait)
{
	const struct timespec t = {(time_t)(wait / SIM_SEC),
	    (long)(wait % SIM_SEC)};
	sigset_t set;
	daemon_signals(&set);
	const int signal = sigtimedwait(&set, NULL, &t);
	return signal < 0       ? XP_DAEMON_NO_SIGNAL
	    : signal == SIGUSR1 ? XP_DAEMON_STATUS
	    : signal == SIGHUP  ? XP_DAEMON_AGAIN
				: XP_DAEMON_END;
}

/* --- systemd -------------------------------------------------------------- */
/* Half of what the watchdog allows, as sd_watchdog_enabled(3) advises. A
 * variable that is meant for another process, which has only been inherited, is
 * none. */
static sim_ns watchdog(void)
{
	const char *us = getenv("WATCHDOG_USEC"), *of = getenv("WATCHDOG_PID");
	uint64_t n = 0, pid = (uint64_t)getpid();
	if (!us || sim_parse_u64(us, &n, NULL) < 0 || n == 0 ||
	    n > UINT64_MAX / 1000 ||
	    (of &&
		(sim_parse_u64(of, &pid, NULL) < 0 ||
		    pid != (uint64_t)getpid())))
		return SIM_NEVER;
	return n * SIM_US / 2;
}

void xp_notify_open(struct xp_notify *n)
{
	const char *path = getenv("NOTIFY_SOCKET");
	*n = (struct xp_notify){.fd = -1, .every = SIM_NEVER};
	if (path && (*path == '/' || *path == '@') &&
	    strlen(path) < sizeof(n->to.sun_path)) {
		n->every = watchdog();
		n->to.sun_family = AF_UNIX;
		memcpy(n->to.sun_path, path, strlen(path));
		if (*path == '@') /* a name that is no file's */
			n->to.sun_path[0] = '\0';
		n->n_to = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
		    strlen(path));
		n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	}
	/* Nobody that this process starts is to speak in its name. */
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

/* A service manager that does not listen must not hold up probing: nothing
 * waits, and failures are ignored. */
void xp_notify_say(const struct xp_notify *n, const char *state)
{
	if (n->fd >= 0)
		sendto(n->fd, state, strlen(state), MSG_DONTWAIT | MSG_NOSIGNAL,
		    (const struct sockaddr *)&n->to, n->n_to);
}

void xp_notify_alive(struct xp_notify *n, sim_ns now)
{
	if (n->every == SIM_NEVER || now < n->at)
		return;
	n->at = now + n->every;
	xp_notify_say(n, "WATCHDOG=1");
}

void xp_notify_close(struct xp_notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}
