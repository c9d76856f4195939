/* experiments/millisampler/source.c -- samples, whatever file they are in.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/millisampler/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/millisampler/public.h"
#include "sim/input.h"
#include "sim/vec.h"

#define SOURCE_LINE_BPS UINT64_C(12500000000)

/* --- captures ---------------------------------------------------------------*/

struct source_host {
	struct algo_buckets buckets;
	struct obs_runs runs;
	struct obs_samples samples;
};

/* What becomes one file of samples. */
struct source {
	const struct xp_source_params *p;
	sim_ns width_ns;
	struct source_host *of; /* [n_hosts] */
	struct res_hosts hosts;
	struct obs_runs runs;
	struct obs_samples samples;
};

static uint64_t source_line(const struct xp_source_params *p)
{
	return p->line_bps ? p->line_bps : SOURCE_LINE_BPS;
}

static int source_take(struct source *s, uint32_t host, sim_ns now,
    struct sim_err *e)
{
	struct source_host *h = &s->of[host];
	if (!h->buckets.started)
		return 0;
	return algo_buckets_take(&h->buckets, now, host, source_line(s->p),
	    &h->runs, &h->samples, e);
}

/* The packet that ended a run begins the next. */
static int source_hear(void *arg, uint32_t host, uint64_t t,
    const struct obs_seen *seen, struct sim_err *e)
{
	struct source *s = arg;
	struct algo_buckets *b = &s->of[host].buckets;
	int rc = 0;
	if (b->enabled) {
		algo_buckets_packet(b, t, seen);
		if (b->enabled)
			return 0;
		rc = source_take(s, host, t, e);
	}
	if (rc == 0)
		rc = algo_buckets_arm(b, t, s->width_ns, s->p->start, e);
	if (rc == 0)
		algo_buckets_packet(b, t, seen);
	return rc;
}

static int source_name(struct source *s, struct sim_err *e)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < s->p->tap.n_hosts; i++)
		rc = res_hosts_add(&s->hosts,
		    &(struct res_host){.host = i, .name = s->p->tap.host[i]},
		    e);
	return rc;
}

/* Host by host, as in other files, whichever ended first. */
static int source_gather(struct source *s, const struct source_host *h,
    struct sim_err *e)
{
	const uint32_t before = (uint32_t)s->runs.n;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < h->runs.n; i++) {
		const struct obs_run run = obs_runs_at(&h->runs, i);
		rc = obs_runs_add(&s->runs, &run, e);
	}
	for (size_t i = 0; rc == 0 && i < h->samples.n; i++) {
		struct obs_sample row = obs_samples_at(&h->samples, i);
		row.run += before;
		rc = obs_samples_add(&s->samples, &row, e);
	}
	return rc;
}

static int source_read(struct source *s, const char *path, struct sim_err *e)
{
	struct xp_tap *tap;
	int rc = xp_tap_open(&tap, path, &s->p->tap, e);
	if (rc < 0)
		return rc;
	const struct xp_tap_said *said = xp_tap_said(tap);
	rc = xp_tap_each(tap, source_hear, s, e);
	for (uint32_t i = 0; rc == 0 && i < s->p->tap.n_hosts; i++)
		if ((rc = source_take(s, i, said->last_ns, e)) == 0)
			rc = source_gather(s, &s->of[i], e);
	if (rc == 0 && s->p->told)
		s->p->told(s->p->arg, said);
	if (rc == 0 && s->runs.n == 0)
		rc = sim_fail(e, SIM_EINVAL,
		    "%s: none of %llu packets is of these hosts.", path,
		    (unsigned long long)said->n_packets);
	xp_tap_close(tap);
	return rc;
}

static void source_free(struct source *s)
{
	for (uint32_t i = 0; s->of && i < s->p->tap.n_hosts; i++) {
		obs_runs_free(&s->of[i].runs);
		obs_samples_free(&s->of[i].samples);
	}
	free(s->of);
	res_hosts_free(&s->hosts);
	obs_runs_free(&s->runs);
	obs_samples_free(&s->samples);
}

int xp_source_capture(struct res_samples **r, const char *path,
    const struct xp_source_params *p, sim_ns width_ns, struct sim_err *e)
{
	struct source s = {.p = p, .width_ns = width_ns ? width_ns : SIM_MS};
	int rc = SIM_ZALLOC(&s.of, p->tap.n_hosts, e);
	if (rc == 0)
		rc = source_name(&s, e);
	if (rc == 0)
		rc = source_read(&s, path, e);
	if (rc == 0)
		rc = res_samples_keep(r, path, p->tap.n_hosts, &s.hosts,
		    &s.runs, &s.samples, e);
	source_free(&s);
	return rc;
}

/* --- published runs ---------------------------------------------------------*/

static int source_keep_public(struct res_samples **r, const char *path,
    struct xp_public *x, struct sim_err *e)
{
	struct source s = {0};
	const struct res_host host = {.name = x->host};
	int rc = res_hosts_add(&s.hosts, &host, e);
	if (rc == 0)
		rc = obs_runs_add(&s.runs, &x->run, e);
	if (rc == 0)
		rc = res_samples_keep(r, path, 1, &s.hosts, &s.runs,
		    &x->samples, e);
	source_free(&s);
	return rc;
}

static int source_public(struct res_samples **r, const char *path,
    const struct xp_source_params *p, sim_ns width_ns, struct sim_err *e)
{
	struct xp_public x = {0};
	enum xp_public_end end;
	int rc = xp_public_read(&x, path, width_ns ? width_ns : SIM_MS,
	    source_line(p), &end, e);
	if (rc == 0 && end != XP_PUBLIC_TAKEN)
		rc = sim_fail(e, SIM_EINVAL, "%s %s.", path,
		    xp_public_texts[end]);
	if (rc == 0)
		rc = source_keep_public(r, path, &x, e);
	xp_public_free(&x);
	return rc;
}

/* --- which ------------------------------------------------------------------*/

enum source_kind { SOURCE_SAMPLES, SOURCE_CAPTURE, SOURCE_PUBLIC };

/* Magic numbers of pcap (of both orders, us and ns) and pcapng; JSON begins with
 * a brace, and is what is gzipped. All else is for HDF5's reader to judge. */
static enum source_kind source_kind(const char *path)
{
	static const uint8_t captures[][4] = {{0xd4, 0xc3, 0xb2, 0xa1},
	    {0xa1, 0xb2, 0xc3, 0xd4}, {0x4d, 0x3c, 0xb2, 0xa1},
	    {0xa1, 0xb2, 0x3c, 0x4d}, {0x0a, 0x0d, 0x0d, 0x0a}};
	uint8_t head[4] = {0};
	if (strcmp(path, "-") == 0)
		return SOURCE_CAPTURE;
	const char *why;
	FILE *in = sim_input_open(path, &why);
	const size_t n = in ? fread(head, 1, sizeof(head), in) : 0;
	if (in)
		fclose(in);
	if (n < sizeof(head))
		return SOURCE_SAMPLES;
	for (size_t i = 0; i < sizeof(captures) / sizeof(captures[0]); i++)
		if (memcmp(head, captures[i], sizeof(head)) == 0)
			return SOURCE_CAPTURE;
	if (head[0] == '{' || (head[0] == 0x1f && head[1] == 0x8b))
		return SOURCE_PUBLIC;
	return SOURCE_SAMPLES;
}

int xp_source_open(struct res_samples **r, const char *path,
    const struct xp_source_params *p, sim_ns width_ns, struct sim_err *e)
{
	static const struct xp_source_params none;
	if (!p)
		p = &none;
	switch (source_kind(path)) {
	case SOURCE_CAPTURE:
		return xp_source_capture(r, path, p, width_ns, e);
	case SOURCE_PUBLIC:
		return source_public(r, path, p, width_ns, e);
	case SOURCE_SAMPLES:
		break;
	}
	return res_samples_open(r, path, e);
}
