/* results/samples.c -- files of hosts' runs, written and read.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "results/samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "results/h5_table.h"
#include "results/provenance.h"
#include "results/sample_stores.h"
#include "results/series.h"
#include "sim/text.h"
#include "sim/vec.h"

enum { SAMPLES_CHUNK = 32768, SAMPLES_FEW = 1024 };

#define RES_SPAN_COLUMNS(X) X(uint64_t, first_row, "1", "of its run")
struct res_spans {
	SIM_TABLE_ARRAYS(RES_SPAN_COLUMNS)
};
struct sample_span {
	SIM_TABLE_FIELDS(RES_SPAN_COLUMNS)
};
SIM_TABLE(res_spans, sample_span, RES_SPAN_COLUMNS)

static int samples_check_hosts(const struct res_hosts *h, uint32_t n_hosts,
    struct sim_err *e)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->host[i] >= n_hosts)
			return sim_fail(e, SIM_EINVAL,
			    "name %zu is of host %u, but there are only %u "
			    "hosts.",
			    i, h->host[i], n_hosts);
	return 0;
}

/* --- what was true ---------------------------------------------------------*/

enum { SAMPLES_N_TRUTH = 3 };
struct samples_true {
	const char *name;
	const struct sim_table *kind;
	void *table;
	const uint32_t *host;
	size_t n;
};

static void samples_list_truth(const struct res_samples_truth *t,
    struct samples_true list[SAMPLES_N_TRUTH])
{
	list[0] = (struct samples_true){"faults", res_true_faults_kind(),
	    (void *)&t->faults, t->faults.host, t->faults.n};
	list[1] = (struct samples_true){"losses", res_true_losses_kind(),
	    (void *)&t->losses, t->losses.host, t->losses.n};
	list[2] = (struct samples_true){"bursts", res_true_bursts_kind(),
	    (void *)&t->bursts, t->bursts.host, t->bursts.n};
}

static int samples_check_truth(const struct res_samples_truth *t,
    uint32_t n_hosts, struct sim_err *e)
{
	struct samples_true list[SAMPLES_N_TRUTH];
	samples_list_truth(t, list);
	for (size_t i = 0; i < SAMPLES_N_TRUTH; i++)
		for (size_t k = 0; k < list[i].n; k++)
			if (list[i].host[k] >= n_hosts)
				return sim_fail(e, SIM_EINVAL,
				    "row %zu of %s is of host %u, but there "
				    "are only %u hosts.",
				    k, list[i].name, list[i].host[k], n_hosts);
	return 0;
}

void res_samples_truth_free(struct res_samples_truth *t)
{
	res_true_faults_free(&t->faults);
	res_true_losses_free(&t->losses);
	res_true_bursts_free(&t->bursts);
}

/* --- writing ---------------------------------------------------------------*/

struct res_samples_out {
	char *path;
	struct res_h5_out *file;
	struct res_h5_table_out *hosts, *runs, *spans, *samples;
	uint64_t n_runs, n_rows;
	uint32_t n_hosts;
	int failed;
};

static int samples_put_info(struct res_h5_out *f,
    const struct res_samples_info *x, struct sim_err *e)
{
	const struct {
		const char *name;
		uint64_t value;
	} count[] = {
	    {"samples_version", RES_SAMPLES_VERSION},
	    {"seed", x->seed},
	    {"point", x->point},
	    {"trial", x->trial},
	    {"n_hosts", x->n_hosts},
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(count) / sizeof(*count); i++)
		rc = res_h5_out_counts(f, count[i].name, 1, &count[i].value, e);
	if (rc == 0)
		rc = res_h5_out_text(f, "spec", x->spec ? x->spec : "", e);
	return rc < 0 ? rc
		      : res_h5_out_text(f, "culprit",
			    x->culprit ? x->culprit : res_version(), e);
}

static int samples_make_tables(struct res_samples_out *w, struct sim_err *e)
{
	const struct {
		const char *name;
		const struct sim_table *kind;
		size_t chunk;
		struct res_h5_table_out **t;
	} table[] = {
	    {"hosts", res_hosts_kind(), SAMPLES_FEW, &w->hosts},
	    {"runs", obs_runs_kind(), SAMPLES_FEW, &w->runs},
	    {"spans", res_spans_kind(), SAMPLES_FEW, &w->spans},
	    {"samples", obs_samples_kind(), SAMPLES_CHUNK, &w->samples},
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(table) / sizeof(*table); i++)
		rc = res_h5_out_table(w->file, table[i].name,
		    table[i].kind->column, table[i].kind->n_columns,
		    table[i].chunk, table[i].t, e);
	return rc;
}

int res_samples_create(struct res_samples_out **out, const char *path,
    const struct res_samples_info *info, struct sim_err *e)
{
	struct res_samples_out *w;
	int rc = SIM_ZALLOC(&w, 1, e);
	if (rc < 0)
		return rc;
	w->n_hosts = info->n_hosts;
	if ((rc = sim_dup(&w->path, path, e)) == 0 &&
	    (rc = res_h5_out_open(&w->file, path, e)) == 0 &&
	    (rc = samples_put_info(w->file, info, e)) == 0)
		rc = samples_make_tables(w, e);
	if (rc < 0) {
		res_samples_discard(w);
		return sim_wrap(e, rc, "samples %s", path);
	}
	*out = w;
	return 0;
}

/* Who has failed once can only finish, which fails, or discard: a part must not
 * pass for the whole. */
static int samples_failed(struct res_samples_out *w, int rc, struct sim_err *e)
{
	w->failed |= rc < 0;
	return rc < 0 ? sim_wrap(e, rc, "samples %s", w->path) : 0;
}

/* Where each run's rows begin, BEFORE rows of others. Rows are in order, so one
 * pass over both. */
static int samples_spans(struct res_spans *spans, uint64_t before,
    size_t n_runs, const struct obs_samples *t, struct sim_err *e)
{
	size_t at = 0;
	int rc = 0;
	for (size_t run = 0; rc == 0 && run < n_runs; run++) {
		while (at < t->n && t->run[at] < run)
			at++;
		rc =
		    res_spans_add(spans, &(struct sample_span){before + at}, e);
	}
	return rc;
}

static int samples_add_spans(struct res_samples_out *w, size_t n_runs,
    const struct obs_samples *t, struct sim_err *e)
{
	struct res_spans spans = {0};
	int rc = samples_spans(&spans, w->n_rows, n_runs, t, e);
	if (rc == 0)
		rc = res_h5_out_append(w->spans, res_spans_kind(), &spans, e);
	res_spans_free(&spans);
	return rc;
}

static int samples_add_rows(struct res_samples_out *w,
    const struct obs_samples *t, struct sim_err *e)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < t->n; i++) {
		struct obs_sample s = obs_samples_at(t, i);
		s.run += (uint32_t)w->n_runs;
		rc = res_h5_out_rows(w->samples, &s, sizeof(s), 1, e);
	}
	return rc;
}

int res_samples_add(struct res_samples_out *w, const struct obs_runs *runs,
    const struct obs_samples *t, struct sim_err *e)
{
	int rc = obs_runs_check(runs, w->n_hosts, e);
	if (rc == 0)
		rc = obs_samples_check(t, runs, e);
	if (rc == 0 && runs->n > UINT32_MAX - w->n_runs)
		rc = sim_fail(e, SIM_EINVAL,
		    "there are more than 2^32 - 1 runs.");
	if (rc == 0)
		rc = samples_add_spans(w, runs->n, t, e);
	if (rc == 0)
		rc = samples_add_rows(w, t, e);
	if (rc == 0)
		rc = res_h5_out_append(w->runs, obs_runs_kind(), runs, e);
	w->n_runs += runs->n;
	w->n_rows += t->n;
	return samples_failed(w, rc, e);
}

int res_samples_add_hosts(struct res_samples_out *w, const struct res_hosts *h,
    struct sim_err *e)
{
	int rc = samples_check_hosts(h, w->n_hosts, e);
	if (rc == 0)
		rc = res_h5_out_append(w->hosts, res_hosts_kind(), h, e);
	return samples_failed(w, rc, e);
}

int res_samples_add_truth(struct res_samples_out *w,
    const struct res_samples_truth *t, struct sim_err *e)
{
	struct samples_true list[SAMPLES_N_TRUTH];
	int rc = samples_check_truth(t, w->n_hosts, e);
	samples_list_truth(t, list);
	for (size_t i = 0; rc == 0 && i < SAMPLES_N_TRUTH; i++) {
		struct res_h5_table_out *out;
		rc = res_h5_out_table(w->file, list[i].name,
		    list[i].kind->column, list[i].kind->n_columns, SAMPLES_FEW,
		    &out, e);
		if (rc == 0)
			rc = res_h5_out_append(out, list[i].kind, list[i].table,
			    e);
	}
	return samples_failed(w, rc, e);
}

int res_samples_finish(struct res_samples_out *w, struct sim_err *e)
{
	int rc = w->failed
	    ? sim_fail(e, SIM_EIO, "samples %s: a part could not be written.",
		  w->path)
	    : 0;
	if (rc == 0) {
		rc = res_h5_out_finish(w->file, e);
		w->file = NULL;
		if (rc < 0)
			sim_wrap(e, rc, "samples %s", w->path);
	}
	res_samples_discard(w);
	return rc;
}

void res_samples_discard(struct res_samples_out *w)
{
	if (!w)
		return;
	res_h5_out_discard(w->file);
	free(w->path);
	free(w);
}

/* --- reading ---------------------------------------------------------------*/

struct res_samples {
	char *path, *spec, *culprit;
	struct res_stores *stores; /* of a folder; then there is no file */
	struct res_h5_in *file;
	struct res_samples_info info;
	struct res_hosts hosts;
	struct obs_runs runs;
	struct res_spans spans;
	struct res_h5_table_in *samples;
	uint64_t n_rows;
	struct obs_samples kept; /* its rows, if FILE is NULL */
};

static int samples_get_counts(struct res_samples *r, struct sim_err *e)
{
	uint64_t point = 0, trial = 0, n_hosts = 0;
	int rc = res_h5_in_counts(r->file, "seed", 1, &r->info.seed, e);
	if (rc == 0)
		rc = res_h5_in_counts(r->file, "point", 1, &point, e);
	if (rc == 0)
		rc = res_h5_in_counts(r->file, "trial", 1, &trial, e);
	if (rc == 0)
		rc = res_h5_in_counts(r->file, "n_hosts", 1, &n_hosts, e);
	if (rc == 0 && (point | trial | n_hosts) > UINT32_MAX)
		rc = sim_fail(e, SIM_EPARSE,
		    "it has point %" PRIu64 ", trial %" PRIu64 " and %" PRIu64
		    " hosts, but none can be above 2^32 - 1.",
		    point, trial, n_hosts);
	r->info.point = (uint32_t)point;
	r->info.trial = (uint32_t)trial;
	r->info.n_hosts = (uint32_t)n_hosts;
	return rc;
}

static int samples_get_info(struct res_samples *r, struct sim_err *e)
{
	uint64_t version;
	int rc = res_h5_in_counts(r->file, "samples_version", 1, &version, e);
	if (rc < 0)
		return sim_wrap(e, rc, "it is no file of samples");
	/* The version is looked at first: with another one all else may
	 * differ. */
	if (version != RES_SAMPLES_VERSION)
		return sim_fail(e, SIM_EMISMATCH,
		    "it has samples version %" PRIu64
		    "; this culprit reads %d.",
		    version, RES_SAMPLES_VERSION);
	if ((rc = res_h5_in_text(r->file, "spec", &r->spec, e)) < 0 ||
	    (rc = res_h5_in_text(r->file, "culprit", &r->culprit, e)) < 0)
		return rc;
	r->info.spec = r->spec;
	r->info.culprit = r->culprit;
	return samples_get_counts(r, e);
}

/* Where the rows of run I end. */
static uint64_t samples_end(const struct res_samples *r, size_t i)
{
	return i + 1 < r->spans.n ? r->spans.first_row[i + 1] : r->n_rows;
}

static int samples_check_spans(const struct res_samples *r, struct sim_err *e)
{
	if (r->spans.n != r->runs.n)
		return sim_fail(e, SIM_EPARSE, "%zu runs have %zu spans.",
		    r->runs.n, r->spans.n);
	if (r->spans.n > 0 && r->spans.first_row[0] != 0)
		return sim_fail(e, SIM_EPARSE,
		    "run 0 begins at row %" PRIu64 ", not at 0.",
		    r->spans.first_row[0]);
	for (size_t i = 0; i < r->spans.n; i++)
		if (r->spans.first_row[i] > samples_end(r, i))
			return sim_fail(e, SIM_EPARSE,
			    "run %zu has rows from %" PRIu64 " to %" PRIu64 ".",
			    i, r->spans.first_row[i], samples_end(r, i));
	return 0;
}

/* What was written passed the same checks, but the file may have been made by
 * another program. */
static int samples_bad_row(int rc)
{
	return rc == SIM_EINVAL ? SIM_EPARSE : rc;
}

static int samples_get_tables(struct res_samples *r, struct sim_err *e)
{
	const struct sim_table *kind = obs_samples_kind();
	int rc = res_h5_in_table(r->file, "samples", kind->column,
	    kind->n_columns, &r->samples, &r->n_rows, e);
	if (rc == 0)
		rc = res_series_all_rows(r->file, "hosts", res_hosts_kind(),
		    &r->hosts, e);
	if (rc == 0)
		rc = res_series_all_rows(r->file, "runs", obs_runs_kind(),
		    &r->runs, e);
	if (rc == 0)
		rc = res_series_all_rows(r->file, "spans", res_spans_kind(),
		    &r->spans, e);
	if (rc == 0)
		rc = samples_bad_row(
		    samples_check_hosts(&r->hosts, r->info.n_hosts, e));
	if (rc == 0)
		rc = samples_bad_row(
		    obs_runs_check(&r->runs, r->info.n_hosts, e));
	return rc < 0 ? rc : samples_check_spans(r, e);
}

static int samples_open_file(struct res_samples *r, struct sim_err *e)
{
	int rc = res_h5_in_open(&r->file, r->path, e);
	if (rc == 0 &&
	    ((rc = samples_get_info(r, e)) < 0 ||
		(rc = samples_get_tables(r, e)) < 0))
		sim_wrap(e, rc, "cannot read %s", r->path);
	return rc;
}

static int samples_open_folder(struct res_samples *r, struct sim_err *e)
{
	const int rc =
	    res_stores_open(&r->stores, r->path, &r->runs, &r->hosts, e);
	r->info = (struct res_samples_info){.spec = "",
	    .culprit = "",
	    .n_hosts = (uint32_t)r->hosts.n};
	return rc;
}

int res_samples_open(struct res_samples **out, const char *path,
    struct sim_err *e)
{
	struct res_samples *r;
	struct stat st;
	int rc = SIM_ZALLOC(&r, 1, e);
	if (rc < 0)
		return rc;
	if ((rc = sim_dup(&r->path, path, e)) == 0)
		rc = stat(path, &st) == 0 && S_ISDIR(st.st_mode)
		    ? samples_open_folder(r, e)
		    : samples_open_file(r, e);
	if (rc < 0) {
		res_samples_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

int res_samples_keep(struct res_samples **out, const char *path,
    uint32_t n_hosts, struct res_hosts *h, struct obs_runs *runs,
    struct obs_samples *t, struct sim_err *e)
{
	struct res_samples *r = NULL;
	int rc = SIM_ZALLOC(&r, 1, e);
	if (rc < 0)
		return rc;
	r->info = (struct res_samples_info){.spec = "",
	    .culprit = res_version(),
	    .n_hosts = n_hosts};
	r->n_rows = t->n;
	if ((rc = samples_check_hosts(h, n_hosts, e)) < 0 ||
	    (rc = obs_runs_check(runs, n_hosts, e)) < 0 ||
	    (rc = obs_samples_check(t, runs, e)) < 0 ||
	    (rc = samples_spans(&r->spans, 0, runs->n, t, e)) < 0 ||
	    (rc = sim_dup(&r->path, path, e)) < 0) {
		res_samples_close(r);
		return rc;
	}
	r->hosts = *h;
	r->runs = *runs;
	r->kept = *t;
	*h = (struct res_hosts){0};
	*runs = (struct obs_runs){0};
	*t = (struct obs_samples){0};
	*out = r;
	return 0;
}

void res_samples_close(struct res_samples *r)
{
	if (!r)
		return;
	res_h5_in_close(r->file);
	res_stores_close(r->stores);
	res_hosts_free(&r->hosts);
	obs_runs_free(&r->runs);
	res_spans_free(&r->spans);
	obs_samples_free(&r->kept);
	free(r->spec);
	free(r->culprit);
	free(r->path);
	free(r);
}

const struct res_samples_info *res_samples_info(const struct res_samples *r)
{
	return &r->info;
}

const struct obs_runs *res_samples_runs(const struct res_samples *r)
{
	return &r->runs;
}

const struct res_hosts *res_samples_hosts(const struct res_samples *r)
{
	return &r->hosts;
}

const char *res_samples_said(const struct res_samples *r)
{
	return r->stores ? res_stores_said(r->stores) : NULL;
}

int res_samples_has_truth(const struct res_samples *r, struct sim_err *e)
{
	return r->file ? res_h5_in_has(r->file, "faults", e) : 0;
}

int res_samples_load_truth(struct res_samples *r, struct res_samples_truth *t,
    struct sim_err *e)
{
	struct samples_true list[SAMPLES_N_TRUTH];
	int rc = 0;
	samples_list_truth(t, list);
	for (size_t i = 0; rc == 0 && i < SAMPLES_N_TRUTH; i++)
		rc = res_series_all_rows(r->file, list[i].name, list[i].kind,
		    list[i].table, e);
	if (rc == 0)
		rc =
		    samples_bad_row(samples_check_truth(t, r->info.n_hosts, e));
	return rc < 0 ? sim_wrap(e, rc, "cannot read %s", r->path) : 0;
}

/* The rows of runs FIRST .. FIRST + N - 1 are theirs, as many each as the spans
 * say. */
static int samples_check_rows(const struct res_samples *r, size_t first,
    size_t n, const struct obs_samples *t, struct sim_err *e)
{
	const uint64_t off = n > 0 ? r->spans.first_row[first] : 0;
	size_t at = 0;
	for (size_t run = first; run < first + n; run++) {
		for (; at < samples_end(r, run) - off; at++)
			if (t->run[at] != run)
				return sim_fail(e, SIM_EPARSE,
				    "row %" PRIu64
				    " is of run %u, but stands with those of "
				    "run %zu.",
				    off + at, t->run[at], run);
	}
	return samples_bad_row(obs_samples_check(t, &r->runs, e));
}

static int samples_copy(const struct res_samples *r, uint64_t from, size_t n,
    struct obs_samples *t, struct sim_err *e)
{
	int rc = obs_samples_reserve(t, n, e);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		const struct obs_sample s = obs_samples_at(&r->kept, from + i);
		rc = obs_samples_add(t, &s, e);
	}
	return rc;
}

int res_samples_load(struct res_samples *r, size_t first, size_t n,
    struct obs_samples *t, struct sim_err *e)
{
	if (first > r->runs.n || n > r->runs.n - first)
		return sim_fail(e, SIM_ERANGE,
		    "%s has %zu runs; there are none from %zu to %zu.", r->path,
		    r->runs.n, first, first + n - 1);
	obs_samples_clear(t);
	int rc = 0;
	for (size_t i = first; r->stores && rc == 0 && i < first + n; i++)
		rc = res_stores_load(r->stores, i, t, e);
	if (r->stores || n == 0)
		return rc;
	const uint64_t off = r->spans.first_row[first];
	const size_t n_rows = (size_t)(samples_end(r, first + n - 1) - off);
	rc = r->file ? res_h5_in_append(r->samples, off, n_rows,
			   obs_samples_kind(), t, e)
		     : samples_copy(r, off, n_rows, t, e);
	if (rc == 0)
		rc = samples_check_rows(r, first, n, t, e);
	return rc < 0 ? sim_wrap(e, rc, "cannot read %s", r->path) : 0;
}
