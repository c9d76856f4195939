/* experiments/live/daemon.h -- what a long-running program does about its host.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_LIVE_DAEMON_H
#define EXPERIMENTS_LIVE_DAEMON_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "sim/err.h"
#include "sim/text.h"
#include "topo/ip.h"
#include "sim/time.h"

/* *ADDRESS = the only IPv4 address that this host has beside those of 127/8 and
 * 169.254/16, or, if it has none, the only one of IPv6 that others may be sent to.
 * Errors SIM_EINVAL (none or several, which are then named), SIM_EIO. */
int xp_daemon_address(struct topo_ip *address, struct sim_err *e);

/* Become USER for good, with its main group alone, unless the process is that
 * user already; and in either case give up all capabilities and every way to
 * get one. All of it is verified. USER NULL: `nobody` if this process is root,
 * else whoever it is. To be called while the process has one thread.
 * Errors SIM_EINVAL (no such user), SIM_EIO (this process may not). */
int xp_daemon_drop(const char *user, struct sim_err *e);

/* No more than MEMORY_MIB of private memory (0: as it is), no core dumps, and
 * the processor after others. Errors SIM_EIO. */
int xp_daemon_limit(uint32_t memory_mib, struct sim_err *e);

/* Make folder DIR for the user that xp_daemon_drop() will become, if there is
 * none. Errors SIM_EINVAL (no such user), SIM_EIO. */
int xp_daemon_folder(const char *dir, const char *user, struct sim_err *e);

/* What this process costs: bytes that are resident, seconds of a processor; and
 * how many system calls it was refused (seccomp.h). */
struct xp_daemon_cost {
	uint64_t rss_bytes, n_refused_calls;
	double cpu_s;
};
void xp_daemon_cost(struct xp_daemon_cost *c);

/* Put these as JSON, "rss_bytes", "cpu_s", "n_refused_calls". */
void xp_daemon_put_cost(struct sim_text *t);

/* --- signals --------------------------------------------------------------
 * They are blocked and asked for, so no handler runs in the middle of
 * anything. */
enum xp_daemon_signal {
	XP_DAEMON_NO_SIGNAL,
	XP_DAEMON_END,    /* SIGTERM, SIGINT */
	XP_DAEMON_STATUS, /* SIGUSR1 */
	XP_DAEMON_AGAIN,  /* SIGHUP */
};
void xp_daemon_block_signals(void);

/* SIGHUP as well, for a program whose settings may be read again. */
void xp_daemon_block_hangup(void);

/* The next signal that came, or comes within WAIT. */
enum xp_daemon_signal xp_daemon_take_signal(sim_ns wait);

/* --- systemd's notifications ----------------------------------------------
 * The protocol of sd_notify(3) without its library. */
struct xp_notify {
	int fd; /* -1: nobody wants to know */
	socklen_t n_to;
	struct sockaddr_un to;
	sim_ns every; /* half of what the watchdog allows; SIM_NEVER: none */
	sim_ns at;    /* of the next sign of life */
};

/* Read the service manager's variables, which are then removed from the
 * environment. */
void xp_notify_open(struct xp_notify *n);
void xp_notify_say(const struct xp_notify *n, const char *state);
/* A sign of life if it is time for one. */
void xp_notify_alive(struct xp_notify *n, sim_ns now);
void xp_notify_close(struct xp_notify *n);

#endif
