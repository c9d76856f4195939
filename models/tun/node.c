/* models/tun/node.c -- a host: a namespace whose one device is this program.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/tun/node.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/route.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "models/netns/node.h"
#include "models/real/namespace.h"
#include "topo/addr.h"

static const char device_path[] = "/dev/net/tun";
/* Not const, since struct rtentry takes a char *. */
static char device_name[] = "tun0";

/* --- the device ----------------------------------------------------------- */

/* A TUN device belongs to the namespace where its file is opened. It is made to
 * outlive the file, as it then goes with the namespace, along with others and
 * in the kernel's own time; closing the file would wait 30 ms for each. */
static int open_device(struct tun_node *n, struct sim_err *e)
{
	struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	n->dev = open(device_path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (n->dev < 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "%s cannot be opened: %s. It takes the kernel's module "
		    "`tun` and, as a rule, root.",
		    device_path, strerror(errno));
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", device_name);
	if (ioctl(n->dev, TUNSETIFF, &r) < 0 ||
	    ioctl(n->dev, TUNSETPERSIST, 1UL) < 0)
		return sim_fail(e, SIM_EUNSUPPORTED,
		    "A TUN device cannot be made: %s. It takes CAP_NET_ADMIN.",
		    strerror(errno));
	return 0;
}

/* Carry out request WHAT of interface OF, whose argument is in R; NAME is what
 * the error calls it. */
static int tun_node_ask(int fd, unsigned long what, struct ifreq *r,
    const char *name, const char *of, struct sim_err *e)
{
	snprintf(r->ifr_name, sizeof(r->ifr_name), "%s", of);
	return ioctl(fd, what, r) == 0
	    ? 0
	    : sim_fail(e, SIM_EIO, "The %s of %s cannot be set: %s.", name, of,
		  strerror(errno));
}

static struct sockaddr in(uint32_t address)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(address)};
	/* Copied, as the two structs are not of one type and may not be read
	 * through each other's pointers. */
	struct sockaddr any;
	memcpy(&any, &at, sizeof(any));
	return any;
}

/* By rtnetlink, since the ioctl for it asks for CAP_NET_ADMIN in the first user
 * namespace, which a lab without root does not have. */
static int set_queue(uint32_t queue, struct sim_err *e)
{
	struct {
		struct nlmsghdr head;
		struct ifinfomsg info;
		struct rtattr attr;
		uint32_t queue;
	} ask = {
	    .head = {.nlmsg_len = sizeof(ask),
		.nlmsg_type = RTM_NEWLINK,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK},
	    .info.ifi_index = (int)if_nametoindex(device_name),
	    .attr = {.rta_len = RTA_LENGTH(sizeof(queue)),
		.rta_type = IFLA_TXQLEN},
	    .queue = queue,
	};
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
		char rest[512];
	} got = {.err.error = -EIO};
	const int nl =
	    socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int why = 0;
	if (nl < 0 || send(nl, &ask, sizeof(ask), 0) < 0 ||
	    recv(nl, &got, sizeof(got), 0) < 0)
		why = errno;
	else
		why = -got.err.error;
	if (nl >= 0)
		close(nl);
	return why == 0
	    ? 0
	    : sim_fail(e, SIM_EIO, "The queue of %s cannot be set to %u: %s.",
		  device_name, queue, strerror(why));
}

/* The MTU and the queue are set while the device is down, so that no packet
 * meets it half made; IFF_UP is last. */
static int tun_node_set_up(int fd, topo_host h, uint32_t mtu, uint32_t queue,
    struct sim_err *e)
{
	struct ifreq r_mtu = {.ifr_mtu = (int)mtu};
	struct ifreq r_address = {.ifr_addr = in(topo_addr_of_host(h))};
	struct ifreq r_up = {.ifr_flags = IFF_UP | IFF_NOARP | IFF_POINTOPOINT};
	struct ifreq r_lo = {.ifr_flags = IFF_UP};
	int rc;
	if ((rc = tun_node_ask(fd, SIOCSIFFLAGS, &r_lo, "state", "lo", e)) <
		0 ||
	    (rc = tun_node_ask(fd, SIOCSIFMTU, &r_mtu, "MTU", device_name, e)) <
		0 ||
	    (rc = set_queue(queue, e)) < 0 ||
	    (rc = tun_node_ask(fd, SIOCSIFADDR, &r_address, "address",
		 device_name, e)) < 0)
		return rc;
	return tun_node_ask(fd, SIOCSIFFLAGS, &r_up, "state", device_name, e);
}

static int add_route(int fd, uint32_t address, unsigned len, struct sim_err *e)
{
	char text[16];
	struct rtentry r = {
	    .rt_dst = in(address),
	    .rt_genmask = in(UINT32_MAX << (32 - len)),
	    .rt_flags = RTF_UP,
	    .rt_dev = device_name,
	};
	if (ioctl(fd, SIOCADDRT, &r) == 0)
		return 0;
	const int why = errno;
	topo_addr_format(address, text);
	return sim_fail(e, SIM_EIO, "The route to %s/%u cannot be added: %s.",
	    text, len, strerror(why));
}

/* Routes to hosts, switches and the ends of links, and none beside: without a
 * default route nothing can leave the lab by mistake. */
static int configure(topo_host h, uint32_t mtu, uint32_t queue,
    struct sim_err *e)
{
	/* Any socket will do for these ioctls; it says which namespace they are
	 * about. */
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc;
	if (fd < 0)
		return sim_fail(e, SIM_EIO, "There is no socket: %s.",
		    strerror(errno));
	if ((rc = tun_node_set_up(fd, h, mtu, queue, e)) == 0 &&
	    (rc = add_route(fd, TOPO_ADDR_HOST_BASE - 1, 8, e)) == 0 &&
	    (rc = add_route(fd, TOPO_ADDR_SWITCH_BASE, 12, e)) == 0)
		rc = add_route(fd, TOPO_ADDR_LINK_BASE, 10, e);
	close(fd);
	return rc;
}

/* --- the interface -------------------------------------------------------- */

int tun_node_open(struct tun_node *n, topo_host h, uint32_t mtu, uint32_t queue,
    struct sim_err *e)
{
	const struct netns_params host = {.mtu = mtu};
	int rc;
	*n = (struct tun_node){-1, -1};
	/* Knobs before the device, which gets its share of them when it is
	 * made. */
	if ((rc = netns_node_make(e)) < 0 ||
	    (rc = real_ns_here(&n->ns, e)) < 0 ||
	    (rc = netns_node_set_up(NETNS_HOST, &host, 0, e)) < 0 ||
	    (rc = open_device(n, e)) < 0 ||
	    (rc = configure(h, mtu, queue, e)) < 0)
		tun_node_close(n);
	return rc;
}

void tun_node_close(struct tun_node *n)
{
	if (n->dev >= 0)
		close(n->dev);
	if (n->ns >= 0)
		close(n->ns);
	*n = (struct tun_node){-1, -1};
}

/* The line reads "  tun0: bytes packets errs drop fifo frame compressed
 * multicast" of what the host received, then the same of what it sent. Both
 * drops count: the one where this program was too slow to read, the other where
 * the host had no buffer. */
int tun_node_overruns(uint64_t *n, struct sim_err *e)
{
	static const char path[] = "/proc/thread-self/net/dev";
	uint64_t in_drop, out_drop;
	char line[512];
	int found = 0;
	FILE *f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line,
			    " tun0: %*u %*u %*u %" SCNu64
			    " %*u %*u %*u %*u %*u %*u %*u %" SCNu64,
			    &in_drop, &out_drop) == 2;
	if (f)
		fclose(f);
	if (!found)
		return sim_fail(e, SIM_EIO, "%s does not tell of %s.", path,
		    device_name);
	*n = in_drop + out_drop;
	return 0;
}
