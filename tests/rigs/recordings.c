/* tests/rigs/recordings.c -- tables and recordings of probes, for tests.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "tests/rigs/recordings.h"

#include "tests/test.h"
#include "topo/addr.h"

struct res_recording_info recordings_info(uint32_t n_dcs, sim_ns duration_ns)
{
	struct res_recording_info info = {
	    .spec = "figure: none\nseed: 7\n",
	    .service = "web=0-3,9; db=4",
	    .seed = 7,
	    .point = 2,
	    .run = 5,
	    .duration_ns = duration_ns,
	    .syn_wait_ns = {3 * SIM_SEC, 6 * SIM_SEC},
	    .n_dcs = n_dcs,
	};
	struct topo_clos shape[] = {{3, 2, 2, 2, 4, .n_cables = 0},
	    {2, 3, 2, 4, 2, .n_cables = 0}, {1, 4, 2, 0, 3, .n_cables = 0}};
	for (uint32_t i = 0; i < n_dcs; i++) {
		assert_ok(topo_clos_init(&shape[i], test_err()));
		info.dc[i] =
		    topo_dc_after(i > 0 ? &info.dc[i - 1] : NULL, &shape[i]);
	}
	return info;
}

static sim_ns draw_rtt(struct sim_rng *r)
{
	const sim_ns trip = 100 * SIM_US + sim_rng_below(r, 6000) * SIM_US;
	switch (sim_rng_below(r, 20)) {
	case 0:
		return 3 * SIM_SEC + trip;
	case 1:
		return 9 * SIM_SEC + trip;
	default:
		return trip;
	}
}

static struct obs_probe draw(const struct res_recording_info *info, size_t i,
    size_t n, struct sim_rng *r)
{
	const uint32_t dc = sim_rng_below(r, info->n_dcs);
	const uint32_t size = info->dc[dc].clos.all_hosts;
	const uint32_t first = info->dc[dc].first_host;
	const uint32_t all = topo_dcs_n_hosts(info->dc, info->n_dcs);
	const sim_ns jitter = info->duration_ns / 50 + 1;
	const sim_ns at = info->duration_ns / n * i +
	    sim_rng_below(r,
		jitter < UINT32_MAX ? (uint32_t)jitter : UINT32_MAX);
	const uint8_t level = info->n_dcs > 1 && sim_rng_below(r, 8) == 0
	    ? OBS_LEVEL_INTER_DC
	    : (uint8_t)(1 + sim_rng_below(r, 2));
	const uint32_t src = sim_rng_below(r, size);
	struct obs_probe p = {
	    .sent_ns = at < info->duration_ns ? at : info->duration_ns - 1,
	    .src_host = first + src,
	    .dst_host = first + (src + 1 + sim_rng_below(r, size - 1)) % size,
	    .src_port = (uint16_t)sim_rng_below(r, 65536),
	    .dst_port = (uint16_t)(1024 + sim_rng_below(r, 3)),
	    .outcome =
		(uint8_t)(sim_rng_below(r, 10) < 8 ? OBS_CONNECTED
						   : 1 + sim_rng_below(r, 2)),
	    .level = level,
	    .class = (uint8_t)sim_rng_below(r, 2),
	    .payload_bytes = sim_rng_below(r, 3) ? 0 : 1000,
	};
	if (level == OBS_LEVEL_INTER_DC)
		p.dst_host =
		    (first + size + sim_rng_below(r, all - size)) % all;
	if (p.outcome != OBS_TIMED_OUT)
		p.rtt_ns = draw_rtt(r);
	return p;
}

void recordings_probes(struct obs_probes *t,
    const struct res_recording_info *info, size_t n, struct sim_rng *r)
{
	for (size_t i = 0; i < n; i++) {
		const struct obs_probe p = draw(info, i, n, r);
		assert_ok(obs_probes_add(t, &p, test_err()));
	}
}

void recordings_vip_probes(struct obs_probes *t,
    const struct res_recording_info *info, size_t n, struct sim_rng *r)
{
	for (size_t i = 0; i < n; i++) {
		struct obs_probe p = draw(info, i, n, r);
		p.level = OBS_LEVEL_INTER_DC;
		p.dst_host = topo_addr_of_vip(sim_rng_below(r, 9));
		assert_ok(obs_probes_add(t, &p, test_err()));
	}
}

void recordings_http(struct obs_http *out, const struct obs_probes *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct obs_probe p = obs_probes_at(t, i);
		const uint8_t answer =
		    (uint8_t)(1 + p.src_port / 4 % (AGENT_N_ANSWERS - 1));
		const struct obs_http_row row = {.sent_ns = p.sent_ns,
		    .answer_ns =
			answer == AGENT_ANSWER_OK ? p.rtt_ns / 2 + 1 : 0,
		    .src_host = p.src_host,
		    .dst_host = p.dst_host,
		    .src_port = p.src_port,
		    .dst_port = p.dst_port,
		    .answer = answer,
		    .level = p.level,
		    .class = p.class};
		if (p.outcome == OBS_CONNECTED && p.src_port % 4 == 0)
			assert_ok(obs_http_add(out, &row, test_err()));
	}
}

void recordings_counters(struct obs_perf *t,
    const struct res_recording_info *info, size_t n, struct sim_rng *r)
{
	const uint32_t all = topo_dcs_n_hosts(info->dc, info->n_dcs);
	for (size_t i = 0; i < n; i++) {
		struct obs_perf_row row = {
		    .end_ns = info->duration_ns / n * (i + 1),
		    .host = sim_rng_below(r, all),
		    .n_probes = sim_rng_below(r, 5000),
		    .n_connected = sim_rng_below(r, 5000),
		    .n_unconnected = sim_rng_below(r, 100),
		};
		if (row.n_connected > 0) {
			row.n_drop_1 =
			    sim_rng_below(r, (uint32_t)row.n_connected);
			row.p50_ns = 1024 + sim_rng_below(r, 1 << 20);
			row.p99_ns = row.p50_ns + sim_rng_below(r, 1 << 20);
		}
		assert_ok(obs_perf_add(t, &row, test_err()));
	}
}

int recordings_write(const char *path, const struct res_recording_info *info,
    const struct obs_probes *probes, const struct obs_probes *vip,
    const struct obs_perf *perf, struct sim_err *e)
{
	struct res_recorder *w;
	int rc = res_recorder_open(&w, path, info, e);
	if (rc < 0)
		return rc;
	if ((rc = res_recorder_probes(w, probes, e)) < 0 ||
	    (vip && (rc = res_recorder_vip_probes(w, vip, e)) < 0) ||
	    (perf && (rc = res_recorder_counters(w, perf, e)) < 0) ||
	    (rc = res_recorder_covers(w, 0, info->duration_ns, e)) < 0) {
		res_recorder_discard(w);
		return rc;
	}
	return res_recorder_finish(w, e);
}
