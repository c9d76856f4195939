/* algos/everflow/erspan.h -- mirrored packets as bytes: ERSPAN and GRE.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 *	IP of the switch | GRE | session header | Ethernet | VLAN | IP | ...
 *	`------------- the carrier -----------'   `--- the mirrored frame --
 *
 * Read are ERSPAN I (GRE 0x88be without a sequence number), II (0x88be with one,
 * a session header of 8 bytes) and III (0x22eb, 12 bytes or 20, with a
 * timestamp), Ethernet in GRE (0x6558, or a vendor's own protocol) and IP in GRE.
 * Frames may have VLAN tags, IP options, and IP headers within IP or GRE. Every
 * outcome has a name: what is cut short, broken or of another kind is refused,
 * and never read as something that it is not.
 *
 * Written is ERSPAN II.
 *
 * Sources  draft-foschiano-erspan-03; RFC 2784, 2890 (GRE); InfiniBand, annex 17
 *          (RoCE v2); IEEE 802.1Qbb (PFC). The granularity of III's timestamps
 *          and its platform subheaders are read as Wireshark does.
 */
#ifndef ALGOS_EVERFLOW_ERSPAN_H
#define ALGOS_EVERFLOW_ERSPAN_H

#include "models/obs_packet.h"
#include "sim/time.h"

/* X(end, text) */
#define ALGO_ERSPAN_ENDS(X)                                                    \
	X(FINE, "read")                                                        \
	X(CARRIER_OTHER, "the carrier is not IPv4")                            \
	X(CARRIER_IPV6, "the carrier is IPv6, which is not read")              \
	X(CARRIER_SHORT, "cut within the carrier")                             \
	X(CARRIER_BAD, "the carrier's IP header contradicts itself")           \
	X(CARRIER_FRAGMENT, "a later fragment of a carrier")                   \
	X(CARRIER_NOT_GRE, "IPv4, but not GRE")                                \
	X(GRE_UNKNOWN, "GRE of another version, or with routing")              \
	X(GRE_PROTOCOL, "GRE of another protocol")                             \
	X(SESSION_BAD, "no session header of ERSPAN II or III")                \
	X(FRAME_DAMAGED, "the switch says that the frame was damaged")         \
	X(FRAME_OTHER, "the frame is neither IPv4 nor MAC control")            \
	X(FRAME_IPV6, "the frame is IPv6, which is not read")                  \
	X(COPY_OF_COPY, "a copy of a copy")                                    \
	X(SHORT_ETHERNET, "cut within the Ethernet header or a tag")           \
	X(SHORT_IP, "cut within an IP header")                                 \
	X(SHORT_GRE, "cut within a GRE header of the packet")                  \
	X(SHORT_TCP, "cut before the TCP flags")                               \
	X(SHORT_UDP, "cut before UDP's first 4 bytes of payload")              \
	X(SHORT_ROCE, "cut within the RoCE headers")                           \
	X(SHORT_CONTROL, "cut within a pause frame")                           \
	X(BAD_IP, "an IP header contradicts itself")                           \
	X(BAD_CHECKSUM, "an IP header has a wrong checksum")                   \
	X(BAD_TCP, "no room for a TCP header")                                 \
	X(BAD_UDP, "no room for a UDP header")                                 \
	X(BAD_ROCE, "UDP port 4791, but no room for RoCE headers")             \
	X(BAD_CONTROL, "MAC control, but no pause")                            \
	X(FRAGMENT, "a later fragment: it has no ports")                       \
	X(TOO_DEEP, "more IP headers than are kept")
enum algo_erspan_end {
#define X(end, text) ALGO_ERSPAN_##end,
	ALGO_ERSPAN_ENDS(X)
#undef X
	    ALGO_N_ERSPAN_ENDS
};
extern const char *const algo_erspan_texts[]; /* NULL-terminated */

enum {
	ALGO_GRE_ERSPAN = 0x88be,
	ALGO_GRE_ERSPAN_III = 0x22eb,
	ALGO_GRE_ETHERNET = 0x6558,
};

/* How a copy was carried. */
enum algo_erspan_kind {
	ALGO_ERSPAN_I = 1,
	ALGO_ERSPAN_II,
	ALGO_ERSPAN_III,
	ALGO_ERSPAN_GRE_ETHERNET,
	ALGO_ERSPAN_GRE_IP,
};

struct algo_erspan_copy {
	struct obs_packet packet;
	uint64_t src_mac; /* who sent the frame: the hop before; 48 bits,
				   0 without Ethernet */
	sim_ns switch_ns; /* by its clock; 0 = none. It begins anew after
				   stamp_wraps_ns, if that is not 0 */
	sim_ns stamp_wraps_ns;
	uint32_t switch_ip, collector_ip; /* the carrier's addresses */
	uint32_t sequence;                /* of GRE */
	uint32_t index;                   /* II: 20 bits of the port */
	uint16_t session;                 /* II and III: 10 bits */
	uint8_t has_sequence;
	uint8_t is_cut; /* II and III: the switch truncated it */
	uint8_t kind;   /* enum algo_erspan_kind */
};

/* Read N bytes that are the payload of an Ethernet frame of type ETHERTYPE,
 * which may be that of a VLAN tag. VENDOR is a GRE protocol that carries
 * Ethernet, too, or 0. *C counts only if the end is FINE.
 * Errors none: the end says it. Cost O(headers), some 380 instructions; 140 for
 * TCP in one IP header in ERSPAN II, without tags or options. */
enum algo_erspan_end algo_erspan_read(uint16_t ethertype, const uint8_t bytes[],
    size_t n, uint16_t vendor, struct algo_erspan_copy *c);

/* The same, header by header whatever it is: what algo_erspan_read() must give,
 * for tests. */
enum algo_erspan_end algo_erspan_read_any(uint16_t ethertype,
    const uint8_t bytes[], size_t n, uint16_t vendor,
    struct algo_erspan_copy *c);

enum {
	ALGO_ERSPAN_OVERHEAD = 36, /* IP, GRE with a number, session header */
	ALGO_ERSPAN_MAX = ALGO_ERSPAN_OVERHEAD + 9216
};

/* Write C as ERSPAN II, from the carrier's IP header on, with as much of the
 * frame as fits in TRUNCATE bytes; what is behind the headers is zeros. Returns
 * the number of bytes. From C are taken packet, src_mac, the addresses,
 * sequence, index and session. Checksums of TCP are left 0.
 * Shape  out[ALGO_ERSPAN_MAX]. Domain truncate <= 9216. */
size_t algo_erspan_write(const struct algo_erspan_copy *c, uint32_t truncate,
    uint8_t out[]);

#endif
