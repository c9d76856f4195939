/* tests/experiments/millisampler/frame_test.c -- what is read of packets made by hand.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/frame.h"

#include <string.h>

#include "models/obs_buckets.h"
#include "models/obs_packet.h"
#include "sim/inet.h"
#include "tests/test.h"

enum { IPV6 = 0x86dd, ROOM = 512, SEGMENT = 20 + 7 };

/* A packet, as much of it as is captured, and as much of it as there was. */
struct packet {
	uint8_t bytes[ROOM];
	size_t n;
};

static void add(struct packet *p, const void *bytes, size_t n)
{
	assert_true(p->n + n <= ROOM);
	memcpy(p->bytes + p->n, bytes, n);
	p->n += n;
}

static void add_tcp(struct packet *p)
{
	static const uint8_t tcp[SEGMENT] = {0x12, 0x34, 0x00, 0x50, 1, 2, 3, 4,
	    5, 6, 7, 8, 5 << 4, 0x18};
	add(p, tcp, sizeof(tcp));
}

/* From 10.1.2.3 to 10.4.5.6, of as many words of header. */
static void add_ip4(struct packet *p, uint8_t words, uint8_t proto,
    uint16_t offset, size_t payload)
{
	uint8_t ip[60] = {0x40 | words, 0x03, 0, 0, 0, 0, 0, 0, 61, proto, 0, 0,
	    10, 1, 2, 3, 10, 4, 5, 6};
	sim_inet_put16(ip + 2, (uint32_t)(words * 4u + payload));
	sim_inet_put16(ip + 6, offset);
	add(p, ip, words * 4u);
}

static void add_ip6(struct packet *p, uint8_t next, size_t payload)
{
	uint8_t ip[40] = {0x6a, 0x50, 0, 0, 0, 0, next, 61,
	    0xfd, [23] = 1, [24] = 0xfd, [39] = 2};
	sim_inet_put16(ip + 4, (uint32_t)payload);
	add(p, ip, sizeof(ip));
}

static struct xp_frame read_cut(const struct packet *p, uint16_t type,
    size_t captured)
{
	const struct xp_captured x = {.bytes = p->bytes,
	    .n = captured,
	    .n_behind = p->n,
	    .n_frame = (uint32_t)p->n + 14,
	    .ethertype = type,
	    .unix_ns = 5};
	return xp_frame_read(&x);
}

static struct xp_frame read_all(const struct packet *p, uint16_t type)
{
	return read_cut(p, type, p->n);
}

static void assert_tcp(const struct xp_frame *f)
{
	assert_false(f->is_cut);
	assert_int_equal(f->proto, 6);
	assert_true(f->has_ports && f->has_tcp);
	assert_int_equal(f->key.ports, 0x12340050);
	assert_int_equal(f->seq, 0x01020304);
	assert_int_equal(f->tcp_flags, 0x18);
	assert_int_equal(f->n_payload, 7);
	assert_int_equal(f->ttl, 61);
}

static void headers_of_ipv4_may_have_options_and_tags(void **state)
{
	(void)state;
	for (uint8_t words = 5; words <= 15; words++)
		for (unsigned tags = 0; tags < 3; tags++) {
			static const uint8_t tag[2][4] = {{0, 1, 8, 0},
			    {0, 2, 0x81, 0}};
			struct packet p = {.n = 0};
			for (unsigned i = tags; i-- > 0;)
				add(&p, tag[i], 4);
			add_ip4(&p, words, 6, 0x4000, SEGMENT);
			add_tcp(&p);
			/* Padding is no payload. */
			add(&p, "\0\0\0\0\0\0", 6);
			const struct xp_frame f = read_all(&p,
			    tags == 0       ? OBS_ETH_IPV4
				: tags == 1 ? 0x8100
					    : 0x88a8);
			assert_tcp(&f);
			assert_int_equal(f.key.version, 4);
			assert_int_equal(f.key.src[1], 0x0a010203);
			assert_int_equal(f.key.dst[1], 0x0a040506);
			assert_int_equal(f.tos, 3);
			assert_int_equal(f.bytes, p.n + 14);
			assert_int_equal(f.t, 5);
		}
}

static void only_a_first_fragment_has_ports(void **state)
{
	static const struct {
		uint16_t offset;
		int has;
	} ip4[] = {{0, 1}, {0x4000, 1}, {0x2000, 1}, {1, 0}, {0x1000, 0},
	    {0x3fff, 0}};
	static const struct {
		uint16_t offset;
		int has;
	} ip6[] = {{0, 1}, {1, 1}, {6, 1}, {8, 0}, {9, 0}, {0x8000, 0},
	    {0xfff8, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof(ip4) / sizeof(*ip4); i++) {
		struct packet p = {.n = 0};
		add_ip4(&p, 5, 6, ip4[i].offset, SEGMENT);
		add_tcp(&p);
		const struct xp_frame f = read_all(&p, OBS_ETH_IPV4);
		assert_int_equal(f.has_ports, ip4[i].has);
		assert_int_equal(f.has_tcp, ip4[i].has);
		assert_false(f.is_cut);
	}
	for (size_t i = 0; i < sizeof(ip6) / sizeof(*ip6); i++) {
		struct packet p = {.n = 0};
		uint8_t fragment[8] = {6};
		sim_inet_put16(fragment + 2, ip6[i].offset);
		add_ip6(&p, 44, sizeof(fragment) + SEGMENT);
		add(&p, fragment, sizeof(fragment));
		add_tcp(&p);
		const struct xp_frame f = read_all(&p, IPV6);
		assert_int_equal(f.has_ports, ip6[i].has);
		assert_int_equal(f.proto, 6);
		assert_false(f.is_cut);
	}
}

/* Hop-by-hop options of 8 bytes or more, and then TCP. */
static void extension_headers_are_stepped_over(void **state)
{
	(void)state;
	for (uint8_t n = 0; n <= 2; n++) {
		struct packet p = {.n = 0};
		uint8_t options[24] = {n < 2 ? 60 : 6, n}, last[8] = {6};
		const size_t bytes = 8u * (n + 1u);
		add_ip6(&p, 0, bytes + (n < 2 ? 8 : 0) + SEGMENT);
		add(&p, options, bytes);
		if (n < 2)
			add(&p, last, 8);
		add_tcp(&p);
		const struct xp_frame f = read_all(&p, IPV6);
		assert_tcp(&f);
		assert_int_equal(f.key.version, 6);
		assert_true(f.key.src[0] == UINT64_C(0xfd) << 56);
		assert_true(f.key.src[1] == 1 && f.key.dst[1] == 2);
		assert_int_equal(f.tos, 0xa5);
	}
}

/* No more than the program in the kernel does. */
static void so_many_extension_headers_are_followed_and_no_more(void **state)
{
	(void)state;
	for (unsigned k = 1; k <= 8; k++) {
		struct packet p = {.n = 0};
		add_ip6(&p, OBS_IP6_DESTINATION, k * 8 + SEGMENT);
		for (unsigned i = 0; i < k; i++) {
			const uint8_t one[8] = {
			    i + 1 < k ? OBS_IP6_DESTINATION : 6};
			add(&p, one, sizeof(one));
		}
		add_tcp(&p);
		const struct xp_frame f = read_all(&p, IPV6);
		assert_int_equal(f.has_tcp, k <= OBS_IP6_MAX_EXTENSIONS);
	}
	for (uint8_t n = 15; n < 24; n++) {
		struct packet p = {.n = 0};
		const uint8_t long_one[200] = {6, n};
		const size_t bytes = 8u * (n + 1u);
		add_ip6(&p, OBS_IP6_HOP, bytes + SEGMENT);
		add(&p, long_one, bytes);
		add_tcp(&p);
		const struct xp_frame f = read_all(&p, IPV6);
		assert_int_equal(f.has_tcp,
		    bytes <= OBS_IP6_MAX_EXTENSION_BYTES);
	}
}

/* Cut anywhere, it says no more than it knows, and that it does not know. */
static void what_is_cut_is_told(void **state)
{
	struct packet four = {.n = 0}, six = {.n = 0};
	(void)state;
	add_ip4(&four, 6, 6, 0, SEGMENT);
	add_tcp(&four);
	add_ip6(&six, 0, 8 + SEGMENT);
	add(&six, "\6\0\0\0\0\0\0\0", 8);
	add_tcp(&six);
	for (size_t n = 0; n <= six.n; n++) {
		const struct xp_frame f = read_cut(&six, IPV6, n);
		assert_int_equal(f.key.version, n < 40 ? 0 : 6);
		assert_int_equal(f.has_ports, n >= 48 + 4);
		assert_int_equal(f.has_tcp, n >= 48 + 14);
		assert_int_equal(f.is_cut, n < 48 + 14);
	}
	for (size_t n = 0; n <= four.n; n++) {
		const struct xp_frame f = read_cut(&four, OBS_ETH_IPV4, n);
		assert_int_equal(f.key.version, n < 20 ? 0 : 4);
		assert_int_equal(f.has_ports, n >= 24 + 4);
		assert_int_equal(f.has_tcp, n >= 24 + 14);
		assert_int_equal(f.is_cut, n < 24 + 14);
	}
	/* What never was is not missing. */
	for (size_t whole = 0; whole < 24 + 14; whole++) {
		struct packet p = four;
		p.n = whole;
		const struct xp_frame f = read_all(&p, OBS_ETH_IPV4);
		assert_int_equal(f.is_cut, whole >= 20 && whole < 24);
	}
}

static void other_protocols_have_no_segments(void **state)
{
	(void)state;
	for (unsigned proto = 0; proto < 256; proto++) {
		struct packet p = {.n = 0};
		add_ip4(&p, 5, (uint8_t)proto, 0, SEGMENT);
		add_tcp(&p);
		const struct xp_frame f = read_all(&p, OBS_ETH_IPV4);
		assert_int_equal(f.has_ports, proto == 6 || proto == 17);
		assert_int_equal(f.has_tcp, proto == 6);
		assert_int_equal(f.proto, proto);
	}
	struct packet p = {.bytes = {0, 1}, .n = 28};
	const struct xp_frame arp = read_all(&p, 0x806);
	assert_int_equal(arp.key.version, 0);
	assert_false(arp.is_cut);
}

/* Of a region of 10.4.0.0/16 and fd../8. */
static void the_other_end_is_in_the_region_or_not(void **state)
{
	const struct xp_frame_region r = {.net4 = 0x0a040000,
	    .mask4 = 0xffff0000,
	    .net6 = {UINT64_C(0xfd) << 56, 2},
	    .mask6 = {UINT64_C(0xff) << 56, UINT64_MAX}};
	static const struct xp_frame_region all;
	struct packet p = {.n = 0}, six = {.n = 0};
	(void)state;
	add_ip4(&p, 5, 6, 0, SEGMENT);
	add_tcp(&p);
	add_ip6(&six, 6, SEGMENT);
	add_tcp(&six);
	const struct xp_frame f[] = {read_all(&p, OBS_ETH_IPV4),
	    read_all(&six, IPV6)};
	for (int i = 0; i < 2; i++) {
		for (int out = 0; out < 2; out++) {
			const struct obs_seen s = xp_frame_seen(&f[i], out, &r);
			assert_int_equal(s.out, out);
			assert_int_equal(s.cross, !out);
			assert_int_equal(s.bytes, f[i].bytes);
			assert_int_equal(s.ce, i == 0);
			assert_true(s.has_bit);
			assert_false(xp_frame_seen(&f[i], out, &all).cross);
		}
	}
}

/* By its first and last address, as bits of a word each. */
static void a_region_is_read_from_text(void **state)
{
	static const struct {
		const char *text;
		struct xp_frame_region want;
	} good[] = {
	    {"10.0.0.0/8", {{0}, {0}, 0x0a000000, 0xff000000}},
	    {"10.1.2.3/31", {{0}, {0}, 0x0a010202, 0xfffffffe}},
	    {"10.1.2.3/32", {{0}, {0}, 0x0a010203, 0xffffffff}},
	    {"192.0.0.0/1", {{0}, {0}, 0x80000000, 0x80000000}},
	    {"8000::/1", {{UINT64_C(1) << 63}, {UINT64_C(1) << 63}, 0, 0}},
	    {"fd00:1::/63",
		{{UINT64_C(0xfd000001) << 32}, {UINT64_MAX - 1}, 0, 0}},
	    {"fd00:1::/64", {{UINT64_C(0xfd000001) << 32}, {UINT64_MAX}, 0, 0}},
	    {"fd00:1::8000:0:0:1/65",
		{{UINT64_C(0xfd000001) << 32, UINT64_C(1) << 63},
		    {UINT64_MAX, UINT64_C(1) << 63}, 0, 0}},
	    {"fd00:1::9/128",
		{{UINT64_C(0xfd000001) << 32, 9}, {UINT64_MAX, UINT64_MAX}, 0,
		    0}},
	};
	static const char *const bad[] = {"10.0.0.0", "10.0.0.0/33",
	    "10.0.0.0/0", "fd00::/0", "fd00::/129", "fd00::", "x/8", "", "/8",
	    "10.0.0.0/", "10.0.0.0/8/8"};
	struct sim_err e;
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct xp_frame_region r = {.net4 = 0};
		assert_ok(xp_frame_region_take(&r, good[i].text, test_err()));
		assert_memory_equal(&r, &good[i].want, sizeof(r));
	}
	/* One of each. */
	struct xp_frame_region both = {.net4 = 0};
	assert_ok(xp_frame_region_take(&both, "fd00::/16", test_err()));
	assert_ok(xp_frame_region_take(&both, "10.0.0.0/8", test_err()));
	assert_true(both.mask4 == 0xff000000 && both.mask6[0] >> 48 == 0xffff);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct xp_frame_region was = both;
		char want[128];
		assert_int_equal(xp_frame_region_take(&both, bad[i], &e),
		    SIM_EINVAL);
		snprintf(want, sizeof(want),
		    "\"%s\" is no network, as 10.0.0.0/8 is.", bad[i]);
		assert_string_equal(e.msg, want);
		assert_memory_equal(&both, &was, sizeof(was));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(headers_of_ipv4_may_have_options_and_tags),
	    cmocka_unit_test(only_a_first_fragment_has_ports),
	    cmocka_unit_test(extension_headers_are_stepped_over),
	    cmocka_unit_test(
		so_many_extension_headers_are_followed_and_no_more),
	    cmocka_unit_test(what_is_cut_is_told),
	    cmocka_unit_test(other_protocols_have_no_segments),
	    cmocka_unit_test(the_other_end_is_in_the_region_or_not),
	    cmocka_unit_test(a_region_is_read_from_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
