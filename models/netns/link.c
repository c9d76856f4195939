/* models/netns/link.c -- rtnetlink messages, many to a system call.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/netns/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <stdio.h>
#include <string.h>

#include "topo/addr.h"

int netns_link_open(struct mnl_socket **nl, struct sim_err *e)
{
	int on = 1;
	*nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!*nl || mnl_socket_bind(*nl, 0, MNL_SOCKET_AUTOPID) < 0) {
		int why = errno;
		if (*nl)
			mnl_socket_close(*nl);
		*nl = NULL;
		return sim_fail(e, SIM_EIO, "rtnetlink cannot be opened: %s.",
		    strerror(why));
	}
	/* Ask for the reason of a failure in words, and not for a copy of the
	 * message that failed. A kernel that is too old for either does
	 * without. */
	mnl_socket_setsockopt(*nl, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(*nl, NETLINK_CAP_ACK, &on, sizeof(on));
	return 0;
}

/* --- answers -------------------------------------------------------------- */

/* The kernel may send no words with its error; then there is only the
 * number. */
static int find_reason(const struct nlattr *attr, void *reason)
{
	if (mnl_attr_get_type(attr) == NLMSGERR_ATTR_MSG)
		*(const char **)reason = mnl_attr_get_str(attr);
	return MNL_CB_OK;
}

static const char *asked(uint16_t type)
{
	switch (type) {
	case RTM_NEWLINK:
		return "make or raise interface";
	case RTM_NEWQDISC:
		return "give a queue to interface";
	case RTM_NEWADDR:
		return "give an address to interface";
	case RTM_NEWROUTE:
		return "add the route to";
	case RTM_DELROUTE:
		return "take away the route to";
	case RTM_NEWRULE:
		return "add the rule for";
	case RTM_DELRULE:
		return "take away the rule for";
	default:
		return "answer request";
	}
}

/* The error of a message that the kernel refused. Its sequence number is not
 * counted up but says what the message was about: an interface or an
 * address. */
static int netns_link_refused(const struct nlmsghdr *h, struct sim_err *e)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(h);
	const char *reason = NULL;
	char about[16];
	if (h->nlmsg_flags & NLM_F_ACK_TLVS)
		mnl_attr_parse(h, sizeof(*err), find_reason, &reason);
	if (err->msg.nlmsg_type >= RTM_NEWROUTE &&
	    err->msg.nlmsg_type <= RTM_DELRULE)
		topo_addr_format(err->msg.nlmsg_seq, about);
	else
		snprintf(about, sizeof(about), "%u", err->msg.nlmsg_seq);
	return sim_fail(e, SIM_EIO, "The kernel refused to %s %s: %s%s%s.",
	    asked(err->msg.nlmsg_type), about, strerror(-err->error),
	    reason ? "; " : "", reason ? reason : "");
}

static ssize_t receive(const struct mnl_socket *nl, void *buf, size_t size,
    struct sim_err *e)
{
	ssize_t n;
	do
		n = mnl_socket_recvfrom(nl, buf, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? sim_fail(e, SIM_EIO, "rtnetlink does not answer: %s.",
			   strerror(errno))
		     : n;
}

/* Read answers until that to the last message of the batch, the only one that
 * asked for an acknowledgement. Failures are told without asking and come
 * before it; E tells of the first, as later ones often follow from it. */
static int await(const struct mnl_socket *nl, struct sim_err *e)
{
	_Alignas(8) char buf[8192];
	int rc = 0;
	for (;;) {
		ssize_t size = receive(nl, buf, sizeof(buf), e);
		if (size < 0)
			return (int)size;
		int left = (int)size;
		for (struct nlmsghdr *h = (struct nlmsghdr *)buf;
		     mnl_nlmsg_ok(h, left); h = mnl_nlmsg_next(h, &left)) {
			const struct nlmsgerr *err = mnl_nlmsg_get_payload(h);
			if (h->nlmsg_type != NLMSG_ERROR)
				continue;
			if (err->error != 0 && rc == 0)
				rc = netns_link_refused(h, e);
			if (err->msg.nlmsg_flags & NLM_F_ACK)
				return rc;
		}
	}
}

/* --- batches -------------------------------------------------------------- */

void netns_batch_begin(struct netns_batch *b, const struct mnl_socket *nl)
{
	b->nl = nl;
	b->used = 0;
	b->last = NULL;
}

/* A system call for each message would cost more than what the kernel does for
 * it; building a large network is mostly this. */
int netns_batch_end(struct netns_batch *b, struct sim_err *e)
{
	if (!b->last)
		return 0;
	b->last->nlmsg_flags |= NLM_F_ACK;
	/* The batch is empty from here on, also when sending fails. */
	const size_t size = b->used;
	netns_batch_begin(b, b->nl);
	if (mnl_socket_sendto(b->nl, b->buf, size) < 0)
		return sim_fail(e, SIM_EIO, "rtnetlink cannot be sent to: %s.",
		    strerror(errno));
	return await(b->nl, e);
}

/* Send what there is if a message of up to SIZE bytes would not fit. */
static int make_room(struct netns_batch *b, size_t size, struct sim_err *e)
{
	if (size > sizeof(b->buf))
		return sim_fail(e, SIM_ELIMIT,
		    "A message of %zu bytes is beyond the %zu of a batch.",
		    size, sizeof(b->buf));
	return b->used + size > sizeof(b->buf) ? netns_batch_end(b, e) : 0;
}

/* A message's head; ABOUT is told when the kernel refuses it. */
static struct nlmsghdr *netns_link_begin(struct netns_batch *b, uint16_t type,
    uint16_t flags, uint32_t about)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(b->buf + b->used);
	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | flags;
	h->nlmsg_seq = about;
	return h;
}

/* Messages in a batch begin at multiples of 4 bytes. */
static void netns_link_add(struct netns_batch *b, struct nlmsghdr *h)
{
	b->last = h;
	b->used += MNL_ALIGN(h->nlmsg_len);
}

/* Both ends have the same MAC and no ARP: each takes what the other sends
 * without asking who it is, and no fault can hit an ARP. GSO of one segment has
 * TCP hand over packets of MTU size, so that a loss of 5 % is 5 % of packets,
 * not of bundles of 64 KiB. */
static void put_end(struct nlmsghdr *h, const struct netns_end *end,
    uint32_t mtu)
{
	static const uint8_t mac[6] = {0x02, 0, 0, 0, 0, 0x01};
	mnl_attr_put_strz(h, IFLA_IFNAME, end->name);
	mnl_attr_put(h, IFLA_ADDRESS, sizeof(mac), mac);
	mnl_attr_put_u32(h, IFLA_MTU, mtu);
	mnl_attr_put_u32(h, IFLA_GSO_MAX_SEGS, 1);
	/* One queue, as the whole network runs on one CPU; more would cost
	 * memory for each of thousands of interfaces. */
	mnl_attr_put_u32(h, IFLA_NUM_TX_QUEUES, 1);
	mnl_attr_put_u32(h, IFLA_NUM_RX_QUEUES, 1);
	mnl_attr_put_u32(h, IFLA_NET_NS_FD, (uint32_t)end->ns);
}

/* Both ends are made and moved to their namespaces by one message. They stay
 * down: the kernel refuses to raise an end whose other end is not there yet
 * (ENOTCONN). */
int netns_put_cable(struct netns_batch *b, const struct netns_end *one,
    const struct netns_end *other, uint32_t mtu, struct sim_err *e)
{
	int rc = make_room(b, 512, e);
	if (rc < 0)
		return rc;
	struct nlmsghdr *h = netns_link_begin(b, RTM_NEWLINK,
	    NLM_F_CREATE | NLM_F_EXCL, one->ifindex);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(h, sizeof(*info));
	/* The index is chosen, and unique in all namespaces: so one number
	 * names the link, in the program in the kernel as in errors. */
	info->ifi_index = (int)one->ifindex;
	put_end(h, one, mtu);
	struct nlattr *link = mnl_attr_nest_start(h, IFLA_LINKINFO);
	mnl_attr_put_strz(h, IFLA_INFO_KIND, "veth");
	struct nlattr *data = mnl_attr_nest_start(h, IFLA_INFO_DATA);
	struct nlattr *peer = mnl_attr_nest_start(h, VETH_INFO_PEER);
	info = mnl_nlmsg_put_extra_header(h, sizeof(*info));
	info->ifi_index = (int)other->ifindex;
	put_end(h, other, mtu);
	mnl_attr_nest_end(h, peer);
	mnl_attr_nest_end(h, data);
	mnl_attr_nest_end(h, link);
	netns_link_add(b, h);
	return 0;
}

int netns_put_up(struct netns_batch *b, uint32_t ifindex, const char *alias,
    struct sim_err *e)
{
	int rc = make_room(b, 512, e);
	if (rc < 0)
		return rc;
	struct nlmsghdr *h = netns_link_begin(b, RTM_NEWLINK, 0, ifindex);
	struct ifinfomsg *info = mnl_nlmsg_put_extra_header(h, sizeof(*info));
	info->ifi_index = (int)ifindex;
	info->ifi_flags = info->ifi_change = IFF_UP | IFF_NOARP;
	if (alias)
		mnl_attr_put_strz(h, IFLA_IFALIAS, alias);
	netns_link_add(b, h);
	return 0;
}

/* The kernel knows the time of a packet by itself if it is told that there is
 * nothing odd about its lower layer; else it wants a table. */
int netns_put_line(struct netns_batch *b, uint32_t ifindex, uint32_t mbps,
    uint32_t mtu, uint32_t limit, struct sim_err *e)
{
	const uint32_t bucket = 2 * (mtu + 14);
	const struct tc_tbf_qopt q = {.limit = limit,
	    .rate = {.linklayer = TC_LINKLAYER_ETHERNET,
		.rate = mbps * 125000}};
	int rc = make_room(b, 256, e);
	if (rc < 0)
		return rc;
	struct nlmsghdr *h = netns_link_begin(b, RTM_NEWQDISC,
	    NLM_F_CREATE | NLM_F_REPLACE, ifindex);
	struct tcmsg *t = mnl_nlmsg_put_extra_header(h, sizeof(*t));
	t->tcm_family = AF_UNSPEC;
	t->tcm_ifindex = (int)ifindex;
	t->tcm_parent = TC_H_ROOT;
	t->tcm_handle = TC_H_MAKE(1U << 16, 0);
	mnl_attr_put_strz(h, TCA_KIND, "tbf");
	struct nlattr *of = mnl_attr_nest_start(h, TCA_OPTIONS);
	mnl_attr_put(h, TCA_TBF_PARMS, sizeof(q), &q);
	mnl_attr_put_u32(h, TCA_TBF_BURST, bucket);
	mnl_attr_nest_end(h, of);
	netns_link_add(b, h);
	return 0;
}

int netns_put_address(struct netns_batch *b, uint32_t ifindex, uint32_t addr,
    uint8_t len, struct sim_err *e)
{
	int rc = make_room(b, 128, e);
	if (rc < 0)
		return rc;
	struct nlmsghdr *h = netns_link_begin(b, RTM_NEWADDR,
	    NLM_F_CREATE | NLM_F_EXCL, ifindex);
	struct ifaddrmsg *info = mnl_nlmsg_put_extra_header(h, sizeof(*info));
	info->ifa_family = AF_INET;
	info->ifa_prefixlen = len;
	info->ifa_index = ifindex;
	mnl_attr_put_u32(h, IFA_LOCAL, htonl(addr));
	mnl_attr_put_u32(h, IFA_ADDRESS, htonl(addr));
	netns_link_add(b, h);
	return 0;
}

static void netns_link_put_hops(struct nlmsghdr *h,
    const struct netns_hop hop[], uint32_t n)
{
	struct nlattr *all = mnl_attr_nest_start(h, RTA_MULTIPATH);
	for (uint32_t i = 0; i < n; i++) {
		struct rtnexthop *at =
		    mnl_nlmsg_put_extra_header(h, sizeof(*at));
		at->rtnh_ifindex = (int)hop[i].ifindex;
		/* The kernel adds 1. */
		at->rtnh_hops =
		    (unsigned char)(hop[i].weight ? hop[i].weight - 1 : 0);
		mnl_attr_put_u32(h, RTA_GATEWAY, htonl(hop[i].gateway));
		/* A next hop is as long as itself and its attributes, which are
		 * put behind it. */
		at->rtnh_len =
		    (unsigned short)((char *)mnl_nlmsg_get_payload_tail(h) -
			(char *)at);
	}
	mnl_attr_nest_end(h, all);
}

int netns_put_route(struct netns_batch *b, const struct netns_way *way,
    const struct netns_hop hop[], uint32_t n, struct sim_err *e)
{
	int rc =
	    make_room(b, 160 + (sizeof(struct rtnexthop) + 8) * (size_t)n, e);
	if (rc < 0)
		return rc;
	struct nlmsghdr *h = netns_link_begin(b, RTM_NEWROUTE,
	    NLM_F_CREATE | NLM_F_EXCL, way->addr);
	struct rtmsg *info = mnl_nlmsg_put_extra_header(h, sizeof(*info));
	info->rtm_family = AF_INET;
	info->rtm_dst_len = way->len;
	/* As if somebody had typed the route. */
	info->rtm_table = RT_TABLE_MAIN;
	info->rtm_protocol = RTPROT_STATIC;
	info->rtm_scope = RT_SCOPE_UNIVERSE;
	info->rtm_type = RTN_UNICAST;
	mnl_attr_put_u32(h, RTA_DST, htonl(way->addr));
	mnl_attr_put_u32(h, RTA_PRIORITY, way->metric);
	if (way->source != 0)
		/* The node's own address, and not that of the cable: flows and
		 * answers are known by it. */
		mnl_attr_put_u32(h, RTA_PREFSRC, htonl(way->source));
	if (way->mtu != 0) {
		struct nlattr *of = mnl_attr_nest_start(h, RTA_METRICS);
		mnl_attr_put_u32(h, RTAX_MTU, way->mtu);
		mnl_attr_nest_end(h, of);
	}
	/* The kernel wants a single next hop in the route itself. */
	if (n == 1) {
		mnl_attr_put_u32(h, RTA_GATEWAY, htonl(hop->gateway));
		mnl_attr_put_u32(h, RTA_OIF, hop->ifindex);
	} else {
		netns_link_put_hops(h, hop, n);
	}
	netns_link_add(b, h);
	return 0;
}

int netns_put_no_route(struct netns_batch *b, uint32_t addr, uint8_t len,
    struct sim_err *e)
{
	int rc = make_room(b, 128, e);
	if (rc < 0)
		return rc;
	struct nlmsghdr *h = netns_link_begin(b, RTM_DELROUTE, 0, addr);
	struct rtmsg *info = mnl_nlmsg_put_extra_header(h, sizeof(*info));
	info->rtm_family = AF_INET;
	info->rtm_dst_len = len;
	info->rtm_table = RT_TABLE_MAIN;
	info->rtm_scope = RT_SCOPE_NOWHERE;
	mnl_attr_put_u32(h, RTA_DST, htonl(addr));
	netns_link_add(b, h);
	return 0;
}

/* A table of its own, which only what comes in by IIF is looked up in. */
enum { INBOUND_TABLE = 100, INBOUND_RULE = 100 };

static void netns_link_put_rule(struct netns_batch *b, uint32_t about,
    const char *iif, int is_on)
{
	struct nlmsghdr *h =
	    netns_link_begin(b, is_on ? RTM_NEWRULE : RTM_DELRULE,
		is_on ? NLM_F_CREATE | NLM_F_EXCL : 0, about);
	struct fib_rule_hdr *info =
	    mnl_nlmsg_put_extra_header(h, sizeof(*info));
	info->family = AF_INET;
	info->table = INBOUND_TABLE;
	info->action = FR_ACT_TO_TBL;
	mnl_attr_put_u32(h, FRA_PRIORITY, INBOUND_RULE);
	mnl_attr_put_strz(h, FRA_IIFNAME, iif);
	netns_link_add(b, h);
}

/* The route is to whatever lo is for: this node. */
int netns_put_inbound(struct netns_batch *b, uint32_t addr, uint8_t len,
    const char *iif, int is_on, struct sim_err *e)
{
	int rc = make_room(b, 256, e);
	if (rc < 0)
		return rc;
	netns_link_put_rule(b, addr, iif, is_on);
	struct nlmsghdr *h =
	    netns_link_begin(b, is_on ? RTM_NEWROUTE : RTM_DELROUTE,
		is_on ? NLM_F_CREATE | NLM_F_EXCL : 0, addr);
	struct rtmsg *info = mnl_nlmsg_put_extra_header(h, sizeof(*info));
	info->rtm_family = AF_INET;
	info->rtm_dst_len = len;
	info->rtm_table = INBOUND_TABLE;
	info->rtm_protocol = RTPROT_STATIC;
	info->rtm_scope = RT_SCOPE_HOST;
	info->rtm_type = RTN_LOCAL;
	mnl_attr_put_u32(h, RTA_DST, htonl(addr));
	mnl_attr_put_u32(h, RTA_OIF, 1); /* lo */
	netns_link_add(b, h);
	return 0;
}

/* --- questions ------------------------------------------------------------ */

/* Ask about all interfaces, and hand each answer to TAKE. An answer comes in as
 * many parts as the kernel likes. */
static int dump(const struct mnl_socket *nl, struct nlmsghdr *h, mnl_cb_t take,
    void *arg, struct sim_err *e)
{
	_Alignas(8) char buf[32768];
	h->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	h->nlmsg_seq = 1;
	if (mnl_socket_sendto(nl, h, h->nlmsg_len) < 0)
		return sim_fail(e, SIM_EIO, "rtnetlink cannot be sent to: %s.",
		    strerror(errno));
	for (;;) {
		ssize_t size = receive(nl, buf, sizeof(buf), e);
		if (size < 0)
			return (int)size;
		int rc = mnl_cb_run(buf, (size_t)size, h->nlmsg_seq,
		    mnl_socket_get_portid(nl), take, arg);
		if (rc < 0)
			return sim_fail(e, SIM_EIO,
			    "The kernel does not list interfaces: %s.",
			    strerror(errno));
		if (rc == MNL_CB_STOP)
			return 0;
	}
}

struct running {
	uint32_t n, n_running;
};

/* The operational state is asked for, as IFF_RUNNING would not do: an interface
 * has that flag also while its state is not known yet, and drops what it is to
 * send meanwhile. */
static int take_running(const struct nlmsghdr *h, void *arg)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(h);
	struct running *r = arg;
	struct nlattr *attr;
	if (info->ifi_flags & IFF_LOOPBACK)
		return MNL_CB_OK;
	r->n++;
	mnl_attr_for_each(attr, h, sizeof(*info)) if (mnl_attr_get_type(attr) ==
	    IFLA_OPERSTATE) r->n_running += mnl_attr_get_u8(attr) == IF_OPER_UP;
	return MNL_CB_OK;
}

int netns_link_running(const struct mnl_socket *nl, uint32_t *n,
    uint32_t *n_running, struct sim_err *e)
{
	_Alignas(8) char buf[256];
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	struct running r = {0};
	h->nlmsg_type = RTM_GETLINK;
	mnl_nlmsg_put_extra_header(h, sizeof(struct ifinfomsg));
	/* Without its counters an interface takes a fraction of the room. */
	mnl_attr_put_u32(h, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
	int rc = dump(nl, h, take_running, &r, e);
	*n = r.n;
	*n_running = r.n_running;
	return rc;
}

struct received {
	uint32_t base, n;
	uint64_t *packets;
};

static int take_received(const struct nlmsghdr *h, void *arg)
{
	const struct if_stats_msg *info = mnl_nlmsg_get_payload(h);
	const struct received *r = arg;
	const uint32_t i = info->ifindex - r->base;
	struct nlattr *attr;
	if (i >= r->n)
		return MNL_CB_OK;
	mnl_attr_for_each(attr, h, sizeof(*info))
	{
		struct rtnl_link_stats64 s;
		/* Kernels append counters to this struct; only the first one is
		 * wanted, so its present length does not matter. */
		if (mnl_attr_get_type(attr) != IFLA_STATS_LINK_64 ||
		    mnl_attr_get_payload_len(attr) < sizeof(s.rx_packets))
			continue;
		memcpy(&s.rx_packets, mnl_attr_get_payload(attr),
		    sizeof(s.rx_packets)); /* the first member */
		r->packets[i] = s.rx_packets;
	}
	return MNL_CB_OK;
}

int netns_link_received(const struct mnl_socket *nl, uint32_t base,
    uint64_t packets[], uint32_t n, struct sim_err *e)
{
	_Alignas(8) char buf[256];
	struct received r = {base, n, packets};
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	h->nlmsg_type = RTM_GETSTATS;
	struct if_stats_msg *info =
	    mnl_nlmsg_put_extra_header(h, sizeof(*info));
	/* RTM_GETSTATS gives counters alone, without names and addresses. */
	info->filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
	return dump(nl, h, take_received, &r, e);
}

/* An answer is one message: the route, or an error, which says as well that there
 * is none. */
int netns_link_ask(const struct mnl_socket *nl, uint32_t iif,
    const struct topo_tuple *t, uint32_t *oif, struct sim_err *e)
{
	_Alignas(8) char buf[8192];
	struct nlmsghdr *h = mnl_nlmsg_put_header(buf);
	const struct nlattr *attr;
	h->nlmsg_type = RTM_GETROUTE;
	h->nlmsg_flags = NLM_F_REQUEST;
	struct rtmsg *info = mnl_nlmsg_put_extra_header(h, sizeof(*info));
	info->rtm_family = AF_INET;
	info->rtm_src_len = info->rtm_dst_len = 32;
	mnl_attr_put_u32(h, RTA_SRC, htonl(t->src_ip));
	mnl_attr_put_u32(h, RTA_DST, htonl(t->dst_ip));
	mnl_attr_put_u32(h, RTA_IIF, iif);
	mnl_attr_put_u8(h, RTA_IP_PROTO, t->proto);
	if (t->src_port != 0)
		mnl_attr_put_u16(h, RTA_SPORT, htons(t->src_port));
	if (t->dst_port != 0)
		mnl_attr_put_u16(h, RTA_DPORT, htons(t->dst_port));
	*oif = 0;
	if (mnl_socket_sendto(nl, h, h->nlmsg_len) < 0)
		return sim_fail(e, SIM_EIO, "rtnetlink cannot be sent to: %s.",
		    strerror(errno));
	const ssize_t size = receive(nl, buf, sizeof(buf), e);
	if (size < 0)
		return (int)size;
	if (!mnl_nlmsg_ok(h, (int)size) || h->nlmsg_type != RTM_NEWROUTE)
		return 0;
	mnl_attr_for_each(attr, h, sizeof(*info)) if (mnl_attr_get_type(attr) ==
	    RTA_OIF) *oif = mnl_attr_get_u32(attr);
	return 0;
}
