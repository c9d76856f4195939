/* experiments/everflow/serve.c -- an analyzer that runs until it is told to end.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/everflow/serve.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "models/clock.h"
#include "sim/time.h"

enum { AT_ONCE = 4096, WAIT_MS = 100 };

/* Copies are in the ring a moment after their time: the analyzer is told of a
 * time that lies a little behind. */
#define BEHIND (10 * SIM_MS)

struct everserve {
	struct xp_everserve *s;
	struct algo_analyzer *analyzer;
	struct res_traces_out *out;
	struct algo_trace_sink file;
	struct algo_counters counters;
	struct xp_control *control; /* NULL: nobody may ask */
	struct xp_http_server *http;
	struct obs_mirror batch;
	sim_ns told;
};

static int everserve_store(void *arg, const struct algo_trace *t,
    const struct algo_hop hop[], struct sim_err *e)
{
	struct everserve *w = arg;
	if (w->control)
		xp_control_trace(w->control, t, hop);
	if (algo_analyzer_counted(w->analyzer)->n_stored > w->s->most) {
		w->s->n_unstored++;
		return 0;
	}
	return w->file.take(w->file.arg, t, hop, e);
}

static int everserve_take(void *arg, uint64_t unix_ns, uint16_t ethertype,
    const uint8_t bytes[], size_t n, struct sim_err *e)
{
	struct everserve *w = arg;
	return xp_copies_take(w->s->copies, unix_ns, ethertype, bytes, n,
	    &w->batch, e);
}

/* Times are since the first packet. */
static sim_ns everserve_now(const struct everserve *w)
{
	const sim_ns now =
	    xp_copies_clock(w->s->copies, clock_now(), clock_wall());
	return now > BEHIND ? now - BEHIND : 0;
}

/* All that is in the ring; then end what is over. The time is taken before the
 * ring is read, so that no copy before it is still to come. */
static int everserve_step(struct everserve *w, int is_end, struct sim_err *e)
{
	const struct algo_trace_sink sink = {w, everserve_store};
	const sim_ns now = is_end ? SIM_NEVER : everserve_now(w);
	size_t n;
	int rc;
	do {
		obs_mirror_clear(&w->batch);
		/* What a read brings is of its own moment. */
		everserve_now(w);
		rc = xp_ether_read(w->s->ether, AT_ONCE, everserve_take, w, &n,
		    e);
		if (rc == 0)
			rc = algo_analyzer_feed(w->analyzer, &w->batch, 0,
			    w->batch.n, &sink, &w->counters, e);
	} while (rc == 0 && n == AT_ONCE);
	if (rc == 0)
		rc = algo_analyzer_flush(w->analyzer, now, &sink, &w->counters,
		    e);
	if (rc == 0)
		rc = res_traces_add_counters(w->out, &w->counters, e);
	if (rc == 0 && w->control)
		rc = xp_control_step(w->control, everserve_now(w),
		    sim_ns_of(w->s->analyzer->counters_s), &w->counters, e);
	algo_counters_clear(&w->counters);
	w->s->count = *algo_analyzer_counted(w->analyzer);
	w->s->n_lost = xp_ether_lost(w->s->ether);
	return rc;
}

static void everserve_tell(struct everserve *w)
{
	const sim_ns now = clock_now();
	if (!w->s->tell || (double)(now - w->told) < w->s->every_s * 1e9)
		return;
	w->told = now;
	w->s->tell(w->s->arg, w->s);
}

static int everserve_loop(struct everserve *w, struct sim_err *e)
{
	struct pollfd p[] = {{w->s->end_fd, POLLIN, 0},
	    {xp_ether_fd(w->s->ether), POLLIN, 0},
	    {w->http ? xp_http_fd(w->http) : -1, POLLIN, 0}};
	int rc = 0;
	w->told = clock_now();
	while (rc == 0 && !p[0].revents) {
		const int wait =
		    w->http ? xp_http_wait_ms(w->http, WAIT_MS) : WAIT_MS;
		if (poll(p, 3, wait) < 0 && errno != EINTR)
			return sim_fail(e, SIM_EIO, "poll failed: %s.",
			    strerror(errno));
		/* An interface that goes away is no end: it may come back. */
		rc = everserve_step(w, 0, e);
		if (w->http)
			xp_http_step(w->http);
		everserve_tell(w);
	}
	if (rc >= 0 && w->http)
		xp_http_end(w->http);
	return rc < 0 ? rc : everserve_step(w, 1, e);
}

static int everserve_named(void *arg, uint32_t id, const char *name,
    struct sim_err *e)
{
	const struct everserve *w = arg;
	return res_traces_add_name(w->out, id, name, e);
}

static int everserve_listen(struct everserve *w, struct sim_err *e)
{
	struct xp_control_params p = w->s->control;
	char url[80];
	int rc;
	if (!w->s->http)
		return 0;
	p.routing = *w->s->routing;
	p.analyzer = w->analyzer;
	p.named = everserve_named;
	p.arg = w;
	if ((rc = xp_control_open(&w->control, &p, e)) < 0)
		return rc;
	const struct xp_http_service service = {.answer = xp_control_answer,
	    .arg = w->control};
	if ((rc = xp_http_open(&w->http, w->s->http, &service, e)) == 0 &&
	    w->s->hear)
		w->s->hear(w->s->arg, xp_http_url(w->http, url));
	return rc;
}

int xp_everserve_run(struct xp_everserve *s, struct sim_err *e)
{
	struct everserve w = {.s = s};
	int rc = algo_analyzer_open(&w.analyzer, s->routing, s->analyzer, 0, e);
	if (rc == 0 &&
	    (rc = res_traces_create(&w.out, s->output, s->info, e)) == 0) {
		w.file = res_traces_sink(w.out);
		if ((rc = everserve_listen(&w, e)) == 0 &&
		    (rc = everserve_loop(&w, e)) == 0)
			rc = res_traces_finish(w.out, s->copies->last_ns, e);
		else
			res_traces_discard(w.out);
	}
	/* Answers that are under way look at what the controller keeps, and that
	 * counts by the analyzer. */
	xp_http_close(w.http);
	xp_control_close(w.control);
	algo_analyzer_close(w.analyzer);
	algo_counters_free(&w.counters);
	obs_mirror_free(&w.batch);
	return rc;
}
