/* tests/experiments/millisampler/tap_test.c -- whose a packet of a capture is.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The capture is a fake, which the linker takes before the library's: a list of
 * frames as xp_frame_read() gives them.
 */
#include "experiments/millisampler/tap.h"

#include "models/obs_buckets.h"
#include "models/obs_packet.h"
#include "sim/vec.h"
#include "tests/test.h"

enum { MAX_FRAMES = 16, MAX_HEARD = 32, A = 0x0a000001, B, C };

static const uint8_t macs[][12] = {
    {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1},                   /* of 1 to 2 */
    {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 9}, /* of 9 to all */
    {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1}, /* of 1 to all */
    {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9},                   /* of 9 to 1 */
};

static struct {
	struct xp_frame frame[MAX_FRAMES];
	size_t n;
	unsigned n_opened, n_open;
	int ends; /* SIM_EPARSE: damaged at the end */
} wire;

struct xp_capture {
	size_t at;
};

int xp_capture_open(struct xp_capture **c, const char *path, struct sim_err *e)
{
	(void)path;
	int rc = SIM_ZALLOC(c, 1, e);
	wire.n_opened += rc == 0;
	wire.n_open += rc == 0;
	return rc;
}

int xp_capture_next(struct xp_capture *c, struct xp_captured *p,
    struct sim_err *e)
{
	if (c->at == wire.n)
		return wire.ends ? sim_fail(e, wire.ends, "it is damaged.") : 0;
	*p = (struct xp_captured){.n_frame = (uint32_t)c->at++};
	return 1;
}

void xp_capture_close(struct xp_capture *c)
{
	wire.n_open -= c != NULL;
	free(c);
}

struct xp_frame xp_frame_read(const struct xp_captured *x)
{
	return wire.frame[x->n_frame];
}

struct obs_seen xp_frame_seen(const struct xp_frame *f, int out,
    const struct xp_frame_region *region)
{
	assert_int_equal(region->net4, 77);
	return (struct obs_seen){.bytes = f->bytes, .out = (uint8_t)out};
}

/* --- packets by hand ------------------------------------------------------ */

static struct xp_frame *put(uint64_t t, uint32_t from, uint32_t to)
{
	assert_true(wire.n < MAX_FRAMES);
	struct xp_frame *f = &wire.frame[wire.n++];
	*f = (struct xp_frame){.t = t,
	    .bytes = (uint32_t)(100 + wire.n),
	    .key = {{0, from}, {0, to}, 80 << 16 | 81, 4},
	    .proto = TOPO_PROTO_TCP,
	    .ttl = 64,
	    .has_tcp = 1};
	return f;
}

static void of_mac(const uint8_t *mac)
{
	*put(5, 0, 0) = (struct xp_frame){.t = 5, .bytes = 60, .mac = mac};
}

struct heard {
	uint32_t host;
	uint64_t t;
	struct obs_seen seen;
};
static struct {
	struct heard packet[MAX_HEARD];
	size_t n;
	size_t fails; /* at the call of that number, from 1; 0: never */
} heard;

static int tap_hear(void *arg, uint32_t host, uint64_t t,
    const struct obs_seen *seen, struct sim_err *e)
{
	assert_ptr_equal(arg, &heard);
	assert_true(heard.n < MAX_HEARD);
	heard.packet[heard.n++] = (struct heard){host, t, *seen};
	return heard.n == heard.fails ? sim_fail(e, SIM_ELIMIT, "deaf.") : 0;
}

static struct xp_tap_params params;

static void tap_begin(const char *host, const char *other)
{
	memset(&wire, 0, sizeof(wire));
	memset(&heard, 0, sizeof(heard));
	memset(&params, 0, sizeof(params));
	params.region.net4 = 77;
	params.retx = XP_TAP_TTL;
	if (host)
		assert_ok(xp_tap_host(&params, host, test_err()));
	if (other)
		assert_ok(xp_tap_host(&params, other, test_err()));
}

static int tap_read(struct xp_tap_said *said, const char *path,
    struct sim_err *e)
{
	struct xp_tap *t = NULL;
	heard.n = 0;
	int rc = xp_tap_open(&t, path, &params, e);
	assert_int_equal(t == NULL, rc != 0);
	if (rc == 0) {
		rc = xp_tap_each(t, tap_hear, &heard, e);
		*said = *xp_tap_said(t);
	}
	xp_tap_close(t);
	assert_int_equal(wire.n_open, 0);
	return rc;
}

static struct xp_tap_said tap_all(void)
{
	struct xp_tap_said said;
	assert_ok(tap_read(&said, "x", test_err()));
	return said;
}

static void assert_heard(size_t i, uint32_t host, uint32_t bytes, int out)
{
	assert_true(i < heard.n);
	assert_int_equal(heard.packet[i].host, host);
	assert_int_equal(heard.packet[i].seen.bytes, bytes);
	assert_int_equal(heard.packet[i].seen.out, out);
}

/* --- tests ---------------------------------------------------------------- */

static void a_packet_between_two_hosts_is_both_s(void **state)
{
	struct xp_tap_said said;
	(void)state;
	tap_begin("10.0.0.1", "b=10.0.0.2,10.0.0.12");
	put(30, A, B);
	put(10, C, A);
	put(20, A, C);
	put(50, C, C + 1);
	put(45, B, 0x0a00000c);
	put(40, B, A)->is_cut = 1;
	put(42, C, C + 1)->is_cut = 1;
	said = tap_all();
	assert_int_equal(heard.n, 6);
	assert_heard(0, 1, 101, 0);
	assert_heard(1, 0, 101, 1);
	assert_heard(2, 0, 102, 0);
	assert_heard(3, 0, 103, 1);
	assert_heard(4, 0, 106, 0);
	assert_heard(5, 1, 106, 1);
	assert_int_equal(heard.packet[2].t, 10);
	assert_int_equal(said.n_packets, 7);
	assert_int_equal(said.n_of_hosts, 5);
	assert_int_equal(said.n_strange, 2);
	assert_int_equal(said.n_within, 1);
	assert_int_equal(said.n_cut, 1);
	assert_int_equal(said.n_forgotten, 0);
	assert_int_equal(said.first_ns, 10);
	assert_int_equal(said.last_ns, 50);
	assert_int_equal(said.back_ns, 20);
	assert_int_equal(said.was_cut, 0);
	assert_int_equal(said.retx, XP_TAP_TTL);
}

static void names_are_the_first_address_unless_given(void **state)
{
	static const struct {
		const char *text, *says;
		int rc;
	} bad[] = {
	    {"x=", "a host needs an address.", SIM_EINVAL},
	    {"", "a host needs an address.", SIM_EINVAL},
	    {"10.0.0.1", "10.0.0.1 is given twice.", SIM_EINVAL},
	    {"c=1.1.1.1,1.1.1.1", "1.1.1.1 is given twice.", SIM_EINVAL},
	    {"a.b",
		"\"a.b\" is no address: write 10.0.0.1, fd00::1 or "
		"02:00:00:00:00:01.",
		SIM_EINVAL},
	    {"02:00:00:00:00", "is no address", SIM_EINVAL},
	    {"02:00:00:00:00:01:", "is no address", SIM_EINVAL},
	    {"02:00:00:00:00:01x", "is no address", SIM_EINVAL},
	};
	struct sim_err e;
	(void)state;
	tap_begin("10.0.0.1", "b=fd00::1:2,02:03:04:05:06:a7");
	assert_int_equal(params.n_hosts, 2);
	assert_int_equal(params.n_addresses, 3);
	assert_string_equal(params.host[0].text, "10.0.0.1");
	assert_string_equal(params.host[1].text, "b");
	const struct xp_tap_address *a = params.address;
	assert_int_equal(a[0].version, 4);
	assert_int_equal(a[0].host, 0);
	assert_true(a[0].a[0] == 0 && a[0].a[1] == A);
	assert_int_equal(a[1].version, 6);
	assert_int_equal(a[1].host, 1);
	assert_true(a[1].a[0] == UINT64_C(0xfd00000000000000));
	assert_true(a[1].a[1] == 0x10002);
	assert_int_equal(a[2].version, 0);
	assert_int_equal(a[2].host, 1);
	assert_true(a[2].a[0] == 0 && a[2].a[1] == UINT64_C(0x0203040506a7));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(xp_tap_host(&params, bad[i].text, &e),
		    bad[i].rc);
		if (!strstr(e.msg, bad[i].says))
			fail_msg("\"%s\" is not \"%s\"", e.msg, bad[i].says);
		assert_int_equal(params.n_hosts, 2);
		assert_int_equal(params.n_addresses, 3);
	}
}

static void addresses_are_as_many_as_fit(void **state)
{
	static char text[XP_TAP_MAX_ADDRESSES * 16];
	struct sim_err e;
	size_t n = 0;
	(void)state;
	tap_begin(NULL, NULL);
	for (unsigned i = 0; i < XP_TAP_MAX_ADDRESSES; i++)
		n += (size_t)sprintf(text + n, "%s10.1.%u.%u", i ? "," : "",
		    i / 256, i % 256);
	assert_ok(xp_tap_host(&params, text, test_err()));
	assert_int_equal(params.n_addresses, XP_TAP_MAX_ADDRESSES);
	assert_int_equal(xp_tap_host(&params, "fd00::1", &e), SIM_ELIMIT);
	assert_string_equal(e.msg, "hosts have more than 512 addresses.");
	params.n_hosts = XP_TAP_MAX_HOSTS;
	assert_int_equal(xp_tap_host(&params, "fd00::1", &e), SIM_ELIMIT);
	assert_string_equal(e.msg, "there are more than 128 hosts.");
}

/* By its link a host has what is not IP, and what goes to all. */
static void a_mac_tells_what_addresses_do_not(void **state)
{
	struct xp_tap_said said;
	(void)state;
	tap_begin("02:00:00:00:00:01", "02:00:00:00:00:02");
	of_mac(macs[0]);
	of_mac(macs[1]);
	of_mac(macs[2]);
	of_mac(macs[3]);
	of_mac(NULL);
	said = tap_all();
	assert_int_equal(heard.n, 4);
	assert_heard(0, 1, 60, 0);
	assert_heard(1, 0, 60, 1);
	assert_heard(2, 0, 60, 1);
	assert_heard(3, 0, 60, 0);
	assert_int_equal(said.n_strange, 2);
	/* Of one host alone what goes to all does come in, but its own. */
	tap_begin("02:00:00:00:00:01", NULL);
	of_mac(macs[1]);
	of_mac(macs[2]);
	of_mac(macs[0]);
	said = tap_all();
	assert_int_equal(heard.n, 3);
	assert_heard(0, 0, 60, 0);
	assert_heard(1, 0, 60, 1);
	assert_heard(2, 0, 60, 1);
	assert_int_equal(said.n_strange, 0);
	/* Who has given none is not asked. */
	tap_begin("10.0.0.1", NULL);
	of_mac(macs[1]);
	put(7, C, A)->mac = macs[0];
	said = tap_all();
	assert_int_equal(said.n_strange, 1);
	assert_int_equal(heard.n, 1);
	/* The link's address counts before IP's. */
	tap_begin("10.0.0.1", "02:00:00:00:00:02");
	put(7, C, A)->mac = macs[0];
	put(8, A, C)->mac = macs[3];
	tap_all();
	assert_int_equal(heard.n, 2);
	assert_heard(0, 1, 101, 0);
	assert_heard(1, 0, 102, 1);
}

static void marks_tell_what_is_sent_again(void **state)
{
	static const struct {
		enum xp_tap_retx retx;
		uint8_t mark_tos, ttl, tos, proto, again;
	} cases[] = {
	    {XP_TAP_TTL, 0, 0x80, 0, TOPO_PROTO_TCP, 1},
	    {XP_TAP_TTL, 0, 0x7f, 0xff, TOPO_PROTO_TCP, 0},
	    {XP_TAP_TTL, 0, 0x80, 0, 17, 0},
	    {XP_TAP_DSCP, 0, 0xff, 0x80, TOPO_PROTO_TCP, 1},
	    {XP_TAP_DSCP, 0, 0xff, 0x7f, TOPO_PROTO_TCP, 0},
	    {XP_TAP_DSCP, 4, 0xff, 0x04, TOPO_PROTO_TCP, 1},
	    {XP_TAP_DSCP, 4, 0xff, 0xfb, TOPO_PROTO_TCP, 0},
	    {XP_TAP_DSCP, 4, 0xff, 0x04, 17, 0},
	};
	(void)state;
	assert_int_equal(OBS_TTL_RETX, 0x80);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tap_begin("10.0.0.1", "10.0.0.2");
		params.retx = cases[i].retx;
		params.mark_tos = cases[i].mark_tos;
		struct xp_frame *f = put(1, A, B);
		f->ttl = cases[i].ttl;
		f->tos = cases[i].tos;
		f->proto = cases[i].proto;
		f->has_tcp = 0;
		assert_int_equal(tap_all().retx, cases[i].retx);
		assert_int_equal(heard.n, 2);
		assert_int_equal(heard.packet[0].seen.retx, cases[i].again);
		assert_int_equal(heard.packet[1].seen.retx, cases[i].again);
		assert_int_equal(wire.n_opened, 1);
	}
}

static void numbers_tell_what_is_sent_again(void **state)
{
	static const uint8_t again[] = {0, 0, 1, 0, 0, 0, 1};
	(void)state;
	tap_begin("10.0.0.1", NULL);
	params.retx = XP_TAP_SEQ;
	for (size_t i = 0; i < 5; i++) {
		struct xp_frame *f = put(1, A, B);
		f->ttl = 255;
		f->n_payload = 10;
		f->seq = i == 2 ? 100 : (uint32_t)(100 + 10 * i);
		f->has_tcp = i != 4;
	}
	put(1, A, B)->seq = 200;
	wire.frame[5].tcp_flags = OBS_TCP_FIN;
	put(1, A, B)->seq = 200;
	wire.frame[6].tcp_flags = OBS_TCP_FIN;
	tap_all();
	assert_int_equal(heard.n, 7);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(heard.packet[i].seen.retx, again[i]);
	/* A SYN with another number is a new connection. */
	wire.n = 0;
	put(1, A, B)->seq = 5000;
	put(1, A, B)->seq = 1000;
	wire.frame[0].n_payload = wire.frame[1].n_payload = 10;
	wire.frame[1].tcp_flags = OBS_TCP_SYN;
	tap_all();
	assert_int_equal(heard.packet[1].seen.retx, 0);
	wire.frame[1].tcp_flags = 0;
	tap_all();
	assert_int_equal(heard.packet[1].seen.retx, 1);
}

/* Some, but less than half, of the hosts' own packets of TCP. */
static void marks_are_believed_if_few_have_them(void **state)
{
	(void)state;
	for (size_t n = 1; n <= 6; n++)
		for (size_t marked = 0; marked <= n; marked++) {
			tap_begin("10.0.0.1", NULL);
			params.retx = XP_TAP_AUTO;
			for (size_t i = 0; i < n; i++)
				(i % 2 ? put(1, A, C) : put(1, C, A))->ttl =
				    i < marked ? 0xc0 : 0x40;
			put(1, C, C + 1)->ttl = 0xff;
			put(1, A, C)->has_tcp = 0;
			wire.frame[wire.n - 1].ttl = 0xff;
			assert_int_equal(tap_all().retx,
			    marked > 0 && 2 * marked < n ? XP_TAP_TTL
							 : XP_TAP_SEQ);
			assert_int_equal(wire.n_opened, 2);
		}
	/* A pipe can be read once. */
	struct xp_tap_said said;
	wire.n_opened = 0;
	assert_ok(tap_read(&said, "-", test_err()));
	assert_int_equal(said.retx, XP_TAP_SEQ);
	assert_int_equal(wire.n_opened, 1);
}

static void errors_are_handed_on(void **state)
{
	struct xp_tap_said said;
	struct sim_err e;
	(void)state;
	tap_begin("10.0.0.1", "10.0.0.2");
	put(1, A, B);
	put(2, A, B);
	wire.ends = SIM_EPARSE;
	assert_int_equal(tap_read(&said, "x", &e), SIM_EPARSE);
	assert_int_equal(said.was_cut, 0);
	params.may_be_cut = 1;
	assert_ok(tap_read(&said, "x", test_err()));
	assert_int_equal(said.was_cut, 1);
	assert_int_equal(heard.n, 4);
	wire.ends = SIM_EIO;
	assert_int_equal(tap_read(&said, "x", &e), SIM_EIO);
	params.retx = XP_TAP_AUTO;
	assert_int_equal(tap_read(&said, "x", &e), SIM_EIO);
	assert_int_equal(heard.n, 0);
	params.retx = XP_TAP_TTL;
	wire.ends = 0;
	heard.fails = 3;
	assert_int_equal(tap_read(&said, "x", &e), SIM_ELIMIT);
	assert_int_equal(heard.n, 3);
	tap_begin(NULL, NULL);
	assert_int_equal(tap_read(&said, "x.pcap", &e), SIM_EINVAL);
	assert_string_equal(e.msg,
	    "x.pcap is a capture: --host ADDRESS says whose packets are "
	    "counted.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_packet_between_two_hosts_is_both_s),
	    cmocka_unit_test(names_are_the_first_address_unless_given),
	    cmocka_unit_test(addresses_are_as_many_as_fit),
	    cmocka_unit_test(a_mac_tells_what_addresses_do_not),
	    cmocka_unit_test(marks_tell_what_is_sent_again),
	    cmocka_unit_test(numbers_tell_what_is_sent_again),
	    cmocka_unit_test(marks_are_believed_if_few_have_them),
	    cmocka_unit_test(errors_are_handed_on),
	};
	return cmocka_run_group_tests_name("experiments/millisampler/tap",
	    tests, NULL, NULL);
}
