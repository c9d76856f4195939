/* experiments/everflow/ether.c -- copies from an interface, as they come.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/ether.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sim/time.h"
#include "sim/vec.h"

enum {
	USUAL_SLOTS = 32768,
	SLOT_BYTES = 512, /* with the kernel's header */
	SNAP_BYTES = 400, /* of a packet; headers end long before */
	BLOCK_BYTES = 65536,
	/* From the carrier's IP header on, if that has no options: GRE with a
	 * number, ERSPAN II, Ethernet. */
	INNER = 8 + 8 + 14,
};

struct xp_ether {
	int fd; /* -1: none */
	uint8_t *ring;
	size_t bytes, next; /* slot to be looked at */
	uint32_t n_slots;
	uint64_t n_lost;
};

/* --- programs of classic BPF ---------------------------------------------- */

/* GRE of IPv4, for one address or any; offsets are of the IP header. */
static int ether_filter(int fd, uint32_t address)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, SKF_AD_OFF + SKF_AD_PROTOCOL),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 5),
	    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_GRE, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, address, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SNAP_BYTES),
	    BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog p = {sizeof(code) / sizeof(code[0]), code};
	if (address == 0) /* any will do */
		code[5].jf = 0;
	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &p, sizeof(p));
}

/* Which of a group gets a packet: a number of the innermost addresses and ports
 * that is the same in both directions. X is where the carrier's payload would
 * begin if it were IP in IP; each header within another moves it on by 20. A
 * packet that ends too early is for the first. */
static int ether_share(int fd, uint32_t group)
{
	enum { DEPTH = 4, FIRST = 1, EACH = 5, LAST = 19 };
	struct sock_filter code[FIRST + DEPTH * EACH + LAST];
	const int32_t at = SKF_NET_OFF;
	const struct sock_filter hop[EACH] = {
	    BPF_STMT(BPF_LD | BPF_B | BPF_IND, (uint32_t)(at + INNER + 9)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_IPIP, 0, 3),
	    BPF_STMT(BPF_MISC | BPF_TXA, 0),
	    BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 20),
	    BPF_STMT(BPF_MISC | BPF_TAX, 0),
	};
	const struct sock_filter last[LAST] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_IND, (uint32_t)(at + INNER + 12)),
	    BPF_STMT(BPF_ST, 0),
	    BPF_STMT(BPF_LD | BPF_W | BPF_IND, (uint32_t)(at + INNER + 16)),
	    BPF_STMT(BPF_ST, 1),
	    BPF_STMT(BPF_LD | BPF_H | BPF_IND, (uint32_t)(at + INNER + 20)),
	    BPF_STMT(BPF_ST, 2),
	    BPF_STMT(BPF_LD | BPF_H | BPF_IND, (uint32_t)(at + INNER + 22)),
	    BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 2),
	    BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
	    BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 0),
	    BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
	    BPF_STMT(BPF_LDX | BPF_W | BPF_MEM, 1),
	    BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
	    BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 0x9e3779b1),
	    BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 16),
	    BPF_STMT(BPF_MISC | BPF_TAX, 0),
	    BPF_STMT(BPF_MISC | BPF_TXA, 0),
	    BPF_STMT(BPF_RET | BPF_A, 0),
	    BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const int type = (PACKET_FANOUT_CBPF << 16) | (int)group;
	const struct sock_fprog p = {sizeof(code) / sizeof(code[0]), code};
	code[0] = (struct sock_filter)BPF_STMT(BPF_LDX | BPF_B | BPF_MSH,
	    (uint32_t)at);
	for (int i = 0; i < DEPTH; i++)
		memcpy(&code[FIRST + i * EACH], hop, sizeof(hop));
	memcpy(&code[FIRST + DEPTH * EACH], last, sizeof(last));
	if (setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &type, sizeof(type)) < 0)
		return -1;
	return setsockopt(fd, SOL_PACKET, PACKET_FANOUT_DATA, &p, sizeof(p));
}

/* --- opening -------------------------------------------------------------- */

static int ether_map(struct xp_ether *x, uint32_t slots)
{
	const uint32_t a_block = BLOCK_BYTES / SLOT_BYTES;
	const int version = TPACKET_V2;
	struct tpacket_req req = {.tp_block_size = BLOCK_BYTES,
	    .tp_block_nr = (slots + a_block - 1) / a_block,
	    .tp_frame_size = SLOT_BYTES};
	req.tp_frame_nr = req.tp_block_nr * a_block;
	if (setsockopt(x->fd, SOL_PACKET, PACKET_VERSION, &version,
		sizeof(version)) < 0 ||
	    setsockopt(x->fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)) <
		0)
		return -1;
	x->n_slots = req.tp_frame_nr;
	x->bytes = (size_t)req.tp_block_nr * BLOCK_BYTES;
	void *at =
	    mmap(NULL, x->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, x->fd, 0);
	if (at == MAP_FAILED)
		return -1;
	x->ring = at;
	return 0;
}

/* The socket hears of nothing before its filter and its ring are there: it is
 * bound last. It is one of cooked packets, which begin behind the link's header,
 * whatever link that is. A group can be joined only by who is bound. */
static int ether_set_up(struct xp_ether *x, const struct xp_ether_params *p)
{
	const int on = 1;
	/* All protocols are asked for, as only who does so sees packets before
	 * programs at the interface may throw them away. */
	const struct sockaddr_ll at = {.sll_family = AF_PACKET,
	    .sll_protocol = htons(ETH_P_ALL),
	    .sll_ifindex = (int)p->ifindex};
	if (ether_filter(x->fd, p->address) < 0 ||
	    /* What this host sends itself would be seen twice. */
	    setsockopt(x->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on,
		sizeof(on)) < 0 ||
	    ether_map(x, p->slots > 0 ? p->slots : USUAL_SLOTS) < 0 ||
	    bind(x->fd, (const struct sockaddr *)&at, sizeof(at)) < 0 ||
	    (p->group > 0 && ether_share(x->fd, p->group) < 0))
		return -1;
	return 0;
}

int xp_ether_open(struct xp_ether **out, const struct xp_ether_params *p,
    struct sim_err *e)
{
	struct xp_ether *x;
	*out = NULL;
	int rc = SIM_ZALLOC(&x, 1, e);
	if (rc < 0)
		return rc;
	x->fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (x->fd < 0 || ether_set_up(x, p) < 0) {
		const int why = errno;
		xp_ether_close(x);
		return sim_fail(e, why == EPERM ? SIM_EUNSUPPORTED : SIM_EIO,
		    "Packets of an interface cannot be had: %s%s.",
		    strerror(why),
		    why == EPERM ? "; that takes CAP_NET_RAW" : "");
	}
	*out = x;
	return 0;
}

void xp_ether_close(struct xp_ether *x)
{
	if (!x)
		return;
	if (x->ring)
		munmap(x->ring, x->bytes);
	if (x->fd >= 0)
		close(x->fd);
	free(x);
}

/* --- reading -------------------------------------------------------------- */

int xp_ether_fd(const struct xp_ether *x)
{
	return x->fd;
}

/* A slot is the program's from the moment that the kernel sets its status until
 * the program clears it; the fences keep what is in it between the two. NULL: it
 * is the kernel's. */
static struct tpacket2_hdr *ether_slot(const struct xp_ether *x)
{
	struct tpacket2_hdr *h = (void *)(x->ring + x->next * SLOT_BYTES);
	return __atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER
	    ? h
	    : NULL;
}

int xp_ether_next(const struct xp_ether *x, uint64_t *unix_ns)
{
	const struct tpacket2_hdr *h = ether_slot(x);
	if (h)
		*unix_ns = h->tp_sec * SIM_SEC + h->tp_nsec;
	return h != NULL;
}

int xp_ether_read(struct xp_ether *x, size_t most, xp_ether_taker *take,
    void *arg, size_t *n, struct sim_err *e)
{
	int rc = 0;
	for (*n = 0; rc == 0 && *n < most; ++*n) {
		struct tpacket2_hdr *h = ether_slot(x);
		if (!h)
			break;
		const struct sockaddr_ll *from =
		    (void *)((uint8_t *)h + TPACKET_ALIGN(sizeof(*h)));
		rc = take(arg, h->tp_sec * SIM_SEC + h->tp_nsec,
		    ntohs(from->sll_protocol), (uint8_t *)h + h->tp_net,
		    h->tp_snaplen, e);
		__atomic_store_n(&h->tp_status, TP_STATUS_KERNEL,
		    __ATOMIC_RELEASE);
		x->next = (x->next + 1) % x->n_slots;
	}
	return rc;
}

/* The kernel counts anew each time that it is asked. */
uint64_t xp_ether_lost(struct xp_ether *x)
{
	struct tpacket_stats s;
	socklen_t size = sizeof(s);
	if (getsockopt(x->fd, SOL_PACKET, PACKET_STATISTICS, &s, &size) == 0)
		x->n_lost += s.tp_drops;
	return x->n_lost;
}
