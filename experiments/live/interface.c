/* experiments/live/interface.c -- a network interface of this host.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/interface.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim/text.h"

static int interface_none(const char *name, struct sim_err *e)
{
	char all[256] = "", quote[64];
	struct sim_text t = {all, sizeof(all), 0};
	struct if_nameindex *list = if_nameindex();
	for (const struct if_nameindex *i = list; i && i->if_index > 0; i++)
		sim_put(&t, "%s%s", i == list ? "" : ", ", i->if_name);
	if_freenameindex(list);
	return sim_fail(e, SIM_EINVAL,
	    "there is no interface %s; there are: %s.", sim_quote(quote, name),
	    all);
}

static int interface_kind(struct xp_interface *i, const struct ifreq *r,
    struct sim_err *e)
{
	const int kind = r->ifr_hwaddr.sa_family;
	i->no_link = kind == ARPHRD_NONE || kind == ARPHRD_RAWIP;
	if (i->no_link || kind == ARPHRD_ETHER || kind == ARPHRD_LOOPBACK)
		return 0;
	return sim_fail(e, SIM_EINVAL,
	    "interface %s is of kind %d, whose frames are neither Ethernet's "
	    "nor IP's own.",
	    r->ifr_name, kind);
}

/* By the older of two calls, which the kernel answers for all drivers; speeds
 * that it cannot say are -1 in its two halves. */
static uint64_t interface_line(int fd, const struct ifreq *r)
{
	struct ethtool_cmd c = {.cmd = ETHTOOL_GSET};
	struct ifreq ask = *r;
	ask.ifr_data = (void *)&c;
	if (ioctl(fd, SIOCETHTOOL, &ask) < 0)
		return 0;
	const uint32_t mbps = ethtool_cmd_speed(&c);
	return mbps == (uint32_t)SPEED_UNKNOWN ? 0 : mbps * UINT64_C(1000000);
}

int xp_interface_find(struct xp_interface *i, const char *name,
    struct sim_err *e)
{
	struct ifreq r = {0};
	*i = (struct xp_interface){.index = if_nametoindex(name)};
	if (i->index == 0)
		return interface_none(name, e);
	snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", name);
	const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &r) < 0) {
		const int why = errno;
		if (fd >= 0)
			close(fd);
		return sim_fail(e, SIM_EIO, "interface %s cannot be read: %s.",
		    name, strerror(why));
	}
	const int rc = interface_kind(i, &r, e);
	if (rc == 0)
		i->line_bps = interface_line(fd, &r);
	close(fd);
	return rc;
}

/* A name that is no file's belongs to a network namespace, as an interface does,
 * and goes with the process that has it, however that ends. */
int xp_interface_claim(int *fd, const char *purpose, uint32_t index,
    struct sim_err *e)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	const int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1,
	    "culprit %s %u", purpose, index);
	const socklen_t size =
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	*fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (*fd >= 0 && bind(*fd, (const struct sockaddr *)&a, size) == 0)
		return 0;
	const int why = errno;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	if (why == EADDRINUSE)
		return sim_fail(e, SIM_EINVAL,
		    "another %s is at this interface.", purpose);
	return sim_fail(e, SIM_EIO, "the interface cannot be claimed: %s.",
	    strerror(why));
}
