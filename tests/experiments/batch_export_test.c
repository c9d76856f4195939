/* tests/experiments/batch_export_test.c -- a collector's files as a recording.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/live/batch_export.h"

#include <unistd.h>

#include "experiments/live/batch_store.h"
#include "tests/rigs/folder.h"
#include "tests/rigs/live_fleet.h"
#include "tests/test.h"
#include "topo/addr.h"

/* Two data centres of 2 x 2 x 3 = 12 servers. */
enum { DC = 12, HOSTS = 2 * DC, FIRST_S = 1300 };

static char path[96];

static int make_dir(void **state)
{
	if (test_folder_make(state) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/out.h5", test_folder);
	return 0;
}

static struct algo_pingmesh_record record(uint32_t src, uint32_t dst,
    uint8_t level, uint8_t outcome, sim_ns sent_ns)
{
	return (struct algo_pingmesh_record){
	    .sent_ns = sent_ns,
	    .rtt_ns = outcome == AGENT_CONNECTED ? 250 * SIM_US : 0,
	    .src_ip = topo_addr_of_host(src),
	    .dst_ip = topo_addr_of_host(dst),
	    .src_port = 40000,
	    .dst_port = 8765,
	    .payload = 1000,
	    .class = 2,
	    .level = level,
	    .outcome = outcome,
	};
}

static void keep_bytes(const unsigned char *bytes, size_t size)
{
	const struct xp_batch_store_params p = {.file_bytes = 1 << 10,
	    .total_bytes = 1 << 24,
	    .max_runs = 1000};
	struct algo_pingmesh_wire_id id;
	struct xp_batch_store *s;
	int is_new;
	assert_ok(algo_pingmesh_wire_check(&id, bytes, size, test_err()));
	assert_ok(xp_batch_store_open(&s, test_folder, &p, test_err()));
	assert_ok(
	    xp_batch_store_put(s, &id, bytes, size, 0, &is_new, test_err()));
	assert_ok(xp_batch_store_close(s, test_err()));
}

/* Keep one batch of the N records, all of one server. */
static void keep(uint64_t number, const struct algo_pingmesh_record r[],
    uint32_t n)
{
	static struct algo_pingmesh_batch b;
	static unsigned char bytes[ALGO_PINGMESH_WIRE_MAX];
	b.src_ip = r[0].src_ip;
	b.number = number;
	b.n = n;
	memcpy(b.record, r, n * sizeof(*r));
	keep_bytes(bytes, algo_pingmesh_wire_encode(&b, NULL, bytes));
}

/* Of a window of 10 s that ends at END_S. */
static void keep_counters(uint32_t src, uint64_t number, uint32_t end_s)
{
	const struct algo_pingmesh_window w = {
	    .number = number,
	    .src_ip = topo_addr_of_host(src),
	    .start_ns = (end_s - 10) * SIM_SEC,
	    .end_ns = end_s * SIM_SEC,
	    .n_probes = number,
	    .n_connected = number == 7, /* in no time */
	};
	unsigned char bytes[ALGO_PINGMESH_WIRE_WINDOW];
	keep_bytes(bytes, algo_pingmesh_wire_encode_window(&w, NULL, bytes));
}

/* One clock that is wrong by years, or not set, is set aside and told, and does
 * not make a recording of years. Batches came on the first day of 1970 here. */
static void records_of_another_time_are_set_aside(void **state)
{
	const sim_ns t = FIRST_S * SIM_SEC, day = 86400 * SIM_SEC;
	const struct algo_pingmesh_record rows[] = {
	    record(13, 14, ALGO_PINGLIST_TOR, AGENT_CONNECTED, t),
	    record(13, 14, ALGO_PINGLIST_TOR, AGENT_CONNECTED, UINT64_MAX),
	    record(13, 14, ALGO_PINGLIST_TOR, AGENT_CONNECTED, 130 * 365 * day),
	    record(13, 14, ALGO_PINGLIST_TOR, AGENT_CONNECTED, 2 * day),
	    record(13, 14, ALGO_PINGLIST_TOR, AGENT_CONNECTED, 2 * day - 1),
	};
	struct res_recording_info info = live_info(NULL);
	struct xp_batch_exported n;
	(void)state;
	keep(1, rows, 5);
	keep_counters(13, 1, 86400 * 366);
	assert_ok(xp_batch_export(test_folder, path, &info, &n, test_err()));
	assert_true(n.n_untimely == 4 && n.n_rows == 2 && n.n_counters == 0);
	assert_int_equal(info.duration_ns, 2 * day - 1200 * SIM_SEC);
}

static void each_record_becomes_the_row_it_is(void **state)
{
	const sim_ns t = FIRST_S * SIM_SEC;
	const struct algo_pingmesh_record rows[] = {
	    record(13, 14, ALGO_PINGLIST_TOR, AGENT_CONNECTED, t + 7),
	    record(13, 16, ALGO_PINGLIST_DC, AGENT_TIMEOUT, t),
	    record(13, 2, ALGO_PINGLIST_INTER_DC, AGENT_REFUSED, t + 9),
	};
	struct algo_pingmesh_record vip =
	    record(0, 0, ALGO_PINGLIST_VIP, AGENT_CONNECTED, t + 500);
	struct res_recording_info info = live_info(NULL);
	struct xp_batch_exported n;
	struct res_recording *r;
	struct obs_probes got = {0};
	(void)state;
	vip.dst_ip = topo_addr_of_vip(3);
	keep(1, rows, 3);
	keep(1, &vip, 1);
	assert_ok(xp_batch_export(test_folder, path, &info, &n, test_err()));
	assert_true(n.n_batches == 2 && n.n_rows == 3 && n.n_vip_rows == 1);
	assert_true(n.n_failed + n.n_foreign + n.n_odd == 0);
	assert_int_equal(n.origin_ns, 1200 * SIM_SEC);
	assert_ok(res_recording_open(&r, path, test_err()));
	const struct res_recording_info *i = res_recording_info(r);
	assert_true(i->n_dcs == 2 && i->dc[1].clos.n_hosts == 3);
	assert_int_equal(i->duration_ns, 100 * SIM_SEC + 501);
	assert_int_equal(i->syn_wait_ns[1], 2 * SIM_SEC);
	assert_int_equal(res_recording_covered(r, 0, SIM_NEVER), 501);
	assert_ok(res_recording_probes(r, 0, SIM_NEVER, &got, test_err()));
	assert_int_equal(got.n, 3);
	static const uint8_t outcomes[] = {OBS_CONNECTED, OBS_TIMED_OUT,
	    OBS_REFUSED};
	for (uint8_t k = 0; k < 3; k++) {
		const struct obs_probe p = obs_probes_at(&got, k);
		assert_int_equal(p.sent_ns, rows[k].sent_ns - 1200 * SIM_SEC);
		assert_true(p.src_host == 13 && p.outcome == outcomes[k] &&
		    p.level == OBS_LEVEL_TOR + k && p.class == 2);
		assert_int_equal(topo_addr_of_host(p.dst_host), rows[k].dst_ip);
		assert_true(p.src_port == 40000 && p.dst_port == 8765 &&
		    p.payload_bytes == 1000 && p.rtt_ns == rows[k].rtt_ns);
	}
	assert_ok(res_recording_vip_probes(r, 0, SIM_NEVER, &got, test_err()));
	assert_true(got.n == 1 && got.dst_host[0] == topo_addr_of_vip(3));
	obs_probes_free(&got);
	res_recording_close(r);
}

static void what_can_be_no_row_is_counted(void **state)
{
	const struct algo_pingmesh_record good =
	    record(0, 1, ALGO_PINGLIST_TOR, AGENT_CONNECTED, 5);
	struct algo_pingmesh_record r[8];
	struct res_recording_info info = live_info(NULL);
	struct xp_batch_exported n;
	(void)state;
	for (int i = 0; i < 8; i++)
		r[i] = good;
	r[1].outcome = AGENT_FAILED;
	r[2].dst_ip = topo_addr_of_host(HOSTS); /* no server */
	r[3].dst_ip = topo_addr_of_host(DC);    /* of another data centre */
	r[4].level = ALGO_PINGLIST_VIP;         /* no service */
	r[5].rtt_ns = 0;                        /* connected in no time */
	r[6].dst_ip = r[6].src_ip;
	r[7].outcome = AGENT_TIMEOUT; /* and yet it has a time */
	keep(1, r, 8);
	assert_ok(xp_batch_export(test_folder, path, &info, &n, test_err()));
	assert_true(n.n_rows == 1 && n.n_failed == 1 && n.n_foreign == 4 &&
	    n.n_odd == 2);
}

/* Those of windows with a part in the time of the probes, which is from 1300 s
 * to 1320 s. */
static void counters_of_that_time_are_rows_too(void **state)
{
	const struct algo_pingmesh_record r[] = {record(0, 1, ALGO_PINGLIST_TOR,
						     AGENT_CONNECTED,
						     1300 * SIM_SEC),
	    record(0, 1, ALGO_PINGLIST_TOR, AGENT_CONNECTED, 1320 * SIM_SEC)};
	struct res_recording_info info = live_info(NULL);
	struct xp_batch_exported n;
	struct res_recording *in;
	struct obs_perf got = {0};
	(void)state;
	keep_counters(0, 1, 1300);
	keep_counters(0, 2, 1301);
	keep(2, r, 2); /* a number of its own */
	keep_counters(13, 3, 1330);
	keep_counters(13, 4, 1331);
	keep_counters(HOSTS, 5, 1310);
	keep_counters(0, 7, 1310);
	assert_ok(xp_batch_export(test_folder, path, &info, &n, test_err()));
	assert_true(n.n_batches == 1 && n.n_rows == 2 && n.n_counters == 2);
	assert_true(n.n_foreign == 1 && n.n_odd == 1);
	assert_ok(res_recording_open(&in, path, test_err()));
	assert_ok(res_recording_counters(in, 0, SIM_NEVER, &got, test_err()));
	assert_int_equal(got.n, 2);
	assert_true(got.host[0] == 0 && got.n_probes[0] == 2 &&
	    got.end_ns[0] == 101 * SIM_SEC);
	assert_true(got.host[1] == 13 && got.n_probes[1] == 3 &&
	    got.end_ns[1] == 130 * SIM_SEC);
	obs_perf_free(&got);
	res_recording_close(in);
}

/* The same batch in a second file, and a file that ends within one. */
static void each_batch_counts_once(void **state)
{
	const struct algo_pingmesh_record one =
	    record(0, 1, ALGO_PINGLIST_TOR, AGENT_CONNECTED, 5);
	struct res_recording_info info = live_info(NULL);
	struct xp_batch_exported n;
	char command[256];
	(void)state;
	keep(1, &one, 1);
	keep(2, &one, 1);
	snprintf(command, sizeof(command),
	    "cd %s && cp batches-19700101-0001.cpmb batches-19700101-0002.cpmb"
	    " && head -c 50 batches-19700101-0001.cpmb "
	    ">>batches-19700101-0002.cpmb",
	    test_folder);
	assert_int_equal(system(command), 0);
	assert_ok(xp_batch_export(test_folder, path, &info, &n, test_err()));
	assert_true(n.n_batches == 2 && n.n_rows == 2);
	assert_int_equal(n.n_bytes_damaged, 0);
}

static void a_folder_without_probes_makes_no_recording(void **state)
{
	struct res_recording_info info = live_info(NULL);
	struct xp_batch_exported n;
	struct sim_err e;
	(void)state;
	assert_int_equal(xp_batch_export(test_folder, path, &info, &n, &e),
	    SIM_EINVAL);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(xp_batch_export("/proc/none", path, &info, &n, &e),
	    SIM_EIO);
}

static int export(void *arg, struct sim_err *e)
{
	struct res_recording_info info = live_info(NULL);
	struct xp_batch_exported n;
	(void)arg;
	return xp_batch_export(test_folder, path, &info, &n, e);
}

static void every_failed_allocation_is_reported(void **state)
{
	const struct algo_pingmesh_record one =
	    record(0, 1, ALGO_PINGLIST_TOR, AGENT_CONNECTED, 5);
	(void)state;
	keep(1, &one, 1);
	keep_counters(0, 1, 10);
	test_each_alloc_fails(export, NULL);
}

#define in_a_folder(f)                                                         \
	cmocka_unit_test_setup_teardown(f, make_dir, test_folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    in_a_folder(records_of_another_time_are_set_aside),
	    in_a_folder(each_record_becomes_the_row_it_is),
	    in_a_folder(what_can_be_no_row_is_counted),
	    in_a_folder(counters_of_that_time_are_rows_too),
	    in_a_folder(each_batch_counts_once),
	    in_a_folder(a_folder_without_probes_makes_no_recording),
	    in_a_folder(every_failed_allocation_is_reported),
	};
	return cmocka_run_group_tests_name("experiments/batch_export", tests,
	    NULL, NULL);
}
