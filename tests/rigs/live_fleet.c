/* tests/rigs/live_fleet.c -- a collector's folder, filled by agents of a drawn world.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/live_fleet.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "experiments/live/batch_store.h"
#include "tests/test.h"
#include "topo/addr.h"

static struct algo_pingmesh_batch batch;
static unsigned char bytes[ALGO_PINGMESH_WIRE_MAX];
static size_t n_bytes;

struct res_recording_info live_info(const char *service)
{
	struct res_recording_info info = {.n_dcs = 2,
	    .service = service,
	    .syn_wait_ns = {SIM_SEC, 2 * SIM_SEC}};
	for (int d = 0; d < 2; d++) {
		struct topo_clos shape = {.n_pods = 2,
		    .n_tors = 2,
		    .n_t1 = 2,
		    .n_t2 = 2,
		    .n_hosts = 3};
		assert_ok(topo_clos_init(&shape, test_err()));
		info.dc[d] =
		    topo_dc_after(d > 0 ? &info.dc[d - 1] : NULL, &shape);
	}
	return info;
}

static void put(struct xp_batch_store *s, sim_ns came)
{
	struct algo_pingmesh_wire_id id;
	int is_new;
	assert_ok(algo_pingmesh_wire_check(&id, bytes, n_bytes, test_err()));
	assert_ok(xp_batch_store_put(s, &id, bytes, n_bytes,
	    (int64_t)(came / SIM_SEC), &is_new, test_err()));
}

static struct xp_batch_store *open_store(const struct live_fleet *w)
{
	const struct xp_batch_store_params p = {.file_bytes = 1 << 16,
	    .total_bytes = 1 << 28,
	    .max_runs = 10000};
	struct xp_batch_store *s;
	assert_ok(xp_batch_store_open(&s, w->dir, &p, test_err()));
	return s;
}

/* The probe of server SRC at time AT: a function of the two alone. */
static struct algo_pingmesh_record draw(uint32_t src, sim_ns at)
{
	struct sim_rng rng;
	test_rng(&rng, (uint32_t)(at / SIM_SEC) * LIVE_HOSTS + src);
	const uint32_t dc = src / LIVE_DC_HOSTS, first = dc * LIVE_DC_HOSTS;
	uint32_t dst = first + sim_rng_below(&rng, LIVE_DC_HOSTS - 1);
	dst += dst >= src;
	const int is_same = src / 3 == dst / 3;
	/* Server 3 and each of ToR 2 never hear of each other. */
	const int is_hole =
	    (src == 3 && dst / 3 == 2) || (dst == 3 && src / 3 == 2);
	const int is_lost = sim_rng_below(&rng, 40) == 0;
	const sim_ns rtt = 200 * SIM_US + sim_rng_below(&rng, 400) * SIM_US +
	    (is_lost ? SIM_SEC : 0);
	const uint16_t port = (uint16_t)(32768 + sim_rng_below(&rng, 20000));
	/* Of four pings one is by HTTP, whatever comes of it. */
	const int is_http = port % 4 == 0;
	const uint8_t answer = is_http && !is_hole
	    ? (uint8_t)(1 + port / 4 % (AGENT_N_ANSWERS - 1))
	    : AGENT_ANSWER_NOT_ASKED;
	return (struct algo_pingmesh_record){
	    .sent_ns = at + src * SIM_MS,
	    .rtt_ns = is_hole ? 0 : rtt,
	    .echo_ns = answer == AGENT_ANSWER_OK ? rtt / 2 : 0,
	    .src_ip = topo_addr_of_host(src),
	    .dst_ip = topo_addr_of_host(dst),
	    .src_port = port,
	    .dst_port = 8765,
	    .level = is_same ? ALGO_PINGLIST_TOR : ALGO_PINGLIST_DC,
	    .outcome = is_hole ? AGENT_TIMEOUT : AGENT_CONNECTED,
	    .ping = is_http ? AGENT_PING_HTTP : AGENT_PING_TCP,
	    .answer = answer,
	};
}

static void put_records(struct live_fleet *w, struct xp_batch_store *s,
    uint32_t src, sim_ns came)
{
	batch.src_ip = topo_addr_of_host(src);
	batch.born_ns = LIVE_BEGIN - 7 * SIM_SEC;
	batch.number = ++w->number[src];
	n_bytes = algo_pingmesh_wire_encode(&batch, NULL, bytes);
	w->n_sent += batch.n;
	put(s, came);
}

static void put_counters(struct live_fleet *w, struct xp_batch_store *s,
    uint32_t src, sim_ns from, sim_ns to)
{
	struct algo_pingmesh_window c = {.born_ns = LIVE_BEGIN - 7 * SIM_SEC,
	    .number = ++w->n_windows[src],
	    .start_ns = from,
	    .end_ns = to,
	    .src_ip = topo_addr_of_host(src),
	    .n_probes = batch.n,
	    .p50_ns = 300 * SIM_US,
	    .p99_ns = 700 * SIM_US,
	    .has_http = 1,
	    .list_version = UINT64_C(0xfedcba9876543210)};
	uint64_t n_of[AGENT_N_ANSWERS] = {0};
	for (uint32_t i = 0; i < batch.n; i++) {
		c.n_connected += batch.record[i].rtt_ns > 0;
		c.n_unconnected += batch.record[i].rtt_ns == 0;
		c.n_drop_1 += batch.record[i].rtt_ns > SIM_SEC;
		n_of[batch.record[i].answer]++;
	}
	c.n_http_ok = n_of[AGENT_ANSWER_OK];
	c.n_http_other = n_of[AGENT_ANSWER_OTHER];
	c.n_http_malformed = n_of[AGENT_ANSWER_MALFORMED];
	c.n_http_cut = n_of[AGENT_ANSWER_CUT];
	c.n_http_late = n_of[AGENT_ANSWER_LATE];
	if (c.n_http_ok > 0) {
		c.http_p50_ns = 150 * SIM_US;
		c.http_p99_ns = 250 * SIM_US;
	}
	if (c.n_connected == 0)
		c.p50_ns = c.p99_ns = 0;
	n_bytes = algo_pingmesh_wire_encode_window(&c, NULL, bytes);
	put(s, to);
}

void live_fill(struct live_fleet *w, sim_ns from, sim_ns to)
{
	struct xp_batch_store *s = open_store(w);
	for (sim_ns at = from; at < to; at += 300 * SIM_SEC)
		for (uint32_t src = 0; src < LIVE_HOSTS; src++) {
			batch.n = 0;
			for (sim_ns t = at; t < at + 300 * SIM_SEC;
			     t += w->period)
				batch.record[batch.n++] = draw(src, t);
			put_records(w, s, src, at + 300 * SIM_SEC);
			put_counters(w, s, src, at, at + 300 * SIM_SEC);
		}
	assert_ok(xp_batch_store_close(s, test_err()));
}

void live_late(struct live_fleet *w, uint32_t src, sim_ns at, sim_ns came)
{
	struct xp_batch_store *s = open_store(w);
	batch.record[0] = draw(src, at);
	batch.n = 1;
	put_records(w, s, src, came);
	assert_ok(xp_batch_store_close(s, test_err()));
}

/* As a collector does that has forgotten the batch. */
void live_repeat(struct live_fleet *w)
{
	struct dirent **found;
	char path[512];
	const int fd = open(w->dir, O_RDONLY | O_DIRECTORY);
	const int n = xp_batch_files(fd, &found);
	assert_true(n > 0);
	snprintf(path, sizeof(path), "%s/%s", w->dir, found[n - 1]->d_name);
	FILE *out = fopen(path, "ab");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, n_bytes, out), n_bytes);
	fclose(out);
	for (int i = 0; i < n; i++)
		free(found[i]);
	free(found);
	close(fd);
}
