/* models/bpf/phantom.bpf.c -- phantom queues at the ports of a switch.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * At the egress of each port, before the queue that the interface may have. The
 * law is models/bpf/phantom_law.h:
 *
 *	clock -> lock -> law -> unlock -> [drop, or mark] -> the rest
 *
 * One lock for the buffer, as the ports share it. So on several processors, too,
 * what is decided is exactly what the law says of packets in the order in which
 * they took the lock; only their times may be out of that order, by as long as
 * they waited for it, and then no time has passed between them. Who does not get
 * it passes, and is in n_raced alone: had it gone on without, it could have left
 * the sum of the queues wrong for good.
 */
#include <linux/types.h>

#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "models/bpf/headers.h"
#include "models/bpf/phantom.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct phantom_config config;

struct phantom_state state SEC(".data.state");

enum {
	IPV6 = 0x86dd,
	IPV6_BYTES = 40,
	UDP_BYTES = 8,
	LOCK_TRIES = 4096, /* some 100 us */
};

/* Headers that stand once in a large packet, and on the wire before each of its
 * segments. Those beyond UDP and TCP are not known, and not segmented. */
static __always_inline __u32 headers_of(struct __sk_buff *skb)
{
	struct ip ip;
	struct tcp tcp;
	__u8 proto;
	__u32 at = config.mac_bytes;
	if (skb->protocol == bpf_htons(HEADERS_IPV4) &&
	    bpf_skb_load_bytes(skb, at, &ip, sizeof(ip)) == 0) {
		proto = ip.proto;
		at += (ip.ihl & 15) * 4;
	} else if (skb->protocol == bpf_htons(IPV6) &&
	    bpf_skb_load_bytes(skb, at + 6, &proto, 1) == 0) {
		at += IPV6_BYTES;
	} else {
		return at;
	}
	if (proto == HEADERS_UDP)
		return at + UDP_BYTES;
	return proto == HEADERS_TCP &&
		bpf_skb_load_bytes(skb, at, &tcp, sizeof(tcp)) == 0
	    ? at + (tcp.data_offset >> 4) * 4
	    : at;
}

/* A packet that is cut into segments later is one here: all of it passes, or
 * none. */
static __noinline __u32 wire_bytes(struct __sk_buff *skb)
{
	return skb->len + (skb->gso_segs - 1) * headers_of(skb);
}

static __always_inline __u64 phantom_now(void)
{
	return config.given ? *(volatile __u64 *)&state.given_ns
			    : bpf_ktime_get_ns();
}

/* The compiler would take the law for what it is in this file, all 0, unless it
 * cannot know where it points. */
static __always_inline const struct phantom_law *phantom_law(void)
{
	const volatile void *law = &config.law;
	asm volatile("" : "+r"(law));
	return (const struct phantom_law *)law;
}

/* A word of our own: bpf_spin_lock() also turns interrupts off, in which no program
 * of an interface runs, and costs 50 ns. The verifier wants an end, so who has
 * tried that long gives up: who holds the lock may have lost its processor to
 * another virtual machine. */
static __always_inline int phantom_lock(void)
{
	for (int i = 0; i < LOCK_TRIES; i++)
		if (__sync_lock_test_and_set(&state.lock, 1) == 0)
			return 1;
	return 0;
}

/* An exchange, as it is a barrier on all machines. */
static __always_inline void phantom_unlock(void)
{
	__sync_lock_test_and_set(&state.lock, 0);
}

/* Under the lock. */
static __always_inline void phantom_note(struct phantom_count *c,
    const struct phantom_queue *q, __u32 bytes, enum phantom_says says)
{
	c->packets++;
	c->bytes += bytes;
	c->length = q->length;
	if (says == PHANTOM_DROPPED) {
		c->n_dropped++;
		c->dropped_bytes += bytes;
	} else if (q->length > c->longest) {
		c->longest = q->length;
	}
}

SEC("tc")
int phantom_egress(struct __sk_buff *skb)
{
	__u64 i = (skb->ifindex - config.base) / config.step;
	if (i >= config.law.n_ports)
		return TC_ACT_UNSPEC;
	/* The verifier follows a mask, and not what the compiler makes of
	 * bounds that it knows. */
	asm volatile("%0 &= %1" : "+r"(i) : "i"(PHANTOM_PORTS - 1));
	struct phantom_count *c = &state.count[i];
	const __u32 bytes = skb->gso_segs > 1 ? wire_bytes(skb) : skb->len;
	const __u64 now = phantom_now();
	if (!phantom_lock()) {
		__sync_fetch_and_add(&state.n_raced, 1);
		return TC_ACT_UNSPEC;
	}
	const enum phantom_says says =
	    phantom_packet(phantom_law(), &state.buffer, i, now, bytes);
	phantom_note(c, &state.buffer.port[i], bytes, says);
	phantom_unlock();
	if (says == PHANTOM_DROPPED)
		return TC_ACT_SHOT;
	if (says == PHANTOM_MARKED) {
		if (bpf_skb_ecn_set_ce(skb))
			__sync_fetch_and_add(&c->n_marked, 1);
		else
			__sync_fetch_and_add(&c->n_deaf, 1);
	}
	return TC_ACT_UNSPEC;
}
