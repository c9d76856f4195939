/* tests/experiments/millisampler/source_test.c -- captures without memory.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is counted of them tests/cli/samples_pcap.sh holds against another
 * program.
 */
#include "experiments/millisampler/source.h"
#include "sim/inet.h"
#include "tests/rigs/folder.h"
#include "tests/test.h"

enum { FRAME = 60, N = 30 };

static void put_le32(FILE *out, uint32_t x)
{
	const uint8_t b[] = {(uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16),
	    (uint8_t)(x >> 24)};
	fwrite(b, 1, sizeof(b), out);
}

/* A packet a second, so each is a run of its own. */
static const char *source_capture(void)
{
	const char *path = test_path("x.pcap");
	static const uint32_t head[] = {0xa1b23c4d, 4 << 16 | 2, 0, 0, 65535,
	    1};
	uint8_t frame[FRAME] = {[12] = 8, [14] = 0x45, [17] = 46, [22] = 64};
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	for (size_t i = 0; i < sizeof(head) / sizeof(head[0]); i++)
		put_le32(out, head[i]);
	frame[23] = TOPO_PROTO_TCP;
	sim_inet_put32(frame + 26, 0x0a000001);
	sim_inet_put32(frame + 30, 0x0a000002);
	for (uint32_t i = 0; i < N; i++) {
		put_le32(out, 1000 + 3 * i);
		put_le32(out, 5);
		put_le32(out, FRAME);
		put_le32(out, FRAME);
		fwrite(frame, 1, FRAME, out);
	}
	assert_int_equal(fclose(out), 0);
	return path;
}

static int open_capture(void *arg, struct sim_err *e)
{
	struct xp_source_params *p = arg;
	struct res_samples *r = NULL;
	p->tap.n_hosts = p->tap.n_addresses = 0;
	int rc = xp_tap_host(&p->tap, "h=10.0.0.2", e);
	if (rc == 0)
		rc = xp_source_open(&r, test_path("x.pcap"), p, SIM_MS, e);
	if (rc == SIM_EUNSUPPORTED)
		skip();
	if (rc < 0)
		return rc;
	assert_int_equal(res_samples_runs(r)->n, N);
	assert_int_equal(res_samples_runs(r)->start_ns[1],
	    UINT64_C(1003000000005));
	assert_int_equal(res_samples_runs(r)->n_buckets[1], OBS_BUCKETS);
	assert_int_equal(res_samples_runs(r)->n_buckets[N - 1], 1);
	assert_string_equal(res_samples_hosts(r)->name[0].text, "h");
	res_samples_close(r);
	return 0;
}

/* libpcap's own memory is not ours to take. */
static void a_capture_is_read_or_memory_is_said_to_be_short(void **state)
{
	static struct xp_source_params p;
	(void)state;
	source_capture();
	assert_ok(open_capture(&p, test_err()));
	test_each_alloc_fails(open_capture, &p);
}

static void hosts_are_as_many_as_fit(void **state)
{
	static struct xp_tap_params p;
	struct sim_err e;
	char text[64];
	(void)state;
	for (unsigned i = 0; i < XP_TAP_MAX_HOSTS; i++) {
		snprintf(text, sizeof(text), "10.0.%u.%u,02::%x", i / 256,
		    i % 256, i);
		assert_ok(xp_tap_host(&p, text, test_err()));
	}
	assert_int_equal(xp_tap_host(&p, "02:00:00:00:00:01", &e), SIM_ELIMIT);
	p.n_hosts--;
	/* All or nothing of a host. */
	assert_int_equal(xp_tap_host(&p, "1.1.1.1,10.0.0.0", &e), SIM_EINVAL);
	assert_int_equal(p.n_addresses, 2 * XP_TAP_MAX_HOSTS);
	assert_int_equal(xp_tap_host(&p, "02:00:00:00:00:0", &e), 0);
	assert_int_equal(p.address[p.n_addresses - 1].a[1],
	    UINT64_C(0x020000000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_capture_is_read_or_memory_is_said_to_be_short),
	    cmocka_unit_test(hosts_are_as_many_as_fit),
	};
	return cmocka_run_group_tests_name("experiments/millisampler/source",
	    tests, test_folder_make, test_folder_remove);
}
