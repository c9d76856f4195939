/* models/netns/node.c -- one network namespace: made, set up, entered.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/node.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "models/real/namespace.h"
#include "sim/text.h"

#define AT(member) offsetof(struct netns_params, member)
const struct sim_field netns_fields[] = {
    {"ecmp_seed", SIM_F_U32, AT(ecmp_seed), .def = "0", .unit = "1",
	.doc = "what the switches' hash seeds derive from"},
    {"mtu", SIM_F_U32, AT(mtu), .def = "1500", .min = 576, .max = 65535,
	.unit = "bytes", .doc = "greatest packet of all cables"},
    {"icmp_per_s", SIM_F_U32, AT(icmp_per_s), .def = "0", .max = 1000000,
	.min = 0, .unit = "1/s",
	.doc = "ICMP answers a second that a switch gives; 0: no limit"},
    {"icmp_burst", SIM_F_U32, AT(icmp_burst), .def = "50", .max = 1000000,
	.min = 0, .unit = "packets",
	.doc = "ICMP answers in a row that icmp_per_s does not bound"},
    {0},
};
#undef AT

/* --- where a thread is ---------------------------------------------------- */

int netns_node_make(struct sim_err *e)
{
	if (unshare(CLONE_NEWNET) == 0)
		return 0;
	return errno == ENOSPC
	    ? sim_fail(e, SIM_EUNSUPPORTED,
		  "No more network namespaces are allowed: see "
		  "/proc/sys/user/max_net_namespaces.")
	    : sim_fail(e, SIM_EUNSUPPORTED,
		  "A network namespace cannot be made: %s. It takes "
		  "CAP_SYS_ADMIN and a kernel with CONFIG_NET_NS.",
		  strerror(errno));
}

/* --- knobs ---------------------------------------------------------------- */

enum knob_flags { HOSTS = 1, SWITCHES = 2, ALL = 3, OPTIONAL = 4 };

/* The knobs, in the order of setting. Of rp_filter and forwarding, `all` is
 * what holds beside each interface's own value, and `default` what a new
 * interface gets; so both are set while there is no interface yet. IPv6 is off
 * before any interface is up, or it would send packets of its own. rp_filter is
 * off because with ECMP answers often come in by another interface than
 * questions leave by. */
static const struct knob {
	const char *name, *value;
	unsigned flags;
} knobs[] = {
    {"ipv6/conf/all/disable_ipv6", "1", ALL | OPTIONAL},
    {"ipv6/conf/default/disable_ipv6", "1", ALL | OPTIONAL},
    {"ipv4/conf/all/rp_filter", "0", ALL},
    {"ipv4/conf/default/rp_filter", "0", ALL},
    /* An ICMP error is to name the interface that the packet came in by: with
     * ECMP that alone tells the link. By default it is the one that the answer
     * leaves by; then hardly any trace names its links. */
    {"ipv4/icmp_errors_use_inbound_ifaddr", "1", ALL},
    {"ipv4/icmp_ratelimit", "0", ALL},
    /* TCP sends the end of a flow again when an acknowledgement is late (tail
     * loss probe), lost or not. With these on, agents would trace nearly every
     * flow of a healthy network. */
    {"ipv4/tcp_early_retrans", "0", HOSTS},
    {"ipv4/ip_forward", "0", HOSTS},
    {"ipv4/ip_forward", "1", SWITCHES},
    /* Policy 3 hashes what fields names (0x37), of the packet itself:
     * addresses, protocol and ports. Policy 1 would take the hash of the
     * sending socket where there is one, which a probe with the same five-tuple
     * has not and which changes when TCP sends again; then traces go over other
     * links than the data. */
    {"ipv4/fib_multipath_hash_fields", "55", SWITCHES},
    {"ipv4/fib_multipath_hash_policy", "3", SWITCHES},
};
enum { N_KNOBS = sizeof(knobs) / sizeof(knobs[0]) };

static const char hash_seed_knob[] = "ipv4/fib_multipath_hash_seed";
static const char rate_knob[] = "ipv4/icmp_msgs_per_sec";
static const char burst_knob[] = "ipv4/icmp_msgs_burst";
static const char mask_knob[] = "ipv4/icmp_ratemask";

static void netns_node_path_of(char path[96], const char *name)
{
	snprintf(path, 96, "/proc/sys/net/%s", name);
}

/* A knob is of the namespace in which its file is opened, which is the calling
 * thread's. */
static int write_knob(const char *name, const char *value, struct sim_err *e)
{
	char path[96];
	netns_node_path_of(path, name);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return sim_fail(e, SIM_EIO,
		    "%s cannot be opened for writing: %s.", path,
		    strerror(errno));
	int why = write(fd, value, strlen(value)) < 0 ? errno : 0;
	close(fd);
	return why == 0 ? 0
			: sim_fail(e, SIM_EIO, "%s cannot be set to %s: %s.",
			      path, value, strerror(why));
}

int netns_node_write(const char *name, uint32_t value, struct sim_err *e)
{
	char text[16];
	snprintf(text, sizeof(text), "%u", value);
	return write_knob(name, text, e);
}

void netns_node_knobs(enum netns_kind kind, char text[], size_t size)
{
	const unsigned whose = kind == NETNS_HOST ? HOSTS : SWITCHES;
	struct sim_text t = {text, size, 0};
	for (unsigned i = 0; i < N_KNOBS; i++)
		if (knobs[i].flags & whose)
			sim_put(&t, "%s%s=%s", t.n ? " " : "", knobs[i].name,
			    knobs[i].value);
}

int netns_node_has(const char *knob)
{
	char path[96];
	netns_node_path_of(path, knob);
	return access(path, F_OK) == 0;
}

/* The kernel limits ICMP answers to each host (icmp_ratelimit, which is off,
 * since at its default of one a second traces would find no paths) and, by
 * tokens, to all together, as 007 assumes of switches. Types that icmp_ratemask
 * leaves out are not limited at all. */
static int limit_icmp(const struct netns_params *p, struct sim_err *e)
{
	if (p->icmp_per_s == 0)
		return netns_node_write(mask_knob, 0, e);
	int rc = netns_node_write(rate_knob, p->icmp_per_s, e);
	return rc < 0 ? rc : netns_node_write(burst_knob, p->icmp_burst, e);
}

/* 0 would mean a seed that all namespaces share. */
int netns_node_seed(uint32_t seed, struct sim_err *e)
{
	return netns_node_write(hash_seed_knob, seed ? seed : 1, e);
}

int netns_node_set_up(enum netns_kind kind, const struct netns_params *p,
    uint32_t hash_seed, struct sim_err *e)
{
	const unsigned whose = kind == NETNS_HOST ? HOSTS : SWITCHES;
	int rc = 0;
	for (unsigned i = 0; rc == 0 && i < N_KNOBS; i++) {
		const struct knob *k = &knobs[i];
		if ((k->flags & whose) == 0 ||
		    (k->flags & OPTIONAL && !netns_node_has(k->name)))
			continue;
		rc = write_knob(k->name, k->value, e);
	}
	/* Hosts choose no paths and pass nothing on. */
	if (rc < 0 || kind == NETNS_HOST)
		return rc;
	rc = netns_node_seed(hash_seed, e);
	return rc < 0 ? rc : limit_icmp(p, e);
}

/* In a namespace that nobody uses: set it up as each kind. */
static int try_knobs(struct sim_err *e)
{
	const struct netns_params p = {.icmp_per_s = 1000, .icmp_burst = 50};
	struct sim_err why;
	if (!netns_node_has(hash_seed_knob))
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "This kernel has no net.ipv4.fib_multipath_hash_seed "
		    "(Linux 6.11 and later have); without a seed of its own "
		    "every switch would choose alike.");
	if (netns_node_set_up(NETNS_HOST, &p, 0, &why) < 0 ||
	    netns_node_set_up(NETNS_SWITCH, &p, 1, &why) < 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "A namespace cannot be set up: %.900s", why.msg);
	return 0;
}

int netns_node_try(struct sim_err *e)
{
	int here, rc = real_ns_here(&here, e);
	if (rc < 0)
		return rc;
	/* Who may not enter the namespace that he is in could not come back to
	 * it; that is known before one is made. */
	if ((rc = real_ns_enter(here, e)) < 0) {
		rc = sim_wrap(e, SIM_EUNSUPPORTED, "where this began");
	} else if ((rc = netns_node_make(e)) == 0) {
		rc = try_knobs(e);
		if (real_ns_enter(here, rc < 0 ? NULL : e) < 0 && rc == 0)
			rc = SIM_EIO;
	}
	close(here);
	return rc;
}
