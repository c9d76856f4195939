/* experiments/cmd/verify.c -- culprit verify: the papers, and ourselves before.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/check/expected.h"
#include "experiments/check/verify.h"
#include "experiments/cmd/archive.h"
#include "experiments/cmd/cmd.h"
#include "experiments/cmd/verify_claim.h"
#include "experiments/sweep/state.h"
#include "results/file.h"
#include "results/h5.h"
#include "results/json.h"
#include "results/provenance.h"
#include "sim/text.h"
#include "sim/vec.h"

struct args {
	struct cmd_words figures;
	const char *claims;
	int json, strict, write;
	struct cmd_archive archive;
};

static const struct cmd_option cmd_verify_options[] = {
    {"strict", 0, NULL,
	"results that are missing, partial or of another build fail too",
	.take = cmd_take_flag, .at = CMD_AT(strict)},
    {"json", 0, NULL, "JSON, one object", .take = cmd_take_flag,
	.at = CMD_AT(json)},
    {"write", 0, NULL, "write FIGUREs' results as what is expected from now on",
	.take = cmd_take_flag, .at = CMD_AT(write)},
    {"claims", 0, "FILE",
	"claims (default: results/expected/vigil.yaml; millisampler has those "
	"on racks, flock Flock's); tables of what is expected stand beside it",
	.take = cmd_take_file, .at = CMD_AT(claims)},
    {.with = cmd_archive_options, .at = CMD_AT(archive)},
    {.doc = "Help:", .group = -1},
    {0},
};

static void cmd_verify_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (a->write && a->figures.n == 0)
		argp_error(state, "--write which FIGURE?");
	cmd_archive_check(&a->archive, a->figures.n, state);
	if (a->archive.file && (a->json || a->strict || a->write || a->claims))
		argp_error(state,
		    "--json, --strict, --write and --claims are not for "
		    "--archive");
}

static const struct cmd_line cmd_verify_line = {
    .options = cmd_verify_options,
    .word = {.take = cmd_take_all, .at = CMD_AT(figures)},
    .check = cmd_verify_check,
    .args_doc = "[FIGURE...]",
    .doc =
	"Hold results/out/FIGURE.h5 against what the paper claims and against "
	"the tables of an earlier full run (results/expected/FIGURE.tsv); all "
	"figures by default. What `culprit arena --size m` came to is figure "
	"arena.\v"
	"A claim agrees when our 95 % interval, taken between runs, meets what "
	"the printed number can have been rounded from, and a deviation of 5 "
	"points would have been seen; it DIFFERS when the whole interval "
	"violates it, depends when that hangs on what the paper leaves open, "
	"and is undecided with too few runs. 007's accuracy is over the flows "
	"that it does not set aside as noise; beside it stands the same over "
	"the flows that a fault hit. Claims but those marked `stated` are from "
	"memory and unconfirmed.\n\n"
	"A figure passes when all numbers of the earlier table are there and "
	"none differs by more than chance: by none at all where spec, seed, "
	"version and libraries are the same, else by a test of two samples of "
	"runs, which fails by mistake once in 1000 figures; how many of the "
	"numbers are not the same is told then. A number that is missing "
	"fails, also in results of --smoke, --set or a part of the runs. "
	"`not measured in both` counts places where neither table has a "
	"number, such as the drop rate of pairs that nobody probes. `weak` is "
	"a pass that tells little: a change of the packets lost by less than a "
	"quarter would not be seen.\n\n"
	"Of an archive nothing is believed: it is unpacked into a folder that "
	"is removed again, and may hold plain files under one folder alone. "
	"Cells that are run again must be the same to the last bit by the same "
	"build and libraries, to 9 digits by another build; else a test of two "
	"samples compares them.\n\n"
	"Exit codes: 0 good; 1 a claim that must hold differs, or a figure "
	"fails, or a part of an archive, or with --strict results are missing "
	"or partial; 2 the command line or the claims are wrong; 3 a file "
	"can't be read or written.",
};

/* --- results -------------------------------------------------------------- */

/* The results of one figure. Claims and tables come figure by figure, so one
 * file at a time is kept open. */
struct results {
	char figure[64];
	int there;
	struct res_cube cube;
	char *table; /* of a folder in place of a cube: its standing.tsv */
};

static void close_results(struct results *r)
{
	res_cube_free(&r->cube);
	free(r->table);
	*r = (struct results){0};
}

/* Were they made by another build? */
static int is_stale(const struct results *r)
{
	char build[64];
	if (!r->table)
		return strcmp(r->cube.build, res_build()) != 0;
	snprintf(build, sizeof(build), ", build %s;", res_build());
	const char *at = strstr(r->table, build);
	return !at || at > r->table + strcspn(r->table, "\n");
}

/* What comes of several sweeps is a folder. */
static int open_folder(struct results *r, const char *figure, struct sim_err *e)
{
	char path[256];
	void *text = NULL;
	size_t n;
	snprintf(path, sizeof(path), "results/out/%s/standing.tsv", figure);
	if (access(path, F_OK) != 0)
		return 0;
	const int rc = res_file_read(path, &text, &n, e);
	r->table = text;
	r->there = rc == 0;
	return rc;
}

/* Results that are not all there can agree by chance, and are counted as
 * missing something. */
static int is_partial(const struct res_cube *c)
{
	const struct res_progress p = res_cube_progress(c);
	return p.n_done < p.n_cells || c->shard_n > 1;
}

static int open_results(struct results *r, const char *figure,
    struct sim_err *e)
{
	char path[256];
	int rc = 0;
	/* An empty name stands for no figure, after an error. */
	if (strcmp(r->figure, figure) == 0)
		return 0;
	close_results(r);
	snprintf(r->figure, sizeof(r->figure), "%s", figure);
	snprintf(path, sizeof(path), "results/out/%s.h5", figure);
	r->there = access(path, F_OK) == 0;
	rc = r->there ? xp_state_read(&r->cube, path, e)
		      : open_folder(r, figure, e);
	if (rc < 0)
		*r->figure = '\0';
	else
		cmd_warn_unfinished(&r->cube, path);
	return rc;
}

/* --- the whole ------------------------------------------------------------ */

/* Claims of the paper are counted by either denominator, those of another
 * simulator apart. */
enum { COUNT_OWN, COUNT_HIT, COUNT_OTHER, N_COUNTS };
static const char *const count_names[] = {"the paper's, by kept flows",
    "the paper's, by flows a fault hit", "another simulator's"};

/* One run of `culprit verify`: what is asked, and what has come out so far. */
struct verify {
	const struct args *a;
	char *claims_path, *folder; /* folder with its slash, or "" */
	struct xp_claims claims;
	struct results results;
	size_t n_verdicts[N_COUNTS][XP_N_CLAIM_VERDICTS];
	size_t n_failed, n_missing; /* what makes the exit code */
	size_t n_stale;             /* results of another build than this */
	size_t n_shown;
};

static int is_asked(const struct args *a, const char *figure)
{
	for (size_t i = 0; i < a->figures.n; i++)
		if (strcmp(a->figures.word[i], figure) == 0)
			return 1;
	return a->figures.n == 0;
}

static int open_claims(struct verify *v, struct sim_err *e)
{
	const char *name = v->a->claims ? v->a->claims : "vigil";
	/* The tables of earlier runs lie beside the claims. */
	int rc =
	    cmd_find(&v->claims_path, name, "results/expected", ".yaml", e);
	if (rc < 0 || (rc = sim_dup(&v->folder, v->claims_path, e)) < 0)
		return rc;
	char *slash = strrchr(v->folder, '/');
	v->folder[slash ? slash + 1 - v->folder : 0] = '\0';
	return xp_claims_load(&v->claims, v->claims_path, e);
}

/* What is to be said of whatever was compared with results that are not all
 * there; "" if they are. */
static const char *cells_left(const struct verify *v, char buf[128])
{
	struct sim_text t = {buf, 128, 0};
	*buf = '\0';
	if (!v->results.there || !is_partial(&v->results.cube))
		return buf;
	const struct res_progress p = res_cube_progress(&v->results.cube);
	const uint64_t n = res_cube_cells(&v->results.cube);
	sim_put(&t, "%llu of %llu cells are not there",
	    (unsigned long long)(n - p.n_done), (unsigned long long)n);
	if (p.n_failed + p.n_crashed > 0)
		sim_put(&t, ", %llu failed or crashed",
		    (unsigned long long)(p.n_failed + p.n_crashed));
	return buf;
}

/* --- claims --------------------------------------------------------------- */

/* Count by both denominators. A claim on another metric has one verdict, which
 * counts with either. */
static void count_claim(struct verify *v, const struct xp_claim *c,
    const struct xp_finding *f)
{
	const enum xp_claim_verdict own = f->verdict[XP_OWN];
	if (c->certainty == XP_MEASURED) {
		v->n_verdicts[COUNT_OTHER][own]++;
	} else {
		v->n_verdicts[COUNT_OWN][own]++;
		v->n_verdicts[COUNT_HIT][f->verdict[f->n_readings - 1]]++;
	}
	/* Only claims that must hold can fail; all others are told. */
	v->n_failed += own == XP_DIFFERS && c->must;
	/* Missing is what --strict fails for: no results, or not all of
	 * them. */
	v->n_missing += own == XP_NOT_RUN ||
	    (own != XP_NOT_COMPARABLE && is_partial(&v->results.cube));
}

static int verify_claim(struct verify *v, const struct xp_claim *c,
    struct sim_err *e)
{
	struct xp_finding f = {0};
	char left[128];
	struct results *r = &v->results;
	int rc = open_results(r, c->figure, e);
	if (rc == 0)
		rc = xp_claim_check(c, r->there ? &r->cube : NULL, &f, e);
	if (rc == 0) {
		count_claim(v, c, &f);
		if (v->a->json)
			cmd_claim_json(c, &f, v->n_shown == 0);
		else
			cmd_claim_print(c, &f, v->folder, cells_left(v, left));
		/* JSON needs to know whether a comma comes first. */
		v->n_shown++;
	}
	xp_finding_free(&f);
	return rc;
}

static int verify_claims(struct verify *v, struct sim_err *e)
{
	int rc = 0;
	const char *version = res_version();
	const int n = (int)strcspn(version, " ");
	/* Numbers move with the version, and not with each commit: so a report
	 * that was kept tells whether it is still of these. */
	if (v->a->json)
		printf("{\"version\": \"%.*s\",\n\"claims\": [", n, version);
	else
		printf("culprit %.*s\n\n", n, version);
	if (!v->a->json)
		printf("%-28s %-9s %-45s %s\n", "claim", "stated",
		    "ours, 95 %; accuracy: of kept flows",
		    "of flows that a fault hit");
	for (size_t i = 0; rc == 0 && i < v->claims.n; i++)
		if (is_asked(v->a, v->claims.claim[i].figure))
			rc = verify_claim(v, &v->claims.claim[i], e);
	if (v->a->json)
		printf("],\n\"expected\": [");
	return rc;
}

/* --- earlier runs --------------------------------------------------------- */

/* A change of a model may move every ratio. */
enum { DIFFERENCES = 5 };
static void say_difference(void *arg, const char *sentence)
{
	unsigned *n = arg;
	if (++*n <= DIFFERENCES)
		fprintf(stderr, "culprit: %s\n", sentence);
	else if (*n == DIFFERENCES + 1)
		fprintf(stderr, "culprit: and others.\n");
}

static void print_expected(struct verify *v, const char *figure,
    const struct xp_expected *x, const char *word)
{
	char left[128];
	if (v->a->json) {
		printf("%s{\"figure\": ", v->n_shown++ ? ",\n" : "\n");
		res_json_text(stdout, figure);
		printf(", \"compared\": %zu, \"failed\": %zu, \"missing\": "
		       "%zu, \"new\": %zu, \"unmeasured\": %zu, \"moved\": "
		       "%zu, \"exact\": %s, \"loss\": ",
		    x->n_compared, x->n_failed, x->n_missing, x->n_new,
		    x->n_unmeasured, x->n_moved, x->exact ? "true" : "false");
		res_json_text(stdout, x->loss ? x->loss : "");
		res_json_number_of(stdout, "sees", x->sees);
		printf(", \"verdict\": \"%s\"}", word);
		return;
	}
	printf("%-24s %-15s", figure, word);
	if (v->results.there)
		printf(" %zu of %zu numbers %s as in %s%s.tsv",
		    x->n_compared - x->n_failed, x->n_compared,
		    x->exact ? "exactly" : "by z", v->folder, figure);
	if (!x->exact && x->n_compared > 0 && x->n_moved == 0)
		printf(", all the same");
	else if (!x->exact && x->n_moved > 0)
		printf(", %zu not the same", x->n_moved);
	if (x->n_missing > 0)
		printf(", %zu missing", x->n_missing);
	if (x->n_new > 0)
		printf(", %zu new", x->n_new);
	if (x->n_unmeasured > 0)
		printf(", %zu not measured in both", x->n_unmeasured);
	if (*cells_left(v, left))
		printf("; %s", left);
	if (x->loss && isfinite(x->sees))
		printf("; sees %.0f %% of %s", ceil(100 * x->sees), x->loss);
	else if (x->loss)
		printf("; sees no %s", x->loss);
	printf("\n");
}

static int verify_figure(struct verify *v, const char *figure,
    struct sim_err *e)
{
	struct xp_expected x = {0};
	struct results *r = &v->results;
	char path[4096];
	void *text = NULL;
	unsigned n = 0;
	size_t size;
	snprintf(path, sizeof(path), "%s%s.tsv", v->folder, figure);
	int rc = open_results(r, figure, e);
	/* A table whose figure has not been run is no
	 * error here, but missing. */
	if (rc == 0 && r->there &&
	    (rc = res_file_read(path, &text, &size, e)) == 0)
		rc = r->table
		    ? xp_expected_check_table("our standing.tsv", r->table,
			  path, text, &x, say_difference, &n, e)
		    : xp_expected_check(&r->cube, path, text, &x,
			  say_difference, &n, e);
	free(text);
	if (rc < 0)
		return rc;
	const int fails = xp_expected_fails(&x);
	const int partial = r->there && is_partial(&r->cube);
	v->n_failed += (size_t)fails;
	v->n_stale += r->there && is_stale(r);
	v->n_missing += !r->there || partial;
	print_expected(v, figure, &x,
	    fails                                     ? "FAIL"
		: !r->there                           ? "not run"
		: partial                             ? "partial"
		: x.loss && x.sees > XP_EXPECTED_WEAK ? "weak"
						      : "PASS");
	return 0;
}

/* A longer name is no figure's. */
static int is_table(const struct dirent *d)
{
	const size_t n = strlen(d->d_name);
	return n > 4 && n < 64 && strcmp(d->d_name + n - 4, ".tsv") == 0;
}

static int verify_expected(struct verify *v, struct sim_err *e)
{
	struct dirent **entry;
	int rc = 0;
	const int n =
	    scandir(*v->folder ? v->folder : ".", &entry, is_table, alphasort);
	v->n_shown = 0;
	for (int i = 0; i < n; i++) {
		char *name = entry[i]->d_name;
		name[strlen(name) - 4] = '\0';
		/* Entries are freed also after an error. */
		if (rc == 0 && is_asked(v->a, name))
			rc = verify_figure(v, name, e);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	return rc;
}

/* The table of R, to be freed. */
static int results_text(const struct results *r, char **text, size_t *n,
    struct sim_err *e)
{
	FILE *f = open_memstream(text, n);
	if (!f)
		return sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	int rc = 0;
	if (r->table)
		fputs(r->table, f);
	else
		rc = xp_expected_write(&r->cube, f, e);
	if (fclose(f) != 0 && rc == 0)
		rc = sim_fail(e, SIM_ENOMEM, "no memory for a table.");
	return rc;
}

static int refuse_stale(const struct results *r, const char *figure,
    struct sim_err *e)
{
	return r->table
	    ? sim_fail(e, SIM_EMISMATCH,
		  "results/out/%s/standing.tsv is of another build than this "
		  "one (%s); `culprit %s --fresh` makes it anew.",
		  figure, res_build(), figure)
	    : sim_fail(e, SIM_EMISMATCH,
		  "results/out/%s.h5 is of build %s, not of this one (%s); "
		  "`culprit run %s --fresh` makes it anew.",
		  figure, r->cube.build, res_build(), figure);
}

/* What could not be read back would be found out only when it is needed. */
static int check_text(const char *text, const char *path, struct sim_err *e)
{
	struct xp_expected_table t;
	const int rc = xp_expected_read(&t, text, path, e);
	xp_expected_free(&t);
	return rc;
}

/* Make results the earlier run for the future. Only whole ones will do, or
 * points would be missing ever after. */
static int write_figure(struct verify *v, const char *figure, struct sim_err *e)
{
	struct results *r = &v->results;
	char path[4096], *text = NULL;
	size_t n = 0;
	int rc = open_results(r, figure, e);
	if (rc < 0)
		return rc;
	if (!r->there || is_partial(&r->cube))
		return sim_fail(e, SIM_EIO,
		    "results/out/%s.h5 is %s; `culprit run %s` makes it.",
		    figure, r->there ? "not complete" : "not there", figure);
	if (is_stale(r))
		return refuse_stale(r, figure, e);
	rc = results_text(r, &text, &n, e);
	snprintf(path, sizeof(path), "%s%s.tsv", v->folder, figure);
	if (rc == 0 && (rc = check_text(text, path, e)) == 0 &&
	    (rc = cmd_write_file(path, text, n, e)) == 0)
		printf("%s -> %s\n", figure, path);
	free(text);
	return rc;
}

/* --- all ------------------------------------------------------------------ */

/* A figure of which neither claims nor tables know is a slip of the pen, and
 * would pass for want of anything to check. */
static int check_figures(const struct verify *v, struct sim_err *e)
{
	for (size_t i = 0; i < v->a->figures.n; i++) {
		const char *figure = v->a->figures.word[i];
		char path[4096];
		size_t k = 0;
		snprintf(path, sizeof(path), "%s%s.tsv", v->folder, figure);
		while (k < v->claims.n &&
		    strcmp(v->claims.claim[k].figure, figure) != 0)
			k++;
		if (k == v->claims.n && access(path, F_OK) != 0)
			return sim_fail(e, SIM_EINVAL,
			    "nothing is claimed or expected of figure \"%s\".",
			    figure);
	}
	return 0;
}

static void json_counts(const struct verify *v)
{
	printf("],\n\"counts\": {");
	for (unsigned c = 0; c < N_COUNTS; c++) {
		printf("%s", c ? ", " : "");
		res_json_text(stdout, count_names[c]);
		printf(": {");
		for (unsigned i = 0; i < XP_N_CLAIM_VERDICTS; i++) {
			printf("%s", i ? ", " : "");
			res_json_text(stdout, xp_claim_verdict_names[i]);
			printf(": %zu", v->n_verdicts[c][i]);
		}
		printf("}");
	}
	printf("},\n\"failed\": %zu, \"missing\": %zu, \"stale\": %zu}\n",
	    v->n_failed, v->n_missing, v->n_stale);
}

static void cmd_verify_print_sum(const struct verify *v)
{
	if (v->a->json) {
		json_counts(v);
		return;
	}
	printf("\n%-34s", "claims");
	for (unsigned i = XP_N_CLAIM_VERDICTS; i-- > 0;)
		printf("%*s", i == XP_NOT_COMPARABLE ? 16 : 11,
		    xp_claim_verdict_names[i]);
	for (unsigned c = 0; c < N_COUNTS; c++) {
		printf("\n%-34s", count_names[c]);
		for (unsigned i = XP_N_CLAIM_VERDICTS; i-- > 0;)
			printf("%*zu", i == XP_NOT_COMPARABLE ? 16 : 11,
			    v->n_verdicts[c][i]);
	}
	printf("\n%zu failed, %zu without results or with a part of them\n",
	    v->n_failed, v->n_missing);
}

/* After an edit results are old until they are made anew, and what is said of
 * them is said of the former program. */
static void warn_of_stale(const struct verify *v)
{
	if (v->n_stale > 0)
		fprintf(stderr,
		    "culprit: the results of %zu figures are of another build "
		    "than this one (%s); `make figures` makes them anew.\n",
		    v->n_stale, res_build());
}

static int verify(struct verify *v, struct sim_err *e)
{
	int rc = verify_claims(v, e);
	if (rc == 0 && !v->a->json)
		printf("\n");
	if (rc == 0)
		rc = verify_expected(v, e);
	if (rc == 0) {
		cmd_verify_print_sum(v);
		warn_of_stale(v);
	}
	return rc;
}

int cmd_verify(int argc, char **argv)
{
	struct args a = {.archive = CMD_ARCHIVE_DEFAULTS};
	struct verify v = {.a = &a};
	struct sim_err e = {0};
	int code = CMD_GOOD, rc;
	cmd_parse(&cmd_verify_line, argc, argv, &a);
	if (a.archive.file)
		return cmd_archive_verify(&a.archive);
	if ((rc = open_claims(&v, &e)) < 0 ||
	    /* What is written may be the first of its figure, so names
	     * are not checked then. */
	    (!a.write && (rc = check_figures(&v, &e)) < 0)) {
		code = rc == SIM_ENOMEM ? CMD_TROUBLE : CMD_USAGE;
	} else if (a.write) {
		for (size_t i = 0; rc == 0 && i < a.figures.n; i++)
			rc = write_figure(&v, a.figures.word[i], &e);
		code = rc < 0 ? CMD_TROUBLE : CMD_GOOD;
	} else {
		rc = verify(&v, &e);
		code = rc < 0 ? CMD_TROUBLE : CMD_GOOD;
	}
	if (rc < 0)
		cmd_fail(code, &e);
	else if (v.n_failed > 0 || (a.strict && v.n_missing + v.n_stale > 0))
		code = CMD_FAILED;
	close_results(&v.results);
	xp_claims_free(&v.claims);
	free(v.claims_path);
	free(v.folder);
	return code;
}
