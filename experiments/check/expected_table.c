/* experiments/check/expected_table.c -- the table of what is expected.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/check/expected_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/provenance.h"
#include "sim/bytes.h"
#include "sim/ratio.h"
#include "sim/text.h"
#include "sim/vec.h"

#define COLUMNS "metric\truns\tn\ttrials\tvalue\tse"
const char xp_expected_columns[] = COLUMNS;
enum { N_COLUMNS = 6, MOST_ALONG = 100, MOST_PLACES = 500 };

/* --- what it was made of ---------------------------------------------------*/

static uint64_t hash_part(uint64_t h, const char *text, size_t n)
{
	const uint64_t size = n;
	return sim_fnv(sim_fnv(h, &size, sizeof(size)), text, n);
}

/* The version without its commit: numbers change with it alone, which
 * tests/golden_test.c sees to. */
static size_t version_length(const struct res_cube *c)
{
	return strcspn(c->version ? c->version : res_version(), " ");
}

uint64_t xp_expected_made_of(const struct res_cube *c)
{
	const char *over = c->overrides ? c->overrides : "";
	const char *spec = c->spec ? c->spec : "";
	const char *libraries = c->libraries ? c->libraries : "";
	const uint64_t numbers[2] = {c->seed, c->n_runs};
	/* Networks of the kernel never do the same twice. That a spec only
	 * speaks of fabrics costs it no more than exactness. */
	if (strstr(spec, "fabric") || strstr(over, "fabric"))
		return 0;
	/* Points that end early have other runs than those of the table. */
	if (c->until)
		return 0;
	uint64_t h = sim_fnv(SIM_FNV_START, numbers, sizeof(numbers));
	h = hash_part(h, spec, c->spec_bytes);
	h = hash_part(h, over, strlen(over));
	h = hash_part(h, c->version ? c->version : res_version(),
	    version_length(c));
	return hash_part(h, libraries, strlen(libraries));
}

/* --- what the runs come to -------------------------------------------------*/

/* A metric, or a ratio of two; columns of the cube. */
struct measure {
	const char *algo, *name; /* algo NULL: the trial's own */
	size_t num, den;
};
enum { NO_DEN = UINT32_MAX };

/* What is measured of run RUN over N points from FIRST on: sums of numerators
 * and denominators. Of a metric that is no ratio the denominator counts where
 * it was measured. */
static void sum_run(const struct res_cube *c, const struct measure *m,
    size_t first, size_t n, size_t run, double *num, double *den)
{
	*num = *den = 0;
	for (size_t p = first; p < first + n; p++) {
		const double x = res_cube_value(c, p, run, m->num);
		const double of =
		    m->den == NO_DEN ? 1 : res_cube_value(c, p, run, m->den);
		if (res_cube_run_status(c, p, run) != RES_DONE ||
		    !isfinite(x) || !(of > 0))
			continue;
		*num += x;
		*den += of;
	}
}

static int ran(const struct res_cube *c, size_t first, size_t n, size_t run)
{
	size_t p = first;
	while (p < first + n && res_cube_run_status(c, p, run) == RES_DONE)
		p++;
	return p == first + n;
}

/* A table that is being written, with room for a place and for each run. */
struct writer {
	const struct res_cube *c;
	FILE *out;
	size_t *place;     /* [n_axes] */
	double *num, *den; /* [n_runs] */
};

static struct xp_expected_row sum_up(struct writer *w, const struct measure *m,
    size_t first, size_t n)
{
	const struct res_cube *c = w->c;
	struct xp_expected_row r = {.value = NAN, .se = NAN};
	double sum_den = 0;
	for (size_t run = 0; run < c->n_runs; run++) {
		double *den = &w->den[r.n];
		if (!ran(c, first, n, run))
			continue;
		r.runs++;
		sum_run(c, m, first, n, run, &w->num[r.n], den);
		sum_den += *den;
		/* A run that measured nothing is overwritten by the next. */
		r.n += *den > 0;
	}
	if (r.n == 0)
		return r;
	const struct sim_ratio_sample sample = {w->num, w->den, r.n};
	r.value = sim_ratio_value(&sample);
	r.se = sim_ratio_se(&sample);
	/* What is the trial's own, as its probes, stands at each of the points
	 * that it is read along. */
	r.trials = m->den == NO_DEN ? (double)r.n
				    : fmax((double)r.n, sum_den / (double)n);
	return r;
}

/* --- writing ---------------------------------------------------------------*/

/* What would break a line or a column becomes a blank. */
static void expected_put_text(FILE *out, const char *text)
{
	for (; *text; text++)
		putc(strchr("\t\n\r", *text) ? ' ' : *text, out);
}

/* As many digits as the same sum has on any machine. */
static void expected_put_number(FILE *out, double x, int digits)
{
	if (isfinite(x))
		fprintf(out, "\t%.*g", digits, x);
	else
		fputs("\tNaN", out);
}

static void put_head(const struct res_cube *c, FILE *out)
{
	fprintf(out,
	    "# seed %" PRIu64 ", %zu runs, version %.*s; made of %016" PRIx64
	    "\n",
	    c->seed, c->n_runs, (int)version_length(c),
	    c->version ? c->version : res_version(), xp_expected_made_of(c));
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++) {
			expected_put_text(out, c->axis[a].coord[i].name);
			putc('\t', out);
		}
	fputs(COLUMNS "\n", out);
}

/* Of the place the first N_AXES axes are told. */
static void put_point(const struct writer *w, size_t n_axes)
{
	const struct res_cube *c = w->c;
	FILE *out = w->out;
	char digits[32];
	for (size_t a = 0; a < c->n_axes; a++)
		for (size_t i = 0; i < c->axis[a].n_coords; i++) {
			const struct res_coord *k = &c->axis[a].coord[i];
			if (a >= n_axes)
				putc('*', out);
			else if (k->number)
				fputs(sim_format_f64(digits,
					  k->number[w->place[a]]),
				    out);
			else
				expected_put_text(out, k->text[w->place[a]]);
			putc('\t', out);
		}
}

static void put_number_line(const struct writer *w, const struct measure *m,
    const struct xp_expected_row *r, size_t n_axes)
{
	FILE *out = w->out;
	put_point(w, n_axes);
	if (m->algo) {
		expected_put_text(out, m->algo);
		putc(':', out);
	}
	fprintf(out, "%s\t%" PRIu64 "\t%" PRIu64, m->name, r->runs, r->n);
	expected_put_number(out, r->trials, 10);
	expected_put_number(out, r->value, 10);
	expected_put_number(out, r->se, 4);
	putc('\n', out);
}

/* Of a part of the cells no run may have all places, and then there is no sum. */
static int expected_has_place(struct writer *w, const struct measure *m,
    size_t step)
{
	size_t p = 0;
	while (p < w->c->n_points && sum_up(w, m, p, step).n == 0)
		p += step;
	return p < w->c->n_points;
}

static void put_measure(struct writer *w, const struct measure *m, int all)
{
	const struct res_cube *c = w->c;
	/* The pairs of a heat map are not told one by one. */
	const int whole_cell = c->n_along > MOST_ALONG;
	const size_t step = whole_cell ? c->n_along : 1;
	const size_t n_axes = whole_cell ? res_cube_outer_axes(c) : c->n_axes;
	const struct xp_expected_row sum = sum_up(w, m, 0, c->n_points);
	/* What was measured nowhere has no lines; nor has each of a great many
	 * places, which would be megabytes. */
	if ((!all && c->n_points / step > MOST_PLACES) ||
	    (sum.n == 0 && (all || !expected_has_place(w, m, step))))
		return;
	/* One point is all points, and is told by its place. */
	if (all && step < c->n_points)
		put_number_line(w, m, &sum, 0);
	for (size_t p = 0; !all && p < c->n_points; p += step) {
		const struct xp_expected_row r = sum_up(w, m, p, step);
		res_cube_at(c, p, w->place);
		put_number_line(w, m, &r, n_axes);
	}
}

static int is_numerator(size_t i, const struct res_metric ratio[],
    unsigned n_ratios)
{
	unsigned k = 0;
	while (k < n_ratios && ratio[k].num != i)
		k++;
	return k < n_ratios;
}

/* All measures of one owner: ALGO NULL is the trial. Its columns begin at
 * FIRST. */
static void put_owner(struct writer *w, const char *algo, size_t first, int all)
{
	const struct res_metric *metric =
	    algo ? res_algo_metrics : res_trial_metrics;
	const struct res_metric *ratio = algo ? res_ratios : res_trial_ratios;
	const unsigned n = algo ? RES_N_ALGO_METRICS : RES_N_TRIAL_METRICS;
	const unsigned n_ratios = algo ? RES_N_RATIOS : RES_N_TRIAL_RATIOS;
	for (unsigned i = 0; i < n; i++)
		if (!is_numerator(i, ratio, n_ratios))
			put_measure(w,
			    &(struct measure){algo, metric[i].name, first + i,
				NO_DEN},
			    all);
	for (unsigned i = 0; i < n_ratios; i++)
		put_measure(w,
		    &(struct measure){algo, ratio[i].name, first + ratio[i].num,
			first + ratio[i].den},
		    all);
}

static void put_table(struct writer *w)
{
	const struct res_cube *c = w->c;
	put_head(c, w->out);
	/* Those over all points come first, as they tell most. */
	for (int all = 1; all >= 0; all--) {
		put_owner(w, NULL, 0, all);
		for (size_t a = 0; a < c->n_algos; a++)
			put_owner(w, c->algo[a], res_row_doubles(a), all);
	}
}

int xp_expected_write(const struct res_cube *c, FILE *out, struct sim_err *e)
{
	struct writer w = {.c = c, .out = out};
	int rc;
	if ((rc = SIM_ZALLOC(&w.place, c->n_axes, e)) == 0 &&
	    (rc = SIM_ZALLOC(&w.num, c->n_runs, e)) == 0 &&
	    (rc = SIM_ZALLOC(&w.den, c->n_runs, e)) == 0)
		put_table(&w);
	free(w.place);
	free(w.num);
	free(w.den);
	if (rc < 0)
		return rc;
	return fflush(out) == 0 && !ferror(out)
	    ? 0
	    : sim_fail(e, SIM_EIO, "cannot write the table.");
}

/* --- reading ---------------------------------------------------------------*/

void xp_expected_free(struct xp_expected_table *t)
{
	free(t->text);
	free(t->row);
	*t = (struct xp_expected_table){0};
}

/* The line at *AT, without its newline, and *AT behind it. */
static char *cut_line(char **at)
{
	char *line = *at;
	*at += strcspn(line, "\n");
	/* The last line may lack its newline. */
	if (**at)
		*(*at)++ = '\0';
	return line;
}

/* Cut the last N cells off LINE, in place; what is left, if anything is, ends
 * before their tab. */
static int cut(char *line, char *cell[], size_t n)
{
	while (n-- > 0) {
		char *tab = strrchr(line, '\t');
		if (!tab && n > 0)
			return SIM_EPARSE;
		cell[n] = tab ? tab + 1 : line;
		if (tab)
			*tab = '\0';
	}
	return 0;
}

static size_t count_tabs(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += *text == '\t';
	return n;
}

static int read_made_of(struct xp_expected_table *t, const char *line)
{
	static const char mark[] = "; made of ";
	const char *at = strstr(line, mark);
	char *end = NULL;
	if (*line != '#' || !at)
		return SIM_EPARSE;
	at += sizeof(mark) - 1;
	t->made_of = strtoull(at, &end, 16);
	return end == at + 16 && !*end ? 0 : SIM_EPARSE;
}

/* Coordinates, then the columns that each table has. */
static int read_names(struct xp_expected_table *t, char *line)
{
	const size_t n = strlen(line), n_columns = sizeof(COLUMNS) - 1;
	char *at = line + n - n_columns;
	if (n < n_columns || strcmp(at, COLUMNS) != 0 ||
	    (at > line && at[-1] != '\t'))
		return SIM_EPARSE;
	at[at > line ? -1 : 0] = '\0';
	t->coords = line;
	return 0;
}

/* A number that is there if IF_THERE and else "NaN". */
static int read_value(const char *text, int if_there, double *x)
{
	*x = NAN;
	if (!if_there)
		return strcmp(text, "NaN") == 0 ? 0 : SIM_EPARSE;
	return sim_parse_f64(text, x, NULL);
}

static int over_all(const char *point, size_t n_coords)
{
	const size_t n = n_coords > 0 ? 2 * n_coords - 1 : 0;
	return n > 0 && strlen(point) == n && strspn(point, "*\t") == n;
}

static int read_row(const struct xp_expected_table *t, char *line,
    struct xp_expected_row *r)
{
	enum { METRIC, RUNS, N, TRIALS, VALUE, SE };
	/* Beyond this many runs a count is none that was written here. */
	const uint64_t most = 1000000000;
	char *cell[N_COLUMNS];
	const size_t n_tabs = count_tabs(line);
	const size_t n_coords = *t->coords ? count_tabs(t->coords) + 1 : 0;
	if (n_tabs + 1 != n_coords + N_COLUMNS ||
	    cut(line, cell, N_COLUMNS) < 0)
		return SIM_EPARSE;
	r->point = cell[METRIC] == line ? "" : line;
	r->metric = cell[METRIC];
	r->all = over_all(r->point, n_coords);
	if (sim_parse_u64(cell[RUNS], &r->runs, NULL) < 0 || r->runs > most ||
	    sim_parse_u64(cell[N], &r->n, NULL) < 0 || r->n > r->runs ||
	    sim_parse_f64(cell[TRIALS], &r->trials, NULL) < 0 ||
	    r->trials < (double)r->n || (r->n == 0 && r->trials != 0) ||
	    read_value(cell[VALUE], r->n > 0, &r->value) < 0 ||
	    read_value(cell[SE], r->n > 1, &r->se) < 0 || r->se < 0)
		return SIM_EPARSE;
	return 0;
}

/* The one point of a table without lines over all points is all. */
static void mark_all(struct xp_expected_table *t)
{
	size_t i = 0;
	while (i < t->n && !t->row[i].all)
		i++;
	for (size_t k = 0; i == t->n && k < t->n; k++)
		t->row[k].all = 1;
}

static int read_rows(struct xp_expected_table *t, char *at, const char *name,
    struct sim_err *e)
{
	int rc = 0;
	for (size_t line = 3; rc == 0 && *at; line++) {
		if ((rc = SIM_RESERVE(&t->row, &t->cap, t->n + 1, e)) < 0)
			return rc;
		if (read_row(t, cut_line(&at), &t->row[t->n++]) < 0)
			rc = sim_fail(e, SIM_EPARSE,
			    "%s:%zu: not a point, a metric, runs, those that "
			    "measured it, trials, value and error.",
			    name, line);
	}
	mark_all(t);
	return rc;
}

/* The text is the table's from here on. */
static int take_text(struct xp_expected_table *t, char *text, const char *name,
    struct sim_err *e)
{
	char *at = text;
	*t = (struct xp_expected_table){.text = text};
	if (read_made_of(t, cut_line(&at)) < 0)
		return sim_fail(e, SIM_EPARSE,
		    "%s:1: not \"# seed ..., made of <16 hex digits>\".", name);
	if (read_names(t, cut_line(&at)) < 0)
		return sim_fail(e, SIM_EPARSE,
		    "%s:2: not coordinates and the columns metric, runs, n, "
		    "trials, value, se.",
		    name);
	return read_rows(t, at, name, e);
}

int xp_expected_read(struct xp_expected_table *t, const char *text,
    const char *name, struct sim_err *e)
{
	char *copy;
	*t = (struct xp_expected_table){0};
	int rc = sim_dup(&copy, text, e);
	if (rc == 0)
		rc = take_text(t, copy, name, e);
	/* Whatever it is compared with would pass. */
	return rc == 0 && t->n == 0
	    ? sim_fail(e, SIM_EPARSE, "%s: an empty table.", name)
	    : rc;
}

int xp_expected_of(struct xp_expected_table *t, const struct res_cube *c,
    struct sim_err *e)
{
	char *text = NULL;
	size_t n;
	*t = (struct xp_expected_table){0};
	FILE *f = open_memstream(&text, &n);
	if (!f)
		return sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	int rc = xp_expected_write(c, f, e);
	if (fclose(f) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	if (rc < 0) {
		free(text);
		return rc;
	}
	return take_text(t, text, c->figure, e);
}
