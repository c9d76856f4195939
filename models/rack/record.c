/* models/rack/record.c -- what a rack's servers count in buckets, and the truth.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "models/rack/record.h"

#include <gsl/gsl_randist.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "models/obs_buckets.h"
#include "sim/vec.h"

#define FIELD(m) offsetof(struct rack_record_params, m)

static const char *const rack_starts[] = {"first_packet", "aligned", NULL};

const struct sim_field rack_record_fields[] = {
    {"start", SIM_F_ENUM, FIELD(start), .names = rack_starts,
	.def = "first_packet",
	.doc = "a run begins with its host's first packet, or at a multiple of "
	       "the width by its clock"},
    {"clock_sd", SIM_F_F64, FIELD(clock_sd_us), .min = 0, .max = 1e6,
	.unit = "us", .def = "0", .doc = "of the error of a host's clock"},
    {"ack_share", SIM_F_F64, FIELD(ack_share), .min = 0, .max = 1, .unit = "1",
	.def = "0.022",
	.doc = "bytes of acknowledgements for each of data: 66 for two "
	       "segments"},
    {"max_buckets", SIM_F_U32, FIELD(max_buckets), .min = 1, .max = OBS_BUCKETS,
	.unit = "1", .def = "2000", .doc = "of a run, which ends then"},
    {"truth", SIM_F_BOOL, FIELD(truth), .def = "false",
	.doc = "hold what hosts counted against what came in by the right "
	       "clock"},
    {0},
};

enum { RACK_NO_SLOT = UINT32_MAX };

/* A server's run of one width. Times in slots. */
struct rack_run_of {
	struct rack_count count;
	uint32_t end; /* of the bucket; RACK_NO_SLOT: not begun, or over */
	uint32_t bucket, width;
	uint8_t begun;
	sim_ns start_ns; /* by the host's clock */
};

struct rack_recorder {
	struct rack *r;
	const struct rack_record_params *p;
	unsigned n_widths;
	const sim_ns *width_ns;
	uint32_t n, now, first_host;
	struct rack_run_of *run; /* [n_widths][n] */
	struct rack_count *lost; /* [n]; NULL: nobody asks */
	sim_ns truth_ns;         /* a bucket of LOST */
	uint32_t truth;          /* that, in slots */
	uint32_t *next;          /* [n] the first end of all */
	int64_t *error_ns;       /* [n] of clocks */
	struct obs_samples rows; /* run: index into the array above */
	struct rack_losses *losses;
};

static struct rack_run_of *rack_run_at(struct rack_recorder *k, unsigned w,
    uint32_t server)
{
	return &k->run[(size_t)w * k->n + server];
}

/* --- buckets ---------------------------------------------------------------*/

static uint32_t rack_u32(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static int rack_bucket_close(struct rack_recorder *k, struct rack_run_of *u,
    struct sim_err *e)
{
	const struct rack_count *c = &u->count;
	const double share = k->p->ack_share;
	const uint64_t in = c->in + (uint64_t)((double)c->out * share);
	const uint64_t out = c->out + (uint64_t)((double)c->in * share);
	const struct obs_sample s = {.run = (uint32_t)(u - k->run),
	    .bucket = u->bucket,
	    .in_bytes = rack_u32(in),
	    .out_bytes = rack_u32(out),
	    .in_cross = rack_u32(
		c->in_cross + (uint64_t)((double)c->out_cross * share)),
	    .out_cross = rack_u32(
		c->out_cross + (uint64_t)((double)c->in_cross * share)),
	    .in_ce = rack_u32(c->in_ce),
	    .in_retx = rack_u32(c->in_retx),
	    .out_retx = rack_u32(c->out_retx),
	    .sketch_lo = c->sketch[0],
	    .sketch_hi = c->sketch[1]};
	const int rc = in + out > 0 ? obs_samples_add(&k->rows, &s, e) : 0;
	u->count = rack_count_none;
	u->bucket++;
	u->end =
	    u->bucket < k->p->max_buckets ? u->end + u->width : RACK_NO_SLOT;
	return rc;
}

static int rack_loss_close(struct rack_recorder *k, uint32_t server,
    struct sim_err *e)
{
	struct rack_count *c = &k->lost[server];
	const sim_ns end = k->now * rack_slot_ns(k->r);
	const struct rack_loss row = {.start_ns = end - k->truth_ns,
	    .host = k->first_host + server,
	    .in = c->in + (uint64_t)((double)c->out * k->p->ack_share),
	    .buffer = c->buffer,
	    .link_in = c->link_in,
	    .link_out = c->link_out,
	    .held = c->held,
	    .queue_max = c->queue_max};
	const uint64_t all = k->p->truth ? row.in + c->queue_max : 0;
	const int any =
	    c->buffer + c->link_in + c->link_out + c->held + all > 0;
	*c = rack_count_none;
	return any ? rack_losses_add(k->losses, &row, e) : 0;
}

/* The first packets came in the slot that ends now. */
static void rack_runs_begin(struct rack_recorder *k, uint32_t server)
{
	const sim_ns slot = rack_slot_ns(k->r);
	const sim_ns at = (k->now - 1) * slot;
	const int64_t error = k->error_ns[server];
	for (unsigned w = 0; w < k->n_widths; w++) {
		struct rack_run_of *u = rack_run_at(k, w, server);
		const sim_ns width = k->width_ns[w];
		const int64_t read = (int64_t)at + error;
		sim_ns late = 0; /* since the bucket began, by the clock */
		u->begun = 1;
		u->start_ns = read > 0 ? (sim_ns)read : 0;
		if (k->p->start == RACK_ALIGNED) {
			late = u->start_ns % width;
			u->start_ns -= late;
		}
		u->end =
		    k->now - 1 + (uint32_t)((width - late + slot - 1) / slot);
	}
}

/* What SERVER counted goes to all that count, and those whose bucket ends now
 * begin another. */
static int rack_server_look(struct rack_recorder *k, uint32_t server,
    struct sim_err *e)
{
	const uint32_t truth = k->truth;
	struct rack_count c;
	int rc = 0;
	rack_take(k->r, server, &c);
	k->next[server] = RACK_NO_SLOT;
	for (unsigned w = 0; rc == 0 && w < k->n_widths; w++) {
		struct rack_run_of *u = rack_run_at(k, w, server);
		if (u->end == RACK_NO_SLOT)
			continue;
		rack_count_add(&u->count, &c);
		if (u->end <= k->now)
			rc = rack_bucket_close(k, u, e);
		if (k->next[server] > u->end)
			k->next[server] = u->end;
	}
	if (rc < 0 || !k->lost)
		return rc;
	rack_count_add(&k->lost[server], &c);
	if (k->now % truth == 0)
		rc = rack_loss_close(k, server, e);
	const uint32_t end = (k->now / truth + 1) * truth;
	if (k->next[server] > end)
		k->next[server] = end;
	return rc;
}

static int rack_recorder_slot(struct rack_recorder *k, struct sim_err *e)
{
	int rc = rack_run(k->r, (k->now + 1) * rack_slot_ns(k->r), e);
	k->now++;
	for (uint32_t i = 0; rc == 0 && i < k->n; i++) {
		if (!k->run[i].begun && rack_has_counted(k->r, i)) {
			rack_runs_begin(k, i);
			k->next[i] = k->now;
		}
		if (k->next[i] <= k->now)
			rc = rack_server_look(k, i, e);
	}
	return rc;
}

/* --- tables ----------------------------------------------------------------*/

/* Runs without a packet have no row. ROW[runs] is the row of each. */
static int rack_recorder_runs(struct rack_recorder *k, uint64_t line_bps,
    struct obs_runs *runs, uint32_t row[], struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < (size_t)k->n_widths * k->n; i++) {
		const struct rack_run_of *u = &k->run[i];
		const struct obs_run out = {.start_ns = u->start_ns,
		    .width_ns = k->width_ns[i / k->n],
		    .line_bps = line_bps,
		    .host = k->first_host + (uint32_t)(i % k->n),
		    .n_buckets = u->bucket};
		row[i] = (uint32_t)runs->n;
		if (u->bucket > 0)
			rc = obs_runs_add(runs, &out, e);
	}
	return rc;
}

/* Rows came by time; those of a run shall follow each other. */
static int rack_recorder_rows(struct rack_recorder *k, const uint32_t row[],
    struct obs_samples *out, struct sim_err *e)
{
	const size_t n_runs = (size_t)k->n_widths * k->n;
	size_t *at = NULL, *order = NULL;
	int rc = SIM_ZALLOC(&at, n_runs + 1, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&order, k->rows.n + 1, e);
	for (size_t i = 0; rc == 0 && i < k->rows.n; i++)
		at[k->rows.run[i] + 1]++;
	for (size_t i = 0; rc == 0 && i < n_runs; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; rc == 0 && i < k->rows.n; i++)
		order[at[k->rows.run[i]]++] = i;
	if (rc == 0)
		rc = obs_samples_reserve(out, k->rows.n, e);
	for (size_t i = 0; rc == 0 && i < k->rows.n; i++) {
		struct obs_sample s = obs_samples_at(&k->rows, order[i]);
		s.run = row[s.run];
		rc = obs_samples_add(out, &s, e);
	}
	free(at);
	free(order);
	return rc;
}

static int rack_recorder_open(struct rack_recorder *k,
    const struct sim_seed *where, struct sim_err *e)
{
	int rc;
	if ((rc = SIM_ZALLOC(&k->run, (size_t)k->n_widths * k->n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&k->next, k->n, e)) < 0 ||
	    (rc = SIM_ZALLOC(&k->error_ns, k->n, e)) < 0)
		return rc;
	if (k->losses && (rc = SIM_ZALLOC(&k->lost, k->n, e)) < 0)
		return rc;
	const sim_ns slot = rack_slot_ns(k->r);
	k->truth = (uint32_t)(k->truth_ns / slot);
	for (uint32_t i = 0; i < k->n; i++) {
		struct sim_rng rng;
		sim_rng_init(&rng, where, SIM_STREAM_CLOCK, k->first_host + i);
		k->error_ns[i] = (int64_t)(1e3 *
		    gsl_ran_gaussian_ziggurat(&rng.gsl, k->p->clock_sd_us));
		k->next[i] = k->lost ? k->now + k->truth : RACK_NO_SLOT;
		for (unsigned w = 0; w < k->n_widths; w++) {
			struct rack_run_of *u = rack_run_at(k, w, i);
			u->end = RACK_NO_SLOT;
			u->width = (uint32_t)(k->width_ns[w] / slot);
		}
	}
	return 0;
}

static int rack_recorder_check(const struct rack_recorder *k, double line_gbps,
    struct sim_err *e)
{
	if (k->p->truth && RACK_TRUTH_NS % rack_slot_ns(k->r) != 0)
		return sim_fail(e, SIM_EINVAL,
		    "the truth is told by %d ns, which is no multiple of the "
		    "slot, %" PRIu64 " ns.",
		    RACK_TRUTH_NS, rack_slot_ns(k->r));
	if (k->n_widths == 0 || k->n_widths > RACK_MAX_WIDTHS)
		return sim_fail(e, SIM_EINVAL,
		    "%u widths of buckets are not from 1 to %d.", k->n_widths,
		    RACK_MAX_WIDTHS);
	for (unsigned w = 0; w < k->n_widths; w++) {
		const sim_ns width = k->width_ns[w];
		const sim_ns slot = rack_slot_ns(k->r);
		if (width == 0 || width % slot != 0)
			return sim_fail(e, SIM_EINVAL,
			    "a width of %" PRIu64
			    " ns is no multiple of the slot, %" PRIu64 " ns.",
			    width, slot);
		if ((double)width * line_gbps / 8 > 2e9)
			return sim_fail(e, SIM_EINVAL,
			    "a bucket of %" PRIu64
			    " ns at %g Gb/s may hold more than 2e9 bytes.",
			    width, line_gbps);
	}
	return 0;
}

int rack_record(struct rack *r, const struct rack_record_params *p,
    const sim_ns width_ns[], unsigned n_widths, uint32_t first_host,
    sim_ns until, const struct sim_seed *where, struct obs_runs *runs,
    struct obs_samples *samples, struct rack_losses *lost, struct sim_err *e)
{
	const struct rack_params *rp = rack_params_of(r);
	struct rack_recorder k = {.r = r,
	    .p = p,
	    .n_widths = n_widths,
	    .width_ns = width_ns,
	    .n = rp->n_servers,
	    .now = (uint32_t)(rack_now(r) / rack_slot_ns(r)),
	    .first_host = first_host,
	    .losses = lost,
	    .truth_ns = p->truth ? RACK_TRUTH_NS
		: n_widths       ? width_ns[0]
				 : 0};
	uint32_t *row = NULL;
	int rc = rack_recorder_check(&k, rp->line_gbps, e);
	if (rc == 0)
		rc = rack_recorder_open(&k, where, e);
	while (rc == 0 && rack_now(r) + rack_slot_ns(r) <= until)
		rc = rack_recorder_slot(&k, e);
	if (rc == 0)
		rc = SIM_ZALLOC(&row, (size_t)n_widths * k.n, e);
	if (rc == 0)
		rc = rack_recorder_runs(&k, (uint64_t)(rp->line_gbps * 1e9),
		    runs, row, e);
	if (rc == 0)
		rc = rack_recorder_rows(&k, row, samples, e);
	free(row);
	free(k.run);
	free(k.next);
	free(k.error_ns);
	free(k.lost);
	obs_samples_free(&k.rows);
	return rc;
}
