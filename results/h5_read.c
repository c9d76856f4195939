/* results/h5_read.c -- an HDF5 file as a cube, trusting nothing in it.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The file is read into memory once, so the bytes that HDF5 sees are those that
 * were checked, whatever happens to the file meanwhile.
 */
#include "results/h5.h"

#include <stdlib.h>
#include <string.h>

#include "results/file.h"
#include "results/h5_far.h"
#include "results/h5_parts.h"
#include "results/until.h"
#include "sim/bytes.h"
#include "sim/text.h"
#include "sim/vec.h"

struct res_h5_reader {
	struct res_h5_far far; /* of the file's bytes */
	size_t most_bytes;     /* for which its process is bounded */
	struct res_cube *c;
	const void *image;
	const char *scratch; /* NULL: all in memory */
	/* Of metrics: algorithm, axes..., run; or of a shard algorithm, cell,
	 * and the axes along. */
	hsize_t dim[H5S_MAX_RANK];
	unsigned rank;
	struct sim_err *e;
};

/* --- attributes -----------------------------------------------------------*/

static int get_text(struct res_h5_reader *r, const char *at, const char *name,
    char **out)
{
	return res_h5_far_text(&r->far, at, name, out, r->e);
}

static int get_counts(struct res_h5_reader *r, const char *name, size_t n,
    uint64_t out[])
{
	return res_h5_far_counts(&r->far, name, n, out, r->e);
}

/* A text that may be missing. */
static int get_optional(struct res_h5_reader *r, const char *name, char **out)
{
	const int rc = res_h5_far_has_attr(&r->far, name, r->e);
	return rc <= 0 ? rc : get_text(r, "", name, out);
}

/* --- datasets -------------------------------------------------------------*/

/* What dataset NAME is, which must have RANK dimensions, none of them 0. */
static int get_shape_of(struct res_h5_reader *r, const char *name,
    unsigned rank, struct res_h5_shape *is)
{
	const int rc = res_h5_far_shape(&r->far, name, is, r->e);
	if (rc < 0)
		return rc;
	int good = is->rank == rank;
	for (unsigned i = 0; good && i < rank; i++)
		good = is->dim[i] > 0;
	return good
	    ? 0
	    : sim_fail(r->e, SIM_EPARSE,
		  "dataset %s has not %u dimensions above 0.", name, rank);
}

/* The length of a list. Lists are not compressed, so each entry takes a byte or
 * more: a longer one is a lie that would cost us memory. */
static int get_length(struct res_h5_reader *r, const char *name, hsize_t *n)
{
	struct res_h5_shape is;
	const int rc = get_shape_of(r, name, 1, &is);
	if (rc < 0)
		return rc;
	*n = is.dim[0];
	if (*n > r->far.n_bytes)
		return sim_fail(r->e, SIM_EPARSE,
		    "dataset %s is larger than the file.", name);
	return 0;
}

/* Read numbers of CLASS with exactly these dimensions, for which OUT has
 * room. */
static int get_numbers(struct res_h5_reader *r, const char *name,
    enum res_h5_class class, enum sim_type type, unsigned rank,
    const hsize_t dim[], void *out)
{
	struct res_h5_shape is = {.class = class, .rank = rank};
	for (unsigned i = 0; i < rank; i++)
		is.dim[i] = dim[i];
	return res_h5_far_numbers(&r->far, name, &is, type, out, r->e);
}

/* N texts; OUT has room for them. */
static int get_texts(struct res_h5_reader *r, const char *name, size_t n,
    char *out[])
{
	return res_h5_far_texts(&r->far, name, n, out, r->e);
}

/* --- coordinates ----------------------------------------------------------*/

static int get_coord(struct res_h5_reader *r, const struct res_axis *a,
    struct res_coord *k)
{
	struct res_h5_shape is;
	int rc;
	if ((rc = get_shape_of(r, k->name, 1, &is)) < 0 ||
	    (rc = get_text(r, k->name, "units", &k->unit)) < 0 ||
	    (rc = get_text(r, k->name, "long_name", &k->doc)) < 0)
		return rc;
	const hsize_t n = a->n;
	if (is.class == RES_H5_TEXT)
		return (rc = SIM_ZALLOC(&k->text, a->n, r->e)) < 0
		    ? rc
		    : get_texts(r, k->name, a->n, k->text);
	return (rc = SIM_ZALLOC(&k->number, a->n, r->e)) < 0
	    ? rc
	    : get_numbers(r, k->name, RES_H5_FLOAT, SIM_F64, 1, &n, k->number);
}

static size_t count_char(const char *text, char mark)
{
	size_t n = 0;
	for (; *text; text++)
		n += *text == mark;
	return n;
}

/* LINE is the axis's line of names; it is cut into pieces. */
static int get_axis(struct res_h5_reader *r, struct res_axis *a, char *line)
{
	size_t n_coords = count_char(line, '\t') + 1;
	int rc = SIM_ZALLOC(&a->coord, n_coords, r->e);
	if (rc < 0)
		return rc;
	a->n_coords = n_coords;
	for (size_t i = 0; i < n_coords; i++) {
		char *name = strsep(&line, "\t");
		if (i == 0) {
			hsize_t n = 0;
			if ((rc = get_length(r, name, &n)) < 0)
				return rc;
			a->n = (size_t)n;
		}
		if ((rc = sim_dup(&a->coord[i].name, name, r->e)) < 0 ||
		    (rc = get_coord(r, a, &a->coord[i])) < 0)
			return rc;
	}
	return 0;
}

static int get_axes(struct res_h5_reader *r, char *names)
{
	struct res_cube *c = r->c;
	size_t n = *names ? count_char(names, '\n') + 1 : 0;
	/* Algorithm and run are dimensions too. */
	if (n > RES_MAX_AXES)
		return sim_fail(r->e, SIM_EPARSE, "%zu axes are too many.", n);
	int rc = SIM_ZALLOC(&c->axis, n, r->e);
	if (rc < 0)
		return rc;
	c->n_axes = n;
	for (size_t a = 0; rc == 0 && a < n; a++)
		rc = get_axis(r, &c->axis[a], strsep(&names, "\n"));
	return rc;
}

static int get_algos(struct res_h5_reader *r)
{
	struct res_cube *c = r->c;
	hsize_t n = 0;
	int rc;
	if ((rc = res_h5_far_has(&r->far, "algorithm", r->e)) <= 0)
		return rc;
	if ((rc = get_length(r, "algorithm", &n)) < 0)
		return rc;
	if ((rc = SIM_ZALLOC(&c->algo, n, r->e)) < 0)
		return rc;
	c->n_algos = n;
	return get_texts(r, "algorithm", n, c->algo);
}

/* Points of a cell; a file says it only when they are several. */
static int get_along(struct res_h5_reader *r)
{
	uint64_t n = 1;
	int rc = res_h5_far_has_attr(&r->far, "n_along", r->e);
	if (rc > 0)
		rc = get_counts(r, "n_along", 1, &n);
	if (rc == 0 && (n == 0 || n > r->c->n_points))
		rc = sim_fail(r->e, SIM_EPARSE,
		    "%llu points a cell, of %zu in all.", (unsigned long long)n,
		    r->c->n_points);
	r->c->n_along = (size_t)n;
	return rc;
}

static int get_shape(struct res_h5_reader *r)
{
	struct res_cube *c = r->c;
	char *names = NULL;
	hsize_t n_runs = 0;
	int rc;
	if ((rc = get_algos(r)) == 0 &&
	    (rc = get_text(r, "", "axes", &names)) == 0 &&
	    (rc = get_axes(r, names)) == 0)
		rc = get_length(r, "run", &n_runs);
	free(names);
	if (rc < 0)
		return rc;
	c->n_runs = (size_t)n_runs;
	size_t n = c->n_runs;
	c->n_points = 1;
	for (size_t a = 0; a < c->n_axes; a++) {
		c->n_points *= c->axis[a].n;
		/* /status has a byte a cell in the file, so a file cannot hold
		 * more cells than bytes; a shard holds its part. */
		if (__builtin_mul_overflow(n, c->axis[a].n, &n) ||
		    n / c->shard_n > r->far.n_bytes)
			return sim_fail(r->e, SIM_EPARSE,
			    "the axes span more cells than the file holds.");
	}
	rc = get_along(r);
	if (rc == 0)
		r->rank = res_h5_dims(c, r->dim);
	return rc;
}

/* --- numbers --------------------------------------------------------------*/

/* Which metrics a file has, the trial's and then each algorithm's. */
enum { N_METRICS = RES_N_TRIAL_METRICS + RES_N_ALGO_METRICS };
struct metrics_there {
	uint8_t is[N_METRICS];
};

static const struct res_metric *file_metric(unsigned i)
{
	return i < RES_N_TRIAL_METRICS
	    ? &res_trial_metrics[i]
	    : &res_algo_metrics[i - RES_N_TRIAL_METRICS];
}

static int look_for_metrics(struct res_h5_reader *r,
    struct metrics_there *there)
{
	const char *name[N_METRICS];
	for (unsigned i = 0; i < N_METRICS; i++)
		name[i] = file_metric(i)->name;
	return res_h5_far_has_each(&r->far, N_METRICS, name, there->is, r->e);
}

/* The same rule as put_metric() in h5.c: what it must not leave out has to be
 * there. */
static int may_lack(const struct res_h5_reader *r, unsigned i,
    const struct metrics_there *there)
{
	const struct res_metric *m = file_metric(i);
	return m->optional ||
	    (i >= RES_N_TRIAL_METRICS && r->c->n_algos == 0) ||
	    (m->of_flows && there->is[RES_TRIAL_n_probes]);
}

/* Metric I of all rows. */
static int get_metric(struct res_h5_reader *r, unsigned i, double buf[])
{
	struct res_cube *c = r->c;
	const int per_algo = i >= RES_N_TRIAL_METRICS;
	const unsigned skip = per_algo ? 0 : 1;
	const int rc = get_numbers(r, file_metric(i)->name, RES_H5_FLOAT,
	    SIM_F64, r->rank - skip, r->dim + skip, buf);
	if (rc == 0 && !per_algo)
		res_columns_write(&c->rows, i, buf);
	for (size_t a = 0; rc == 0 && per_algo && a < c->n_algos; a++)
		res_columns_write(&c->rows,
		    res_row_doubles(a) + i - RES_N_TRIAL_METRICS,
		    buf + a * c->n_rows);
	return rc;
}

static int get_metrics(struct res_h5_reader *r, double buf[])
{
	struct metrics_there there;
	int rc = look_for_metrics(r, &there);
	for (unsigned i = 0; rc == 0 && i < N_METRICS; i++)
		if (there.is[i] || !may_lack(r, i, &there))
			rc = get_metric(r, i, buf);
	return rc;
}

/* All points of a cell come from one trial, so they have one status. */
static int check_status(struct res_h5_reader *r)
{
	const struct res_cube *c = r->c;
	const size_t n = res_cube_own_cells(c);
	for (size_t i = 0; i < n; i++) {
		const size_t cell = res_cube_own_cell(c, i);
		const size_t first = cell / c->n_runs * c->n_along;
		const size_t run = cell % c->n_runs;
		for (size_t p = first; p < first + c->n_along; p++)
			if (res_cube_run_status(c, p, run) !=
			    res_cube_status(c, cell))
				return sim_fail(r->e, SIM_EPARSE,
				    "point %zu run %zu and another of its "
				    "trial differ in status.",
				    p, run);
	}
	return 0;
}

/* The cells of a shard follow from its number, so other ones are a mistake. */
static int check_cells(struct res_h5_reader *r)
{
	const struct res_cube *c = r->c;
	const hsize_t n = res_cube_own_cells(c);
	uint64_t *cell = NULL;
	int rc = SIM_ZALLOC(&cell, n, r->e);
	if (rc == 0)
		rc = get_numbers(r, "cell", RES_H5_INTEGER, SIM_U64, 1, &n,
		    cell);
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (cell[i] != res_cube_own_cell(c, i))
			rc = sim_fail(r->e, SIM_EPARSE,
			    "cell %llu is not of shard %u/%u.",
			    (unsigned long long)cell[i], c->shard_i + 1,
			    c->shard_n);
	free(cell);
	return rc;
}

static int get_rows(struct res_h5_reader *r)
{
	struct res_cube *c = r->c;
	double *buf = NULL;
	int rc = c->shard_n > 1 ? check_cells(r) : 0;
	if (rc == 0)
		rc = get_numbers(r, "status", RES_H5_INTEGER, SIM_U8,
		    r->rank - 1, r->dim + 1, c->status);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < c->n_rows; i++)
		if (c->status[i] > RES_CRASHED)
			return sim_fail(r->e, SIM_EPARSE,
			    "cell %zu has status %u, which is none.", i,
			    c->status[i]);
	if ((rc = check_status(r)) < 0)
		return rc;
	const size_t n_algos = c->n_algos > 0 ? c->n_algos : 1;
	if ((rc = sim_zalloc(&buf, c->n_rows, n_algos * sizeof(buf[0]),
		 r->e)) == 0)
		rc = get_metrics(r, buf);
	free(buf);
	return rc;
}

static int get_cells(struct res_h5_reader *r)
{
	int rc = res_cube_alloc(r->c, r->e);
	if (rc == SIM_EINVAL) /* n_along does not fit the axes */
		rc = SIM_EPARSE;
	if (rc == 0 && r->scratch)
		rc = res_columns_spill(&r->c->rows, r->scratch, r->e);
	/* There may be more shards than cells. */
	if (rc < 0 || r->c->n_rows == 0 || (rc = get_rows(r)) < 0)
		return rc;
	/* The cells tell which runs count, so /runs_used is not asked. */
	rc = res_until_decide(r->c, NULL, r->e);
	return rc == SIM_ENOMEM || rc == 0 ? rc : SIM_EPARSE;
}

/* --- claims ---------------------------------------------------------------*/

struct claim_columns {
	char **metric, **text;
	double *value;
	uint32_t *confirmed;
};

static int get_columns(struct res_h5_reader *r, hsize_t n,
    struct claim_columns *k)
{
	int rc;
	if ((rc = SIM_ZALLOC(&k->metric, n, r->e)) < 0 ||
	    (rc = SIM_ZALLOC(&k->text, n, r->e)) < 0 ||
	    (rc = SIM_ZALLOC(&k->value, n, r->e)) < 0 ||
	    (rc = SIM_ZALLOC(&k->confirmed, n, r->e)) < 0 ||
	    (rc = get_texts(r, "claims/metric", n, k->metric)) < 0 ||
	    (rc = get_texts(r, "claims/text", n, k->text)) < 0 ||
	    (rc = get_numbers(r, "claims/value", RES_H5_FLOAT, SIM_F64, 1, &n,
		 k->value)) < 0)
		return rc;
	return get_numbers(r, "claims/confirmed", RES_H5_INTEGER, SIM_U32, 1,
	    &n, k->confirmed);
}

/* Texts move into the cube also when something failed, because it frees them
 * with everything else. */
static int fill_claims(struct res_h5_reader *r, hsize_t n)
{
	struct res_cube *c = r->c;
	struct claim_columns k = {0};
	int rc = SIM_ZALLOC(&c->claim, n, r->e);
	if (rc < 0)
		return rc;
	c->n_claims = n;
	rc = get_columns(r, n, &k);
	for (size_t i = 0; i < n; i++) {
		c->claim[i].metric = k.metric ? k.metric[i] : NULL;
		c->claim[i].text = k.text ? k.text[i] : NULL;
		if (rc == 0) {
			c->claim[i].value = k.value[i];
			c->claim[i].confirmed = k.confirmed[i];
		}
	}
	free(k.metric);
	free(k.text);
	free(k.value);
	free(k.confirmed);
	return rc;
}

static int get_claims(struct res_h5_reader *r)
{
	hsize_t n = 0;
	int rc = res_h5_far_has(&r->far, "claims", r->e);
	if (rc <= 0)
		return rc;
	rc = get_length(r, "claims/claim", &n);
	return rc < 0 ? rc : fill_claims(r, n);
}

/* --- the file -------------------------------------------------------------*/

static int get_identity(struct res_h5_reader *r)
{
	struct res_cube *c = r->c;
	uint64_t version, shard[2];
	int rc = get_counts(r, "schema_version", 1, &version);
	if (rc < 0)
		return rc;
	if (version != RES_SCHEMA_VERSION)
		return sim_fail(r->e, SIM_EMISMATCH,
		    "it has schema version %llu; this culprit reads %d.",
		    (unsigned long long)version, RES_SCHEMA_VERSION);
	if ((rc = get_text(r, "", "figure", &c->figure)) < 0 ||
	    (rc = get_text(r, "", "title", &c->title)) < 0 ||
	    (rc = get_text(r, "", "paper", &c->paper)) < 0 ||
	    (rc = get_text(r, "", "spec", &c->spec)) < 0 ||
	    (rc = get_text(r, "", "overrides", &c->overrides)) < 0 ||
	    (rc = get_text(r, "", "culprit", &c->version)) < 0 ||
	    (rc = get_text(r, "", "build", &c->build)) < 0 ||
	    (rc = get_text(r, "", "libraries", &c->libraries)) < 0 ||
	    (rc = get_counts(r, "seed", 1, &c->seed)) < 0 ||
	    (rc = get_counts(r, "shard", 2, shard)) < 0)
		return rc;
	c->spec_bytes = strlen(c->spec);
	if ((rc = get_optional(r, "partial", &c->partial)) < 0 ||
	    (rc = get_optional(r, "until_ci", &c->until)) < 0)
		return rc;
	if (shard[0] >= shard[1] || shard[1] > UINT32_MAX)
		return sim_fail(r->e, SIM_EPARSE, "shard %llu of %llu is none.",
		    (unsigned long long)shard[0], (unsigned long long)shard[1]);
	c->shard_i = (uint32_t)shard[0];
	c->shard_n = (uint32_t)shard[1];
	return 0;
}

static int h5_read_get_all(struct res_h5_reader *r)
{
	int rc;
	if ((rc = get_identity(r)) < 0 || (rc = get_shape(r)) < 0 ||
	    (rc = get_cells(r)) < 0)
		return rc;
	return get_claims(r);
}

/* Before HDF5 sees the file, since HDF5 1.10 trusts its metadata and may crash
 * on a damaged file. */
static int check_sum(const unsigned char *bytes, size_t n, struct sim_err *e)
{
	if (n < RES_H5_TRAILER ||
	    memcmp(bytes + n - RES_H5_TRAILER, RES_H5_MAGIC, 8) != 0)
		return sim_fail(e, SIM_EPARSE,
		    "it does not end as a results file of culprit does: it "
		    "is another file, cut short, or was edited.");
	if (sim_load_64(bytes + n - 8) !=
	    sim_fnv(SIM_FNV_START, bytes, n - RES_H5_TRAILER))
		return sim_fail(e, SIM_EPARSE,
		    "its checksum is wrong: the file is damaged.");
	return 0;
}

/* In the child: the file is a copy of its bytes. */
static int open_image(struct res_h5_far *far, const void *bytes, size_t n,
    struct sim_err *e)
{
	hid_t access = H5Pcreate(H5P_FILE_ACCESS);
	H5Pset_fapl_core(access, 1 << 20, 0);
	H5Pset_file_image(access, (void *)(uintptr_t)bytes, n);
	far->n_bytes = n;
	far->file = H5Fopen(RES_H5_NO_FILE, H5F_ACC_RDONLY, access);
	H5Pclose(access);
	return far->file < 0 ? res_h5_failed(SIM_EPARSE, "open", "it", e) : 0;
}

/* The first file is in the child's memory since it was forked. */
static int open_first(void *state, const void *ask, size_t n,
    struct sim_apart_reply *reply, struct sim_err *e)
{
	struct res_h5_reader *r = state;
	const int rc = res_h5_begin(e);
	(void)ask, (void)n, (void)reply;
	return rc < 0 ? rc : open_image(&r->far, r->image, r->far.n_bytes, e);
}

/* Bytes of another file are the question. */
static int open_next(void *state, const void *bytes, size_t n,
    struct sim_apart_reply *reply, struct sim_err *e)
{
	struct res_h5_reader *r = state;
	(void)reply;
	H5Fclose(r->far.file);
	return open_image(&r->far, bytes, n, e);
}

/* The bounds of a child are those of the file that it began with, so a larger
 * one begins another. */
static int open_bytes(struct res_h5_reader *r, const void *bytes, size_t n)
{
	if (r->far.apart && n <= r->most_bytes) {
		r->far.n_bytes = n;
		return sim_apart_ask(r->far.apart, open_next, bytes, n, NULL,
		    r->e);
	}
	res_h5_far_close(&r->far);
	r->image = bytes;
	r->far.n_bytes = r->most_bytes = n;
	return res_h5_far_open(&r->far, open_first, r->e);
}

/* After an error nothing of the file is left in the cube, nor of the child. */
static int read_once(struct res_h5_reader *r, const void *bytes, size_t n)
{
	int rc = open_bytes(r, bytes, n);
	if (rc == 0)
		rc = h5_read_get_all(r);
	if (rc == 0)
		return 0;
	res_h5_far_close(&r->far);
	res_cube_free(r->c);
	*r->c = (struct res_cube){0};
	return rc;
}

/* What earlier files left in a child, memory that HDF5 does not give back for
 * one, must not tell against this one: only a new child's error is the
 * file's. */
static int read_image(struct res_h5_reader *r, const void *bytes, size_t n)
{
	int rc = check_sum(bytes, n, r->e);
	if (rc < 0)
		return rc;
	const int is_new = !r->far.apart;
	rc = read_once(r, bytes, n - RES_H5_TRAILER);
	return rc == 0 || is_new ? rc : read_once(r, bytes, n - RES_H5_TRAILER);
}

int res_h5_reader_open(struct res_h5_reader **r, struct sim_err *e)
{
	return SIM_ZALLOC(r, 1, e);
}

void res_h5_reader_close(struct res_h5_reader *r)
{
	if (r)
		res_h5_far_close(&r->far);
	free(r);
}

int res_h5_reader_read(struct res_h5_reader *r, struct res_cube *c,
    const char *path, const char *scratch, struct sim_err *e)
{
	void *bytes = NULL;
	size_t n = 0;
	*c = (struct res_cube){0};
	int rc = res_file_read(path, &bytes, &n, e);
	if (rc < 0)
		return rc;
	r->c = c;
	r->scratch = scratch;
	r->e = e;
	rc = read_image(r, bytes, n);
	free(bytes);
	return rc == 0 ? 0 : sim_wrap(e, rc, "cannot read %s", path);
}

int res_h5_read_beside(struct res_cube *c, const char *path,
    const char *scratch, struct sim_err *e)
{
	struct res_h5_reader r = {0};
	const int rc = res_h5_reader_read(&r, c, path, scratch, e);
	res_h5_far_close(&r.far);
	return rc;
}

int res_h5_read(struct res_cube *c, const char *path, struct sim_err *e)
{
	return res_h5_read_beside(c, path, NULL, e);
}
