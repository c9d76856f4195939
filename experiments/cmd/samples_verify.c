/* experiments/cmd/samples_verify.c -- culprit samples verify: against a capture.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/samples.h"
#include "experiments/cmd/samples_from.h"
#include "experiments/millisampler/held.h"
#include "sim/text.h"

enum { VERIFY_FIRST = 10 /* that are told one by one */ };

struct args {
	const char *file, *capture, *host, *ahead;
	struct xp_source_params source;
	sim_ns tolerance_ns;
	int json;
};

static void samples_verify_word(void *to, char *arg, const struct cmd_given *g)
{
	struct args *a = to;
	if (!a->file)
		a->file = arg;
	else if (!a->host)
		a->host = arg;
	else
		argp_error(g->state, "\"%s\" is one word too many", arg);
}

static const struct cmd_option samples_verify_options[] = {
    {"pcap", 'p', "CAPTURE", "what was captured meanwhile",
	.take = cmd_take_file, .at = CMD_AT(capture)},
    {"tolerance", 0, "TIME",
	"how far from where a bucket ends a packet may be counted in the "
	"other (5us)",
	.take = cmd_take_time, .at = CMD_AT(tolerance_ns)},
    {"ahead", 0, "TIME",
	"by how much the samples' clock is ahead of the capture's (whichever "
	"fits of 0, 37s and what this machine says of TAI)",
	.take = cmd_take_text, .at = CMD_AT(ahead)},
    {"json", 0, NULL, "JSON, an array of objects", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {.with = cmd_samples_capture, .at = CMD_AT(source)},
    {0},
};

static void samples_verify_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->capture)
		argp_error(state, "--pcap CAPTURE: against what?");
	if (a->ahead == NULL && strcmp(a->capture, "-") == 0)
		argp_error(state,
		    "--ahead TIME: a pipe is read once, so it can't be tried "
		    "which fits");
}

static const struct cmd_line samples_verify_line = {
    .options = samples_verify_options,
    .word = {"WORD", .take = samples_verify_word},
    .without = "verify which FILE?",
    .check = samples_verify_check,
    .args_doc = "--pcap CAPTURE --host ADDRESS FILE|FOLDER [HOST]",
    .doc =
	"Hold samples, run by run and bucket by bucket, against a capture of "
	"the same packets. Each bucket must be equal to the byte, or differ "
	"by no more than packets nearby, which one side may have seen before "
	"and the other behind the bucket's end."
	"\vHOST is whose runs they are, by name or number; it need not be said "
	"of a file of one host, nor where --host NAME=ADDRESS has its name. "
	"Samplers tell time by TAI and captures by UTC, 37 s less if the "
	"machine knows of leap seconds. Marks are those of the TTL unless "
	"--retx says otherwise; traffic across regions is not compared; of a "
	"sampler that counts headers of each segment (wire bytes) a capture "
	"before segmentation knows less. With a bucket that is not explained "
	"the exit code is 1.\n ",
};

/* --- whose runs are whose ---------------------------------------------------*/

static int samples_verify_hosts(const struct args *a, const struct xp_racks *r,
    uint32_t host[], struct sim_err *e)
{
	const struct xp_tap_params *tap = &a->source.tap;
	const uint32_t n = res_samples_info(r->file)->n_hosts;
	if (tap->n_hosts == 0)
		return sim_fail(e, SIM_EINVAL,
		    "--host ADDRESS says whose packets are compared.");
	if (a->host && tap->n_hosts > 1)
		return sim_fail(e, SIM_EINVAL,
		    "%s can't be all of %u hosts: give these its names.",
		    a->host, tap->n_hosts);
	for (uint32_t i = 0; i < tap->n_hosts; i++) {
		const char *name = a->host ? a->host : tap->host[i].text;
		host[i] = xp_racks_find(r, name);
		if (host[i] == n && !a->host && n == 1 && tap->n_hosts == 1)
			host[i] = 0;
		if (host[i] == n)
			return sim_fail(e, SIM_EINVAL, "%s has no host \"%s\".",
			    a->file, name);
	}
	return 0;
}

/* --- one clock, and which ---------------------------------------------------*/

/* What a comparison came to. */
struct verified {
	struct xp_held_run *run;
	size_t n;
	int64_t ahead_ns;
	struct xp_tap_said said;
	uint64_t n_buckets, n_unexplained;
};

static int verified_make(const struct args *a, struct xp_racks *r,
    const uint32_t host[], int64_t ahead_ns, struct verified *v,
    struct sim_err *e)
{
	const struct xp_held_params p = {.tolerance_ns = a->tolerance_ns,
	    .ahead_ns = ahead_ns};
	struct xp_held_samples *h = NULL;
	struct xp_tap *tap = NULL;
	*v = (struct verified){.ahead_ns = ahead_ns};
	int rc = xp_held_open(&h, r->file, host, a->source.tap.n_hosts, &p, e);
	if (rc == 0)
		rc = xp_tap_open(&tap, a->capture, &a->source.tap, e);
	if (rc == 0)
		rc = xp_tap_each(tap, xp_held_packet, h, e);
	if (rc == 0) {
		v->said = *xp_tap_said(tap);
		rc = xp_held_compare(h, v->said.first_ns, v->said.last_ns,
		    &v->run, &v->n, e);
	}
	for (size_t i = 0; rc == 0 && i < v->n; i++) {
		v->n_buckets += v->run[i].n_buckets;
		v->n_unexplained += v->run[i].n_unexplained;
	}
	xp_tap_close(tap);
	xp_held_close(h);
	return rc;
}

static int verified_is_better(const struct verified *v,
    const struct verified *than)
{
	if (than->n_buckets == 0 || v->n_buckets == 0)
		return v->n_buckets > than->n_buckets;
	return (double)v->n_unexplained * (double)than->n_buckets <
	    (double)than->n_unexplained * (double)v->n_buckets;
}

/* TAI is ahead of UTC by 37 s since 2017, on a machine that was told so. */
static int verified_best(const struct args *a, struct xp_racks *r,
    const uint32_t host[], struct verified *best, struct sim_err *e)
{
	struct timex here = {0};
	int64_t tries[] = {0, 37 * (int64_t)SIM_SEC, 0};
	size_t n = 2;
	if (adjtimex(&here) >= 0 && here.tai != 0 && here.tai != 37)
		tries[n++] = here.tai * (int64_t)SIM_SEC;
	int rc = verified_make(a, r, host, tries[0], best, e);
	for (size_t i = 1; rc == 0 && i < n; i++) {
		struct verified v;
		if (best->n_buckets > 0 && best->n_unexplained == 0)
			break;
		rc = verified_make(a, r, host, tries[i], &v, e);
		if (rc == 0 && verified_is_better(&v, best)) {
			free(best->run);
			*best = v;
		} else
			free(v.run);
	}
	return rc;
}

static int samples_verify_make(const struct args *a, struct xp_racks *r,
    struct verified *v, struct sim_err *e)
{
	uint32_t host[XP_TAP_MAX_HOSTS];
	sim_ns ahead = 0;
	const int back = a->ahead && a->ahead[0] == '-';
	int rc = samples_verify_hosts(a, r, host, e);
	if (rc == 0 && a->ahead &&
	    (rc = sim_parse_ns(a->ahead + back, &ahead, e)) < 0)
		return sim_wrap(e, rc, "--ahead");
	if (rc == 0 && a->ahead)
		rc = verified_make(a, r, host,
		    back ? -(int64_t)ahead : (int64_t)ahead, v, e);
	else if (rc == 0)
		rc = verified_best(a, r, host, v, e);
	if (rc == 0 && v->n_buckets == 0)
		rc = sim_fail(e, SIM_EINVAL,
		    "the capture, from %" PRIu64 " to %" PRIu64
		    " ns of UTC, has no whole bucket of a run of %s; --ahead "
		    "TIME says how far their clocks are apart.",
		    v->said.first_ns, v->said.last_ns, a->file);
	return rc;
}

/* --- what is said -----------------------------------------------------------*/

static const char *const samples_verify_head[] = {"host", "width_ms", "runs",
    "outside", "buckets", "packets", "bytes", "differ", "explained",
    "unexplained", "bytes_unexplained", NULL};

/* All runs of one host and width, the K-th being the first of them. */
static void samples_verify_row(struct cmd_rows *t, const struct xp_racks *r,
    const struct verified *v, size_t k)
{
	const struct obs_runs *runs = res_samples_runs(r->file);
	const struct obs_run is = obs_runs_at(runs, v->run[k].row);
	struct xp_held_run sum = {0};
	double n_runs = 0, n_outside = 0;
	char buf[16];
	for (size_t i = k; i < v->n; i++) {
		const struct xp_held_run *x = &v->run[i];
		if (runs->host[x->row] != is.host ||
		    runs->width_ns[x->row] != is.width_ns)
			continue;
		n_runs++;
		n_outside += x->n_buckets == 0;
		sum.n_buckets += x->n_buckets;
		sum.n_packets += x->n_packets;
		sum.n_bytes += x->n_bytes;
		sum.n_differ += x->n_differ;
		sum.n_explained += x->n_explained;
		sum.n_unexplained += x->n_unexplained;
		sum.unexplained += x->unexplained;
	}
	cmd_rows_row(t);
	cmd_rows_text(t, "host", xp_racks_host(r, is.host, buf));
	cmd_rows_number(t, "width_ms", (double)is.width_ns / 1e6);
	cmd_rows_number(t, "runs", n_runs);
	cmd_rows_number(t, "outside", n_outside);
	cmd_rows_number(t, "buckets", sum.n_buckets);
	cmd_rows_count(t, "packets", sum.n_packets);
	cmd_rows_count(t, "bytes", sum.n_bytes);
	cmd_rows_number(t, "differ", sum.n_differ);
	cmd_rows_number(t, "explained", sum.n_explained);
	cmd_rows_number(t, "unexplained", sum.n_unexplained);
	cmd_rows_count(t, "bytes_unexplained", sum.unexplained);
}

static int verified_is_first(const struct xp_racks *r, const struct verified *v,
    size_t k)
{
	const struct obs_runs *runs = res_samples_runs(r->file);
	for (size_t i = 0; i < k; i++)
		if (runs->host[v->run[i].row] == runs->host[v->run[k].row] &&
		    runs->width_ns[v->run[i].row] ==
			runs->width_ns[v->run[k].row])
			return 0;
	return 1;
}

static void samples_verify_print(const struct args *a, const struct xp_racks *r,
    const struct verified *v)
{
	struct cmd_rows t;
	cmd_rows_begin(&t, a->json, samples_verify_head);
	for (size_t k = 0; k < v->n; k++)
		if (verified_is_first(r, v, k))
			samples_verify_row(&t, r, v, k);
	cmd_rows_end(&t);
}

static void samples_verify_tell(const struct verified *v)
{
	unsigned n = 0;
	cmd_samples_told(NULL, &v->said);
	fprintf(stderr, "the samples' clock is %g s ahead of the capture's\n",
	    (double)v->ahead_ns / 1e9);
	for (size_t i = 0; i < v->n && n < VERIFY_FIRST; i++) {
		const struct xp_held_run *x = &v->run[i];
		if (x->n_unexplained == 0)
			continue;
		n++;
		fprintf(stderr,
		    "run %u, bucket %u: %" PRIu64 " %s, but the capture has "
		    "%" PRIu64 "; %u buckets of the run are not explained\n",
		    x->row, x->bucket, x->sampled, xp_held_names[x->series],
		    x->captured, x->n_unexplained);
	}
	fprintf(stderr,
	    "%s: %" PRIu64 " of %" PRIu64 " buckets are not explained\n",
	    v->n_unexplained > 0 ? "FAIL" : "PASS", v->n_unexplained,
	    v->n_buckets);
}

int cmd_samples_verify(int argc, char **argv)
{
	struct args a = {.tolerance_ns = 5 * SIM_US};
	struct xp_racks_params p = {.source = &a.source};
	struct xp_racks r = {0};
	struct verified v = {0};
	struct sim_err e = {0};
	cmd_parse(&samples_verify_line, argc, argv, &a);
	/* A sampler knows what comes in by its mark alone. */
	if (a.source.tap.retx == XP_TAP_AUTO)
		a.source.tap.retx = XP_TAP_TTL;
	int rc = xp_racks_open(&r, a.file, &p, &e);
	if (rc == 0)
		cmd_samples_warn(a.file, r.file);
	if (rc == 0)
		rc = samples_verify_make(&a, &r, &v, &e);
	if (rc == 0) {
		samples_verify_print(&a, &r, &v);
		samples_verify_tell(&v);
	}
	free(v.run);
	xp_racks_close(&r);
	if (rc == 0 && v.n_unexplained > 0)
		return CMD_FAILED;
	return cmd_samples_end(rc, &e);
}
