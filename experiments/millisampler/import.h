/* experiments/millisampler/import.h -- published runs as one file of samples.
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#ifndef EXPERIMENTS_MILLISAMPLER_IMPORT_H
#define EXPERIMENTS_MILLISAMPLER_IMPORT_H

#include "experiments/millisampler/public.h"

/* What came of it. */
struct xp_import_said {
	uint64_t n_files, n_end[XP_N_PUBLIC_ENDS];
	char first[XP_N_PUBLIC_ENDS][256]; /* file of each; cut */
	char problem[192];                 /* of the first that is no JSON */
	uint32_t n_hosts, n_racks;
	uint64_t n_cut;          /* buckets with more marked than came in */
	uint64_t n_bursts;       /* files that have some */
	uint64_t n_odd;          /* bursts without Position or Length */
	double freq_lo, freq_hi; /* sampling_freq; 0: none said it */
	struct xp_public_fit fit;
};

struct xp_import_params {
	uint64_t width_ns, line_bps; /* where a file does not say */
	const char *output;
};

/* Called after each file, with what was said so far. */
typedef void xp_import_hear(void *arg, const struct xp_import_said *said);

/* Read N files, in their order, into one of samples; hosts are numbered as they
 * are met. What is left out is counted. Memory: one run, and names of hosts.
 * Errors SIM_EINVAL (nothing at all is taken), SIM_EIO, SIM_ENOMEM,
 * SIM_EUNSUPPORTED; then there is no file. */
int xp_import(const struct xp_import_params *p, char *const path[], size_t n,
    xp_import_hear *hear, void *arg, struct xp_import_said *said,
    struct sim_err *e);

/* The files of a folder whose names end in .json or .txt, or these with .gz, by
 * name, numbers in them as such; each of them and the array are to be freed. Errors SIM_EIO (no folder),
 * SIM_ENOMEM. */
int xp_import_files(const char *folder, char ***path, size_t *n,
    struct sim_err *e);
void xp_import_files_free(char **path, size_t n);

#endif
