/* tests/algos/everflow/erspan_test.c -- copies as bytes: by hand, round, cut.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "algos/everflow/erspan.h"
#include "models/mirror/mirror.h"
#include "sim/inet.h"
#include "tests/rigs/packets.h"
#include "tests/test.h"

enum { ETH_IP = 0x0800, VENDOR = 0x8949 };

/* --- by hand -------------------------------------------------------------- */

/* Bytes put together piece by piece. */
struct bytes {
	uint8_t b[512];
	size_t n;
};

static void put_hex(struct bytes *x, const char *hex)
{
	for (unsigned value; *hex; hex += 2) {
		while (*hex == ' ')
			hex++;
		assert_int_equal(sscanf(hex, "%2x", &value), 1);
		x->b[x->n++] = (uint8_t)value;
	}
}

/* An IP header with the rest of the packet, REST, to come behind it. */
static void put_ip(struct bytes *x, uint8_t proto, size_t rest,
    const char *options)
{
	uint8_t *p = x->b + x->n;
	const size_t more = strlen(options) / 2;
	put_hex(x, "45 04 0000 1234 0000 3f 00 0000 0a000001 0a000002");
	put_hex(x, options);
	p[0] += (uint8_t)(more / 4);
	p[9] = proto;
	sim_inet_put16(p + 2, (uint32_t)(20 + more + rest));
	sim_inet_put16(p + 10, ~sim_inet_sum(0, p, 20 + more));
}

/* Ports 4660 -> 80, sequence 11223344, acknowledgement 55667788, SYN. */
static const char tcp[] = "1234 0050 11223344 55667788 50 02 ffff 0000 0000";
enum { TCP = 20 };
static const char ethernet[] = "0200000000aa 0200000000bb 0800";

/* The carrier, of a GRE header and whatever follows. */
static void put_carrier(struct bytes *x, const char *gre)
{
	*x = (struct bytes){0};
	put_hex(x, "45000000 00000000 402f0000 ac100007 0a0000fe");
	put_hex(x, gre);
}

static void put_syn(struct bytes *x)
{
	put_hex(x, ethernet);
	put_ip(x, 6, TCP, "");
	put_hex(x, tcp);
}

static enum algo_erspan_end read_bytes(struct bytes *x,
    struct algo_erspan_copy *c)
{
	sim_inet_put16(x->b + 2, (uint32_t)x->n);
	/* A block of just this size lets ASan see a read past it. */
	uint8_t *exact = malloc(x->n);
	assert_non_null(exact);
	memcpy(exact, x->b, x->n);
	const enum algo_erspan_end end =
	    algo_erspan_read(ETH_IP, exact, x->n, VENDOR, c);
	free(exact);
	return end;
}

static void assert_syn(struct bytes *x, enum algo_erspan_kind kind,
    uint32_t n_bytes)
{
	struct algo_erspan_copy c;
	const enum algo_erspan_end end = read_bytes(x, &c);
	assert_string_equal(algo_erspan_texts[end], "read");
	const struct obs_packet *p = &c.packet;
	assert_int_equal(c.kind, kind);
	assert_int_equal(c.switch_ip, 0xac100007);
	assert_int_equal(c.collector_ip, 0x0a0000fe);
	assert_int_equal(c.src_mac,
	    kind == ALGO_ERSPAN_GRE_IP ? 0 : 0x0200000000bb);
	assert_int_equal(p->ethertype, ETH_IP);
	assert_int_equal(p->ip.src_ip, 0x0a000001);
	assert_int_equal(p->ip.dst_ip, 0x0a000002);
	assert_int_equal(p->ip.id, 0x1234);
	assert_int_equal(p->ip.ttl, 0x3f);
	assert_int_equal(p->ip.tos, OBS_TOS_DEBUG);
	assert_int_equal(p->ip.proto, 6);
	assert_int_equal(p->src_port, 0x1234);
	assert_int_equal(p->dst_port, 80);
	assert_int_equal(p->tcp_flags, OBS_TCP_SYN);
	assert_int_equal(p->seq, 0x11223344);
	assert_int_equal(p->ack, 0x55667788);
	assert_true(p->digest == UINT64_C(0x1122334455667788));
	assert_int_equal(p->n_bytes, n_bytes);
}

static void each_kind_of_carrier_is_read(void **state)
{
	struct bytes x;
	struct algo_erspan_copy c;
	(void)state;
	put_carrier(&x, "0000 88be");
	put_syn(&x);
	assert_syn(&x, ALGO_ERSPAN_I, 54);
	put_carrier(&x, "0000 8949");
	put_syn(&x);
	assert_syn(&x, ALGO_ERSPAN_I, 54);
	put_carrier(&x, "0000 6558");
	put_syn(&x);
	assert_syn(&x, ALGO_ERSPAN_GRE_ETHERNET, 54);
	/* With checksum, key and number, in this order. */
	put_carrier(&x, "b000 6558 dead0000 00000009 00000007");
	put_syn(&x);
	assert_syn(&x, ALGO_ERSPAN_GRE_ETHERNET, 54);
	read_bytes(&x, &c);
	assert_int_equal(c.sequence, 7);
	assert_true(c.has_sequence);
	put_carrier(&x, "0000 0800");
	put_ip(&x, 6, TCP, "");
	put_hex(&x, tcp);
	assert_syn(&x, ALGO_ERSPAN_GRE_IP, 54);
	/* Version 1, VLAN 5, class 3, tagged, truncated, session 0x2a5. */
	put_carrier(&x, "1000 88be 01020304 1005 7ea5 000abcde");
	put_syn(&x);
	assert_syn(&x, ALGO_ERSPAN_II, 54);
	read_bytes(&x, &c);
	assert_int_equal(c.sequence, 0x01020304);
	assert_int_equal(c.session, 0x2a5);
	assert_int_equal(c.index, 0xabcde);
	assert_true(c.is_cut);
	assert_int_equal(c.switch_ns, 0);
}

static void stamps_are_read_in_their_units(void **state)
{
	static const struct stamp {
		const char *head; /* the last two bytes, and what follows */
		sim_ns want, wraps;
	} stamps[] = {
	    {"0000", 10 * 100 * SIM_US, (100 * SIM_US) << 32},
	    {"0002", 10 * 100, UINT64_C(100) << 32},
	    {"0004", 10, SIM_SEC},
	    {"0006", 0, 0},
	    /* Platform 3 has the upper half, 5 the seconds, 1 neither. */
	    {"0003 0c000000 00000001", 100 * ((UINT64_C(1) << 32) + 10), 0},
	    {"0003 1c000000 00000001", 100 * ((UINT64_C(1) << 32) + 10), 0},
	    {"0005 14000000 00000003", 3 * SIM_SEC + 10, 0},
	    {"0003 04000000 00000001", 10 * 100, UINT64_C(100) << 32},
	    {"0005 04000000 00000003", 10, SIM_SEC},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(stamps) / sizeof(stamps[0]); i++) {
		struct algo_erspan_copy c;
		struct bytes x;
		put_carrier(&x, "1000 22eb 00000001 2000 0007 0000000a 0000");
		put_hex(&x, stamps[i].head);
		put_syn(&x);
		assert_syn(&x, ALGO_ERSPAN_III, 54);
		read_bytes(&x, &c);
		assert_int_equal(c.session, 7);
		assert_false(c.is_cut);
		assert_true(c.switch_ns == stamps[i].want);
		assert_true(c.stamp_wraps_ns == stamps[i].wraps);
	}
}

/* VLAN 5, class 3, truncated, session 0x2a5; beside it all but the truncation. */
static void version_3_tells_what_was_cut(void **state)
{
	(void)state;
	for (int cut = 0; cut < 2; cut++) {
		struct algo_erspan_copy c;
		struct bytes x;
		put_carrier(&x, "1000 22eb 00000001 2005");
		put_hex(&x, cut ? "66a5" : "62a5");
		put_hex(&x, "0000000a 0000 0004");
		put_syn(&x);
		assert_syn(&x, ALGO_ERSPAN_III, 54);
		read_bytes(&x, &c);
		assert_int_equal(c.session, 0x2a5);
		assert_int_equal(c.is_cut, cut);
	}
}

static void a_stamp_of_0_is_not_taken_for_none(void **state)
{
	struct algo_erspan_copy c;
	struct bytes x;
	(void)state;
	put_carrier(&x, "1000 22eb 00000001 2000 0007 00000000 0000 0002");
	put_syn(&x);
	assert_int_equal(read_bytes(&x, &c), ALGO_ERSPAN_FINE);
	assert_int_equal(c.switch_ns, 1);
}

static void tags_and_options_are_stepped_over(void **state)
{
	struct bytes x;
	(void)state;
	put_carrier(&x, "0000 88be");
	put_hex(&x, "0200000000aa 0200000000bb 8100 0005 0800");
	put_ip(&x, 6, TCP, "");
	put_hex(&x, tcp);
	assert_syn(&x, ALGO_ERSPAN_I, 58);
	put_carrier(&x, "0000 88be");
	put_hex(&x, "0200000000aa 0200000000bb 88a8 0005 8100 0006 0800");
	put_ip(&x, 6, TCP, "94040000");
	put_hex(&x, tcp);
	assert_syn(&x, ALGO_ERSPAN_I, 66);
	/* A III without Ethernet. */
	put_carrier(&x, "1000 22eb 00000001 2000 0007 0000000a 0000 0800");
	put_ip(&x, 6, TCP, "");
	put_hex(&x, tcp);
	x.b[20 + 8 + 10] = 2 << 2;
	x.b[20 + 8 + 11] = 0;
	struct algo_erspan_copy c;
	assert_int_equal(read_bytes(&x, &c), ALGO_ERSPAN_FINE);
	assert_int_equal(c.packet.dst_port, 80);
}

/* IP in IP, and IP in GRE, and IP in Ethernet in GRE. */
static void headers_within_headers_are_kept(void **state)
{
	static const struct nest {
		const char *gre;
		size_t bytes;
		uint8_t proto;
	} nests[] = {{"", 0, 4}, {"0000 0800", 4, 47},
	    {"2000 0800 00000001", 8, 47},
	    {"0000 6558 0200000000aa 0200000000cc 0800", 18, 47},
	    {"0000 6558 0200000000aa 0200000000cc 8100 0001 0800", 22, 47}};
	(void)state;
	for (size_t i = 0; i < sizeof(nests) / sizeof(nests[0]); i++) {
		struct bytes x;
		struct algo_erspan_copy c;
		put_carrier(&x, "1000 88be 00000001 1000 0001 00000000");
		put_hex(&x, ethernet);
		put_ip(&x, nests[i].proto, nests[i].bytes + 20 + TCP, "");
		put_hex(&x, nests[i].gre);
		put_ip(&x, 6, TCP, "");
		put_hex(&x, tcp);
		assert_syn(&x, ALGO_ERSPAN_II,
		    (uint32_t)(14 + 20 + nests[i].bytes + 20 + TCP));
		read_bytes(&x, &c);
		assert_int_equal(c.packet.n_outer, 1);
		assert_int_equal(c.packet.outer[0].proto, nests[i].proto);
		assert_int_equal(c.packet.outer[0].ttl, 0x3f);
	}
}

static void pauses_are_read(void **state)
{
	struct bytes x;
	struct algo_erspan_copy c;
	(void)state;
	put_carrier(&x, "0000 88be");
	put_hex(&x, "0180c2000001 0200000000bb 8808 0101 0018");
	put_hex(&x, "0009 0009 0009 0100 00ff 0009 0009 0009");
	assert_int_equal(read_bytes(&x, &c), ALGO_ERSPAN_FINE);
	assert_int_equal(c.packet.pfc_classes, 0x18);
	/* Classes that do not pause have no say in how long. */
	assert_int_equal(c.packet.pfc_quanta, 0x100);
	assert_int_equal(c.packet.n_bytes, 60);
	assert_int_equal(c.packet.ip.proto, 0);
	put_carrier(&x, "0000 88be");
	put_hex(&x, "0180c2000001 0200000000bb 8808 0001 0102");
	assert_int_equal(read_bytes(&x, &c), ALGO_ERSPAN_FINE);
	assert_int_equal(c.packet.pfc_classes, 0xff);
	assert_int_equal(c.packet.pfc_quanta, 0x102);
}

/* --- each end ------------------------------------------------------------- */

/* A SYN in ERSPAN II, and what one edit of it makes: AT counts from the frame,
 * or below 0 from the end of the carrier's 36 bytes. */
static void each_refusal_has_its_name(void **state)
{
	static const struct edit {
		int at;
		const char *hex;
		enum algo_erspan_end want;
	} edits[] = {
	    {-36, "65", ALGO_ERSPAN_CARRIER_BAD},
	    {-36, "44", ALGO_ERSPAN_CARRIER_BAD},
	    {-30, "0001", ALGO_ERSPAN_CARRIER_FRAGMENT},
	    {-30, "2000", ALGO_ERSPAN_FINE},
	    {-27, "06", ALGO_ERSPAN_CARRIER_NOT_GRE},
	    {-16, "5000", ALGO_ERSPAN_GRE_UNKNOWN},
	    {-16, "1001", ALGO_ERSPAN_GRE_UNKNOWN},
	    {-14, "880b", ALGO_ERSPAN_GRE_PROTOCOL},
	    {-8, "3000", ALGO_ERSPAN_SESSION_BAD},
	    {12, "0806", ALGO_ERSPAN_FRAME_OTHER},
	    {12, "86dd", ALGO_ERSPAN_FRAME_IPV6},
	    {12, "8808 0101", ALGO_ERSPAN_FINE},
	    {12, "8808 0102", ALGO_ERSPAN_BAD_CONTROL},
	    {14, "65", ALGO_ERSPAN_BAD_IP},
	    {14, "44", ALGO_ERSPAN_BAD_IP},
	    {16, "0013", ALGO_ERSPAN_BAD_IP},
	    {22, "40", ALGO_ERSPAN_BAD_CHECKSUM},
	    {14 + 20 + 12, "40", ALGO_ERSPAN_BAD_TCP},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		struct bytes x, with = {0};
		struct algo_erspan_copy c;
		put_carrier(&x, "1000 88be 00000001 1000 0001 00000000");
		put_syn(&x);
		put_hex(&with, edits[i].hex);
		memcpy(x.b + 36 + edits[i].at, with.b, with.n);
		assert_string_equal(algo_erspan_texts[read_bytes(&x, &c)],
		    algo_erspan_texts[edits[i].want]);
	}
}

/* Of X all lengths: what each is cut within, by where that ends. */
static void assert_cuts(struct bytes *x, const size_t until[],
    const enum algo_erspan_end end[])
{
	const size_t all = x->n;
	unsigned k = 0;
	for (x->n = 20; x->n <= all; x->n++) {
		struct algo_erspan_copy c;
		while (until[k] > 0 && x->n >= until[k])
			k++;
		assert_string_equal(algo_erspan_texts[read_bytes(x, &c)],
		    algo_erspan_texts[end[k]]);
	}
}

static void each_cut_has_its_name(void **state)
{
	static const size_t syn[] = {36, 54, 74, 88, 0},
			    ack[] = {36, 50, 70, 82, 91, 0};
	struct bytes x;
	(void)state;
	/* A SYN behind a tag, which is needed up to its flags. */
	put_carrier(&x, "1000 88be 00000001 1000 0001 00000000");
	put_hex(&x, "0200000000aa 0200000000bb 8100 0007 0800");
	put_ip(&x, 6, TCP, "");
	put_hex(&x, tcp);
	assert_cuts(&x, syn,
	    (enum algo_erspan_end[]){ALGO_ERSPAN_CARRIER_SHORT,
		ALGO_ERSPAN_SHORT_ETHERNET, ALGO_ERSPAN_SHORT_IP,
		ALGO_ERSPAN_SHORT_TCP, ALGO_ERSPAN_FINE});
	/* An acknowledgement of RoCE, up to its syndrome. */
	put_carrier(&x, "1000 88be 00000001 1000 0001 00000000");
	put_hex(&x, ethernet);
	put_ip(&x, 17, 8 + 12 + 4, "");
	put_hex(&x, "c123 12b7 0018 0000 11 40 ffff 00000007 000abcde");
	put_hex(&x, "60 000001");
	assert_cuts(&x, ack,
	    (enum algo_erspan_end[]){ALGO_ERSPAN_CARRIER_SHORT,
		ALGO_ERSPAN_SHORT_ETHERNET, ALGO_ERSPAN_SHORT_IP,
		ALGO_ERSPAN_SHORT_UDP, ALGO_ERSPAN_SHORT_ROCE,
		ALGO_ERSPAN_FINE});
}

/* Packets of which the IP header is right and what it carries is not. */
static void what_ip_carries_may_be_refused(void **state)
{
	static const struct inner {
		uint8_t proto;
		uint16_t fragment;
		const char *hex;
		size_t claims;
		enum algo_erspan_end want;
	} inners[] = {
	    {6, 0x0001, "", 20, ALGO_ERSPAN_FRAGMENT},
	    {6, 0, "", 19, ALGO_ERSPAN_BAD_TCP},
	    {6, 0, "1234 0050 11223344 55667788 50", 20, ALGO_ERSPAN_SHORT_TCP},
	    {17, 0, "", 7, ALGO_ERSPAN_BAD_UDP},
	    {17, 0, "1234 0050 0007 0000 00000000", 12, ALGO_ERSPAN_BAD_UDP},
	    {17, 0, "1234 0050 0008 0000", 8, ALGO_ERSPAN_FINE},
	    {17, 0, "1234 0050 0008 0000", 9, ALGO_ERSPAN_SHORT_UDP},
	    {17, 0, "1234 12b7 0010 0000 00000000", 19, ALGO_ERSPAN_BAD_ROCE},
	    {17, 0, "1234 12b7 0010 0000 00000000", 20, ALGO_ERSPAN_SHORT_ROCE},
	    {17, 0, "1234 12b7 0014 0000 04000000 00000000 00000001", 20,
		ALGO_ERSPAN_FINE},
	    {17, 0, "1234 12b7 0014 0000 11000000 00000000 00000001", 20,
		ALGO_ERSPAN_BAD_ROCE},
	    {17, 0, "1234 12b7 0018 0000 11000000 00000000 00000001", 24,
		ALGO_ERSPAN_SHORT_ROCE},
	    {1, 0, "", 0, ALGO_ERSPAN_FINE},
	    {4, 0, "", 0, ALGO_ERSPAN_SHORT_IP},
	    {47, 0, "0000", 4, ALGO_ERSPAN_SHORT_GRE},
	    {47, 0, "0000 86dd", 4, ALGO_ERSPAN_FINE},
	    {47, 0, "0001 0800", 4, ALGO_ERSPAN_FINE},
	    {47, 0, "0000 6558 0000", 50, ALGO_ERSPAN_SHORT_ETHERNET},
	    {47, 0, "0000 6558 ffffffffffff 000000000001 08", 50,
		ALGO_ERSPAN_SHORT_ETHERNET},
	    {47, 0, "0000 6558 ffffffffffff 000000000001 86dd", 18,
		ALGO_ERSPAN_FINE},
	    {47, 0, "0000 6558 ffffffffffff 000000000001 0800", 18,
		ALGO_ERSPAN_SHORT_IP},
	    {47, 0, "0000 6558 ffffffffffff 000000000001 0800", 17,
		ALGO_ERSPAN_SHORT_ETHERNET},
	    {47, 0, "1000 88be 00000000", 8, ALGO_ERSPAN_COPY_OF_COPY},
	    {47, 0, "1000 22eb 00000000", 8, ALGO_ERSPAN_COPY_OF_COPY},
	    {47, 0, "0000 8949", 8, ALGO_ERSPAN_COPY_OF_COPY},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(inners) / sizeof(inners[0]); i++) {
		struct bytes x;
		struct algo_erspan_copy c;
		put_carrier(&x, "1000 88be 00000001 1000 0001 00000000");
		put_hex(&x, ethernet);
		uint8_t *ip = x.b + x.n;
		put_ip(&x, inners[i].proto, inners[i].claims, "");
		sim_inet_put16(ip + 6, inners[i].fragment);
		sim_inet_put16(ip + 10, 0);
		sim_inet_put16(ip + 10, ~sim_inet_sum(0, ip, 20));
		put_hex(&x, inners[i].hex);
		const enum algo_erspan_end end = read_bytes(&x, &c);
		if (end != inners[i].want)
			fail_msg("case %zu: %s, not %s", i,
			    algo_erspan_texts[end],
			    algo_erspan_texts[inners[i].want]);
	}
}

static void damaged_frames_and_other_carriers_are_refused(void **state)
{
	struct bytes x;
	struct algo_erspan_copy c;
	(void)state;
	/* Short and with a wrong checksum; too long is no harm. */
	for (unsigned damage = 0; damage < 4; damage++) {
		put_carrier(&x, "1000 22eb 00000001 2000 0007 0000000a 0000");
		put_hex(&x, "0000");
		put_syn(&x);
		x.b[20 + 8 + 2] = (uint8_t)(damage << 3);
		assert_int_equal(read_bytes(&x, &c),
		    damage % 2 ? ALGO_ERSPAN_FRAME_DAMAGED : ALGO_ERSPAN_FINE);
	}
	x.b[20 + 8 + 2] = 0;
	x.b[20 + 8 + 10] = 1 << 2;
	assert_int_equal(read_bytes(&x, &c), ALGO_ERSPAN_FRAME_OTHER);
	assert_int_equal(algo_erspan_read(0x86dd, x.b, x.n, 0, &c),
	    ALGO_ERSPAN_CARRIER_IPV6);
	assert_int_equal(algo_erspan_read(0x0806, x.b, x.n, 0, &c),
	    ALGO_ERSPAN_CARRIER_OTHER);
	/* A vendor's protocol is one only if it is said to be. */
	put_carrier(&x, "0000 8949");
	put_syn(&x);
	sim_inet_put16(x.b + 2, (uint32_t)x.n);
	assert_int_equal(algo_erspan_read(ETH_IP, x.b, x.n, 0, &c),
	    ALGO_ERSPAN_GRE_PROTOCOL);
}

static void more_headers_than_are_kept_are_refused(void **state)
{
	(void)state;
	for (size_t n = 1; n <= OBS_MAX_OUTER + 2; n++) {
		struct bytes x;
		struct algo_erspan_copy c;
		put_carrier(&x, "0000 88be");
		put_hex(&x, ethernet);
		for (size_t i = n; i-- > 1;)
			put_ip(&x, 4, 20 * i + TCP, "");
		put_ip(&x, 6, TCP, "");
		put_hex(&x, tcp);
		const enum algo_erspan_end end = read_bytes(&x, &c);
		assert_int_equal(end,
		    n <= OBS_MAX_OUTER + 1 ? ALGO_ERSPAN_FINE
					   : ALGO_ERSPAN_TOO_DEEP);
		assert_true(
		    end != ALGO_ERSPAN_FINE || c.packet.n_outer == n - 1);
	}
}

/* Padding behind a packet is not read as a part of it: UDP without payload, in
 * a frame of 60 bytes. */
static void padding_is_not_read(void **state)
{
	struct bytes x;
	struct algo_erspan_copy c;
	(void)state;
	put_carrier(&x, "0000 88be");
	put_hex(&x, ethernet);
	put_ip(&x, 17, 8, "");
	put_hex(&x, "1234 0050 0008 abcd eeeeeeee eeeeeeee eeee");
	assert_int_equal(read_bytes(&x, &c), ALGO_ERSPAN_FINE);
	assert_true(c.packet.digest == UINT64_C(0x0008abcd00000000));
	assert_int_equal(c.packet.n_bytes, 42);
}

/* An inner packet that is larger than the one around it. */
static void a_packet_fits_in_the_one_around_it(void **state)
{
	struct bytes x;
	struct algo_erspan_copy c;
	(void)state;
	for (uint32_t more = 0; more < 2; more++) {
		put_carrier(&x, "0000 88be");
		put_hex(&x, ethernet);
		uint8_t *ip = x.b + x.n;
		put_ip(&x, 4, 20 + TCP - 1, "");
		sim_inet_put16(ip + 6, more << 13);
		sim_inet_put16(ip + 10, 0);
		sim_inet_put16(ip + 10, ~sim_inet_sum(0, ip, 20));
		put_ip(&x, 6, TCP, "");
		put_hex(&x, tcp);
		/* But the first of some fragments may hold less. */
		assert_int_equal(read_bytes(&x, &c),
		    more ? ALGO_ERSPAN_FINE : ALGO_ERSPAN_BAD_IP);
	}
}

/* --- round ---------------------------------------------------------------- */

static void any_copy(struct algo_erspan_copy *c, struct sim_rng *r)
{
	*c = (struct algo_erspan_copy){
	    .src_mac = (uint64_t)sim_rng_u32(r) << 16 | 0xabc,
	    .switch_ip = sim_rng_u32(r),
	    .collector_ip = sim_rng_u32(r),
	    .sequence = sim_rng_u32(r),
	    .index = sim_rng_u32(r) & 0xfffff,
	    .session = sim_rng_u32(r) & 0x3ff,
	    .has_sequence = 1,
	    .kind = ALGO_ERSPAN_II,
	};
	packets_any(&c->packet, r);
}

static int is_short(enum algo_erspan_end end)
{
	return end >= ALGO_ERSPAN_SHORT_ETHERNET &&
	    end <= ALGO_ERSPAN_SHORT_CONTROL;
}

/* What the model of a mirror takes for enough is what the reader needs. */
static void what_was_written_is_read_if_enough_of_it_is_there(void **state)
{
	enum { N = 20000 };
	uint32_t n_short = 0;
	uint8_t *out = malloc(ALGO_ERSPAN_MAX);
	assert_non_null(out);
	(void)state;
	for (uint32_t run = 0; run < N; run++) {
		struct sim_rng r;
		struct algo_erspan_copy c, got;
		test_rng(&r, run);
		any_copy(&c, &r);
		const uint32_t truncate = 64 + sim_rng_below(&r, 128);
		c.is_cut = c.packet.n_bytes > truncate;
		const size_t n = algo_erspan_write(&c, truncate, out);
		const enum algo_erspan_end end =
		    algo_erspan_read(ETH_IP, out, n, 0, &got);
		const int enough = mirror_needs(&c.packet) <= truncate;
		if (enough ? end != ALGO_ERSPAN_FINE : !is_short(end))
			fail_msg("seed %llu run %u: %s with %u of %u bytes",
			    (unsigned long long)test_seed(), run,
			    algo_erspan_texts[end], truncate,
			    mirror_needs(&c.packet));
		n_short += !enough;
		if (enough)
			assert_memory_equal(&got, &c, sizeof(c));
	}
	assert_true(n_short > N / 100 && n_short < N / 2);
	free(out);
}

/* Each beginning of a copy is either that copy, or told to be short. */
static void a_cut_copy_is_never_read_as_another(void **state)
{
	uint8_t *out = malloc(ALGO_ERSPAN_MAX);
	assert_non_null(out);
	(void)state;
	for (uint32_t run = 0; run < 400; run++) {
		struct sim_rng r;
		struct algo_erspan_copy c;
		int was_fine = 0;
		test_rng(&r, run);
		any_copy(&c, &r);
		const size_t n = algo_erspan_write(&c, 128, out);
		for (size_t k = 0; k <= n; k++) {
			struct algo_erspan_copy got;
			uint8_t *exact = malloc(k + !k);
			assert_non_null(exact);
			memcpy(exact, out, k);
			const enum algo_erspan_end end =
			    algo_erspan_read(ETH_IP, exact, k, 0, &got);
			free(exact);
			if (end == ALGO_ERSPAN_FINE)
				assert_memory_equal(&got.packet, &c.packet,
				    sizeof(c.packet));
			else
				assert_true(!was_fine &&
				    (is_short(end) ||
					end == ALGO_ERSPAN_CARRIER_SHORT));
			was_fine |= end == ALGO_ERSPAN_FINE;
		}
		assert_true(was_fine);
	}
	free(out);
}

/* --- the short cut -------------------------------------------------------- */

/* Some bytes, mostly of headers, are others, often by a bit; half of the time
 * the innermost header's checksum is right for all that. */
static void damage(uint8_t bytes[], size_t n, struct sim_rng *r)
{
	const uint32_t head = ALGO_ERSPAN_OVERHEAD + 14, end = head + 40;
	for (uint32_t k = sim_rng_below(r, 4); k > 0; k--) {
		const size_t at = sim_rng_below(r, end < n ? end : (uint32_t)n);
		const uint32_t bit = 1u << sim_rng_below(r, 8);
		bytes[at] = (uint8_t)(sim_rng_below(r, 2) ? bytes[at] ^ bit
							  : sim_rng_u32(r));
	}
	if (n < head + 20 || sim_rng_below(r, 2))
		return;
	sim_inet_put16(bytes + head + 10, 0);
	sim_inet_put16(bytes + head + 10, ~sim_inet_sum(0, bytes + head, 20));
}

static uint8_t *copy_of_bytes(const uint8_t bytes[], size_t n)
{
	uint8_t *p = malloc(n + !n);
	assert_non_null(p);
	return memcpy(p, bytes, n);
}

/* TCP in one IP header, mostly: copies of the kind that is read in one go. */
static size_t any_damaged(uint8_t out[], struct sim_rng *r)
{
	struct algo_erspan_copy c;
	do
		any_copy(&c, r);
	while (sim_rng_below(r, 8) > 0 &&
	    (c.packet.n_outer > 0 || c.packet.ip.proto != TOPO_PROTO_TCP));
	const size_t n = algo_erspan_write(&c, 128, out);
	const size_t cut = sim_rng_below(r, 4) ? n : sim_rng_below(r, n + 1);
	damage(out, cut, r);
	return cut;
}

static void what_is_read_in_one_go_is_read_alike(void **state)
{
	enum { N = 200000 };
	uint32_t n_fine = 0;
	uint8_t *out = malloc(ALGO_ERSPAN_MAX);
	assert_non_null(out);
	(void)state;
	for (uint32_t run = 0; run < N; run++) {
		struct sim_rng r;
		struct algo_erspan_copy a, b;
		test_rng(&r, run);
		const size_t n = any_damaged(out, &r);
		uint8_t *exact = copy_of_bytes(out, n);
		const enum algo_erspan_end end =
		    algo_erspan_read(ETH_IP, exact, n, VENDOR, &a);
		const enum algo_erspan_end want =
		    algo_erspan_read_any(ETH_IP, exact, n, VENDOR, &b);
		free(exact);
		if (end != want ||
		    (end == ALGO_ERSPAN_FINE && memcmp(&a, &b, sizeof(a)) != 0))
			fail_msg("seed %llu run %u: \"%s\", not \"%s\"",
			    (unsigned long long)test_seed(), run,
			    algo_erspan_texts[end], algo_erspan_texts[want]);
		n_fine += end == ALGO_ERSPAN_FINE;
	}
	assert_true(n_fine > N / 4 && n_fine < N - N / 4);
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_kind_of_carrier_is_read),
	    cmocka_unit_test(stamps_are_read_in_their_units),
	    cmocka_unit_test(version_3_tells_what_was_cut),
	    cmocka_unit_test(a_stamp_of_0_is_not_taken_for_none),
	    cmocka_unit_test(tags_and_options_are_stepped_over),
	    cmocka_unit_test(headers_within_headers_are_kept),
	    cmocka_unit_test(pauses_are_read),
	    cmocka_unit_test(each_refusal_has_its_name),
	    cmocka_unit_test(each_cut_has_its_name),
	    cmocka_unit_test(what_ip_carries_may_be_refused),
	    cmocka_unit_test(damaged_frames_and_other_carriers_are_refused),
	    cmocka_unit_test(more_headers_than_are_kept_are_refused),
	    cmocka_unit_test(padding_is_not_read),
	    cmocka_unit_test(a_packet_fits_in_the_one_around_it),
	    cmocka_unit_test(what_was_written_is_read_if_enough_of_it_is_there),
	    cmocka_unit_test(a_cut_copy_is_never_read_as_another),
	    cmocka_unit_test(what_is_read_in_one_go_is_read_alike),
	};
	return cmocka_run_group_tests_name("algos/everflow/erspan", tests, NULL,
	    NULL);
}
