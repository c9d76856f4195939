/* tests/models/tun/wire_test.c -- packets read, aged and answered.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>

#include "models/tun/wire.h"
#include "tests/test.h"

enum { MOST = 1500 };

static unsigned sum_of(const uint8_t bytes[], size_t n)
{
	unsigned long sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (unsigned long)bytes[i] << (i % 2 ? 0 : 8);
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (unsigned)sum;
}

static void seal(uint8_t bytes[])
{
	const size_t header = (size_t)(bytes[0] & 15) * 4;
	bytes[10] = bytes[11] = 0;
	const unsigned sum = sum_of(bytes, header) ^ 0xffff;
	bytes[10] = (uint8_t)(sum >> 8);
	bytes[11] = (uint8_t)sum;
}

/* A TCP packet from 10.0.0.1:1000 to 10.0.0.2:80 with OPTIONS bytes of IP
 * options, by the system's own structs. */
static size_t tcp_packet(uint8_t bytes[], size_t options, size_t payload,
    uint8_t ttl)
{
	const size_t header = sizeof(struct iphdr) + options;
	const size_t n = header + sizeof(struct tcphdr) + payload;
	const struct iphdr ip = {.version = 4,
	    .ihl = (unsigned)(header / 4) & 15,
	    .tot_len = htons((uint16_t)n),
	    .frag_off = htons(IP_DF),
	    .ttl = ttl,
	    .protocol = IPPROTO_TCP,
	    .saddr = htonl(0x0a000001),
	    .daddr = htonl(0x0a000002)};
	const struct tcphdr tcp = {.source = htons(1000),
	    .dest = htons(80),
	    .doff = 5};
	for (size_t i = 0; i < n; i++)
		bytes[i] = 1; /* an option that does nothing */
	memcpy(bytes, &ip, sizeof(ip));
	memcpy(bytes + header, &tcp, sizeof(tcp));
	seal(bytes);
	return n;
}

static void a_packet_is_read_with_any_options(void **state)
{
	uint8_t bytes[MOST];
	struct tun_packet p;
	(void)state;
	for (size_t options = 0; options <= 40; options += 4) {
		const size_t n = tcp_packet(bytes, options, options, 9);
		assert_int_equal(tun_wire_parse(bytes, n, &p), TUN_FINE);
		assert_int_equal(p.tuple.src_ip, 0x0a000001);
		assert_int_equal(p.tuple.dst_ip, 0x0a000002);
		assert_int_equal(p.tuple.src_port, 1000);
		assert_int_equal(p.tuple.dst_port, 80);
		assert_int_equal(p.tuple.proto, TOPO_PROTO_TCP);
		assert_int_equal(p.bytes, n);
		assert_int_equal(p.ttl, 9);
		assert_false(p.is_error);
	}
}

static void a_packet_cut_anywhere_is_refused(void **state)
{
	uint8_t bytes[MOST];
	struct tun_packet p;
	(void)state;
	for (size_t options = 0; options <= 40; options += 20) {
		const size_t n = tcp_packet(bytes, options, 30, 9);
		for (size_t i = 0; i < n; i++) {
			/* A block of just this size: ASan sees a read past. */
			uint8_t *cut = malloc(i ? i : 1);
			assert_non_null(cut);
			memcpy(cut, bytes, i);
			assert_int_not_equal(tun_wire_parse(cut, i, &p),
			    TUN_FINE);
			free(cut);
		}
	}
}

/* One mistake each in a packet without options, and what is said of it. */
static void each_mistake_has_its_name(void **state)
{
	static const struct {
		size_t at, n;
		uint8_t value;
		enum tun_refusal why;
	} cases[] = {
	    {0, 19, 0x45, TUN_SHORT},
	    {0, 40, 0x65, TUN_VERSION},
	    {0, 40, 0x44, TUN_HEADER},
	    {0, 40, 0x4f, TUN_HEADER},
	    {0, 39, 0x45, TUN_LENGTH},
	    {3, 40, 41, TUN_LENGTH},
	    {6, 40, 0x20, TUN_FRAGMENT},
	    {7, 40, 1, TUN_FRAGMENT},
	    {9, 40, 2, TUN_PROTOCOL},
	    {32, 40, 0x40, TUN_TRANSPORT},
	    {32, 40, 0x60, TUN_TRANSPORT},
	    {9, 40, 17, TUN_TRANSPORT},
	    {12, 40, 0xff, TUN_FINE},
	    {6, 40, 0x40, TUN_FINE},
	};
	uint8_t bytes[MOST];
	struct tun_packet p;
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tcp_packet(bytes, 0, 0, 9);
		bytes[cases[i].at] = cases[i].value;
		/* An IHL of 15 would seal bytes beyond the packet, too. */
		if (bytes[0] == 0x45)
			seal(bytes);
		const enum tun_refusal why =
		    tun_wire_parse(bytes, cases[i].n, &p);
		if (why != cases[i].why)
			fail_msg("case %zu: %d, wanted %d", i, why,
			    cases[i].why);
	}
}

static void each_bit_of_a_header_is_under_its_checksum(void **state)
{
	uint8_t bytes[MOST];
	struct tun_packet p;
	(void)state;
	const size_t n = tcp_packet(bytes, 8, 0, 9);
	for (size_t bit = 0; bit < 28 * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_not_equal(tun_wire_parse(bytes, n, &p), TUN_FINE);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	bytes[28] ^= 1; /* no checksum is read of TCP: any port is fine */
	assert_int_equal(tun_wire_parse(bytes, n, &p), TUN_FINE);
	assert_int_equal(p.tuple.src_port, 1000 ^ 256);
}

/* Against the checksum of the aged header computed anew, over many headers, so
 * that carries and both zeros come. */
static void ageing_is_a_checksum_anew(void **state)
{
	uint8_t bytes[MOST], want[MOST];
	struct sim_rng r;
	(void)state;
	test_rng(&r, 0);
	for (unsigned i = 0; i < 200000; i++) {
		const uint8_t ttl = (uint8_t)sim_rng_below(&r, 256);
		const unsigned hops = sim_rng_below(&r, ttl + 1u);
		const uint32_t id = sim_rng_u32(&r);
		const size_t n = tcp_packet(bytes, 0, 0, ttl);
		memcpy(bytes + 4, &id, 2);
		memcpy(bytes + 18, (const uint8_t *)&id + 2, 2);
		seal(bytes);
		memcpy(want, bytes, n);
		want[8] = (uint8_t)(ttl - hops);
		seal(want);
		tun_wire_age(bytes, hops);
		assert_memory_equal(bytes, want, n);
	}
}

static void an_answer_quotes_what_died(void **state)
{
	uint8_t bytes[MOST], out[TUN_ANSWER_BYTES];
	struct tun_packet p;
	(void)state;
	for (size_t payload = 0; payload <= 1400; payload += 100) {
		const size_t n = tcp_packet(bytes, 40, payload, 1);
		const size_t size =
		    tun_wire_exceeded(bytes, n, 0x64400007, out);
		struct iphdr ip;
		struct icmphdr icmp;
		memcpy(&ip, out, sizeof(ip));
		memcpy(&icmp, out + sizeof(ip), sizeof(icmp));
		assert_int_equal(size,
		    n + 28 < TUN_ANSWER_BYTES ? n + 28 : TUN_ANSWER_BYTES);
		assert_int_equal(ntohs(ip.tot_len), size);
		assert_int_equal(ntohl(ip.saddr), 0x64400007);
		assert_int_equal(ntohl(ip.daddr), 0x0a000001);
		assert_int_equal(icmp.type, ICMP_TIME_EXCEEDED);
		assert_int_equal(icmp.code, ICMP_EXC_TTL);
		assert_int_equal(sum_of(out, 20), 0xffff);
		assert_int_equal(sum_of(out + 20, size - 20), 0xffff);
		assert_memory_equal(out + 28, bytes, size - 28);
		assert_int_equal(tun_wire_parse(out, size, &p), TUN_FINE);
		assert_true(p.is_error);
	}
}

static void an_echo_is_no_error_message(void **state)
{
	uint8_t bytes[MOST];
	struct tun_packet p;
	(void)state;
	const size_t n = tcp_packet(bytes, 0, 0, 1);
	for (unsigned type = 0; type < 256; type++) {
		bytes[9] = TUN_PROTO_ICMP;
		bytes[20] = (uint8_t)type;
		seal(bytes);
		assert_int_equal(tun_wire_parse(bytes, n, &p), TUN_FINE);
		assert_int_equal(p.tuple.src_port, 0);
		assert_int_equal(p.is_error,
		    type != ICMP_ECHO && type != ICMP_ECHOREPLY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_packet_is_read_with_any_options),
	    cmocka_unit_test(a_packet_cut_anywhere_is_refused),
	    cmocka_unit_test(each_mistake_has_its_name),
	    cmocka_unit_test(each_bit_of_a_header_is_under_its_checksum),
	    cmocka_unit_test(ageing_is_a_checksum_anew),
	    cmocka_unit_test(an_answer_quotes_what_died),
	    cmocka_unit_test(an_echo_is_no_error_message),
	};
	return cmocka_run_group_tests_name("models/tun/wire", tests, NULL,
	    NULL);
}
