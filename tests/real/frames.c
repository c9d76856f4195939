/* tests/real/frames.c -- packets as bytes, sent as they stand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/real/frames.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/inet.h"
#include "topo/addr.h"

enum { ETHERNET = 14, IP = 20, TCP = 20 };

static void put_ip(uint8_t *to, const struct obs_ip *ip, uint32_t bytes)
{
	to[0] = 0x45;
	to[1] = ip->tos;
	sim_inet_put16(to + 2, bytes);
	sim_inet_put16(to + 4, ip->id);
	to[8] = ip->ttl;
	to[9] = ip->proto;
	sim_inet_put32(to + 12, ip->src_ip);
	sim_inet_put32(to + 16, ip->dst_ip);
	sim_inet_put16(to + 10, ~sim_inet_sum(0, to, IP));
}

/* The checksum of TCP is not computed: 0xdead is wrong for all but one of 65,536
 * segments. */
static void put_behind(uint8_t *to, const struct obs_packet *p)
{
	sim_inet_put16(to, p->src_port);
	sim_inet_put16(to + 2, p->dst_port);
	sim_inet_put32(to + 4, (uint32_t)(p->digest >> 32));
	sim_inet_put32(to + 8, (uint32_t)p->digest);
	if (p->ip.proto == TOPO_PROTO_TCP) {
		to[12] = TCP / 4 << 4;
		to[13] = p->tcp_flags;
		sim_inet_put16(to + 16, 0xdead);
	} else if (p->dst_port == OBS_PORT_ROCE) {
		sim_inet_put16(to + 6, 0);
		sim_inet_put32(to + 8, (uint32_t)p->bth_opcode << 24);
		sim_inet_put32(to + 16, p->seq);
		to[20] = p->aeth;
	}
}

static void put_pause(uint8_t *to, const struct obs_packet *p)
{
	sim_inet_put16(to, 0x101);
	sim_inet_put16(to + 2, p->pfc_classes);
	/* The class that pauses longest is any of them. */
	sim_inet_put16(to + 4 + 2 * (p->pfc_quanta % 8u), p->pfc_quanta);
}

void frames_write(const struct obs_packet *p, uint8_t frame[])
{
	uint32_t left = p->n_bytes - ETHERNET;
	uint8_t *to = frame + ETHERNET;
	assert_true(p->n_bytes <= FRAMES_MAX);
	memset(frame, 0, p->n_bytes);
	sim_inet_put16(frame + 12, p->ethertype);
	if (p->ethertype == OBS_ETH_CONTROL) {
		put_pause(to, p);
		return;
	}
	for (unsigned i = 0; i < p->n_outer; i++, to += IP, left -= IP)
		put_ip(to, &p->outer[i], left);
	put_ip(to, &p->ip, left);
	if (p->ip.proto == TOPO_PROTO_TCP || p->ip.proto == OBS_PROTO_UDP)
		put_behind(to + IP, p);
}

int frames_open(const struct lab *lab, topo_host h)
{
	assert_ok(netns_enter(lab->net, h, test_err()));
	const int raw = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	const int why = errno;
	assert_ok(netns_leave(lab->net, test_err()));
	if (raw < 0)
		fail_msg("a raw socket: %s", strerror(why));
	return raw;
}

void frames_send_bytes(int raw, const void *bytes, size_t n)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	memcpy(&to.sin_addr, (const uint8_t *)bytes + 16, 4);
	if (sendto(raw, bytes, n, 0, (const struct sockaddr *)&to,
		sizeof(to)) != (ssize_t)n)
		fail_msg("a packet: %s", strerror(errno));
}

void frames_send(int raw, const struct obs_packet *p)
{
	uint8_t frame[FRAMES_MAX];
	frames_write(p, frame);
	frames_send_bytes(raw, frame + ETHERNET, p->n_bytes - ETHERNET);
}

struct obs_packet frames_tcp(const struct lab_flow *f, uint8_t flags,
    uint16_t id, uint32_t seq)
{
	return (struct obs_packet){
	    .ethertype = OBS_ETH_IPV4,
	    .ip = {topo_addr_of_host(f->src), topo_addr_of_host(f->dst), id, 64,
		0, TOPO_PROTO_TCP},
	    .src_port = f->src_port,
	    .dst_port = f->dst_port,
	    .tcp_flags = flags,
	    .seq = seq,
	    .digest = (uint64_t)seq << 32,
	    .n_bytes = ETHERNET + IP + TCP,
	};
}

void frames_send_once(const struct lab *lab, const struct lab_flow *f,
    uint8_t flags, uint32_t seq)
{
	const struct obs_packet p = frames_tcp(f, flags, 8, seq);
	const int raw = frames_open(lab, f->src);
	frames_send(raw, &p);
	close(raw);
}
