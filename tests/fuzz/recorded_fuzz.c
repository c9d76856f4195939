/* tests/fuzz/recorded_fuzz.c -- any tables as a recording, traces or samples.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The first byte says what is recorded; then come changes of its good tables
 * (h5_memory.h). Whatever a reader takes, its users may be shown: rows are those
 * of hosts, runs and hops that there are.
 */
#include <string.h>

#include "results/recording.h"
#include "results/samples.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/h5_memory.h"
#include "tests/rigs/recordings.h"
#include "tests/rigs/sampled.h"
#include "tests/rigs/traces.h"

enum { MOST_CHANGES = 32 };

static void said(int rc, const struct sim_err *e)
{
	must(rc >= 0 || e->msg[0] != '\0');
}

/* --- recordings of probes --------------------------------------------------*/

static void make_recording(void)
{
	const struct res_recording_info info = recordings_info(2, SIM_SEC);
	const struct sim_seed seed = {.seed = 7};
	struct obs_probes probes = {0}, vip = {0};
	struct obs_perf perf = {0};
	struct sim_rng r;
	sim_rng_init(&r, &seed, SIM_STREAM_TEST, 0);
	recordings_probes(&probes, &info, 30, &r);
	recordings_vip_probes(&vip, &info, 5, &r);
	recordings_counters(&perf, &info, 10, &r);
	must(recordings_write("good0", &info, &probes, &vip, &perf, NULL) == 0);
	obs_probes_free(&probes);
	obs_probes_free(&vip);
	obs_perf_free(&perf);
}

static void check_probes(const struct res_recording_info *info,
    const struct obs_probes *t, sim_ns from, sim_ns to)
{
	const uint32_t n = topo_dcs_n_hosts(info->dc, info->n_dcs);
	for (size_t i = 0; i < t->n; i++) {
		must(t->sent_ns[i] >= from && t->sent_ns[i] < to);
		must(t->src_host[i] < n && t->dst_host[i] < n);
	}
}

static void read_recording(void)
{
	struct res_recording *r;
	struct obs_probes probes = {0}, vip = {0};
	struct obs_perf perf = {0};
	struct sim_err e = {0};
	int rc = res_recording_open(&r, "x", &e);
	said(rc, &e);
	if (rc < 0)
		return;
	for (sim_ns from = 0; rc >= 0 && from < 2 * SIM_SEC;
	     from += 300 * SIM_MS) {
		const sim_ns to = from + 300 * SIM_MS;
		rc = res_recording_probes(r, from, to, &probes, &e);
		said(rc, &e);
		if (rc == 0)
			check_probes(res_recording_info(r), &probes, from, to);
		said(res_recording_vip_probes(r, from, to, &vip, &e), &e);
		said(res_recording_counters(r, from, to, &perf, &e), &e);
		must(res_recording_covered(r, from, to) <= to - from);
	}
	obs_probes_free(&probes);
	obs_probes_free(&vip);
	obs_perf_free(&perf);
	res_recording_close(r);
}

/* --- traces ----------------------------------------------------------------*/

static void make_traces(void)
{
	struct traces x = {0};
	traces_by_hand(&x);
	must(traces_write(&x, "good1", NULL) == 0);
	traces_free(&x);
}

static int take_trace(void *arg, uint64_t id, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	const struct res_traces *r = arg;
	uint64_t sum = 0;
	(void)e;
	must(id < res_traces_n(r));
	for (size_t i = 0; i < t->n_hops; i++)
		sum += hop[i].ttl;
	return sum == UINT64_MAX;
}

static void read_traces(void)
{
	struct res_traces *r;
	struct algo_trace_store store = {0};
	struct algo_counters counters = {0};
	struct obs_guided guided = {0};
	struct res_findings findings = {0};
	struct res_cycles cycles = {0};
	struct res_counter_names names = {0};
	struct sim_err e = {0};
	int rc = res_traces_open(&r, "x", &e);
	said(rc, &e);
	if (rc < 0)
		return;
	said(res_traces_each(r, 0, SIM_NEVER, take_trace, r, &e), &e);
	said(res_traces_one(r, 1, take_trace, r, &e), &e);
	said(res_traces_load(r, 0, 20 * SIM_SEC, &store, &e), &e);
	said(res_traces_counters(r, 0, SIM_NEVER, &counters, &e), &e);
	said(res_traces_guided(r, 0, SIM_NEVER, &guided, &e), &e);
	said(res_traces_names(r, &names, &e), &e);
	rc = res_traces_findings(r, &findings, &cycles, &e);
	said(rc, &e);
	for (size_t i = 0; rc == 0 && i < findings.n; i++)
		(void)res_finding_at(&findings, &cycles, i);
	algo_trace_store_free(&store);
	algo_counters_free(&counters);
	obs_guided_free(&guided);
	res_findings_free(&findings);
	res_cycles_free(&cycles);
	res_counter_names_free(&names);
	res_traces_close(r);
}

/* --- samples ---------------------------------------------------------------*/

static void make_samples(void)
{
	const struct res_samples_info info = {.spec = "seed: 7\n",
	    .seed = 7,
	    .n_hosts = 3};
	struct res_samples_out *w;
	struct sampled s = {0};
	struct res_hosts hosts = {0};
	struct res_samples_truth truth = {0};
	for (uint32_t i = 0; i < 3; i++) {
		sampled_run(&s, i, 10);
		for (uint32_t b = i; b < 8; b += 2)
			sampled_row(&s,
			    (struct obs_sample){.bucket = b, .in_bytes = 99});
		must(res_hosts_add(&hosts, &(struct res_host){i, 0, {"host"}},
			 NULL) == 0);
	}
	must(res_true_faults_add(&truth.faults,
		 &(struct res_true_fault){.host = 1,
		     .rate = 0.5,
		     .to_ns = UINT64_MAX},
		 NULL) == 0);
	must(res_true_bursts_add(&truth.bursts,
		 &(struct res_true_burst){.host = 1, .bytes = 9, .conns = 1},
		 NULL) == 0);
	must(res_samples_create(&w, "good2", &info, NULL) == 0);
	must(res_samples_add(w, &s.runs, &s.samples, NULL) == 0);
	must(res_samples_add_hosts(w, &hosts, NULL) == 0);
	must(res_samples_add_truth(w, &truth, NULL) == 0);
	must(res_samples_finish(w, NULL) == 0);
	res_samples_truth_free(&truth);
	res_hosts_free(&hosts);
	sampled_free(&s);
}

static void check_samples(const struct obs_runs *runs,
    const struct obs_samples *t)
{
	for (size_t i = 0; i < t->n; i++)
		must(t->run[i] < runs->n &&
		    t->bucket[i] < runs->n_buckets[t->run[i]]);
}

static void read_samples(void)
{
	struct res_samples *r;
	struct obs_samples t = {0};
	struct res_samples_truth truth = {0};
	struct sim_err e = {0};
	int rc = res_samples_open(&r, "x", &e);
	said(rc, &e);
	if (rc < 0)
		return;
	const struct obs_runs *runs = res_samples_runs(r);
	for (size_t i = 0; i < runs->n; i++)
		must(runs->host[i] < res_samples_info(r)->n_hosts);
	for (size_t i = 0; rc == 0 && i + 1 < runs->n; i++) {
		rc = res_samples_load(r, i, 2, &t, &e);
		said(rc, &e);
		if (rc == 0)
			check_samples(runs, &t);
	}
	if (res_samples_has_truth(r, NULL) > 0)
		said(res_samples_load_truth(r, &truth, &e), &e);
	res_samples_truth_free(&truth);
	obs_samples_free(&t);
	res_samples_close(r);
}

static const struct {
	void (*make)(void), (*read)(void);
	const char *good;
} kinds[] = {{make_recording, read_recording, "good0"},
    {make_traces, read_traces, "good1"}, {make_samples, read_samples, "good2"}};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	enum { N = sizeof(kinds) / sizeof(kinds[0]) };
	static int made;
	if (n == 0 || n > 1 + MOST_CHANGES * H5_MEMORY_CHANGE)
		return 0;
	for (; made < N; made++)
		kinds[made].make();
	h5_memory_copy(kinds[bytes[0] % N].good, "x");
	h5_memory_edit("x", bytes + 1, n - 1);
	kinds[bytes[0] % N].read();
	return 0;
}
