/* tests/algos/everflow/erspan_write_test.c -- mirrored packets, byte by byte.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is written stands in the standards: IPv4 (RFC 791), GRE with a sequence
 * number (RFC 2784, 2890), ERSPAN II, Ethernet, TCP, IEEE 802.1Qbb. Checksums
 * are summed up here anew: 16 bits at a time, in ones' complement.
 */
#include "algos/everflow/erspan.h"
#include "tests/test.h"

static const struct algo_erspan_copy any = {.src_mac = 0x0200000000bb,
    .switch_ip = 0x0a0000fe,
    .collector_ip = 0x0a0000ff,
    .sequence = 0x01020304,
    .index = 0xabcdef, /* of which 20 bits are written */
    .session = 0xfc05, /* and of this 10 */
    .kind = ALGO_ERSPAN_II};

/* HEX as bytes; "CCCC" is the checksum of the IP header around it. */
static size_t bytes_of(const char *hex, uint8_t out[])
{
	size_t n = 0, sums[4], n_sums = 0;
	for (; *hex; hex += 2) {
		unsigned value = 0;
		while (*hex == ' ')
			hex++;
		if (strncmp(hex, "CC", 2) == 0 && hex[-1] == ' ')
			sums[n_sums++] = n;
		else if (strncmp(hex, "CC", 2) != 0)
			assert_int_equal(sscanf(hex, "%2x", &value), 1);
		out[n++] = (uint8_t)value;
	}
	for (size_t i = 0; i < n_sums; i++) {
		uint32_t sum = 0;
		for (size_t k = 0; k < 20; k += 2)
			sum += (uint32_t)out[sums[i] - 10 + k] << 8 |
			    out[sums[i] - 9 + k];
		sum = (sum & 0xffff) + (sum >> 16);
		sum = ~((sum & 0xffff) + (sum >> 16));
		out[sums[i]] = (uint8_t)(sum >> 8);
		out[sums[i] + 1] = (uint8_t)sum;
	}
	return n;
}

/* C, of which at most TRUNCATE bytes are kept, is these headers, and zeros up
 * to N bytes in all. */
static void assert_bytes(const struct algo_erspan_copy *c, uint32_t truncate,
    const char *hex, size_t n)
{
	uint8_t got[ALGO_ERSPAN_MAX], want[ALGO_ERSPAN_MAX] = {0};
	memset(got, 0xee, sizeof(got));
	assert_true(bytes_of(hex, want) <= n);
	assert_int_equal(algo_erspan_write(c, truncate, got), n);
	for (size_t i = 0; i < n; i++)
		if (got[i] != want[i])
			fail_msg("byte %zu is %02x, wanted %02x", i, got[i],
			    want[i]);
}

static void a_pause_is_written_to_the_address_of_pauses(void **state)
{
	struct algo_erspan_copy c = any;
	(void)state;
	c.packet = (struct obs_packet){.ethertype = OBS_ETH_CONTROL,
	    .pfc_classes = 0x81,
	    .pfc_quanta = 0x1234,
	    .n_bytes = 60};
	assert_bytes(&c, 128,
	    "45 00 0060 0000 0000 40 2f CCCC 0a0000fe 0a0000ff "
	    "1000 88be 01020304 1000 1805 000bcdef "
	    "0180c2000001 0200000000bb 8808 0101 0081 "
	    "1234 0000 0000 0000 0000 0000 0000 1234",
	    36 + 60);
}

static void tcp_in_another_header_is_written_and_cut(void **state)
{
	static const char whole[] =
	    "45 00 0096 0000 0000 40 2f CCCC 0a0000fe 0a0000ff "
	    "1000 88be 01020304 1000 1805 000bcdef "
	    "000000000000 0200000000bb 0800 "
	    "45 00 0064 0011 0000 3f 04 CCCC 0a000001 0a000002 "
	    "45 b8 0050 2233 0000 3e 06 CCCC 0a000003 0a000004 "
	    "1234 0050 11223344 55667788 50 12 0000 0000 0000";
	static const char cut[] =
	    "45 00 006e 0000 0000 40 2f CCCC 0a0000fe 0a0000ff "
	    "1000 88be 01020304 1000 1c05 000bcdef "
	    "000000000000 0200000000bb 0800 "
	    "45 00 0064 0011 0000 3f 04 CCCC 0a000001 0a000002 "
	    "45 b8 0050 2233 0000 3e 06 CCCC 0a000003 0a000004 "
	    "1234 0050 11223344 55667788 50 12 0000";
	struct algo_erspan_copy c = any;
	(void)state;
	c.packet = (struct obs_packet){.ethertype = 0x0800,
	    .n_outer = 1,
	    .outer = {{.src_ip = 0x0a000001,
		.dst_ip = 0x0a000002,
		.id = 0x11,
		.ttl = 63,
		.proto = 4}},
	    .ip = {.src_ip = 0x0a000003,
		.dst_ip = 0x0a000004,
		.id = 0x2233,
		.ttl = 62,
		.tos = 0xb8,
		.proto = TOPO_PROTO_TCP},
	    .src_port = 0x1234,
	    .dst_port = 80,
	    .tcp_flags = 0x12,
	    .seq = 0x11223344,
	    .ack = 0x55667788,
	    .n_bytes = 114};
	assert_bytes(&c, 128, whole, 36 + 114);
	/* A frame that just fits is not cut. */
	assert_bytes(&c, 114, whole, 36 + 114);
	assert_bytes(&c, 74, cut, 36 + 74);
}

static void udp_and_roce_are_written_by_their_digest(void **state)
{
	struct algo_erspan_copy c = any;
	(void)state;
	c.packet = (struct obs_packet){.ethertype = 0x0800,
	    .ip = {.src_ip = 0x0a000003,
		.dst_ip = 0x0a000004,
		.ttl = 64,
		.proto = OBS_PROTO_UDP},
	    .src_port = 0x1234,
	    .dst_port = 53,
	    .digest = 0x0018abcd01020304,
	    .n_bytes = 60};
	assert_bytes(&c, 128,
	    "45 00 0060 0000 0000 40 2f CCCC 0a0000fe 0a0000ff "
	    "1000 88be 01020304 1000 1805 000bcdef "
	    "000000000000 0200000000bb 0800 "
	    "45 00 002e 0000 0000 40 11 CCCC 0a000003 0a000004 "
	    "1234 0035 0018 abcd 01020304",
	    36 + 60);
	c.packet.dst_port = OBS_PORT_ROCE;
	c.packet.digest = obs_roce_digest(0x18, OBS_BTH_ACK, 0x123456);
	c.packet.bth_opcode = OBS_BTH_ACK;
	c.packet.seq = 0x123456;
	c.packet.aeth = 0x61;
	assert_bytes(&c, 128,
	    "45 00 0060 0000 0000 40 2f CCCC 0a0000fe 0a0000ff "
	    "1000 88be 01020304 1000 1805 000bcdef "
	    "000000000000 0200000000bb 0800 "
	    "45 00 002e 0000 0000 40 11 CCCC 0a000003 0a000004 "
	    "1234 12b7 0018 0000 11000000 00000000 00123456 61000000",
	    36 + 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_pause_is_written_to_the_address_of_pauses),
	    cmocka_unit_test(tcp_in_another_header_is_written_and_cut),
	    cmocka_unit_test(udp_and_roce_are_written_by_their_digest),
	};
	return cmocka_run_group_tests_name("algos/everflow/erspan_write", tests,
	    NULL, NULL);
}
