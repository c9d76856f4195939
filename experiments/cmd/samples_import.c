/* experiments/cmd/samples_import.c -- culprit samples import: published runs.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/cmd/cmd.h"
#include "experiments/cmd/samples.h"
#include "experiments/cmd/trace_file.h"
#include "experiments/millisampler/import.h"

struct args {
	struct cmd_words from;
	const char *output;
	sim_ns width;
	uint64_t line_mbps;
	int force;
};

static const struct cmd_option samples_import_options[] = {
    {"output", 'o', "FILE", "samples", .take = cmd_take_file,
	.at = CMD_AT(output)},
    {"width", 0, "TIME", "of a bucket, where a file does not say (1ms)",
	.take = cmd_take_time, .at = CMD_AT(width)},
    {"line", 0, "MBPS",
	"what a host's link carries, where a file does not say (12500 Mbit/s)",
	.take = cmd_take_u64, .at = CMD_AT(line_mbps), .min = 1,
	.max = 1000000000},
    {"force", 'f', NULL,
	"replace FILE if it has no samples, or is damaged; it is kept as FILE~",
	.take = cmd_take_flag, .at = CMD_AT(force)},
    {0},
};

static void samples_import_check(const void *args, struct argp_state *state)
{
	const struct args *a = args;
	if (!a->output)
		argp_error(state, "-o FILE: where are samples to be?");
	if (a->width == 0)
		argp_error(state, "--width: a bucket can't be of no time");
}

static const struct cmd_line samples_import_line = {
    .options = samples_import_options,
    .word = {"FILE", .take = cmd_take_all, .at = CMD_AT(from)},
    .without = "import which files, or which folder?",
    .check = samples_import_check,
    .args_doc = "FOLDER|FILE...",
    .doc =
	"Read runs in the form of Meta's public data (JSON with ingressBytes "
	"and so on, gzipped or not; of a folder all that end in .json, .txt, "
	"or these with .gz) into one file of samples."
	"\vFiles that lack something are left out and counted by their "
	"reason. Where files say which bursts they have, these are held "
	"against ours: more than half of the line in each bucket, with none "
	"between. If more than 1 % differ, the definition that fits best is "
	"told. What sampling_freq counts is not known, so --width is yours to "
	"say.\n ",
};

/* --- what is said ----------------------------------------------------------- */

static void samples_import_progress(void *arg, const struct xp_import_said *s)
{
	const size_t *n = arg;
	if (s->n_files % 500 == 0 || s->n_files == *n)
		fprintf(stderr, "\r%" PRIu64 " of %zu files%s", s->n_files, *n,
		    s->n_files == *n ? "\n" : "");
}

static void samples_import_print_left(const struct xp_import_said *s, FILE *out)
{
	for (int i = XP_PUBLIC_TAKEN + 1; i < XP_N_PUBLIC_ENDS; i++)
		if (s->n_end[i] > 0)
			fprintf(out,
			    "%" PRIu64 " left out: it %s; the first is %s%s%s%s"
			    "\n",
			    s->n_end[i], xp_public_texts[i], s->first[i],
			    i == XP_PUBLIC_NO_JSON ? " (" : "",
			    i == XP_PUBLIC_NO_JSON ? s->problem : "",
			    i == XP_PUBLIC_NO_JSON ? ")" : "");
}

/* The paper's definition first; another one if it does not fit. */
static void samples_import_print_fit(const struct xp_import_said *s)
{
	enum { HALF = 4, NONE = 0 };
	unsigned best = HALF, gap = NONE;
	if (s->n_bursts == 0)
		return;
	const double ours = xp_public_differ(&s->fit, HALF, NONE);
	printf("bursts of %" PRIu64 " files: %" PRIu64 " theirs, %" PRIu64
	       " ours, %" PRIu64 " the same; %.2f %% differ\n",
	    s->n_bursts, s->fit.n_theirs, s->fit.at[HALF][NONE].n_ours,
	    s->fit.at[HALF][NONE].n_same, 100 * ours);
	for (unsigned i = 0; i < XP_FIT_SHARES; i++)
		for (unsigned g = 0; g < XP_FIT_GAPS; g++)
			if (xp_public_differ(&s->fit, i, g) <
			    xp_public_differ(&s->fit, best, gap)) {
				best = i;
				gap = g;
			}
	if (ours > .01 && (best != HALF || gap != NONE))
		printf("  best fit: above 0.%u of the line, up to %u buckets "
		       "between; %.2f %% differ\n",
		    best + 1, gap, 100 * xp_public_differ(&s->fit, best, gap));
	if (s->n_odd > 0)
		printf("%" PRIu64 " bursts lack Position or Length\n",
		    s->n_odd);
}

static void samples_import_print(const struct args *a,
    const struct xp_import_said *s)
{
	printf("%" PRIu64 " files: %" PRIu64
	       " runs of %u hosts in %u racks -> %s\n",
	    s->n_files, s->n_end[XP_PUBLIC_TAKEN], s->n_hosts, s->n_racks,
	    a->output);
	if (s->n_cut > 0)
		printf("%" PRIu64 " buckets had more bytes marked or sent "
		       "again than bytes at all: cut\n",
		    s->n_cut);
	if (s->freq_hi > 0 && s->freq_lo < s->freq_hi)
		printf("sampling_freq is from %g to %g: buckets may be of more "
		       "than one width\n",
		    s->freq_lo, s->freq_hi);
	samples_import_print_fit(s);
}

/* --- the work --------------------------------------------------------------- */

static int samples_import_work(const struct args *a, struct xp_import_said *s,
    struct sim_err *e)
{
	const struct xp_import_params p = {.width_ns = a->width,
	    .line_bps = a->line_mbps * 1000000,
	    .output = a->output};
	struct stat st;
	char **path = a->from.word;
	size_t n = a->from.n;
	const int is_folder =
	    n == 1 && stat(path[0], &st) == 0 && S_ISDIR(st.st_mode);
	int rc = cmd_make_room(a->output, "samples", a->force, e);
	if (rc == 0 && is_folder)
		rc = xp_import_files(a->from.word[0], &path, &n, e);
	if (rc == 0 && n == 0)
		rc = sim_fail(e, SIM_EINVAL,
		    "%s has no file that ends in .json, .txt, .json.gz or "
		    ".txt.gz.",
		    a->from.word[0]);
	if (rc == 0)
		rc = xp_import(&p, path, n,
		    isatty(STDERR_FILENO) ? samples_import_progress : NULL, &n,
		    s, e);
	if (is_folder && path != a->from.word)
		xp_import_files_free(path, n);
	return rc;
}

int cmd_samples_import(int argc, char **argv)
{
	struct args a = {.width = SIM_MS, .line_mbps = 12500};
	struct xp_import_said said = {0};
	struct sim_err e = {0};
	cmd_parse(&samples_import_line, argc, argv, &a);
	const int rc = samples_import_work(&a, &said, &e);
	if (rc == 0)
		samples_import_print(&a, &said);
	samples_import_print_left(&said, rc == 0 ? stdout : stderr);
	if (rc == 0)
		return CMD_GOOD;
	return cmd_fail(rc == SIM_EINVAL ? CMD_USAGE : CMD_TROUBLE, &e);
}
