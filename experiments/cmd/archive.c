/* experiments/cmd/archive.c -- culprit verify --archive: somebody's results.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include "experiments/cmd/archive.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/check/archive.h"
#include "experiments/check/rerun.h"
#include "experiments/cmd/cmd.h"
#include "results/file.h"
#include "results/h5.h"
#include "results/provenance.h"
#include "results/table.h"
#include "sim/text.h"

#define ARCHIVE_AT(member) offsetof(struct cmd_archive, member)

static void take_cells(void *to, char *arg, const struct cmd_given *g)
{
	struct cmd_archive *a = to;
	cmd_take_u32(&a->cells, arg, g);
	a->other = 1;
}

static void take_rerun(void *to, char *arg, const struct cmd_given *g)
{
	struct cmd_archive *a = to;
	(void)arg;
	(void)g;
	a->rerun = a->other = 1;
}

static void archive_take_jobs(void *to, char *arg, const struct cmd_given *g)
{
	struct cmd_archive *a = to;
	cmd_take_u32(&a->n_workers, arg, g);
	a->other = 1;
}

const struct cmd_option cmd_archive_options[] = {
    {.doc = "An archive of `make artifact`:"},
    {"archive", 0, "FILE.gz",
	"unpack FILE into a temporary folder and check checksums, specs and "
	"tables; run some cells again and compare",
	.take = cmd_take_file, .at = ARCHIVE_AT(file)},
    {"cells", 0, "N",
	"cells of each figure that are run again, about (default: 3; 0: none)",
	.take = take_cells, .max = 1000000},
    {"rerun", 0, NULL, "all cells", .take = take_rerun},
    {"jobs", 'j', "N", "worker processes (default: all processors)",
	.take = archive_take_jobs, .min = 1, .max = 4096},
    {0},
};

void cmd_archive_check(const struct cmd_archive *a, size_t n,
    struct argp_state *state)
{
	if (!a->file && a->other)
		argp_error(state,
		    "--cells, --rerun and --jobs are for "
		    "--archive");
	if (a->file && n > 0)
		argp_error(state,
		    "--archive FILE is checked as a whole, "
		    "without FIGUREs");
}

/* --- saying ----------------------------------------------------------------*/

enum said { SAID_PASS, SAID_FAIL, SAID_SKIPPED };

struct verdict {
	unsigned n[3];
	int trouble; /* memory, or a tool that is not there */
};

__attribute__((format(printf, 5, 6))) static void say(struct verdict *v,
    enum said what, const char *part, const char *figure, const char *fmt, ...)
{
	static const char *const words[] = {"PASS", "FAIL", "SKIPPED"};
	va_list ap;
	va_start(ap, fmt);
	printf("%-8s %-9s %-22s ", words[what], part, figure);
	vprintf(fmt, ap);
	printf("\n");
	fflush(stdout);
	va_end(ap);
	v->n[what]++;
}

/* What the archive is to blame for fails; what this machine lacks is trouble. */
static void say_error(struct verdict *v, const char *part, const char *figure,
    int rc, const struct sim_err *e)
{
	say(v, SAID_FAIL, part, figure, "%s", e->msg);
	v->trouble |= rc == SIM_ENOMEM || rc == SIM_EDEP;
}

/* --- parts -----------------------------------------------------------------*/

/* Two tables: the row where they part, counted from the names of the columns;
 * 0: nowhere. THEIRS may have further columns behind ours, which say what made
 * it. */
static unsigned differ_at(const char *theirs, const char *ours)
{
	for (unsigned row = 1;; row++) {
		const size_t n = strcspn(ours, "\n");
		if (strncmp(theirs, ours, n) != 0 ||
		    (theirs[n] && !strchr("\t\n", theirs[n])))
			return row;
		theirs += strcspn(theirs, "\n");
		ours += n;
		if (*theirs == '\0' || *ours == '\0')
			return *theirs == *ours ? 0 : row;
		theirs++;
		ours++;
	}
}

/* Where a part of a figure is unpacked. */
static const char *archive_place_of(const struct xp_archive *x,
    const char *folder, const char *figure, const char *suffix, char path[4600])
{
	snprintf(path, 4600, "%s%s/%s%s", x->top, folder, figure, suffix);
	return path;
}

static void archive_check_spec(struct verdict *v, const struct xp_archive *x,
    const char *figure, const struct res_cube *c)
{
	char path[4600];
	void *text = NULL;
	struct sim_err e = {0};
	size_t n = 0;
	int rc =
	    res_file_read(archive_place_of(x, "specs", figure, ".yaml", path),
		&text, &n, &e);
	if (rc < 0)
		say_error(v, "spec", figure, rc, &e);
	else if (n != c->spec_bytes || memcmp(text, c->spec, n) != 0)
		say(v, SAID_FAIL, "spec", figure,
		    "specs/%s.yaml is not the spec that the results hold.",
		    figure);
	else
		say(v, SAID_PASS, "spec", figure,
		    "that of the results; %s%.*s%s",
		    *c->overrides ? "with " : "",
		    (int)strcspn(c->overrides, "\n"), c->overrides,
		    *c->overrides ? "" : "as it stands");
	free(text);
}

static void archive_check_table(struct verdict *v, const struct xp_archive *x,
    const char *figure, const struct res_cube *c)
{
	const char *ours = res_version();
	char path[4600], *again = NULL;
	void *text = NULL;
	struct sim_err e = {0};
	size_t n = 0;
	unsigned at;
	/* Another version may have other columns. */
	const size_t n_version = strcspn(c->version, " ");
	if (strcspn(ours, " ") != n_version ||
	    strncmp(c->version, ours, n_version) != 0) {
		say(v, SAID_SKIPPED, "table", figure,
		    "it is of version %.*s, and tables of %.*s may have other "
		    "columns.",
		    (int)n_version, c->version, (int)strcspn(ours, " "), ours);
		return;
	}
	int rc =
	    res_file_read(archive_place_of(x, "tables", figure, ".tsv", path),
		&text, &n, &e);
	if (rc == 0)
		rc = res_table_text(c, &again, &e);
	if (rc < 0)
		say_error(v, "table", figure, rc, &e);
	else if ((at = differ_at(text, again)) > 0)
		say(v, SAID_FAIL, "table", figure,
		    "tables/%s.tsv is not that of the results, from row %u "
		    "on.",
		    figure, at);
	else
		say(v, SAID_PASS, "table", figure, "that of the results");
	free(text);
	free(again);
}

static volatile sig_atomic_t cmd_archive_stop;

static void archive_on_signal(int sig)
{
	(void)sig;
	cmd_archive_stop = 1;
}

/* Which N-th cell is taken is told by the manifest: who makes an archive can't
 * choose it without a new archive. */
static void choose_sample(const struct cmd_archive *a,
    const struct xp_archive *x, const struct res_cube *c, struct xp_rerun *r)
{
	const size_t n = res_cube_cells(c);
	r->shard_n = 1;
	if (!a->rerun && n > a->cells)
		r->shard_n = (uint32_t)((n + a->cells - 1) / a->cells);
	r->shard_i = (uint32_t)(x->key % r->shard_n);
}

static void archive_say_difference(void *arg, const char *sentence)
{
	unsigned *n = arg;
	if (++*n <= 5)
		fprintf(stderr, "culprit: %s\n", sentence);
}

/* N is the number of all cells. */
static void say_cells(struct verdict *v, const char *figure,
    const struct xp_rerun *r, uint64_t n)
{
	char which[64] = "";
	if (r->shard_n > 1)
		snprintf(which, sizeof(which),
		    " (1 of %" PRIu32 ", from cell %" PRIu32 " on)", r->shard_n,
		    r->shard_i);
	const enum said what = xp_rerun_is_good(r) ? SAID_PASS : SAID_FAIL;
	if (r->n_same == r->n_cells)
		say(v, what, "cells", figure,
		    "%" PRIu64 " of %" PRIu64 " run again%s: the same to the "
		    "last bit",
		    r->n_cells, n, which);
	else if (r->demand == XP_SAME_BITS)
		say(v, what, "cells", figure,
		    "%" PRIu64 " of %" PRIu64 " run again%s: %" PRIu64 " have "
		    "other numbers, though build and libraries are the same.",
		    r->n_cells, n, which, r->n_cells - r->n_same);
	else if (r->demand == XP_NINE_DIGITS || r->n_near == r->n_cells)
		say(v, what, "cells", figure,
		    "%" PRIu64 " of %" PRIu64 " run again%s, by another build: "
		    "%" PRIu64 " the same to 9 digits, %" PRIu64 " to the last "
		    "bit",
		    r->n_cells, n, which, r->n_near, r->n_same);
	else
		say(v, r->is_few && what == SAID_PASS ? SAID_SKIPPED : what,
		    "cells", figure,
		    "%" PRIu64 " of %" PRIu64
		    " run again%s, by another version "
		    "or libraries: %" PRIu64 " the same to 9 digits; %zu of "
		    "%zu numbers differ by a test of two samples%s",
		    r->n_cells, n, which, r->n_near, r->numbers.n_failed,
		    r->numbers.n_compared,
		    r->is_few ? ", for which there are too few runs" : "");
}

static void archive_check_cells(struct verdict *v, const struct cmd_archive *a,
    const struct xp_archive *x, const char *figure, const struct res_cube *c)
{
	char results[4600], spec[4600], out[4600];
	struct sim_err e = {0};
	unsigned n_differences = 0;
	struct xp_rerun r = {.results = archive_place_of(x, "results", figure,
				 ".h5", results),
	    .spec = archive_place_of(x, "specs", figure, ".yaml", spec),
	    .out = out,
	    .n_workers = a->n_workers ? a->n_workers : cmd_processors(),
	    .stop = &cmd_archive_stop,
	    .differ = archive_say_difference,
	    .arg = &n_differences};
	if (a->cells == 0 && !a->rerun) {
		say(v, SAID_SKIPPED, "cells", figure, "none was asked for.");
		return;
	}
	/* Beside the archive's own folder, so that they mix with nothing. */
	snprintf(out, sizeof(out), "%s/again-%s.h5", x->folder, figure);
	choose_sample(a, x, c, &r);
	const int rc = xp_rerun(&r, &e);
	if (rc == SIM_EUNSUPPORTED)
		say(v, SAID_SKIPPED, "cells", figure, "%s", e.msg);
	else if (rc < 0)
		say_error(v, "cells", figure, rc, &e);
	else if (r.is_real)
		say(v, SAID_SKIPPED, "cells", figure,
		    "they are of the kernel's own network, which never does "
		    "the same twice.");
	else
		say_cells(v, figure, &r, res_cube_cells(c));
}

/* --- the whole -------------------------------------------------------------*/

static void check_figure(struct verdict *v, const struct cmd_archive *a,
    const struct xp_archive *x, const char *figure)
{
	char path[4600];
	struct res_cube c = {0};
	struct sim_err e = {0};
	const int rc = res_h5_read(&c,
	    archive_place_of(x, "results", figure, ".h5", path), &e);
	if (rc < 0) {
		say_error(v, "results", figure, rc, &e);
		return;
	}
	const struct res_progress p = res_cube_progress(&c);
	say(v, SAID_PASS, "results", figure,
	    "%" PRIu64 " of %" PRIu64 " cells done, by %s", p.n_done, p.n_cells,
	    c.version);
	archive_check_spec(v, x, figure, &c);
	archive_check_table(v, x, figure, &c);
	archive_check_cells(v, a, x, figure, &c);
	res_cube_free(&c);
}

/* "results/NAME.h5" -> NAME. */
static int figure_of(const char *file, char figure[128])
{
	const size_t n = strlen(file);
	if (strncmp(file, "results/", 8) != 0 || n < 12 || n - 11 >= 128 ||
	    strcmp(file + n - 3, ".h5") != 0 || strchr(file + 8, '/'))
		return 0;
	snprintf(figure, 128, "%.*s", (int)(n - 11), file + 8);
	return 1;
}

static void check_all(struct verdict *v, const struct cmd_archive *a,
    struct xp_archive *x)
{
	struct sim_err e = {0};
	char figure[128];
	unsigned n = 0;
	say(v, SAID_PASS, "archive", "",
	    "%zu files, %.1f MB, plain ones under one folder", x->n_files,
	    1e-6 * (double)x->n_bytes);
	const int rc = xp_archive_check_sums(x, &e);
	if (rc < 0) {
		/* What follows would be about other files than were packed. */
		say_error(v, "checksums", "", rc, &e);
		return;
	}
	say(v, SAID_PASS, "checksums", "", "all files as in %s, and no others",
	    XP_ARCHIVE_MANIFEST);
	for (size_t i = 0; i < x->n_files && !cmd_archive_stop; i++)
		if (figure_of(x->file[i], figure)) {
			check_figure(v, a, x, figure);
			n++;
		}
	if (n == 0 && !cmd_archive_stop)
		say(v, SAID_FAIL, "results", "",
		    "there are none: no file results/NAME.h5.");
}

int cmd_archive_verify(const struct cmd_archive *a)
{
	struct verdict v = {.trouble = 0};
	struct xp_archive x = {0};
	struct sim_err e = {0};
	/* What was unpacked is removed also after a signal. */
	const struct sigaction stop = {.sa_handler = archive_on_signal,
	    .sa_flags = SA_RESTART};
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGHUP, &stop, NULL);
	printf("culprit %s\n", res_version());
	const int rc = xp_archive_open(&x, a->file, &e);
	if (rc == SIM_EIO)
		v.trouble = 1;
	if (rc < 0)
		say_error(&v, "archive", "", rc, &e);
	else
		check_all(&v, a, &x);
	xp_archive_close(&x);
	if (cmd_archive_stop)
		fprintf(stderr, "culprit: stopped.\n");
	printf("\n%u passed, %u failed, %u skipped\n", v.n[SAID_PASS],
	    v.n[SAID_FAIL], v.n[SAID_SKIPPED]);
	return v.trouble || cmd_archive_stop ? CMD_TROUBLE
	    : v.n[SAID_FAIL] > 0             ? CMD_FAILED
					     : CMD_GOOD;
}
