/* experiments/everflow/pcap.c -- a capture of copies, as a file of traces.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/pcap.h"

/* Copies are handed on by so many. */
enum { PCAP_BATCH = 4096 };

/* What works on one capture. */
struct pcap_work {
	struct xp_pcap *p;
	struct algo_analyzer *analyzer;
	struct res_traces_out *out;
	struct algo_trace_sink sink;
	struct algo_counters counters;
	struct obs_mirror batch;
};

static int pcap_put_counters(struct pcap_work *w, struct sim_err *e)
{
	const int rc = res_traces_add_counters(w->out, &w->counters, e);
	algo_counters_clear(&w->counters);
	return rc;
}

static int pcap_feed(struct pcap_work *w, struct sim_err *e)
{
	const int rc = algo_analyzer_feed(w->analyzer, &w->batch, 0, w->batch.n,
	    &w->sink, &w->counters, e);
	obs_mirror_clear(&w->batch);
	return rc < 0 ? rc : pcap_put_counters(w, e);
}

static int pcap_read(struct pcap_work *w, struct sim_err *e)
{
	struct xp_captured x;
	int rc;
	while ((rc = xp_capture_next(w->p->capture, &x, e)) > 0) {
		rc = xp_copies_take(w->p->copies, x.unix_ns, x.ethertype,
		    x.bytes, x.n, &w->batch, e);
		if (rc == 0 && w->batch.n == PCAP_BATCH)
			rc = pcap_feed(w, e);
		if (rc < 0)
			return rc;
	}
	if (rc == SIM_EPARSE && w->p->may_be_cut) {
		w->p->was_cut = 1;
		if (e)
			w->p->cut = *e;
		rc = 0;
	}
	return rc < 0 ? rc : pcap_feed(w, e);
}

static int pcap_end(struct pcap_work *w, struct sim_err *e)
{
	const int rc = algo_analyzer_flush(w->analyzer, SIM_NEVER, &w->sink,
	    &w->counters, e);
	if (rc < 0)
		return rc;
	w->p->count = *algo_analyzer_counted(w->analyzer);
	return w->p->copies->n_copies > 0
	    ? pcap_put_counters(w, e)
	    : sim_fail(e, SIM_EINVAL,
		  "none of %llu packets is a copy of a known switch.",
		  (unsigned long long)w->p->copies->n_packets);
}

int xp_pcap_store(struct xp_pcap *p, struct sim_err *e)
{
	struct pcap_work w = {.p = p};
	int rc = algo_analyzer_open(&w.analyzer, p->routing, p->analyzer, 0, e);
	if (rc == 0)
		rc = res_traces_create(&w.out, p->output, p->info, e);
	if (rc == 0) {
		w.sink = res_traces_sink(w.out);
		if ((rc = pcap_read(&w, e)) == 0)
			rc = pcap_end(&w, e);
		if (rc == 0)
			rc = res_traces_finish(w.out, p->copies->last_ns, e);
		else
			res_traces_discard(w.out);
	}
	algo_analyzer_close(w.analyzer);
	algo_counters_free(&w.counters);
	obs_mirror_free(&w.batch);
	return rc;
}
